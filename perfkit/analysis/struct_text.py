"""The text of structs read into members with layouts, definition by definition.

A part of C++'s grammar: no values, no functions, no bases, no bit-fields; each is refused by name.
"""

from __future__ import annotations

import re
from typing import Final

from perfkit.analysis.struct_types import (
    POINTER,
    Field,
    Layout,
    Member,
    array,
    built_in,
    struct,
)
from perfkit.errors import UsageError

_MOST_DEPTH: Final = 16
_COMMENT: Final = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_TOKEN: Final = re.compile(
    r"\s*(?:(?P<word>(?:::)?[A-Za-z_]\w*(?:::[A-Za-z_]\w*)*)"
    r"|(?P<number>0[xX][0-9a-fA-F]+|[0-9]+)(?!\w)|(?P<mark>\S))",
    re.ASCII,
)
_QUALIFIERS: Final = frozenset({"const", "volatile", "mutable"})
_FUNDAMENTAL: Final = frozenset(
    {"unsigned", "signed", "long", "short", "char", "int", "float", "double", "bool"}
)
#: what else a struct may hold, and why nothing is said of it
_REFUSED: Final = {
    "union": "members of a union share their bytes: which one is read?",
    "enum": "write the integer type behind it",
    "virtual": "a class with virtual functions has no layout that is the same on every compiler",
    "static": "a static member is no part of the struct",
    "template": "give one instance of it",
    "typedef": "write the type itself",
    "using": "write the type itself",
}
_ALIGN: Final = frozenset({"alignas", "__align__"})


