"""Which kernel of one build is which of another.

Within one architecture: by symbol, then by shown name, then by name without parameters, so that a
kernel that gained a parameter is still the same kernel. Where several have one name they are
paired in order.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable
from typing import Final

from perfkit.compiled.demangle import demangle
from perfkit.kernel import KernelResources

Kernels = tuple[KernelResources, ...]

_DEPTH: Final = {")": 1, ">": 1, "(": -1, "<": -1}


def match(
    old: Iterable[KernelResources], new: Iterable[KernelResources]
) -> tuple[list[tuple[KernelResources, KernelResources]], Kernels, Kernels]:
    """Pairs, what only ``old`` has, and what only ``new`` has; nothing is dropped."""
    left, right = list(old), list(new)
    pairs: list[tuple[KernelResources, KernelResources]] = []
    for key in (_symbol, _shown, _short):
        waiting: defaultdict[tuple[str, str], deque[int]] = defaultdict(deque)
        for place, kernel in enumerate(right):
            waiting[kernel.arch, key(kernel)].append(place)
        unmatched, taken = [], set()
        for kernel in left:
            places = waiting.get((kernel.arch, key(kernel)))
            if places:
                taken.add(place := places.popleft())
                pairs.append((kernel, right[place]))
            else:
                unmatched.append(kernel)
        left = unmatched
        right = [kernel for place, kernel in enumerate(right) if place not in taken]
    return pairs, tuple(left), tuple(right)


def _symbol(kernel: KernelResources) -> str:
    return kernel.name


def _shown(kernel: KernelResources) -> str:
    return kernel.demangled


def _short(kernel: KernelResources) -> str:
    """Template arguments stay, parameters go."""
    if kernel.name.startswith("_Z"):
        return demangle(kernel.name).name
    return _bare(kernel.demangled)


def _bare(name: str) -> str:
    """Without parameters, and without the type that c++filt puts in front of templates.

    >>> _bare("void ns::axpy<(int)4>(float*, void (*)(int))"), _bare("f<(1)>")
    ('ns::axpy<(int)4>', 'f<(1)>')
    >>> _bare("void (anonymous namespace)::k<unsigned int>(float*)")
    '(anonymous namespace)::k<unsigned int>'
    """
    depth, end, start = 0, len(name), 0
    for place in range(len(name) - 1, 0, -1):
        depth += _DEPTH.get(name[place], 0)
        if depth == 0 and name[place] == "(" and end == len(name) and name.endswith(")"):
            end = place
        if depth == 0 and name[place] == " ":
            start = place + 1
            break
    return name[start:end]
