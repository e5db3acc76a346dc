"""Index expressions as in CUDA C++, read by a parser of their own: nothing of Python is evaluated.

Whole numbers only, computed as in a 64-bit signed integer; division and remainder truncate as in C.
Where the unsigned ``threadIdx.x`` of CUDA would come out otherwise, ``operators`` says so.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple, TypeAlias

from perfkit.analysis.operators import (
    BINARY,
    COMPARISONS,
    FUNCTIONS,
    LIMIT,
    SIGNED,
    STOPS_AT,
    UNARY,
    Unsigned,
    checked,
    signed,
    typed,
)
from perfkit.errors import UsageError

#: values of the names -> value
Evaluate: TypeAlias = Callable[[Mapping[str, int]], int]

MAX_LENGTH: Final = 500
MAX_DEPTH: Final = 32

_TOKEN: Final = re.compile(
    r"\s*(?:(?P<number>0[xX][0-9a-fA-F]+|[0-9]+)[uUlL]{0,3}(?![\w.])"
    r"|(?P<name>[A-Za-z_]\w*(?:\s*\.\s*[A-Za-z_]\w*)?)"
    r"|(?P<symbol><<|>>|<=|>=|==|!=|&&|\|\||[-+*/%<>&|^~!?:(),]))",
    re.ASCII,
)


class Token(NamedTuple):
    kind: str  #: number, name, symbol or end
    text: str
    at: int  #: column, from 0


class Expression:
    """A parsed expression.

    >>> Expression("threadIdx.x * 4 + 1").value({"threadIdx.x": 5})
    21
    >>> Expression("x % 2 == 0 ? min(x, 7) : ~0").value({"x": 8})
    7
    """

    def __init__(self, text: str) -> None:
        """Parse ``text``.

        Raises:
            UsageError: what is not an expression, is too long or nested too deeply; the message
                says in which column.
        """
        self.text = text.strip()
        parser = _Parser(self.text)
        self._evaluate = parser.whole()
        self.names = frozenset(parser.names)

    def value(self, names: Mapping[str, int]) -> int:
        """The value, given those of the names.

        Raises:
            UsageError: a division by zero, a shift or a value out of range.
            KeyError: a name that ``names`` does not hold.
        """
        try:
            return int(self._evaluate(names))
        except ZeroDivisionError:
            raise UsageError(f"{self.text!r}: division by zero") from None
        except OverflowError as error:
            raise UsageError(f"{self.text!r}: {error}") from None


class _Parser:
    """Precedence climbing: each rule returns a function of the names' values."""

    def __init__(self, text: str) -> None:
        if len(text) > MAX_LENGTH:
            raise UsageError(f"an expression of {len(text)} characters; {MAX_LENGTH} are the limit")
        self.text = text
        self.names: set[str] = set()
        self._tokens = list(self._split())
        self._next = 0
        self._depth = 0

    def _split(self) -> list[Token]:
        found, at = [], 0
        while self.text[at:].strip():
            match = _TOKEN.match(self.text, at)
            if match is None or match.lastgroup is None:
                at += len(self.text[at:]) - len(self.text[at:].lstrip())
                raise self._error("not part of an expression of whole numbers", at)
            kind = match.lastgroup
            found.append(Token(kind, match[kind], match.start(kind)))
            at = match.end()
        return [*found, Token("end", "", len(self.text))]

    def _error(self, reason: str, at: int) -> UsageError:
        rest = self.text[at : at + 12]
        where = f"at {rest!r}, column {at + 1}" if rest else "at its end"
        return UsageError(
            f"{self.text!r}: {reason}, {where}",
            hint="an expression of threadIdx.x, blockDim.x, numbers, + - * / % << >> & | ^ ~, "
            "comparisons, ?:, min and max",
        )

    @property
    def _token(self) -> Token:
        return self._tokens[self._next]

    def _take(self, symbol: str) -> bool:
        found = self._token.kind == "symbol" and self._token.text == symbol
        self._next += found
        return found

    def _expect(self, symbol: str) -> None:
        if not self._take(symbol):
            raise self._error(f"{symbol!r} is missing", self._token.at)

    def whole(self) -> Evaluate:
        found = self._choice()
        if self._token.kind != "end":
            raise self._error("it should end", self._token.at)
        return found

    def _choice(self) -> Evaluate:
        """``condition ? one : other``."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise self._error(f"nested more than {MAX_DEPTH} deep", self._token.at)
        condition = self._binary(1)
        if self._take("?"):
            one = self._choice()
            self._expect(":")
            other = self._choice()
            condition = _choose(condition, one, other)
        self._depth -= 1
        return condition

    def _binary(self, least: int) -> Evaluate:
        left = self._unary()
        while self._token.kind == "symbol" and self._token.text in BINARY:
            symbol = self._token.text
            binds, function = BINARY[symbol]
            if binds < least:
                break
            self._next += 1
            left = _combine(symbol, function, left, self._binary(binds + 1))
        return left

    def _unary(self) -> Evaluate:
        token = self._token
        if token.kind == "symbol" and token.text in UNARY:
            self._next += 1
            self._depth += 1
            if self._depth > MAX_DEPTH:
                raise self._error(f"nested more than {MAX_DEPTH} deep", token.at)
            function, inner = UNARY[token.text], self._unary()
            self._depth -= 1
            return lambda names: _of_one(token.text, function, inner(names))
        if (to_sign := self._cast()) is not None:
            inner = self._unary()
            return lambda names: typed(int(inner(names)), signed=to_sign)
        return self._primary()

    def _cast(self) -> bool | None:
        """Take ``(int)``; whether the type has a sign. None: no cast stands here."""
        if not (self._token.kind == "symbol" and self._token.text == "("):
            return None
        end = self._next + 1
        while self._tokens[end].kind == "name":
            end += 1
        sign = SIGNED.get(" ".join(token.text for token in self._tokens[self._next + 1 : end]))
        if sign is None or self._tokens[end].text != ")":
            return None
        self._next = end + 1
        return sign

    def _primary(self) -> Evaluate:
        token = self._token
        self._next += 1
        if token.kind == "number":
            return self._number(token)
        if token.kind == "name" and token.text in FUNCTIONS:
            return self._call(token)
        if token.kind == "name":
            name = re.sub(r"\s", "", token.text)
            self.names.add(name)
            return (lambda names: Unsigned(names[name])) if "." in name else _named(name)
        if token.text == "(":
            inner = self._choice()
            self._expect(")")
            return inner
        raise self._error("a value is missing", token.at)

    def _number(self, token: Token) -> Evaluate:
        hexadecimal = token.text[:2].lower() == "0x"
        if not hexadecimal and len(token.text) > 1 and token.text[0] == "0":
            raise self._error(
                "a number with a leading 0 is octal in C; write it otherwise", token.at
            )
        value = int(token.text, 16 if hexadecimal else 10)
        if value >= LIMIT:
            raise self._error("a number beyond 64 bits", token.at)
        return lambda _: value

    def _call(self, token: Token) -> Evaluate:
        count, function = FUNCTIONS[token.text]
        self._expect("(")
        arguments = [self._choice()]
        while self._take(","):
            arguments.append(self._choice())
        self._expect(")")
        if len(arguments) != count:
            raise self._error(f"{token.text} takes {count} values", token.at)
        return lambda names: checked(function(*(argument(names) for argument in arguments)))


def _named(name: str) -> Evaluate:
    return lambda names: names[name]


def _of_one(symbol: str, function: Callable[[int], int], value: int) -> int:
    return typed(function(value), signed=symbol == "!" or not isinstance(value, Unsigned))


def _choose(condition: Evaluate, one: Evaluate, other: Evaluate) -> Evaluate:
    return lambda names: one(names) if condition(names) else other(names)


def _combine(
    symbol: str, function: Callable[[int, int], int], left: Evaluate, right: Evaluate
) -> Evaluate:
    if symbol in STOPS_AT:
        stop = STOPS_AT[symbol]

        def stopping(names: Mapping[str, int]) -> int:
            first = bool(left(names))
            return int(first if first == stop else bool(right(names)))

        return stopping

    def computed(names: Mapping[str, int]) -> int:
        x, y = left(names), right(names)
        has_sign = signed(symbol, x, y)
        return typed(function(x, y), signed=has_sign or symbol in COMPARISONS)

    return computed
