"""Names for people when kernels of several images stand side by side."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from perfkit.compiled.demangle import demangle, short_name

if TYPE_CHECKING:
    from collections.abc import Iterable

    from perfkit.kernel import KernelResources


def shown_names(symbols: Iterable[str]) -> dict[str, str]:
    """Symbol -> name for people: short, or the whole signature where several symbols share it.

    >>> shown_names(["_Z1fi", "_Z1gi", "_Z1gf"])
    {'_Z1fi': 'f', '_Z1gi': 'g(int)', '_Z1gf': 'g(float)'}
    """
    names = {symbol: short_name(symbol) for symbol in symbols}
    shared = Counter(names.values())
    return {
        symbol: demangle(symbol).signature if shared[name] > 1 else name
        for symbol, name in names.items()
    }


def told_apart(kernels: Iterable[KernelResources]) -> tuple[KernelResources, ...]:
    """The same kernels; a short name that several symbols share becomes the whole signature.

    An image knows only its own overloads, so that one kernel could have two names in one library.
    """
    kernels = tuple(kernels)
    shown = shown_names({kernel.name for kernel in kernels})
    return tuple(
        kernel
        if kernel.demangled == shown[kernel.name]
        else replace(kernel, demangled=shown[kernel.name])
        for kernel in kernels
    )
