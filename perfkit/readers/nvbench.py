"""Results of nvbench, ``--json`` and ``--jsonbin``: a state of a benchmark is a benchmark here.

Three generations of the file are around. Since version 1.0.0 lists of summaries have tags, numbers
are text, and the samples lie in files of their own (little-endian ``float32``, seconds and hertz).
Before, summaries were found by their names, and numbers were numbers; in the first files states and
axes were objects as well. What a number cannot be (``"nan"``) is text or null.
"""

from __future__ import annotations

import array
import math
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from perfkit.errors import InputError
from perfkit.readers.checks import amount, checked, mapping, sequence, text
from perfkit.readers.content import beside
from perfkit.readers.results import ResultFile, Run, Unit

PREFERRED: Final = ("gpu_time", "batch_time", "cpu_time")


class Metric(NamedTuple):
    """Where a metric stands: tags, or the names of old files."""

    name: str
    unit: Unit
    centre: tuple[str, ...]
    noise: tuple[str, ...] = ()  #: relative standard deviation
    taken: tuple[str, ...] = ()  #: how many samples there were
    samples: str = ""  #: the file of the samples


_COUNT: Final = ("nv/cold/sample_size", "nv/cpu_only/sample_size")
_METRICS: Final = (
    Metric(
        "gpu_time",
        Unit.SECONDS,
        ("nv/cold/time/gpu/mean", "Average GPU Time (Cold)"),
        ("nv/cold/time/gpu/stdev/relative", "GPU Relative Standard Deviation (Cold)"),
        _COUNT,
        "nv/json/bin:nv/cold/sample_times",
    ),
    Metric(
        "cpu_time",
        Unit.SECONDS,
        ("nv/cold/time/cpu/mean", "Average CPU Time (Cold)", "nv/cpu_only/time/cpu/mean"),
        (
            "nv/cold/time/cpu/stdev/relative",
            "CPU Relative Standard Deviation (Cold)",
            "nv/cpu_only/time/cpu/stdev/relative",
        ),
        _COUNT,
    ),
    Metric(
        "batch_time",
        Unit.SECONDS,
        ("nv/batch/time/gpu/mean", "Average GPU Time (Batch)", "Average GPU Time (Hot)"),
    ),
    Metric("bytes_per_second", Unit.BYTES_PER_SECOND, ("nv/cold/bw/global/bytes_per_second",)),
    Metric("items_per_second", Unit.PER_SECOND, ("nv/cold/bw/item_rate",)),
)
_CLOCK_SAMPLES: Final = "nv/json/freqs-bin:nv/cold/sample_freqs"
_CLOCK: Final = "nv/cold/sm_clock_rate/mean"

_Summaries = dict[str, tuple[dict[str, Any], str]]  #: by tag: the entry and its place


def knows(document: object) -> bool:
    """Benchmarks with states."""
    if not isinstance(document, dict):
        return False
    found = document.get("benchmarks")
    items = [*found.values()] if isinstance(found, dict) else found
    return (
        isinstance(items, list)
        and bool(items)
        and all(isinstance(item, dict) and "states" in item for item in items)
    )


def read(document: dict[str, Any], origin: str, folder: Path) -> ResultFile:
    """One run of every state. Side files are looked for below ``folder`` only.

    Raises:
        InputError: not nvbench's structure, a number that is none, a broken side file; ``where``
            is the path inside the document.
    """
    notes: list[str] = []
    devices = {
        str(device.get("id")): device
        for item in sequence(document.get("devices"), f"{origin}: devices")
        for device in [mapping(item, f"{origin}: devices")]
    }
    states = [*_states(document, origin)]
    used = dict.fromkeys(str(state.get("device")) for _, state, _ in states)
    labels = {_device(state) for _, state, _ in states} - {""}
    measured = [devices[key] for key in used if key in devices] or [*devices.values()]
    runs: list[Run] = []
    for benchmark, state, where in states:
        name = _name(benchmark, state, one_device=len(labels) == 1)
        runs += _runs(name, state, where, folder, notes)
    return ResultFile(
        kind="nvbench",
        origin=origin,
        runs=tuple(runs),
        environment=_environment(document, measured, origin),
        notes=tuple(notes),
    )


def _named(value: object, where: str) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Entries of a list, or of an object by their keys: key, entry, place."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield key, mapping(item, f"{where}.{key}"), f"{where}.{key}"
    else:
        for i, item in enumerate(sequence(value, where)):
            yield "", mapping(item, f"{where}[{i}]"), f"{where}[{i}]"


def _states(document: dict[str, Any], origin: str) -> Iterator[tuple[str, dict[str, Any], str]]:
    for key, benchmark, where in _named(document["benchmarks"], f"{origin}: benchmarks"):
        name = text(benchmark.get("name", key), f"{where}.name")
        for label, state, place in _named(benchmark.get("states"), f"{where}.states"):
            state.setdefault("name", state.get("description", label))
            yield name, state, place


