"""Every exit code of ``perfkit gate`` that is documented, and a call that ends with it."""

from __future__ import annotations

import builtins
import os
import re
import sys
from pathlib import Path

import pytest

from perfkit.device import collect
from perfkit.errors import EXIT_CODES
from perfkit.gate import timing
from perfkit.gate.history_file import append
from tests.gate.test_history import rows

ROOT = Path(__file__).resolve().parents[2]
LOG = ROOT / "tests" / "data" / "ptxas" / "b09.log"
OTHER = ROOT / "tests" / "data" / "cubin" / "j03.sm_86.ptxas.txt"
STEADY = (50.0, 50.1, 49.9, 50.05, 49.95, 50.02)
NOISY = (50.0, 80.0, 30.0, 60.0, 45.0, 70.0)


def csv(values, name="axpy", unit="us"):
    lines = [f"{name},{number},{value},{unit}" for number, value in enumerate(values)]
    return "\n".join(["benchmark,run,value,unit", *lines, ""])


@pytest.fixture(autouse=True)
def _place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", os.path.dirname(sys.executable))  # noqa: PTH120 - no nvcc
    monkeypatch.delenv("CUDA_HOME", raising=False)
    monkeypatch.delenv("CUDA_PATH", raising=False)
    contents = {
        "base.csv": csv(STEADY),
        "same.csv": csv([value * 1.0005 for value in STEADY]),
        "slow.csv": csv([value * 1.1 for value in STEADY]),
        "noisy.csv": csv(NOISY),
        "wild.csv": csv((1, 900, 3, 80, 2, 700, 9, 40)),
        "other.csv": csv(STEADY, name="gemm"),
        "zero.csv": csv((*STEADY[:5], 0)),
        "negative.csv": csv((*STEADY[:5], -1)),
        "nan.csv": csv((*STEADY[:5], "nan")),
        "rate.csv": csv(STEADY, unit="GB/s"),
        "collapsed.csv": csv([value / 20 for value in STEADY]),
        "bound.yaml": "timing:\n  rules:\n    - {benchmark: axpy, bound: 600us}\n",
        "k.cu": "__global__ void k() {}\n",
        "empty.csv": "",
        "bench.py": (
            "import os, sys\n"
            "print('time:', float(sys.argv[1]) * (1 + (os.getpid() % 7 - 3) / 1e4), 'us')\n"
        ),
    }
    for name, text in contents.items():
        (tmp_path / name).write_text(text)
    append("slower", rows(40, step_at=25))
    append("steady", rows(40, step_at=99))
    append("short", rows(3, step_at=99))
    back = [one for one in rows(40, step_at=25) if one.commit >= "c25"]
    append("faster", [*back, *(one for one in rows(40, step_at=25) if one.commit < "c25")])


def bench(us):
    return f"'{sys.executable} bench.py {us}'"


def run(before, after):
    return (
        f"gate run --baseline-cmd {bench(before)} --candidate-cmd {bench(after)} "
        "--metric 'time: (.*) us' --unit us --warm-up 0"
    )


