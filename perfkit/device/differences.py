"""A card against the database: what agrees, what differs and what nobody can compare.

Every fact of the capability and of the product gets a row, so that "no difference" cannot come from
looking at little.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from perfkit.arch.facts import facts
from perfkit.record import record

if TYPE_CHECKING:
    from collections.abc import Callable

    from perfkit.arch.types import Target
    from perfkit.device.properties import Device


class Verdict(StrEnum):
    AGREES = "agrees"
    DIFFERS = "differs"
    NOT_COMPARED = "not compared"


@record
class Difference:
    """One fact. ``database`` and ``device`` are in the unit that the fact's path names."""

    fact: str
    verdict: Verdict
    database: Any
    device: Any  #: None: the driver does not tell
    note: str | None = None


_NO_ATTRIBUTE: Final = "the driver has no attribute for it"
_NO_ANSWER: Final = "this driver does not tell"
_NOT_KNOWN: Final = "the database does not know"


def _flag(name: str) -> Callable[[Device], Any]:
    return lambda device: device.attributes.get(name)


def _dimensions(name: str) -> Callable[[Device], Any]:
    def read(device: Device) -> tuple[int, ...] | None:
        found = [device.attributes.get(f"{name}_{axis}") for axis in "XYZ"]
        return tuple(value for value in found if value is not None) or None

    return read


def _field(name: str) -> Callable[[Device], Any]:
    return lambda device: getattr(device, name)


def _bandwidth(device: Device) -> float | None:
    """Two transfers per clock, as the memory clock is reported for every kind of DRAM."""
    if device.memory_clock_hz is None or device.memory_bus_bits is None:
        return None
    return 2 * device.memory_clock_hz * device.memory_bus_bits / 8


#: fact -> how the driver tells it
_ATTRIBUTES: Final[dict[str, Callable[[Device], Any]]] = {
    "compute_capability": _field("compute_capability"),
    "limits.warp_size": _field("warp_size"),
    "limits.max_threads_per_block": _field("max_threads_per_block"),
    "limits.max_threads_per_sm": _field("max_threads_per_sm"),
    "limits.max_warps_per_sm": _field("max_warps_per_sm"),
    "limits.max_blocks_per_sm": _field("max_blocks_per_sm"),
    "limits.max_block_dim": _dimensions("MAX_BLOCK_DIM"),
    "limits.max_grid_dim": _dimensions("MAX_GRID_DIM"),
    "registers.per_sm": _field("registers_per_sm"),
    "registers.max_per_block": _field("max_registers_per_block"),
    "shared_memory.per_sm_bytes": _field("shared_bytes_per_sm"),
    "shared_memory.max_per_block_bytes": _field("max_shared_bytes_per_block"),
    "shared_memory.max_per_block_optin_bytes": _field("max_shared_optin_bytes_per_block"),
    "shared_memory.reserved_per_block_bytes": _field("reserved_shared_bytes_per_block"),
    "sm_count": _field("sm_count"),
    "boost_clock_hz": _field("boost_clock_hz"),
    "memory.l2_bytes": _field("l2_bytes"),
    "memory.size_gib": lambda device: device.memory_bytes / 1024**3,
    "memory.bandwidth_bytes_per_s": _bandwidth,
}

#: fact -> (least and greatest ratio device / database that agrees, why not exactly 1)
_ROUNDED: Final = {
    "memory.size_gib": (0.85, 1.05, "the driver leaves out what it and ECC take"),
    "memory.bandwidth_bytes_per_s": (0.98, 1.02, "2 x memory clock x bus width; sheets round"),
}


def compare(device: Device, target: Target) -> tuple[Difference, ...]:
    """Every fact of ``target`` against ``device``, the capability's first.

    Returns:
        One row per fact, whether it could be compared or not; a bare capability has no rows for
        what only products have.
    """
    known = facts(target.capability)
    if target.gpu is not None:
        known |= {path: value for path, value in facts(target.gpu).items() if path not in known}
    rows = [_row(path, value, device) for path, value in known.items()]
    return (*rows, *_derived(device, target))


def _row(path: str, database: Any, device: Device) -> Difference:
    read = _ATTRIBUTES.get(path)
    found = read(device) if read else None
    note: str | None = None
    if read is None:
        verdict, note = Verdict.NOT_COMPARED, _NO_ATTRIBUTE
    elif found is None:
        verdict, note = Verdict.NOT_COMPARED, _NO_ANSWER
    elif database is None:
        verdict, note = Verdict.NOT_COMPARED, _NOT_KNOWN
    elif path in _ROUNDED:
        least, most, note = _ROUNDED[path]
        verdict = _verdict(least <= found / database <= most)
    else:
        verdict = _verdict(found == database)
    return Difference(fact=path, verdict=verdict, database=database, device=found, note=note)


def _verdict(agrees: bool) -> Verdict:  # noqa: FBT001
    return Verdict.AGREES if agrees else Verdict.DIFFERS


def _derived(device: Device, target: Target) -> tuple[Difference, ...]:
    """What the driver tells in a form of its own."""
    throughput = target.capability.throughput
    ratio = throughput.f32 // throughput.f64 if throughput.f32 and throughput.f64 else None
    return tuple(
        Difference(
            fact=fact,
            verdict=Verdict.NOT_COMPARED
            if found is None or database is None
            else _verdict(found == database),
            database=database,
            device=found,
            note=note,
        )
        for fact, database, found, note in (
            (
                "cluster",
                int(target.capability.cluster is not None),
                _flag("CLUSTER_LAUNCH")(device),
                "whether there are clusters at all",
            ),
            (
                "throughput.f32 / throughput.f64",
                ratio,
                _flag("SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO")(device),
                None,
            ),
        )
    )
