"""One case on one card: its code loaded, its results checked, its time taken."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import contextmanager
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, Final

from perfkit.analysis.measurement import LaunchFacts
from perfkit.device.backend import LaunchConfig, launch_1d
from perfkit.device.compared import Check, compared
from perfkit.device.elements import ELEMENTS, as_numbers
from perfkit.device.program import build, build_path, build_text
from perfkit.device.refused_launch import refuse_impossible
from perfkit.device.workload import Array, Case, Code, Fill, Map, Role, Scalar
from perfkit.errors import DeviceError, InputError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from perfkit.device.backend import Card, Function, Memory
    from perfkit.device.timing import Sampling, Stopwatch

#: what the bytes of outputs are before a kernel runs: NaN in every real type, and of whole numbers
#: one that is no likely result
_POISON: Final = {True: 0xFF, False: 0xA5}
#: so many whole numbers may happen to be that
_CHANCE: Final = 1e-6
_FILL_THREADS: Final = 256


class Bench:
    """Runs cases on one card."""

    def __init__(self, card: Card, stopwatch: Stopwatch) -> None:
        self._card = card
        self._stopwatch = stopwatch
        self._fill, self._count = build(card, "data.cu", ("fill_random", "count_poison"))
        self._loaded: dict[Code, Function] = {}

    def function(self, case: Case) -> Function:
        """The case's kernel, loaded; once for each code.

        Raises:
            InvalidLaunch: the case's launch is beyond a limit of the kernel or the card.
        """
        if case.code not in self._loaded:
            self._loaded[case.code] = _load(self._card, case.code)
        found = self._loaded[case.code]
        refuse_impossible(case.launch, found, self._card.device)
        if case.dynamic_optin:
            found.allow_dynamic(case.launch.dynamic_bytes)
        return found

    def launch(self, case: Case, function: Function) -> LaunchConfig:
        """The case's launch; a persistent one has as many blocks as the card holds at once."""
        launch = case.launch
        if case.persistent is None:
            return launch
        held = self._held(launch, function) // case.persistent * case.persistent
        return replace(launch, grid=(min(launch.grid[0], max(held, case.persistent)), 1, 1))

    def _held(self, launch: LaunchConfig, function: Function) -> int:
        if launch.cluster is not None:
            x, y, z = launch.cluster
            return function.active_clusters(launch) * x * y * z
        per_sm = function.blocks_per_sm(launch.threads, launch.dynamic_bytes)
        return per_sm * self._card.device.sm_count

    def facts(self, case: Case) -> LaunchFacts:
        function = self.function(case)
        launch = self.launch(case, function)
        return LaunchFacts(
            registers=function.registers,
            static_shared_bytes=function.static_shared_bytes,
            dynamic_shared_bytes=launch.dynamic_bytes,
            local_bytes=function.local_bytes,
            blocks=launch.blocks,
            threads=launch.threads,
            blocks_per_sm=function.blocks_per_sm(launch.threads, launch.dynamic_bytes),
        )

    @contextmanager
    def memory(self, case: Case) -> Iterator[dict[str, Memory]]:
        """The case's arrays with their data; given back in the end."""
        pinned = case.staged.pinned if case.staged else ()
        found: dict[str, Memory] = {}
        usable = True
        try:
            for number, array in enumerate(case.arrays):
                is_pinned = array.name in pinned
                allocate = self._card.allocate_pinned if is_pinned else self._card.allocate
                found[array.name] = allocate(max(array.size_bytes, 16))
                self._put(array, found[array.name], seed=number + 1)
            yield found
            self._card.wait()
        except DeviceError:
            usable = False  # after a failure the context gives nothing back
            raise
        finally:
            for memory in found.values() if usable else ():
                self._card.free(memory)

    def _put(self, array: Array, memory: Memory, seed: int) -> None:
        if array.role is Role.OUT:
            self._card.fill(memory, _POISON[ELEMENTS[array.dtype].is_real])
        elif array.fill is Fill.RANDOM:
            kind = ELEMENTS[array.dtype].kind
            self._by_kernel(array, memory, kind, seed)
        elif array.fill is Fill.ZERO:
            self._card.fill(memory, 0)
        else:
            self._card.write(memory, _host_data(array))

    def _by_kernel(self, array: Array, memory: Memory, kind: int, seed: int) -> None:
        import numpy as np

        blocks = min(-(-array.count // _FILL_THREADS), 16 * self._card.device.sm_count)
        values = (memory, np.uint64(array.count), np.int32(kind), np.uint32(seed), np.int32(0))
        launch = launch_1d(blocks, _FILL_THREADS)
        self._card.launch(self._fill, launch, (*values, np.uint32(array.span)))

    def _read(self, array: Array, memory: Memory) -> NDArray[Any]:
        import numpy as np

        raw = np.empty(array.count, ELEMENTS[array.dtype].storage)
        self._card.read(memory, raw)
        return as_numbers(raw, array.dtype)

    def work(self, case: Case, memory: Mapping[str, Memory]) -> Callable[[], None]:
        """What enqueues one piece of the case's work."""
        function = self.function(case)
        if case.staged is not None:
            return case.staged.program(self._card, function, memory)
        launch = self.launch(case, function)
        values = [self._value(argument, memory) for argument in case.arguments]
        return self._card.prepare(function, launch, values)

    def _value(self, argument: str | Scalar | Map, memory: Mapping[str, Memory]) -> Any:
        if isinstance(argument, str):
            return memory[argument]
        if isinstance(argument, Map):
            return self._card.tensor_map(memory[argument.array], argument.shape)
        return packed(argument)

    def check(self, case: Case) -> tuple[Check, ...]:
        """Run once on fresh data, and hold every output against the reference.

        Raises:
            DeviceError: the kernel fails.
        """
        if case.reference is None:
            return ()
        with self.memory(case) as memory:
            inputs = case.arrays_with(Role.IN, Role.INOUT)
            given = {array.name: self._read(array, memory[array.name]) for array in inputs}
            work = self.work(case, memory)
            work()
            self._card.wait()
            right = case.reference(given)
            return tuple(
                compared(
                    self._read(array, memory[array.name]),
                    right[array.name],
                    array,
                    case.tolerance,
                    self._unwritten(array, memory[array.name]),
                )
                for array in case.arrays_with(Role.OUT, Role.INOUT)
                if array.name in right
            )

    def _unwritten(self, array: Array, memory: Memory) -> int:
        """Elements of an output that still hold the poison; single bytes may mean it."""
        import numpy as np

        element = ELEMENTS[array.dtype]
        width, poison = element.size_bytes, _POISON[element.is_real]
        if array.role is not Role.OUT or width == 1:
            return 0
        counter = self._card.allocate(8)
        self._card.fill(counter, 0)
        blocks = min(-(-array.count // _FILL_THREADS), 16 * self._card.device.sm_count)
        values = (memory, np.uint64(array.count), np.int32(width), np.int32(poison), counter)
        self._card.launch(self._count, launch_1d(blocks, _FILL_THREADS), values)
        found = np.zeros(1, np.uint64)
        self._card.read(counter, found)
        self._card.free(counter)
        by_chance = 0 if element.is_real else int(array.count * _CHANCE)
        return 0 if found[0] <= by_chance else int(found[0])

    def time(self, case: Case, sampling: Sampling) -> dict[str, Any]:
        """One run at full size: samples, clocks, and what was left unwritten."""
        with self.memory(case) as memory:
            work = self.work(case, memory)
            work()  # data are read and written once before anything is timed
            self._card.wait()
            found = {
                array.name: count
                for array in case.arrays_with(Role.OUT)
                if (count := self._unwritten(array, memory[array.name]))
            }
            stages = {}
            if case.staged is not None:
                function = self.function(case)
                for name, stage in case.staged.stages.items():
                    alone = stage(self._card, function, memory)
                    stages[name] = self._stopwatch.time(alone, sampling).median_s
            timing = self._stopwatch.time(work, sampling)
            extra = self._cycles(case, memory)
        return {**asdict(timing), "unwritten": found, "stages_s": stages, "cycles": extra}

    def _cycles(self, case: Case, memory: Mapping[str, Memory]) -> int | None:
        """What the kernel itself counted, where it counts."""
        array = next((one for one in case.arrays if one.name == CYCLES), None)
        return None if array is None else int(self._read(array, memory[CYCLES])[0])


#: an array of this name holds the clocks that a kernel counted
CYCLES: Final = "cycles"


def _load(card: Card, code: Code) -> Function:
    names = (code.kernel,)
    if code.text is not None:
        (found,) = build_text(card, code.text, names, suffix=code.suffix)
    elif code.path is not None:
        found = build_path(card, code.path, code.kernel, defines=code.defines, suffix=code.suffix)
    else:
        (found,) = build(card, code.file or "", names, defines=code.defines, suffix=code.suffix)
    return found


def packed(scalar: Scalar) -> Any:
    """A scalar of NumPy with the bits that the kernel gets.

    Raises:
        UsageError: the value does not fit its type.
    """
    import numpy as np

    storage, value = ELEMENTS[scalar.dtype], scalar.value
    if scalar.dtype in {"bf16", "f8"}:
        raise UsageError(f"a scalar argument cannot be {scalar.dtype}", hint="pass f32")
    if not storage.is_real:
        limits = np.iinfo(storage.storage)
        if value != int(value) or not limits.min <= value <= limits.max:
            raise UsageError(f"{value:g} is no {scalar.dtype}: {limits.min} to {limits.max}")
        value = int(value)
    return np.dtype(storage.storage).type(value)


def _host_data(array: Array) -> NDArray[Any]:
    import numpy as np

    storage = ELEMENTS[array.dtype].storage
    if array.fill is Fill.IOTA:
        return np.arange(array.count).astype(storage)
    if array.fill is Fill.VALUE:
        return np.full(array.count, array.value).astype(storage)
    if array.fill is Fill.MADE and array.make is not None:
        return np.ascontiguousarray(array.make(), storage)
    try:
        data = np.load(array.file, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise InputError(f"cannot be read as .npy: {error}", where=array.file) from None
    if not isinstance(data, np.ndarray) or data.size != array.count or data.dtype != storage:
        shown = f"{data.size} of {data.dtype}" if isinstance(data, np.ndarray) else "an archive"
        raise InputError(
            f"holds {shown}; {array.name} is {array.count} of {storage}", where=array.file
        )
    return np.ascontiguousarray(data).ravel()
