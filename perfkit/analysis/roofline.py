"""The roofline of one product: which roofs and levels a piece of work is under."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from perfkit.analysis.products import product
from perfkit.errors import UsageError
from perfkit.kernel import DType
from perfkit.models.roofline import DRAM, Bound, Load, attainable, bound, ridge
from perfkit.models.roofline import positive as check_positive
from perfkit.models.roofs import (
    Ceilings,
    Level,
    Roof,
    choose,
    compute_load,
    levels,
    measured_levels,
    measured_roofs,
    memory_load,
    roofs,
)
from perfkit.record import record

if TYPE_CHECKING:
    from perfkit.arch.types import Target
    from perfkit.models.work import Work

_HERTZ: Final = 10**6
_AMOUNTS: Final = ("flops", "bytes", "l2_bytes", "l1_bytes", "time_s")
_CLOCKS_MHZ: Final = (1, 10_000)


@record
class RooflineQuestion:
    """What is asked of every product; what is ``None`` is not known, or not asked."""

    dtype: DType
    work: Work | None = None  #: a named operation; or
    flops: float | None = None  #: FLOP by hand
    bytes: float | None = None  #: through DRAM; with ``work``: instead of its compulsory traffic
    l2_bytes: float | None = None
    l1_bytes: float | None = None  #: of L1 and shared memory
    accumulate: DType | None = None
    sparsity: str = "dense"
    unit: str | None = None  #: simt | tensor
    clock_mhz: float | None = None
    ceilings: tuple[Ceilings, ...] = ()
    time_s: float | None = None  #: measured


@record
class Option:
    """Another compute roof for the same data type."""

    roof: Roof
    is_used: bool
    ridge: float | None
    attainable_flop_per_s: float | None  #: with DRAM as the only level
    time_s: float | None  #: all FLOP under this roof, DRAM as the only level


@record
class Roofline:
    """The answer for one product."""

    target: Target
    question: RooflineQuestion
    bound: Bound
    roof: Roof | None  #: that decides about the arithmetic; None: nothing is computed
    options: tuple[Option, ...]  #: every roof of the data type
    dram: Level
    stored_only: bool  #: the product cannot compute in the data type, only move it
    ceilings: Ceilings | None  #: that were used


def roofline(target: Target, question: RooflineQuestion) -> Roofline:
    """The least time of a piece of work on a product.

    Raises:
        UnknownTarget: a bare capability.
        UsageError: a roof that the product does not have, or an amount that is none.
    """
    for name in _AMOUNTS:
        if (amount := getattr(question, name)) is not None:
            check_positive(name, amount)
    ceilings = _ceilings(target, question)
    found = _roofs(target, question, ceilings)
    by_name = {level.name: level for level in _levels(target, question, ceilings)}
    compute = _compute(target, question, found)
    # every byte of DRAM passes the caches on its way to an SM
    dram = question.bytes if question.bytes is not None else _compulsory(question.work)
    through = {
        "dram": dram,
        "l2": dram if question.l2_bytes is None else question.l2_bytes,
        "l1": dram if question.l1_bytes is None else question.l1_bytes,
    }
    memory = [
        memory_load(by_name[name], amount) for name, amount in through.items() if amount is not None
    ]
    result = bound([*(load for _, load in compute), *memory], time_s=question.time_s)
    main = max(compute, key=lambda pair: pair[1].amount, default=None)
    return Roofline(
        target=target,
        question=question,
        bound=result,
        roof=main[0] if main else None,
        options=tuple(
            _option(roof, main[0], result, by_name[DRAM])
            for roof in found
            if roof.dtype == main[0].dtype
        )
        if main
        else (),
        dram=by_name[DRAM],
        stored_only=all(roof.dtype != question.dtype for roof in found),
        ceilings=ceilings,
    )


def roof_and_levels(target: Target, question: RooflineQuestion) -> tuple[Roof, dict[str, Level]]:
    """The compute roof and the memory levels, by name, of matrix products; raises as above."""
    ceilings = _ceilings(target, question)
    roof = _choose(target, question, _roofs(target, question, ceilings))
    return roof, {level.name: level for level in _levels(target, question, ceilings)}


def _ceilings(target: Target, question: RooflineQuestion) -> Ceilings | None:
    gpu = product(target)
    if question.ceilings and question.clock_mhz is not None:
        raise UsageError(
            "a clock scales the peaks of data sheets; measured ceilings hold as they are",
            hint="give --clock-mhz or --ceilings, not both",
        )
    return next((one for one in question.ceilings if one.gpu == gpu.key), None)


def _clock_hz(question: RooflineQuestion) -> int | None:
    if question.clock_mhz is None:
        return None
    check_positive("clock_mhz", question.clock_mhz)
    low, high = _CLOCKS_MHZ
    if not low <= question.clock_mhz <= high:
        raise UsageError(
            f"clock_mhz = {question.clock_mhz:g}: no GPU runs at that clock",
            hint=f"write MHz, {low} to {high}: --clock-mhz 1980",
        )
    return round(question.clock_mhz * _HERTZ)


def _roofs(
    target: Target, question: RooflineQuestion, ceilings: Ceilings | None
) -> tuple[Roof, ...]:
    found = roofs(product(target), target.capability, _clock_hz(question))
    return measured_roofs(found, ceilings)


def _levels(
    target: Target, question: RooflineQuestion, ceilings: Ceilings | None
) -> tuple[Level, ...]:
    found = levels(product(target), target.capability, _clock_hz(question))
    return measured_levels(found, ceilings)


def _choose(target: Target, question: RooflineQuestion, found: tuple[Roof, ...]) -> Roof:
    if question.clock_mhz is not None:
        published = replace(question, clock_mhz=None)
        roof = _choose(target, published, _roofs(target, published, None))
        if roof.basis == "published" and all(one.key != roof.key for one in found):
            raise UsageError(
                f"{target.label}: {roof.label} is known as a published figure only",
                hint="no clock belongs to it: leave out --clock-mhz",
            )
    return choose(
        found,
        question.dtype,
        label=target.label,
        accumulate=question.accumulate,
        sparsity=question.sparsity,
        unit=question.unit,
    )


def _compute(
    target: Target, question: RooflineQuestion, found: tuple[Roof, ...]
) -> list[tuple[Roof, Load]]:
    """Every unit's share of the work, under its roof."""
    work = question.work
    if work is None:
        flops = question.flops
        return [] if flops is None else [_under(_choose(target, question, found), flops)]
    if question.flops is not None:
        raise UsageError("a named operation knows its FLOP", hint="leave out --flops")
    pairs = []
    if work.matrix_flops:
        pairs.append(_under(_choose(target, question, found), work.matrix_flops))
    if work.vector_flops:
        roof = _vector_roof(target, question, found, is_only=not pairs)
        if pairs and pairs[0][0] == roof:
            return [_under(roof, work.flops)]
        pairs.append(_under(roof, work.vector_flops))
    if len({load.name for _, load in pairs}) < len(pairs):  # two types on the same cores
        pairs[1] = (pairs[1][0], replace(pairs[1][1], name=f"simt {pairs[1][0].dtype}"))
    return pairs


