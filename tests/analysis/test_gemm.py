"""Tilings of matrix products on products, one by one and ranked."""

from __future__ import annotations

from dataclasses import replace

import pytest

from perfkit.analysis.gemm import GemmQuestion, estimate
from perfkit.analysis.gemm_best import estimate_or_best
from perfkit.analysis.gemm_rank import rank
from perfkit.analysis.gemm_schedule import in_a_column
from perfkit.analysis.roofline import RooflineQuestion
from perfkit.arch import catalog
from perfkit.errors import InvalidLaunch, UnknownTarget, UsageError
from perfkit.kernel import DType
from perfkit.models.gemm_rank import TIED, candidates
from perfkit.models.gemm_tile import Tiling
from perfkit.models.occupancy import occupancy
from perfkit.models.waves import Waves
from perfkit.readers.ceilings import parse
from tests.models.test_gemm_tile import tiling


def target(name):
    (found,) = catalog.targets(name)
    return found


def question(m=4096, n=4096, k=4096, dtype="f16", **more):
    return GemmQuestion(m=m, n=n, k=k, roofs=RooflineQuestion(dtype=DType(dtype)), **more)


def loads(found):
    return {load.name: load for load in found.schedule.bound.loads}


USUAL = tiling("128x128x32", "64x64x32")


def test_the_promised_figures():
    """128x128x32 / 64x64x32 / 3 stages in f16: 4 warps, 128 threads, 16 KiB, 48 KiB."""
    found = estimate(target("h100"), question(), USUAL)
    block = found.block
    assert (block.warps, block.threads) == (4, 128)
    assert (block.stage_bytes, block.shared_bytes) == (16 * 1024, 48 * 1024)
    # 4096 x 4096 in f16: one read and one write of 32 MiB saved by fusing
    assert found.fused_bytes == 32 * 2**20
    assert found.fused_s == pytest.approx(2 * 32 * 2**20 / 3350e9)


def test_occupancy_is_that_of_the_model():
    found = estimate(target("a100"), question(regs=254), USUAL)
    for rule, shown in (("driver", found.block.driver), ("hardware", found.block.hardware)):
        cc = catalog.capability("8.0")
        assert shown == occupancy(cc, threads=128, regs=254, smem=48 * 1024, rule=rule)


def test_waves_tail_and_reuse_by_hand():
    found = estimate(target("a100"), question(2048, 2048), replace(USUAL, stages=4))
    # 64 KiB of shared memory and 228 registers: 2 blocks per SM, by both
    assert found.block.driver.blocks_per_sm == 2
    # 16 x 16 tiles on 108 SMs
    assert found.schedule.sm_waves.full_waves == 2
    assert found.schedule.sm_waves.partial_wave_blocks == 40
    assert found.waves.blocks_per_wave == 216
    assert found.waves.partial_wave_blocks == 40
    assert found.schedule.grid.wave_efficiency == pytest.approx(256 / 324)
    assert found.share_of_peak == pytest.approx(256 / 324)
    # 2 x 128 x 128 FLOP for 256 halves
    assert found.flops_per_byte == 64


def test_the_time_is_the_largest_load():
    found = estimate(target("t4"), question(), tiling("64x64x32", "32x32x32", 2))
    times = [load.time_s for load in found.schedule.bound.loads if load.time_s is not None]
    assert found.schedule.bound.time_s == max(times)
    assert found.schedule.bound.limited_by == ("dram",)
    assert found.schedule.bound.time_s > found.shape.time_s


def test_the_busiest_sm_pays_for_everyone():
    found = estimate(target("h100"), question(), USUAL)
    # 1024 tiles on 132 SMs: eight on the busiest
    assert loads(found)["tensor"].amount == 8 * 132 * 2 * 128 * 128 * 4096
    assert loads(found)["l1"].amount == 8 * 132 * (2 * 128 + 2 * 128) * 4096 * 2


def test_l2_bandwidth_sets_no_bound_but_is_expected():
    """Blocks that ask for the same at once may be answered once: what they ask for is no least."""
    content = (
        '{"schema": "perfkit.ceilings/1", "gpu": "h100-sxm5", '
        '"memory": [{"level": "l2", "bytes_per_s": 1e12}]}'
    )
    known = RooflineQuestion(dtype=DType.F16, ceilings=(parse(content, "c.json"),))
    without = estimate(target("h100"), question(), USUAL)
    found = estimate(target("h100"), replace(question(), roofs=known), USUAL)
    assert loads(found)["l2"].amount == 32 * 2 * 4096**2 * 2 + 2 * 4096**2
    assert loads(found)["l2"].time_s is None
    assert found.schedule.bound.time_s == without.schedule.bound.time_s
    # 8 tiles of 128 steps on the busiest SM; A whole, and B once for the 32 tiles of a column
    slice_bytes = 128 * 32 * 2
    assert found.schedule.expected_s > 8 * 128 * slice_bytes * (1 + 1 / 32) / (1e12 / 132)
    assert found.schedule.expected_s > 3 * without.schedule.expected_s


