"""What a roofline does not say by itself, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from perfkit.analysis.roofline import Roofline
from perfkit.models.roofline import MEMORY, Load
from perfkit.models.roofs import Roof
from perfkit.models.work import product_type
from perfkit.units import format_bytes, format_ratio

#: more names than anybody reads
_READABLE: Final = 12


def notes(r: Roofline) -> list[str]:
    """Of one product, which they do not name."""
    return [*_result(r), *_roof(r), *_cache(r), *_beyond(r)]


def _result(r: Roofline) -> list[str]:
    """The type of what is written decides the bytes, and nobody named it."""
    work = r.question.work
    if work is None or work.out == work.dtype or work.out != product_type(work.dtype):
        return []
    other = f"',out={work.dtype}' at the end of the operation"
    return [f"the result is taken to be {work.out}; another type: {other}"]


def merged(
    found: Sequence[tuple[str, Sequence[str]]], left_out: Mapping[str, str]
) -> tuple[str, ...]:
    """Every note once, after the products that it holds for; then what was left out, and why."""
    labels: dict[str, list[str]] = {}
    for label, texts in found:
        for text in texts:
            labels.setdefault(text, []).append(label)
    reasons: dict[str, list[str]] = {}
    for label, reason in left_out.items():
        reasons.setdefault(reason, []).append(label)
    return (
        *(text if len(found) == 1 else f"{', '.join(of)}: {text}" for text, of in labels.items()),
        *(f"left out, {reason}: {_listed(of)}" for reason, of in reasons.items()),
    )


def _listed(labels: Sequence[str]) -> str:
    return ", ".join(labels) if len(labels) <= _READABLE else f"{len(labels)} products"


def _roof(r: Roofline) -> list[str]:
    """Which roof was meant, where another was as likely."""
    if r.roof is None:
        return []
    found = []
    if r.stored_only:
        found.append(
            f"no {r.question.dtype} arithmetic here: it is the type in memory, the arithmetic is "
            f"{r.roof.dtype}"
        )
    if r.question.accumulate is None and r.roof.unit == "tensor":
        same = [o.roof for o in r.options if o.roof.sparsity == r.roof.sparsity]
        # a measured rate beside one of the data sheet says nothing about the types
        same = [roof for roof in same if _is_measured(roof) is _is_measured(r.roof)]
        faster = max(same, key=lambda roof: roof.flop_per_s)
        if faster.flop_per_s > r.roof.flop_per_s:
            ratio = faster.flop_per_s / r.roof.flop_per_s
            found.append(
                f"accumulation in {r.roof.accumulate}, as nothing else was asked for; the rate in "
                f"{faster.accumulate} is {ratio:.3g} times as high"
            )
    if r.question.work is None and r.bound.bytes is None:
        found.append("no bytes were given, so that memory is left out")
    if r.roof.sparsity == "sparse":
        found.append("the sparse rate counts the zeros of 2:4 sparsity as work")
    return found


def _is_measured(roof: Roof) -> bool:
    return roof.basis == "measured"


def _cache(r: Roofline) -> list[str]:
    gpu, moved = r.target.gpu, r.bound.bytes
    l2 = gpu.memory.l2_bytes if gpu else None
    if l2 is None or moved is None or moved > l2 or "dram" not in r.bound.limited_by:
        return []
    size = format_bytes(l2)
    return [
        f"the data fit into the L2 cache, {size}: a repeated run can be faster than DRAM allows"
    ]


def _beyond(r: Roofline) -> list[str]:
    """Why a measurement can be beyond the bound: that is told, never cut off."""
    if r.bound.measured is None:
        return []
    measured_s = r.bound.measured.time_s
    return [
        _explained(r, load, load.time_s / measured_s)
        for load in r.bound.loads
        if load.time_s is not None and load.time_s > measured_s
    ]


def _explained(r: Roofline, load: Load, times: float) -> str:
    share = format_ratio(times)
    if load.basis == "measured":
        return f"{share} of a measured ceiling: {load.name} can do more than was measured"
    if load.kind == MEMORY:
        why = "part of the data was in a cache, or the bytes are counted too high"
        return f"{share} of what {load.name} can deliver: {why}"
    if load.clock_hz is None:
        return f"{share} of the peak: the FLOP are counted too high, or the figure is too low"
    peak = f"{share} of the peak at {load.clock_hz / 1e6:g} MHz"
    if r.question.clock_mhz is not None:
        return f"{peak}: the clock was higher than that, or the FLOP are counted too high"
    least = load.clock_hz * times / 1e6
    why = f"the SMs ran at {least:.0f} MHz or more, or the FLOP are counted too high"
    return f"{peak}: {why}; --clock-mhz takes the clock of the run"
