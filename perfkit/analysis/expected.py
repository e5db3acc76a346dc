"""The time to expect of a launch: its bound, less what is known to stay short of the best rates.

DRAM has the rate of this mix of reads and writes, and one kind of instruction its own, where a
ceilings file knows them; L2 takes its turns, and every instruction an issue slot, where they are
counted; what each SM has its own of takes as long as the SM with most blocks; a kernel may have a
model of its own.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from perfkit.models.issue import issue_rate
from perfkit.models.l2 import TURN_BYTES
from perfkit.models.roofline import COMPUTE, DRAM
from perfkit.models.waves import unevenness

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from perfkit.analysis.prediction import Demand, Machine
    from perfkit.models.roofline import Load

#: loads of which each SM has its own share
_OF_AN_SM: Final = frozenset({"simt", "tensor", "l1"})
#: what writes are of the bytes of each mix that a ceilings file may hold
_MIXES: Final = {"read": 0.0, "triad": 1 / 3, "copy": 1 / 2, "write": 1.0}


def expected_s(
    machine: Machine, demand: Demand, loads: Sequence[Load], blocks_per_sm: int | None = None
) -> float:
    """Seconds.

    Args:
        machine: the card.
        demand: what there is to do.
        loads: of its bound; at least one has a known rate.
        blocks_per_sm: resident blocks, if they are known.
    """
    blocks = demand.blocks
    uneven = unevenness(grid=blocks, sm_count=machine.gpu.sm_count) if blocks else 1.0
    times = [uneven * _issue_s(machine, demand)]
    for load in loads:
        found = _slowed(machine, demand, load)
        if found.time_s is not None:
            times.append(found.time_s * (uneven if found.name in _OF_AN_SM else 1.0))
    if demand.model is not None:
        times.append(demand.model.expected_s(machine, blocks_per_sm) or 0.0)
    return max(times)


def _slowed(machine: Machine, demand: Demand, load: Load) -> Load:
    """A load at the rate to expect."""
    ceilings, flow = machine.ceilings, demand.flow
    if load.name == DRAM:
        more = demand.read_bytes if demand.fetched_bytes is None else demand.fetched_bytes
        load = replace(load, amount=load.amount + more - demand.read_bytes)
        mixes = ceilings.mixes if ceilings else {}
        rate = mixed(mixes, demand.write_bytes / demand.bytes) if demand.bytes else None
        return replace(load, rate_per_s=min(rate, load.rate_per_s or rate)) if rate else load
    if load.name == "l2" and demand.l2_turns is not None:
        return replace(load, amount=max(load.amount, demand.l2_turns * TURN_BYTES))
    if load.kind == COMPUTE and ceilings and flow and flow.instruction and flow.accumulate:
        rate = ceilings.instructions.get(f"{flow.dtype}/{flow.accumulate} {flow.instruction}")
        return replace(load, rate_per_s=rate) if rate else load
    return load


def _issue_s(machine: Machine, demand: Demand) -> float:
    """What the instructions take if every scheduler issues one per clock; 0: nobody knows."""
    clock_hz = machine.ceilings.clock_hz if machine.ceilings else None
    clock_hz = clock_hz or machine.gpu.boost_clock_hz
    if not demand.instructions or not clock_hz:
        return 0.0
    rate = issue_rate(machine.capability, sm_count=machine.gpu.sm_count, clock_hz=clock_hz)
    return demand.instructions / rate if rate else 0.0


def mixed(mixes: Mapping[str, float], write_share: float) -> float | None:
    """Bandwidth of a mix, between those that were measured; None without any.

    Time per byte is taken to change evenly between two of them.

    >>> round(mixed({"read": 4.0, "copy": 2.0}, 0.25), 3)
    2.667
    """
    known = sorted((_MIXES[name], rate) for name, rate in mixes.items() if name in _MIXES)
    if not known:
        return None
    below = max((one for one in known if one[0] <= write_share), default=known[0])
    above = min((one for one in known if one[0] >= write_share), default=known[-1])
    if below[0] >= above[0]:
        return below[1]
    place = (write_share - below[0]) / (above[0] - below[0])
    return 1 / ((1 - place) / below[1] + place / above[1])
