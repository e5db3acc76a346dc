"""The launch as typed, and what it means on one capability for one kernel."""

from __future__ import annotations

from dataclasses import replace

from perfkit.analysis.launch import Launch
from perfkit.arch.types import Capability
from perfkit.cli import options
from perfkit.errors import InvalidLaunch, UsageError
from perfkit.kernel import KernelResources
from perfkit.record import record
from perfkit.units import format_bytes


@record
class LaunchOptions:
    """Unread text of the launch options; ``None``: not given."""

    threads: options.ThreadsOption = None
    regs: options.RegsOption = None
    smem: options.SmemOption = None
    smem_static: options.StaticOption = None
    smem_dynamic: options.DynamicOption = None
    carveout: options.CarveoutOption = None
    barriers: options.BarriersOption = None
    cluster: options.ClusterOption = None
    grid: options.GridOption = None

    def launch(self, capability: Capability, kernel: KernelResources | None) -> Launch:
        """The launch on ``capability``; what was not typed comes from the kernel.

        Raises:
            UsageError: neither typed nor known from the kernel, or contradictory.
            InvalidLaunch: beyond a limit of the capability.
        """
        return Launch(
            threads=self._threads(capability, kernel),
            regs=self._regs(kernel),
            smem=self._smem(kernel),
            carveout=options.carveout_percent(capability, self.carveout),
            barriers=self._barriers(kernel),
            max_threads=kernel.max_threads if kernel is not None else None,
            fixed_threads=kernel is not None and kernel.required_block is not None,
        )

    def carveout_asked_bytes(self) -> int | None:
        """The capacity that the carveout was typed as, if it was."""
        return options.carveout_bytes(self.carveout)

    def refuse_impossible_clusters(self, kernel: KernelResources | None) -> None:
        """Raise ``InvalidLaunch`` for a cluster or a grid that no launch of the kernel can have."""
        cluster = self.cluster and options.dimensions(self.cluster, "--cluster")
        if kernel is not None:
            _refuse_another_cluster(self.cluster, kernel)
            most = kernel.max_cluster_blocks
            if cluster and most is not None and options.volume(cluster) > most:
                raise InvalidLaunch(
                    f"--cluster {self.cluster}: the launch bounds of {kernel.demangled} allow "
                    f"clusters of at most {most}"
                )
        required = kernel.required_cluster if kernel is not None else None
        if self.grid is not None and (cluster or required):
            whole = required is not None or not _is_a_number(self.cluster)
            _refuse_parts_of_clusters(self.grid, cluster or required or (1, 1, 1), whole)

    def launched(self, kernel: KernelResources | None) -> KernelResources | None:
        """The kernel, with its dynamic shared memory if that was typed."""
        dynamic = options.size(self.smem_dynamic, "--smem-dynamic")
        if kernel is not None and (total := options.size(self.smem, "--smem")) is not None:
            dynamic = total - (kernel.static_shared_bytes or 0)
        if kernel is None or dynamic is None:
            return kernel
        return replace(kernel, dynamic_shared_bytes=dynamic)

    def blocks_in_grid(self, capability: Capability) -> int | None:
        return None if self.grid is None else options.grid_blocks(capability, self.grid)

    def cluster_size(self, kernel: KernelResources | None) -> int | None:
        if self.cluster is not None:
            return options.volume(options.dimensions(self.cluster, "--cluster"))
        return None if kernel is None else kernel.required_cluster_blocks

    def _threads(self, capability: Capability, kernel: KernelResources | None) -> int:
        if self.threads is not None:
            return options.block_threads(capability, self.threads)
        if kernel is not None and kernel.usual_threads is not None:
            return kernel.usual_threads
        whose = f"kernel {kernel.demangled} has no launch bounds" if kernel else "no kernel given"
        raise UsageError(f"{whose}: how many threads per block?", hint="write --threads 256")

    def _regs(self, kernel: KernelResources | None) -> int:
        if self.regs is not None:
            return self.regs
        if kernel is None:
            raise UsageError(
                "no kernel and no register count given",
                hint="name a file with kernels, or write --regs 40",
            )
        if kernel.registers_per_thread is None:
            reason = kernel.unknown.get("registers_per_thread", "not in the file")
            raise UsageError(
                f"registers of {kernel.demangled} are unknown: {reason}", hint="write --regs 40"
            )
        return kernel.registers_per_thread

    def _smem(self, kernel: KernelResources | None) -> int:
        total = options.size(self.smem, "--smem")
        static = options.size(self.smem_static, "--smem-static")
        dynamic = options.size(self.smem_dynamic, "--smem-dynamic")
        if total is not None and (static is not None or dynamic is not None):
            raise UsageError(
                "--smem is static + dynamic: give it alone, or --smem-static and --smem-dynamic"
            )
        declared = (kernel.static_shared_bytes if kernel is not None else None) or 0
        if total is not None:
            if total < declared:
                raise UsageError(
                    f"--smem {self.smem}: the kernel declares {format_bytes(declared)} statically",
                    hint="--smem is static + dynamic; --smem-dynamic is what the launch adds",
                )
            return total
        if static is not None and static < declared:
            raise UsageError(
                f"--smem-static {self.smem_static}: the kernel declares {format_bytes(declared)}",
                hint="leave it out; --smem-dynamic is what the launch adds",
            )
        if static is None and kernel is not None and kernel.static_shared_bytes is None:
            reason = kernel.unknown.get("static_shared_bytes", "not in the file")
            raise UsageError(
                f"static shared memory of {kernel.demangled} is unknown: {reason}",
                hint="write --smem-static 4096, or --smem with all of it",
            )
        if dynamic is None and kernel is not None:
            dynamic = kernel.dynamic_shared_bytes
        return (declared if static is None else static) + (dynamic or 0)

    def _barriers(self, kernel: KernelResources | None) -> int:
        if self.barriers is not None:
            return self.barriers
        if kernel is not None and kernel.barriers is not None:
            return kernel.barriers
        return 1

    def static_bytes(self, kernel: KernelResources | None) -> int | None:
        """Static shared memory of a block, typed or else declared; None: neither says it."""
        typed = options.size(self.smem_static, "--smem-static")
        return kernel.static_shared_bytes if kernel is not None and typed is None else typed

    def shared_option(self) -> str | None:
        """The option that decides how much shared memory a block has; None: the kernel does."""
        given = {
            "--smem": self.smem,
            "--smem-dynamic": self.smem_dynamic,
            "--smem-static": self.smem_static,
        }
        return next((option for option, text in given.items() if text is not None), None)


