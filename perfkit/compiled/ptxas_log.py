"""``ptxas -v`` and linker output as builds write it -> kernels. One pass over the lines.

Read from whatever surrounds it: ``-Xptxas -v``, ``-res-usage``, NVRTC's and nvJitLink's logs, with
the prefixes, colours and line breaks of build tools, CI systems and pasting. What cannot be told
apart has no numbers, and the reason names the line; nothing is guessed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from perfkit.compiled.log_entries import Entry, Module
from perfkit.compiled.log_joiner import Joiner, Placed
from perfkit.compiled.log_records import resources, symbol_text
from perfkit.compiled.log_streams import LogStream
from perfkit.compiled.troubles import Troubles

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from perfkit.compiled.log_sentences import Sentence, Used
    from perfkit.kernel import KernelResources

_MOST_STREAMS: Final = 64

_NOBODY: Final = "registers of a kernel that cannot be told: lines are missing before it"
_NO_FUNCTION: Final = "spills of a function that cannot be told"
_UNLINKED: Final = (
    "functions are compiled on their own, as by -rdc=true: once linked, kernels that call them "
    "need more registers and stack than stands here; nvcc -Xnvlink -v tells how much"
)
_NO_LINK: Final = "the linker's numbers of a kernel that cannot be told"


class LogReader:
    """Feed it the lines in order, then ask for the kernels."""

    def __init__(self, troubles: Troubles | None = None) -> None:
        self.troubles = troubles if troubles is not None else Troubles()
        self._joiner = Joiner()
        self._entries: list[Entry] = []
        self._streams: dict[bytes, LogStream] = {}
        self._current: LogStream | None = None
        self._begun: bytes | None = None  #: mark of a compiler that began before its first kernel
        self._is_tagged = False  #: marks come again, so that each is a process
        self._linking: dict[bytes, tuple[bytes, bytes | None, int] | None] = {}
        self._links: list[tuple[bytes, bytes | None, int, Used]] = []
        self._unbounded: set[bytes] = set()

    def feed(self, number: int, line: bytes) -> bool:
        """Take line ``number``, counted from 1; only a file's last may be without its end.

        Returns:
            Whether the next line counts, whatever it looks like.
        """
        for placed in self._joiner.feed(number, line):
            self._take(placed)
        return self._joiner.waiting

    def finish(self) -> None:
        """The log ends here; only then are the answers complete."""
        for placed in self._joiner.finish():
            self._take(placed)
        for stream in self._streams.values():
            stream.finish()
        self._streams.clear()
        self._link()
        self._entries.sort(key=lambda entry: entry.line)
        self._note_unlinked()

    def names(self) -> set[str]:
        """The symbols of all kernels."""
        return {symbol_text(name) for name in {entry.name for entry in self._entries}}

    def archs(self) -> set[str]:
        """The architectures that the log names."""
        return {
            symbol_text(arch)
            for arch in {entry.arch for entry in self._entries}
            if arch is not None
        }

    def kernels(
        self, *, origin: str, arch: str | None = None, shown: Mapping[str, str] | None = None
    ) -> Iterator[KernelResources]:
        """All kernels of a log that is finished, in the order in which their records begin.

        Args:
            origin: the log's name.
            arch: of kernels for which the log names none, such as ``sm_89``; meant for logs that
                name none at all.
            shown: symbol -> name for people.
        """
        shown = shown or {}
        for entry in self._entries:
            name = symbol_text(entry.name)
            target = symbol_text(entry.arch) if entry.arch else arch
            if target is None:
                self.troubles.add_without_arch(entry.line, name)
                continue
            yield resources(
                entry,
                name=name,
                demangled=shown.get(name, name),
                arch=target,
                origin=origin,
                unbounded=entry.name in self._unbounded,
            )

    def _take(self, placed: Placed) -> None:
        sentence, line, (key, marked) = placed
        kind, used = sentence.kind, sentence.used
        if kind in {"linked", "unbounded"}:
            name, arch = sentence.values
            self._name(kind, name or b"", arch, placed)
        elif used is not None and (used.stack is not None or key in self._linking):
            link = self._linking.pop(key, None)
            if link is None:
                self.troubles.add(line, _NO_LINK)
            else:
                self._links.append((link[0], link[1] or used.arch, link[2], used))
        elif (stream := self._stream(placed)) is not None:
            self._current = stream
            if (trouble := _pass_on(stream, sentence, line)) is not None:
                self.troubles.add(line, trouble)
        elif used is not None and marked:
            self.troubles.add(line, _NOBODY)

    def _name(self, kind: str, name: bytes, arch: bytes | None, placed: Placed) -> None:
        if kind == "unbounded":
            self._unbounded.add(name)
            return
        key = placed.stream.key
        # two linkers at once: nothing tells whose registers come next
        mixed = self._linking.get(key) is not None
        self._linking[key] = None if mixed else (name, arch, placed.line)

    def _stream(self, placed: Placed) -> LogStream | None:
        """By what marks the line; a mark that never began a record tells nothing."""
        key, marked = placed.stream
        kind = placed.sentence.kind
        if (stream := self._streams.get(key)) is not None:
            self._is_tagged |= bool(key) and kind != "entry"
            if stream is not self._current:  # the one that was silent longest goes first
                self._streams[key] = self._streams.pop(key)
            return stream
        if kind == "entry" or (kind == "function" and not self._streams):
            if len(self._streams) >= _MOST_STREAMS:
                self._streams.pop(next(iter(self._streams))).finish()
            self._streams[key] = stream = LogStream(self._entries)
            if key == self._begun:
                stream.module()
            return stream
        if kind == "module":
            self._begun = key
        # prose about registers, or a process whose beginning is missing
        if (key and (self._is_tagged or not marked)) or kind == "module":
            return None
        busy = [stream for stream in self._streams.values() if stream.is_busy]
        if len(busy) > 1:
            return None
        return busy[0] if busy else self._current

    def _note_unlinked(self) -> None:
        for entry in self._entries:
            is_final = entry.used is None or entry.used.cumulative is not None
            if entry.module.apart is not None and entry.linked is None and not is_final:
                self.troubles.add(entry.module.apart, _UNLINKED)
                return

    def _link(self) -> None:
        """What the linker found takes the place of what the compiler could know."""
        known: dict[bytes, list[Entry]] = {}
        for entry in self._entries:
            known.setdefault(entry.name, []).append(entry)
        for name, arch, line, used in self._links:
            before = [
                entry
                for entry in known.get(name, ())
                if entry.line < line and entry.linked is None and arch in {None, entry.arch}
            ]
            if len({entry.arch for entry in before}) > 1:
                before = [e for e in before if e.used and e.used.registers == used.registers]
            if len({entry.arch for entry in before}) > 1:
                self.troubles.add(line, _NO_LINK)
            elif before:
                before[-1].link(line, used)
            else:
                found = Entry(name, arch or used.arch, line, Module())
                found.link(line, used)
                self._entries.append(found)
        self._links.clear()


def _pass_on(stream: LogStream, sentence: Sentence, line: int) -> str | None:
    """What is wrong with the sentence; None: its kernel is known, or it is no loss."""
    kind, values = sentence.kind, sentence.values
    if kind == "frame":
        stack, stores, loads = values
        sizes = (int(stack or 0), int(stores or 0), int(loads or 0))
        return None if stream.frame(sizes, line) else _NO_FUNCTION
    if sentence.used is not None:
        return None if stream.used(sentence.used, line) else _NOBODY
    if kind == "entry":
        stream.entry(values[0] or b"", values[1], line)
    elif kind == "function":
        stream.function((values[0] or values[1] or b"").strip(b"`*"), line)
    elif kind == "time":
        stream.time()
    elif kind == "module":
        stream.module()
    elif kind == "failed":
        stream.failed(line)
    return None


def read_log(
    lines: Iterable[bytes], *, origin: str, arch: str | None = None
) -> tuple[KernelResources, ...]:
    r"""Every kernel of a log, in the order of its records. ``lines`` carry their line ends.

    >>> (kernel,) = read_log(
    ...     [b"ptxas info    : Compiling entry function 'k' for 'sm_90'\n",
    ...      b"ptxas info    : Function properties for k\n",
    ...      b"    8 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads\n",
    ...      b"ptxas info    : Used 24 registers, used 1 barriers, 40 bytes smem\n"],
    ...     origin="build.log")
    >>> kernel.registers_per_thread, kernel.static_shared_bytes, kernel.spill_store_bytes
    (24, 40, 4)
    """
    reader = LogReader()
    for number, line in enumerate(lines, 1):
        reader.feed(number, line)
    reader.finish()
    return tuple(reader.kernels(origin=origin, arch=arch))
