"""Each term of a product's expected time, with rates that make it the one that decides."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from perfkit.arch import catalog
from perfkit.kernel import DType
from perfkit.models.contention import time_per_piece
from perfkit.models.gemm_instructions import instruction
from perfkit.models.gemm_tile import Tiling
from perfkit.models.gemm_time import Rates, expected
from perfkit.models.gemm_traffic import Cache, Problem, grid, traffic

HOPPER = catalog.capability("9.0")
SMS = 132
P = Problem(m=4096, n=4096, k=4096, dtype=DType.BF16, accumulate=DType.F32, out=DType.BF16)
WIDE = Tiling(tile_m=128, tile_n=256, tile_k=64, warp_m=16, warp_n=256, warp_k=64, stages=4)
MMA = Tiling(tile_m=128, tile_n=256, tile_k=64, warp_m=64, warp_n=64, warp_k=64, stages=4)
#: one SM: nothing but the tensor cores takes time worth speaking of
FAST = Rates(
    flop_per_s=1e12,
    clock_hz=1e15,
    shared_bytes_per_s=1e18,
    l2_bytes_per_s=1e18,
    read_bytes_per_s=1e18,
    write_bytes_per_s=1e18,
)
STEP_S = 2 * 128 * 256 * 64 / 1e12
A, B = 128 * 64 * 2, 256 * 64 * 2  #: bytes of a slice
#: 512 tiles on 132 SMs, 64 steps each
STEPS = 4 * 64


def time_of(t=WIDE, p=P, *, resident=1, together=1, rates=FAST, ops=None, usable=None, one=None):
    kind = (64, 256, 16) if np.all(t.warp_m == 16) else None
    one = one or instruction(HOPPER, p.dtype, "tensor", kind)
    more = {} if ops is None else {"ops": ops}
    g = grid(p, t, sm_count=SMS, blocks_per_sm=resident, usable_sms=usable, **more)
    cache = Cache(l2_bytes=50 * 2**20)
    gcd = {} if ops is None else {"gcd": lambda x, y: np.gcd(x.astype(int), y.astype(int))}
    moved = traffic(p, t, one, g, sm_count=SMS, blocks_per_sm=resident, cache=cache, **more, **gcd)
    return expected(
        p,
        t,
        one,
        g,
        moved,
        blocks_per_sm=resident,
        sm_count=SMS,
        rates=rates,
        together=together,
        **more,
    )


def traffic_of(t, p=P):
    g = grid(p, t, sm_count=SMS, blocks_per_sm=1, usable_sms=None)
    cache = Cache(l2_bytes=50 * 2**20)
    one = instruction(HOPPER, p.dtype, "tensor", (64, 256, 16))
    return traffic(p, t, one, g, sm_count=SMS, blocks_per_sm=1, cache=cache)


def test_the_tensor_cores_of_the_busiest_sm():
    assert time_of() == pytest.approx(STEPS * STEP_S)


def test_a_launch_by_itself_comes_on_top():
    assert time_of(rates=replace(FAST, launch_s=3e-6)) == pytest.approx(STEPS * STEP_S + 3e-6)


def test_clusters_that_reach_fewer_sms_take_as_long_as_their_waves():
    found = time_of(replace(WIDE, cluster_m=4), usable=120)
    assert found == pytest.approx(5 * 64 * STEP_S)  # 512 / 120 is more than 4


def test_an_sm_takes_64_bytes_per_clock():
    slow = replace(FAST, clock_hz=(A + B) / 64 / (3 * STEP_S))
    assert time_of(rates=slow) == pytest.approx(STEPS * 3 * STEP_S)


@pytest.mark.parametrize(
    ("cluster", "together", "asked"),
    [((1, 1), 1, A + B), ((1, 1), 8, A + B / 8), ((2, 1), 8, A + B / 2), ((1, 2), 8, A / 2 + B)],
)
def test_what_l2_is_asked_for(cluster, together, asked):
    """Blocks of a column together, but not where they load for their clusters."""
    t = replace(WIDE, cluster_m=cluster[0], cluster_n=cluster[1], stages=64)
    rate = asked / (5 * STEP_S)
    found = time_of(t, together=together, rates=replace(FAST, l2_bytes_per_s=rate))
    # the first slice arrives alone
    assert found == pytest.approx(STEPS * 5 * STEP_S + (A + B) / rate)


@pytest.mark.parametrize(("stages", "resident"), [(2, 1), (3, 1), (2, 2)])
def test_slices_under_way(stages, resident):
    slow = replace(FAST, latency_s=100 * STEP_S)
    found = time_of(replace(WIDE, stages=stages), rates=slow, resident=resident)
    step = 100 * STEP_S / ((stages - 1) * resident)
    assert found == pytest.approx(STEPS * step + 100 * STEP_S)


@pytest.mark.parametrize("resident", [1, 2])
def test_results_go_to_dram(resident):
    """While one block stores, the others of its SM multiply."""
    store = 128 * 256 * 2
    slow = replace(FAST, write_bytes_per_s=store / (10 * STEP_S))
    found = time_of(rates=slow, resident=resident)
    assert found == pytest.approx(STEPS * STEP_S + 4 * 10 * STEP_S / resident)


def test_a_tile_beyond_the_edge_stores_what_there_is():
    p = replace(P, m=64, n=256)
    slow = replace(FAST, write_bytes_per_s=64 * 256 * 2 / (10 * STEP_S))
    assert time_of(p=p, rates=slow) == pytest.approx(64 * STEP_S + 10 * STEP_S)


def test_dram_limits_all_of_them():
    # 96 MiB at least, shared out
    slow = replace(FAST, read_bytes_per_s=1e9, write_bytes_per_s=1e9)
    assert time_of(rates=slow) > 96 * 2**20 / SMS / 1e9
    # what stays in L2 is read once, and the result is not read
    p = replace(P, m=1024, n=1024, k=1024)
    found = time_of(p=p, rates=replace(FAST, read_bytes_per_s=1e6))
    assert found == pytest.approx(2 * 2 * 2**20 / SMS / 1e6)


def test_a_split_product_stores_its_sums_and_each_part_of_a_tile():
    """Of one tile in four parts: a step of 64 in four SMs, and the sums of all parts."""
    p = replace(P, m=128, n=256)
    t = replace(WIDE, split_k=4)
    slow = replace(FAST, write_bytes_per_s=1e9)
    sums = traffic_of(t, p).partial_bytes
    assert sums >= 3 * 128 * 256 * 4
    found = time_of(t, p, rates=slow)
    assert found == pytest.approx(16 * STEP_S + 128 * 256 * 2 / 1e9 + sums / SMS / 1e9)
    # 2,048 parts of 512 tiles: the busiest SM ends with 16 of them
    whole, parts = time_of(rates=slow), time_of(t, rates=slow)
    sums = traffic_of(t).partial_bytes / SMS / 1e9
    assert parts - whole == pytest.approx((16 - 4) * 128 * 256 * 2 / 1e9 + sums)


def test_warps_that_read_for_themselves_share_tensor_cores_and_shared_memory():
    """Eight warps on four partitions, two streams each: four streams on two units."""
    reads = 8 * (64 + 64) * 64 * 2
    shared_s = 0.9 * STEP_S
    rates = replace(FAST, shared_bytes_per_s=(reads + A + B) / shared_s)
    step = time_per_piece((STEP_S, shared_s), 4)
    assert STEP_S < step < STEP_S + shared_s
    assert time_of(MMA, rates=rates) == pytest.approx(STEPS * step)
    # twice as many warps are in each other's way less
    assert time_of(MMA, rates=rates, resident=2) < STEPS * step


def test_fewer_warps_than_partitions():
    one_warp = replace(MMA, tile_m=64, tile_n=64)
    assert time_of(one_warp) == pytest.approx(32 * 64 * 4 * 2 * 64 * 64 * 64 / 1e12)


def test_blocks_without_producers_wait_for_their_first_slice_each():
    slow = replace(FAST, latency_s=0.5 * STEP_S)
    assert time_of(MMA, rates=slow) == pytest.approx(STEPS * STEP_S + 4 * 0.5 * STEP_S)
    # meanwhile the other block of the SM multiplies
    found = time_of(MMA, rates=slow, resident=2)
    assert found == pytest.approx(STEPS * STEP_S + 4 * 0.5 * STEP_S / 2)


def test_f8_that_is_made_f16_takes_conversions_additions_and_issue_slots():
    p = replace(P, dtype=DType.F8)
    t = replace(MMA, tile_k=128, warp_k=128)
    converted = 8 * (64 + 64) * 128 / 2  # lanes
    added = 128 * 256 * 128 / 32
    issued = converted + added + 2 * 32 * 128 * 256 * 128 / (16 * 8 * 32)
    rates = replace(FAST, convert_per_s=1e9, add_per_s=2e9)
    step = time_per_piece((4 * STEP_S / 2, converted / 1e9, added / 2e9, issued / 2e9, 0.0), 4)
    assert time_of(t, p, rates=rates) == pytest.approx(4 * 32 * step)


def test_a_kernel_fed_by_producers_converts_once_and_adds_in_the_instruction():
    p = replace(P, dtype=DType.F8)
    t = replace(MMA, tile_k=128, warp_k=128)
    fed = replace(instruction(HOPPER, p.dtype, "tensor", (16, 8, 32)), producer_warps=4)
    rates = replace(FAST, convert_per_s=1e9, add_per_s=1e-3)
    converted = 8 * (64 + 64) * 128 / 2
    step = time_per_piece((4 * STEP_S / 2, 0.0, converted / 1e9), 4)
    assert time_of(t, p, rates=rates, one=fed) == pytest.approx(4 * 32 * step)


def test_without_a_rate_a_term_is_left_out():
    bare = Rates(
        flop_per_s=1e12,
        clock_hz=None,
        shared_bytes_per_s=None,
        l2_bytes_per_s=None,
        read_bytes_per_s=None,
        write_bytes_per_s=None,
    )
    assert time_of(rates=bare) == pytest.approx(STEPS * STEP_S)


def test_arrays_as_scalars():
    rates = replace(
        FAST,
        clock_hz=1.8e9,
        shared_bytes_per_s=2.3e11,
        l2_bytes_per_s=7e10,
        read_bytes_per_s=3.5e10,
        write_bytes_per_s=3.5e10,
        latency_s=3e-7,
    )
    tilings = [
        MMA,
        replace(MMA, stages=2),
        replace(MMA, tile_n=128, warp_n=32, split_k=4),
        replace(MMA, tile_m=64, tile_n=64, split_k=0),
    ]
    names = Tiling.__dataclass_fields__
    together = Tiling(**{n: np.array([float(getattr(t, n)) for t in tilings]) for n in names})
    found = time_of(together, rates=rates, resident=np.array([1.0, 1.0, 2.0, 2.0]), ops=np)
    alone = [
        time_of(t, rates=rates, resident=r) for t, r in zip(tilings, (1, 1, 2, 2), strict=True)
    ]
    assert found.tolist() == pytest.approx(alone)
