"""What a reader of mangled names walks with: a bounded cursor, and the ABI's tables.

https://itanium-cxx-abi.github.io/cxx-abi/abi.html: 5.1.3 operators, 5.1.5 types and literals,
5.1.10 compression.
"""

from __future__ import annotations

from typing import Final

_MAX_EXPANDED: Final = 256 * 1024  #: substitutions can double a name at every step
_MAX_DEPTH: Final = 80

DIGITS: Final = "0123456789"
BASE36: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"

BUILTIN_TYPES: Final = {
    "v": "void", "w": "wchar_t", "b": "bool", "c": "char", "a": "signed char",
    "h": "unsigned char", "s": "short", "t": "unsigned short", "i": "int", "j": "unsigned int",
    "l": "long", "m": "unsigned long", "x": "long long", "y": "unsigned long long",
    "n": "__int128", "o": "unsigned __int128", "f": "float", "d": "double", "e": "long double",
    "g": "__float128", "z": "...",
    "Dd": "decimal64", "De": "decimal128", "Df": "decimal32", "Dh": "half", "Di": "char32_t",
    "Ds": "char16_t", "Du": "char8_t", "Da": "auto", "Dc": "decltype(auto)",
    "Dn": "decltype(nullptr)",
}  # fmt: skip

LITERAL_SUFFIXES: Final = {"i": "", "j": "u", "l": "l", "m": "ul", "x": "ll", "y": "ull"}

STD_NAMES: Final = {
    "a": "std::allocator", "b": "std::basic_string", "s": "std::string", "i": "std::istream",
    "o": "std::ostream", "d": "std::iostream",
}  # fmt: skip

#: code -> (symbol, number of operands in an expression)
OPERATORS: Final = {
    "nw": ("new", 1), "na": ("new[]", 1), "dl": ("delete", 1), "da": ("delete[]", 1),
    "aw": ("co_await", 1), "ps": ("+", 1), "ng": ("-", 1), "ad": ("&", 1), "de": ("*", 1),
    "co": ("~", 1), "nt": ("!", 1), "pp": ("++", 1), "mm": ("--", 1),
    "pl": ("+", 2), "mi": ("-", 2), "ml": ("*", 2), "dv": ("/", 2), "rm": ("%", 2),
    "an": ("&", 2), "or": ("|", 2), "eo": ("^", 2), "aS": ("=", 2), "pL": ("+=", 2),
    "mI": ("-=", 2), "mL": ("*=", 2), "dV": ("/=", 2), "rM": ("%=", 2), "aN": ("&=", 2),
    "oR": ("|=", 2), "eO": ("^=", 2), "ls": ("<<", 2), "rs": (">>", 2), "lS": ("<<=", 2),
    "rS": (">>=", 2), "eq": ("==", 2), "ne": ("!=", 2), "lt": ("<", 2), "gt": (">", 2),
    "le": ("<=", 2), "ge": (">=", 2), "ss": ("<=>", 2), "aa": ("&&", 2), "oo": ("||", 2),
    "cm": (",", 2), "pm": ("->*", 2), "pt": ("->", 2), "dt": (".", 2), "cl": ("()", 0),
    "ix": ("[]", 2), "qu": ("?", 3),
}  # fmt: skip


class NotUnderstoodError(Exception):
    """The name is malformed, or uses a part of the grammar that is not read here."""


class Cursor:
    """A position in a name. What it may expand to, and how deep, is bounded: names come from files.

    ``depth`` counts nested productions, ``spent`` the characters that substitutions stood for.
    """

    def __init__(self, text: str, at: int) -> None:
        self.text = text
        self.at = at
        self.depth = 0
        self.spent = 0

    def peek(self, length: int = 1) -> str:
        return self.text[self.at : self.at + length]

    def accept(self, token: str) -> bool:
        if self.text.startswith(token, self.at):
            self.at += len(token)
            return True
        return False

    def accept_any(self, characters: str) -> str:
        """The next character if it is one of these, otherwise nothing."""
        found = self.peek()
        if not found or found not in characters:
            return ""
        self.at += 1
        return found

    def expect(self, token: str) -> None:
        if not self.accept(token):
            raise NotUnderstoodError

    def number(self) -> int:
        start = self.at
        while self.accept_any(DIGITS):
            pass
        if not 0 < self.at - start < 10:
            raise NotUnderstoodError
        return int(self.text[start : self.at])

    def sequence(self, digits: str) -> int:
        """``_`` is 0, ``0_`` is 1, and so on: the ABI's sequence ids."""
        start = self.at
        while self.accept_any(digits):
            pass
        found = self.text[start : self.at]
        self.expect("_")
        if len(found) > 6:
            raise NotUnderstoodError
        return int(found, len(digits)) + 1 if found else 0

    def source_name(self) -> str:
        length = self.number()
        found = self.peek(length)
        if not length or len(found) != length:
            raise NotUnderstoodError
        self.at += length
        return found

    def deeper(self, step: int) -> None:
        self.depth += step
        if self.depth > _MAX_DEPTH:
            raise NotUnderstoodError

    def expanded(self, text: str) -> str:
        self.spent += len(text) + 1
        if self.spent > _MAX_EXPANDED:
            raise NotUnderstoodError
        return text
