"""The whole run without a card: its commands, what it makes of answers, what it does again."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import MagicMock

import pytest

from perfkit.analysis.validation import QUESTIONS
from tests.gpu import ceilings_against_torch, torch_products, whole_run

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
LIBRARY = ("copy", "vector_add", "matmul_tiled", "layer_norm", "gemm_mma_f16")
MMA = {"what": "bf16/f32 mma.sync m16n8k16", "flop_per_s": 640e12, "share_at_clock": 0.9}
FMA = {"what": "f32 FMA", "unit": "simt", "dtype": "f32", "share_at_clock": 0.97}
#: what bounds each, as far as it is asked
BOUND_BY = {"layer_norm": ["dram"], "gemm_mma_f16": ["tensor"]}


def golden(name):
    return json.loads((GOLDEN / f"{name}.json").read_text("utf-8"))


def measured(names, seconds):
    """The golden document, with these kernels that take so long."""
    document = golden("measure")
    (base,) = (one for one in document["devices"][0]["measurements"] if one["name"] == "near")
    document["devices"][0]["measurements"] = [
        {
            **base,
            "name": name,
            "median_s": seconds(name),
            "runs": [{**base["runs"][0], "median_s": seconds(name)}] * 2,
            "ratio": 1.1,
            "ratio_expected": 1.05,
            "prediction": {**base["prediction"], "bound_by": BOUND_BY.get(name, ["l1"])},
        }
        for name in names
    ]
    return json.loads(json.dumps(document))  # nothing is shared


def at(size, tflops):
    return 2 * size**3 / (tflops * 1e12)


class Machine:
    """What ``subprocess.run`` is here: every command and the document that it would write."""

    def __init__(self):
        self.commands = []
        self.rates = {"torch": 790, "gemm_wgmma_bf16": 770, "gemm_mma_tma_bf16": 560}
        self.fails = lambda name: None  # an exit code

    def __call__(self, command, *, cwd, env, **_):
        words = [str(word) for word in command]
        name = "torch" if "ceilings_against_torch.py" in words[1] else words[-1][: -len(".json")]
        assert str(whole_run.ROOT) in env["PYTHONPATH"].split(os.pathsep)
        self.commands.append((name, words))
        code = self.fails(name)
        if code is None or code in {130, -15}:
            (Path(cwd) / f"{name}.json").write_text(json.dumps(self.answer(Path(cwd), name, words)))
        return SimpleNamespace(returncode=code or 0, stderr="what it said")

    def answer(self, folder, name, words):
        if name == "torch":
            roofs = golden("ceilings")
            roofs["compute"] = [{**roofs["compute"][0], **one} for one in (MMA, FMA)]
            roofs["memory"][-1] |= {"what": "shared read", "share_at_clock": 0.99}
            (folder / "ceilings.json").write_text(json.dumps(roofs))
            return {"figures": [{"what": "dram read", "ceiling": 2, "torch": 1.9, "share": 0.95}]}
        if name == "measure":
            return measured(LIBRARY, lambda _: 1e-3)
        if name.startswith("torch-"):
            size = int(name.partition("-")[2])
            return measured(["torch_products:x"], lambda _: at(size, self.rates["torch"]))
        if name.startswith("products-"):
            size = int(name.partition("-")[2])
            return measured(whole_run.PRODUCTS, lambda one: at(size, self.rates[one]))
        if name.startswith("tilings-"):
            return {
                "results": [{"time_s": 1e-3 + place * 1e-6, "place": place} for place in (3, 1, 9)],
                "regret_chosen": 0.0,
            }
        figures = {"median regret": "0.57%", "worst regret": "5.98%"}
        figures["worst regret with --measure"] = "0.73%"
        only = words[words.index("--only") + 1].split(",")
        checks = [
            {"name": one, "compared": 1000, "differing": 0, "status": "pass", "figures": figures}
            for one in only
        ]
        return {"cards": [{"checks": checks}]}


@pytest.fixture
def machine(monkeypatch):
    found = Machine()
    monkeypatch.setattr(whole_run.subprocess, "run", found)
    return found


def test_everything_is_reached(machine, tmp_path, capsys):
    assert whole_run.main(tmp_path / "run") == 0
    page = (tmp_path / "run" / "report.md").read_text("utf-8")
    assert "short" not in page
    assert "| wgmma bf16, 8192³ | 770 TFLOP/s, 97.5% of PyTorch's 790 | 75% |  |" in page
    assert "| mma.sync bf16, 8192³ | 560 TFLOP/s, 87.5% of the roof of 640 | 85% |  |" in page
    assert "PyTorch beside 1 ceilings: highest share | 95.0% (dram read)" in page
    assert "best of the model's top 5 | +0.0%" in page
    for question in QUESTIONS:
        assert f"| validate: {question.name} | 1,000 compared, 0 differ |" in page
    assert "| layer_norm | 1,000.0 |" in page
    names = [name for name, _ in machine.commands]
    assert names[:2] == ["torch", "measure"]
    assert names[-2:] == ["validate", "validate-counted"], "what has reports of its own comes last"
    assert all(f"{name} 0" in page.split("seconds: ")[1].splitlines()[0] for name in names)
    assert [line for line in capsys.readouterr().out.splitlines() if line.endswith(": 0 s")]


def test_what_is_there_is_not_made_again(machine, tmp_path):
    whole_run.main(tmp_path)
    count = len(machine.commands)
    assert whole_run.main(tmp_path) == 0
    assert len(machine.commands) == count
    (tmp_path / "products-4096.json").unlink()
    assert whole_run.main(tmp_path) == 0
    assert [name for name, _ in machine.commands[count:]] == ["products-4096"]


@pytest.mark.parametrize("code", [5, 130, -15])
def test_what_was_ended_costs_nothing_else_and_is_made_in_the_next_run(machine, tmp_path, code):
    machine.fails = lambda name: code if name == "tilings-8192" else None
    assert whole_run.main(tmp_path) == 1
    page = (tmp_path / "report.md").read_text("utf-8")
    assert f"exit code {code} | not run | - | **short** |" in page
    assert "validate: overlap" in page
    assert "tilings of bf16 4096³" in page
    count, machine.fails = len(machine.commands), lambda _: None
    assert whole_run.main(tmp_path) == 0
    assert [name for name, _ in machine.commands[count:]] == ["tilings-8192"]


def test_without_ceilings_nothing_is_compared_and_validate_still_runs(machine, tmp_path):
    machine.fails = lambda name: 4 if name == "torch" else None
    assert whole_run.main(tmp_path) == 1
    assert {name.partition("-")[0] for name, _ in machine.commands} == {
        *("torch", "tilings", "validate")
    }


def test_a_slow_product_is_short_and_a_wrong_one_has_no_rate(machine, tmp_path, monkeypatch):
    machine.rates["gemm_mma_tma_bf16"] = 501
    assert whole_run.main(tmp_path / "slow") == 1
    page = (tmp_path / "slow" / "report.md").read_text("utf-8")
    assert (
        "| mma.sync bf16, 4096³ | 501 TFLOP/s, 78.3% of the roof of 640 | 85% | **short** |" in page
    )
    answer = machine.answer

    def wrong(folder, name, words):
        document = answer(folder, name, words)
        if name == "products-4096":
            document["devices"][0]["measurements"][1]["checks"][0]["right"] = False
        return document

    machine.answer = wrong
    assert whole_run.main(tmp_path / "wrong") == 1
    page = (tmp_path / "wrong" / "report.md").read_text("utf-8")
    assert "| gemm_mma_tma_bf16: a wrong result | not run |" in page


def test_every_check_of_validate_is_asked_for_once():
    asked = [name for names in whole_run.CHECKS.values() for name in names]
    assert sorted(asked) == sorted(question.name for question in QUESTIONS)


def test_every_command_is_one_that_perfkit_takes(machine, tmp_path, monkeypatch):
    """It looks for a card, and finds none: whatever else is off would be exit code 2."""
    whole_run.main(tmp_path)
    monkeypatch.undo()
    hidden = whole_run.SEEN | {"CUDA_VISIBLE_DEVICES": ""}
    commands = [words for name, words in machine.commands if name != "torch"]
    assert len(commands) == 9
    for words in commands:
        done = subprocess.run(words, check=False, cwd=tmp_path, env=hidden, capture_output=True)
        assert done.returncode == 4, (words, done.stderr)


def test_products_and_pytorchs_rest_alike(machine, tmp_path):
    whole_run.main(tmp_path)
    rested = {
        name: words[words.index("--rest") + 1]
        for name, words in machine.commands
        if name.startswith(("torch-", "products-"))
    }
    assert set(rested.values()) == {str(ceilings_against_torch.REST_S)}
    modules = [
        words[words.index("--python") + 1] for _, words in machine.commands if "--python" in words
    ]
    for module in modules:
        assert callable(getattr(torch_products, module.partition(":")[2]))


def test_ceilings_and_pytorch_stand_beside_one_another(monkeypatch, tmp_path, capsys):
    torch, rests = MagicMock(), []
    torch.cuda.Event.return_value.elapsed_time.return_value = 1000.0
    made = torch.randn.return_value
    made.__matmul__ = made.to.return_value.__matmul__ = lambda self, other: self
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setattr(ceilings_against_torch.time, "sleep", rests.append)
    types = [("bf16", "f32"), ("f16", "f32"), ("tf32", "f32"), ("f8", "f32"), ("s8", "s32")]
    roofs = golden("ceilings") | {
        "memory": [
            {"what": f"dram {mix}", "bytes_per_s": 2e10}
            for mix in ("read", "write", "copy", "triad")
        ],
        "compute": [
            {"unit": "tensor", "dtype": a, "accumulate": b, "flop_per_s": 2e12} for a, b in types
        ],
    }

    def run(command, *, cwd, **_):
        (Path(cwd) / "ceilings.json").write_text(json.dumps(roofs))

    monkeypatch.setattr(ceilings_against_torch.subprocess, "run", run)
    assert ceilings_against_torch.main(tmp_path) == 0
    figures = json.loads((tmp_path / "torch.json").read_text())["figures"]
    assert [one["what"] for one in figures][-2:] == ["f8/f32", "s8/s32"]
    assert len(figures) == 9
    bf16 = figures[4]
    assert bf16["torch"] == pytest.approx(2 * 8192**3)
    assert bf16["share"] == pytest.approx(2 * 8192**3 / 2e12)
    assert rests == [0.1] * 9 * len(types)
    assert "| bf16/f32 | 2.00 | 1.10 | 55.0% |" in (tmp_path / "ceilings.md").read_text("utf-8")
    roofs["compute"][0]["flop_per_s"] = 1e12
    assert ceilings_against_torch.main(tmp_path) == 1
