"""Checks by events and clocks: their judgement, with times that are made up."""

from __future__ import annotations

import pytest

from perfkit.analysis.validation import Status
from perfkit.device.experiments import latency_hiding, overlap_checks
from perfkit.models.overlap import schedule
from tests.device.fake_validate import FakeCard, sums, without_compiler

GIVEN = overlap_checks.Given(
    h2d_bytes_per_s=55e9,
    d2h_bytes_per_s=55e9,
    copy_overhead_s=2.7e-6,
    kernel_overhead_s=1.7e-6,
    handoff_s=4.7e-6,
    duplex_share=0.89,
)
PEAK, LATENCY_S = 4.8e12, 350e-9


@pytest.fixture(autouse=True)
def _no_compiler(monkeypatch):
    without_compiler(monkeypatch)


@pytest.fixture
def pipelines(monkeypatch):
    """Runs the check with pipelines that take ``change`` of what is predicted."""

    def run(change, *, quick=True):
        def measured(_bench, plan, kernel_s):
            work = overlap_checks._work(GIVEN, kernel_s)
            return schedule(work, plan).makespan_s * change(plan)

        monkeypatch.setattr(overlap_checks, "_Bench", lambda *_, **__: None)
        monkeypatch.setattr(overlap_checks, "_ready_first", lambda *_: None)
        monkeypatch.setattr(overlap_checks, "_given", lambda _: GIVEN)
        monkeypatch.setattr(overlap_checks, "_pipeline", measured)
        return sums("overlap", FakeCard(), quick=quick)

    return run


def test_pipelines_that_take_what_is_predicted(pipelines):
    status, compared, _, figures, _ = pipelines(lambda _: 1.0, quick=False)
    assert status is Status.PASS
    assert compared >= 100
    assert figures["largest deviation"] == "0.00%"
    assert figures["share of that both ways at once"] == 0.89


def test_one_pipeline_far_off_is_named(pipelines):
    change = {(1, "depth-first"): 1.3}
    status, _, differences, _, _ = pipelines(lambda p: change.get((p.chunks, p.order), 1.0))
    assert status is Status.FAIL
    assert differences[0].configuration.startswith("1 chunks, 1 streams, depth-first")


def test_all_pipelines_a_little_off_are_too_far_off_together(pipelines):
    status, _, differences, _, _ = pipelines(lambda _: 1.03)
    assert status is Status.FAIL
    assert [one.configuration for one in differences] == ["half"]


def test_nine_of_ten_are_judged_of_many_pipelines_only(pipelines):
    def change(plan):
        return 1 / 1.07 if plan.chunks in {8, 64} else 1.0

    assert pipelines(change)[0] is Status.PASS
    status, _, differences, _, _ = pipelines(change, quick=False)
    assert status is Status.FAIL
    assert [one.configuration for one in differences] == ["nine of ten"]


@pytest.fixture
def reads(monkeypatch):
    """Runs the check with reads that reach ``share`` of the law."""

    def run(share, card=None):
        def measured(_card, case, _memory, _out, *, seconds_bytes):
            law = case.width * case.ilp * case.warps * 32 * 132 / LATENCY_S
            assert seconds_bytes == pytest.approx(0.004 * min(law, PEAK))
            return min(law, PEAK) * share(case)

        monkeypatch.setattr(latency_hiding, "_latency", lambda _: LATENCY_S)
        monkeypatch.setattr(latency_hiding, "_read", measured)
        return sums("latency-hiding", card or FakeCard())

    return run


def test_reads_below_and_close_to_the_law(reads):
    status, compared, _, figures, _ = reads(lambda _: 0.9)
    assert status is Status.PASS
    assert compared > 14
    assert figures["close to the law, as it should be"] > 2
    assert figures["latency of DRAM, ns"] == 350


def test_a_read_faster_than_the_law(reads):
    status, _, differences, _, _ = reads(lambda case: 1.2 if case.warps == 1 else 0.9)
    assert status is Status.FAIL
    assert all(one.configuration.startswith("1 warps per SM") for one in differences)
    assert "at most" in differences[0].predicted


def test_a_read_far_below_the_law_where_it_should_be_reached(reads):
    status, _, differences, _, _ = reads(lambda case: 0.5 if case.ilp == 1 else 0.9)
    assert status is Status.FAIL
    assert all("1 loads" in one.configuration for one in differences)
    assert all("75%" in one.predicted for one in differences)


def test_a_card_of_which_nobody_knows_the_bandwidth(reads, monkeypatch):
    monkeypatch.setattr(latency_hiding, "_peak", lambda _: None)
    status, _, _, _, reason = reads(lambda _: 0.9)
    assert status is Status.SKIPPED
    assert "bandwidth" in reason
