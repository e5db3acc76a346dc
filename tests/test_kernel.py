"""What a kernel's record says of its launch, whatever it was read from."""

from __future__ import annotations

import pytest

from perfkit.errors import UsageError
from perfkit.kernel import DType
from tests.report.results import kernel


@pytest.mark.parametrize(
    ("given", "required", "usual"),
    [
        ({}, None, None),
        ({"max_threads": 192}, None, 192),
        ({"max_threads": 192, "threads": 128}, None, 128),
        ({"max_threads": 256, "threads": 128, "required_block": (8, 8, 4)}, 256, 256),
    ],
)
def test_block_sizes(given, required, usual):
    one = kernel("f", "sm_90", **{"max_threads": None, "threads": None} | given)
    assert (one.required_threads, one.usual_threads) == (required, usual)


def test_clusters():
    assert kernel("f", "sm_90", required_cluster=None).required_cluster_blocks is None
    assert kernel("f", "sm_90", required_cluster=(2, 3, 1)).required_cluster_blocks == 6


@pytest.mark.parametrize(
    ("names", "dtype"),
    [
        ("fp16 half float16 torch.float16 torch.half np.float16 cutlass::half_t F16", "f16"),
        ("bf16 bfloat16 __nv_bfloat16 jnp.bfloat16 cutlass::bfloat16_t", "bf16"),
        ("fp8 float8 e4m3 e5m2 e4m3fn fp8_e4m3 fp8_e5m2 float8_e4m3fn torch.float8_e5m2", "f8"),
        ("fp8e4nv tl.float8e5 mxfp8 float_e4m3_t F8E5M2 float8_e4m3fnuz", "f8"),
        ("fp6 float6 e3m2 e2m3 mxfp6 float6_e3m2fn", "f6"),
        ("fp4 e2m1 nvfp4 mxfp4 float4_e2m1fn_x2", "f4"),
        ("int8 i8 np.int8", "s8"),
        ("int4 i4", "s4"),
        ("tf32 tfloat32 cutlass::tfloat32_t", "tf32"),
        ("double float64 jnp.float64", "f64"),
    ],
)
def test_types_by_the_names_of_many_libraries(names, dtype):
    assert {DType.parse(name) for name in names.split()} == {DType(dtype)}


@pytest.mark.parametrize(
    "name", ["f5", "float80", "f8x", "f84", "e9m9", "fp8_e4m3_", "torch.", "mx", "int16", "''"]
)
def test_types_that_are_none(name):
    with pytest.raises(UsageError, match="unknown data type"):
        DType.parse(name)
