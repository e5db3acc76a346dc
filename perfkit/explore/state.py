"""What is asked: one frozen record of texts, each as the option of that name takes it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Protocol

from perfkit.record import record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from perfkit.analysis.occupancy import Estimate
    from perfkit.arch.types import Target
    from perfkit.kernel import KernelResources


#: a launch to start from, where nothing is known
_START: Final = {"threads": "256", "regs": "32"}


@record
class State:
    """Everything the explorer was told; an empty text is an option that is not given."""

    gpu: str | None = None  #: as ``--gpu`` takes it; None: not chosen yet
    path: str | None = None  #: of the file with kernels; None: numbers are typed
    kernel: KernelResources | None = None  #: of that file
    threads: str = ""
    regs: str = ""
    smem_static: str = ""
    smem_dynamic: str = ""
    carveout: str = ""
    barriers: str = ""
    cluster: str = ""
    grid: str = ""
    dtype: str = ""
    op: str = ""

    def text(self, name: str) -> str:
        found: str = getattr(self, name)
        return found

    def having(self, **texts: Any) -> State:
        """With other texts of the fields that are named."""
        return replace(self, **texts)

    def completed(self) -> State:
        """With numbers to start from, in sight, where neither a kernel nor anybody gave them."""
        kernel = self.kernel
        given = {
            "threads": kernel.usual_threads if kernel else None,
            "regs": kernel.registers_per_thread if kernel else None,
        }
        start = {
            name: text
            for name, text in _START.items()
            if given[name] is None and not self.text(name)
        }
        return self.having(**start)

    def without_file(self) -> State:
        """The same numbers, typed: what came from the kernel is written out."""
        kernel = self.kernel
        if kernel is None:
            return replace(self, path=None)
        own = {
            "threads": kernel.usual_threads,
            "regs": kernel.registers_per_thread,
            "smem_static": kernel.static_shared_bytes,
            "smem_dynamic": kernel.dynamic_shared_bytes,
            "barriers": kernel.barriers,
            "cluster": kernel.required_cluster_blocks,
        }
        typed = {
            name: str(value)
            for name, value in own.items()
            if value is not None and not self.text(name)
        }
        return self.having(path=None, kernel=None, **typed)


class CommandLine(Protocol):
    """What the command line lends: how it reads names, numbers and files.

    Everything raises ``PerfkitError`` where the command line would end with a message.
    """

    @property
    def compiling(self) -> tuple[str, ...]:
        """The options with which sources are compiled, as typed."""

    def target(self, gpu: str) -> Target:
        """The one target of that name."""

    def kernels(self, path: str, gpu: str | None) -> Sequence[tuple[Target, KernelResources]]:
        """The kernels of a file, each for the GPU, or for what it is compiled for."""

    def estimate(self, state: State, target: Target) -> Estimate:
        """The answer of ``perfkit occupancy``."""
