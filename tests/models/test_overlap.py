"""Pipelines: closed forms, published timelines, and laws that every schedule keeps."""

from __future__ import annotations

import itertools
import math
import random
from dataclasses import replace

import pytest

from perfkit.errors import UsageError
from perfkit.models.engines import Plan, Stage, Times
from perfkit.models.overlap import Work, best, fewest_streams, schedule

EQUAL = Work(whole_s=Times(4.0, 4.0, 4.0))  # of four parts each stage takes 1 s


@pytest.mark.parametrize(
    ("engines", "order", "seconds"),
    [
        # M. Harris, How to Overlap Data Transfers in CUDA C/C++: four streams, equal stages. One
        # copy engine with one queue (C1060): nothing overlaps depth-first, 8 of 12 breadth-first.
        # A copy engine for each direction (C2050): 6 of 12 depth-first.
        (1, "depth-first", 12),
        (1, "breadth-first", 8),
        (2, "depth-first", 6),
        (2, "breadth-first", 6),
    ],
)
def test_the_timelines_of_the_blog(engines, order, seconds):
    plan = Plan(chunks=4, copy_engines=engines, order=order, queue="in-order")
    found = schedule(EQUAL, plan)
    assert found.makespan_s == pytest.approx(seconds)
    assert found.serial_s == pytest.approx(12)
    assert found.speedup == pytest.approx(12 / seconds)


@pytest.mark.parametrize("order", ["depth-first", "breadth-first"])
def test_with_an_engine_that_takes_what_is_ready_the_order_does_not_matter(order):
    found = schedule(EQUAL, Plan(chunks=4, copy_engines=1, order=order))
    assert found.makespan_s == pytest.approx(8)  # 4 * (1 + 1): the copy engine never waits


@pytest.mark.parametrize("order", ["depth-first", "breadth-first"])
@pytest.mark.parametrize("queue", ["ready", "in-order"])
@pytest.mark.parametrize("chunks", [1, 2, 3, 7, 40])
def test_three_engines_are_an_ideal_pipeline(chunks, queue, order):
    chooser = random.Random(chunks)
    for _ in range(20):
        work = Work(
            whole_s=Times(*(chooser.choice([0.0, 1.0, 2.5, 10.0, 0.1]) for _ in range(3))),
            copy_overhead_s=chooser.choice([0.0, 0.01]),
            launch_overhead_s=chooser.choice([0.0, 0.02]),
        )
        if not any(work.whole_s):
            continue
        part = work.part(chunks)
        found = schedule(work, Plan(chunks=chunks, queue=queue, order=order))
        assert found.makespan_s == pytest.approx(sum(part) + (chunks - 1) * max(part))
        assert found.lower_bound_s == pytest.approx(found.makespan_s)


def test_two_stages():
    # no copy back: n parts of a copy and a kernel, sum + (n - 1) * the longer one
    work = Work(whole_s=Times(8.0, 4.0, 0.0))
    assert schedule(work, Plan(chunks=4)).makespan_s == pytest.approx(3 + 3 * 2)
    assert set(schedule(work, Plan(chunks=4)).busy_s()) == {"h2d", "kernel"}


def test_one_stream_is_serial():
    for chunks, queue in itertools.product((1, 3, 8), ("ready", "in-order")):
        found = schedule(EQUAL, Plan(chunks=chunks, streams=1, queue=queue))
        assert found.makespan_s == pytest.approx(12)


def test_two_streams_step_by_step():
    # Stages of 1, 1, 1: chunk 2 needs the stream of chunk 0, free at 3, chunk 3 that of chunk 1,
    # free at 4; so 3..6 and 4..7.
    found = schedule(EQUAL, Plan(chunks=4, streams=2))
    assert found.makespan_s == pytest.approx(7)
    starts = {(s.chunk, s.stage): s.start_s for s in found.spans}
    assert [starts[c, Stage.H2D] for c in range(4)] == pytest.approx([0, 1, 3, 4])


def test_pageable_copies_keep_the_host_waiting():
    # depth-first every call waits for the one before: nothing overlaps
    deep = schedule(EQUAL, Plan(chunks=4, pinned=False))
    assert deep.makespan_s == pytest.approx(12)
    # stage by stage the kernels are issued together after the last copy to the GPU (at 4 s) and
    # run until 8, the copies back start at 5 and take turns with nobody
    wide = schedule(EQUAL, Plan(chunks=4, pinned=False, order="breadth-first"))
    assert wide.makespan_s == pytest.approx(9)