def _name(benchmark: str, state: dict[str, Any], *, one_device: bool) -> str:
    """``copy BlockSize=2^8``; the device only where there are several."""
    label = str(state.get("name") or "")
    if one_device:
        label = label.removeprefix(_device(state)).removeprefix(" ")
    return f"{benchmark} {label}" if label else benchmark


def _device(state: dict[str, Any]) -> str:
    """``Device=0``, with which the name of a state begins, or nothing."""
    first = str(state.get("name") or "").partition(" ")[0]
    return first if first.startswith("Device=") else ""


def _runs(
    name: str, state: dict[str, Any], where: str, folder: Path, notes: list[str]
) -> Iterator[Run]:
    reason = None
    if state.get("is_skipped"):
        reason = f"skipped: {state.get('skip_reason') or 'no reason given'}"
    summaries: _Summaries = {
        str(entry.get("tag") or key): (entry, place)
        for key, entry, place in _named(state.get("summaries"), f"{where}.summaries")
    }
    found = [metric for metric in _METRICS if any(tag in summaries for tag in metric.centre)]
    if reason or not found:
        yield Run(
            benchmark=name,
            values=(),
            unit=Unit.SECONDS,
            metric=PREFERRED[0],
            failure=reason or "no time in the file",
            source=where,
        )
        return
    clocks = _samples(summaries, _CLOCK_SAMPLES, folder, notes)
    clock = sum(clocks) / len(clocks) if clocks else _value(summaries, (_CLOCK,))
    for metric in found:
        mean = _value(summaries, metric.centre)
        count = _value(summaries, metric.taken)
        values = _samples(summaries, metric.samples, folder, notes)
        if values and count not in {None, len(values)}:
            notes.append(f"{where}: {count:g} samples were taken, {len(values)} are in the file")
        yield checked(
            Run(
                benchmark=name,
                values=values or (() if mean is None else (mean,)),
                unit=metric.unit,
                metric=metric.name,
                spread=_value(summaries, metric.noise),
                samples=int(count) if count is not None and 0 < count < 2**63 else None,
                clock_hz=clock if clock is not None and 0 < clock < math.inf else None,
                failure=f"{metric.name} is null" if mean is None and not values else None,
                source=where,
            )
        )


def _value(summaries: _Summaries, tags: tuple[str, ...]) -> float | None:
    """The number of the first tag that is there; None: none is, or it is null."""
    found = next((summaries[tag] for tag in tags if tag in summaries), None)
    if found is None:
        return None
    value, place = _field(*found, "value")
    return None if value is None else amount(value, place)


def _field(entry: dict[str, Any], where: str, name: str) -> tuple[object, str]:
    """A field of a summary, whatever generation: its value and its place."""
    if isinstance(first := entry.get(name), dict):  # the first generation: by name
        return first.get("value"), f"{where}.{name}.value"
    kind = "data" if "data" in entry else "values"
    for i, item in enumerate(sequence(entry.get(kind), f"{where}.{kind}")):
        place = f"{where}.{kind}[{i}]"
        if mapping(item, place).get("name") == name:
            return item.get("value"), f"{place}.value"
    return None, f"{where}.{kind}: {name}"


def _samples(summaries: _Summaries, tag: str, folder: Path, notes: list[str]) -> tuple[float, ...]:
    """The numbers of a side file, or none where the file was not brought along.

    Raises:
        InputError: it has not the size that the document says.
    """
    if tag not in summaries:
        return ()
    entry, where = summaries[tag]
    name, named = _field(entry, where, "filename")
    size, sized = _field(entry, where, "size")
    count = amount(size, sized)
    data = beside(folder, text(name, named))
    if data is None:
        notes.append(f"{where}: {name} is not beside the file; its summary is taken")
        return ()
    if len(data) != 4 * count:
        raise InputError(
            f"{name} holds {len(data)} bytes, {count:g} samples would be {4 * count:g}", where=where
        )
    numbers = array.array("f", data)
    if sys.byteorder == "big":
        numbers.byteswap()
    return tuple(numbers)


def _environment(
    document: dict[str, Any], devices: list[dict[str, Any]], origin: str
) -> dict[str, str]:
    found: dict[str, str] = {}
    if devices:
        found["gpu"] = " | ".join(dict.fromkeys(str(device.get("name")) for device in devices))
    versions = [*_figures(devices, "sm_version", origin)]
    # 860 is 8.6, 1030 is 10.3
    words = [f"{version // 100:g}.{version % 100 // 10:g}" for version in versions]
    found["compute_capability"] = " | ".join(dict.fromkeys(words))
    clocks = [f"{hertz / 1e6:g}" for hertz in _figures(devices, "sm_default_clock_rate", origin)]
    found["sm_clock_mhz"] = " | ".join(dict.fromkeys(clocks))
    meta = document.get("meta")
    arguments = meta.get("argv") if isinstance(meta, dict) else None
    found["command"] = " ".join(map(str, arguments)) if isinstance(arguments, list) else ""
    return {key: value for key, value in found.items() if value}


def _figures(devices: list[dict[str, Any]], key: str, origin: str) -> Iterator[float]:
    for device in devices:
        if device.get(key) is not None:
            yield amount(device[key], f"{origin}: devices.{key}")
