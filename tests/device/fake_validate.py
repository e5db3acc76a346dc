"""A card whose SMs follow perfkit's own rules, or one that a test plants."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np

from perfkit.analysis.fits import fits
from perfkit.analysis.obstacles import ResourceDemand
from perfkit.analysis.validation import verdict
from perfkit.device.experiments.access_counters import TOGETHER
from perfkit.device.experiments.checks import check
from perfkit.device.experiments.patterns import LANES
from perfkit.device.experiments.trial import Trial
from perfkit.device.properties import Device, read_device, target_of
from perfkit.errors import DeviceError
from perfkit.models.banks import shared_access
from perfkit.models.cluster import active_clusters
from perfkit.models.inverse import available_smem, max_potential_block_size
from perfkit.models.occupancy import occupancy
from tests.device.fakes import FakeDriver

#: registers, static shared memory, what else was compiled in
FITS_KERNELS = {
    "plain": (16, 64, {}),
    "own_shared": (16, 16_384, {}),
    "bounded": (16, 64, {"max_threads": 256}),
    "registers": (80, 64, {}),
    "many_registers": (255, 64, {}),
    "required": (16, 64, {"required_threads": 128, "required_cluster": 1}),
    "clustered": (16, 64, {"required_cluster": 4}),
    "large": (16, 0, {}),
}


@dataclass
class Rules:
    """What the card does; tests put their own in the place of one."""

    resident: Callable[..., int] = lambda found, **_: found
    driver: Callable[..., int] = lambda found, **_: found
    clusters: Callable[..., int] = lambda found, **_: found
    takes: Callable[..., bool] = lambda found, **_: found
    wavefronts: Callable[..., float] = lambda found, **_: found
    arrival: Callable[..., float] = lambda **_: 0.1  #: of the last block, as a share of the time


@dataclass
class FakeMemory:
    address: int
    size_bytes: int
    data: Any


@dataclass
class FakeFunction:
    name: str
    card: Any
    registers: int = 16
    static_shared_bytes: int = 0
    local_bytes: int = 0
    max_threads: int = 1024
    carveout: int = -1
    dynamic_limit: int | None = None
    any_cluster: bool = False

    def __post_init__(self):
        if self.name.startswith("resident_"):
            registers, static, bound = (int(part[1:]) for part in self.name.split("_")[1:])
            self.registers, self.static_shared_bytes = registers or 24, static
            self.max_threads = bound or 1024
        elif self.name in FITS_KERNELS:
            self.registers, self.static_shared_bytes, compiled = FITS_KERNELS[self.name]
            self.max_threads = compiled.get("max_threads", 1024)

    @property
    def bound(self) -> int | None:
        return self.max_threads if self.max_threads < 1024 else None

    def prefer_carveout(self, percent: int) -> None:
        self.carveout = percent

    def allow_dynamic(self, dynamic_bytes: int) -> None:
        most = self.card.target.capability.shared_memory.max_per_block_optin_bytes
        if dynamic_bytes > most - self.static_shared_bytes:
            raise DeviceError("CUDA_ERROR_INVALID_VALUE")
        self.dynamic_limit = dynamic_bytes

    def allow_any_cluster(self) -> None:
        self.any_cluster = True

    def occupancy(self, threads: int, dynamic: int, rule: str) -> int:
        shared = self.card.target.capability.shared_memory
        smem = self.static_shared_bytes + dynamic
        if smem > shared.max_per_block_optin_bytes or threads > 1024:
            return 0
        found = occupancy(
            self.card.target.capability,
            threads=threads,
            regs=self.registers,
            smem=smem,
            carveout=None if self.carveout < 0 else self.carveout,
            rule=rule,
            opt_in=True,
        )
        return found.blocks_per_sm

    def blocks_per_sm(self, threads: int, dynamic_bytes: int) -> int:
        usual = 48 * 1024 - self.static_shared_bytes
        allowed = usual if self.dynamic_limit is None else self.dynamic_limit
        found = 0 if dynamic_bytes > allowed else self.occupancy(threads, dynamic_bytes, "driver")
        return self.card.rules.driver(found, threads=threads, function=self)

    def potential_block_size(self, dynamic_bytes: int) -> tuple[int, int]:
        return max_potential_block_size(
            self.card.target.capability,
            regs=self.registers,
            sm_count=self.card.device.sm_count,
            smem=self.static_shared_bytes + dynamic_bytes,
            carveout=0 if self.carveout == 0 else None,
            max_threads=self.max_threads,
        )

    def available_dynamic(self, threads: int, blocks: int) -> int | None:
        found = available_smem(
            self.card.target.capability,
            threads=threads,
            regs=self.registers,
            blocks=blocks,
            static_smem=self.static_shared_bytes,
            carveout=None if self.carveout < 0 else self.carveout,
        )
        return found + 1024  # as drivers before 13.1 do

    def active_clusters(self, launch: Any) -> int:
        found = active_clusters(
            self.card.target.capability,
            self.card.target.gpu,
            size=launch.cluster[0],
            blocks_per_sm=self.occupancy(launch.threads, launch.dynamic_bytes, "driver"),
        )
        return self.card.rules.clusters(found.active_clusters, launch=launch)


@dataclass
class FakeCard:
    """An H200, unless told otherwise."""

    device: Device = field(default_factory=lambda: read_device(0, FakeDriver()))
    rules: Rules = field(default_factory=Rules)
    launches: int = 0

    def __post_init__(self):
        self.target = target_of(self.device)
        self._memory: dict[int, FakeMemory] = {}
        self._next = 1 << 20

    def load(self, cubin: bytes, names: Any) -> tuple[FakeFunction, ...]:
        return tuple(FakeFunction(name, self) for name in names)

    def allocate(self, size_bytes: int) -> FakeMemory:
        found = FakeMemory(self._next, size_bytes, np.zeros(min(size_bytes, 1 << 24), np.uint8))
        self._memory[found.address] = found
        self._next += size_bytes + 4096
        return found

    def free(self, memory: FakeMemory) -> None:
        del self._memory[memory.address]

    def fill(self, memory: FakeMemory, byte: int) -> None:
        memory.data[:] = byte

    def write(self, memory: FakeMemory, data: Any) -> None:
        flat = data.reshape(-1).view(np.uint8)
        memory.data[: flat.size] = flat

    def read(self, memory: FakeMemory, into: Any) -> None:
        flat = into.reshape(-1).view(np.uint8)
        flat[:] = memory.data[: flat.size]

    def wait(self) -> None:
        """Everything is done when it is asked for."""

    def at(self, address: int, size: int) -> Any:
        """Bytes from ``address`` on."""
        for memory in self._memory.values():
            if memory.address <= address < memory.address + memory.size_bytes:
                start = address - memory.address
                return memory.data[start : start + size]
        raise AssertionError(f"no memory at {address}")

    def launch(self, function: FakeFunction, launch: Any, arguments: Any, stream: Any = None):
        self.launches += 1
        if function.name.startswith("resident_"):
            self._resident(function, launch, arguments)
        elif function.name in FITS_KERNELS:
            self._take_or_refuse(function, launch)
        elif function.name.startswith("timed_"):
            self._timed(function, launch, arguments)
        else:
            raise AssertionError(f"no such kernel: {function.name}")

    def _resident(self, function: FakeFunction, launch: Any, arguments: Any) -> None:
        note, slots, ns, _, _ = arguments
        sms, size = self.device.sm_count, launch.cluster[0] if launch.cluster else 1
        blocks = self.rules.resident(
            function.occupancy(launch.threads, launch.dynamic_bytes, "hardware"),
            function=function,
            launch=launch,
        )
        counts = np.full(sms, min(blocks, launch.blocks // sms), np.uint32)
        if launch.cluster:
            counts[:] = 0
            counts[0] = function.active_clusters(launch) * size
        row = self.at(int(note), 16 + 4 * int(slots))
        row[8:16] = np.array([self.rules.arrival(ns=int(ns)) * int(ns)], np.uint64).view(np.uint8)
        row[16 : 16 + 4 * sms] = counts.view(np.uint8)

    def _take_or_refuse(self, function: FakeFunction, launch: Any) -> None:
        compiled = FITS_KERNELS[function.name][2]
        cluster = launch.cluster[0] if launch.cluster else compiled.get("required_cluster", 1)
        demand = ResourceDemand(
            threads=launch.threads,
            regs=function.registers,
            static_bytes=function.static_shared_bytes,
            dynamic_bytes=launch.dynamic_bytes,
            cluster=cluster,
            **compiled,
        )
        fit = fits(self.target, demand)
        asked = {"opt_in_cluster"} if function.any_cluster else set()
        if function.dynamic_limit is not None and function.dynamic_limit >= launch.dynamic_bytes:
            asked.add("opt_in_shared")
        taken = bool(fit.launches) and {one.kind for one in fit.conditions} <= asked
        if not self.rules.takes(taken, function=function, launch=launch):
            raise DeviceError("CUDA_ERROR_INVALID_VALUE")

    def _timed(self, function: FakeFunction, launch: Any, arguments: Any) -> None:
        cycles, _, _, rounds, table = arguments
        width = int(function.name.removeprefix("timed_"))
        offsets = np.frombuffer(table, np.int32).reshape(TOGETHER, LANES)[0]
        pattern = [None if offset < 0 else int(offset) for offset in offsets]
        accesses = int(rounds) * 8 * launch.threads // LANES
        found = []
        for store in (False, True):
            expected = shared_access(width, pattern, store=store).wavefronts
            found.append(accesses * self.rules.wavefronts(expected, store=store, width=width))
        cycles.data[:16] = np.array(found, np.int64).view(np.uint8)


def trial(name: str, card: FakeCard, *, seed: int = 1, quick: bool = True) -> Trial:
    return Trial(
        name=name, seed=seed, quick=quick, opening=lambda: card, reading=lambda: card.target
    )


def sums(name: str, card: FakeCard, **options: Any):
    """What all tallies of a check add up to: status, compared, differences, figures, reason."""
    compared, differing, differences, figures, nothing = 0, 0, [], {}, None
    for tally in check(trial(name, card, **options)):
        compared += tally.compared
        differing += tally.differing
        differences += tally.differences
        figures |= tally.figures or {}
        nothing = tally.nothing or nothing
    status, reason = verdict(compared=compared, differing=differing, nothing=nothing, failed=None)
    return status, compared, differences, figures, reason


def without_compiler(monkeypatch) -> None:
    """Kernels of a fake card are their names."""
    monkeypatch.setattr(
        "perfkit.device.program.compile_for", lambda *_, **__: SimpleNamespace(cubin=b"")
    )
