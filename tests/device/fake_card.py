"""A card of memory and time that are made up: ``perfkit.device.backend.Card`` without a GPU.

Memory is NumPy; a kernel is a function of the launch and its arguments, memory among them as bytes.
Time is a clock of the card: a launch or copy takes what ``cost`` says and begins when its stream is
free, so that streams overlap. Anything can be made to fail.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from perfkit.compiled.cache import CompiledSource
from perfkit.device import program
from perfkit.device.backend import LaunchConfig
from perfkit.device.elements import ELEMENTS, as_numbers
from perfkit.device.matrix_data import stored
from perfkit.device.nvml import CardSetup, CardState
from perfkit.device.properties import Device, read_device, target_of
from perfkit.device.workload import Case, Map, Role
from perfkit.errors import DeviceError
from perfkit.kernel import DType
from tests.device.fakes import FakeDriver, h200_attributes

COPY_BYTES_PER_S = 50e9
#: kernels of between.cu are no part of what is timed
UNTIMED = {"hold", "flush_l2"}
HOLD_S = 6e-5

Kernel = Callable[..., None]


def small_l2() -> FakeDriver:
    """An H200 whose L2 takes no time to fill."""
    return FakeDriver(values=h200_attributes() | {"L2_CACHE_SIZE": 2**20})


@dataclass(eq=False)
class FakeMemory:
    address: int
    size_bytes: int
    data: np.ndarray


@dataclass(eq=False)
class FakeFunction:
    name: str
    registers: int = 32
    static_shared_bytes: int = 0
    local_bytes: int = 0
    max_threads: int = 1024
    dynamic_allowed: int = 0

    def prefer_carveout(self, percent: int) -> None: ...

    def allow_dynamic(self, dynamic_bytes: int) -> None:
        self.dynamic_allowed = dynamic_bytes

    def allow_any_cluster(self) -> None: ...

    def blocks_per_sm(self, threads: int, dynamic_bytes: int) -> int:
        return 2048 // threads if threads <= 1024 else 0

    def available_dynamic(self, threads: int, blocks: int) -> int | None:
        return None

    def active_clusters(self, launch: LaunchConfig) -> int:
        return 60


@dataclass(eq=False)
class FakeStream:
    free_at: float = 0.0


@dataclass
class FakeCard:
    """An H200, unless told otherwise."""

    kernels: dict[str, Kernel] = field(default_factory=dict)
    cost: Callable[[str, LaunchConfig], float] = lambda name, launch: 1e-3
    fails: set[str] = field(default_factory=set)  #: kernels that fail on the card
    driver: FakeDriver = field(default_factory=small_l2)

    def __post_init__(self) -> None:
        self.device: Device = read_device(0, self.driver)
        self.memories: dict[int, FakeMemory] = {}
        self.launched: list[tuple[str, LaunchConfig]] = []
        self.most_bytes = 0
        self._places = count(1)
        self._own = FakeStream()
        self._broken = False
        self.kernels = {"fill_random": _fill_random, "count_poison": _count_poison} | self.kernels

    @property
    def target(self):
        return target_of(self.device)

    def load(self, cubin, names):
        return tuple(FakeFunction(name) for name in names)

    def allocate(self, size_bytes):
        if size_bytes > self.device.memory_bytes:
            raise DeviceError("allocating fails: CUDA_ERROR_OUT_OF_MEMORY")
        memory = FakeMemory(next(self._places) << 40, size_bytes, np.zeros(size_bytes, np.uint8))
        self.memories[memory.address] = memory
        self.most_bytes = max(self.most_bytes, sum(m.size_bytes for m in self.memories.values()))
        return memory

    allocate_pinned = allocate

    def free(self, memory):
        assert not self._broken, "nothing can be freed after a failure"
        del self.memories[memory.address]

    def view(self, memory) -> np.ndarray:
        """The bytes of memory, or of a part of it."""
        owner = self.memories[memory.address >> 40 << 40]
        begin = memory.address - owner.address
        assert begin + memory.size_bytes <= owner.size_bytes, "beyond the end"
        return owner.data[begin : begin + memory.size_bytes]

    def write(self, memory, data):
        raw = np.ascontiguousarray(data).view(np.uint8).ravel()
        self.view(memory)[: raw.size] = raw

    def read(self, memory, into):
        self.wait()
        raw = into.view(np.uint8).ravel()
        raw[:] = self.view(memory)[: raw.size]

    def copy(self, to, source, size_bytes, stream=None):
        self.view(to)[:size_bytes] = self.view(source)[:size_bytes]
        (stream or self._own).free_at += size_bytes / COPY_BYTES_PER_S

    def fill(self, memory, byte):
        self.view(memory)[:] = byte

    def launch(self, function, launch, arguments, stream=None):
        if launch.threads > 1024:
            raise DeviceError(f"launching {function.name} fails: CUDA_ERROR_INVALID_VALUE")
        if launch.dynamic_bytes > 48 * 1024:
            assert function.dynamic_allowed >= launch.dynamic_bytes
        if function.name not in UNTIMED:
            self.launched.append((function.name, launch))
            (stream or self._own).free_at += self.cost(function.name, launch)
        else:
            held = function.name == "hold"
            (stream or self._own).free_at += int(arguments[0]) * 1e-9 if held else HOLD_S
        if function.name in self.fails:
            self._broken = True
        elif function.name in self.kernels:
            values = [self.view(a) if hasattr(a, "address") else a for a in arguments]
            self.kernels[function.name](launch, *values)

    def prepare(self, function, launch, arguments):
        return lambda: self.launch(function, launch, arguments)

    def stream(self):
        return FakeStream()

    def mark(self, stream=None):
        return (stream or self._own).free_at

    def follow(self, stream, mark):
        stream = stream or self._own
        stream.free_at = max(stream.free_at, mark)

    def join(self, mark):
        self.follow(None, mark)

    def seconds(self, start, end):
        self.wait()
        return end - start

    def wait(self):
        if self._broken:
            raise DeviceError("running the kernel fails: CUDA_ERROR_ILLEGAL_ADDRESS", hint="look")

    def tensor_map(self, memory, shape):
        return memory.address.to_bytes(8, "little") + bytes(120)

    def close(self):
        self.memories.clear()

    def answer(self, case: Case, spoil: Callable[[dict[str, np.ndarray]], None] | None = None):
        """Give the kernel the behaviour of the case's reference, perhaps spoiled, at its sizes."""
        others = self.kernels.get(case.code.kernel)
        mine = _as_reference(self, case, spoil)
        sizes = {array.name: max(array.size_bytes, 16) for array in case.arrays}

        def kernel(launch: LaunchConfig, *values: Any) -> None:
            named = zip(case.arguments, values, strict=True)
            if all(v.size == sizes[a] for a, v in named if isinstance(a, str)):
                mine(launch, *values)
            elif others is not None:
                others(launch, *values)

        self.kernels[case.code.kernel] = kernel


