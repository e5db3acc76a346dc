import numpy as np
import pytest

from perfkit.device.workload import Map
from perfkit.device.workloads.tensor import WORKLOADS
from perfkit.errors import UsageError
from perfkit.kernel import DType
from tests.device.matrix_cases import compiled

BY_NAME = {workload.name: workload for workload in WORKLOADS}


def test_all_types_are_there():
    kinds = {name.rpartition("_")[0] for name in BY_NAME}
    assert kinds == {"gemm_mma", "gemm_mma_tma", "gemm_wgmma", "attention", "attention_causal"}
    for kind, count in (("gemm_mma", 10), ("gemm_mma_tma", 5), ("gemm_wgmma", 5), ("attention", 2)):
        assert (
            sum(name.startswith(f"{kind}_") and "causal" not in name for name in BY_NAME) == count
        )


@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda workload: workload.name)
def test_cases_of_the_defaults_and_of_the_checks(workload):
    assert len(workload.checks) >= 2
    for sizes in ({}, *workload.checks):
        case = workload.case(sizes)
        assert case.launch.dynamic_bytes <= 227 * 1024
        assert case.dynamic_optin == (case.launch.dynamic_bytes > 48 * 1024)
        assert case.demand.flow.unit == "tensor"
        arrays = {array.name: array.count for array in case.arrays}
        named = {argument for argument in case.arguments if isinstance(argument, str)}
        named |= {argument.array for argument in case.arguments if isinstance(argument, Map)}
        assert named == set(arrays)


def test_what_warps_read_of_shared_memory():
    case = BY_NAME["gemm_mma_bf16"].case({"m": 128, "n": 256, "k": 64})
    # one tile and one slice: 2 x 4 warps with 64 rows and 64 columns of 64 elements each
    assert case.demand.l1_bytes == 8 * (64 + 64) * 64 * 2
    case = BY_NAME["gemm_mma_tma_bf16"].case({"m": 128, "n": 256, "k": 64})
    assert case.demand.l1_bytes == 8 * (64 + 64) * 64 * 2
    case = BY_NAME["gemm_wgmma_bf16"].case({"m": 256, "n": 256, "k": 64})
    # two tiles, in each two groups with 64 rows of their own, and all columns
    assert case.demand.l1_bytes == 2 * 2 * (64 + 256) * 64 * 2


def test_bytes_and_flops_of_a_product():
    demand = BY_NAME["gemm_wgmma_s8"].case({"m": 256, "n": 512, "k": 1024}).demand
    assert demand.read_bytes == (256 + 512) * 1024
    assert demand.write_bytes == 4 * 256 * 512
    assert demand.flow.flops == 2 * 256 * 512 * 1024
    assert (demand.flow.dtype, demand.flow.accumulate) == (DType.S8, DType.S32)
    assert demand.flow.instruction == "wgmma"


@pytest.mark.parametrize(
    ("name", "instruction", "is_fed"),
    [
        ("gemm_mma_bf16", "mma.sync", False),
        ("gemm_mma_tma_bf16", "mma.sync", True),
        ("gemm_wgmma_bf16", "wgmma", True),
    ],
)
def test_who_multiplies_and_who_loads(name, instruction, is_fed):
    demand = BY_NAME[name].case({}).demand
    assert demand.flow.instruction == instruction
    assert (demand.model.kind, demand.model.is_fed) == (instruction.removesuffix(".sync"), is_fed)


def test_the_reference_multiplies_rows_with_rows():
    case = BY_NAME["gemm_mma_tf32"].case({"m": 128, "n": 256, "k": 32})
    a, b = np.zeros((128, 32)), np.zeros((256, 32))
    a[3, 5], b[7, 5] = 2, 4
    found = case.reference({"a": a.ravel(), "b": b.ravel()})["c"].reshape(128, 256)
    assert found[3, 7] == 8
    assert np.count_nonzero(found) == 1


@pytest.mark.parametrize(
    ("name", "sizes", "says"),
    [
        ("gemm_mma_bf16", {"k": 100}, "k = 100"),
        ("gemm_mma_bf16", {"m": 2**21}, "at most"),
        ("gemm_wgmma_bf16", {"tile_n": 100}, "tile_n = 100"),
        ("attention_bf16", {"head_size": 100}, "head size = 100"),
    ],
)
def test_refused_sizes(name, sizes, says):
    with pytest.raises(UsageError, match=says):
        BY_NAME[name].case(sizes)


@pytest.mark.parametrize(
    "name", ["gemm_mma_f8", "gemm_mma_tma_f8", "gemm_wgmma_bf16", "attention_causal_f16"]
)
def test_defaults_compile_without_spills(tmp_path, name):
    case = BY_NAME[name].case({})
    found = compiled(tmp_path, case.code.text, f"sm_90{case.code.suffix}")
    assert found.spill_store_bytes == found.spill_load_bytes == 0
    assert found.name == case.code.kernel
