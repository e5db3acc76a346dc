"""Every workload by name."""

from __future__ import annotations

from fnmatch import fnmatchcase
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Final

from perfkit.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from perfkit.arch.types import ComputeCapability
    from perfkit.device.workload import Workload

#: in the order of ``perfkit measure --list``
_MODULES: Final = (
    "streaming",
    "layout",
    "reduction",
    "matmul",
    "rows",
    "warps",
    "overlap",
    "tensor",
)


@cache
def library() -> dict[str, Workload]:
    """Name -> workload."""
    found = (
        workload
        for module in _MODULES
        for workload in import_module(f"perfkit.device.workloads.{module}").WORKLOADS
    )
    return {workload.name: workload for workload in found}


def named(patterns: Sequence[str]) -> tuple[Workload, ...]:
    """The workloads that names or patterns (``transpose_*``) mean, each once, in that order.

    Raises:
        UsageError: one means none.
    """
    known = library()
    found: dict[str, Workload] = {}
    for pattern in patterns:
        names = [name for name in known if fnmatchcase(name, pattern)]
        if not names:
            from perfkit.arch.nodes import nearest

            close = nearest(pattern, known)
            hint = f"did you mean {close[0]}?" if close else "perfkit measure --list shows all"
            raise UsageError(f"no workload is called {pattern!r}", hint=hint)
        found |= {name: known[name] for name in names}
    return tuple(found.values())


def cannot_run(workload: Workload, capability: ComputeCapability) -> str | None:
    """Why a workload is not for a card of this capability; None: it is."""
    only, least = workload.only_capability, workload.least_capability
    if only is not None and capability != only:
        return f"uses instructions of {only[0]}.{only[1]} only"
    if capability < least:
        return f"uses instructions of {least[0]}.{least[1]} and later"
    return None
