"""What to say beside the numbers of an occupancy answer."""

from __future__ import annotations

from perfkit.analysis.occupancy import Estimate, Hardware
from perfkit.kernel import KernelResources
from perfkit.models.cluster import is_open
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
            f"{e.target.label}: {refusal_text(e.driver.refusal, label)}"
        )
    if e.hardware is not None:
        found += _hardware_notes(e, e.hardware)
        found += _preference_notes(e, e.hardware)
    found += _idle_lanes(e)
    found += _barrier_notes(e)
    if e.driver.carveout is not None and not e.target.capability.shared_memory.configurable:
        found.append(f"{label} has dedicated shared memory: --carveout has no effect")
    if e.grid is not None and e.target.gpu is None:
        found.append(f"waves need a product: {e.target.label} alone does not say how many SMs")
    found += _cluster_notes(e)
    if e.kernel is not None:
        found += _kernel_notes(e.kernel)
        found += _other_block(e.kernel, e.driver.threads)
    return found


def _idle_lanes(e: Estimate) -> list[str]:
    warp = e.target.capability.limits.warp_size
    idle = -e.driver.threads % warp
    if not idle:
        return []
    lanes = "1 idle lane" if idle == 1 else f"{idle} idle lanes"
    text = (
        f"the last warp of a block of {e.driver.threads} threads has {lanes}: a block of "
        f"{e.driver.threads + idle} takes the same of an SM"
    )
    return [text]


def _barrier_notes(e: Estimate) -> list[str]:
    found = []
    if set(e.driver.limited_by) != set(e.driver.binding):
        found.append(
            f"{e.target.label}: cuda_occupancy.h also names "
            f"{', '.join(sorted(set(e.driver.limited_by) - set(e.driver.binding)))}, since it "
            "names its limits before it looks at barriers"
        )
    if "barriers" in e.driver.binding:
        fact = "limits.block_barriers_per_sm"
        found += [
            f"the named barriers of {e.target.capability.label} follow {conflict.chosen}, not "
            f"{', '.join(conflict.others)}: {conflict.why}"
            for conflict in e.target.capability.conflicts
            if conflict.fact == fact
        ]
    return found


def _cluster_notes(e: Estimate) -> list[str]:
    limits, size = e.target.capability.cluster, e.cluster_size
    if size is None or limits is None:
        return []
    label, found = e.target.capability.label, []
    if e.target.gpu is None:
        found.append(f"clusters need a product: {e.target.label} alone does not say how many SMs")
    if is_open(limits, size):
        found.append(
            f"{label} takes clusters of {limits.max_portable} "
            f"({e.target.capability.cite('cluster.max_portable')}); whether of {size} is not "
            f"known ({e.target.capability.unknown.get('cluster.max_nonportable', 'no source')}): "
            "what is said of them is an upper bound"
        )
    elif size > limits.max_portable:
        found.append(f"a cluster of {size} is not portable: the kernel must opt in")
    if limits.max_blocks_per_sm is None:
        found.append(
            f"how many blocks of a launch in clusters an SM of {label} holds is not known (9.0: at "
            "most 8, measured): blocks per SM on the hardware are an upper bound"
        )
    elif e.hardware and e.hardware.occupancy.limits.blocks < e.driver.limits.blocks:
        found.append(
            f"an SM of {label} holds at most {limits.max_blocks_per_sm} blocks of a launch in "
            f"clusters ({e.target.capability.cite('cluster.max_blocks_per_sm')})"
        )
    if e.cluster is not None and not e.cluster.exact:
        found.append(
            f"clusters on {e.target.label} are an upper bound: they stay inside a GPC, and how "
            "many SMs each GPC has differs from card to card"
        )
    return found


def _other_block(kernel: KernelResources, threads: int) -> list[str]:
    block = kernel.required_block
    if block is None or kernel.required_threads == threads:
        return []
    size = " x ".join(map(str, block))
    text = (
        f"{printable(kernel.demangled)} is compiled for blocks of {size} threads: it does not "
        f"launch with {threads}, only compiled anew"
    )
    return [text]


def _kernel_notes(kernel: KernelResources) -> list[str]:
    found, name = [], printable(kernel.demangled)
    if kernel.uses_dynamic_shared and kernel.dynamic_shared_bytes is None:
        found.append(f"{name} uses dynamic shared memory, counted as 0 bytes: give --smem-dynamic")
    if (reason := kernel.unknown.get("stack_bytes")) is not None:
        found.append(f"{name}: stack bytes unknown: {reason}")
    return found


def refusal_text(refusal: Refusal, label: str) -> str:
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
        "barriers_per_block": f"a block uses {needed} named barriers, an SM of {label} has "
        f"{allowed}",
        "virtual_resources_per_block": f"a block uses {needed} virtual resources, an SM of {label} "
        f"has {allowed}",
    }
    return texts[refusal.resource]


def _preference_notes(e: Estimate, hardware: Hardware) -> list[str]:
    """What became of a capacity that was asked for by its size."""
    asked, configured = e.carveout_asked_bytes, hardware.configured_shared_bytes
    if asked is None or configured == asked:
        return []
    why = "one block has to fit"
    if e.target.capability.shared_memory.reserved_per_block_bytes:
        why += ", and the reserve of every block comes on top of the preference"
    text = (
        f"{e.target.label}: {format_bytes(asked)} of shared memory is asked for as a preference of "
        f"{e.driver.carveout}%, with which the driver configures {format_bytes(configured)} for "
        f"this launch: {why}"
    )
    return [text]


def _hardware_notes(e: Estimate, hardware: Hardware) -> list[str]:
    there, label = hardware.occupancy, e.target.capability.label
    found = []
    if there.blocks_per_sm > e.driver.blocks_per_sm:
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
