"""``cuobjdump --dump-resource-usage`` (``-res-usage``) as text -> kernels. One pass over the lines.

A file with several images has one report for each; what is said of PTX is not code. The form that
people make with ``grep`` and ``paste``, one line per kernel, is read too: it has no architecture.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from perfkit.compiled.log_lines import clean, is_record, stream_of, strings_of, without_stamps
from perfkit.compiled.log_records import symbol_text
from perfkit.compiled.reasons import NO_LAUNCH
from perfkit.compiled.shared_memory import RESERVED_BYTES, declared_bytes
from perfkit.compiled.troubles import Troubles
from perfkit.kernel import KernelResources

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_SECTION: Final = re.compile(rb"\bFatbin (\w+) code ?:$")
_ARCH: Final = re.compile(rb"\barch = (sm_\d{2,3}[af]?)$")
_FUNCTION: Final = re.compile(rb"\bFunction (?!properties for )(\S.*?) ?:$")
_PAIR: Final = re.compile(rb"(?<![\w.])([A-Z]{2,12}(?:\[\d{1,3}\])?):(\d{1,15}|UNKNOWN)(?!\w)")
_FIRST: Final = re.compile(rb"(?<![\w.])REG:\d")
#: a symbol, or a C++ name with a colon behind it, in front of the values
_OWN_NAME: Final = re.compile(rb"(?:Function )?(?:([\w$.@]+)|(\S.{0,16383}?)(?= ?:)) ?[:,;|]?")
_LEAST_VALUES: Final = 2
_PAIRS_ONLY: Final = re.compile(rb"(?:[A-Z]{2,12}(?:\[\d{1,3}\])?:\w+ ?)+")

#: whole lines have the first for kernels and device functions, the second only for kernels
_LATE, _PARAMETERS = b"TEXTURE", b"CONSTANT[0]"

_NAMELESS: Final = "resources of a function whose name is not in the text"

_NOT_REPORTED: Final = NO_LAUNCH | {
    "uses_dynamic_shared": "cuobjdump does not report dynamic shared memory",
    "spill_store_bytes": "cuobjdump does not report spills",
    "spill_load_bytes": "cuobjdump does not report spills",
    "callee_spill_store_bytes": "cuobjdump does not report spills",
    "callee_spill_load_bytes": "cuobjdump does not report spills",
    "frame_bytes": "cuobjdump's stack is with everything that the kernel calls",
    "parameter_bytes": "cuobjdump does not report it",
    "barriers": "cuobjdump does not report barriers",
    "max_threads": "cuobjdump does not report launch bounds",
    "min_blocks": "cuobjdump does not report launch bounds",
    "required_block": "cuobjdump does not report launch bounds",
    "required_cluster": "cuobjdump does not report clusters",
    "max_cluster_blocks": "cuobjdump does not report launch bounds",
    "unbounded_stack": "cuobjdump does not say of every stack whether it has a bound",
}
_KEYS: Final = {
    "registers_per_thread": b"REG",
    "static_shared_bytes": b"SHARED",
    "stack_bytes": b"STACK",
    "cumulative_stack_bytes": b"STACK",
    "constant_bytes": _PARAMETERS,
}
_UNBOUNDED: Final = "cuobjdump cannot tell: recursion, or calls of unknown functions"
_MISSING: Final = "the line does not have it"
_CUT: Final = "the line breaks off"


class _Function:
    __slots__ = ("arch", "image", "is_cut", "line", "name", "values")

    def __init__(self, name: bytes, arch: bytes | None, line: int, image: int) -> None:
        self.name = name
        self.arch = arch
        self.line = line
        self.image = image
        self.values: dict[bytes, bytes] = {}
        self.is_cut = False

    @property
    def shared(self) -> int:
        value = self.values.get(b"SHARED", b"0")
        return int(value) if value.isdigit() else 0

    @property
    def is_kernel(self) -> bool:
        return _LATE not in self.values or _PARAMETERS in self.values


class UsageReader:
    """Feed it the lines in order, then ask for the kernels."""

    def __init__(self, troubles: Troubles | None = None) -> None:
        self.troubles = troubles if troubles is not None else Troubles()
        self._functions: list[_Function] = []
        self._arch: bytes | None = None
        self._is_code = True
        self._image = 0
        #: names whose values are to come, by who wrote the line: jobs write at the same time
        self._names: dict[bytes, bytes] = {}
        self._last = 0  #: line that may go on, as its values did not all fit

    def feed(self, number: int, line: bytes) -> bool:
        """Take line ``number``, counted from 1; only a file's last may be without its end.

        Returns:
            Whether the next line counts, whatever it looks like.
        """
        end = line.endswith(b"\n")
        for text in strings_of(line) if is_record(line) else (line,):
            *pieces, last = text.split(b"\\n")  # lines inside JSON
            for piece in pieces:
                self._line(number, piece, terminated=True)
            self._line(number, last, terminated=end)
        return self._last > 0

    def _line(self, number: int, line: bytes, *, terminated: bool) -> None:
        goes_on, self._last = self._last >= number - 1 and self._last > 0, 0
        text = clean(line)
        if (first := _FIRST.search(text)) is not None:
            values = text[first.start() :]
            if self._begin(text[: first.start()], values, number):
                self._read(values, number, terminated=terminated)
        elif goes_on and _PAIRS_ONLY.fullmatch(text):
            self._read(text, number, terminated=terminated)
        elif (function := _FUNCTION.search(text)) is not None:
            self._names[stream_of(text[: function.start()]).key] = function[1]
        elif (section := _SECTION.search(text)) is not None:
            self._arch, self._is_code = None, section[1] != b"ptx"
            self._names.clear()
            self._image += 1
        elif self._is_code and (arch := _ARCH.search(text)) is not None:
            self._arch = arch[1]

    def names(self) -> set[str]:
        """The symbols of all kernels so far."""
        return {symbol_text(function.name) for function in self._functions if function.is_kernel}

    def archs(self) -> set[str]:
        """The architectures that the text names."""
        named = {function.arch for function in self._functions}
        return {arch.decode("ascii") for arch in named if arch is not None}

    def kernels(
        self, *, origin: str, arch: str | None = None, shown: Mapping[str, str] | None = None
    ) -> Iterator[KernelResources]:
        """All kernels in order.

        Args:
            origin: the text's name.
            arch: of kernels for which the text names none, such as ``sm_89``.
            shown: symbol -> name for people.
        """
        shown = shown or {}
        # the reservation comes with linking: less than it in one kernel, and none has it
        unlinked = {f.image for f in self._functions if 0 < f.shared < RESERVED_BYTES}
        for function in self._functions:
            known = function.arch.decode("ascii") if function.arch else arch
            name = symbol_text(function.name)
            if not function.is_kernel:
                continue
            if known is None:
                self.troubles.add_without_arch(function.line, name)
            else:
                is_linked = function.image not in unlinked
                names = (name, shown.get(name, name))
                yield _resources(function, names, known, origin, is_linked=is_linked)

    def _begin(self, before: bytes, values: bytes, number: int) -> bool:
        """Whether a function's values begin here, and not somebody's prose about some."""
        name = self._names.pop(stream_of(before).key, None)
        head = without_stamps(before) if name is None else b""
        own = _OWN_NAME.fullmatch(head)
        if head and (own is None or len(_PAIR.findall(values)) < _LEAST_VALUES):
            return False
        if own is not None:
            name = own[1] or own[2]
        if not name:
            self.troubles.add(number, _NAMELESS)
            return False
        self._functions.append(_Function(name, self._arch, number, self._image))
        return True

    def _read(self, text: bytes, number: int, *, terminated: bool) -> None:
        function = self._functions[-1]
        pairs = _PAIR.findall(text)
        whole = text.endswith(tuple(b":".join(pair) for pair in pairs[-1:]))
        if not terminated and pairs and whole and pairs[-1][0] != b"SAMPLER":
            pairs.pop()  # its number may go on
            function.is_cut = True
        for key, value in pairs:
            function.values.setdefault(key, value)
        if _LATE not in function.values:
            self._last = number


def _resources(
    function: _Function, names: tuple[str, str], arch: str, origin: str, *, is_linked: bool
) -> KernelResources:
    numbers: dict[str, Any] = {}
    unknown = dict(_NOT_REPORTED)
    for field, key in _KEYS.items():
        value = function.values.get(key)
        numbers[field] = None if value in {None, b"UNKNOWN"} else int(value or 0)
        if value is None:
            unknown[field] = _CUT if function.is_cut else _MISSING
        elif value == b"UNKNOWN":
            unknown[field] = _UNBOUNDED
    if function.values.get(b"STACK") == b"UNKNOWN":
        numbers["unbounded_stack"] = True
        del unknown["unbounded_stack"]
    if is_linked and (shared := numbers["static_shared_bytes"]) is not None:
        numbers["static_shared_bytes"] = declared_bytes(shared, int(arch.strip("sm_af")))
    stack, local = numbers["stack_bytes"], function.values.get(b"LOCAL", b"UNKNOWN")
    if stack is None or local == b"UNKNOWN":
        numbers["local_bytes"] = None
        unknown["local_bytes"] = unknown.get("stack_bytes", _MISSING)
    else:
        numbers["local_bytes"] = stack + int(local)
    return KernelResources(
        name=names[0],
        demangled=names[1],
        arch=arch,
        spill_store_bytes=None,
        spill_load_bytes=None,
        parameter_bytes=None,
        barriers=None,
        max_threads=None,
        min_blocks=None,
        required_block=None,
        required_cluster=None,
        uses_dynamic_shared=None,
        origin=f"{origin}:{function.line}",
        unknown=unknown,
        **numbers,
    )
