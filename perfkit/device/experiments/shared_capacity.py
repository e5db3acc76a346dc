"""The shared memory that an SM is configured with, against Nsight Compute.

Nothing but a profiler shows it. Two of three launches lie just beside a size at which the
prediction changes, half of all have a preference.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from perfkit.analysis.shared_capacity import configured_shared_bytes
from perfkit.analysis.validation import Pair, Tally
from perfkit.device.backend import launch_1d
from perfkit.device.experiments.resident_kernels import (
    NOTE_BYTES,
    SLOTS,
    VALUES_BYTES,
    Variant,
    load,
)
from perfkit.device.experiments.trial import Ledger
from perfkit.device.profiler import profiled, same_number, value
from perfkit.errors import Unavailable

if TYPE_CHECKING:
    from perfkit.arch.types import Capability
    from perfkit.device.experiments.trial import Trial
    from perfkit.readers.ncu import Profile

_CONFIG: Final = "launch__shared_mem_config_size"
_METRICS: Final = (_CONFIG, "launch__registers_per_thread")
_REGISTERS: Final = (24, 32, 40, 48, 56, 64, 72, 80, 96, 112, 128, 144, 168, 200, 232, 255)
_BLOCKS_PER_SM: Final = (0, 1, 10)  #: 0: a single block
_STAY_NS: Final = 1000
#: ncu rounds when it scales units
_ROUNDING: Final = 0.01


class Asked(NamedTuple):
    """One launch. ``carveout`` in percent; -1: no preference."""

    regs: int
    threads: int
    dynamic: int
    carveout: int
    blocks_per_sm: int

    def predicted(self, capability: Capability) -> int:
        """Bytes."""
        found = configured_shared_bytes(
            capability, self.threads, self.regs, self.dynamic, self.carveout
        )
        return int(found)

    def __str__(self) -> str:
        """For a report."""
        carveout = "no preference" if self.carveout < 0 else f"carveout {self.carveout}%"
        return f"{self.threads} threads, {self.regs} registers, {self.dynamic} B shared, {carveout}"


def drawn(capability: Capability, chance: random.Random, count: int) -> list[Asked]:
    """``count`` launches that fit, half of them with a preference."""
    return [_anywhere(capability, chance, preferred=i % 2 == 0) for i in range(count)]


def _anywhere(capability: Capability, chance: random.Random, *, preferred: bool) -> Asked:
    import numpy as np

    top = capability.shared_memory.max_per_block_optin_bytes
    unit = capability.shared_memory.allocation_unit_bytes
    sizes = np.arange(0, top + 1, unit)
    while True:
        regs = chance.choice(_REGISTERS)
        threads = 32 * chance.randint(1, chance.choice((4, 8, 32)))
        carveout = chance.randint(0, 100) if preferred else -1
        capacity = configured_shared_bytes(capability, threads, regs, sizes, carveout)
        if not capacity[0]:
            continue  # not even without shared memory
        edges = np.flatnonzero(np.diff(capacity))
        if len(edges) and chance.random() < 0.67:
            # the change is after this size: a little less to a little more than one unit
            dynamic = int(sizes[chance.choice(edges)]) + chance.randint(-unit, 2 * unit)
        else:
            dynamic = int(top * chance.random() ** chance.choice((1, 2, 4)))
        dynamic = min(max(dynamic, 0), top)
        asked = Asked(regs, threads, dynamic, carveout, chance.choice(_BLOCKS_PER_SM))
        if asked.predicted(capability):
            return asked


def listed(trial: Trial) -> list[Asked]:
    """The same in the process that launches and in the one that compares."""
    return drawn(trial.target.capability, trial.chance, trial.count(2200, 200))


def launch(trial: Trial) -> int:
    """Run the launches, for a profiler to watch."""
    import numpy as np

    card, launches = trial.card, listed(trial)
    functions = load(card, [Variant(registers=count) for count in _REGISTERS])
    by_registers = dict(zip(_REGISTERS, functions, strict=True))
    for function in functions:
        function.allow_dynamic(trial.capability.shared_memory.max_per_block_optin_bytes)
    note, values = card.allocate(NOTE_BYTES), card.allocate(VALUES_BYTES)
    card.fill(note, 0)
    card.fill(values, 0)
    arguments = (note, np.uint32(SLOTS), np.uint64(_STAY_NS), values, np.uint64(0))
    for asked in launches:
        function = by_registers[asked.regs]
        function.prefer_carveout(asked.carveout)
        blocks = max(1, asked.blocks_per_sm * card.device.sm_count)
        card.launch(function, launch_1d(blocks, asked.threads, asked.dynamic), arguments)
        card.wait()
    return len(launches)


def shared_capacity(trial: Trial) -> Iterator[Tally]:
    """Launch under the profiler and compare."""
    capability = trial.target.capability
    if not capability.shared_memory.configurable:
        yield Tally(nothing="shared memory is dedicated on this GPU: there is nothing to configure")
        return
    profiles = profiled("launch", trial.arguments(), kernels="resident", metrics=_METRICS)
    yield held(capability, listed(trial), profiles)


def held(capability: Capability, launches: Sequence[Asked], profiles: Sequence[Profile]) -> Tally:
    """What the profiler saw against what is predicted.

    Raises:
        Unavailable: the profiler saw other launches.
    """
    same_number(len(launches), profiles)
    ledger = Ledger()
    for asked, profile in zip(launches, profiles, strict=True):
        threads = profile.block[0] if profile.block else None
        if threads not in {None, asked.threads} or value(profile, _METRICS[1]) != asked.regs:
            raise Unavailable(f"ncu saw another launch than {asked}")
        found, expected = value(profile, _CONFIG), asked.predicted(capability)
        agrees = abs(found - expected) <= _ROUNDING * expected
        kind = "without a preference" if asked.carveout < 0 else "with a preference"
        ledger.add(kind)
        ledger.add(f"{kind}, differ", int(not agrees))
        predicted, measured = (f"{size / 1024:.4g} KiB" for size in (expected, found))
        pair = Pair(what="shared memory", predicted=expected, measured=found, unit="B")
        ledger.compare(predicted, measured, str(asked), agrees=agrees, pair=pair)
    return ledger.tally()
