"""Types and values of the Itanium ABI's mangling, and with them the whole parser."""

from __future__ import annotations

from perfkit.compiled.mangled_names import Names, Type
from perfkit.compiled.mangling import (
    BUILTIN_TYPES,
    DIGITS,
    LITERAL_SUFFIXES,
    OPERATORS,
    NotUnderstoodError,
)

_MARKS = {"P": "*", "R": "&", "O": "&&"}
_QUALIFIERS = {"r": " __restrict__", "V": " volatile", "K": " const"}


class Parser(Names):
    def type(self) -> Type:
        code = self.peek(2)
        for spelling in (code[:1], code):
            if spelling in BUILTIN_TYPES:
                self.at += len(spelling)
                return Type(BUILTIN_TYPES[spelling])
        self.deeper(+1)
        arguments, templated = self.arguments, self.templated
        if code[:1] == "S" and code != "St":
            found = self.substitution()
            is_new = self.peek() == "I"
            if is_new:
                found = Type(str(found) + self.template_arguments())
        else:
            found, is_new = self.compound(code), True
        if is_new:
            self.seen.append(found)
        self.arguments, self.templated = arguments, templated
        self.deeper(-1)
        return found

    def compound(self, code: str) -> Type:
        """A type that later substitutions may stand for."""
        if code[:1] in _QUALIFIERS:
            return self.qualified()
        if (mark := self.accept_any("PRO")) != "":
            return self.type().marked(_MARKS[mark])
        if code[:1] == "T":
            found = Type(self.parameter())
            if self.peek() == "I":  # a template template parameter
                self.seen.append(found)
                found = Type(str(found) + self.template_arguments())
            return found
        read = {"F": self.function, "A": self.array, "M": self.member, "D": self.special}
        return read.get(code[:1], self.named)()

    def named(self) -> Type:
        return Type(self.name())

    def qualified(self) -> Type:
        words = ""
        while (code := self.accept_any("rVK")) != "":
            words = _QUALIFIERS[code] + words
        inner = self.type()
        if inner.wraps:
            return inner._replace(right=inner.right + words)
        return inner._replace(left=inner.left + words)

    def function(self) -> Type:
        self.expect("F")
        self.accept("Y")
        result, parameters = self.type(), self.list_of_types()
        self.accept_any("RO")
        self.expect("E")
        return Type(f"{result}", f" ({', '.join(parameters)})", wraps=True)

    def array(self) -> Type:
        self.expect("A")
        size = self.dimension()
        inner = self.type()
        return Type(inner.left, f" [{size}]{inner.right.lstrip()}", wraps=True)

    def member(self) -> Type:
        self.expect("M")
        owner, member = self.type(), self.type()
        return member.marked(f"{'' if member.wraps else ' '}{owner}::*")

    def special(self) -> Type:
        if self.accept("Do"):  # noexcept
            return self.function()
        if self.accept("Dv"):
            size = self.dimension()
            return Type(f"{self.type()} __vector({size})")
        if self.accept("DF"):
            bits = self.number()
            brain = self.accept("b")
            return Type("std::bfloat16_t" if brain else f"_Float{bits}")
        if not self.accept("Dt"):
            self.expect("DT")
        found = f"decltype({self.expression()})"
        self.expect("E")
        return Type(found)

    def dimension(self) -> str:
        if self.accept("_"):
            return ""
        found = f"{self.number()}" if self.peek().isdigit() else self.expression()
        self.expect("_")
        return found

    # -- values ----------------------------------------------------------------------------------

    def literal(self) -> str:
        self.expect("L")
        if self.accept("_Z"):
            found = self.name()
            found += "" if self.peek() == "E" else self.parameters()
            self.expect("E")
            return found
        code, kind = self.peek(), f"{self.type()}"
        value, end, _ = self.text[self.at :].partition("E")
        if not end:
            raise NotUnderstoodError
        self.at += len(value) + 1
        value = value.replace("n", "-", 1)
        if code == "b":
            return {"0": "false", "1": "true"}.get(value, value)
        if code in LITERAL_SUFFIXES:
            return value + LITERAL_SUFFIXES[code]
        return "nullptr" if kind == BUILTIN_TYPES["Dn"] else f"({kind}){value}"

    def expression(self) -> str:
        self.deeper(+1)
        code = self.peek(2)
        if code[:1] == "L":
            found = self.literal()
        elif code[:1] == "T":
            found = self.parameter()
        elif code[:1].isdigit():
            found = self.plain_name() + self.template_arguments()
        else:
            self.at += 2
            found = self.operation(code)
        self.deeper(-1)
        return self.expanded(found)

    def operation(self, code: str) -> str:
        """An operator and its operands, or one of the forms that take types and lists."""
        if code in {"st", "cv", "sr", "tl"}:
            return self.typed_operation(code)
        if code == "cl":
            return f"{self.expression()}({self.values()})"
        if code in {"sz", "sZ", "sp"}:
            inner = self.expression()
            return {"sz": f"sizeof({inner})", "sZ": f"sizeof...({inner})"}.get(code, f"{inner}...")
        if code == "fp":
            self.accept_any("rVK")
            return f"{{parm#{self.sequence(DIGITS) + 1}}}"
        symbol, count = OPERATORS.get(code, ("", 0))
        if not count:
            raise NotUnderstoodError
        operands = [self.expression() for _ in range(count)]
        return f"{symbol}({operands[0]})" if count == 1 else f"({f' {symbol} '.join(operands)})"

    def typed_operation(self, code: str) -> str:
        if code == "sr" and self.peek().isdigit():  # levels of names, not a type
            owner = self.plain_name() + self.template_arguments()
            while not self.accept("E"):
                owner += f"::{self.plain_name()}{self.template_arguments()}"
        else:
            owner = f"{self.type()}"
        if code == "sr":
            return f"{owner}::{self.unqualified()}{self.template_arguments()}"
        if code == "tl":
            return f"{owner}{{{self.values()}}}"
        return f"sizeof({owner})" if code == "st" else f"({owner}){self.expression()}"

    def values(self) -> str:
        found = []
        while not self.accept("E"):
            found.append(self.expression())
        return ", ".join(found)
