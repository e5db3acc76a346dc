"""The least time of some work: rooflines and matrix products."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from perfkit.api.targets import TargetLike, target_of
from perfkit.errors import UsageError
from perfkit.kernel import DType

if TYPE_CHECKING:
    from perfkit.analysis.gemm import GemmEstimate
    from perfkit.arch.types import Target
    from perfkit.models.roofline import Bound
    from perfkit.models.roofs import Ceilings


def roofline(
    target: TargetLike,
    *,
    dtype: str | DType,
    flops: float | None = None,
    bytes: float | None = None,  # noqa: A002
    op: str | None = None,
    l2_bytes: float | None = None,
    l1_bytes: float | None = None,
    accumulate: str | DType | None = None,
    sparsity: str = "dense",
    unit: str | None = None,
    clock_mhz: float | None = None,
    ceilings: str | Path | Ceilings | None = None,
    time_s: float | None = None,
) -> Bound:
    """The least time of some work on a product, and what decides it.

    Args:
        target: product; a capability has no peaks.
        dtype: of the operands.
        flops: FLOP, a fused multiply-add being two; None: nothing is computed.
        bytes: through DRAM; None: not known.
        op: a named operation instead of the two: ``gemm:4096x4096x4096``, see
            ``perfkit.models.operations``.
        l2_bytes: through L2; None: as many as through DRAM.
        l1_bytes: through L1 and shared memory; likewise.
        accumulate: type of the sums; None: f32, f64 for f64, s32 for integers.
        sparsity: ``dense`` or ``sparse``.
        unit: ``simt`` or ``tensor``; None: the faster one.
        clock_mhz: of the SMs, instead of the product's own.
        ceilings: measured ones: a ``perfkit.ceilings/1`` file, or what ``readers.ceilings.parse``
            made of it.
        time_s: a measured time in seconds, to compare.

    Raises:
        UnknownTarget: no product of the database.
        UsageError: a roof that the product does not have, or an amount that is none.
        InputError: a file that holds no ceilings.

    >>> b = roofline("h100", dtype="f16", flops=2 * 4096**3, bytes=3 * 2 * 4096**2)
    >>> round(b.time_s * 1e3, 4), b.bound_by, round(b.peak_flop_per_s / 1e12, 1), b.loads[0].roof
    (0.1389, 'compute', 989.4, 'f16/f32 dense tensor')
    """
    from perfkit.analysis.roofline import RooflineQuestion
    from perfkit.analysis.roofline import roofline as answer
    from perfkit.models.operations import operation

    kind, one = _dtype(dtype), target_of(target)
    question = RooflineQuestion(
        dtype=kind,
        work=None if op is None else operation(op, kind),
        flops=_plain(flops),
        bytes=_plain(bytes),
        l2_bytes=_plain(l2_bytes),
        l1_bytes=_plain(l1_bytes),
        accumulate=None if accumulate is None else _dtype(accumulate),
        sparsity=sparsity,
        unit=unit,
        clock_mhz=_plain(clock_mhz),
        ceilings=_ceilings(ceilings, one),
        time_s=_plain(time_s),
    )
    return answer(one, question).bound


def gemm(
    target: TargetLike,
    *,
    m: int,
    n: int,
    k: int,
    dtype: str | DType,
    tile: tuple[int, int, int] | None = None,
    warp: tuple[int, int, int] | None = None,
    stages: int | None = None,
    instruction: tuple[int, int, int] | None = None,
    cluster: tuple[int, int] = (1, 1),
    split_k: int = 1,
    swizzle: int = 1,
    regs: int | None = None,
    accumulate: str | DType | None = None,
    out: str | DType | None = None,
    clock_mhz: float | None = None,
    ceilings: str | Path | Ceilings | None = None,
) -> GemmEstimate:
    """A matrix product with the tiles that compute it.

    Args:
        target: product; a capability has no peaks.
        m: rows of A and C.
        n: columns of B and C.
        k: columns of A, rows of B.
        dtype: of A and B.
        tile: of a block, m, n and k; None: the best-ranked tiling.
        warp: of a warp; together with ``tile``.
        stages: slices of k in shared memory; None: 3, or 2 before 8.0.
        instruction: its m, n and k; None: the usual one of a warp.
        cluster: blocks along m and n that load together.
        split_k: blocks that share a tile's k; 0: stream-K.
        swizzle: width of the bands in which tiles come, in tiles.
        regs: registers per thread, where they are known; None: an estimate.
        accumulate: type of the sums; None: f32, f64 for f64, s32 for integers.
        out: type of C; None: that of A, f16 for narrower floats, s32 for integers.
        clock_mhz: of the SMs, instead of the product's own.
        ceilings: measured ones, as in ``roofline``.

    Raises:
        UnknownTarget: no product of the database.
        UsageError: sizes that are none or that no kernel can have, or a missing roof.
        InputError: a file that holds no ceilings.

    >>> e = gemm("h100", m=4096, n=4096, k=4096, dtype="f16", tile=(128, 128, 32),
    ...          warp=(64, 64, 32), stages=3)
    >>> e.block.warps, e.block.threads, e.block.stage_bytes, e.block.shared_bytes
    (4, 128, 16384, 49152)
    """
    from perfkit.analysis.gemm import GemmQuestion
    from perfkit.analysis.gemm_best import estimate_or_best
    from perfkit.analysis.roofline import RooflineQuestion

    one = target_of(target)
    roofs = RooflineQuestion(
        dtype=_dtype(dtype),
        accumulate=None if accumulate is None else _dtype(accumulate),
        clock_mhz=_plain(clock_mhz),
        ceilings=_ceilings(ceilings, one),
    )
    question = GemmQuestion(
        m=_plain(m),
        n=_plain(n),
        k=_plain(k),
        roofs=roofs,
        out=None if out is None else _dtype(out),
        swizzle=_plain(swizzle),
        regs=_plain(regs),
        instruction=None if instruction is None else _triple(instruction, "instruction"),
    )
    return estimate_or_best(
        one,
        question,
        None if tile is None else _triple(tile, "tile"),
        None if warp is None else _triple(warp, "warp"),
        _plain(stages),
        _pair(cluster),
        _plain(split_k),
    )


def _plain(value: Any) -> Any:
    """A scalar of NumPy as a number of Python; it would take its precision into the answer."""
    is_scalar = type(value).__module__ == "numpy" and getattr(value, "ndim", 1) == 0
    return value.item() if is_scalar else value


def _triple(sizes: Any, name: str) -> tuple[int, int, int]:
    if isinstance(sizes, str) or not isinstance(sizes, Sequence) or len(sizes) != 3:
        raise UsageError(f"{name} = {sizes!r}: must be three sizes", hint="write (128, 128, 32)")
    return _plain(sizes[0]), _plain(sizes[1]), _plain(sizes[2])


def _pair(sizes: Any) -> tuple[int, int]:
    if isinstance(sizes, str) or not isinstance(sizes, Sequence) or len(sizes) != 2:
        raise UsageError(f"cluster = {sizes!r}: must be two sizes", hint="write (2, 1)")
    return _plain(sizes[0]), _plain(sizes[1])


def _dtype(name: str | DType) -> DType:
    if not isinstance(name, str):
        raise UsageError(f"{name!r} is not a data type", hint='write "f16"')
    return DType.parse(name)


def _ceilings(given: str | Path | Ceilings | None, target: Target) -> tuple[Ceilings, ...]:
    if given is None:
        return ()
    from perfkit.readers.ceilings import read

    found = read(given) if isinstance(given, str | Path) else given
    if target.gpu is not None and found.gpu != target.gpu.key:
        raise UsageError(f"{found.origin}: the ceilings of {found.gpu}, not of {target.label}")
    return (found,)
