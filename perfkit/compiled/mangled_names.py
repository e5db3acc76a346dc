"""Names and template arguments of the Itanium ABI's mangling."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

from perfkit.compiled.mangling import (
    BASE36,
    DIGITS,
    OPERATORS,
    STD_NAMES,
    Cursor,
    NotUnderstoodError,
)


class Type(NamedTuple):
    """A declarator wraps around what it declares: ``void (*`` … ``)(int)``."""

    left: str
    right: str = ""
    wraps: bool = False  #: a function or an array: a pointer to it needs parentheses

    def __str__(self) -> str:
        return self.left + self.right

    def marked(self, mark: str) -> Type:
        """Point or refer to this; a reference to a reference collapses."""
        if mark in {"&", "&&"} and self.left.endswith("&"):
            plain = self.left.rstrip("&")
            return Type(plain + min(mark, self.left[len(plain) :]), self.right)
        if self.wraps:
            return Type(f"{self.left} ({mark}", f"){self.right.lstrip()}")
        return Type(self.left + mark, self.right)


def _flat(arguments: list[str | list[str]]) -> list[str]:
    return [
        item
        for argument in arguments
        for item in ([argument] if isinstance(argument, str) else argument)
    ]


class Names(Cursor, ABC):
    def __init__(self, text: str, at: int) -> None:
        super().__init__(text, at)
        self.seen: list[Type] = []  #: what S_, S0_, … stand for
        #: what T_, T0_, … stand for: a type, or a pack of any number
        self.arguments: list[str | list[str]] = []
        self.templated = False  #: the name just read ends in template arguments
        self.element: int | None = None  #: which element of the packs is being expanded
        self.pack_length: int | None = None

    # -- names -----------------------------------------------------------------------------------

    def name(self) -> str:
        self.deeper(+1)
        if self.accept("N"):
            found = self.nested()
        elif self.accept("Z"):
            found = self.local()
        elif self.peek() == "S" and self.peek(2) != "St":
            found = str(self.substitution()) + self.template_arguments()
        else:
            found = ("std::" if self.accept("St") else "") + self.unqualified()
            if self.peek() == "I":
                self.seen.append(Type(found))
                found += self.template_arguments()
        if not found:  # a constructor of nothing
            raise NotUnderstoodError
        self.deeper(-1)
        return found

    def nested(self) -> str:
        while self.accept_any("rVKRO"):
            pass
        found = ""
        while not self.accept("E"):
            code = self.peek(2)
            if code == "St":
                self.at += 2
                found = "std"
                continue
            if code[:1] == "S":
                found = str(self.substitution())
                continue  # it is among the seen already
            if code[:1] == "I":
                found += self.template_arguments()
            elif code[:1] == "T":
                found = self.parameter()
            elif code in {"Dt", "DT"}:
                found = str(self.type())
            else:
                part = self.unqualified(enclosing=found)
                found = f"{found}::{part}" if found and part else found or part
            if self.peek() != "E":
                self.seen.append(Type(found))
        if not found:
            raise NotUnderstoodError
        return found

    def local(self) -> str:
        outer = self.name()
        if self.peek() != "E":
            outer += self.parameters()
        self.expect("E")
        if self.accept("s"):
            entity = "string literal"
        else:
            if self.accept("d"):
                self.sequence(DIGITS)
            entity = self.name()
        if self.accept("__"):
            self.sequence(DIGITS)
        elif self.accept("_"):
            self.number()
        return f"{outer}::{entity}"

    def unqualified(self, enclosing: str = "") -> str:
        self.accept("L")  # internal linkage
        code = self.peek(2)
        if code[:1].isdigit():
            found = self.plain_name()
        elif code[:1] in {"C", "D"} and code[1:].isdigit() and enclosing:
            self.at += 2
            own = enclosing.partition("<")[0].rpartition("::")[2]
            found = own if code[0] == "C" else f"~{own}"
        elif self.accept("Ut"):
            found = f"{{unnamed type#{self.sequence(DIGITS) + 1}}}"
        elif self.accept("Ul"):
            parameters = self.list_of_types()
            self.expect("E")
            found = f"{{lambda({', '.join(parameters)})#{self.sequence(DIGITS) + 1}}}"
        elif self.accept("cv"):
            found = f"operator {self.type()}"
        elif code in OPERATORS:
            self.at += 2
            symbol = OPERATORS[code][0]
            found = f"operator {symbol}" if symbol[0].isalpha() else f"operator{symbol}"
        else:
            raise NotUnderstoodError
        while self.accept("B"):
            found += f"[abi:{self.source_name()}]"
        self.templated = False
        return found

    def plain_name(self) -> str:
        found = self.source_name()
        if found.startswith(("_GLOBAL__N", "_GLOBAL_.N", "_GLOBAL_$N")):
            return "(anonymous namespace)"
        return "" if found.startswith("_INTERNAL_") else found

    def substitution(self) -> Type:
        self.expect("S")
        if (code := self.accept_any("absiod")) != "":
            return Type(STD_NAMES[code])
        index = self.sequence(BASE36)
        if index >= len(self.seen):
            raise NotUnderstoodError
        self.expanded(str(self.seen[index]))
        return self.seen[index]

    # -- template arguments and parameters -------------------------------------------------------

    def template_arguments(self) -> str:
        if not self.accept("I"):
            return ""
        self.deeper(+1)
        enclosing = self.arguments
        mine: list[str | list[str]] = []
        while not self.accept("E"):
            mine.append(self.argument())
            self.arguments = enclosing
        self.arguments, self.templated = mine, True
        self.deeper(-1)
        return f"<{', '.join(_flat(mine))}>"

    def argument(self) -> str | list[str]:
        if self.accept("J"):
            self.deeper(+1)
            pack: list[str | list[str]] = []
            while not self.accept("E"):
                pack.append(self.argument())
            self.deeper(-1)
            return _flat(pack)
        if self.accept("X"):
            found = self.expression()
            self.expect("E")
            return found
        if self.peek() == "L":
            return self.literal()
        return self.types() if self.peek(2) == "Dp" else f"{self.type()}"

    def parameter(self) -> str:
        """``T_``: what the template was instantiated with; ``auto`` of a lambda has nothing."""
        self.expect("T")
        index = self.sequence(DIGITS)
        if index >= len(self.arguments):
            if self.arguments:
                raise NotUnderstoodError
            return "auto"
        found = self.arguments[index]
        if isinstance(found, list):
            self.pack_length = len(found)
            if self.element is not None and self.element < len(found):
                return self.expanded(found[self.element])
            found = ", ".join(found)
        return self.expanded(found)

    def parameters(self) -> str:
        """The parameter list after a name; of templates the return type comes first."""
        if self.templated:
            self.type()
        return f"({', '.join(self.list_of_types())})"

    def list_of_types(self) -> list[str]:
        """Types up to ``E``, the end, or the suffix that compilers add to a clone."""
        found: list[str] = []
        if self.accept("v"):
            return found
        while self.peek() not in {"", "E", ".", "$"}:
            found += self.types()
        return found

    def types(self) -> list[str]:
        """One type, or as many as the pack has that ``Dp`` expands."""
        if not self.accept("Dp"):
            return [str(self.type())]
        start, self.pack_length = self.at, None
        pattern = str(self.type())
        if self.pack_length is None or self.element is not None:
            return [f"{pattern}..."]
        end, seen, found = self.at, self.seen, []
        for element in range(self.pack_length):
            self.element, self.at, self.seen = element, start, list(seen)
            found.append(self.expanded(str(self.type())))
        self.at, self.seen, self.element = end, seen, None
        return found

    @abstractmethod
    def type(self) -> Type: ...

    @abstractmethod
    def literal(self) -> str: ...

    @abstractmethod
    def expression(self) -> str: ...
