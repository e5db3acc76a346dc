"""What is collected of one kernel and of one run of the compiler, until the log ends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from perfkit.compiled.log_sentences import Used

#: What a record waits for.
NAME, FRAME, USED, DONE = range(4)

_MOST_LOST: Final = 64  #: characters of a name that pasting may have taken


class Module:
    """What one run of the compiler says of functions that no kernel is known to call."""

    __slots__ = ("apart", "spills")

    def __init__(self) -> None:
        self.apart: int | None = None  #: line of the first that is compiled on its own
        self.spills: int | None = None  #: line of the first that spills


class Entry:
    """One record; the numbers are None until their line comes."""

    __slots__ = (
        "arch",
        "callee_stack",
        "callees",
        "doubtful_stack",
        "frame",
        "line",
        "linked",
        "misses_lines",
        "module",
        "name",
        "refused",
        "since",
        "stage",
        "used",
    )

    def __init__(self, name: bytes, arch: bytes | None, line: int, module: Module) -> None:
        self.name = name
        self.arch = arch
        self.line = line
        self.module = module
        self.stage = NAME
        self.since = 0  #: the stream's clock when the stage changed
        self.frame: tuple[int, int, int] | None = None  #: bytes: stack, spill stores, spill loads
        self.used: Used | None = None
        self.callees: tuple[int, int, int] | None = None  #: largest frame, spills added up
        self.callee_stack = 0  #: frames added up
        self.doubtful_stack = 0  #: of a function that it may call, in a log of several compilers
        self.misses_lines = False  #: of functions that it calls
        self.linked: tuple[int, Used] | None = None  #: what the linker made of it, and where
        self.refused: str | None = None  #: why the record has no numbers

    def refuse(self, reason: str) -> None:
        self.refused = self.refused or reason

    def call(self, frame: tuple[int, int, int]) -> None:
        """A function with this frame is called."""
        largest, *spills = self.callees or (0, 0, 0)
        stack, stores, loads = frame
        self.callees = (max(largest, stack), spills[0] + stores, spills[1] + loads)
        self.callee_stack += stack

    def link(self, line: int, used: Used) -> None:
        """The linker names the kernel, so that its numbers are beyond doubt."""
        self.linked = (line, used)
        if self.refused is not None:
            self.refused = self.used = self.frame = self.callees = None

    def is_called(self, name: bytes) -> bool:
        """By its name, or by what pasting through Markdown leaves of it."""
        return name == self.name or (
            abs(len(name) - len(self.name)) < _MOST_LOST and _bare(name) == _bare(self.name)
        )


def _bare(name: bytes) -> bytes:
    return name.translate(None, b"_*`\\")


class Function:
    """A device function's block, until it is known whose it is."""

    __slots__ = ("frame", "line", "name", "since")

    def __init__(self, name: bytes, line: int, since: int) -> None:
        self.name = name
        self.line = line
        self.since = since
        self.frame: tuple[int, int, int] | None = None
