"""What a text says and nobody can use: the first few lines of it, and how many there are."""

from __future__ import annotations

from typing import Final, NamedTuple

_MOST_KEPT: Final = 5


class Trouble(NamedTuple):
    line: int
    text: str


class Troubles:
    """Kept short, as a log of a million lines may have trouble with all of them."""

    def __init__(self) -> None:
        self._kept: list[Trouble] = []
        self._count = 0
        self._nameless: Trouble | None = None
        self.nameless = 0  #: kernels of which the text names no architecture

    def add(self, line: int, text: str) -> None:
        self._count += 1
        if len(self._kept) < _MOST_KEPT:
            self._kept.append(Trouble(line, text))

    def add_without_arch(self, line: int, kernel: str) -> None:
        self.nameless += 1
        self._nameless = self._nameless or Trouble(line, kernel)

    def without_arch(self) -> str | None:
        """A sentence on the kernels whose architecture the text does not name, if there are any."""
        if self._nameless is None:
            return None
        line, kernel = self._nameless
        others = self.nameless - 1
        more = f" and {others} more kernels" if others else ""
        return f"line {line}: the text names no architecture for {kernel}{more}"

    def notes(self, origin: str) -> tuple[str, ...]:
        """Sentences for people, in the order of the lines."""
        found = [f"line {line}: {text}" for line, text in sorted(self._kept)]
        if self._count > len(self._kept):
            found.append(f"{self._count - len(self._kept)} more lines could not be used")
        if (nameless := self.without_arch()) is not None:
            found.append(f"{nameless}; not listed")
        return tuple(f"{origin}: {note}" for note in found)