def test_overheads_are_paid_for_every_part():
    work = Work(whole_s=Times(4.0, 4.0, 4.0), copy_overhead_s=0.5, launch_overhead_s=0.25)
    assert work.part(4) == pytest.approx((1.5, 1.25, 1.5))
    found = schedule(work, Plan(chunks=4))
    assert found.makespan_s == pytest.approx(4.25 + 3 * 1.5)
    assert found.serial_s == pytest.approx(4.5 + 4.25 + 4.5)


def test_a_stage_with_nothing_to_do_has_no_overhead():
    work = Work(whole_s=Times(0.0, 4.0, 0.0), copy_overhead_s=0.5)
    assert work.part(2) == (0, 2, 0)


# --- laws -----------------------------------------------------------------------------------------


def plans():
    """Every way to issue, with counts of chunks and streams that do and do not divide."""
    return [
        Plan(chunks=c, streams=s, copy_engines=e, order=o, queue=q, pinned=p)
        for c, s, e, o, q, p in itertools.product(
            (1, 2, 5, 12), (1, 2, 3, None), (1, 2), ("depth-first", "breadth-first"),
            ("ready", "in-order"), (True, False),
        )
    ]  # fmt: skip


@pytest.mark.parametrize(
    "whole", [(1, 1, 1), (5, 1, 1), (1, 5, 1), (1, 1, 5), (2, 3, 0), (0, 3, 4), (3, 0, 3)]
)
def test_every_schedule_can_happen(whole):
    work = Work(whole_s=Times(*map(float, whole)), copy_overhead_s=0.01, launch_overhead_s=0.02)
    for plan in plans():
        found = schedule(work, plan)
        part = work.part(plan.chunks)
        stages = [stage for stage, time in zip(Stage, part, strict=True) if time]
        # everything once, as long as it takes
        assert sorted((s.chunk, s.stage) for s in found.spans) == sorted(
            itertools.product(range(plan.chunks), stages)
        )
        assert all(
            s.end_s - s.start_s == pytest.approx(part[list(Stage).index(s.stage)])
            for s in found.spans
        )
        # an engine does one thing at a time
        for engine in found.busy_s():
            mine = sorted((s.start_s, s.end_s) for s in found.spans if s.engine == engine)
            assert all(a[1] <= b[0] + 1e-12 for a, b in itertools.pairwise(mine))
        # the stages of a chunk in order, and the chunks of a stream too
        streams = min(plan.streams or plan.chunks, plan.chunks)
        for stream in range(streams):
            mine = sorted(
                (s for s in found.spans if s.chunk % streams == stream),
                key=lambda s: (s.chunk, list(Stage).index(s.stage)),
            )
            assert all(a.end_s <= b.start_s + 1e-12 for a, b in itertools.pairwise(mine))
        # between what no schedule beats and doing one thing after the other
        assert found.lower_bound_s <= found.makespan_s + 1e-12
        assert found.makespan_s <= plan.chunks * sum(part) + 1e-9
        for busy in found.busy_s().values():
            assert busy <= found.makespan_s + 1e-12


def test_pinned_memory_is_never_slower():
    for plan in plans():
        pinned, pageable = (schedule(EQUAL, replace(plan, pinned=p)) for p in (True, False))
        assert pinned.makespan_s <= pageable.makespan_s + 1e-9


def test_a_second_copy_engine_is_never_slower():
    for plan in plans():
        two, one = (schedule(EQUAL, replace(plan, copy_engines=n)) for n in (2, 1))
        assert two.makespan_s <= one.makespan_s + 1e-9


# --- how many chunks ------------------------------------------------------------------------------


def test_the_best_count_is_that_of_the_closed_form():
    # sum/n + 3 o + (n - 1) (longest/n + o) is least where n = sqrt((sum - longest) / o):
    # (0.12 - 0.05) / 1e-4 = 700, so 26 chunks
    work = Work(whole_s=Times(0.05, 0.03, 0.04), copy_overhead_s=1e-4, launch_overhead_s=1e-4)
    found, enough = best(work, Plan())
    assert found.plan.chunks == round(math.sqrt(0.07 / 1e-4)) == 26
    times = [schedule(work, Plan(chunks=n)).makespan_s for n in range(1, 129)]
    assert found.makespan_s == min(times)
    first = next(n for n, time in enumerate(times, start=1) if time <= 1.01 * min(times))
    assert enough == first < 26


