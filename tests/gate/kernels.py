"""Kernels and facts for the tests of the static gate."""

from __future__ import annotations

from typing import Any

from perfkit.kernel import KernelResources

_FIELDS = (
    "registers_per_thread", "static_shared_bytes", "stack_bytes", "spill_store_bytes",
    "spill_load_bytes", "local_bytes", "constant_bytes", "parameter_bytes", "barriers",
    "max_threads", "min_blocks", "required_block", "required_cluster",
)  # fmt: skip


def kernel(name: str, *, symbol: str | None = None, arch: str = "sm_90", **known: Any):
    """A kernel of which nothing is known but what is given."""
    return KernelResources(
        name=symbol or name,
        demangled=name,
        arch=arch,
        origin="build.log:7",
        **{field: None for field in _FIELDS if field not in known},
        **known,
    )


class Facts:
    """Figures by kernel name, quantity and GPU; what is not there is not known."""

    def __init__(self, figures: dict[tuple[Any, ...], float], gpus: tuple[str, ...] = ()) -> None:
        self.figures = figures
        self.gpus = gpus

    def places(self, one, asked):
        return [None] if asked.of.scope == "kernel" or not self.gpus else self.gpus

    def value(self, one, asked, place):
        key = (
            (one.demangled, asked.quantity)
            if place is None
            else (one.demangled, asked.quantity, place)
        )
        side = getattr(one, "max_threads", None)
        found = self.figures.get((*key, side), self.figures.get(key))
        return (found, None) if found is not None else (None, "the log does not say")

    def source(self, one):
        return "k.cu", 12
