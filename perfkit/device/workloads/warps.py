"""What a warp does to itself: branches that diverge, banks that conflict, chains of loads."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from perfkit.analysis.prediction import Chain, Demand, Flow
from perfkit.device.backend import launch_1d
from perfkit.device.workload import (
    Array,
    Arrays,
    Case,
    Code,
    Fill,
    Role,
    Sizes,
    Workload,
    blocks_for,
    i32,
    i64,
    whole_warps,
)
from perfkit.errors import UsageError
from perfkit.models.banks import ROW_BYTES, wavefronts
from perfkit.models.divergence import branch
from perfkit.models.ops import ceil_div

if TYPE_CHECKING:
    from numpy.typing import NDArray


_WORDS, _READS = 4096, 32  # of bank_conflicts in warps.cu
_NODE_BYTES: Final = 128
#: instructions of the loop for each multiply-add of divergence: count, compare, branch for 16
_LOOP: Final = 3 / 16


def _divergence(sizes: Sizes) -> Case:
    n, ways, steps = sizes["n"], sizes["ways"], sizes["steps"]
    threads = whole_warps(sizes)
    if ways > 32 or 32 % ways:
        raise UsageError(f"ways = {ways}: takes 1, 2, 4, 8, 16 or 32, the same for every warp")
    factor = branch([lane % ways for lane in range(32)]).serial_factor
    flops = 2 * n * steps

    def reference(given: Arrays) -> Arrays:
        import numpy as np

        x = given["x"].astype(np.float64)
        f = 1 + np.arange(n) % threads % ways * 2.0**-12
        for _ in range(steps):
            x = x * f + 2.0**-6
        return {"x": x}

    return Case(
        code=Code(kernel="divergence", file="warps.cu"),
        launch=launch_1d(blocks_for(n, threads), threads),
        arrays=(Array(name="x", dtype="f32", count=n, role=Role.INOUT),),
        arguments=("x", i64(n), i32(ways), i32(steps)),
        demand=Demand(
            read_bytes=4 * n,
            write_bytes=4 * n,
            flow=Flow(flops=flops, issued=factor * flops),
            instructions=ceil_div(n, 32) * factor * steps * (1 + _LOOP),
        ),
        reference=reference,
        tolerance=1e-5,
    )


def _bank_conflicts(sizes: Sizes) -> Case:
    blocks, stride, rounds = sizes["blocks"], sizes["stride"], sizes["rounds"]
    threads = whole_warps(sizes)
    if stride > _WORDS:
        raise UsageError(f"stride = {stride}: at most {_WORDS}")
    words = [lane * stride % (_WORDS - 32 * _READS) for lane in range(32)]
    passes = wavefronts(4, [4 * word for word in words])
    warps = blocks * threads // 32

    def reference(given: Arrays) -> Arrays:
        import numpy as np

        first = np.array(words)[:, None] + 32 * np.arange(_READS)
        sums = rounds * given["a"].astype(np.float64)[first].sum(axis=1)
        return {"out": np.tile(sums, warps)}

    return Case(
        code=Code(kernel="bank_conflicts", file="warps.cu"),
        launch=launch_1d(blocks, threads),
        arrays=(
            Array(name="a", dtype="f32", count=_WORDS),
            Array(name="out", dtype="f32", count=blocks * threads, role=Role.OUT),
        ),
        arguments=("a", "out", i32(stride), i32(rounds)),
        demand=Demand(
            read_bytes=4 * _WORDS,
            write_bytes=4 * blocks * threads,
            l1_bytes=ROW_BYTES * passes * _READS * rounds * warps,
            flow=Flow(flops=_READS * rounds * blocks * threads),
        ),
        reference=reference,
        tolerance=1e-4,
    )


def _chase(level: str) -> Callable[[Sizes], Case]:
    def build(sizes: Sizes) -> Case:
        nodes, hops = sizes["nodes"], sizes["hops"]
        if nodes * _NODE_BYTES >= 2**34 or hops >= 2**31:
            raise UsageError(f"nodes, hops = {nodes}, {hops}: at most {2**27 - 1}, {2**31 - 1}")
        words = _NODE_BYTES // 4

        def ring() -> NDArray[Any]:
            """Every node's first word holds the place of the next; all nodes are on one ring."""
            import numpy as np

            order = np.random.default_rng(nodes).permutation(nodes).astype(np.uint32) * words
            chain = np.zeros(nodes * words, np.uint32)
            chain[order] = np.roll(order, -1)
            return chain

        def reference(given: Arrays) -> Arrays:
            import numpy as np

            path = [0]
            while (at := int(given["next"][path[-1]])) != 0:  # once around
                path.append(at)
            return {"end": np.array([path[hops % len(path)]], np.uint32)}

        return Case(
            code=Code(kernel="pointer_chase", file="chase.cu"),
            launch=launch_1d(1, 1),
            arrays=(
                Array(name="next", dtype="u32", count=nodes * words, fill=Fill.MADE, make=ring),
                Array(name="end", dtype="u32", count=1, role=Role.OUT),
                Array(name="cycles", dtype="u64", count=1, role=Role.INOUT, fill=Fill.ZERO),
            ),
            arguments=("next", "end", "cycles", i32(hops)),
            demand=Demand(),
            reference=reference,
            tolerance=0,
            chain=Chain(hops=hops, level=level),
        )

    return build


def _chaser(level: str, where: str, nodes: int, hops: int) -> Workload:
    return Workload(
        name=f"chase_{level}",
        group="latency",
        summary=f"one thread follows a ring in {where}",
        sizes={"nodes": nodes, "hops": hops},
        size="nodes",
        checks=({"nodes": 97, "hops": 1000},),
        build=_chase(level),
        cold=level == "dram",
    )


WORKLOADS: Final = (
    Workload(
        name="divergence",
        group="warps",
        summary="an n-way branch within each warp",
        sizes={"n": 2**24, "ways": 4, "steps": 512, "threads": 256},
        size="n",
        checks=({"n": 10_003, "steps": 50}, {"n": 77, "ways": 32, "steps": 9, "threads": 96}),
        build=_divergence,
    ),
    Workload(
        name="bank_conflicts",
        group="warps",
        summary="shared memory read at a stride",
        sizes={"blocks": 1056, "stride": 4, "rounds": 64, "threads": 1024},
        size="blocks",
        checks=({"blocks": 3, "rounds": 3}, {"blocks": 2, "stride": 33, "rounds": 2}),
        build=_bank_conflicts,
    ),
    _chaser("l1", "L1", 64, 2**17),
    _chaser("l2", "L2", 2**16, 2**14),
    _chaser("dram", "DRAM", 2**21, 2**12),
)