@pytest.mark.parametrize(("swizzle", "blocks"), [(1, 32), (8, 8), (64, 32)])
def test_blocks_of_one_column_after_one_another(swizzle, blocks):
    """A band of one column goes down all of it; a wider one takes a part of each in turn."""
    found = estimate(target("a100"), question(), USUAL)
    assert in_a_column(found.schedule.grid, swizzle) == blocks


def test_a_measured_rate_of_all_sms_does_not_bound_a_few():
    """What power takes from all of them, one among few has: there the data sheet's peak counts."""
    content = (
        '{"schema": "perfkit.ceilings/1", "gpu": "h100-sxm5", "compute": [{"dtype": "f16", '
        '"accumulate": "f32", "sparsity": "dense", "unit": "tensor", "flop_per_s": 7e14}]}'
    )
    known = RooflineQuestion(dtype=DType.F16, ceilings=(parse(content, "c.json"),))
    peak = 2 * 2048 * 132 * 1830e6
    few = estimate(target("h100"), replace(question(128, 512), roofs=known), USUAL)
    assert loads(few)["tensor"].time_s == pytest.approx(132 * 2 * 128 * 128 * 4096 / peak)
    # 1024 tiles, 8 of them on the busiest SM: all together at the measured rate
    many = estimate(target("h100"), replace(question(), roofs=known), USUAL)
    assert loads(many)["tensor"].time_s == pytest.approx(2 * 4096**3 / 7e14)


def test_a_block_that_does_not_fit_is_an_answer():
    found = estimate(target("rtx-4090"), question(), tiling("256x128x64", "64x64x64", 4))
    assert found.block.driver.blocks_per_sm == 0
    assert found.block.driver.refusal.resource == "shared_bytes_per_block"
    assert (found.schedule, found.waves, found.share_of_peak, found.others) == (None,) * 3 + ((),)
    assert found.shape.time_s > 0


def test_registers_beyond_the_maximum_spill():
    found = estimate(target("a100"), question(), tiling("256x256x32", "128x128x32", 2))
    assert found.block.spills
    assert found.block.registers == 512 + 2 * 64 + 36
    assert found.block.driver.blocks_per_sm == 2  # with 255: 4 warps of 8192 each


def test_schedules():
    found = estimate(target("a100"), question(512, 512, 16384), USUAL)
    assert found.schedule.tiling.schedule == "data-parallel"
    others = {one.tiling.schedule: one for one in found.others}
    assert list(others) == ["split-k 2", "split-k 4", "split-k 8", "split-k 16", "stream-k"]
    # 16 tiles cannot fill 108 SMs
    assert found.schedule.grid.wave_efficiency == pytest.approx(16 / 108)
    assert others["stream-k"].grid.wave_efficiency > 0.98
    times = [one.bound.time_s for one in (found.schedule, *found.others[:3])]
    assert times == sorted(times, reverse=True)
    asked = estimate(target("a100"), question(512, 512, 16384), replace(USUAL, split_k=8))
    assert asked.schedule.bound == others["split-k 8"].bound


def test_clusters():
    t = tiling("128x256x64", "16x256x64", cluster_m=2)
    found = estimate(target("h200"), question(instruction=(64, 256, 16)), t)
    assert found.cluster.size == 2
    assert found.waves.blocks_per_wave == 2 * found.cluster.active_clusters
    alone = estimate(target("h200"), question(instruction=(64, 256, 16)), replace(t, cluster_m=1))
    assert alone.cluster is None
    saved = loads(alone)["l2"].amount - loads(found)["l2"].amount
    assert saved == 16 * 4096 * 4096 * 2  # B for half of the 32 rows of tiles
    assert "stream-k" not in {one.tiling.schedule for one in found.others}