def _as_reference(card: FakeCard, case: Case, spoil) -> Kernel:
    arrays = {array.name: array for array in case.arrays}

    def kernel(launch: LaunchConfig, *values: Any) -> None:
        found = {}
        for argument, value in zip(case.arguments, values, strict=True):
            if isinstance(argument, Map):
                address = int.from_bytes(value[:8], "little")
                found[argument.array] = card.memories[address].data
            elif isinstance(argument, str):
                found[argument] = value
        sized = {name: raw[: arrays[name].size_bytes] for name, raw in found.items()}
        typed = {n: raw.view(ELEMENTS[arrays[n].dtype].storage) for n, raw in sized.items()}
        given = {
            name: as_numbers(data, arrays[name].dtype).copy()
            for name, data in typed.items()
            if arrays[name].role is not Role.OUT
        }
        right = dict(case.reference(given))
        if spoil is not None:
            spoil(right)
        for name, data in right.items():
            typed[name][:] = _as_stored(np.asarray(data), arrays[name].dtype)

    return kernel


def _as_stored(data: np.ndarray, dtype: str) -> np.ndarray:
    if dtype in {"bf16", "f8"}:
        return stored(DType(dtype), data.astype(np.float32))
    return data.astype(ELEMENTS[dtype].storage)


def _fill_random(launch, data, many, kind, seed, low, span) -> None:
    element = next(e for e in ELEMENTS.values() if e.kind == kind)
    size = int(many) * element.size_bytes
    generator = np.random.default_rng(int(seed))
    if element.storage.startswith("float"):
        values = generator.uniform(-1, 1, int(many)).astype(element.storage)
    elif element.is_real:  # bf16 and f8, as bits
        dtype = DType.BF16 if element.size_bytes == 2 else DType.F8
        values = stored(dtype, generator.uniform(-1, 1, int(many)).astype(np.float32))
    else:
        most = int(span) or 2**31 - 1
        values = generator.integers(0, most, int(many)).astype(element.storage)
    data[:size] = values.view(np.uint8)


def _count_poison(launch, data, many, width, byte, found) -> None:
    rows = data[: int(many) * int(width)].reshape(int(many), int(width))
    found.view(np.uint64)[0] += np.count_nonzero((rows == byte).all(axis=1))


class FakeMonitor:
    """Clocks that somebody dictates."""

    def __init__(self, uuid: str = "", throttles: tuple[str, ...] = ()) -> None:
        self.missing = None
        self.throttles = throttles

    def state(self) -> CardState:
        return CardState(
            sm_clock_hz=1.98e9, temperature_c=40.0, power_w=300.0, throttles=self.throttles
        )

    def setup(self) -> CardSetup:
        return CardSetup(driver_version="580.1", mig=False, ecc=True, max_sm_clock_hz=1.98e9)

    def memory_of(self, pid: int) -> int | None:
        return None


def pretend_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is compiled: kernels are those that a source declares."""

    def compile_source(path, *, arch, options=None):
        text = Path(path).read_text("utf-8")
        names = re.findall(r"__global__\s+void\s+(?:__launch_bounds__\([^)]*\)+\s*)?(\w+)", text)
        entries = tuple((name, None) for name in names)
        return CompiledSource(cubin=b"", log="", compiler="none", target=str(arch), entries=entries)

    monkeypatch.setattr(program, "compile_source", compile_source)