def test_without_overhead_every_further_chunk_helps_and_the_count_is_the_most_tried():
    found, enough = best(EQUAL, Plan(), most=64)
    assert found.plan.chunks == 64
    # 4 + 8 / n against 4 + 8 / 64: within 1 % from n = 8 / (1.01 * 4.125 - 4) = 48.1 on
    assert enough == 49


def test_one_chunk_where_overlap_only_costs():
    work = Work(whole_s=Times(1.0, 0.0, 0.0), copy_overhead_s=0.1)
    assert best(work, Plan())[0].plan.chunks == 1


def test_three_streams_are_enough_for_three_engines():
    for whole in itertools.product((1.0, 2.0, 7.0), repeat=3):
        work = Work(whole_s=Times(*whole))
        free = schedule(work, Plan(chunks=9))
        assert fewest_streams(work, free.plan, free.makespan_s) <= 3


@pytest.mark.parametrize("bad", [-1.0, math.nan, math.inf, 1e10])
@pytest.mark.parametrize("place", range(5))
def test_times_that_are_none(place, bad):
    given = [1.0] * 5
    given[place] = bad
    work = Work(whole_s=Times(*given[:3]), copy_overhead_s=given[3], launch_overhead_s=given[4])
    for ask in (schedule, best):
        with pytest.raises(UsageError, match="s: must be finite and not negative"):
            ask(work, Plan())


@pytest.mark.parametrize(
    ("plan", "says"),
    [
        (Plan(chunks=0), "chunks = 0"),
        (Plan(chunks=4097), "chunks = 4097"),
        (Plan(streams=0), "streams = 0"),
        (Plan(copy_engines=3), "copy engines = 3"),
    ],
)
def test_plans_that_are_none(plan, says):
    with pytest.raises(UsageError, match=says):
        schedule(EQUAL, plan)


def test_nothing_to_do_is_refused():
    with pytest.raises(UsageError, match="nothing to do"):
        schedule(Work(whole_s=Times(0.0, 0.0, 0.0), copy_overhead_s=1.0), Plan())


@pytest.mark.parametrize("most", [0, 513])
def test_how_many_counts_can_be_tried(most):
    with pytest.raises(UsageError, match=f"chunks = {most}"):
        best(EQUAL, Plan(), most=most)


def test_handing_over_costs_time_between_engines_and_keeps_neither_busy():
    work = Work(whole_s=Times(4.0, 4.0, 4.0), handoff_s=0.5)
    assert schedule(work, Plan()).makespan_s == pytest.approx(13)
    assert schedule(work, Plan()).serial_s == pytest.approx(13)
    # four chunks of one stream: three stages and two ways each, and from the last stage of a
    # chunk to the first of the next, which is on another engine
    assert schedule(work, Plan(chunks=4, streams=1)).makespan_s == pytest.approx(12 + 11 * 0.5)
    # enough streams hide it: the pipeline only becomes longer, not slower
    assert schedule(work, Plan(chunks=4)).makespan_s == pytest.approx(6 + 2 * 0.5)
    # from a copy to the next copy on one engine there is nothing to hand over
    both = Work(whole_s=Times(4.0, 0.0, 4.0), handoff_s=0.5)
    assert schedule(both, Plan(chunks=2, streams=1, copy_engines=1)).makespan_s == pytest.approx(8)


def test_both_directions_at_once_slow_each_other_down():
    work = Work(whole_s=Times(4.0, 0.0, 4.0), duplex_share=0.5)
    # chunks of 1 s: 0 is copied alone until 1; then in pairs at half the rate, 2 s each
    # (1 in and 0 out: 1..3, 2 and 1: 3..5, 3 and 2: 5..7); the last one alone until 8
    found = schedule(work, Plan(chunks=4))
    assert found.makespan_s == pytest.approx(8)
    assert found.busy_s() == pytest.approx({"h2d": 7, "d2h": 7})
    # the kernel is not slowed, and one direction alone neither
    alone = Work(whole_s=Times(4.0, 4.0, 0.0), duplex_share=0.5)
    assert schedule(alone, Plan(chunks=4)).makespan_s == pytest.approx(5)


@pytest.mark.parametrize("share", [0.0, -0.5, 1.1, math.nan])
def test_a_share_that_is_none(share):
    with pytest.raises(UsageError, match="duplex share"):
        schedule(Work(whole_s=Times(1.0, 1.0, 1.0), duplex_share=share), Plan())
