"""What the numbers of a tiled product do not say by themselves."""

from __future__ import annotations

from perfkit.analysis.gemm import GemmEstimate
from perfkit.models.gemm_instructions import instructions
from perfkit.models.gemm_tile import most_held
from perfkit.units import format_bytes, format_count

#: rows of operands that are no multiple of it cannot be copied 16 bytes at a time
_ALIGNED_BYTES = 16


def notes(e: GemmEstimate) -> list[str]:
    """Of one product, which they do not name."""
    return [*_launch(e), *_instruction(e), *_memory(e), *_alignment(e)]


def _launch(e: GemmEstimate) -> list[str]:
    block, found = e.block, []
    if (refusal := block.driver.refusal) is not None:
        found.append(
            f"does not launch: {refusal.needed} {refusal.resource.replace('_', ' ')}, "
            f"{refusal.allowed} are allowed"
        )
    if e.cluster is not None and not e.cluster.known:
        found.append(
            f"no source says whether {e.target.capability.label} takes clusters of "
            f"{e.cluster.size}: what is said of them is an upper bound"
        )
    if block.spills:
        most = most_held(e.tiling, block.instruction, e.target.capability)
        found.append(
            f"a thread has to hold about {block.registers_held} registers and can have {most}: "
            "the kernel spills"
        )
    if not block.registers_given and not block.instruction.producer_warps:
        found.append("registers are estimated; --regs takes those of a compiled kernel")
    if block.instruction.producer_warps:
        loading = 32 * block.instruction.producer_warps
        found.append(
            f"{loading} of the threads only load; the epilogue's shared memory comes on top of the "
            "stages"
        )
    return found


def _instruction(e: GemmEstimate) -> list[str]:
    known = instructions(e.target.capability, e.problem.dtype, e.machine.roof.unit)
    best, used = known[-1].kind, e.block.instruction.kind
    if used in {best, "simt"}:
        return []
    return [f"the peak is that of {best}: {used} does not reach it on {e.target.capability.label}"]


def _memory(e: GemmEstimate) -> list[str]:
    gpu, found = e.target.gpu, []
    if e.machine.levels["l2"].bytes_per_s is None:
        found.append(
            "no L2 bandwidth is known: the time expected may be too short; a ceilings file has it"
        )
    if not e.machine.l2_bytes:
        found.append("the size of L2 is not known: nothing is assumed to stay there between waves")
    size = e.shape.bytes
    if gpu is not None and size is not None and size > gpu.memory.size_gib * 2**30:
        has = format_bytes(round(gpu.memory.size_gib * 2**30))
        found.append(f"the matrices take {format_count(size, 'B')}, its memory has {has}")
    return found


def _alignment(e: GemmEstimate) -> list[str]:
    p = e.problem
    odd = [
        f"{name} = {value} {dtype}"
        for name, value, dtype in (("k", p.k, p.dtype), ("n", p.n, p.out))
        if value * dtype.bits % (8 * _ALIGNED_BYTES)
    ]
    return [f"no multiple of 16 bytes: {', '.join(odd)}; copies get narrower"] if odd else []
