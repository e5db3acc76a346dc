"""``perfkit inspect -f json`` read back: kernels as they were seen once, perhaps elsewhere.

The schema is additive: keys that are not known here are passed over, and keys that an older file
lacks are unknown, with that as the reason. What is there must be of the right type.
"""

from __future__ import annotations

import json
import re
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Final

from perfkit import files
from perfkit.compiled.reading import Reading
from perfkit.errors import InputError
from perfkit.files import printable, shown
from perfkit.kernel import KernelResources

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SCHEMA: Final = "perfkit.inspect/1"
_HINT: Final = "perfkit inspect -f json writes one"
_MAX_BYTES: Final = 512 * 2**20
_MAX_NUMBER: Final = 2**63 - 1
_ARCH: Final = re.compile(r"sm_[0-9]{2,3}[af]?")
_OLDER: Final = "the file is older than this quantity"
_NO_REASON: Final = "the file does not say why"

#: the schema first, as perfkit writes it, or the kernels first, as after sorting the keys
_HEAD: Final = re.compile(
    rb'(?:\xef\xbb\xbf)?\s*\{\s*"(?:schema"\s*:\s*"perfkit\.inspect/|kernels")'
)


def is_inspect_json(head: bytes) -> bool:
    """Whether these first bytes begin what ``perfkit inspect -f json`` writes.

    >>> is_inspect_json(b'{"schema": "perfkit.inspect/1", "kernels"'), is_inspect_json(b"{}")
    (True, False)
    """
    return _HEAD.match(head) is not None


def read_inspect_json(path: Path) -> Reading:
    """The kernels of the file, in its order, and how much could not be read when it was written.

    Raises:
        InputError: not readable, not JSON, of another schema, without kernels, or a value of the
            wrong type; ``where`` says which one.
    """
    data = files.read(path, _MAX_BYTES, "what perfkit inspect writes")
    try:
        document = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise InputError(f"is no JSON: {error}", where=shown(path), hint=_HINT) from None
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        found = document.get("schema") if isinstance(document, dict) else type(document).__name__
        raise InputError(
            f"the schema is {found!r}, which is not {SCHEMA!r}", where=shown(path), hint=_HINT
        )
    kernels = document.get("kernels")
    if not isinstance(kernels, list) or not kernels:
        raise InputError("holds no kernels", where=f"{shown(path)}: kernels", hint=_HINT)
    found = tuple(
        _kernel(entry, f"{shown(path)}: kernels[{place}]") for place, entry in enumerate(kernels)
    )
    unread = _number(document.get("unread", 0), f"{shown(path)}: unread")
    return Reading(kernels=found, unread=unread)


def _kernel(entry: Any, where: str) -> KernelResources:
    if not isinstance(entry, dict):
        raise InputError("is no object", where=where, hint=_HINT)
    values: dict[str, Any] = {}
    unknown = _reasons(entry.get("unknown", {}), f"{where}.unknown")
    for one in fields(KernelResources):
        place = f"{where}.{one.name}"
        # annotations are text: the type's name, perhaps with "| None"
        kind, _, optional = str(one.type).partition(" | ")
        value = entry.get(one.name)
        if one.name == "unknown":
            continue
        if value is not None:
            reader = _BY_NAME.get(one.name) or _READERS.get(kind, _same)
            values[one.name] = reader(value, place)
        elif optional:
            values[one.name] = None
            if one.name not in entry:
                unknown.setdefault(one.name, _OLDER)
            else:
                unknown.setdefault(one.name, _NO_REASON)
        elif one.name in entry or one.name not in _DERIVED:
            raise InputError("is missing", where=place, hint=_HINT)
    values.setdefault("demangled", values["name"])
    values.setdefault("origin", where)
    return KernelResources(**values, unknown=unknown)


#: text that a file may leave out
_DERIVED: Final = frozenset({"demangled", "origin"})


def _number(value: Any, where: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _MAX_NUMBER:
        raise InputError(f"{_short(value)} is no whole number of at least 0", where=where)
    return value


def _positive(value: Any, where: str) -> int:
    if value == 0:
        raise InputError("0 is no size", where=where)
    return _number(value, where)


def _arch(value: Any, where: str) -> str:
    if not isinstance(value, str) or not _ARCH.fullmatch(value):
        raise InputError(f"{_short(value)} is no architecture such as sm_90", where=where)
    return value


def _yes_or_no(value: Any, where: str) -> bool:
    if not isinstance(value, bool):
        raise InputError(f"{_short(value)} is neither true nor false", where=where)
    return value


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str) or not value:
        raise InputError(f"{_short(value)} is no text", where=where)
    return printable(value)


def _dimensions(value: Any, where: str) -> tuple[int, ...]:
    if not isinstance(value, list) or len(value) != 3:
        raise InputError(f"{_short(value)} is not three numbers", where=where)
    return tuple(_positive(one, where) for one in value)


def _reasons(value: Any, where: str) -> dict[str, str]:
    if not isinstance(value, dict):
        raise InputError(f"{_short(value)} is no object", where=where)
    return {key: _text(reason, f"{where}.{key}") for key, reason in value.items()}


def _same(value: Any, where: str) -> Any:  # noqa: ARG001
    return value


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:40]}…"


_READERS: Final[dict[str, Callable[[Any, str], Any]]] = {
    "bool": _yes_or_no,
    "int": _number,
    "str": _text,
    "tuple[int, int, int]": _dimensions,
}
_BY_NAME: Final[dict[str, Callable[[Any, str], Any]]] = {
    "arch": _arch,
    "max_threads": _positive,
    "threads": _positive,
    "max_cluster_blocks": _positive,
}
