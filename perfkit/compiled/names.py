"""Names for people when kernels of several images stand side by side."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

from perfkit.compiled.demangle import demangle

if TYPE_CHECKING:
    from collections.abc import Iterable

    from perfkit.kernel import KernelResources


def told_apart(kernels: Iterable[KernelResources]) -> tuple[KernelResources, ...]:
    """The same kernels; a short name that several symbols share becomes the whole signature.

    An image knows only its own overloads, so that one kernel could have two names in one library.
    """
    kernels = tuple(kernels)
    symbols: dict[str, set[str]] = defaultdict(set)
    names = {name: demangle(name) for name in {kernel.name for kernel in kernels}}
    for symbol, name in names.items():
        symbols[name.name].add(symbol)
    found = []
    for kernel in kernels:
        name = names[kernel.name]
        shown = name.signature if len(symbols[name.name]) > 1 else name.name
        found.append(kernel if kernel.demangled == shown else replace(kernel, demangled=shown))
    return tuple(found)
