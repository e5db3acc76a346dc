"""Checks by events and clocks: their judgement, with times that are made up."""

from __future__ import annotations

from itertools import count

import pytest

from perfkit.analysis.validation import Status
from perfkit.device.experiments import latency_hiding, overlap_checks, pipelines
from perfkit.models.overlap import schedule
from tests.device.fake_validate import FakeCard, sums, without_compiler

COSTS = pipelines.Costs(copy_s=2.7e-6, kernel_s=1.7e-6, handoff_s=4.7e-6)
LINK = pipelines.Link(h2d_bytes_per_s=55e9, d2h_bytes_per_s=55e9, duplex_share=0.89)
PEAK, LATENCY_S = 4.8e12, 350e-9


@pytest.fixture(autouse=True)
def _no_compiler(monkeypatch):
    without_compiler(monkeypatch)


@pytest.fixture
def overlap(monkeypatch):
    """Runs the check with pipelines that take ``change`` of what is predicted with ``links``."""

    def run(change, *, quick=True, links=lambda number: LINK):
        number = count()

        def measured(_bench, plan, kernel_s):
            work = overlap_checks._work(COSTS, LINK, kernel_s)
            return schedule(work, plan).makespan_s * change(plan)

        monkeypatch.setattr(pipelines, "Bench", lambda *_, **__: None)
        monkeypatch.setattr(overlap_checks, "_ready_first", lambda *_: None)
        monkeypatch.setattr(pipelines, "costs", lambda _: COSTS)
        monkeypatch.setattr(pipelines, "link", lambda *_: links(next(number)))
        monkeypatch.setattr(pipelines, "pipeline", measured)
        return sums("overlap", FakeCard(), quick=quick)

    return run


def test_pipelines_that_take_what_is_predicted(overlap):
    status, compared, _, figures, _ = overlap(lambda _: 1.0, quick=False)
    assert status is Status.PASS
    assert compared >= 100
    assert figures["largest deviation"] == "0.00%"
    assert figures["share of that both ways at once"] == 0.89


def test_one_pipeline_far_off_is_named(overlap):
    change = {(1, "depth-first"): 1.3}
    status, _, differences, _, _ = overlap(lambda p: change.get((p.chunks, p.order), 1.0))
    assert status is Status.FAIL
    assert differences[0].configuration.startswith("1 chunks, 1 streams, depth-first")


def test_all_pipelines_a_little_off_are_too_far_off_together(overlap):
    status, _, differences, _, _ = overlap(lambda _: 1.03)
    assert status is Status.FAIL
    assert [one.configuration for one in differences] == ["half"]


def test_nine_of_ten_are_judged_of_many_pipelines_only(overlap):
    def change(plan):
        return 1 / 1.07 if plan.chunks in {8, 64} else 1.0

    assert overlap(change)[0] is Status.PASS
    status, _, differences, _, _ = overlap(change, quick=False)
    assert status is Status.FAIL
    assert [one.configuration for one in differences] == ["nine of ten"]


LEFT_OUT = "pipelines left out, as the rates of the link changed"


def test_a_link_that_changes_once_costs_a_second_try(overlap):
    slower = LINK._replace(h2d_bytes_per_s=40e9)
    status, compared, _, figures, _ = overlap(
        lambda _: 1.0, links=lambda number: slower if number < 1 else LINK
    )
    assert status is Status.PASS
    assert LEFT_OUT not in figures
    assert compared == overlap(lambda _: 1.0)[1]


def test_a_link_that_is_never_steady_is_held_against_nothing(overlap):
    shares = (0.9, 0.6)
    status, compared, _, figures, _ = overlap(
        lambda _: 2.0, links=lambda number: LINK._replace(duplex_share=shares[number % 2])
    )
    assert status is not Status.FAIL
    assert compared == 0
    assert figures[LEFT_OUT] > 20
    assert figures["slowest both ways at once, GB/s each"] == 33.0


def test_a_slow_link_is_what_is_predicted_with(overlap):
    half = pipelines.Link(*(value / 2 for value in LINK[:2]), LINK.duplex_share)
    status, _, differences, _, _ = overlap(lambda _: 1.0, links=lambda _: half)
    assert status is Status.FAIL, "pipelines of the fast link beside the slow one"
    assert differences


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