def _vector_roof(
    target: Target, question: RooflineQuestion, found: tuple[Roof, ...], *, is_only: bool
) -> Roof:
    """SIMT cores in f32, or f64 for f64; in the accumulator's type if only they compute."""
    dtype = DType.F64 if question.dtype is DType.F64 else DType.F32
    if is_only:
        dtype = question.accumulate or dtype
        if question.sparsity != "dense" or question.unit == "tensor":
            raise UsageError(
                f"{question.work.name if question.work else 'this'} runs on SIMT cores",
                hint="only products of matrices run on tensor cores, dense or sparse",
            )
    return choose(found, dtype, label=target.label, accumulate=dtype, unit="simt")


def _compulsory(work: Work | None) -> float | None:
    return None if work is None else work.bytes


def _under(roof: Roof, flops: float) -> tuple[Roof, Load]:
    return roof, compute_load(roof, flops)


def _option(roof: Roof, used: Roof, found: Bound, dram: Level) -> Option:
    memory = found.bytes / dram.bytes_per_s if found.bytes and dram.bytes_per_s else 0.0
    return Option(
        roof=roof,
        is_used=roof == used,
        ridge=ridge(roof.flop_per_s, dram.bytes_per_s),
        attainable_flop_per_s=attainable(found.intensity, roof.flop_per_s, dram.bytes_per_s),
        time_s=max(found.flops / roof.flop_per_s, memory),
    )
