"""C++ names for people: the Itanium ABI's mangling, as CUDA compilers use it.

Grammar: https://itanium-cxx-abi.github.io/cxx-abi/abi.html#mangling. Written here because nothing
small does it: ``itanium-demangler`` (PyPI, 2022) knows neither lambdas, local names, unnamed types
nor expressions, and the wrappers of libstdc++ and LLVM are compiled for few platforms. What is not
understood stays mangled: a wrong name is worse than an ugly one.

CUDA's own habits: the anonymous namespace carries the file and a hash (``_GLOBAL__N__…``), and
what has internal linkage sits in an invented namespace ``_INTERNAL_…``, which is left out.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from perfkit.compiled.mangled_types import Parser
from perfkit.compiled.mangling import NotUnderstoodError

_MAX_NAME: Final = 16 * 1024


class Demangled(NamedTuple):
    """``name`` has template arguments but no parameters; ``signature`` has both."""

    name: str
    signature: str


def demangle(symbol: str) -> Demangled:
    """Name and signature of a mangled symbol; the symbol itself where it does not demangle.

    >>> demangle("_Z4axpyIfLi256EEviT_PKS0_PS0_").name
    'axpy<float, 256>'
    >>> demangle("_ZN3app5firstEPKfi").signature
    'app::first(float const*, int)'
    >>> demangle("saxpy").name
    'saxpy'
    """
    if not symbol.startswith("_Z") or len(symbol) > _MAX_NAME:
        return Demangled(symbol, symbol)
    parser = Parser(symbol, 2)
    try:
        name = parser.name()
    except NotUnderstoodError:
        return Demangled(symbol, symbol)
    try:
        return Demangled(name, name + (parser.parameters() if parser.peek() else ""))
    except NotUnderstoodError:
        return Demangled(name, symbol)


def short_name(symbol: str) -> str:
    """``demangle(symbol).name`` without reading the parameters, in little more than half the time.

    >>> short_name("_Z4axpyIfLi256EEviT_PKS0_PS0_")
    'axpy<float, 256>'
    """
    if not symbol.startswith("_Z") or len(symbol) > _MAX_NAME:
        return symbol
    try:
        return Parser(symbol, 2).name()
    except NotUnderstoodError:
        return symbol
