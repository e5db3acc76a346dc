"""What to say beside the numbers of an occupancy answer."""

from __future__ import annotations

from perfkit.analysis.occupancy import Estimate, Hardware
from perfkit.kernel import KernelResources
from perfkit.models.occupancy import Refusal
from perfkit.report.document import printable
from perfkit.units import format_bytes


def notes(e: Estimate) -> list[str]:
    """What is special about one answer, a sentence each."""
    label = e.target.capability.label
    found = []
    if e.driver.refusal is not None:
        found.append(
            f"{printable(e.kernel.demangled) + ' ' if e.kernel else ''}does not launch on "
            f"{e.target.label}: {_refusal_text(e.driver.refusal, label)}"
        )
    if e.hardware is not None:
        found += _hardware_notes(e, e.hardware)
    if set(e.driver.limited_by) != set(e.driver.binding):
        found.append(
            f"{e.target.label}: cuda_occupancy.h also names "
            f"{', '.join(sorted(set(e.driver.limited_by) - set(e.driver.binding)))}, since it "
            "names its limits before it looks at barriers"
        )
    if e.driver.carveout is not None and not e.target.capability.shared_memory.configurable:
        found.append(f"{label} has dedicated shared memory: --carveout has no effect")
    if e.grid is not None and e.target.gpu is None:
        found.append(f"waves need a product: {e.target.label} alone does not say how many SMs")
    if e.cluster_size is not None and e.target.gpu is None:
        found.append(f"clusters need a product: {e.target.label} alone does not say how many SMs")
    if e.cluster is not None and not e.cluster.exact:
        found.append(
            f"clusters on {e.target.label} are an upper bound: they stay inside a GPC, and how "
            "many SMs each GPC has differs from card to card"
        )
    if e.cluster is not None and not e.cluster.portable:
        found.append(f"a cluster of {e.cluster.size} is not portable: the kernel must opt in")
    if e.kernel is not None:
        found += _kernel_notes(e.kernel)
    return found


def _kernel_notes(kernel: KernelResources) -> list[str]:
    found, name = [], printable(kernel.demangled)
    if kernel.uses_dynamic_shared and kernel.dynamic_shared_bytes is None:
        found.append(f"{name} uses dynamic shared memory, counted as 0 bytes: give --smem-dynamic")
    if (reason := kernel.unknown.get("stack_bytes")) is not None:
        found.append(f"{name}: stack bytes unknown: {reason}")
    return found


def _refusal_text(refusal: Refusal, label: str) -> str:
    """Why nothing launches, in a sentence."""
    needed, allowed = refusal.needed, refusal.allowed
    texts = {
        "shared_bytes_per_block": f"a block needs {format_bytes(needed)} of shared memory, {label} "
        f"gives a block at most {format_bytes(allowed)}",
        "registers_per_block": f"the launch check counts {needed} registers per block, {label} "
        f"allows {allowed}",
        "warps_by_registers": f"registers allow {allowed} warps on {label}, a block has {needed}",
        "threads_per_block": f"a block has {needed} threads, the kernel's launch bounds allow "
        f"{allowed}",
    }
    return texts[refusal.resource]


def _hardware_notes(e: Estimate, hardware: Hardware) -> list[str]:
    there, label = hardware.occupancy, e.target.capability.label
    found = []
    if there.blocks_per_sm != e.driver.blocks_per_sm:
        how = (
            "measured on hardware of this capability"
            if hardware.evidence == "measured"
            else "assumed from measurements on 9.0"
        )
        found.append(
            f"{e.target.label}: the occupancy API says {e.driver.blocks_per_sm} blocks per SM, the "
            f"SM holds {there.blocks_per_sm} ({how}): a carveout preference is for the kernel's "
            "own shared memory, the reserved 1 KiB per block comes on top"
        )
    if hardware.is_upper_bound:
        found.append(
            f"{label}: register-limited blocks of one or two warps may stay below the theory"
        )
    return found
