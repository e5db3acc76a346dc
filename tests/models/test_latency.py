"""Little's law, on examples that others published."""

from __future__ import annotations

import math

import pytest

import perfkit
from perfkit.errors import UsageError
from perfkit.models.latency import concurrency, memory_per_warp


@pytest.mark.parametrize(
    ("capability", "cycles", "warps"),
    [
        # CUDA C++ Programming Guide 12, 5.2.3: "typically 4 clock cycles", so 16 active warps
        ("7.0", 4, 16),
        ("7.5", 4, 16),
        # the same section: 4 L for 5.x, 6.1, 6.2, 7.x and 8.x, 2 L for 6.0
        *((cc, 6, 24) for cc in ("5.0", "5.2", "5.3", "6.1", "6.2", "8.0", "8.6", "8.7", "8.9")),
        ("6.0", 6, 12),
    ],
)
def test_the_programming_guide(capability, cycles, warps):
    schedulers = perfkit.capability(capability).registers.sub_partitions
    found = concurrency(rate=schedulers, latency=cycles, per_warp=1)
    assert found.needed == schedulers * cycles
    assert found.warps_needed == warps


def test_a_gpu_glossary():
    # modal.com/gpu-glossary/perf/littles-law: 1 operation a cycle at 400 cycles needs 400 of them,
    # 10 a cycle need 4000
    assert concurrency(rate=1, latency=400, per_warp=1).needed == 400
    assert concurrency(rate=10, latency=400, per_warp=1).needed == 4000


def test_dram_step_by_step():
    # H100 SXM5: 3350 GB/s over 132 SMs at 600 ns
    rate = 3350e9 / 132
    needed = rate * 600e-9  # bytes on every SM
    assert needed == pytest.approx(15227.27, abs=0.01)
    # one float per thread and nothing else under way: 128 bytes per warp, so 118.96 warps
    found = concurrency(
        rate=rate, latency=600e-9, per_warp=memory_per_warp(width_bytes=4, ilp=1), resident_warps=64
    )
    assert found.warps_needed == 119
    assert found.share == pytest.approx(64 * 128 / needed)
    # float4, four loads before the first use: 2048 bytes per warp, 7.4 warps
    wide = concurrency(
        rate=rate,
        latency=600e-9,
        per_warp=memory_per_warp(width_bytes=16, ilp=4),
        resident_warps=8,
    )
    assert wide.warps_needed == 8
    assert wide.share == 1.0


def test_a_whole_number_of_warps_is_not_rounded_up():
    assert concurrency(rate=0.1, latency=30, per_warp=1).warps_needed == 3  # 3.0000000000000004


def test_there_is_always_a_warp():
    found = concurrency(rate=1e-9, latency=1, per_warp=1, resident_warps=0)
    assert found.warps_needed == 1
    assert found.share == 0


@pytest.mark.parametrize("ilp", [1, 2, 3, 8])
@pytest.mark.parametrize("width", [1, 2, 4, 8, 16])
def test_more_under_way_never_needs_more_warps(width, ilp):
    def warps(width_bytes, accesses):
        per_warp = memory_per_warp(width_bytes=width_bytes, ilp=accesses)
        return concurrency(rate=25e9, latency=600e-9, per_warp=per_warp).warps_needed

    assert warps(width, ilp) >= warps(width, ilp + 1)
    assert warps(width, ilp) == warps(width, 2 * ilp) * 2 or warps(width, ilp) in {
        warps(width, 2 * ilp) * 2 - 1,
        1,
    }


@pytest.mark.parametrize("bad", [0, -1, math.nan, math.inf, 1e31, 10**400, -(10**400), True, "4"])
@pytest.mark.parametrize("name", ["rate", "latency", "per_warp"])
def test_what_is_no_amount_is_refused(name, bad):
    with pytest.raises(
        UsageError, match=name.split("_", maxsplit=1)[0].replace("per", "in flight")
    ):
        concurrency(**({"rate": 1, "latency": 1, "per_warp": 1} | {name: bad}))


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"width_bytes": 3, "ilp": 1}, "a lane moves 1, 2, 4, 8, 16 bytes"),
        ({"width_bytes": 4, "ilp": 0}, "ilp = 0"),
        ({"width_bytes": 4, "ilp": 1, "lanes": 33}, "1 to 32 active lanes"),
        ({"width_bytes": 4, "ilp": 1, "lanes": 0}, "1 to 32 active lanes"),
    ],
)
def test_what_no_warp_does_is_refused(given, says):
    with pytest.raises(UsageError, match=says):
        memory_per_warp(**given)
