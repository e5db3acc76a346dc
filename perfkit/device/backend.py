"""What an experiment may ask of a card, whoever answers: the real card, or a stand-in in a test.

Experiments, workloads and timing speak to ``Card`` only. ``cuda_card.open_card`` opens the real
one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from perfkit.record import record

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from perfkit.arch.types import Target
    from perfkit.device.properties import Device

Dim3 = tuple[int, int, int]


@record
class LaunchConfig:
    """How a kernel is started. ``cluster`` in blocks; sizes in bytes."""

    grid: Dim3
    block: Dim3
    dynamic_bytes: int = 0
    cluster: Dim3 | None = None
    cooperative: bool = False

    @property
    def blocks(self) -> int:
        return self.grid[0] * self.grid[1] * self.grid[2]

    @property
    def threads(self) -> int:
        """Per block."""
        return self.block[0] * self.block[1] * self.block[2]


def launch_1d(blocks: int, threads: int, dynamic_bytes: int = 0) -> LaunchConfig:
    """The usual shape.

    >>> launch_1d(132, 256).block
    (256, 1, 1)
    """
    return LaunchConfig(grid=(blocks, 1, 1), block=(threads, 1, 1), dynamic_bytes=dynamic_bytes)


class Memory(Protocol):
    """Memory of the card. Freed with the card that gave it, or by ``Card.free``."""

    @property
    def address(self) -> int: ...
    @property
    def size_bytes(self) -> int: ...


@record
class Part:
    """A view of memory: some bytes within it."""

    address: int
    size_bytes: int


def part(memory: Memory, begin: int, size_bytes: int) -> Part:
    """What lies in ``memory`` from the byte ``begin`` on."""
    return Part(address=memory.address + begin, size_bytes=size_bytes)


class Mark(Protocol):
    """A point in the order of the card's work."""


class Stream(Protocol):
    """An order of work; work of two streams may run at once."""


class Function(Protocol):
    """A loaded kernel, with what the driver says of it."""

    @property
    def name(self) -> str: ...
    @property
    def registers(self) -> int: ...
    @property
    def static_shared_bytes(self) -> int: ...
    @property
    def local_bytes(self) -> int: ...
    @property
    def max_threads(self) -> int: ...

    def prefer_carveout(self, percent: int) -> None:
        """Set the preference for shared memory, 0 to 100; -1 takes it back."""

    def allow_dynamic(self, dynamic_bytes: int) -> None:
        """Let a launch ask for this much dynamic shared memory."""

    def allow_any_cluster(self) -> None:
        """Let clusters be larger than the portable 8 blocks."""

    def blocks_per_sm(self, threads: int, dynamic_bytes: int) -> int:
        """The driver's own occupancy."""

    def potential_block_size(self, dynamic_bytes: int) -> tuple[int, int]:
        """The grid and the block size that the driver's launch helper suggests."""

    def available_dynamic(self, threads: int, blocks: int) -> int | None:
        """Bytes with which the driver says that ``blocks`` fit; None: it says that they do not."""

    def active_clusters(self, launch: LaunchConfig) -> int:
        """How many clusters of such a launch the driver says the card holds at once."""


#: a scalar of NumPy or ctypes (with its C type), memory (its address), or bytes (a struct by value)
Argument = Any


class Card(Protocol):
    """One device. Every call either works or raises ``DeviceError``; work is asynchronous."""

    @property
    def device(self) -> Device: ...
    @property
    def target(self) -> Target: ...

    def load(self, cubin: bytes, names: Sequence[str]) -> tuple[Function, ...]:
        """Load code for this card and find its kernels, by their symbols."""

    def allocate(self, size_bytes: int) -> Memory:
        """Memory of the card; what it holds is not defined."""

    def allocate_pinned(self, size_bytes: int) -> Memory:
        """Memory of the host that the card's copy engines reach."""

    def free(self, memory: Memory) -> None: ...

    def write(self, memory: Memory, data: NDArray[Any]) -> None:
        """Copy an array to the start of ``memory``, and wait."""

    def read(self, memory: Memory, into: NDArray[Any]) -> None:
        """Copy the start of ``memory`` into an array, and wait."""

    def copy(self, to: Memory, source: Memory, size_bytes: int, stream: Stream | None) -> None:
        """Copy between memories of host or card, as part of the stream's order."""

    def fill(self, memory: Memory, byte: int) -> None: ...

    def launch(
        self,
        function: Function,
        launch: LaunchConfig,
        arguments: Sequence[Argument],
        stream: Stream | None = None,
    ) -> None: ...

    def prepare(
        self, function: Function, launch: LaunchConfig, arguments: Sequence[Argument]
    ) -> Callable[[], None]:
        """A launch that is ready: calling it costs the host no more than the driver's call."""

    def stream(self) -> Stream:
        """Another order of work."""

    def mark(self, stream: Stream | None = None) -> Mark: ...

    def follow(self, stream: Stream | None, mark: Mark) -> None:
        """Later work of ``stream``, or of the card's own, waits for ``mark``."""

    def join(self, mark: Mark) -> None:
        """Later work of the card's own stream waits for ``mark``."""

    def seconds(self, start: Mark, end: Mark) -> float:
        """Time between two marks; waits for the second."""

    def wait(self) -> None:
        """Until all work is done; a kernel that failed is reported here at the latest."""

    def tensor_map(self, memory: Memory, shape: TensorShape) -> bytes:
        """The descriptor by which the tensor copy engine (9.0 on) finds tiles of ``memory``."""

    def close(self) -> None: ...


@record
class TensorShape:
    """A matrix in memory for the tensor copy engine, innermost dimension first.

    ``element`` is the driver's name of the type: ``BFLOAT16``, ``FLOAT16``, ``FLOAT32``, ``UINT8``;
    ``swizzle`` is one of ``NONE``, ``32B``, ``64B``, ``128B``.
    """

    element: str
    element_bytes: int
    extents: tuple[int, ...]  #: elements
    box: tuple[int, ...]  #: elements of one copy
    swizzle: str = "128B"
