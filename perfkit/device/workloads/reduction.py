"""Sums by block, through shared memory and by shuffles."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from perfkit.analysis.prediction import Demand, Flow
from perfkit.device.backend import launch_1d
from perfkit.device.workload import (
    Array,
    Arrays,
    Case,
    Code,
    Role,
    Sizes,
    Workload,
    blocks_for,
    i32,
    i64,
    whole_warps,
)
from perfkit.errors import UsageError


def _reduce(kernel: str, shared_bytes_per_thread: int) -> Callable[[Sizes], Case]:
    def build(sizes: Sizes) -> Case:
        n, per_block, threads = sizes["n"], sizes["per_block"], whole_warps(sizes)
        if per_block % 4 or per_block >= 2**31:
            raise UsageError(f"per_block = {per_block}: the kernel takes a multiple of 4")
        blocks = blocks_for(n, per_block)

        def reference(given: Arrays) -> Arrays:
            import numpy as np

            padded = np.zeros(blocks * per_block)
            padded[:n] = given["a"]
            return {"out": padded.reshape(blocks, per_block).sum(axis=1)}

        return Case(
            code=Code(kernel=kernel, file="reduction.cu"),
            launch=launch_1d(blocks, threads, shared_bytes_per_thread * threads),
            arrays=(
                Array(name="a", dtype="f32", count=n),
                Array(name="out", dtype="f32", count=blocks, role=Role.OUT),
            ),
            arguments=("a", "out", i64(n), i32(per_block)),
            demand=Demand(read_bytes=4 * n, write_bytes=4 * blocks, flow=Flow(flops=n)),
            reference=reference,
            tolerance=1e-5,
        )

    return build


def _workload(name: str, summary: str, build: Callable[[Sizes], Case]) -> Workload:
    return Workload(
        name=name,
        group="reduction",
        summary=summary,
        sizes={"n": 2**28, "per_block": 2**15, "threads": 256},
        size="n",
        checks=({"n": 1_000_003}, {"n": 70, "per_block": 12, "threads": 96}),
        build=build,
    )


WORKLOADS: Final = (
    _workload("reduce_shared", "a tree in shared memory", _reduce("reduce_shared", 4)),
    _workload("reduce_shuffle", "by shuffles of a warp", _reduce("reduce_shuffle", 0)),
)
