"""Which kernel of one build is which of another.

Within one architecture: by symbol, then by shown name, then by name without parameters, so that a
kernel that gained a parameter is still the same kernel. Where several have one name they are
paired in order.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable

from perfkit.compiled.demangle import demangle
from perfkit.kernel import KernelResources

Kernels = tuple[KernelResources, ...]


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
    return _without_parameters(kernel.demangled)


def _without_parameters(name: str) -> str:
    """Cut the last pair of parentheses off a signature.

    >>> _without_parameters("axpy<(int)4>(float*, void (*)(int))"), _without_parameters("f<(1)>")
    ('axpy<(int)4>', 'f<(1)>')
    """
    if not name.endswith(")"):
        return name
    depth = 0
    for place in range(len(name) - 1, 0, -1):
        depth += {")": 1, "(": -1}.get(name[place], 0)
        if depth == 0:
            return name[:place]
    return name
