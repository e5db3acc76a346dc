"""What reading a file gives: kernels, and what has to be said about the rest of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from perfkit.errors import InputError, PerfkitError, Unavailable
from perfkit.record import record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from perfkit.kernel import KernelResources

    #: is told, now and then, what is being read
    Progress: TypeAlias = Callable[[str], None]

#: with more of them, errors of single files are counted instead of listed
_MOST_LISTED: Final = 5


class NoKernel(InputError):
    """Nothing is wrong with what was looked through; there is just no kernel in it."""


@record
class Reading:
    """``notes`` are whole sentences about what could not be read, or is not what it seems."""

    kernels: tuple[KernelResources, ...]  #: in file order
    notes: tuple[str, ...] = ()
    #: targets of PTX beside the machine code, which the driver compiles for GPUs without any
    ptx: tuple[str, ...] = ()
    #: how many files, members, images or kernels there are besides that could not be read
    unread: int = 0


class Collection:
    """Readings of many files, of which some may fail: that is noted, if others have kernels."""

    def __init__(self, what: str) -> None:
        self.what = what  #: a file or directory, for people
        self.looked_at = 0
        self.kernels: list[KernelResources] = []
        self.notes: list[str] = []  #: on the whole
        self.remarks: dict[str, list[str]] = {}  #: note without the file's name -> the files
        self.errors: list[PerfkitError] = []
        self.ptx: dict[str, None] = {}
        self.unread = 0

    def add(self, file: str, read: Callable[[], Reading | None]) -> None:
        """One more file; its notes begin with ``file`` and a colon."""
        try:
            reading = read()
        except NoKernel:
            return
        except (InputError, Unavailable) as error:
            self.errors.append(error)
            self.unread += 1
            return
        if reading is not None:
            self.kernels += reading.kernels
            self.ptx |= dict.fromkeys(reading.ptx)
            self.unread += reading.unread
            for note in reading.notes:
                if f"{file}(" in note:  # an archive's, which names its members
                    self.notes.append(note)
                    continue
                self.remarks.setdefault(note.removeprefix(f"{file}: "), []).append(file)

    def reading(self, looked_for: str) -> Reading:
        """Everything.

        Args:
            looked_for: what would have been read, for the error that there is none of it.

        Raises:
            NoKernel: there is none, though everything could be read.
            PerfkitError: there is none: the first error.
        """
        from perfkit.compiled.names import told_apart

        if not self.kernels:
            missing = [error for error in self.errors if isinstance(error, Unavailable)]
            if first := (missing or self.errors):
                raise first[0]
            raise NoKernel(
                f"no kernel found: looked for {looked_for} among {self.looked_at} "
                f"{'file' if self.looked_at == 1 else 'files'}",
                where=self.what,
                hint="; ".join(self.notes) or None,
            )
        notes = [*self._remarks(), *self.notes, *self._failures()]
        return Reading(
            kernels=told_apart(self.kernels),
            notes=tuple(notes),
            ptx=tuple(sorted(self.ptx)),
            unread=self.unread,
        )

    def _remarks(self) -> list[str]:
        """What is the same for several files is said once."""
        return [
            f"{files[0]}{f' and {len(files) - 1} more' if len(files) > 1 else ''}: {note}"
            for note, files in self.remarks.items()
        ]

    def _failures(self) -> Iterator[str]:
        missing = [error for error in self.errors if isinstance(error, Unavailable)]
        broken = [error for error in self.errors if not isinstance(error, Unavailable)]
        for error in broken[:_MOST_LISTED]:
            yield f"not read: {error}"
        if (more := len(broken) - _MOST_LISTED) > 0:
            yield f"not read: {more} more file{'s' if more > 1 else ''}"
        if missing:
            hint = f"; {missing[0].hint}" if missing[0].hint else ""
            files = "1 file" if len(missing) == 1 else f"{len(missing)} files"
            yield f"not read: {files}: {missing[0]}{hint}"
