"""Matrix products and attention on the tensor cores.

Products are C [m, n] = A [m, k] B^T with B [n, k]: both operands have k contiguous.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from perfkit.analysis.gemm_expected import TiledProduct
from perfkit.analysis.prediction import Demand, Flow
from perfkit.device import flash_attention, gemm_mma, gemm_mma_tma, gemm_wgmma
from perfkit.device.flash_attention import Attention
from perfkit.device.matrix_source import SUMS, element_type
from perfkit.device.workload import Array, Arrays, Case, Code, Map, Role, Sizes, Workload, f32, i32
from perfkit.errors import UsageError
from perfkit.kernel import DType
from perfkit.models.gemm_tile import Tiling
from perfkit.models.gemm_traffic import Problem

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

    from perfkit.device.matrix_source import MatrixKernel


_MOST: Final = 2**20
#: dynamic shared memory that a launch gets unasked
_UNASKED_BYTES: Final = 48 * 1024


class _Type(NamedTuple):
    out: DType
    tolerance: float  #: of the result's rounding, and of operands that are cut off (tf32)


_TYPES: Final = {
    DType.BF16: _Type(DType.BF16, 4e-3),
    DType.F16: _Type(DType.F16, 1e-3),
    DType.TF32: _Type(DType.F32, 2e-3),
    DType.F8: _Type(DType.BF16, 6e-3),
    DType.S8: _Type(DType.S32, 1e-9),
}


def _product(dtype: DType, sizes: Sizes, *, make: ModuleType) -> Case:
    """Of ``make``, one of the modules whose ``kernel`` writes products."""
    m, n, k = sizes["m"], sizes["n"], sizes["k"]
    if max(m, n, k) > _MOST:
        raise UsageError(f"m, n, k = {m}, {n}, {k}: at most {_MOST} each")
    out, tolerance = _TYPES[dtype]
    problem = Problem(m=m, n=n, k=k, dtype=dtype, accumulate=SUMS[dtype], out=out)
    tiling = _tiling(sizes)
    found = make.kernel(problem, tiling, group=sizes["group"])
    return Case(
        code=Code(kernel=found.name, text=found.text, suffix=found.suffix),
        launch=found.launch(found.tiles),
        arrays=(
            Array(name="a", dtype=element_type(dtype), count=m * k),
            Array(name="b", dtype=element_type(dtype), count=n * k),
            Array(name="c", dtype=element_type(out), count=m * n, role=Role.OUT),
        ),
        arguments=(*_operands(found), "c", i32(m), i32(n), i32(k)),
        demand=_demand(problem, tiling, found, sizes["group"], is_wgmma=make is gemm_wgmma),
        reference=partial(_multiplied, m, n, k),
        tolerance=tolerance,
        persistent=found.cluster if found.is_persistent else None,
        dynamic_optin=found.dynamic_bytes > _UNASKED_BYTES,
    )


def _tiling(sizes: Sizes) -> Tiling:
    return Tiling(
        tile_m=sizes["tile_m"],
        tile_n=sizes["tile_n"],
        tile_k=sizes["tile_k"],
        warp_m=sizes["warp_m"],
        warp_n=sizes.get("warp_n", sizes["tile_n"]),
        warp_k=sizes["tile_k"],
        stages=sizes["stages"],
        cluster_m=sizes.get("cluster_m", 1),
        cluster_n=sizes.get("cluster_n", 1),
    )


def _operands(kernel: MatrixKernel) -> tuple[str | Map, str | Map]:
    if kernel.shapes is None:
        return "a", "b"
    a, b = kernel.shapes
    return Map(array="a", shape=a), Map(array="b", shape=b)


def _demand(p: Problem, t: Tiling, kernel: MatrixKernel, group: int, *, is_wgmma: bool) -> Demand:
    """Shared memory: what warps read of it with ``ldmatrix``, or four of them with one ``wgmma``.

    What blocks load is no bound of L2: where several ask for the same at once, they are served
    together (on an H200 they got up to 15 TB/s, of 9 that it reads).
    """
    operand = p.dtype.bits / 8
    rows = gemm_wgmma.ROWS if is_wgmma else t.warp_m
    readers = t.tile_m / rows * t.tile_n / t.warp_n
    return Demand(
        read_bytes=(p.m + p.n) * p.k * operand,
        write_bytes=p.out_bytes,
        l1_bytes=kernel.tiles * readers * (rows + t.warp_n) * p.k * operand,
        flow=_flow(p.flops, p.dtype, "wgmma" if is_wgmma else "mma.sync"),
        model=TiledProduct(
            problem=p,
            tiling=t,
            kind="wgmma" if is_wgmma else "mma",
            is_fed=kernel.shapes is not None,
            group=group,
        ),
    )


def _flow(flops: int, dtype: DType, instruction: str) -> Flow:
    return Flow(
        flops=flops,
        dtype=dtype,
        unit="tensor",
        accumulate=SUMS[dtype],
        instruction=instruction,
    )


def _multiplied(m: int, n: int, k: int, given: Arrays) -> Arrays:
    import numpy as np

    a, b = given["a"].reshape(m, k), given["b"].reshape(n, k)
    return {"c": (a.astype(np.float64) @ b.astype(np.float64).T).ravel()}


def _attention(dtype: DType, sizes: Sizes, *, is_causal: bool) -> Case:
    heads, rows, keys, size = (sizes[name] for name in ("heads", "queries", "keys", "head_size"))
    shape = {"heads": heads, "q_rows": rows, "kv_rows": keys, "head_size": size}
    problem = Attention(**shape, dtype=dtype, is_causal=is_causal)
    found = flash_attention.kernel(problem)
    scale = size**-0.5

    def reference(given: Arrays) -> Arrays:
        q, k, v = (
            given[name].reshape(heads, count, size)
            for name, count in (("q", rows), ("k", keys), ("v", keys))
        )
        out = flash_attention.reference(q, k, v, scale=scale, is_causal=is_causal)
        return {"o": out.ravel()}

    element, whole = element_type(dtype), heads * size
    return Case(
        code=Code(kernel=found.name, text=found.text),
        launch=found.launch,
        arrays=(
            Array(name="q", dtype=element, count=whole * rows),
            Array(name="k", dtype=element, count=whole * keys),
            Array(name="v", dtype=element, count=whole * keys),
            Array(name="o", dtype=element, count=whole * rows, role=Role.OUT),
        ),
        arguments=("q", "k", "v", "o", i32(rows), i32(keys), f32(scale)),
        demand=Demand(
            read_bytes=problem.least_bytes - 2 * whole * rows,
            write_bytes=2 * whole * rows,
            flow=_flow(problem.flops, dtype, "mma.sync"),
            model=flash_attention.model(problem),
        ),
        reference=reference,
        tolerance=6e-3,
        dynamic_optin=found.launch.dynamic_bytes > _UNASKED_BYTES,
    )


def _row(dtype: DType) -> int:
    """Elements in 128 bytes, as deep as slices are unless said otherwise."""
    return 128 * 8 // dtype.bits


def _gemm(
    make: ModuleType, dtype: DType, feed: str, tiles: Sizes, checks: Sequence[Sizes], **cards: Any
) -> Workload:
    """Products of ``make``, named after it; ``checks`` say what is other than usual in each."""
    odd = {"m": 300, "n": 520, "k": 5 * _row(dtype)}
    return Workload(
        name=f"{make.__name__.rpartition('.')[2]}_{dtype}",
        group="tensor",
        summary=f"matrix product of {dtype} with {feed}",
        sizes={"m": 4096, "n": 4096, "k": 4096, **tiles, "group": make.GROUP},
        size="m",
        checks=tuple({**odd, **check} for check in checks),
        build=partial(_product, dtype, make=make),
        **cards,
    )


def _tiles(dtype: DType, tile: tuple[int, int], **others: int) -> Sizes:
    return {"tile_m": tile[0], "tile_n": tile[1], "tile_k": _row(dtype), **others}


def _small(dtype: DType) -> Sizes:
    return {"tile_m": 64, "tile_n": 64, "tile_k": _row(dtype) // 2, "warp_m": 32, "warp_n": 32}


def _mma(dtype: DType, tile: tuple[int, int], warp: tuple[int, int], stages: int) -> Workload:
    return _gemm(
        gemm_mma,
        dtype,
        "mma.sync and cp.async",
        _tiles(dtype, tile, warp_m=warp[0], warp_n=warp[1], stages=stages),
        ({}, {**_small(dtype), "stages": 4}),
        least_capability=(8, 9) if dtype is DType.F8 else (8, 0),
    )


def _mma_tma(dtype: DType) -> Workload:
    row = _row(dtype)
    pairs = {"tile_n": 128, "tile_k": 2 * row, "warp_n": 32, "cluster_m": 2, "stages": 3}
    return _gemm(
        gemm_mma_tma,
        dtype,
        "mma.sync, fed by TMA",
        _tiles(dtype, (128, 256), warp_m=64, warp_n=64, stages=4, cluster_m=1, cluster_n=1),
        ({}, _small(dtype), pairs | {"k": 6 * row}),
        only_capability=(9, 0),
    )


def _wgmma(dtype: DType) -> Workload:
    pairs = {"tile_m": 256, "tile_n": 128, "warp_m": 32, "cluster_m": 1, "cluster_n": 2}
    small = {"tile_m": 64, "tile_n": 64, "tile_k": _row(dtype) // 2, "cluster_m": 1}
    return _gemm(
        gemm_wgmma,
        dtype,
        "wgmma and TMA",
        _tiles(dtype, (128, 256), warp_m=16, stages=4, cluster_m=2, cluster_n=1),
        ({}, pairs | {"stages": 3}, small),
        only_capability=(9, 0),
    )


def _attentions() -> tuple[Workload, ...]:
    small = {"heads": 3, "queries": 128, "keys": 320}
    return tuple(
        Workload(
            name=f"attention{'_causal' * is_causal}_{dtype}",
            group="tensor",
            summary=f"attention forward in one kernel, {dtype}{', causal' * is_causal}",
            sizes={"heads": 64, "queries": 4096, "keys": 4096, "head_size": 128},
            size="queries",
            checks=(small, small | {"head_size": 64}),
            build=partial(_attention, dtype, is_causal=is_causal),
            least_capability=(8, 0),
        )
        for dtype in (DType.BF16, DType.F16)
        for is_causal in (False, True)
    )


WORKLOADS: Final = (
    *(_mma(dtype, (128, 256), (64, 64), 3) for dtype in (*_TYPES,) if dtype is not DType.F8),
    # on 9.0 its operands are first made f16, in registers that a larger tile does not leave
    _mma(DType.F8, (64, 128), (32, 32), 3),
    *map(_mma_tma, _TYPES),
    *map(_wgmma, _TYPES),
    *_attentions(),
)
