"""Verdicts on one launch: limits by hand, and that every change does what it promises."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from perfkit.analysis.fits import fits, images, no_code, not_compiled, not_known
from perfkit.analysis.obstacles import Reason, Remedy, ResourceDemand, obstacles
from perfkit.arch import catalog
from perfkit.arch.types import ComputeCapability
from perfkit.compiled.inspect import inspect
from perfkit.errors import InvalidLaunch

DATA = Path(__file__).resolve().parents[1] / "data" / "cubin"
KIB = 1024

#: most shared memory of a block, opted in (CUDA Programming Guide 13.0, Tables 30 and 31)
LARGEST_BLOCK_KIB = {
    "5.0": 48, "5.2": 48, "5.3": 48, "6.0": 48, "6.1": 48, "6.2": 48, "7.0": 96, "7.2": 96,
    "7.5": 64, "8.0": 163, "8.6": 99, "8.7": 163, "8.8": 99, "8.9": 99, "9.0": 227, "10.0": 227,
    "10.3": 227, "11.0": 227, "12.0": 99, "12.1": 99,
}  # fmt: skip
EACH = pytest.mark.parametrize("name", LARGEST_BLOCK_KIB)


def target(name):
    (found,) = catalog.targets(name)
    return found


def demand(threads=256, regs=32, static=0, dynamic=0, **others):
    return ResourceDemand(
        threads=threads, regs=regs, static_bytes=static, dynamic_bytes=dynamic, **others
    )


def only(name, **numbers):
    """The one obstacle of a launch."""
    fit = fits(target(name), demand(**numbers))
    (obstacle,) = fit.obstacles
    assert fit.launches is False
    assert fit.occupancy is None
    return obstacle


def test_every_capability_is_in_the_table():
    assert tuple(LARGEST_BLOCK_KIB) == catalog.capability_keys()


@EACH
def test_shared_memory_to_the_byte(name):
    most = LARGEST_BLOCK_KIB[name] * KIB
    fit = fits(target(name), demand(dynamic=most))
    assert fit.launches
    assert fit.occupancy.blocks_per_sm == 1 + (
        most == 48 * KIB and fit.occupancy.limits.shared_memory > 1
    )
    obstacle = only(name, dynamic=most + 1)
    assert obstacle.reason is Reason.SHARED_MEMORY
    assert (obstacle.needed, obstacle.allowed) == (most + 1, most)
    assert obstacle.changes == (Remedy(kind="less_shared", value=most),)


def test_one_kernel_for_hopper_and_ada():
    """232,448 B are all that a block of 9.0 gets, 101,376 B all that one of 8.9 gets."""
    hopper, ada = demand(threads=384, regs=168, dynamic=232_448), demand(dynamic=101_376)
    assert fits(target("9.0"), hopper).launches
    assert fits(target("8.9"), ada).launches
    (obstacle,) = fits(target("8.9"), hopper).obstacles
    assert (obstacle.needed, obstacle.allowed) == (232_448, 101_376)


def test_registers_that_are_counted_but_not_used():
    """7.0, 288 threads, 200 registers: 9 warps take 57,600, the check counts 12 x 6,400."""
    obstacle = only("7.0", threads=288, regs=200)
    assert obstacle.reason is Reason.REGISTERS
    assert (obstacle.needed, obstacle.allowed) == (76_800, 65_536)
    # 65,536 / 12 = 5,461, in steps of 256: 5,376, which is 168 per thread; 8 warps: 51,200
    assert obstacle.changes == (
        Remedy(kind="fewer_registers", value=168),
        Remedy(kind="smaller_block", value=256),
    )


@pytest.mark.parametrize(("name", "fit"), [("5.2", True), ("5.3", False), ("6.2", False)])
def test_half_the_registers_for_a_block(name, fit):
    """512 threads x 72 registers: 16 warps x 2,304 = 36,864, of 32 K on 5.3 and 6.2."""
    assert fits(target(name), demand(threads=512, regs=72)).launches is fit


def test_more_registers_than_a_thread_has():
    obstacle = only("9.0", threads=64, regs=300)
    assert (obstacle.resource, obstacle.needed, obstacle.allowed) == (
        "registers_per_thread", 300, 255,
    )  # fmt: skip
    assert obstacle.changes == (Remedy(kind="fewer_registers", value=255),)


def test_a_block_larger_than_any():
    obstacle = only("8.0", threads=1056, regs=16)
    assert (obstacle.reason, obstacle.needed, obstacle.allowed) == (Reason.THREADS, 1056, 1024)


def test_launch_bounds():
    obstacle = only("8.0", threads=512, max_threads=256)
    assert (obstacle.reason, obstacle.needed, obstacle.allowed) == (Reason.LAUNCH_BOUNDS, 512, 256)
    assert fits(target("8.0"), demand(threads=256, max_threads=256)).launches
    exact = only("8.0", threads=64, required_threads=128)
    assert exact.changes == (Remedy(kind="block_of", value=128),)


@pytest.mark.parametrize("name", ["5.0", "7.5", "8.9"])
def test_no_clusters_before_hopper(name):
    obstacle = only(name, cluster=2)
    assert (obstacle.resource, obstacle.needed) == ("cluster_support", 2)
    assert obstacle.changes == (Remedy(kind="no_cluster"),)
    assert fits(target(name), demand(cluster=1)).launches


def test_cluster_sizes():
    """Portable 8; 16 on 9.0 after opting in; 8 at most on 11.0; on 10.3 nothing is documented."""
    assert fits(target("9.0"), demand(cluster=8)).conditions == ()
    assert fits(target("9.0"), demand(cluster=16)).conditions == (
        Remedy(kind="opt_in_cluster", value=16),
    )
    assert only("9.0", cluster=17).allowed == 16
    assert only("11.0", cluster=16).allowed == 8
    fit = fits(target("10.3"), demand(cluster=16))
    assert fit.launches is None
    assert "clusters of 8; whether of 16" in fit.unknown[0]
    assert only("9.0", cluster=2, required_cluster=4).changes == (
        Remedy(kind="cluster_of", value=4),
    )
    bounded = only("9.0", cluster=8, max_cluster=4)
    assert (bounded.reason, bounded.resource) == (Reason.LAUNCH_BOUNDS, "cluster_bounds")
    assert bounded.changes == (Remedy(kind="smaller_cluster", value=4),)
    assert fits(target("9.0"), demand(cluster=4, max_cluster=4)).launches


@pytest.mark.parametrize(
    ("static", "dynamic", "asks"),
    [(0, 48 * KIB, 0), (KIB, 47 * KIB, 0), (KIB, 47 * KIB + 1, 47 * KIB + 1), (48 * KIB, 0, 0)],
)
def test_opting_in_is_for_the_dynamic_part(static, dynamic, asks):
    fit = fits(target("8.0"), demand(static=static, dynamic=dynamic))
    assert fit.launches
    assert [change.value for change in fit.conditions] == ([asks] if asks else [])


def test_static_shared_memory_has_its_own_limit():
    obstacle = only("9.0", static=64 * KIB)
    assert obstacle.reason is Reason.STATIC_SHARED_MEMORY
    assert (obstacle.needed, obstacle.allowed) == (65_536, 49_152)
    assert obstacle.changes == (
        Remedy(kind="dynamic_shared", value=65_536),
        Remedy(kind="assemble_for", target="sm_90a"),
    )
    assert fits(target("9.0"), demand(static=64 * KIB, arch="sm_90a")).launches
    assert only("8.0", static=64 * KIB).changes == (Remedy(kind="dynamic_shared", value=65_536),)
    # too much in any form
    both = fits(target("8.9"), demand(static=100 * KIB)).obstacles
    assert [one.changes[0].kind for one in both] == ["less_shared", "less_static"]
    # nobody can opt in: one reason is enough
    assert only("6.1", static=64 * KIB).reason is Reason.SHARED_MEMORY


NUMBERS = {
    "smaller_block": "threads",
    "fewer_registers": "regs",
    "less_shared": "dynamic_bytes",
    "less_static": "static_bytes",
    "smaller_cluster": "cluster",
}


@EACH
def test_each_change_takes_its_obstacle_away_and_no_smaller_one_does(name):
    """Blocks change in warps, registers and bytes one by one."""
    capability = catalog.capability(name)
    random = np.random.default_rng([1, *capability.compute_capability])
    seen = set()
    for threads, regs, dynamic, cluster in zip(
        random.integers(1, 1300, 80).tolist(),
        random.integers(0, 300, 80).tolist(),
        random.integers(0, 300_000, 80).tolist(),
        random.choice([1, 2, 16, 20], 80).tolist(),
        strict=True,
    ):
        asked = demand(threads=threads, regs=regs, dynamic=dynamic, cluster=cluster)
        for obstacle in obstacles(capability, asked):
            for change in obstacle.changes:
                field = NUMBERS.get(change.kind)
                if field is None:
                    continue
                step = 32 if field == "threads" else 1
                for value, stays in ((change.value, False), (change.value + step, True)):
                    left = obstacles(capability, replace(asked, **{field: value}))
                    assert (obstacle.reason in {one.reason for one in left}) is stays
                seen.add(change.kind)
    assert {"smaller_block", "fewer_registers", "less_shared"} <= seen


@pytest.mark.parametrize(
    "numbers", [{"threads": 0}, {"threads": -1}, {"regs": -1}, {"dynamic": -1}, {"barriers": 17}]
)
def test_what_no_launch_can_have(numbers):
    with pytest.raises(InvalidLaunch):
        fits(target("9.0"), demand(**numbers))


# --- what is not known ----------------------------------------------------------------------------


def test_unknown_registers_leave_the_verdict_open_unless_something_else_decides():
    open_ = demand(regs=None, unknown=("registers per thread: no cubin",))
    fit = fits(target("8.9"), open_)
    assert (fit.launches, fit.unknown, fit.occupancy) == (None, open_.unknown, None)
    fit = fits(target("8.9"), replace(open_, dynamic_bytes=128 * KIB))
    assert (fit.launches, fit.unknown) == (False, ())


@pytest.mark.parametrize(
    ("regs", "launches"),
    [
        (64, True),  # 1,024 threads x 64 registers are all of 64 K
        (65, None),  # 72 x 32 = 2,304 per warp: 28 warps
    ],
)
def test_a_block_size_that_is_not_known(regs, launches):
    fit = fits(target("9.0"), demand(threads=None, regs=regs))
    assert fit.launches is launches
    assert fit.occupancy is None
    assert fit.unknown == (
        () if launches else ("blocks of up to 896 threads launch, and the block size is not known",)
    )
    assert fits(target("8.9"), demand(threads=None, dynamic=100 * KIB)).launches is False


# --- what there is to launch ----------------------------------------------------------------------


def test_the_closest_code_is_loaded():
    (base,) = inspect(DATA / "j04.sm_90.cubin")
    file = [
        replace(base, arch=arch, origin=str(origin))
        for origin, arch in enumerate(["sm_80", "sm_86", "sm_90", "sm_90a", "sm_90a", "sm_120"])
    ]

    def loaded(*capability):
        (found,) = images(file, ComputeCapability(*capability))
        assert found.kernel == "dsm"
        assert found.there == tuple(file)
        return [int(kernel.origin) for kernel in found.loaded]

    assert loaded(8, 0) == [0]
    assert loaded(8, 9) == [1]  # the higher minor
    assert loaded(9, 0) == [3, 4]  # made for that chip, and both of them
    assert loaded(10, 0) == []
    assert loaded(12, 1) == [5]


def test_each_library_has_its_own_code():
    """What one library has for a GPU is no help to another; loose files are one choice."""
    (base,) = inspect(DATA / "j04.sm_90.cubin")
    old, new = "a.whl(cu118.so), image", "a.whl(cu128.so), image"

    def loaded(capability, *origins):
        file = [replace(base, arch=arch, origin=origin) for arch, origin in origins]
        found = images(file, ComputeCapability(*capability))
        return [[kernel.origin for kernel in one.loaded] for one in found]

    wheel = ("sm_80", f"{old} 1 for sm_80"), ("sm_90", f"{new} 1"), ("sm_100", f"{new} 2")
    assert loaded((10, 0), *wheel) == [[], [f"{new} 2"]]
    assert loaded((9, 0), *wheel) == [[], [f"{new} 1"]]
    assert loaded((8, 9), *wheel) == [[f"{old} 1 for sm_80"], []]
    assert loaded((9, 0), ("sm_80", "k.sm_80.cubin"), ("sm_90", "k.sm_90.cubin")) == [
        ["k.sm_90.cubin"]
    ]


def test_kernels_keep_their_order():
    file = inspect(DATA / "j07.sm_80.cubin")
    names = [name for name, *_ in images(file, ComputeCapability(8, 0))]
    assert names == [kernel.demangled for kernel in file]
    assert len(names) == 3


def test_verdicts_without_code():
    fit = no_code(target("9.0"), demand(), kernel="k", archs=["sm_80", "sm_86", "sm_80"])
    (obstacle,) = fit.obstacles
    assert (fit.launches, obstacle.detail) == (False, "sm_80, sm_86")
    assert obstacle.changes[0].target == "-gencode=arch=compute_90,code=sm_90"
    log = "a.cu(1): warning: w\na.cu(2): error: e\n"
    fit = not_compiled(target("8.0"), arch="sm_80", log=log)
    assert (fit.launches, fit.kernel, fit.arch) == (False, None, "sm_80")
    assert fit.obstacles[0].detail == "a.cu(2): error: e"
    fit = not_known(target("8.8"), why="no compiler")
    assert (fit.launches, fit.unknown) == (None, ("no compiler",))


def test_what_would_not_fit_once_it_is_compiled_for_it_is_said_too():
    """Clusters and shared memory stay what they are, registers do not."""
    asked = demand(threads=1024, regs=255, static=64 * KIB, dynamic=64 * KIB, cluster=2)
    fit = no_code(target("8.9"), replace(asked, arch="sm_90a"), kernel="k", archs=["sm_90a"])
    assert [one.reason for one in fit.obstacles] == [
        Reason.ARCHITECTURE, Reason.CLUSTER, Reason.SHARED_MEMORY, Reason.STATIC_SHARED_MEMORY,
    ]  # fmt: skip


def test_a_refusal_for_shared_memory_has_its_numbers():
    log = "ptxas error   : Entry function 'k' uses too much shared data (0x10000 bytes, 0xc000 max)"
    fit = not_compiled(target("9.0"), arch="sm_90", log=log)
    (obstacle,) = fit.obstacles
    assert (fit.kernel, obstacle.needed, obstacle.allowed) == ("k", 65_536, 49_152)
    two = not_compiled(
        target("9.0"), arch="sm_90", log=f"{log}\n{log.replace(chr(39) + 'k', chr(39) + 'm')}"
    )
    assert (two.kernel, [one.detail for one in two.obstacles]) == (None, ["k", "m"])
