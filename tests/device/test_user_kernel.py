"""Arguments of the user's kernels, from text."""

from __future__ import annotations

import json
from dataclasses import asdict, replace

import numpy as np
import pytest

from perfkit.device.user_kernel import KernelSpec, case_of
from perfkit.device.workload import Fill, Role, Scalar
from perfkit.errors import PerfkitError, UsageError
from perfkit.kernel import DType

SPEC = KernelSpec(
    path="k.cu",
    kernel="k",
    grid="(n + threads - 1) / threads, 2",
    threads="32, 4",
    arguments=("n:i32 = 1 << 10", "m:u64=2*n+1", "a:f32=1.5", "x:f32[n]", "inout y:f64[m]=zero"),
)


def with_arguments(*arguments, **changed):
    return case_of(replace(SPEC, arguments=("n:i32=1000", *arguments), **changed))


def test_a_whole_spec():
    case = case_of(SPEC)
    assert case.launch.grid == (8, 2, 1)
    assert case.launch.block == (32, 4, 1)
    assert case.arguments == (
        Scalar(dtype="i32", value=1024),
        Scalar(dtype="u64", value=2049),
        Scalar(dtype="f32", value=1.5),
        "x",
        "y",
    )
    x, y = case.arrays
    assert (x.count, x.role, x.fill) == (1024, Role.IN, Fill.RANDOM)
    assert (y.count, y.role, y.fill, y.size_bytes) == (2049, Role.INOUT, Fill.ZERO, 16392)
    assert case.demand.read_bytes == 4096 + 16392
    assert case.demand.write_bytes == 16392
    assert case.demand.flow is None
    assert case.reference is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x:f32[n]=random", {"fill": Fill.RANDOM, "count": 1000}),
        ("x:half[n/2]", {"dtype": "f16", "count": 500}),
        ("x:i32[7]=random(2*n)", {"span": 2000}),
        ("x:u8[7]=iota", {"fill": Fill.IOTA}),
        ("x:f32[7]=-2.5e3", {"fill": Fill.VALUE, "value": -2500.0}),
        ("x:f32[7]=data/x.npy", {"fill": Fill.FILE, "file": "data/x.npy"}),
        ("out x:bf16[7]", {"role": Role.OUT}),
        ("  inout  x : f32 [ n ] = zero ", {"role": Role.INOUT, "fill": Fill.ZERO}),
        ("x:f32[1<<20]", {"count": 2**20}),
        ("x:f32[n > 5 ? 3 : 4]", {"count": 3}),
    ],
)
def test_arrays(text, expected):
    (found,) = with_arguments(text).arrays
    assert {name: getattr(found, name) for name in expected} == expected


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("x",), "neither an array nor a scalar"),
        (("x:f32",), "neither an array nor a scalar"),
        (("x:f99[n]",), "no type of elements"),
        (("x:f99=1",), "no type of elements"),
        (("x:f32[q]",), "'q' is no whole-number scalar"),
        (("x:f32[0]",), "0 must be 1 to"),
        (("x:f32[-n]",), "-1000 must be 1 to"),
        (("x:f32[1 +]",), "a value is missing"),
        (("x:f32[n/0]",), "division by zero"),
        (("x:f32[n]=lots",), "'lots' is no number"),
        (("x:f32[n]=random(5)",), "lie between -1 and 1"),
        (("x:bf16[n]=1",), "random, zero or a file"),
        (("out x:f32[n]=zero",), "write inout"),
        (("a:f32=b",), "'b' is no number"),
        (("a:i32=1.5",), "not part of an expression"),
        (("n:i32=2",), "two arguments 'n'"),
        (("__import__('os'):f32[n]",), "neither"),
    ],
)
def test_arguments_that_cannot_be(arguments, words):
    with pytest.raises(UsageError, match=words) as caught:
        with_arguments(*arguments)
    assert "--arg" in caught.value.message


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"grid": "0"}, "--grid 0: 0 must be 1 to"),
        ({"grid": "1,2,3,4"}, "not one to three"),
        ({"grid": "blocks"}, "'blocks' is no whole-number scalar"),
        ({"threads": ""}, "--threads"),
        ({"smem_dynamic": "-1"}, "--smem-dynamic"),
        ({"flops": "x"}, "--flops"),
        ({"flops": "1", "dtype": "f99"}, "unknown data type"),
        ({"cluster": "0"}, "--cluster"),
    ],
)
def test_sizes_that_cannot_be(changed, words):
    with pytest.raises(PerfkitError, match=words):
        with_arguments(**changed)


def test_amounts_in_numbers_and_expressions():
    case = with_arguments(
        "x:f32[n]", "out y:f32[n]", flops="2*n", bytes="1e6", dtype="f16", unit="tensor"
    )
    flow = case.demand.flow
    assert (flow.flops, flow.dtype, flow.unit) == (2000, DType.F16, "tensor")
    assert (case.demand.read_bytes, case.demand.write_bytes) == (500_000, 500_000)
    for text, moved in (("12MB", 12 * 10**6), ("12MiB", 12 * 2**20), ("12M", 12 * 2**20)):
        demand = with_arguments("x:f32[n]", "out y:f32[n]", bytes=text).demand
        assert demand.read_bytes + demand.write_bytes == moved
    assert with_arguments(flops="137.4G").demand.flow.flops == 137_400_000_000


def test_shared_memory_beyond_what_all_launches_have_is_asked_for():
    assert not with_arguments(smem_dynamic="48K").dynamic_optin
    assert with_arguments(smem_dynamic="48KB").launch.dynamic_bytes == 48 * 1024
    assert with_arguments(smem_dynamic="49153").dynamic_optin
    assert with_arguments(smem_dynamic="n * 100").launch.dynamic_bytes == 100_000


def test_the_grid_knows_the_block():
    assert with_arguments(grid="(n + blockDim.x - 1) / blockDim.x").launch.grid[0] == 32
    assert with_arguments(grid="min(n, 7), max(2, 3), 4").launch.grid == (7, 3, 4)


def test_a_spec_survives_json():
    raw = json.loads(json.dumps(asdict(SPEC)))
    lists = {name: tuple(raw[name]) for name in ("arguments", "defines")}
    assert KernelSpec(**{**raw, **lists}) == SPEC


def test_the_reference_gets_arrays_and_scalars_by_name(tmp_path):
    path = tmp_path / "right_here.py"
    path.write_text("def right(x, n, a):\n    return {'y': a * x[:n]}\n")
    case = with_arguments("a:f32=2", "x:f32[n]", "out y:f32[n]", reference=f"{path}:right")
    found = case.reference({"x": np.ones(1000, np.float32)})
    assert found["y"].tolist() == [2.0] * 1000


def test_a_reference_that_gives_no_dict(tmp_path):
    path = tmp_path / "wrong_here.py"
    path.write_text("def right(**values):\n    return 5\n")
    case = with_arguments("out y:f32[n]", reference=f"{path}:right")
    with pytest.raises(UsageError, match="gives int, not a dict"):
        case.reference({})
