"""Bounds asked for by name, as ``import perfkit`` offers them; the rest is imported when asked."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from perfkit.arch import catalog
from perfkit.arch.types import Capability, Gpu, Target
from perfkit.errors import InputError, UnknownTarget, UsageError
from perfkit.kernel import DType

if TYPE_CHECKING:
    from perfkit.models.roofline import Bound
    from perfkit.models.roofs import Ceilings


def roofline(
    target: str | Capability | Gpu | Target,
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
        ceilings: measured ones: a ``perfkit.ceilings/1`` file, or what ``analysis.ceilings.parse``
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
    from perfkit.analysis.roofline import Question
    from perfkit.analysis.roofline import roofline as answer
    from perfkit.models.operations import operation

    kind, one = _dtype(dtype), _one(target)
    question = Question(
        dtype=kind,
        work=None if op is None else operation(op, kind),
        flops=flops,
        bytes=bytes,
        l2_bytes=l2_bytes,
        l1_bytes=l1_bytes,
        accumulate=None if accumulate is None else _dtype(accumulate),
        sparsity=sparsity,
        unit=unit,
        clock_mhz=clock_mhz,
        ceilings=_ceilings(ceilings, one),
        time_s=time_s,
    )
    return answer(one, question).bound


def _dtype(name: str | DType) -> DType:
    if not isinstance(name, str):
        raise UsageError(f"{name!r} is not a data type", hint='write "f16"')
    return DType.parse(name)


def _ceilings(given: str | Path | Ceilings | None, target: Target) -> tuple[Ceilings, ...]:
    if given is None:
        return ()
    found = _read(given) if isinstance(given, str | Path) else given
    if target.gpu is not None and found.gpu != target.gpu.key:
        raise UsageError(f"{found.origin}: the ceilings of {found.gpu}, not of {target.label}")
    return (found,)


def _read(path: str | Path) -> Ceilings:
    from perfkit.analysis.ceilings import parse

    try:
        text = Path(path).read_bytes()
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise InputError(f"cannot be read: {reason}", where=str(path)) from None
    return parse(text, str(path))


def _one(target: str | Capability | Gpu | Target) -> Target:
    """Exactly one target; whether it has to be a product, the question decides."""
    if isinstance(target, Target):
        return target
    if isinstance(target, Gpu):
        owner = catalog.capability(str(target.compute_capability))
        return Target(label=target.key, capability=owner, gpu=target)
    if isinstance(target, Capability):
        return Target(label=str(target.compute_capability), capability=target, gpu=None)
    found = catalog.targets(target)
    if len(found) != 1:
        labels = ", ".join(one.label for one in found)
        raise UnknownTarget(f"{target!r} is several targets", hint=f"name one of: {labels}")
    return found[0]
