"""From bytes, a link and a kernel's time to a pipeline."""

from __future__ import annotations

import math

import pytest

from perfkit.analysis.overlap import COUNTS, OverlapQuestion, overlap
from perfkit.errors import UsageError
from perfkit.models.engines import Plan, Stage
from perfkit.models.links import link

GIB = 1 << 30


def exact(**changes):
    """10 GB/s each way, nothing beside the work: 1 s in, 2 s of kernel, 0.5 s back."""
    given = {
        "h2d_bytes": 10**10,
        "d2h_bytes": 5 * 10**9,
        "kernel_s": 2.0,
        "h2d_bytes_per_s": 1e10,
        "d2h_bytes_per_s": 1e10,
        "copy_overhead_s": 0.0,
        "launch_overhead_s": 0.0,
        "handoff_s": 0.0,
        "plan": Plan(chunks=5),
    }
    return overlap(OverlapQuestion(**given | changes))


def test_the_arithmetic():
    found = exact()
    assert found.work.whole_s == pytest.approx((1, 2, 0.5))
    # five chunks of 0.2, 0.4 and 0.1 s: 0.7 + 4 * 0.4
    assert found.schedule.makespan_s == pytest.approx(2.3)
    assert found.schedule.serial_s == pytest.approx(3.5)
    assert found.bound_by is Stage.KERNEL
    assert found.limit_speedup == pytest.approx(3.5 / 2)
    # the longest stage is the kernel: a second stream is enough to feed it
    assert found.streams_needed == 2
    assert [row.chunks for row in found.counts] == sorted({*COUNTS, 5})
    assert next(r for r in found.counts if r.chunks == 5).makespan_s == pytest.approx(2.3)


def test_the_limit_where_both_directions_share_the_link():
    both = exact(kernel_s=0.0, duplex_share=0.5)
    # 0.5 s each way at half the rate is 1 s, and the rest of the copies to the GPU 0.5 s
    assert both.limit_speedup == pytest.approx(1.5 / 1.5)
    one = exact(plan=Plan(chunks=5, copy_engines=1))
    assert one.limit_speedup == pytest.approx(3.5 / 2)


def test_the_best_count():
    found = exact(copy_overhead_s=1e-3, launch_overhead_s=1e-3, most_chunks=128)
    # (1.5 s - what does not overlap) / n + n ms is least at sqrt(1.5 / 1e-3) = 38.7
    assert found.is_best
    assert found.schedule.plan.chunks == round(math.sqrt(1.5 / 1e-3)) == 39
    assert 1 < found.enough_chunks < 39


def test_rates_of_a_link():
    plan = Plan(chunks=2)
    pinned = overlap(
        OverlapQuestion(h2d_bytes=GIB, d2h_bytes=GIB, link=link("pcie3x16"), plan=plan)
    )
    assert pinned.h2d_bytes_per_s == pytest.approx(12e9)
    assert pinned.work.duplex_share == link("pcie3x16").duplex_share
    pageable = overlap(
        OverlapQuestion(h2d_bytes=GIB, link=link("pcie3x16"), plan=Plan(chunks=2, pinned=False))
    )
    assert pageable.h2d_bytes_per_s == pytest.approx(6e9)
    assert pageable.d2h_bytes_per_s is None
    assert pageable.work.duplex_share == 1.0
    narrow = overlap(
        OverlapQuestion(h2d_bytes=GIB, link=link("pcie3x4"), plan=Plan(chunks=2, pinned=False))
    )
    assert narrow.h2d_bytes_per_s == pytest.approx(3e9)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"h2d_bytes_per_s": None}, "copies to the GPU"),
        ({"d2h_bytes_per_s": None}, "copies from the GPU"),
        ({"h2d_bytes": -1}, "h2d bytes = -1"),
        ({"h2d_bytes_per_s": math.nan}, "h2d rate = nan"),
        ({"kernel_s": -1.0}, "kernel time = -1 s"),
        ({"kernel_s": math.inf}, "kernel time = inf s"),
        ({"handoff_s": -1.0}, "hand over"),
        ({"duplex_share": 2.0}, "duplex share"),
        ({"h2d_bytes": 0, "d2h_bytes": 0, "kernel_s": 0.0}, "nothing to do"),
        ({"h2d_bytes": 10**30}, "h2d time = 1e\\+20 s"),
        ({"most_chunks": 1000}, "chunks = 1000"),
        (
            {
                "h2d_bytes_per_s": None,
                "link": link("c2c"),
                "plan": Plan(pinned=False),
            },
            "pageable memory are over nvlink-c2c",
        ),
    ],
)
def test_what_is_no_pipeline(changes, says):
    with pytest.raises(UsageError, match=says):
        exact(**changes)
