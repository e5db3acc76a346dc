"""Recommended launches: the promise over many kernels, ties, several GPUs, and the remarks."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

import perfkit
from perfkit.analysis import recommend as module
from perfkit.analysis.block_sizes import Request, Restriction, Wish, choose
from perfkit.analysis.cluster_choice import Why
from perfkit.analysis.recommend import Kind, recommend
from perfkit.analysis.sweep import blocks_per_sm
from perfkit.arch import catalog
from perfkit.arch.types import Target
from perfkit.errors import DoesNotFit, InvalidLaunch, UsageError

KERNELS = 500
CAPABILITIES = [Target(label=k, capability=catalog.capability(k), gpu=None)
                for k in catalog.capability_keys()]  # fmt: skip


def target(name):
    (found,) = catalog.targets(name)
    return found


def ask(name, *, elements=None, per_thread=1, cluster=None, power_of_two=False, **given):
    requests = [Request(target=target(one), **{"regs": 32} | given) for one in name.split(",")]
    wish = Wish(
        elements=elements, per_thread=per_thread, cluster=cluster, power_of_two=power_of_two
    )
    return recommend(requests, wish)


def kinds(found, number=0):
    return {remark.kind for remark in found.advices[number].remarks}


# --- the promise ----------------------------------------------------------------------------------


def random_kernels():
    """Resources as kernels have them: many small, some at the edge of what launches."""
    chance = random.Random(20261130)
    for _ in range(KERNELS):
        yield {
            "regs": chance.choice([chance.randint(16, 64), chance.randint(1, 255)]),
            "static_bytes": chance.choice([0, 0, chance.randint(0, 49152)]),
            "dynamic_bytes": chance.choice(
                [0, 0, 0, *(chance.randint(0, n << 10) for n in (64, 250))]
            ),
            "bytes_per_thread": chance.choice([0, 0, 0, 4, 16, 64]),
            "barriers": chance.choice([1, 1, 1, 0, 2, 16]),
            "max_threads": chance.choice([None, None, 256, 1024, chance.randint(1, 1024)]),
        }


def possible(capability, kernels):
    """Of every kernel: its block sizes from the largest on, and the resident blocks of each.

    The walk of ``cudaOccupancyMaxPotentialBlockSize``, by the vectorised rule, for all at once.
    """
    limits = np.array([min(kernel["max_threads"] or 1024, 1024) for kernel in kernels])[:, None]
    steps = np.arange(1024, 0, -32)[None, :]
    # where the limit is smaller the walk begins there; what is above is not looked at
    sizes = np.where(steps - 32 < limits, np.minimum(limits, steps), 1025)

    def column(name):
        return np.array([kernel[name] for kernel in kernels])[:, None]

    smem = column("static_bytes") + column("dynamic_bytes") + sizes * column("bytes_per_thread")
    blocks = blocks_per_sm(capability, sizes, column("regs"), smem, barriers=column("barriers"))
    return sizes, blocks.astype(int)


@pytest.mark.parametrize("one", CAPABILITIES, ids=lambda one: one.label)
def test_never_what_cannot_launch_and_never_fewer_warps_than_nvidia_without_a_word(one):
    kernels = list(random_kernels())
    launched = refused = 0
    for kernel, sizes, blocks in zip(kernels, *possible(one.capability, kernels), strict=True):
        request = Request(target=one, **kernel)
        if not blocks.any():
            with pytest.raises(DoesNotFit):
                choose([request], Wish())
            refused += 1
            continue
        found = choose([request], Wish())
        (place,) = found.places
        # the first that maximises resident threads, from the largest block on
        nvidia = int(np.argmax(blocks * sizes))
        warps = int(blocks[nvidia]) * -(-int(sizes[nvidia]) // 32)
        assert place.blocks_per_sm == blocks[list(sizes).index(found.threads)] > 0
        assert place.occupancy.blocks_per_sm == place.blocks_per_sm
        assert found.most_warps == (warps,)
        assert place.warps_per_sm >= warps
        assert found.restrictions == ()  # for one target and any problem there is no excuse
        assert found.threads in found.tied
        launched += 1
    assert launched + refused == KERNELS
    assert launched > 200
    assert refused > 0


def test_there_are_ten_thousand_of_them():
    assert KERNELS * len(CAPABILITIES) == 10_000


def test_everything_that_is_advised_fits():
    """The whole advice for a part of the kernels: budgets and carveout keep what they promise."""
    checked = 0
    for kernel in list(random_kernels())[:12]:
        for one in CAPABILITIES:
            try:
                found = recommend([Request(target=one, **kernel)], Wish())
            except DoesNotFit:
                continue
            (advice,) = found.advices
            check_carveout(one.capability, advice)
            check_budgets(one.capability, advice, kernel)
            checked += 1
    assert checked > 150


def check_carveout(capability, advice):
    place, choice = advice.place, advice.carveout
    launch = place.request.launch(place.threads)
    measured = capability.shared_memory.carveout_evidence == "measured"
    if choice.percent is None:
        return
    rule = "hardware" if measured else "driver"
    for percent in {choice.percent, choice.last_percent}:
        held = replace(launch, carveout=percent, rule=rule).on(capability).blocks_per_sm
        assert held >= place.blocks_per_sm
        configured = perfkit.configured_shared_bytes(
            str(capability.compute_capability), launch.threads, launch.regs, launch.smem, percent
        )
        assert configured == choice.configured_bytes
    assert choice.l1_bytes > choice.default_l1_bytes
    # no smaller percentage does as well
    for percent in range(choice.percent):
        held = replace(launch, carveout=percent, rule=rule).on(capability).blocks_per_sm
        configured = perfkit.configured_shared_bytes(
            str(capability.compute_capability), launch.threads, launch.regs, launch.smem, percent
        )
        assert held < place.blocks_per_sm or configured > choice.configured_bytes


def check_budgets(capability, advice, kernel):
    place = advice.place
    for row in advice.budgets:
        most = {"threads": place.threads, "barriers": kernel["barriers"]}
        there = perfkit.occupancy(capability, regs=row.max_registers, **most)
        assert there.blocks_per_sm >= row.blocks_per_sm
        if row.max_registers < capability.registers.max_per_thread:
            beyond = perfkit.occupancy(capability, regs=row.max_registers + 1, **most)
            assert beyond.blocks_per_sm < row.blocks_per_sm
        if row.max_dynamic_bytes is not None:
            smem = row.max_dynamic_bytes + kernel["static_bytes"]
            there = perfkit.occupancy(capability, regs=0, smem=smem, **most)
            assert there.blocks_per_sm >= row.blocks_per_sm
    if advice.step is not None:
        with_it = replace(place.request, regs=advice.step.registers).launch(place.threads)
        assert with_it.on(capability).blocks_per_sm >= advice.step.blocks_per_sm
        assert advice.step.fewer > 0
    assert advice.spare_registers >= 0
    more = min(place.request.regs + advice.spare_registers, capability.registers.max_per_thread)
    kept = replace(place.request, regs=more).launch(place.threads).on(capability)
    assert kept.blocks_per_sm == place.blocks_per_sm


# --- block sizes ----------------------------------------------------------------------------------


def test_the_registers_of_kokkos_5739():
    # 92 registers on an A100: 640 threads reach 31.25 %, 320 tie, 224 (21.9 %) is a fault
    found = ask("8.0", regs=92)
    assert {320, 640} <= set(found.choice.tied)
    assert 224 not in found.choice.tied
    assert found.threads == 128  # 5 blocks of 4 warps: the same 20 warps, in smaller blocks
    assert found.advices[0].place.warps_per_sm == 20


def test_ties_are_broken_the_same_way_every_time():
    assert ask("9.0", regs=32).choice.tied == (64, 128, 256, 512, 1024)
    assert ask("9.0", regs=32).threads == 256
    assert ask("9.0", regs=36, static_bytes=4096) == ask("9.0", regs=36, static_bytes=4096)


def test_what_ties_and_the_next_best_are_told_with_their_limits():
    """92 registers on 8.0 are 12 allocation units of 256 per warp: 5 warps in a fourth of 16 K.

    Twenty warps in all: blocks of w warps make ``20 // w * w`` resident warps of them.
    """
    found = ask("8.0", regs=92)
    resident = {w * 32: 20 // w * w for w in range(1, 21)}
    tied = {threads for threads, warps in resident.items() if warps == 20}
    rows = found.choice.alternatives
    assert rows[0].threads == found.threads
    assert {one.threads for one in rows if one.is_tied} == tied == set(found.choice.tied)
    assert [one.is_tied for one in rows] == sorted((one.is_tied for one in rows), reverse=True)
    rest = sorted((warps for t, warps in resident.items() if t not in tied), reverse=True)
    assert [one.places[0].warps_per_sm for one in rows if not one.is_tied] == rest[:3]
    for one in rows:
        (place,) = one.places
        alone = perfkit.occupancy("8.0", threads=one.threads, regs=92)
        assert (place.blocks_per_sm, place.limited_by) == (alone.blocks_per_sm, alone.binding)
        assert place.warps_per_sm == resident[one.threads]


def test_alternatives_on_several_targets_and_of_a_block_size_that_is_given():
    found = ask("8.9,9.0", regs=40)
    for one in found.choice.alternatives:
        labels = [place.request.target.label for place in one.places]
        assert labels == ["8.9", "9.0"]
        assert {place.threads for place in one.places} == {one.threads}
    (only,) = ask("9.0", regs=40, exact_threads=96).choice.alternatives
    assert (only.threads, only.is_tied) == (96, True)


@pytest.mark.parametrize("order", ["8.0,8.9,9.0", "9.0,8.0,8.9", "8.9,9.0,8.0"])
def test_the_order_of_the_targets_does_not_matter(order):
    found = ask(order, regs=40, static_bytes=20480)
    assert found.choice.tied == ask("8.0,8.9,9.0", regs=40, static_bytes=20480).choice.tied
    assert found.threads == ask("8.0,8.9,9.0", regs=40, static_bytes=20480).threads


def test_one_for_all_is_the_best_of_the_worst():
    given = {"regs": 48, "static_bytes": 9000}
    names = "7.5,8.0,8.9,9.0"
    found = ask(names, **given)
    alone = [ask(name, **given) for name in names.split(",")]
    best = [one.advices[0].place.resident_threads for one in alone]

    def relative(threads):
        return [
            threads * perfkit.occupancy(
                name, threads=threads, regs=48, smem=9000
            ).blocks_per_sm / most
            for name, most in zip(names.split(","), best, strict=True)
        ]  # fmt: skip

    worst = min(relative(found.threads))
    for threads in range(32, 1025, 32):
        assert min(relative(threads)) <= worst + 1e-9
    for advice, share in zip(found.advices, relative(found.threads), strict=True):
        assert advice.relative == pytest.approx(share)
        if share < 1:
            assert Restriction.SEVERAL_TARGETS in found.choice.restrictions


def test_what_launches_on_one_but_not_on_another_is_not_proposed():
    with pytest.raises(DoesNotFit, match=r"launches on 8\.9: 153600 shared bytes per block"):
        ask("8.0,8.9", regs=32, dynamic_bytes=150 * 1024)
    assert ask("8.0", regs=32, dynamic_bytes=150 * 1024).threads


def test_no_block_size_that_they_share():
    requests = [
        Request(target=target("8.0"), regs=32, only_threads=96),
        Request(target=target("9.0"), regs=32, only_threads=128),
    ]
    with pytest.raises(DoesNotFit, match=r"on all of 8\.0, 9\.0"):
        recommend(requests, Wish())


def test_registers_forbid_every_block():
    # 1,024 threads of 255 registers are more than a block may have; 256 no thread may
    for given in ({"only_threads": 1024}, {"exact_threads": 1024}):
        with pytest.raises(DoesNotFit, match="262144 registers per block, 65536 allowed"):
            ask("9.0", regs=255, **given)
    with pytest.raises(InvalidLaunch):
        ask("9.0", regs=256)


def test_a_block_size_that_is_given_is_kept_and_its_price_told():
    found = ask("8.0", regs=92, exact_threads=224)
    assert found.threads == 224
    assert found.choice.restrictions == (Restriction.FIXED,)
    (remark,) = [r for r in found.advices[0].remarks if r.kind is Kind.FEWER_WARPS]
    assert (remark.value, remark.other) == (14, 20)


def test_a_block_that_is_no_whole_warp_only_where_nothing_else_is_as_good():
    assert ask("9.0", regs=32, max_threads=100).threads % 32 == 0
    # one block of 1,000 threads at most, for its shared memory: 992 would be fewer
    found = ask("9.0", regs=32, max_threads=1000, dynamic_bytes=200 * 1024)
    assert found.threads == 1000


def test_powers_of_two_for_triton():
    found = ask("8.9", regs=40, static_bytes=20480, power_of_two=True)
    assert (found.threads // 32).bit_count() == 1
    assert all((t // 32).bit_count() == 1 for t in found.choice.tied)


def test_a_problem_that_does_not_fill_the_gpu_is_spread_over_it():
    # 10,000 threads over 132 SMs: 96 threads are 105 blocks, one per SM, three warps on each;
    # 256 threads would be 40 blocks, eight warps on 40 SMs
    found = ask("h100", regs=32, elements=10_000)
    assert found.threads == 96
    assert found.advices[0].place.busiest_sm_threads == 96
    assert Restriction.SMALL_PROBLEM in found.choice.restrictions
    assert {Kind.FEWER_WARPS, Kind.GRID_IS_SMALL} <= kinds(found)
    for threads in range(32, 1025, 32):
        grid = -(-10_000 // threads)
        assert -(-grid // 132) * threads >= 96


def test_a_large_problem_changes_nothing():
    assert ask("h100", regs=36, elements=10**9).choice == ask("h100", regs=36).choice


def test_elements_per_thread():
    found = ask("h100", regs=32, elements=10**6, per_thread=8)
    one_to_one = found.advices[0].grids[0]
    assert one_to_one.blocks == -(-(10**6) // (8 * found.threads))
    assert one_to_one.per_thread == 8


# --- the grid -------------------------------------------------------------------------------------


def test_the_grid_of_a_known_problem():
    # case h02: 512 blocks, two per SM on 108 SMs: two waves and 80 blocks, a third of the time
    found = ask("a100", regs=128, exact_threads=256, elements=512 * 256)
    one_to_one = found.advices[0].grids[0]
    assert one_to_one.blocks == 512
    assert one_to_one.waves.full_waves == 2
    assert one_to_one.waves.partial_wave_blocks == 80
    assert found.advices[0].form is module.Form.ONE_TO_ONE
    (tail,) = [r for r in found.advices[0].remarks if r.kind is Kind.TAIL]
    assert tail.value == pytest.approx(1 / 3)
    stride = found.advices[0].grids[1]
    assert stride.blocks == 216
    assert stride.per_thread == 3  # 131,072 elements over 216 * 256 threads: 2.37


def test_less_than_a_wave():
    found = ask("h100", regs=32, exact_threads=256, elements=132 * 2 * 256)
    (remark,) = [r for r in found.advices[0].remarks if r.kind is Kind.NOT_A_WAVE]
    assert remark.value == pytest.approx(2 / 8)  # two blocks of eight warps on each SM, of 64


def test_a_grid_too_large_for_one_to_one():
    found = ask("h100", regs=32, elements=2**62)
    assert [grid.form for grid in found.advices[0].grids] == ["grid_stride", "persistent"]
    assert found.advices[0].form == "grid_stride"


def test_a_capability_has_no_grid():
    found = ask("9.0", elements=1000)
    assert found.advices[0].grids == ()
    assert found.advices[0].form is None


# --- clusters -------------------------------------------------------------------------------------


def test_clusters_hold_at_most_eight_blocks_per_sm():
    found = ask("h200", regs=16, cluster=4)
    (advice,) = found.advices
    assert advice.place.blocks_per_sm <= 8
    assert found.threads == 256  # 8 blocks of 8 warps fill the SM
    assert [one.size for one in advice.cluster.sizes] == [1, 2, 4, 8, 16]
    four = next(one for one in advice.cluster.sizes if one.size == 4)
    assert advice.grids[-1].blocks == four.active_blocks
    small = ask("h200", regs=16, cluster=4, max_threads=64)
    assert small.choice.restrictions == (Restriction.CLUSTER,)
    assert small.advices[0].place.limited_by == ("clusters",)


def test_a_grid_of_whole_clusters():
    found = ask("h200", regs=32, cluster=4, elements=10**6 + 1)
    assert all(grid.blocks % 4 == 0 for grid in found.advices[0].grids)


def test_waves_are_those_of_clusters():
    """8 blocks per SM in groups of 18, 18, 16, 16, 16, 16, 16 and 8 SMs, 7 to a cluster."""
    found = ask("h200", regs=16, exact_threads=64, cluster=7, elements=64 * 7 * 1000)
    one_to_one, *_, persistent = found.advices[0].grids
    assert one_to_one.blocks == 7000
    assert one_to_one.waves.blocks_per_wave == persistent.blocks
    seven = next(one for one in found.advices[0].cluster.sizes if one.size == 7)
    assert (
        persistent.blocks == seven.active_blocks == 7 * (2 * (18 * 8 // 7) + 5 * (16 * 8 // 7) + 9)
    )
    assert persistent.waves.waves == 1


#: SMs of the measured H200 that can share a cluster, tests/data/h200
GROUPS = (18, 18, 16, 16, 16, 16, 16, 8, 2, 2, 2, 2)


def test_a_kernel_without_a_use_for_clusters_gets_none_and_hears_how_large_one_may_be():
    # blocks of 227 KiB, one on an SM: a group of s SMs holds s // 4 clusters of four
    (advice,) = ask("h200", regs=32, dynamic_bytes=227 * 1024).advices
    assert sum(GROUPS) == 132
    assert (advice.place.blocks_per_sm, advice.cluster.size) == (1, 1)
    assert advice.cluster.why is Why.NO_USE
    for one in advice.cluster.sizes:
        held = [sms // one.size for sms in GROUPS]
        assert (one.active_clusters, one.active_blocks) == (sum(held), sum(held) * one.size)
        assert one.sms_in_use_at_most == sum(held) * one.size
    assert [one.sms_in_use_at_most for one in advice.cluster.sizes] == [132, 132, 120, 120, 112]
    assert advice.cluster.largest_on_every_sm == 2


def test_several_blocks_per_sm_do_not_put_clusters_on_groups_that_are_too_small():
    # six blocks on an SM are plenty for every group of eight SMs and more; pairs hold no four
    (advice,) = ask("h200", regs=40, exact_threads=256).advices
    assert advice.place.blocks_per_sm == 6
    four = next(one for one in advice.cluster.sizes if one.size == 4)
    assert four.active_clusters == sum(sms * 6 // 4 for sms in GROUPS if sms >= 4) == 186
    assert four.sms_in_use_at_most == sum(sms for sms in GROUPS if sms >= 4) == 124


def test_a_cluster_that_is_asked_for_is_what_is_recommended():
    (advice,) = ask("h200", regs=32, cluster=4).advices
    assert (advice.cluster.size, advice.cluster.why) == (4, Why.ASKED)
    assert advice.cluster.largest_on_every_sm == 2


@pytest.mark.parametrize("name", ["h100", "b200"])
def test_where_the_groups_are_not_known_no_size_is_said_to_reach_every_sm(name):
    (advice,) = ask(name, regs=32).advices
    assert advice.cluster.largest_on_every_sm is None
    assert not any(one.exact for one in advice.cluster.sizes)


@pytest.mark.parametrize("name", ["a100", "9.0"])
def test_no_table_of_clusters_where_there_are_none_or_no_number_of_sms(name):
    assert ask(name, regs=32).advices[0].cluster is None


def test_large_clusters_need_opting_in():
    assert Kind.OPT_IN_CLUSTER in kinds(ask("h200", cluster=16))
    assert Kind.OPT_IN_CLUSTER not in kinds(ask("h200", cluster=8))


def test_clusters_that_nobody_knows_to_launch():
    with pytest.raises(UsageError, match="no source says"):
        ask("10.3", cluster=16)


def test_clusters_where_there_are_none():
    with pytest.raises(InvalidLaunch, match="no thread block clusters"):
        ask("8.0", cluster=4)
    with pytest.raises(InvalidLaunch, match="1 to 16 blocks per cluster"):
        ask("9.0", cluster=17)


# --- carveout -------------------------------------------------------------------------------------


def test_the_carveout_step_by_step():
    # 6 blocks of 4 KiB: 6 * (4,096 + 1,024) = 30,720, the next capacity is 32 KiB. By the measured
    # rule the preference is for the kernel's own 24,576 bytes: 8 % of 228 KiB are 18,677, room for
    # 4 blocks (20,480); the next capacity of that is 32 KiB as well
    (advice,) = ask("9.0", regs=40, static_bytes=4096, exact_threads=256).advices
    assert advice.place.blocks_per_sm == 6
    choice = advice.carveout
    assert (choice.percent, choice.last_percent) == (8, 12)
    assert choice.configured_bytes == 32 * 1024
    assert choice.l1_bytes == (256 - 32) * 1024
    assert choice.default_l1_bytes == (256 - 64) * 1024  # room for twice the blocks
    assert choice.evidence == "measured"


def test_where_shared_memory_is_dedicated_there_is_nothing_to_set():
    found = ask("6.1", regs=32, static_bytes=4096)
    assert found.advices[0].carveout.percent is None
    assert found.carveout is None


def test_one_carveout_for_several():
    found = ask("6.1,8.0,8.9,9.0", regs=36, static_bytes=4096, exact_threads=256)
    assert found.carveout is not None
    for advice in found.advices:
        capability = advice.place.request.target.capability
        launch = advice.place.request.launch(256, carveout=found.carveout)
        measured = capability.shared_memory.carveout_evidence == "measured"
        held = replace(launch, rule="hardware" if measured else "driver").on(capability)
        assert held.blocks_per_sm >= advice.place.blocks_per_sm


# --- remarks --------------------------------------------------------------------------------------


def test_when_occupancy_is_not_worth_chasing():
    assert Kind.ENOUGH in kinds(ask("9.0", regs=40))  # 75 %
    assert kinds(ask("9.0", regs=32)) == set()  # 100 %: nothing to say
    low = ask("9.0", regs=168)
    (cost,) = [r for r in low.advices[0].remarks if r.kind is Kind.COSTS_REGISTERS]
    step = low.advices[0].step
    assert (cost.value, cost.other) == (step.fewer, step.blocks_per_sm)
    assert step.registers == 168 - step.fewer
    tile = ask("9.0", regs=168, dynamic_bytes=200 * 1024)
    assert {Kind.ONE_LARGE_BLOCK, Kind.OPT_IN_SHARED} <= kinds(tile)
    assert tile.advices[0].step is None  # shared memory is in the way as well


def test_small_blocks_limited_by_registers_may_stay_below():
    assert Kind.BELOW_THEORY in kinds(ask("9.0", regs=64, exact_threads=32))
    assert Kind.BELOW_THEORY not in kinds(ask("9.0", regs=64, exact_threads=128))


# --- what is no question --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"elements": 0}, "elements = 0"),
        ({"elements": -1}, "elements = -1"),
        ({"elements": 2**63}, "elements = 9223372036854775808"),
        ({"per_thread": 0}, "per-thread = 0"),
        ({"static_bytes": -1}, "static bytes must not be negative"),
        ({"bytes_per_thread": -4}, "bytes per thread must not be negative"),
        ({"regs": -1}, "regs = -1"),
        ({"barriers": 17}, "barriers = 17"),
        ({"exact_threads": 1025}, "threads = 1025"),
        ({"cluster": 0}, "cluster = 0"),
    ],
)
def test_what_is_refused(given, says):
    with pytest.raises(UsageError, match=says):
        ask("h200", **given)


def test_no_target_at_all():
    with pytest.raises(UsageError, match="no target"):
        recommend([], Wish())


# --- import perfkit -------------------------------------------------------------------------------


def test_the_function_of_the_package():
    found = perfkit.recommend(["a100", "h100"], regs=40, dynamic_smem=20480, elements=10**7)
    assert found.threads in found.choice.tied
    assert [a.place.request.target.label for a in found.advices] == ["a100-sxm4-80gb", "h100-sxm5"]
    with pytest.raises(UsageError, match="how many registers"):
        perfkit.recommend("h100")


def test_the_function_of_the_package_with_a_kernel():
    from tests.report.results import kernel

    bound = kernel("f", "sm_90", registers_per_thread=40, static_shared_bytes=8192, max_threads=192)
    found = perfkit.recommend("h100", kernel=bound)
    assert found.threads <= 192
    assert found.advices[0].place.occupancy.smem_bytes == 8192
    fixed = kernel("g", "sm_90", registers_per_thread=40, required_block=(8, 8, 2))
    assert perfkit.recommend("h100", kernel=fixed).threads == 128
    assert perfkit.recommend("h100", kernel=bound, regs=64, max_threads=64).threads == 64
    clustered = kernel("h", "sm_90", registers_per_thread=40, required_cluster=(2, 2, 1))
    assert perfkit.recommend("h100", kernel=clustered).wish.cluster == 4
    assert perfkit.recommend("h100", kernel=clustered, cluster=2).wish.cluster == 2
