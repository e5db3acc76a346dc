"""Values of one file that cannot all be true: each is refused at the line of the culprit."""

from __future__ import annotations

import pytest

from perfkit.arch import schema
from perfkit.errors import ArchDataError
from tests.arch.broken import CAPABILITY, GPU, change, copy

#: id -> file, text to replace, replacement, message
CONTRADICTIONS = {
    "two dimensions": (
        CAPABILITY,
        "[1024, 1024, 64]",
        "[1024, 64]",
        "limits.max_block_dim: must have three dimensions",
    ),
    "threads of a block": (
        CAPABILITY,
        "max_threads_per_block: 1024",
        "max_threads_per_block: 4096",
        "limits.max_threads_per_block: is above max_threads_per_sm",
    ),
    "warps": (
        CAPABILITY,
        "max_warps_per_sm: 64",
        "max_warps_per_sm: 48",
        "limits.max_warps_per_sm: times warp_size is not max_threads_per_sm",
    ),
    "blocks": (
        CAPABILITY,
        "max_blocks_per_sm: 32",
        "max_blocks_per_sm: 65",
        "limits.max_blocks_per_sm: is above max_warps_per_sm",
    ),
    "registers of a block": (
        CAPABILITY,
        "max_per_block: 65536",
        "max_per_block: 131072",
        "registers.max_per_block: is above per_sm",
    ),
    "register file": (
        CAPABILITY,
        "per_sm: 65536",
        "per_sm: 65537",
        "registers.per_sm: is not whole allocation units in every sub-partition",
    ),
    "capacities descend": (
        CAPABILITY,
        "[0, 8, 16, 32, 64,",
        "[0, 16, 8, 32, 64,",
        "shared_memory.capacities_kib: must ascend",
    ),
    "capacity twice": (
        CAPABILITY,
        "[0, 8, 16, 32, 64,",
        "[0, 8, 8, 32, 64,",
        "shared_memory.capacities_kib: must ascend",
    ),
    "largest capacity": (
        CAPABILITY,
        "196, 228]",
        "196]",
        "shared_memory.capacities_kib: must end with what an SM has",
    ),
    "opt-in below": (
        CAPABILITY,
        "optin_kib: 227",
        "optin_kib: 32",
        "shared_memory.max_per_block_optin_kib: is below the limit without opting in",
    ),
    "opt-in above": (
        CAPABILITY,
        "optin_kib: 227",
        "optin_kib: 228",
        "shared_memory.max_per_block_optin_kib: does not fit an SM with its reservation",
    ),
    "no evidence for the carveout": (
        CAPABILITY,
        "carveout_evidence: measured",
        "carveout_evidence: null",
        "shared_memory.carveout_evidence: must be given where shared memory is configurable",
    ),
    "allocation unit": (
        CAPABILITY,
        "allocation_unit_bytes: 128",
        "allocation_unit_bytes: 130",
        "shared_memory.allocation_unit_bytes: does not divide what an SM has",
    ),
    "L1 smaller than shared": (
        CAPABILITY,
        "unified_with_shared_kib: 256",
        "unified_with_shared_kib: 128",
        "l1.unified_with_shared_kib: is less than the shared memory of an SM",
    ),
    "type without input": (
        CAPABILITY,
        "input_types: [f64, f16, s8]",
        "input_types: [f64, f16]",
        "tensor_core.rates: s8 is not among the input types",
    ),
    "target of another": (
        CAPABILITY,
        "[sm_90, sm_90a]",
        "[sm_90, sm_80]",
        "compilation.targets: 'sm_80' is no target of sm_90",
    ),
    "no version": (
        CAPABILITY,
        'first_cuda: "11.8"',
        "first_cuda: eleven",
        "compilation.first_cuda: 'eleven' is no CUDA version",
    ),
    "last before first": (
        CAPABILITY,
        "last_cuda: null",
        'last_cuda: "11.7"',
        "compilation.last_cuda: is before first_cuda",
    ),
    "cluster": (
        CAPABILITY,
        "max_nonportable: 16",
        "max_nonportable: 4",
        "cluster.max_nonportable: is below the portable cluster size",
    ),
    "latency of nothing": (
        GPU,
        "  l2_cycles: 200\n  dram_cycles: 500\n",
        "  l2_cycles: null\n",
        "latency: says nothing",
    ),
    "DRAM faster than L2": (
        GPU,
        "l2_cycles: 200",
        "l2_cycles: 501",
        "latency.l2_cycles: is above dram_cycles",
    ),
    "L1 faster than shared memory": (
        CAPABILITY,
        "shared_cycles: 30",
        "shared_cycles: 41",
        "latency.shared_cycles: is above l1_cycles",
    ),
    "groups": (
        GPU,
        "[18, 16]",
        "[90, 16]",
        "cluster_sm_groups: hold 106 SMs, more than sm_count 100",
    ),
    "tensor clock": (
        GPU,
        "tensor_clock_mhz: 1500",
        "tensor_clock_mhz: 2500",
        "tensor_clock_mhz: is above the boost clock",
    ),
    "clock in the wrong unit": (
        GPU,
        "boost_clock_mhz: 2000",
        "boost_clock_mhz: 20000",
        "boost_clock_mhz: 20000000000 Hz is no plausible clock",
    ),
}


def test_more_blocks_than_the_tables_of_a_sweep_hold(tmp_path):
    """``analysis.sweep`` keeps blocks in signed bytes."""
    folder = copy(tmp_path)
    for old, new in (
        ("max_warps_per_sm: 64", "max_warps_per_sm: 256"),
        ("max_threads_per_sm: 2048", "max_threads_per_sm: 8192"),
    ):
        change(folder, CAPABILITY, old, new)
    schema.read_capability(change(folder, CAPABILITY, "blocks_per_sm: 32", "blocks_per_sm: 127")[0])
    path, line = change(folder, CAPABILITY, "blocks_per_sm: 127", "blocks_per_sm: 128")
    with pytest.raises(ArchDataError, match=r"limits\.max_blocks_per_sm: is above 127") as caught:
        schema.read_capability(path)
    assert caught.value.where == f"{path}:{line}"


#: seen at another line than the one changed: lines further down
LATER = {"type without input": 3}


@pytest.mark.parametrize("case", CONTRADICTIONS)
def test_contradiction(tmp_path, case):
    name, old, new, message = CONTRADICTIONS[case]
    path, line = change(copy(tmp_path), name, old, new)
    read = schema.read_gpu if name == GPU else schema.read_capability
    with pytest.raises(ArchDataError) as caught:
        read(path)  # type: ignore[operator]
    assert caught.value.message == message
    assert caught.value.where == f"{path}:{line + LATER.get(case, 0)}"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("dedicated_kib: null", "dedicated_kib: 24"),
        ("unified_with_shared_kib: 256", "unified_with_shared_kib: null"),
    ],
    ids=["both", "neither"],
)
def test_l1_is_unified_or_dedicated(tmp_path, old, new):
    path, _ = change(copy(tmp_path), CAPABILITY, old, new)
    with pytest.raises(ArchDataError, match="exactly one of"):
        schema.read_capability(path)


def test_dedicated_l1_means_dedicated_shared_memory(tmp_path):
    path, _ = change(
        copy(tmp_path),
        CAPABILITY,
        "unified_with_shared_kib: 256\n  dedicated_kib: null",
        "unified_with_shared_kib: null\n  dedicated_kib: 24",
    )
    with pytest.raises(ArchDataError, match="exactly where L1 is unified"):
        schema.read_capability(path)
