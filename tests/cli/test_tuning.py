"""``gemm --measure`` and ``recommend --measure``: a card and measurements put in their place."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from perfkit.device import properties, tuning
from tests.device.fakes import FakeDriver
from tests.report.measured import TUNING

GEMM = ["gemm", "--shape", "4096", "--dtype", "bf16", "--measure"]


@pytest.fixture
def card(monkeypatch):
    """An H200, as far as the driver's answers go; what would be tried is kept."""
    asked = []
    device = properties.read_device(0, FakeDriver())
    monkeypatch.setattr(properties, "read_device", lambda *_: device)

    def use(found):
        def take(here, target, what, how):
            asked.append((here, target, what, how))
            return found

        monkeypatch.setattr(tuning, "tune_gemm", take)
        monkeypatch.setattr(tuning, "tune_block_size", take)
        return asked

    return use


def test_the_card_is_asked_and_the_answer_is_the_set_tied_with_the_fastest(perfkit, card):
    asked = card(TUNING)
    result = perfkit(
        [*GEMM, "-g", "h200", "--tries", "5", "--runs", "2", "--rest", "1", "-f", "json"]
    )
    assert result.code == 0
    found = json.loads(result.out)
    assert found["schema"] == "perfkit.tuning/1"
    assert found["chosen"] == "c2"
    assert found["regret"] == pytest.approx(190 / 187 - 1)
    ((_, target, question, how),) = asked
    assert target.label == "h200-sxm"
    assert (question.m, question.n, question.k) == (4096, 4096, 4096)
    assert (how.most, how.plan.runs, how.plan.rest_s) == (5, 2, 1)


def test_times_of_bursts_are_told(perfkit, card):
    tried = [
        replace(one, measurement=replace(one.measurement, rest_s=0.25)) for one in TUNING.tried
    ]
    card(TUNING)
    assert "rested" not in perfkit([*GEMM, "-g", "h200"]).out
    card(replace(TUNING, tried=tuple(tried)))
    assert "rested 0.25 s before each burst" in perfkit([*GEMM, "-g", "h200"]).out


def test_without_a_gpu_named_the_card_is_meant(perfkit, card):
    asked = card(TUNING)
    assert perfkit(["recommend", "--measure", "vector_add"]).code == 0
    ((_, _, workload, _),) = asked
    assert workload.name == "vector_add"


def test_another_card_than_the_one_here_is_refused(perfkit, card):
    card(TUNING)
    result = perfkit([*GEMM, "-g", "a100"])
    assert result.code == 2
    assert "h200-sxm, not on a100" in result.err


@pytest.mark.parametrize(
    ("words", "cause"),
    [
        ([*GEMM, "-g", "h200", "--tile", "128x128x64", "--warp", "64x64x64"], "--tile and --warp"),
        (["recommend", "--measure", "vector_ad"], "did you mean vector_add"),
        (["recommend", "--measure", "transpose_*"], "means 3 kernels"),
        (["recommend", "k.cu", "--measure", "vector_add"], "one kernel too many"),
        (["recommend", "--measure", "none.yaml"], "none.yaml"),
    ],
)
def test_what_cannot_be_tried(perfkit, monkeypatch, tmp_path, words, cause):
    device = properties.read_device(0, FakeDriver())
    monkeypatch.setattr(properties, "read_device", lambda *_: device)
    (tmp_path / "k.cu").write_text("__global__ void k() {}\n")
    monkeypatch.chdir(tmp_path)
    result = perfkit(words)
    assert result.code == 2
    assert cause in result.err


def test_a_card_that_the_database_lacks_cannot_be_ranked_for(perfkit, monkeypatch):
    device = properties.read_device(0, FakeDriver(named="NVIDIA Unheard-of"))
    monkeypatch.setattr(properties, "read_device", lambda *_: device)
    result = perfkit([*GEMM, "-g", "device"])
    assert result.code in {2, 4}
    assert "Unheard-of" in result.err or "device" in result.err


def test_interrupted_and_all_wrong(perfkit, card):
    card(replace(TUNING, interrupted=True))
    assert perfkit([*GEMM, "-g", "h200"]).code == 130
    card(replace(TUNING, tried=TUNING.tried[2:]))
    result = perfkit([*GEMM, "-g", "h200"])
    assert result.code == 5
    assert "none of 1 candidates gave a right result" in result.err