UNCHECKED = (
    *("other.csv", "zero.csv", "negative.csv", "nan.csv", "rate.csv", "collapsed.csv"),
    "same.csv --policy bound.yaml",
)
CALLS = [
    # check: timings
    (0, "gate check same.csv -b base.csv"),
    (1, "gate check slow.csv -b base.csv"),
    (3, "gate check noisy.csv -b base.csv"),
    (0, "gate check noisy.csv -b base.csv --on-inconclusive pass"),
    (1, "gate check noisy.csv -b base.csv --on-inconclusive fail"),
    *(
        (code, f"gate check {name} -b base.csv --on-inconclusive {how}")
        for name in UNCHECKED  # never green
        for how, code in (("3", 3), ("pass", 3), ("fail", 1))
    ),
    (1, "gate check slow.csv other.csv -b base.csv"),  # the worse of both
    (3, "gate check other.csv -b base.csv --allow-new --allow-vanished"),  # nothing is compared
    (2, "gate check missing.csv -b base.csv"),
    (2, "gate check same.csv"),
    (2, "gate check"),
    (2, "gate check empty.csv -b base.csv"),
    (2, "gate check same.csv -b base.csv --threshold lots"),
    (2, "gate check same.csv -b base.csv --nosuch"),
    (2, "gate check same.csv -b base.csv -o missing/out.json"),
    (2, "gate chekc"),
    # check: kernels
    (0, f"gate check {LOG} --rule registers<=255"),
    (1, f"gate check {LOG} --rule registers<=64"),
    (3, f"gate check {LOG} --rule registers<=baseline"),
    (3, f"gate check {LOG} --rule registers<=baseline --on-inconclusive pass"),
    (1, f"gate check {LOG} --rule registers<=baseline --on-inconclusive fail"),
    *(
        (code, f"gate check {LOG} -b {OTHER} --on-inconclusive {how}")  # none is in both builds
        for how, code in (("3", 3), ("pass", 3), ("fail", 1))
    ),
    (3, f"gate check {LOG} -b {OTHER} --allow-new --allow-vanished"),
    (2, f"gate check {LOG} --rule nonsense<=1"),
    (2, f"gate check {LOG}"),
    (4, "gate check k.cu -g h100 --compiler nvcc --rule registers<=64"),
    # run
    (0, run(50, 50)),
    (1, run(50, 55)),
    (3, run(50, -1)),
    (3, f"{run(50, 0)} --on-inconclusive pass"),
    (1, f"{run(50, 0)} --on-inconclusive fail"),
    (3, f"{run(50, 50)} --budget 0"),
    (0, f"{run(50, 50)} --budget 0 --on-inconclusive pass"),
    (2, "gate run --candidate-cmd true"),
    (2, f"{run(50, 50)} --max-pairs 2"),
    # record
    (0, "gate record base.csv -o b.json"),
    (0, "gate record wild.csv -o b.json --keep-noisy"),
    (2, "gate record base.csv"),
    (2, "gate record zero.csv -o b.json"),
    (3, "gate record wild.csv -o b.json"),
    (5, f"gate record --cmd {bench('x')} --metric wall -o b.json"),
    # history
    (0, "gate history slower"),
    (0, "gate history steady --check"),
    (0, "gate history faster --check"),
    (1, "gate history slower --check"),
    (2, "gate history missing"),
    (3, "gate history short --check"),
    (0, "gate history short"),
]


def words(call):
    """As a shell would split it, on any system."""
    return [word.strip("'") for word in re.findall(r"'[^']*'|\S+", call)]


@pytest.mark.parametrize(("code", "call"), CALLS, ids=lambda one: str(one)[:90])
def test_a_call_ends_with_its_code(perfkit, code, call):
    done = perfkit(words(call))
    assert done.code == code, done.err or done.out
    assert "internal error" not in done.err
    let_through = code == 0 and "CANNOT TELL" in done.out
    assert ("exit code 0 by --on-inconclusive pass" in done.err) is let_through
    if code in {2, 4}:
        assert done.out == ""
        assert done.err.strip().splitlines()[-1].startswith(("perfkit: error: ", "hint: "))


@pytest.mark.parametrize(
    "call", ["gate record base.csv --history h", "gate history steady", "gate history short"]
)
def test_without_the_extra_it_is_4(perfkit, monkeypatch, call):
    real = builtins.__import__

    def refuse(name, *arguments, **others):
        if name.partition(".")[0] == "pyarrow":
            raise ModuleNotFoundError("No module named 'pyarrow'", name="pyarrow")
        return real(name, *arguments, **others)

    monkeypatch.setattr(builtins, "__import__", refuse)
    done = perfkit(call)
    assert (done.code, done.out) == (4, "")
    assert "pip install 'perfkit[parquet]'" in done.err


@pytest.mark.parametrize(
    "call", [run(50, 50), f"gate record --cmd {bench(50)} --metric wall -o b.json"]
)
def test_an_interrupt_is_130(perfkit, monkeypatch, call):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(collect.Side, "attempt", interrupted)
    done = perfkit(words(call))
    assert done.code == 130
    assert not Path("b.json").exists()


def test_a_bug_is_70(perfkit, monkeypatch):
    def bug(*_, **__):
        raise ZeroDivisionError

    monkeypatch.setattr(timing, "estimate", bug)
    done = perfkit("gate check same.csv -b base.csv")
    assert done.code == 70
    assert "this is a bug in perfkit" in done.err


def test_no_documented_code_is_left_out():
    page = (ROOT / "docs" / "gates.md").read_text("utf-8")
    documented = {int(code) for code in re.findall(r"^\| (\d+) \|", page, re.MULTILINE)}
    assert documented == set(EXIT_CODES)
    assert documented == {code for code, _ in CALLS} | {70, 130}
