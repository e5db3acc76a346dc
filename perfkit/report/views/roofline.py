"""``analysis.roofline`` -> document and JSON content."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from perfkit.analysis.roofline import Option, Roofline
from perfkit.kernel import DType
from perfkit.models.roofline import Load
from perfkit.report.document import Cell, Column, Document, Table
from perfkit.report.views.arch import per_s
from perfkit.report.views.roofline_notes import merged, notes
from perfkit.units import format_count, format_traffic

Field = tuple[Column, Callable[[Roofline], Any]]

_RATE: Final = Column("", "", "rate")
_INTENSITY: Final = Column("", "", "intensity")


def _dtype(r: Roofline) -> DType:
    """Of the arithmetic, which need not be that of the data: layernorm of s8 computes in f32."""
    return r.roof.dtype if r.roof else r.question.dtype


def rate(value: float | None, dtype: DType) -> Cell | None:
    """Operations per second; those of integers are no floating point."""
    if value is None:
        return None
    return Cell(value, _RATE.text(value).replace("TFLOP/s", per_s(dtype)))


def operations(dtype: DType) -> str:
    """What is counted: ``FLOP``, or ``OP`` of integers."""
    return per_s(dtype).removeprefix("T").removesuffix("/s")


_IDENTITY: Final[tuple[Field, ...]] = (
    (Column("target", "GPU"), lambda r: r.target.label),
    (Column("roof", "roof"), lambda r: r.roof.label if r.roof else None),
)
_ANSWER: Final[tuple[Field, ...]] = (
    (
        Column("peak_flop_per_s", "peak", "rate"),
        lambda r: rate(r.bound.peak_flop_per_s, _dtype(r)),
    ),
    (Column("dram_bytes_per_s", "DRAM", "bandwidth"), lambda r: r.dram.bytes_per_s),
    (Column("ridge_flop_per_byte", "ridge point", "intensity"), lambda r: r.bound.ridge),
    (
        Column("attainable_flop_per_s", "attainable", "rate"),
        lambda r: rate(r.bound.attainable_flop_per_s, _dtype(r)),
    ),
    (Column("time_s", "least time", "seconds"), lambda r: r.bound.time_s),
    (Column("bound_by", "bound by"), lambda r: r.bound.bound_by),
    (Column("limited_by", "limited by", "names"), lambda r: r.bound.limited_by),
)


def _measured(name: str) -> Callable[[Roofline], Any]:
    def get(r: Roofline) -> Any:
        value = getattr(r.bound.measured, name) if r.bound.measured else None
        return rate(value, _dtype(r)) if name == "flop_per_s" else value

    return get


_MEASURED: Final[tuple[Field, ...]] = tuple(
    (column, _measured(name))
    for name, column in (
        ("time_s", Column("measured_time_s", "measured", "seconds")),
        ("flop_per_s", Column("measured_flop_per_s", "reached", "rate")),
        ("share_of_peak", Column("share_of_peak", "of the peak", "ratio")),
        ("dram_bytes_per_s", Column("measured_bytes_per_s", "through DRAM", "bandwidth")),
        ("share_of_bandwidth", Column("share_of_bandwidth", "of the bandwidth", "ratio")),
        ("share_of_bound", Column("share_of_bound", "of the bound", "ratio")),
    )
)
_AMOUNTS: Final[tuple[Field, ...]] = (
    (Column("flops", "FLOP", "flop"), lambda r: r.bound.flops or None),
    (Column("bytes", "bytes"), lambda r: r.bound.bytes),
    (Column("intensity_flop_per_byte", "intensity", "intensity"), lambda r: r.bound.intensity),
)


def document(found: Sequence[Roofline], left_out: Mapping[str, str]) -> Document:
    """The answer for each product; for a single one also every load and every other roof."""
    roofs = {r.roof.label for r in found if r.roof}
    identity = _IDENTITY if len(roofs) > 1 else _IDENTITY[:1]
    tables = [_table(_heading(found, roofs), (*identity, *_ANSWER), found)]
    if found[0].bound.measured:
        tables.append(_table("Measured", (*_IDENTITY[:1], *_MEASURED), found))
    if len(found) == 1:
        tables += [loads_table(found[0].bound.loads), _options(found[0].options)]
    return Document(
        tables=tuple(tables),
        notes=merged([(r.target.label, notes(r)) for r in found], left_out),
        flat=_table(None, (*_IDENTITY, *_AMOUNTS, *_ANSWER, *_MEASURED), found, keep=True),
    )


def _table(
    title: str | None, fields: tuple[Field, ...], found: Sequence[Roofline], *, keep: bool = False
) -> Table:
    table = Table(
        title=title,
        columns=tuple(column for column, _ in fields),
        rows=tuple(tuple(get(r) for _, get in fields) for r in found),
    )
    return table if keep else table.without_empty_columns()


def _heading(found: Sequence[Roofline], roofs: set[str]) -> str:
    first = found[0]
    work, bound = first.question.work, first.bound
    amounts = [
        format_count(bound.flops, operations(_dtype(first))) if bound.flops else "",
        f"{format_traffic(bound.bytes)} through DRAM" if bound.bytes is not None else "",
        _INTENSITY.text(bound.intensity) if bound.intensity else "",
        f"roof {roofs.pop()}" if len(roofs) == 1 else "",
    ]
    name = f"{work.name} in " if work else ""
    return f"{name}{first.question.dtype}: " + ", ".join(part for part in amounts if part)


def loads_table(loads: Sequence[Load]) -> Table:
    return Table(
        title="What each unit and memory level needs at least",
        columns=(
            Column("name", "unit or level"),
            Column("amount", "has to do", "flop"),
            Column("rate_per_s", "at most", "rate"),
            Column("time_s", "least time", "seconds"),
            Column("basis", "basis"),
            Column("roof", "ceiling"),
        ),
        rows=tuple((load.name, *_both(load), load.time_s, load.basis, load.roof) for load in loads),
    )


def _both(load: Load) -> tuple[Cell, Cell | None]:
    """What there is to do, and how fast it goes."""
    if load.dtype is not None:
        amount = Cell(load.amount, format_count(load.amount, operations(load.dtype)))
        return amount, rate(load.rate_per_s, load.dtype)
    amount = Cell(load.amount, format_traffic(load.amount))
    per_s = load.rate_per_s
    return amount, None if per_s is None else Cell(per_s, format_count(per_s, "B/s"))


def _options(options: Sequence[Option]) -> Table:
    """All roofs of the data type: which unit, accumulator and sparsity would change what."""
    if len(options) < 2:
        return Table(columns=(), rows=())
    return Table(
        title="Every roof of the data type",
        columns=(
            Column("roof", "roof"),
            Column("flop_per_s", "peak", "rate"),
            Column("ridge", "ridge point", "intensity"),
            Column("attainable", "attainable", "rate"),
            Column("time_s", "least time", "seconds"),
            Column("basis", "basis"),
            Column("is_used", "used", "yes"),
        ),
        rows=tuple(
            (
                option.roof.label,
                rate(option.roof.flop_per_s, option.roof.dtype),
                option.ridge,
                rate(option.attainable_flop_per_s, option.roof.dtype),
                option.time_s,
                option.roof.basis,
                option.is_used,
            )
            for option in options
        ),
    ).without_empty_columns()


def content(found: Sequence[Roofline], left_out: Mapping[str, str]) -> dict[str, Any]:
    return {
        "results": [_result(r) for r in found],
        "left_out": [{"target": label, "reason": why} for label, why in left_out.items()],
    }


def _result(r: Roofline) -> dict[str, Any]:
    gpu, work = r.target.gpu, r.question.work
    return {
        "target": r.target.label,
        "gpu": gpu.name if gpu else None,
        "compute_capability": str(r.target.capability.compute_capability),
        "operation": work.name if work else None,
        "dtype": str(r.question.dtype),
        "accumulate": str(r.roof.accumulate) if r.roof else None,
        "sparsity": r.roof.sparsity if r.roof else None,
        "unit": r.roof.unit if r.roof else None,
        "basis": r.roof.basis if r.roof else None,
        "clock_mhz": _mhz(r.roof.clock_hz) if r.roof else None,
        "flops": r.bound.flops,
        "bytes": r.bound.bytes,
        "intensity_flop_per_byte": r.bound.intensity,
        **{column.key: _raw(get(r)) for column, get in _ANSWER},
        "limited_by": list(r.bound.limited_by),
        "loads": [load_content(load) for load in r.bound.loads],
        "roofs": [_option_content(option) for option in r.options],
        "measured": _measured_content(r) if r.bound.measured else None,
        "ceilings": r.ceilings.origin if r.ceilings else None,
        "notes": notes(r),
    }


def _raw(value: Any) -> Any:
    return value.raw if isinstance(value, Cell) else value


def load_content(load: Load) -> dict[str, Any]:
    return {
        "name": load.name,
        "kind": load.kind,
        "amount": load.amount,
        "rate_per_s": load.rate_per_s,
        "time_s": load.time_s,
        "roof": load.roof,
        "basis": load.basis,
        "clock_mhz": _mhz(load.clock_hz),
    }


def _option_content(option: Option) -> dict[str, Any]:
    roof = option.roof
    return {
        "dtype": str(roof.dtype),
        "accumulate": str(roof.accumulate),
        "sparsity": roof.sparsity,
        "unit": roof.unit,
        "flop_per_s": roof.flop_per_s,
        "basis": roof.basis,
        "clock_mhz": _mhz(roof.clock_hz),
        "ridge_flop_per_byte": option.ridge,
        "attainable_flop_per_s": option.attainable_flop_per_s,
        "time_s": option.time_s,
        "is_used": option.is_used,
    }


def _measured_content(r: Roofline) -> dict[str, Any]:
    keys = (
        "time_s", "flop_per_s", "share_of_peak", "dram_bytes_per_s", "share_of_bandwidth",
        "share_of_bound",
    )  # fmt: skip
    return {key: getattr(r.bound.measured, key) for key in keys}


def _mhz(hertz: float | None) -> float | None:
    return None if hertz is None else hertz / 1e6
