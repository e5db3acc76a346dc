"""``perfkit gate run``: real programs, every way to a number, every way to fail."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.report.schemas import undescribed, validate

ROOT = Path(__file__).resolve().parents[2]
#: a time around its argument, a little different each time
BENCH = """
import os, sys
value = float(sys.argv[1]) * (1 + (os.getpid() % 7 - 3) / 1000)
form = sys.argv[2] if len(sys.argv) > 2 else "text"
if form == "text":
    print(f"time: {value:.6f} ms")
else:
    with open(form, "w") as file:
        file.write(f"benchmark,value,unit\\naxpy,{value},ms\\ngemm,{2 * value},ms\\n")
"""


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    (tmp_path / "bench.py").write_text(BENCH)


def bench(*words):
    return " ".join([sys.executable, "bench.py", *map(str, words)])


def pair(before, after, *further):
    sides = ["--baseline-cmd", bench(*before), "--candidate-cmd", bench(*after)]
    return ["gate", "run", *sides, "--warm-up", "0", "--seed", "1", *further]


TEXT = ("--metric", "time: ([0-9.]+)")


def test_slower_fails_and_the_runs_are_kept(perfkit):
    done = perfkit(pair([10], [11], *TEXT, "--keep", "kept"))
    assert done.code == 1, done.err
    assert "% slower" in done.out
    assert "--seed 1 repeats the order" in done.out
    kept = ["gate", "check", "kept/candidate.csv", "--baseline", "kept/baseline.csv"]
    again = perfkit(kept)
    assert again.code == 1
    assert "% slower" in again.out


def test_the_same_passes_by_results_in_a_file(perfkit):
    done = perfkit(pair([10, "{out}"], [10, "{out}"], "-f", "json"))
    assert done.code == 0, done.err
    document = json.loads(done.out)
    validate("gate-run", document)
    assert undescribed("gate-run", document) == []
    assert [v["benchmark"] for v in document["verdicts"]] == ["axpy", "gemm"]
    assert (document["stopped"], document["pairs"], document["seed"]) == ("decided", 6, 1)
    assert len(document["runs"]) == 12
    assert document["looks"] == [{"pairs": 6, "risk": 0.0025}]


def test_results_in_a_named_file_of_each_folder(perfkit, tmp_path):
    for name in ("old", "new"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "bench.py").write_text(BENCH)
    folders = ("--baseline-dir", "old", "--candidate-dir", "new", "--results-file", "r.csv")
    done = perfkit(pair([10, "r.csv"], [11, "r.csv"], *folders, "--name", "x"))
    assert done.code == 1, done.err
    assert (tmp_path / "old" / "r.csv").exists()


def test_the_time_of_the_process(perfkit):
    sides = ["--baseline-cmd", "sleep 0.01", "--candidate-cmd", "sleep 0.06"]
    done = perfkit(["gate", "run", *sides, "--metric", "wall", "--name", "nap"])
    assert done.code == 1, done.err
    assert "nap" in done.out


def test_a_budget_that_one_pair_uses_up(perfkit):
    done = perfkit(pair([10], [10], *TEXT, "--budget", "0", "-f", "json"))
    found = json.loads(done.out)
    assert (done.code, found["status"], found["stopped"]) == (3, "inconclusive", "budget")
    assert found["pairs"] == 1


def test_lines_for_the_shell(perfkit):
    sides = ["--baseline-cmd", "echo $((2+3)) ms", "--candidate-cmd", "echo 5 ms | cat", "--shell"]
    assert perfkit(["gate", "run", *sides, "--metric", r"^(\d+)"]).code == 0


@pytest.mark.parametrize(
    ("candidate", "further", "message"),
    [
        (["-c", "'raise SystemExit(3)'"], TEXT, "ended with exit code 3"),
        (["-c", "'import time; time.sleep(9)'"], (*TEXT, "--time-limit", "0.3"), "longer than 0.3"),
        (["-c", "'print(1)'"], TEXT, "matches nothing"),
        (["-c", "'print(\"time: 0 ms\")'"], TEXT, "no possible measurement"),
        (["-c", "'print(\"time: nan ms\")'"], TEXT, "no number|matches nothing"),
    ],
)
@pytest.mark.parametrize("how", ["pass", "3"])
def test_a_candidate_without_a_number_is_never_green(perfkit, candidate, further, message, how):
    import re

    command = " ".join([sys.executable, *candidate])
    done = perfkit([
        "gate", "run", "--baseline-cmd", bench(10), "--candidate-cmd", command, *further,
        "--on-inconclusive", how, "--warm-up", "0",
    ])  # fmt: skip
    assert done.code == 3, done.err
    assert re.search(message, done.out)
    assert not re.search(message, done.err)  # once is enough


def test_a_recorded_baseline(perfkit):
    name = ("--name", "x")
    record = ["gate", "record", "--cmd", bench(10), *TEXT, *name, "-o", "base.json", "--runs", "10"]
    assert perfkit(record).code == 0
    run = ["gate", "run", "-b", "base.json", *TEXT, *name]
    assert perfkit([*run, "--candidate-cmd", bench(10)]).code == 0
    assert perfkit([*run, "--candidate-cmd", bench(11)]).code == 1
    done = perfkit([*run, "--candidate-cmd", bench(10), "--threshold", "0.01%"])
    assert done.code == 2
    assert "noise floor" in done.err


def test_a_baseline_of_a_gpu_that_cannot_be_compared_says_so(perfkit):
    from tests.gate.test_baseline import recorded, results

    recorded(Path("base.json"), results([0.01 + i % 3 * 1e-5 for i in range(10)], "x"))
    run = ["gate", "run", "-b", "base.json", *TEXT, "--name", "x", "--candidate-cmd", bench(10)]
    done = perfkit(run)
    assert ("cannot be told here" in done.err) is ("no GPU" in done.err)


def test_every_format(perfkit):
    for form in ("csv", "markdown", "junit", "sarif"):
        done = perfkit(pair([10], [11], *TEXT, "-f", form))
        assert done.code == 1, done.err
        assert "slower" in done.out


def test_a_copy_that_cannot_be_kept_does_not_cost_the_verdict(perfkit):
    Path("back.py").write_text("import os; os.makedirs('kept', exist_ok=True); print('time: 5 ms')")
    call = pair([], [], *TEXT, "--keep", "kept")
    for option, name in (("--baseline-cmd", "back.py"), ("--candidate-cmd", "gone.py")):
        call[call.index(option) + 1] = f"{sys.executable} {name}"
    Path("gone.py").write_text(
        "import shutil; shutil.rmtree('kept', ignore_errors=True); print('time: 5 ms')"
    )
    done = perfkit(call)
    assert done.code == 0, done.err
    assert "not kept: kept" in done.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "nothing to judge"),
        (["--candidate-cmd", "true"], "--baseline-cmd or --baseline"),
        (["--candidate-cmd", "true", "--baseline-cmd", "true", "-b", "x"], "one of them"),
        (["--candidate-cmd", "true", "--measure", "x"], "one of them is the candidate"),
        (["--measure", "vector_add"], "--baseline-cmd or --baseline"),
        (["--candidate-cmd", "", "--baseline-cmd", "true"], "--candidate-cmd is empty"),
        (["--candidate-cmd", "a 'b", "--baseline-cmd", "true"], "no closing quotation"),
        (["--candidate-cmd", "true", "-b", "missing.json"], "missing.json"),
        (["--candidate-cmd", "a", "--baseline-cmd", "b", "--max-pairs", "3"], "--max-pairs 3"),
        (["--candidate-cmd", "a", "--baseline-cmd", "b", "--metric", "("], "regular expression"),
        (["--candidate-cmd", "a", "--baseline-cmd", "b", "--unit", "x"], "unknown unit"),
        (["--candidate-cmd", "a", "--baseline-cmd", "b", "--time-limit", "nan"], "not a number"),
        (["--candidate-cmd", "a", "--baseline-cmd", "b", "--budget", "nan"], "not a number"),
        (
            ["--candidate-cmd", "a {out}", "--baseline-cmd", "b", "--results-file", "r"],
            "--results-file and {out}",
        ),
        (
            ["--candidate-cmd", "a", "--baseline-cmd", "b", "--keep", "bench.py"],
            "cannot be written",
        ),
    ],
)
def test_what_cannot_be_asked_is_named(refused, arguments, message):
    assert message in refused(["gate", "run", *arguments])


def test_what_perfkit_measures_is_a_benchmark(perfkit, monkeypatch):
    """The call that stands for a spec; the measurement itself needs a GPU."""
    from perfkit.cli.collect_options import measured
    from perfkit.device.program_run import OUT

    program = measured("scale.yaml --device 1", Path())
    assert program.words == (
        sys.executable, "-m", "perfkit", "measure", "scale.yaml", "--device", "1",
        "--runs", "1", "--format", "json", "--output", OUT,
    )  # fmt: skip
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    done = perfkit(["gate", "run", "--measure", "no_such_kernel", "--baseline-dir", "."])
    assert done.code == 3
    assert "ended with exit code" in done.out


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize("request_to_end", ["SIGINT", "SIGTERM"])
def test_an_interrupt_keeps_the_runs(request_to_end):
    Path("slow.py").write_text("import time; time.sleep(0.3); print('time: 5 ms')")
    command = f"{sys.executable} slow.py"
    call = [sys.executable, "-m", "perfkit", *pair([10], [10], *TEXT, "--keep", "kept")]
    call[call.index("--candidate-cmd") + 1] = command
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        call, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as program:
        kept = Path("kept/candidate.csv")
        for _ in range(500):
            if kept.exists():
                break
            time.sleep(0.02)
        program.send_signal(signal.Signals[request_to_end])
        out, err = program.communicate(timeout=20)
    assert program.returncode == 130, err
    assert "interrupted" in out
    assert "Traceback" not in err
    assert kept.read_text().count("\n") >= 2
