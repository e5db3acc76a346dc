"""Verdicts and comparisons of the fixed set of results: every kind of row once."""

from __future__ import annotations

from dataclasses import replace

from perfkit.analysis.diff import diff
from perfkit.analysis.fits import fits, no_code, not_compiled, not_known
from perfkit.analysis.obstacles import ResourceDemand
from tests.report.results import AXPY, STRANGE, TARGETS, kernel

HOPPER, BLACKWELL, PASCAL = TARGETS
#: static + dynamic are 12,288 B more than a block of the small database's 9.0 gets
LARGE = ResourceDemand(threads=256, regs=40, static_bytes=12288, dynamic_bytes=232448, arch="sm_90")

FITS = (
    fits(HOPPER, replace(LARGE, dynamic_bytes=100000), kernel=AXPY.demangled),
    fits(HOPPER, LARGE, kernel=AXPY.demangled),
    fits(PASCAL, replace(LARGE, arch="sm_61", cluster=4), kernel=AXPY.demangled),
    fits(HOPPER, replace(LARGE, threads=1024, regs=80, dynamic_bytes=0), kernel=STRANGE.demangled),
    fits(
        HOPPER,
        replace(LARGE, static_bytes=65536, dynamic_bytes=0, cluster=16, max_threads=128),
        kernel=STRANGE.demangled,
    ),
    fits(HOPPER, replace(LARGE, threads=None, regs=80, dynamic_bytes=0), kernel="any[block]"),
    no_code(BLACKWELL, LARGE, kernel=STRANGE.demangled, archs=["sm_90a"]),
    not_compiled(PASCAL, arch="sm_61", log="k.cu(3): error: no <clusters> | here\n"),
    not_known(BLACKWELL, why="no compiler for sm_100 here"),
)


def built(name: str, **given):
    """A kernel whose spills are known, with launch bounds."""
    known = {"spill_store_bytes": 0, "spill_load_bytes": 0, "max_threads": 256, "unknown": {}}
    return kernel(name, "sm_90", **(known | given))


OLD = (
    built("gemm<64, 64>", registers_per_thread=128),
    built("gemm<128, 64>", registers_per_thread=255, spill_store_bytes=64, spill_load_bytes=80),
    built("reduce[bold]|*a_b*"),
    built("recursive", stack_bytes=16),
    built("calls through pointers", unbounded_stack=False),
    built("parameters"),
    built("better", registers_per_thread=64, stack_bytes=8),
    built("same"),
    built("gone"),
    AXPY,
)
NEW = (
    built("gemm<64, 64>", registers_per_thread=168),
    built("gemm<128, 64>", registers_per_thread=128, spill_store_bytes=512, spill_load_bytes=512),
    built("reduce[bold]|*a_b*", registers_per_thread=41),
    built(
        "recursive",
        stack_bytes=None,
        unknown={"stack_bytes": "a device function calls itself"},
    ),
    built(
        "calls through pointers",
        stack_bytes=None,
        unbounded_stack=True,
        unknown={"stack_bytes": "a device function calls through a pointer"},
    ),
    built("parameters", constant_bytes=572),
    built("better", stack_bytes=0),
    built("same"),
    built("fresh", static_shared_bytes=16384, spill_store_bytes=4),
    AXPY,
)
DIFF = diff(OLD, NEW)