def _is_a_number(text: str | None) -> bool:
    """One number says how many there are in all; two or three how many on each axis."""
    return text is None or text.strip().isdecimal()


def _refuse_another_cluster(text: str | None, kernel: KernelResources) -> None:
    """A kernel compiled for one size of clusters does not launch with another."""
    required = kernel.required_cluster
    if text is None or required is None:
        return
    typed = options.dimensions(text, "--cluster")
    same = options.volume(typed) == options.volume(required)
    if not (same if _is_a_number(text) else typed == required):
        size = " x ".join(map(str, required))
        raise InvalidLaunch(
            f"--cluster {text}: {kernel.demangled} is compiled for clusters of {size}",
            hint="leave --cluster out",
        )


def _refuse_parts_of_clusters(grid: str, cluster: tuple[int, int, int], per_axis: bool) -> None:
    """A grid is whole clusters, on each axis if the axes are known."""
    size = options.dimensions(grid, "--grid")
    pairs = {"": (options.volume(size), options.volume(cluster))}
    if per_axis and not _is_a_number(grid):
        pairs = dict(zip(("x: ", "y: ", "z: "), zip(size, cluster, strict=True), strict=True))
    for axis, (blocks, unit) in pairs.items():
        if unit and blocks % unit:
            raise InvalidLaunch(
                f"--grid {grid}: {axis}{blocks} blocks are no multiple of the cluster's {unit}",
                hint=f"{blocks - blocks % unit or unit} or {blocks - blocks % unit + unit} are",
            )


def refuse_what_fits_nowhere(wanted: list[tuple[Capability, int]], option: str | None) -> None:
    """Shared memory typed that no block of any target can have is a mistake, not an answer.

    Args:
        wanted: bytes per block on each target.
        option: what was typed; None: the kernel says so, and no launch is the answer.

    Raises:
        InvalidLaunch: naming the largest amount among the targets.
    """
    over = [
        (capability.shared_memory.max_per_block_optin_bytes, smem, capability)
        for capability, smem in wanted
        if smem > capability.shared_memory.max_per_block_optin_bytes
    ]
    if option is None or not over or len(over) < len(wanted):
        return
    allowed, smem, capability = max(over)
    raise InvalidLaunch(
        f"{option}: {smem} bytes of shared memory per block, {capability.label} allows "
        f"{allowed} ({format_bytes(allowed)})",
        hint=capability.cite("shared_memory.max_per_block_optin_bytes"),
    )
