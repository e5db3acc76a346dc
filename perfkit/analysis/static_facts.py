"""Figures of compiled kernels for the static gate: each known exactly, or absent with the reason.

The gate decides which kernel has to answer what; here is what is asked for, named as in its rules.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, Protocol

from perfkit.analysis.diff import Known, needed
from perfkit.analysis.fits import Fit, fits, images, no_code, not_known
from perfkit.analysis.launch import Launch
from perfkit.analysis.obstacles import ResourceDemand
from perfkit.analysis.roofline import RooflineQuestion, roofline
from perfkit.arch import catalog
from perfkit.compiled.definitions import source_line
from perfkit.errors import UsageError
from perfkit.files import shown
from perfkit.kernel import DType
from perfkit.models.compatibility import ptx_compiles_for, runs_on
from perfkit.models.operations import operation

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from perfkit.arch.types import Capability, Target
    from perfkit.kernel import KernelResources

#: what is compared with limits as a field of the kernel
_FIELDS: Final = {
    "registers": ("registers_per_thread",),
    "spills": ("spill_store_bytes", "spill_load_bytes"),
    "spill_stores": ("spill_store_bytes",),
    "spill_loads": ("spill_load_bytes",),
    "stack": ("stack_bytes",),
    "unbounded_stack": ("unbounded_stack",),
    "frame": ("frame_bytes",),
    "static_shared": ("static_shared_bytes",),
    "barriers": ("barriers",),
}
#: quantity -> what it is of the blocks that are resident on an SM
_RESIDENT: Final = {"occupancy": "ratio", "blocks": "blocks_per_sm", "warps": "warps_per_sm"}

_NO_BLOCK: Final = (
    "the kernel has no launch bounds, so the block size is not known: write '@256 threads', or "
    "threads: 256"
)
_DYNAMIC: Final = (
    "the kernel uses dynamic shared memory, and how much is only known where it is launched: write "
    "'@256 threads 48K smem', or smem_dynamic: 48K"
)


class Asked(Protocol):
    """One figure of a kernel; ``gate.quantities`` has what the fields mean."""

    @property
    def quantity(self) -> str: ...
    @property
    def threads(self) -> int | None: ...
    @property
    def dynamic_bytes(self) -> int | None: ...
    @property
    def gpu(self) -> str | None: ...
    @property
    def operation(self) -> str | None: ...
    @property
    def dtype(self) -> str | None: ...


class StaticFacts:
    """What is known of the kernels of one build, and of those that they are compared with."""

    def __init__(
        self,
        kernels: Sequence[KernelResources],
        targets: Sequence[Target] = (),
        *,
        explain: Callable[[Fit], str | None],
        paths: Mapping[int, Path] | None = None,
        ptx: Sequence[str] = (),
    ) -> None:
        """Ask about ``kernels``.

        Args:
            kernels: all of the build, so that it is known which of several images a GPU loads.
            targets: GPUs that are asked about where a rule names none.
            explain: words for a launch that fails.
            paths: the file that a kernel, by ``id``, was read from.
            ptx: targets of PTX beside the machine code.
        """
        self._kernels = tuple(kernels)
        self._asked = tuple(targets)
        self._targets = {target.label: target for target in targets}
        self._explain = explain
        self._paths = paths or {}
        self._ptx = tuple(ptx)
        self._answers: dict[str, frozenset[int]] = {}
        self._by_text: dict[str, tuple[Target, ...]] = {}
        self._own: dict[str, Target] = {}

    # -- who answers ---------------------------------------------------------------------------

    def places(self, kernel: KernelResources, asked: Asked) -> Sequence[str | None]:
        """The GPUs on which ``kernel`` answers for the quantity; ``[None]``: on its own."""
        if asked.quantity in _FIELDS:
            return [None]
        targets = self._asked if asked.gpu is None else self._named(asked.gpu)
        if not targets:
            return [None]
        if asked.quantity == "bound":
            return [target.label for target in targets]
        # that a GPU of --gpu runs no code of a kernel is told of the kernel, not of each quantity
        is_asked = asked.gpu is not None or asked.quantity == "fits"
        return [
            target.label
            for target in targets
            if id(kernel) in self._answering(target) and (is_asked or self._runs(kernel, target))
        ]

    @staticmethod
    def _runs(kernel: KernelResources, target: Target) -> bool:
        return runs_on(kernel.arch, target.capability.compute_capability)

    def _named(self, gpu: str) -> tuple[Target, ...]:
        if gpu not in self._by_text:
            self._by_text[gpu] = catalog.targets(gpu)
            self._targets.update((target.label, target) for target in self._by_text[gpu])
        return self._by_text[gpu]

    def _answering(self, target: Target) -> frozenset[int]:
        """The image of each kernel that the GPU loads; where it loads none, the first."""
        if target.label not in self._answers:
            found = images(self._kernels, target.capability.compute_capability)
            self._answers[target.label] = frozenset(
                id(one) for _, loaded, there in found for one in loaded or there[:1]
            )
        return self._answers[target.label]

    # -- what it says --------------------------------------------------------------------------

    def value(self, kernel: KernelResources, asked: Asked, place: str | None) -> Known:
        """The figure, in bytes, seconds or as a ratio; of ``fits`` 1 or 0 and why not."""
        if asked.quantity in _FIELDS:
            return _field(kernel, asked.quantity)
        try:
            target = self._target(kernel, place)
            if asked.quantity == "bound":
                return _bound(target, asked)
            if asked.quantity == "fits":
                return self._fits(kernel, asked, target)
            return _resident(kernel, asked, target.capability)
        except UsageError as error:  # a GPU, or a launch, that the models do not take
            return Known(None, error.message)

    def _target(self, kernel: KernelResources, place: str | None) -> Target:
        if place is not None:
            return self._targets[place]
        if kernel.arch not in self._own:
            number = catalog.capability(kernel.arch).compute_capability
            (self._own[kernel.arch],) = catalog.targets(str(number))
        return self._own[kernel.arch]

    def _fits(self, kernel: KernelResources, asked: Asked, target: Target) -> Known:
        capability = target.capability
        demand = _demand(kernel, asked)
        if self._runs(kernel, target):
            found = fits(target, demand, kernel=kernel.demangled)
        elif any(ptx_compiles_for(one, capability.compute_capability) for one in self._ptx):
            why = "the driver compiles PTX for it, and what that needs is not known"
            found = not_known(target, why=why)
        else:
            there = [one.arch for one in self._kernels if one.demangled == kernel.demangled]
            found = no_code(target, demand, kernel=kernel.demangled, archs=there or [kernel.arch])
        if found.launches is None:
            return Known(None, self._explain(found))
        return Known(int(found.launches), self._explain(found))

    def source(self, kernel: KernelResources) -> tuple[str | None, int | None]:
        """The file that the kernel was read from, and the line in it, if it has lines."""
        path = self._paths.get(id(kernel))
        return (None, None) if path is None else (shown(path), source_line(path, kernel))


def _field(kernel: KernelResources, quantity: str) -> Known:
    total: float = 0
    for name in _FIELDS[quantity]:
        found = needed(kernel, name)
        if found.value is None:
            return found
        total += found.value
    return Known(total)


def _shared_is_open(kernel: KernelResources, asked: Asked) -> bool:
    given = (asked.dynamic_bytes, kernel.dynamic_shared_bytes)
    return bool(kernel.uses_dynamic_shared) and all(size is None for size in given)


def _resident(kernel: KernelResources, asked: Asked, capability: Capability) -> Known:
    if not runs_on(kernel.arch, capability.compute_capability):
        sm = capability.compute_capability.sm
        return Known(None, f"compiled for {kernel.arch}, and {sm} does not run it")
    block = asked.threads if asked.threads is not None else kernel.usual_threads
    if block is None:
        return Known(None, _NO_BLOCK)
    for name in ("registers_per_thread", "static_shared_bytes"):
        if getattr(kernel, name) is None:
            return Known(None, kernel.unknown.get(name, f"{name} is not in the file"))
    if _shared_is_open(kernel, asked):
        return Known(None, _DYNAMIC)
    found = Launch(
        threads=block,
        regs=kernel.registers_per_thread or 0,
        smem=(kernel.static_shared_bytes or 0) + _dynamic(kernel, asked),
        barriers=1 if kernel.barriers is None else kernel.barriers,
        max_threads=kernel.max_threads,
    ).on(capability)
    refusal = found.refusal
    why = refusal and (
        f"{refusal.resource.replace('_', ' ')}: {refusal.needed:,} of {refusal.allowed:,}"
    )
    return Known(getattr(found, _RESIDENT[asked.quantity]), why)


def _dynamic(kernel: KernelResources, asked: Asked) -> int:
    known = (asked.dynamic_bytes, kernel.dynamic_shared_bytes, 0)
    return next(size for size in known if size is not None)


def _demand(kernel: KernelResources, asked: Asked) -> ResourceDemand:
    """The launch that ``fits`` is about; what the file does not tell is open."""
    unknown = [
        f"{name.replace('_', ' ')}: {kernel.unknown.get(name, 'not in the file')}"
        for name in ("registers_per_thread", "static_shared_bytes")
        if getattr(kernel, name) is None
    ]
    if _shared_is_open(kernel, asked):
        unknown.append(_DYNAMIC)
    return ResourceDemand(
        threads=asked.threads if asked.threads is not None else kernel.usual_threads,
        regs=kernel.registers_per_thread,
        static_bytes=kernel.static_shared_bytes,
        dynamic_bytes=_dynamic(kernel, asked),
        cluster=kernel.required_cluster_blocks or 1,
        barriers=1 if kernel.barriers is None else kernel.barriers,
        arch=kernel.arch,
        max_threads=kernel.max_threads,
        required_threads=kernel.required_threads,
        required_cluster=kernel.required_cluster_blocks,
        max_cluster=kernel.max_cluster_blocks,
        unknown=tuple(unknown),
    )


def _bound(target: Target, asked: Asked) -> Known:
    if target.gpu is None:
        return Known(None, f"{target.label} is no product: write 'on h100', or gpu: h100")
    dtype = DType.parse(asked.dtype or "")
    question = RooflineQuestion(dtype=dtype, work=operation(asked.operation or "", dtype))
    return Known(roofline(target, question).bound.time_s)
