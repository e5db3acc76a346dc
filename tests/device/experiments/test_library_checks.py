"""Bounds and recommendations: the judgement, with times that are made up."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from perfkit.analysis.prediction import predict
from perfkit.analysis.validation import Status, verdict
from perfkit.device.experiments import library_checks
from perfkit.device.experiments.checks import check
from perfkit.device.machine import machine_of
from perfkit.models.roofs import Ceilings
from tests.device.fake_validate import FakeCard, trial

MIXES = {"read": 4.7e12, "write": 4.7e12, "copy": 4.28e12, "triad": 4.42e12}
CEILINGS = Ceilings(
    gpu="h200-sxm",
    compute={},
    memory={"dram": 4.7e12},
    clock_hz=None,
    origin="this run",
    mixes=MIXES,
)


@pytest.fixture(autouse=True)
def _no_card(monkeypatch):
    facts = SimpleNamespace(registers=32, static_shared_bytes=0, dynamic_shared_bytes=0)
    monkeypatch.setattr(library_checks, "Stopwatch", lambda *_: None)
    monkeypatch.setattr(
        library_checks.benches, "Bench", lambda *_: SimpleNamespace(facts=lambda _: facts)
    )
    monkeypatch.setattr(library_checks, "_ceilings", lambda *_: CEILINGS)


def run(name, time, monkeypatch, *, quick=False):
    monkeypatch.setattr(library_checks, "_time", time)
    compared, differing, differences, figures = 0, 0, [], {}
    for tally in check(trial(name, FakeCard(), quick=quick)):
        compared, differing = compared + tally.compared, differing + tally.differing
        differences += tally.differences
        figures |= tally.figures or {}
    status, _ = verdict(compared=compared, differing=differing, nothing=None, failed=None)
    return status, differences, figures


def expected(case, workload):
    machine = machine_of(FakeCard().device, CEILINGS)
    options = {"cold": workload.cold, "footprint_bytes": case.footprint_bytes}
    return predict(machine, case.demand, **options).expected_s


def test_kernels_that_take_what_is_predicted(monkeypatch):
    status, differences, figures = run(
        "bounds", lambda _bench, workload, case, _: 1.05 * expected(case, workload), monkeypatch
    )
    assert differences == []
    assert status is Status.PASS
    assert figures["held against their bound"] > 25
    assert figures["limited by DRAM alone"] > 10
    assert figures["largest deviation of these"] == pytest.approx(0.05)


def test_a_kernel_that_beats_its_bound(monkeypatch):
    def time(_bench, workload, case, _samples):
        return expected(case, workload) * (0.5 if workload.name == "copy" else 1.01)

    status, differences, _ = run("bounds", time, monkeypatch)
    assert status is Status.FAIL
    assert differences[0].configuration == "copy"
    assert differences[0].predicted.startswith("at least")


def test_a_memory_bound_kernel_that_takes_longer(monkeypatch):
    def time(_bench, workload, case, _samples):
        return expected(case, workload) * (1.2 if workload.name == "triad" else 1.01)

    status, (difference,), _ = run("bounds", time, monkeypatch)
    assert status is Status.FAIL
    assert difference.configuration.startswith("triad, with the DRAM rate")
    assert "+20.0%" in difference.measured


def test_no_regret_where_block_sizes_are_alike(monkeypatch):
    status, differences, figures = run("recommendation", lambda *_: 1e-3, monkeypatch)
    assert (status, differences) == (Status.PASS, [])
    assert figures["median regret"] == figures["worst regret"] == "0.00%"
    assert len(figures) > 12


def test_a_kernel_for_which_another_block_size_is_better(monkeypatch):
    def time(_bench, workload, case, _samples):
        small = case.launch.threads == 64 and workload.name == "vector_add"
        return 0.8e-3 if small else 1e-3

    status, (difference,), figures = run("recommendation", time, monkeypatch)
    assert status is Status.FAIL
    assert difference.configuration == "vector_add"
    assert "64 are best" in difference.measured
    assert figures["worst regret"] == "25.00%"
    assert figures["median regret"] == "0.00%"


def test_a_block_size_that_would_not_even_be_tried(monkeypatch):
    def time(_bench, workload, case, _samples):
        last = case.launch.threads == 32 and workload.name == "vector_add"
        return 0.95e-3 if last else 1e-3

    status, (difference,), figures = run("recommendation", time, monkeypatch)
    assert status is Status.FAIL
    assert difference.configuration == "vector_add, with --measure"
    assert figures["worst regret with --measure"] == "5.26%"


def test_many_kernels_a_little_slower(monkeypatch):
    def time(_bench, _workload, case, _samples):
        return 0.95e-3 if case.launch.threads == 32 * 7 else 1e-3

    status, differences, _ = run("recommendation", time, monkeypatch)
    assert status is Status.FAIL
    assert [one.configuration for one in differences] == ["median over the kernels"]
