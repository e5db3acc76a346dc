"""YAML read strictly: a file becomes nodes, a node becomes exactly the value that is written.

PyYAML's constructors are not used, because YAML 1.1 is generous where a database must not be: of
two equal keys the last wins, ``010`` is 8, ``48:30`` is 2910, ``off`` is false and ``1e9`` is text.
Here every scalar is matched against the one spelling allowed for its type, and everything else is
an ``ArchDataError`` that names the file and the line.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NoReturn

import yaml

from perfkit import files
from perfkit.errors import ArchDataError, InputError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from yaml._yaml import Mark as CMark
    from yaml.error import Mark

Node = yaml.Node
Entry = tuple[yaml.ScalarNode, Node]

_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TAG: Final = "tag:yaml.org,2002:"
_NUMBER: Final = re.compile(r"(0|[1-9][0-9]{0,17})(?:\.([0-9]{1,9}))?", re.ASCII)
#: the largest file of the database has 10 KB
_MAX_FILE_BYTES: Final = 1 << 20


def nearest(name: str, known: Iterable[str], count: int = 1) -> list[str]:
    """The most similar of the known names, best first; empty when nothing is similar."""
    import difflib

    return difflib.get_close_matches(name, list(known), n=count, cutoff=0.6)


class Source:
    """One file of YAML: its root node, and errors that name a line of it."""

    def __init__(self, path: Path, kind: str = "a file of the database") -> None:
        self.path = path
        self._kind = kind
        self.root = self._compose(self._text())

    def fail(self, node: yaml.Node | None, message: str, hint: str | None = None) -> NoReturn:
        """Raise an ``ArchDataError`` at the node's line."""
        raise ArchDataError(message, where=self.at(node), hint=hint)

    def at(self, node: yaml.Node | None) -> str:
        """``file:line`` of a node; line 1 without one."""
        return self._at(node.start_mark if node is not None else None)

    def _at(self, mark: Mark | CMark | None) -> str:
        return f"{self.path}:{mark.line + 1 if mark else 1}"

    def _text(self) -> str:
        where = str(self.path)
        try:
            data = files.read(self.path, _MAX_FILE_BYTES, self._kind)
        except InputError as error:
            raise ArchDataError(error.message, where=where) from error
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            byte = data[error.start]
            raise ArchDataError(
                f"not UTF-8: byte {byte:#04x} at offset {error.start}", where=f"{where}:{line}"
            ) from None

    def _compose(self, text: str) -> yaml.Node:
        try:
            self._refuse_anchors(text)
            root = yaml.compose(text, Loader=_LOADER)
        except yaml.MarkedYAMLError as error:
            what = " ".join(filter(None, (error.context, error.problem)))
            where = self._at(error.problem_mark or error.context_mark)
            raise ArchDataError(f"not YAML: {what}", where=where) from None
        except yaml.reader.ReaderError as error:
            line = text.count("\n", 0, error.position) + 1
            raise ArchDataError(
                f"not YAML: {error.reason}: {error.character!r}", where=f"{self.path}:{line}"
            ) from None
        except RecursionError:  # only the pure Python loader; libyaml stops at 1000 levels
            raise ArchDataError("not YAML: nested too deeply", where=f"{self.path}:1") from None
        if root is None:
            self.fail(None, "the file is empty")
        return root

    def _refuse_anchors(self, text: str) -> None:
        """An alias hides what a file says, and a tree of them is a memory bomb."""
        if "&" not in text and "*" not in text:
            return
        for event in yaml.parse(text, Loader=_LOADER):
            name = getattr(event, "anchor", None)
            if name is not None:
                raise ArchDataError(
                    f"anchors and aliases are not allowed: {name!r}",
                    where=self._at(event.start_mark),
                    hint="write the value out",
                )

    # -- collections ------------------------------------------------------------------------

    def mapping(self, node: yaml.Node, path: str) -> dict[str, Entry]:
        """Key -> (key node, value node); duplicate keys and keys that are no text are errors."""
        if not isinstance(node, yaml.MappingNode):
            self._expected(node, path, "a mapping")
        entries: dict[str, Entry] = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                self.fail(key, prefixed(path, f"a key must be text, got {_shown(key)}"))
            if key.value in entries:
                self.fail(key, f"{join(path, key.value)}: duplicate key {key.value!r}")
            entries[key.value] = (key, value)
        return entries

    def sequence(self, node: yaml.Node, path: str) -> list[yaml.Node]:
        if not isinstance(node, yaml.SequenceNode):
            self._expected(node, path, "a list")
        return list(node.value)

    # -- scalars ----------------------------------------------------------------------------

    def is_null(self, node: yaml.Node, path: str) -> bool:
        """Whether ``null`` is written; a value left out is an error, as it may be an accident."""
        if not isinstance(node, yaml.ScalarNode) or node.tag != _TAG + "null":
            return False
        if node.value != "null":
            self.fail(node, f"{path}: no value", hint="write null, and the reason under unknown")
        return True

    def whole(self, node: yaml.Node, path: str, factor: int = 1) -> int:
        """A number times ``factor``, exactly: 5.5 MiB is 5767168 bytes, 86.4 GB/s 86400000000.

        Without a factor only a whole number will do.
        """
        match = _NUMBER.fullmatch(node.value) if _plain(node, "int", "float") else None
        if match is None or (factor == 1 and match.group(2)):
            self._expected(node, path, "a whole number" if factor == 1 else "a number")
        whole, fraction = match.group(1), match.group(2) or ""
        unit: int = 10 ** len(fraction)
        value, rest = divmod(int(whole + fraction) * factor, unit)
        if rest or value >= 1 << 63:
            self.fail(node, f"{path}: {node.value!r} is not a whole number in the SI unit")
        return value

    def number(self, node: yaml.Node, path: str) -> float:
        if _plain(node, "int", "float") and _NUMBER.fullmatch(node.value):
            return float(node.value)
        self._expected(node, path, "a number")

    def boolean(self, node: yaml.Node, path: str) -> bool:
        if _plain(node, "bool") and node.value in {"true", "false"}:
            return bool(node.value == "true")
        self._expected(node, path, "true or false")

    def string(self, node: yaml.Node, path: str) -> str:
        if not isinstance(node, yaml.ScalarNode):
            self._expected(node, path, "text")
        if node.tag != _TAG + "str":
            kind = node.tag.removeprefix(_TAG)
            self._expected(node, path, "text", f"YAML reads it as {kind}: put it in quotes")
        if not node.value.strip():
            self.fail(node, f"{path}: the text is empty")
        return str(node.value)

    def _expected(self, node: yaml.Node, path: str, what: str, hint: str | None = None) -> NoReturn:
        self.fail(node, prefixed(path, f"expected {what}, got {_shown(node)}"), hint)


def _plain(node: yaml.Node, *types: str) -> bool:
    return (
        isinstance(node, yaml.ScalarNode)
        and not node.style  # quoted
        and node.tag in {_TAG + name for name in types}
    )


def kind(node: yaml.Node) -> str:
    """``scalar``, ``mapping`` or ``list``."""
    if isinstance(node, yaml.ScalarNode):
        return "scalar"
    return "mapping" if isinstance(node, yaml.MappingNode) else "list"


def _shown(node: yaml.Node) -> str:
    if not isinstance(node, yaml.ScalarNode):
        return f"a {kind(node)}"
    quoted = "the text " if node.style in {"'", '"'} else ""
    text = str(node.value)
    return quoted + repr(text if len(text) <= 60 else text[:57] + "...")


def prefixed(path: str, message: str) -> str:
    """The message with the place in the file in front; the file as a whole needs none."""
    return f"{path}: {message}" if path else message


def join(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key
