"""Two builds of the same kernels: what each needs more or less of, the worst first.

``analysis.pairing`` matches the kernels; what finds no partner is new or has vanished. A quantity
that one side does not know is not comparable: it is never a change of 0.

**Worse** is: lower occupancy, more spills, registers, static shared memory, stack or barriers, or a
stack that has lost its bound.
Constant memory and the block size may change either way.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, NamedTuple

from perfkit.analysis.launch import Launch
from perfkit.analysis.pairing import match
from perfkit.arch import catalog
from perfkit.compiled.log_records import NO_CALLEE
from perfkit.errors import UnknownTarget, UsageError
from perfkit.kernel import KernelResources
from perfkit.record import record

Status = Literal["worse", "mixed", "not_comparable", "changed", "better", "unchanged"]
Verdict = Literal["same", "worse", "better", "changed", "not_comparable", "unknown"]

OCCUPANCY: Final = "occupancy"
BLOCK_THREADS: Final = "block_threads"


class Quantity(NamedTuple):
    """``sign``: 1 where more is worse, -1 where less is, 0 where neither is."""

    name: str
    sign: int


#: what is compared, in the order of severity; spills and stack are with what the kernel calls
QUANTITIES: Final = (
    Quantity(OCCUPANCY, -1),
    Quantity("spill_store_bytes", 1),
    Quantity("spill_load_bytes", 1),
    Quantity("registers_per_thread", 1),
    Quantity("static_shared_bytes", 1),
    Quantity("stack_bytes", 1),
    Quantity("unbounded_stack", 1),
    Quantity("barriers", 1),
    Quantity("constant_bytes", 0),
    Quantity(BLOCK_THREADS, 0),
)


@record
class Change:
    """One quantity on both sides; ``None``: not known there, and why."""

    quantity: Quantity
    old: float | None
    new: float | None
    why_not: str | None = None

    @property
    def growth(self) -> float:
        """How much worse it became; 0 where that cannot be told."""
        if self.old is None or self.new is None:
            return 0
        return (self.new - self.old) * self.quantity.sign

    @property
    def verdict(self) -> Verdict:
        if self.old is None and self.new is None:
            return "unknown"
        if self.old is None or self.new is None:
            return "not_comparable"
        if self.old == self.new:
            return "same"
        return "worse" if self.growth > 0 else "better" if self.growth < 0 else "changed"


@record
class Pair:
    """A kernel that both sides have."""

    old: KernelResources
    new: KernelResources
    changes: tuple[Change, ...]  #: one per quantity

    @property
    def status(self) -> Status:
        found = {change.verdict for change in self.changes if change.quantity.sign}
        if "worse" in found:
            return "mixed" if "better" in found else "worse"
        if "not_comparable" in found:
            return "not_comparable"
        if "better" in found:
            return "better"
        return "changed" if any(c.verdict == "changed" for c in self.changes) else "unchanged"


@record
class Diff:
    """Everything that was compared, the worst first, and what was not."""

    pairs: tuple[Pair, ...]
    new: tuple[KernelResources, ...]
    vanished: tuple[KernelResources, ...]

    def count(self, status: Status) -> int:
        return sum(pair.status == status for pair in self.pairs)


def diff(
    old: Sequence[KernelResources],
    new: Sequence[KernelResources],
    *,
    threads: int | None = None,
    dynamic_bytes: int | None = None,
) -> Diff:
    """Compare two builds.

    Args:
        old: kernels of the earlier build, of any architectures.
        new: those of the later one.
        threads: threads per block that occupancy is for; None: what each kernel is launched with
            or compiled for, if that is known.
        dynamic_bytes: dynamic shared memory per block; None: the kernel's own, or none.

    Raises:
        UsageError: nothing in common, or nothing that both sides know.
        InvalidLaunch: more threads than a block can have.
    """
    matched, vanished, added = match(old, new)
    if not matched:
        raise UsageError(
            f"the two have no kernel in common: {_names(old)} before, {_names(new)} now",
            hint="kernels are matched by name within one architecture",
        )
    pairs = [
        Pair(old=before, new=after, changes=_changes(before, after, threads, dynamic_bytes))
        for before, after in matched
    ]
    if not any(change.verdict in _COMPARED for pair in pairs for change in pair.changes):
        raise UsageError("the two have kernels in common, but no quantity that both of them know")
    return Diff(pairs=tuple(sorted(pairs, key=_severity)), new=added, vanished=vanished)


_COMPARED: Final = frozenset({"same", "worse", "better", "changed"})
_RANKS: Final = ("worse", "mixed", "not_comparable", "changed", "better", "unchanged")
_SHOWN_NAMES: Final = 3


def _names(kernels: Sequence[KernelResources]) -> str:
    names = list(dict.fromkeys(f"{kernel.demangled} ({kernel.arch})" for kernel in kernels))
    more = len(names) - _SHOWN_NAMES
    return ", ".join(names[:_SHOWN_NAMES]) + (f" and {more} more" if more > 0 else "")


def _severity(pair: Pair) -> tuple[object, ...]:
    """Worst first; the order is the same whatever the order in the files."""
    growths = (-change.growth for change in pair.changes)
    return (_RANKS.index(pair.status), *growths, pair.new.demangled, pair.new.arch, pair.new.name)


# --- one pair -------------------------------------------------------------------------------------


class Known(NamedTuple):
    value: float | None
    why_not: str | None = None


def _changes(
    old: KernelResources, new: KernelResources, threads: int | None, dynamic: int | None
) -> tuple[Change, ...]:
    changes = []
    for quantity in QUANTITIES:
        sides = [_known(kernel, quantity.name, threads, dynamic) for kernel in (old, new)]
        why_not = next((side.why_not for side in sides if side.value is None), None)
        changes.append(
            Change(quantity=quantity, old=sides[0].value, new=sides[1].value, why_not=why_not)
        )
    return tuple(changes)


def _known(kernel: KernelResources, name: str, threads: int | None, dynamic: int | None) -> Known:
    if name == BLOCK_THREADS:
        return Known(kernel.usual_threads if threads is None else threads, _NO_BLOCK)
    if name == OCCUPANCY:
        return occupancy(kernel, threads=threads, dynamic_bytes=dynamic)
    return needed(kernel, name)


def needed(kernel: KernelResources, name: str) -> Known:
    """A quantity of the kernel and all that it calls, or why it is not known."""
    own: int | None = getattr(kernel, name)
    if name == "stack_bytes" and kernel.cumulative_stack_bytes is not None:
        return Known(kernel.cumulative_stack_bytes)
    if own is None:
        return Known(None, kernel.unknown.get(name, "not in the file"))
    if name not in _SPILLS:
        return Known(own)
    called: int | None = getattr(kernel, f"callee_{name}")
    # with a log of whole records no name means that nothing is called
    why = kernel.unknown.get(f"callee_{name}", NO_CALLEE)
    if called is None and why != NO_CALLEE:
        return Known(None, f"of the functions that it calls: {why}")
    return Known(own + (called or 0))


_SPILLS: Final = frozenset({"spill_store_bytes", "spill_load_bytes"})


_NO_BLOCK: Final = "the kernel has no launch bounds, and no --threads is given"


def occupancy(
    kernel: KernelResources, *, threads: int | None = None, dynamic_bytes: int | None = None
) -> Known:
    """Occupancy, 0..1, of a kernel on the capability that it is compiled for; or why not."""
    block = kernel.usual_threads if threads is None else threads
    regs = kernel.registers_per_thread
    static = kernel.static_shared_bytes
    if block is None:
        return Known(None, _NO_BLOCK)
    for name, value in (("registers_per_thread", regs), ("static_shared_bytes", static)):
        if value is None:
            return Known(None, kernel.unknown.get(name, f"{name} is not in the file"))
    try:
        capability = catalog.capability(kernel.arch)
    except UnknownTarget as error:
        return Known(None, error.message)
    dynamic = kernel.dynamic_shared_bytes if dynamic_bytes is None else dynamic_bytes
    launch = Launch(
        threads=block,
        regs=regs or 0,
        smem=(static or 0) + (dynamic or 0),
        barriers=1 if kernel.barriers is None else kernel.barriers,
        max_threads=kernel.max_threads,
    )
    return Known(launch.on(capability).ratio)
