"""What can be measured: a kernel, its data and launch, what it has to do, and the right answer.

A ``Workload`` is a kernel with free sizes; with the sizes chosen it becomes a ``Case``. Cases are
made without a GPU and without NumPy: the child that runs them and the parent that predicts their
time both make them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from perfkit.analysis.prediction import Chain, Demand
from perfkit.device.backend import LaunchConfig
from perfkit.device.elements import ELEMENTS
from perfkit.errors import UsageError
from perfkit.record import record

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from perfkit.device.backend import Card, Function, Memory, TensorShape

#: sizes by name
Sizes = Mapping[str, int]
Arrays = Mapping[str, "NDArray[Any]"]  #: by the name of the argument
#: arrays by name -> what the outputs have to be
Reference = Callable[[Arrays], Arrays]


class Role(StrEnum):
    IN = "in"
    OUT = "out"
    INOUT = "inout"


class Fill(StrEnum):
    RANDOM = "random"
    ZERO = "zero"
    IOTA = "iota"
    VALUE = "value"
    FILE = "file"
    MADE = "made"  #: by a function of NumPy


@record
class Array:
    """A buffer of the card that the kernel gets the address of."""

    name: str
    dtype: str  #: of ``elements.ELEMENTS``
    count: int
    role: Role = Role.IN
    fill: Fill = Fill.RANDOM
    value: float = 0  #: of ``Fill.VALUE``
    file: str = ""  #: of ``Fill.FILE``: .npy
    make: Callable[[], NDArray[Any]] | None = None  #: of ``Fill.MADE``
    span: int = 0  #: random whole numbers are 0 .. span - 1; 0: all there are

    @property
    def size_bytes(self) -> int:
        return self.count * ELEMENTS[self.dtype].size_bytes


@record
class Scalar:
    """A value that the kernel gets."""

    dtype: str
    value: float


@record
class Map:
    """An array as the tensor copy engine sees it (9.0 on), passed in place of its address."""

    array: str
    shape: TensorShape


@record
class Code:
    """Where a kernel comes from: exactly one of ``file``, ``text`` and ``path``."""

    kernel: str
    file: str | None = None  #: one of perfkit's own, in kernels/
    text: str | None = None  #: written by a function
    path: str | None = None  #: the user's
    defines: tuple[str, ...] = ()
    suffix: str = ""  #: of the target: ``a`` for instructions of one architecture only


#: enqueues one piece of work on the card: functions and memory by name
Program = Callable[["Card", "Function", Mapping[str, "Memory"]], Callable[[], None]]


@record
class Staged:
    """A case of several stages: each alone, and all of them as the case runs them.

    ``predict`` makes of the times of the stages alone what the whole should take, and ``least``
    what it takes at least.
    """

    program: Program
    stages: Mapping[str, Program]
    predict: Callable[[Mapping[str, float]], float]
    least: Callable[[Mapping[str, float]], float]
    pinned: tuple[str, ...] = ()  #: arrays that lie in pinned memory of the host


@record
class Case:
    """A kernel with all sizes chosen."""

    code: Code
    launch: LaunchConfig
    arrays: tuple[Array, ...]
    arguments: tuple[str | Scalar | Map, ...]  #: names of arrays, or what else it gets
    demand: Demand
    reference: Reference | None = None
    tolerance: float = 1e-6  #: of ||found - right|| / ||right||
    chain: Chain | None = None
    staged: Staged | None = None
    #: as many blocks as the card holds at once, in place of the launch's grid: a multiple of this
    persistent: int | None = None
    dynamic_optin: bool = False  #: more dynamic shared memory than a launch gets unasked

    @property
    def footprint_bytes(self) -> int:
        return sum(array.size_bytes for array in self.arrays)

    def arrays_with(self, *roles: Role) -> tuple[Array, ...]:
        return tuple(array for array in self.arrays if array.role in roles)


@record
class Workload:
    """A kernel of the library, with its free sizes."""

    name: str
    group: str
    summary: str
    sizes: Sizes  #: defaults; ``threads`` is the block's
    size: str  #: which of them ``--size N`` means
    checks: tuple[Sizes, ...]  #: sizes, in place of the defaults, at which results are checked
    build: Callable[[Sizes], Case]
    #: L2 flushed before each sample; otherwise launches follow one another, as in steady state
    cold: bool = False
    least_capability: tuple[int, int] = (5, 0)
    only_capability: tuple[int, int] | None = None

    def with_sizes(self, changed: Sizes) -> Sizes:
        """The defaults with some sizes changed.

        Raises:
            UsageError: a size that it does not have, or one below 1.
        """
        for name, value in changed.items():
            if name not in self.sizes:
                known = ", ".join(f"{key} ({value})" for key, value in self.sizes.items())
                raise UsageError(f"{self.name} has no size {name!r}", hint=f"it has {known}")
            if not 1 <= value <= MOST:
                raise UsageError(f"{self.name}: {name} = {value}: must be 1 to {MOST}")
        return {**self.sizes, **changed}

    def case(self, changed: Sizes) -> Case:
        """With these sizes in place of the defaults; raises as ``with_sizes``."""
        return self.build(self.with_sizes(changed))


MOST: Final = 2**40


def whole_warps(sizes: Sizes, least: int = 32) -> int:
    """``threads``, for kernels that work by warps.

    Raises:
        UsageError: not whole warps, or too few or too many.
    """
    threads = sizes["threads"]
    if threads % 32 or not least <= threads <= 1024:
        raise UsageError(
            f"threads = {threads}: the kernel takes whole warps, {least} to 1024 threads"
        )
    return threads


def blocks_for(work: int, per_block: int) -> int:
    """Blocks that cover the work.

    Raises:
        UsageError: more than a grid can have.
    """
    blocks = -(-work // per_block)
    if blocks >= 2**31:
        raise UsageError(f"{blocks} blocks: more than a grid can have", hint="take a smaller size")
    return blocks


def i32(value: int) -> Scalar:
    """A 32-bit integer argument; the size is checked where it is packed."""
    return Scalar(dtype="i32", value=value)


def i64(value: int) -> Scalar:
    return Scalar(dtype="i64", value=value)


def f32(value: float) -> Scalar:
    return Scalar(dtype="f32", value=value)


def arrays(dtype: str, counts: Sequence[tuple[str, int, Role]]) -> tuple[Array, ...]:
    """Several arrays of one type."""
    return tuple(
        Array(name=name, dtype=dtype, count=count, role=role) for name, count, role in counts
    )
