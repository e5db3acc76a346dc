"""A capability or product as a flat list of facts, for showing and comparing."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any, Final

from perfkit.arch.peaks import published_key
from perfkit.arch.types import KINDS, Capability, Evidence, Gpu

#: what is about the facts, not one of them
APPARATUS: Final = frozenset({"unknown", "sources", "conflicts"})


def facts(record: Capability | Gpu) -> dict[str, Any]:
    """Path -> value, in the order of the file; absent parts (no tensor cores) as one ``None``.

    Tensor rates are one fact each: ``tensor_core.rates.full.f16/f32``.

    >>> import perfkit
    >>> facts(perfkit.capability("9.0"))["limits.max_warps_per_sm"]
    64
    """
    found: dict[str, Any] = {}
    for field in fields(record):
        if field.name not in APPARATUS:
            _add(found, field.name, getattr(record, field.name))
    return found


def _add(found: dict[str, Any], path: str, value: Any) -> None:
    if path.endswith(".rates"):
        for rate in value:
            operands = f"{rate.rate_class}.{rate.dtype}/{rate.accumulate}"
            found[f"{path}.{operands}"] = rate.fma_per_clock_per_sm
    elif is_dataclass(value):
        for field in fields(value):
            _add(found, f"{path}.{field.name}", getattr(value, field.name))
    else:
        found[path] = value


def evidence(record: Capability | Gpu, path: str) -> tuple[Evidence, ...]:
    """Every source that is listed for a fact."""
    return tuple(
        source
        for source in record.sources
        if any(path == listed or path.startswith(f"{listed}.") for listed in source.facts)
    )


def kinds(record: Capability | Gpu) -> dict[str, str]:
    """Fact -> the strongest kind of its evidence, of every fact that has a value and a source.

    Published peaks are one fact each: ``published.f16/f32/dense/tensor``.
    """
    found = facts(record)
    for row in found.pop("published", ()):
        found[f"published.{'/'.join(published_key(row))}"] = row
    kinds = {
        path: [source.kind for source in evidence(record, path)]
        for path, value in found.items()
        if value is not None
    }
    return {path: min(given, key=KINDS.index) for path, given in kinds.items() if given}
