"""Signs that several compilers wrote into one stream in turns, each time a whole record.

The functions that a kernel calls come after its record, so that between the two another compiler's
record may stand: the functions then seem to be called by its kernel. One compiler alone

* begins with a line ``bytes gmem``, and from there on compiles for one target, each kernel once;
* writes ``Compile time`` (from 12.x on) behind the registers, before anything else;
* names functions whose frames account for the stack that it states for the kernel with them;
* does not spill where there is no stack.

A line that is missing is no sign: it only makes unknown what it said.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from perfkit.compiled.log_entries import Entry


class Turns:
    """Fed with the order of the sentences; ``seen`` says whether it gave compilers away."""

    __slots__ = ("_arch", "_is_late", "_names", "_spilling", "_stack", "_untimed", "seen")

    def __init__(self) -> None:
        self.seen = False
        self._names: set[bytes] | None = None  #: since a line "bytes gmem"
        self._arch: bytes | None = None
        self._untimed = False  #: registers came, their time did not
        self._is_late = False  #: something came before it
        self._stack = 0  #: bytes of the largest frame of a function, whoever calls it
        self._spilling: int | None = None  #: line of the first function that spills

    def module(self, *, within: bool) -> None:
        """``bytes gmem``; ``within``: a record is not finished."""
        self.seen |= within
        self._names, self._arch = set(), None
        self._late()

    def entry(self, name: bytes, arch: bytes | None) -> None:
        self._late()
        if self._names is None:
            return
        self.seen |= name in self._names or self._arch not in {None, arch}
        self._names.add(name)
        self._arch = arch

    def function(self) -> None:
        self._late()

    def frame(self, sizes: tuple[int, int, int], line: int) -> None:
        """Of a function, or of who knows whom."""
        self._stack = max(self._stack, sizes[0])
        if any(sizes[1:]) and self._spilling is None:
            self._spilling = line

    def used(self) -> None:
        self._late()
        self._untimed = True

    def time(self, *, of_function: bool) -> None:
        """A time that comes too late is a sign; compilers before 12 write none at all."""
        if not self._untimed and not of_function:
            self.seen |= self._is_late
        self._untimed = False

    def _late(self) -> None:
        self._is_late |= self._untimed
        self._untimed = False

    def doubt(self, entries: list[Entry], *, is_mixed: bool) -> None:
        """Several compilers wrote: a function may follow a kernel that does not call it.

        ``is_mixed``: records lie within one another. The last may be cut off.
        """
        odd = any(map(_spills_nowhere, entries)) or any(map(_misses_a_function, entries[:-1]))
        if not (is_mixed or odd or self.seen):
            return
        for entry in entries:
            entry.doubtful_stack = self._stack
            if self._spilling is not None:
                entry.callees = None
                entry.module.spills = entry.module.spills or self._spilling


def _misses_a_function(entry: Entry) -> bool:
    """The kernel's stack is larger than its own frame and those of the functions named."""
    if entry.frame is None or entry.used is None or entry.misses_lines or entry.refused:
        return False
    total = entry.used.cumulative or 0
    # functions that are compiled on their own are named elsewhere
    return entry.module.apart is None and total > entry.frame[0] + entry.callee_stack


def _spills_nowhere(entry: Entry) -> bool:
    """A function spills, and neither it nor the kernel has any stack."""
    if entry.callees is None or entry.frame is None or entry.used is None:
        return False
    return any(entry.callees[1:]) and not (
        entry.callee_stack or entry.frame[0] or entry.used.cumulative
    )
