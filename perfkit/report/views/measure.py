"""``analysis.measurement`` -> document and JSON content."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from perfkit.analysis.diagnose import worth_a_look
from perfkit.analysis.environment import told
from perfkit.analysis.measurement import Listed, Verdict
from perfkit.report.document import Cell, Column, Document, Table
from perfkit.report.views import measure_cards
from perfkit.report.views.diagnose_texts import TEXTS
from perfkit.units import format_count, format_seconds

if TYPE_CHECKING:
    from perfkit.analysis.measurement import Checked, Device, Failed, Measurement, MeasureReport

_COLUMNS: Final = (
    Column("name", "kernel"),
    Column("median_s", "time", "seconds"),
    Column("spread", "+-"),
    Column("bound_s", "least time", "seconds"),
    Column("bound_by", "bound by", "names"),
    Column("share_of_bound", "of it", "ratio"),
    Column("expected", "expected"),
    Column("reached", "reached"),
    Column("occupancy", "occupancy", "ratio"),
    Column("result", "result"),
    Column("verdict", "verdict"),
)
_FLAT: Final = (
    *(Column(key, key) for key in ("device", "name", "median_s", "low_s", "high_s", "bound_s")),
    *(Column(key, key) for key in ("expected_s", "ratio", "bytes_per_s", "flop_per_s")),
    *(Column(key, key) for key in ("occupancy", "result", "verdict", "runs", "sm_clock_hz")),
)
_FASTER: Final = (
    "faster than the bound: its data came from L2, or FLOP, bytes or a peak are not what was "
    "assumed"
)


def document(report: MeasureReport) -> Document:
    """A table for each card, and what there is to say about its rows."""
    notes = [*told([(device.environment, _notes(device)) for device in report.devices])]
    if any(one.occupancy is not None for one in report.all):
        notes.append("occupancy is the driver's, of resident warps: not measured")
    notes += measure_cards.notes(report)
    if report.interrupted:
        notes.append("interrupted: what was done by then is shown")
    return Document(
        tables=(*map(_table, report.devices), *measure_cards.tables(report)),
        notes=tuple(notes),
        flat=_flat_table(report),
    )


def _flat_table(report: MeasureReport) -> Table:
    columns = _FLAT if len(report.devices) < 2 else (Column("index", "index"), *_FLAT)
    rows = (flat(device, one) for device in report.devices for one in device.measurements)
    return Table(
        columns=columns, rows=tuple(tuple(row[column.key] for column in columns) for row in rows)
    )


def _table(device: Device) -> Table:
    about = device.environment
    rows = tuple(
        (
            one.name,
            one.median_s,
            _spread(one),
            *_bound(one),
            1 / one.ratio if one.ratio else None,
            _expected(one),
            _reached(one),
            one.occupancy,
            _result(one),
            one.verdict.value,
        )
        for one in device.measurements
    )
    title = f"{about.name}, driver {about.driver or 'unknown'}, bounds by {device.basis}"
    return Table(title=title, columns=_COLUMNS, rows=rows).without_empty_columns()


def _bound(one: Measurement) -> tuple[float | None, tuple[str, ...] | None]:
    found = one.prediction
    if found is None or found.bound_s is None or not one.runs:
        return None, None
    return found.bound_s, found.bound_by


def _spread(one: Measurement) -> Cell | None:
    """Half of the interval, of the time."""
    if one.interval_s is None or not one.median_s:
        return None
    low, high = one.interval_s
    half = (high - low) / 2 / one.median_s
    return Cell(half, f"{half * 100:.2g}%")


def _expected(one: Measurement) -> Cell | None:
    """The time expected where it is not the bound, and how far off that is."""
    found = one.prediction
    if found is None or found.expected_s is None or one.ratio_expected is None:
        return None
    if found.bound_s is not None and found.expected_s <= found.bound_s * 1.001:
        return None
    off = one.ratio_expected - 1
    return Cell(found.expected_s, f"{format_seconds(found.expected_s)} ({off:+.1%})")


def _reached(one: Measurement) -> Cell | None:
    """The rate of what decides: operations, bytes, or the time of one load of a chain."""
    if one.median_s is None:
        return None
    if one.hops:
        each = one.median_s / one.hops
        return Cell(each, f"{format_seconds(each)} a load")
    by = one.prediction.bound_by if one.prediction else ()
    if one.flop_per_s and (set(by) & {"simt", "tensor"} or not one.bytes_per_s):
        return Cell(one.flop_per_s, format_count(one.flop_per_s, "FLOP/s"))
    bound = one.prediction.bound if one.prediction else None
    caches = [load for load in bound.loads if load.name in {*by} & {"l1", "l2"}] if bound else []
    if caches:
        passed = caches[0].amount / one.median_s
        return Cell(passed, f"{format_count(passed, 'B/s')} in {caches[0].name.upper()}")
    rate = one.bytes_per_s
    return None if rate is None else Cell(rate, format_count(rate, "B/s"))


def _result(one: Measurement) -> str | None:
    if one.is_wrong:
        return "WRONG"
    return "right" if one.checks else None


def _notes(device: Device) -> Iterator[str]:
    yield from device.environment.notes
    yield from device.missing
    if device.failure is not None:
        yield f"nothing more could be measured: {_why(device.failure)}"
    for one in device.measurements:
        yield from (f"{one.name}: {text}" for text in _about(one))
    for rest_s in dict.fromkeys(one.rest_s for one in device.measurements if one.rest_s):
        yield bursts(rest_s)


def bursts(rest_s: float) -> str:
    """What times after rests are."""
    return f"the card rested {format_seconds(rest_s)} before each burst: not the rate that lasts"


def _about(one: Measurement) -> Iterator[str]:
    if one.failure is not None:
        yield _why(one.failure)
        if not one.runs:
            return
    for check in one.checks:
        if not check.right:
            yield _wrong(check)
    if one.verdict is Verdict.FASTER:
        yield _FASTER
    if one.verdict is Verdict.BELOW:
        yield from _hints(one)
    if one.prediction is not None:
        yield from one.prediction.missing
    yield from one.notes


def _hints(one: Measurement) -> Iterator[str]:
    """Why it may be below its bound, the first two that the rules find."""
    found = one.diagnosis()
    if found is None:
        return
    for finding in list(worth_a_look(found))[:2]:
        words = TEXTS[finding.symptom]
        yield f"{words.symptom} ({words.cause}): {words.check}"


def _why(failure: Failed) -> str:
    return failure.message + (f" ({failure.hint})" if failure.hint else "")


def _wrong(check: Checked) -> str:
    if check.unwritten:
        return f"WRONG: {check.unwritten:,} elements of {check.output} were not written"
    where = f", worst at element {check.at}" if check.at is not None else ""
    return (
        f"WRONG: {check.output} is off by {check.error:.2g} of its size, allowed is "
        f"{check.tolerance:g}{where}"
    )


def flat(device: Device, one: Measurement) -> dict[str, Any]:
    low, high = one.interval_s or (None, None)
    clocks = [run.sm_clock_hz for run in one.counted if run.sm_clock_hz]
    return {
        "index": device.environment.index,
        "device": device.environment.device,
        "name": one.name,
        "median_s": one.median_s,
        "low_s": low,
        "high_s": high,
        "bound_s": one.prediction.bound_s if one.prediction else None,
        "expected_s": one.prediction.expected_s if one.prediction else None,
        "ratio": one.ratio,
        "bytes_per_s": one.bytes_per_s,
        "flop_per_s": one.flop_per_s,
        "occupancy": one.occupancy,
        "result": _result(one),
        "verdict": one.verdict.value,
        "runs": len(one.runs),
        "sm_clock_hz": sum(clocks) / len(clocks) if clocks else None,
    }


def list_document(found: Sequence[Listed]) -> Document:
    """The library."""
    return Document(
        tables=(
            Table(
                columns=(
                    Column("name", "kernel"),
                    Column("group", "group"),
                    Column("summary", "what"),
                    Column("sizes", "sizes"),
                ),
                rows=tuple(
                    (
                        one.name,
                        one.group,
                        one.summary,
                        " ".join(f"{name}={value}" for name, value in one.sizes.items()),
                    )
                    for one in found
                ),
            ),
        )
    )


def list_content(found: Sequence[Listed]) -> dict[str, Any]:
    return {"kernels": [asdict(one) for one in found]}
