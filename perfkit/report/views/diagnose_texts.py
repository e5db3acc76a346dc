"""Words for symptoms: what is seen, what is behind it, what to look at."""

from __future__ import annotations

from typing import Final, NamedTuple

from perfkit.analysis.diagnose import Symptom


class Words(NamedTuple):
    symptom: str
    cause: str
    check: str
    is_share: bool = True
    unit: str = ""


_TRAFFIC: Final = "move less: reuse tiles, fuse kernels, narrower types; perfkit roofline"
_LAYOUT: Final = "neighbouring threads on neighbouring addresses, SoA; perfkit access coalescing"
_BANKS: Final = "padding or an XOR swizzle of the tile; perfkit access banks"
_REGISTERS: Final = "launch bounds, -maxrregcount, arrays indexed at run time; perfkit inspect"

TEXTS: Final[dict[Symptom, Words]] = {
    Symptom.MEMORY_BOUND: Words(
        "memory-bound near the roof", "a memory unit is close to its peak", _TRAFFIC
    ),
    Symptom.COMPUTE_BOUND: Words(
        "compute-bound near the roof",
        "a pipeline of the SM is close to its peak",
        "fewer or cheaper instructions, tensor cores; perfkit roofline",
    ),
    Symptom.BALANCED: Words(
        "compute and memory alike busy",
        "less of one alone gains nothing",
        "less of both: fusion, reuse",
    ),
    Symptom.LATENCY_BOUND: Words(
        "neither compute nor memory busy",
        "latency shows: too little is under way at once",
        "more warps, or more independent work in a thread; perfkit latency",
    ),
    Symptom.SMALL_GRID: Words(
        "the GPU is not filled",
        "less than one wave of blocks",
        "more, smaller blocks or less work per thread; perfkit recommend --elements",
        is_share=False,
        unit=" waves",
    ),
    Symptom.FEW_BLOCKS: Words(
        "fewer blocks than SMs",
        "SMs without any block",
        "more, smaller blocks; perfkit recommend --elements",
        is_share=False,
        unit=" blocks per SM",
    ),
    Symptom.TAIL: Words(
        "a long tail",
        "the last wave is not full and takes as long as a full one",
        "smaller blocks, or a grid of whole waves; perfkit occupancy --grid",
    ),
    Symptom.LOW_OCCUPANCY: Words(
        "low occupancy",
        "few blocks fit on an SM",
        "the resource that limits; perfkit occupancy, perfkit recommend",
    ),
    Symptom.OCCUPANCY_GAP: Words(
        "fewer warps than would fit",
        "uneven blocks, a tail, or blocks that end before others start",
        "work per block, early returns, waves",
    ),
    Symptom.TOO_FEW_WARPS: Words(
        "less than one warp per scheduler",
        "the launch has too few warps for anything else to matter",
        "block and grid size; perfkit recommend",
        is_share=False,
        unit=" warps",
    ),
    Symptom.STALLED: Words(
        "schedulers idle, warps stalled",
        "warps are there but wait",
        "what they wait for: the stall reasons",
        is_share=False,
        unit=" instructions per cycle",
    ),
    Symptom.UNEVEN: Words(
        "schedulers idle, all warps there",
        "the load is uneven, or all wait for the same",
        "work per warp and block, then the stall reasons",
        is_share=False,
        unit=" instructions per cycle",
    ),
    Symptom.STALL_REASON: Words(
        "one reason for most waiting", "", "the lines where it is sampled (source page)"
    ),
    Symptom.UNCOALESCED_LOADS: Words(
        "loads use part of what they fetch", "uncoalesced or misaligned addresses", _LAYOUT
    ),
    Symptom.UNCOALESCED_STORES: Words(
        "stores use part of what they write",
        "uncoalesced or misaligned addresses; L2 takes a turn more for each line written in part",
        _LAYOUT,
    ),
    Symptom.BANK_CONFLICTS_LOADS: Words(
        "shared loads take turns", "lanes of a warp want different words of one bank", _BANKS
    ),
    Symptom.BANK_CONFLICTS_STORES: Words(
        "shared stores take turns", "lanes of a warp want different words of one bank", _BANKS
    ),
    Symptom.DIVERGENCE: Words(
        "lanes switched off",
        "branches that differ inside a warp, or loops that end at different times",
        "conditions along warps, predication; perfkit access divergence",
        is_share=False,
        unit=" of 32 threads",
    ),
    Symptom.PARTIAL_WARP: Words(
        "the last warp of a block is not full",
        "the block size is no multiple of 32",
        "a multiple of 32; 128 to 256 is a good start",
        is_share=False,
        unit=" threads in it",
    ),
    Symptom.LOCAL_MEMORY: Words(
        "much local memory", "registers spill, or arrays are indexed at run time", _REGISTERS
    ),
    Symptom.SPILLS: Words(
        "registers spill",
        "the kernel needs more registers than it may have",
        _REGISTERS,
        is_share=False,
        unit=" B per thread",
    ),
}

#: stall reason -> what warps wait for
STALLS: Final = {
    "long_scoreboard": "warps wait for global or local memory, or textures",
    "short_scoreboard": "warps wait for shared memory or special functions",
    "barrier": "warps wait at __syncthreads for others of their block",
    "membar": "warps wait for a memory fence",
    "lg_throttle": "the queue for global and local memory is full",
    "mio_throttle": "the queue for shared memory and special functions is full",
    "tex_throttle": "the queue for textures is full",
    "math_pipe_throttle": "the pipeline for this arithmetic is busy",
    "wait": "warps wait a fixed number of cycles after an instruction",
    "no_instruction": "instructions are not in the cache: large code or many jumps",
    "no_instructions": "instructions are not in the cache: large code or many jumps",
    "imc_miss": "warps wait for constants",
    "branch_resolving": "warps wait for a branch",
    "dispatch_stall": "the dispatcher holds instructions back",
    "drain": "warps wait for their last stores",
    "sleeping": "warps sleep (__nanosleep)",
    "gmma": "warps wait for a matrix instruction of their group",
}