@pytest.mark.parametrize("sides", [(1, 2), (2, 2), (2, 4)])
def test_waves_of_clusters_count_blocks(sides):
    across, down = sides
    t = tiling("128x256x64", "16x256x64", cluster_m=across, cluster_n=down)
    found = estimate(target("h200"), question(8192, 8192, 8192, instruction=(64, 256, 16)), t)
    # 64 x 32 tiles, whole clusters of them; one block an SM, a cluster within a group of SMs
    assert found.schedule.grid.blocks == 2048
    assert found.block.driver.blocks_per_sm == 1
    size = across * down
    held = size * sum(sms // size for sms in target("h200").gpu.cluster_sm_groups or (132,))
    full, partial = divmod(2048, held)
    assert found.waves == Waves(
        blocks_per_wave=held,
        full_waves=full,
        partial_wave_blocks=partial,
        waves=2048 / held,
        tail_share_max=1 / (full + 1),
    )


@pytest.mark.parametrize(
    ("name", "asked", "t", "error", "says"),
    [
        ("9.0", question(), USUAL, UnknownTarget, "belong to a product"),
        ("h100", question(m=0), USUAL, UsageError, "m = 0"),
        ("h100", question(n=-4), USUAL, UsageError, "n = -4"),
        ("h100", question(k=2**31), USUAL, UsageError, "k = 2147483648"),
        ("h100", question(k=10**5000), USUAL, UsageError, "k = too large"),
        ("h100", question(m=4.5), USUAL, UsageError, "m = 4.5"),
        ("h100", question(m=float("nan")), USUAL, UsageError, "m = nan"),
        ("h100", question(m=True), USUAL, UsageError, "m = True"),
        ("h100", question(m="4"), USUAL, UsageError, "m = '4'"),
        ("v100", question(dtype="bf16"), USUAL, UsageError, "no bf16 arithmetic"),
        ("h100", question(swizzle=0), USUAL, UsageError, "swizzle = 0"),
        ("h100", question(regs=0), USUAL, UsageError, "regs = 0"),
        ("h100", question(regs=256), USUAL, UsageError, "regs = 256"),
        ("h100", question(), replace(USUAL, split_k=-1), UsageError, "split_k = -1"),
        ("h100", question(), replace(USUAL, split_k=2000), UsageError, "split_k = 2000"),
        ("a100", question(), replace(USUAL, cluster_m=2), InvalidLaunch, "no thread block"),
        ("h100", question(), replace(USUAL, cluster_m=32), InvalidLaunch, "cluster = 32"),
        ("h100", question(), replace(USUAL, cluster_m=2, split_k=0), UsageError, "stream-K is"),
    ],
)  # fmt: skip
def test_what_cannot_be_asked(name, asked, t, error, says):
    with pytest.raises(error) as found:
        estimate(target(name), asked, t)
    assert says in found.value.message


def test_tiles_are_for_dense_products():
    sparse = replace(question(), roofs=RooflineQuestion(dtype=DType.F16, sparsity="sparse"))
    with pytest.raises(UsageError, match="dense products"):
        estimate(target("h100"), sparse, USUAL)


# --- ranking --------------------------------------------------------------------------------------

SHAPES = {
    "square": (4096, 4096, 4096),
    "odd": (1000, 999, 77),
    "tall and skinny": (65536, 64, 4096),
    "deep": (512, 512, 16384),
    "decode 1": (1, 4096, 4096),
    "decode 16": (16, 8192, 8192),
    "tiny": (1, 1, 1),
    "largest": (2**31 - 1,) * 3,
}


@pytest.mark.parametrize("name", ["a100", "h100", "rtx-4090", "b200", "v100", "tesla-p100-sxm2"])
@pytest.mark.parametrize("shape", SHAPES)
def test_the_best_are_what_they_are_alone(name, shape):
    m, n, k = SHAPES[shape]
    found = rank(target(name), question(m, n, k), limit=5)
    assert 0 < len(found.best) <= found.tied <= found.launchable <= found.compared
    times = [one.schedule.expected_s for one in found.best]
    for one in found.best:
        asked = question(m, n, k, instruction=_shape(one.block.instruction))
        assert estimate(target(name), asked, one.tiling) == one
        assert one.block.driver.blocks_per_sm > 0
        assert not one.block.spills
        assert one.schedule.bound.time_s >= one.shape.time_s * (1 - 1e-9)
    assert max(times) <= min(times) * (1 + TIED)


def _shape(one):
    return one.m, one.n, one.k


@pytest.mark.parametrize(("name", "dtype"), [("a100", "f16"), ("h100", "f8"), ("t4", "s8")])
def test_no_candidate_is_better_than_the_best_and_all_ties_are_counted(name, dtype):
    """Every candidate once more, without NumPy."""
    asked = question(300, 100, 200, dtype)
    found = rank(target(name), asked, limit=10**6)
    assert found.tied == len(found.best)
    best = min(one.schedule.expected_s for one in found.best)
    listed = {(one.tiling, _shape(one.block.instruction)) for one in found.best}
    first = {(one.tiling, _shape(one.block.instruction)) for one in found.best[:20]}
    unit, problem = found.best[0].machine.roof.unit, found.best[0].problem
    compared = tied = 0
    for instruction, them in candidates(problem, target(name).capability, unit):
        step = max(1, len(them) // 80)
        for number, candidate in enumerate(them):
            t = Tiling(**candidate._asdict())
            if number % step and (t, _shape(instruction)) not in first:
                continue
            alone = estimate(target(name), replace(asked, instruction=_shape(instruction)), t)
            compared += 1
            if alone.schedule is None or alone.block.spills:
                continue
            time_s = alone.schedule.expected_s
            assert time_s >= max(best, alone.schedule.bound.time_s) * (1 - 1e-9)
            is_listed = (t, _shape(instruction)) in listed
            assert is_listed == (time_s <= best * (1 + TIED) * (1 + 1e-12))
            tied += is_listed
    assert compared > 60
    assert tied > 0


def test_the_order_does_not_depend_on_chance():
    first = rank(target("h100"), question(), limit=50)
    assert rank(target("h100"), question(), limit=50) == first
    assert rank(target("h100"), question(), limit=3).best == first.best[:3]


def test_ties_come_with_less_traffic_first():
    found = rank(target("a100"), question(), limit=400).best
    in_use = [min(one.schedule.grid.blocks, 108) for one in found]
    assert in_use == sorted(in_use, reverse=True)
    traffic = [one.schedule.traffic.l2_bytes for one in found if one.schedule.grid.blocks >= 108]
    assert traffic == sorted(traffic)
    # what cuBLAS uses for large products, too: ..._128x256_..._stages_64x3
    assert (found[0].tiling.tile, found[0].tiling.stages) == ("128x256x64", 3)
    assert found[0].tiling.warp == "64x64x64"


@pytest.mark.parametrize(
    ("name", "dtype", "kind"),
    [("h100", "f16", "wgmma"), ("h100", "f64", "mma"), ("h100", "f32", "simt"),
     ("b200", "f16", "tcgen05"), ("rtx-5090", "f4", "mma"), ("v100", "f16", "mma")],
)  # fmt: skip
def test_only_instructions_that_reach_the_peak_are_ranked(name, dtype, kind):
    found = rank(target(name), question(1024, 1024, 1024, dtype), limit=20)
    assert {one.block.instruction.kind for one in found.best} == {kind}


def test_early_capabilities_have_two_stages():
    assert {one.tiling.stages for one in rank(target("t4"), question(), limit=50).best} == {2}


def test_decode_is_bound_by_memory_and_uses_all_sms():
    for m in range(1, 17):
        found = rank(target("h100"), question(m, 8192, 8192, "bf16"), limit=3)
        for one in found.best:
            assert one.schedule.bound.limited_by == ("dram",)
            assert one.schedule.grid.blocks >= 132
            # the matrix of weights once, within 1 %
            assert one.schedule.traffic.dram_bytes == pytest.approx(2 * 8192**2, rel=0.01)


@pytest.mark.parametrize("limit", [0, -1, 1.5, True, 10**7])
def test_how_many(limit):
    with pytest.raises(UsageError, match="top = "):
        rank(target("h100"), question(), limit=limit)


def test_nothing_to_rank():
    with pytest.raises(UsageError, match="no f6 arithmetic"):
        rank(target("h100"), question(dtype="f6"))


def test_without_a_tile_the_best_one():
    found = estimate_or_best(target("a100"), question(), None, None)
    assert found == rank(target("a100"), question(), limit=1).best[0]


def test_stages_that_are_not_given():
    tile, warp = (128, 128, 32), (64, 64, 32)
    assert estimate_or_best(target("a100"), question(), tile, warp).tiling.stages == 3
    assert estimate_or_best(target("t4"), question(), tile, warp).tiling.stages == 2


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"tile": (128, 128, 32)}, "tile and warp belong together"),
        ({"stages": 3}, "are those of a tile"),
        ({"cluster": (2, 1)}, "are those of a tile"),
        ({"split_k": 2}, "are those of a tile"),
    ],
)
def test_parts_of_a_tiling(more, says):
    with pytest.raises(UsageError, match=says):
        estimate_or_best(target("h100"), question(), **({"tile": None, "warp": None} | more))
    with pytest.raises(UsageError, match="of which tile"):
        estimate_or_best(target("h100"), question(regs=100), None, None)
