"""What a command line asks to measure, as items: workloads, a kernel of the user's, Python code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

from perfkit.analysis.environment import whose
from perfkit.analysis.measurement import Listed
from perfkit.analysis.prediction import Demand, Flow
from perfkit.device.measure import Item
from perfkit.device.properties import Device, read_devices
from perfkit.device.user_code import parted
from perfkit.device.user_kernel import KernelSpec, case_of
from perfkit.device.workloads.library import cannot_run, library, named
from perfkit.errors import NoDevice, UsageError
from perfkit.files import readable

if TYPE_CHECKING:
    from perfkit.device.workload import Workload


def listed(patterns: Sequence[str]) -> tuple[Listed, ...]:
    """The workloads of those names, or all."""
    found = named(patterns) if patterns else library().values()
    return tuple(
        Listed(name=one.name, group=one.group, summary=one.summary, sizes=one.sizes)
        for one in found
    )


def of_workloads(
    patterns: Sequence[str],
    sizes: Mapping[str, int],
    *,
    cold: bool | None,
    devices: Sequence[Device],
) -> tuple[tuple[Item, ...], tuple[str, ...]]:
    """Workloads by name or pattern.

    Args:
        patterns: names; ``all`` is every one.
        sizes: in place of defaults; ``""`` stands for each workload's main size.
        cold: with an empty L2; None: as each workload has it.
        devices: where they will run.

    Returns:
        The items, and what is left out on which card, and why: a pattern may name what a card
        cannot run, and of several cards each runs what it can.

    Raises:
        UsageError: an unknown name, or sizes that one of the workloads cannot have.
    """
    items, left_out = [], []
    workloads = named(["*" if pattern == "all" else pattern for pattern in patterns])
    for workload in workloads:
        reasons: dict[str, list[Device]] = {}
        for device in devices:
            if reason := cannot_run(workload, device.compute_capability):
                reasons.setdefault(reason, []).append(device)
        without = frozenset(device.uuid for those in reasons.values() for device in those)
        nowhere = bool(without) and len(without) == len(devices)
        if nowhere and workload.name in patterns:
            raise UsageError(f"{workload.name} {next(iter(reasons))}")
        left_out += [
            f"{whose([one.index for one in those], len(devices))}{workload.name} is left out: {why}"
            for why, those in reasons.items()
        ]
        if not nowhere:
            item = _item(workload, sizes, cold=cold, one_of_many=len(workloads) > 1)
            items.append(replace(item, not_on=without))
    return tuple(items), tuple(left_out)


def _item(
    workload: Workload, sizes: Mapping[str, int], *, cold: bool | None, one_of_many: bool
) -> Item:
    mine = {name or workload.size: value for name, value in sizes.items()}
    if one_of_many:  # a block size is for those that have one
        mine = {k: v for k, v in mine.items() if k != "threads" or k in workload.sizes}
    values = workload.with_sizes(mine)
    case = workload.build(values)
    return Item(
        key=workload.name,
        name=workload.name,
        summary=workload.summary,
        sizes=values,
        cold=workload.cold if cold is None else cold,
        payload={"kind": "workload", "name": workload.name, "sizes": dict(values)},
        demand=case.demand,
        case=case,
    )


def of_kernel(spec: KernelSpec, *, cold: bool | None) -> Item:
    """A kernel of the user's.

    Raises:
        UsageError: as ``case_of``.
        InputError: one of its files is missing.
    """
    case = case_of(spec)
    if spec.reference is not None:
        _refuse_missing_module(spec.reference, "--reference")
    _refuse_missing(spec.path, *(array.file for array in case.arrays if array.file))
    return Item(
        key=spec.kernel,
        name=spec.kernel,
        summary=Path(spec.path).name,
        sizes={},
        cold=bool(cold),
        payload={"kind": "kernel", "spec": asdict(spec)},
        demand=case.demand,
        case=case,
    )


def of_python(
    function: str, *, flow: Flow | None, moved_bytes: float | None, cold: bool | None
) -> Item:
    """Python code that launches work.

    Raises:
        InputError: its file is missing.
        UsageError: it names no function.
    """
    _refuse_missing_module(function, "--python")
    return Item(
        key=function,
        name=function,
        summary="Python",
        sizes={},
        cold=bool(cold),
        payload={"kind": "python", "function": function},
        demand=Demand(read_bytes=moved_bytes or 0, flow=flow),
    )


def _refuse_missing(*paths: str) -> None:
    """Each run opens them in a process of its own: what is not there is told before the first."""
    for path in paths:
        with readable(path):
            Path(path).stat()


def _refuse_missing_module(function: str, option: str) -> None:
    """The same for ``file.py:function``; modules are Python's to find."""
    module, _ = parted(function, option)
    if module.endswith(".py"):
        _refuse_missing(module)


def devices_of(text: str) -> tuple[Device, ...]:
    """The devices of ``--device``: ``0``, ``0,1`` or ``all``.

    Raises:
        UsageError: not numbers of devices.
        Unavailable: no CUDA package, driver or device, or fewer devices than that.
    """
    if text.strip().lower() == "all":
        return read_devices()
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdigit() and len(part) < 5 for part in parts):
        raise UsageError(f"--device {text!r}: no number of a device", hint="write 0, 0,1 or all")
    there = read_devices()
    numbers = tuple(dict.fromkeys(int(part) for part in parts))
    for number in numbers:
        if number >= len(there):
            raise NoDevice(
                f"there is no device {number}: the driver offers {len(there)}",
                hint="they count from 0; CUDA_VISIBLE_DEVICES hides devices",
            )
    return tuple(there[number] for number in numbers)
