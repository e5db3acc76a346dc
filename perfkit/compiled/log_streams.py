"""Whose numbers are these: sentences of one stream of lines -> records of kernels.

A compiler writes, for each kernel in turn::

    Compiling entry function 'NAME' for 'sm_90'
    Function properties for NAME
        8 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
    Used 32 registers, ...
    Function properties for a function that NAME calls
        ...

Only two of these lines name the kernel. Where several compilers write into one stream at once, the
order within a record still tells most lines apart; where it does not, nobody gets the numbers.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final

from perfkit.compiled.log_entries import DONE, FRAME, NAME, USED, Entry, Function, Module
from perfkit.compiled.log_turns import Turns

if TYPE_CHECKING:
    from perfkit.compiled.log_sentences import Used

#: A compiler writes a record within moments (13.0 a name and its frame in one go): after so many
#: sentences of others its end is lost, or the line with its frame.
_PATIENCE: Final = 512
_FRAME_PATIENCE: Final = 128
_MOST_OPEN: Final = 512
_RECENT_MODULES: Final = 16

_MIXED: Final = (
    "several compilations write at once around line {line}, and nothing tells their lines apart"
)
_NO_END: Final = "line {line} begins the record, and no line 'Used … registers' ends it"
_NO_FRAME: Final = "line {line} begins the record, and lines of it are missing"
_FAILED: Final = "the compiler failed on line {line}"


class LogStream:
    """The sentences of lines that begin alike. ``entries`` is shared by all streams of a log."""

    def __init__(self, entries: list[Entry]) -> None:
        self._entries = entries
        self._own: list[Entry] = []
        self._open: list[Entry] = []
        self._awaiting: list[Entry | Function] = []  #: named, without a frame yet
        self._function: Function | None = None
        self._last: Entry | None = None  #: functions named now are called by this kernel
        self._module = Module()
        self._modules = deque((self._module,), maxlen=_RECENT_MODULES)
        self._is_mixed = False
        self._clock = 0
        self._taken = 0  #: lines "Used" that came for kernels that cannot be told apart
        self._frames_taken = 0  #: the same of frames
        self._has_names = self._has_frames = False
        self._turns = Turns()

    @property
    def is_busy(self) -> bool:
        return bool(self._open)

    def entry(self, name: bytes, arch: bytes | None, line: int) -> None:
        self._clock += 1
        self._settle()
        self._last = None
        self._turns.entry(name, arch)
        self._expire()
        self._is_mixed |= bool(self._open)
        found = Entry(name, arch, line, self._module)
        found.since = self._clock
        self._open.append(found)
        self._entries.append(found)
        self._own.append(found)

    def function(self, name: bytes, line: int) -> None:
        self._clock += 1
        self._settle()
        self._has_names = True
        named = self._named(name)
        if len(named) > 1:  # one kernel for two architectures at once
            for entry in named:
                entry.refuse(_MIXED.format(line=line))
        if named:
            self._advance(named[0], FRAME)
            self._awaiting.append(named[0])
            return
        self._turns.function()
        self._function = Function(name, line, self._clock)
        self._awaiting.append(self._function)
        # a kernel's own functions come after its registers: this one is another kernel's
        for entry in self._open:
            if entry.stage == USED:
                entry.refuse(_MIXED.format(line=line))

    def frame(self, sizes: tuple[int, int, int], line: int) -> bool:
        """Whether it is known whose numbers these are, or they are no loss."""
        self._clock += 1
        self._has_frames = True
        awaiting = self._awaiting
        if not awaiting and not self._has_names and len(self._open) == 1:
            awaiting = [entry for entry in self._open if entry.stage == NAME]
        if not awaiting:
            if self._has_names:  # the one that waited may have got another's
                self._doubt_frames(line)
            if self._last is not None:
                self._last.misses_lines = True
            self._turns.frame(sizes, line)
            self._lost(sizes, line)
            return not any(sizes[1:])
        # a name and its frame are written in one go, so that nothing comes between them
        if len(awaiting) > 1 or self._frames_taken or awaiting[0].since < self._clock - 1:
            self._share_frame(sizes, line)
            return True
        (block,) = awaiting
        self._awaiting = []
        block.frame = sizes
        if isinstance(block, Entry):
            self._advance(block, USED)
        else:
            self._turns.frame(sizes, line)
        return True

    def _doubt_frames(self, line: int) -> None:
        for entry in self._open:
            if entry.stage == USED:
                entry.refuse(_MIXED.format(line=line))
                self._is_mixed = True

    def _share_frame(self, sizes: tuple[int, int, int], line: int) -> None:
        """One of several that wait: all of them go without, until there was a line for each."""
        self._frames_taken += 1
        for block in self._awaiting:
            if isinstance(block, Function):
                self._turns.frame(sizes, line)
            else:
                block.refuse(_MIXED.format(line=line))
                if block.stage == FRAME:
                    self._advance(block, USED)
        self._lost(sizes, line)
        self._end_sharing()

    def used(self, used: Used, line: int) -> bool:
        """Whether it is known whose numbers these are, or which kernels share the doubt."""
        self._clock += 1
        self._turns.used()
        waiting = self._waiting() or self._without_beginning()
        if not waiting:
            self._skip_record()
            return False
        self._settle()
        if len(waiting) == 1:
            if waiting[0].stage == FRAME:  # a filter took the frames
                self._awaiting = []
            self._close(waiting[0])
            self._taken = 0
            waiting[0].used = used
            self._last = None if self._open else waiting[0]
            return True
        self._taken += 1
        for entry in waiting:
            entry.refuse(_MIXED.format(line=line))
        self._end_sharing()
        return True

    def time(self) -> None:
        """Functions that are compiled on their own end like kernels: nobody knows who calls them.

        nvcc compiles them so with -rdc=true and -G.
        """
        self._clock += 1
        self._turns.time(of_function=self._function is not None)
        block, self._function = self._function, None
        if block is not None and block.frame is not None:
            self._module.apart = self._module.apart or block.line
            self._lost(block.frame, block.line)

    def module(self) -> None:
        """Another run of the compiler, or another file of the same run, begins."""
        self._clock += 1
        self._settle()
        self._turns.module(within=bool(self._open))
        self._last, self._module = None, Module()
        self._modules.append(self._module)

    def failed(self, line: int) -> None:
        if len(self._open) == 1:
            self._open[0].refuse(_FAILED.format(line=line))
            self._close(self._open[0])

    def finish(self) -> None:
        self._settle()
        for entry in self._open:
            entry.refuse(_NO_END.format(line=entry.line))
        self._open = []
        self._turns.doubt(self._own, is_mixed=self._is_mixed)

    def _waiting(self) -> list[Entry]:
        """The kernels that a line "Used" may belong to. Filters may have left out other lines."""
        if len(self._open) == 1 and self._open[0].stage == USED:
            return list(self._open)
        for stage, was_filtered in (
            (USED, True),
            (FRAME, not self._has_frames),
            (NAME, not self._has_names),
        ):
            found = [entry for entry in self._open if entry.stage == stage]
            if found and was_filtered:
                return found
        return []

    def _named(self, name: bytes) -> list[Entry]:
        waiting = [entry for entry in self._open if entry.stage == NAME]
        found = [entry for entry in waiting if entry.is_called(name)]
        if not found and len(self._open) == len(waiting) == 1:
            # a terminal cut the line at its edge
            found = [entry for entry in waiting if len(name) >= 8 and entry.name.startswith(name)]
        return found

    def _without_beginning(self) -> list[Entry]:
        """A whole record but for the line that names the architecture, as people quote it."""
        block, steps = self._function, 2 if self._has_frames else 1
        if block is None or self._open or self._is_mixed or block.since != self._clock - steps:
            return []
        found = Entry(block.name, None, block.line, self._module)
        found.frame, found.stage = block.frame, USED
        self._function = None
        self._open.append(found)
        self._own.append(found)
        self._entries.append(found)
        return [found]

    def _skip_record(self) -> None:
        """A line "Used" for nobody: lines are missing, and what is begun has lost its end."""
        for entry in tuple(self._open):
            if entry.stage == FRAME or (entry.stage == NAME and not self._is_mixed):
                entry.refuse(_NO_FRAME.format(line=entry.line))
                self._close(entry)
        self._awaiting, self._frames_taken = [], 0
        self._function = self._last = None

    def _advance(self, entry: Entry, stage: int) -> None:
        entry.stage, entry.since = stage, self._clock

    def _close(self, entry: Entry) -> None:
        entry.stage = DONE
        self._open.remove(entry)

    def _expire(self) -> None:
        for entry in tuple(self._open):
            late = entry.stage != NAME and self._clock - entry.since > _PATIENCE
            if late or len(self._open) > _MOST_OPEN:
                entry.refuse(_NO_END.format(line=entry.line))
                self._close(entry)
        oldest = self._clock - _FRAME_PATIENCE
        if self._awaiting and self._awaiting[0].since < oldest:
            self._awaiting = [block for block in self._awaiting if block.since >= oldest]
        self._end_sharing()

    def _end_sharing(self) -> None:
        """There was a line for each of those that could not be told apart."""
        if self._frames_taken and self._frames_taken >= len(self._awaiting):
            self._awaiting, self._frames_taken = [], 0
        waiting = [entry for entry in self._open if entry.stage == USED]
        if self._taken and self._taken >= len(waiting):
            self._taken = 0
            for entry in waiting:
                self._close(entry)

    def _settle(self) -> None:
        """A function's block is over: it belongs to the kernel before it."""
        block, self._function = self._function, None
        if block is None:
            return
        if block.frame is None:
            if self._last is not None:
                self._last.misses_lines = True
            if not self._is_mixed:  # its frame is lost
                self._awaiting = [one for one in self._awaiting if one is not block]
        elif self._last is None or self._is_mixed:
            self._lost(block.frame, block.line)
        else:
            self._last.call(block.frame)

    def _lost(self, sizes: tuple[int, int, int], line: int) -> None:
        """A function that spills, and no kernel is known to call it: any of its module may."""
        if not any(sizes[1:]):
            return
        for module in self._modules if self._is_mixed else (self._module,):
            if module.spills is None:
                module.spills = line