class Reader:
    """One pass over the tokens; the structs that were defined so far have names."""

    def __init__(self, text: str) -> None:
        self._tokens = [
            match.group(match.lastgroup or 0) for match in _TOKEN.finditer(_COMMENT.sub(" ", text))
        ]
        self._at = 0
        self._known: dict[str, Layout] = {}
        self._depth = 0
        self.last: tuple[Layout, tuple[Field, ...]] | None = None

    def members(self) -> list[Member]:
        """Declarations up to ``}`` or the end."""
        found: list[Member] = []
        while self._next() not in {"", "}"}:
            if not self._skip(";"):
                found += self._declaration()
        if self._depth == 0 and self._next() == "}":
            raise UsageError("the struct has a '}' too many")
        names = [one.name for one in found]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise UsageError(f"the struct has two members {twice!r}")
        return found

    def _declaration(self) -> list[Member]:
        start = self._at
        align = self._alignment()
        is_struct = self._next() in {"struct", "class"}
        layout, kind = self._type(start)
        found: list[Member] = []
        if is_struct and self._next() in {";", "}", ""}:
            if self._tokens[self._at - 1] != "}":
                raise self._no_member(start)
            return found  # it only defines the struct
        while True:
            found.append(self._declarator(layout, kind, align, start))
            if self._skip(","):
                continue
            if self._next() not in {";", ""}:
                raise UsageError(
                    f"{self._next()!r} in {self._text(start)!r} is no name of a member",
                    hint=_WHY_NOT.get(self._next()),
                )
            return found

    def _declarator(self, layout: Layout, kind: str, align: int, start: int) -> Member:
        stars = ""
        while self._next() in {"*", *_QUALIFIERS, "__restrict__"}:
            stars += "*" if self._take() == "*" else ""
        name = self._take()
        if not name.isidentifier() or not name.isascii():
            self._at -= 1 if name else 0
            raise self._no_member(start)
        lengths = []
        while self._skip("["):
            number = self._take()
            if not number[:1].isdigit() or not self._skip("]"):
                raise UsageError(
                    f"{name} in {self._text(start)!r}: the length of an array is a whole number"
                )
            lengths.append(int(number, 0 if number[:2] in {"0x", "0X"} else 10))
        align = max(align, self._alignment())
        try:
            found = array(POINTER if stars else layout, lengths)
        except UsageError as error:
            raise UsageError(f"{name} in {self._text(start)!r}: {error.message}") from None
        if 1 < align < found.alignment_bytes:
            raise _too_little(align, f"{name}, which needs", found.alignment_bytes)
        shown = kind + stars + "".join(f"[{length}]" for length in lengths)
        return Member(name=name, type=shown, layout=found, align=align)

    def _type(self, start: int) -> tuple[Layout, str]:
        """What the declared members are, and how that is written."""
        self._skip_qualifiers()
        word = self._next()
        if word in _REFUSED:
            raise UsageError(f"{word!r} is not laid out", hint=_REFUSED[word])
        if word in {"struct", "class"}:
            return self._struct()
        words = []
        while self._next() in _FUNDAMENTAL:
            words.append(self._take())
            self._skip_qualifiers()
        if not words:
            if not (word[:1].isalpha() or word[:1] in {"_", ":"}):
                raise self._no_member(start)
            words = [self._take().rpartition("::")[2]]
            self._skip_qualifiers()
        name = " ".join(words)
        return (self._known[name] if name in self._known else built_in(words)), name

    def _struct(self) -> tuple[Layout, str]:
        """A struct that is defined here, or the name of one."""
        self._take()
        align, packed = self._attributes()
        name = self._take() if self._next() not in {"{", ""} else ""
        if not self._skip("{"):
            if self._next() == ":":
                raise UsageError(f"{name!r} has a base class, which is not laid out")
            if name not in self._known:
                raise UsageError(f"unknown struct {name!r}", hint="define it before its use")
            return self._known[name], name
        self._depth += 1
        if self._depth > _MOST_DEPTH:
            raise UsageError(f"structs in structs, more than {_MOST_DEPTH} deep")
        members = self.members()
        if not self._skip("}"):
            raise UsageError(f"struct {name} has no end: a '}}' is missing")
        self._depth -= 1
        after, is_packed = self._attributes()
        natural = struct(members, packed=packed or is_packed)[0].alignment_bytes
        align = max(align, after)
        if 1 < align < natural:
            raise _too_little(align, f"struct {name}, which needs", natural)
        self.last = struct(members, align=align, packed=packed or is_packed)
        if name:
            self._known[name] = self.last[0]
        return self.last[0], name or "struct"

    def _attributes(self) -> tuple[int, bool]:
        """Alignment, and whether the struct is packed."""
        align, packed = self._alignment(), False
        while self._next() == "__attribute__":
            self._take()
            inner = self._parentheses()
            words = [word for word in inner if word not in {"(", ")", ",", "__packed__", "packed"}]
            packed = packed or bool({"packed", "__packed__"} & {*inner})
            if words[:1] in (["aligned"], ["__aligned__"]) and len(words) == 2:
                align = max(align, _power_of_two(words[1]))
            elif words:
                raise UsageError(f"the attribute {' '.join(words)!r} is not laid out")
            align = max(align, self._alignment())
        return align, packed

    def _alignment(self) -> int:
        """Of ``alignas(16)``, ``alignas(float4)`` and ``__align__(16)``; 1 without."""
        align = 1
        while self._next() in _ALIGN:
            self._take()
            inner = self._parentheses()
            if len(inner) == 1 and inner[0][:1].isdigit():
                align = max(align, _power_of_two(inner[0]))
            else:
                known = self._known.get(" ".join(inner)) or built_in(inner)
                align = max(align, known.alignment_bytes)
        return align

    def _parentheses(self) -> list[str]:
        """What stands in them; the outer ones are gone."""
        if not self._skip("("):
            raise UsageError(f"{self._tokens[self._at - 1]!r} without its parentheses")
        found, depth = [], 1
        while depth:
            token = self._take()
            if not token:
                raise UsageError("a ')' is missing")
            depth += {"(": 1, ")": -1}.get(token, 0)
            found.append(token)
        return found[:-1]

    def _no_member(self, start: int) -> UsageError:
        return UsageError(
            f"{self._text(start)!r} declares no member",
            hint=_WHY_NOT.get(self._next())
            or "write 'float x', 'int a, b', 'half h[4]' or 'struct P { float x, y; } p'",
        )

    def _text(self, start: int) -> str:
        """The declaration that starts there, up to its end."""
        end = next(
            (n for n in range(start, len(self._tokens)) if self._tokens[n] in {";", "{", "}"}),
            len(self._tokens),
        )
        return " ".join(self._tokens[start:end])

    def _next(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def _take(self) -> str:
        token = self._next()
        self._at += bool(token)
        return token

    def _skip(self, token: str) -> bool:
        found = self._next() == token
        self._at += found
        return found

    def _skip_qualifiers(self) -> None:
        while self._next() in _QUALIFIERS:
            self._take()


#: what stands where a declaration should go on
_WHY_NOT: Final = {
    ":": "bit-fields are not laid out: write the integer that they share",
    "(": "functions and pointers to them are not laid out: write void *f",
    "&": "references are not laid out: write a pointer",
    "=": "leave out the value",
}


def _power_of_two(text: str) -> int:
    value = int(text, 0) if not text.startswith("0") or text[:2] in {"0x", "0X"} else int(text)
    if not 1 <= value <= 2**16 or value & (value - 1):
        raise UsageError(f"an alignment of {text}: must be a power of two up to 65536")
    return value


def _too_little(align: int, what: str, natural: int) -> UsageError:
    return UsageError(f"an alignment of {align} is less than that of {what} {natural}")
