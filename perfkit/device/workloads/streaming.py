"""Kernels that stream: every byte once, so DRAM decides."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from perfkit.analysis.prediction import Demand, Flow
from perfkit.device.backend import launch_1d
from perfkit.device.workload import (
    Array,
    Arrays,
    Case,
    Code,
    Role,
    Scalar,
    Sizes,
    Workload,
    arrays,
    blocks_for,
    f32,
    i64,
)
from perfkit.kernel import DType

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FILE: Final = "streaming.cu"
_SCALE: Final = 1.5
_READ_FLOATS: Final = 16  #: of a thread of read_only
_CHECKS: Final = ({"n": 1_000_003}, {"n": 5, "threads": 96})


def _stream(
    sizes: Sizes,
    kernel: str,
    inputs: tuple[str, ...],
    output: str,
    reference: Callable[[Arrays], NDArray[Any]],
    *,
    dtype: str = "f32",
    scalars: tuple[Scalar, ...] = (),
    first_scalars: bool = False,
    flow: Flow | None = None,
) -> Case:
    """Arrays of n elements in, one of n out; scalars stand before the output or before all."""
    n, threads = sizes["n"], sizes["threads"]
    width = 2 if dtype == "f16" else 4
    first, then = (scalars, inputs) if first_scalars else (inputs, scalars)
    return Case(
        code=Code(kernel=kernel, file=_FILE),
        launch=launch_1d(blocks_for(n, threads * (16 // width)), threads),
        arrays=arrays(dtype, [*((name, n, Role.IN) for name in inputs), (output, n, Role.OUT)]),
        arguments=(*first, *then, output, i64(n)),
        demand=Demand(read_bytes=width * n * len(inputs), write_bytes=width * n, flow=flow),
        reference=lambda given: {output: reference(given)},
        tolerance=1e-3 if dtype == "f16" else 1e-6,
    )


def _vector_add(sizes: Sizes) -> Case:
    return _stream(
        sizes,
        "vector_add",
        ("a", "b"),
        "c",
        lambda given: given["a"] + given["b"],
        flow=Flow(flops=sizes["n"]),
    )


def _vector_add_half2(sizes: Sizes) -> Case:
    return _stream(
        sizes,
        "vector_add_half2",
        ("a", "b"),
        "c",
        lambda given: given["a"] + given["b"],
        dtype="f16",
        flow=Flow(flops=sizes["n"], dtype=DType.F16, accumulate=DType.F16),
    )


def _copy(sizes: Sizes) -> Case:
    return _stream(sizes, "copy", ("a",), "b", lambda given: given["a"])


def _triad(sizes: Sizes) -> Case:
    return _stream(
        sizes,
        "triad",
        ("b", "c"),
        "a",
        lambda given: given["b"] + _SCALE * given["c"],
        scalars=(f32(_SCALE),),
        flow=Flow(flops=2 * sizes["n"]),
    )


def _write_only(sizes: Sizes) -> Case:
    def reference(_: Arrays) -> NDArray[Any]:
        import numpy as np

        return np.full(sizes["n"], _SCALE, np.float32)

    return _stream(
        sizes, "write_only", (), "a", reference, scalars=(f32(_SCALE),), first_scalars=True
    )


def _read_only(sizes: Sizes) -> Case:
    n, threads = sizes["n"], sizes["threads"]
    of_warp = 32 * _READ_FLOATS
    sums = -(-n // of_warp)

    def reference(given: Arrays) -> Arrays:
        import numpy as np

        padded = np.zeros(sums * of_warp)
        padded[:n] = given["a"]
        return {"sums": padded.reshape(sums, of_warp).sum(axis=1)}

    return Case(
        code=Code(kernel="read_only", file=_FILE),
        launch=launch_1d(blocks_for(n, threads * _READ_FLOATS), threads),
        arrays=(
            Array(name="a", dtype="f32", count=n),
            Array(name="sums", dtype="f32", count=sums, role=Role.OUT),
        ),
        arguments=("a", "sums", i64(n)),
        demand=Demand(read_bytes=4 * n, write_bytes=4 * sums, flow=Flow(flops=n)),
        reference=reference,
    )


def _workload(name: str, summary: str, n: int, build: Callable[[Sizes], Case]) -> Workload:
    return Workload(
        name=name,
        group="streaming",
        summary=summary,
        sizes={"n": n, "threads": 256},
        size="n",
        checks=_CHECKS if name != "read_only" else ({"n": 1_000_003}, {"n": 5, "threads": 64}),
        build=build,
        least_capability=(5, 3) if "half" in name else (5, 0),
    )


WORKLOADS: Final = (
    _workload("vector_add", "c = a + b, f32", 2**27, _vector_add),
    _workload("vector_add_half2", "c = a + b, pairs of f16", 2**28, _vector_add_half2),
    _workload("copy", "b = a, f32", 2**28, _copy),
    _workload("triad", "a = b + s * c, f32", 2**27, _triad),
    _workload("read_only", "sums of 512 floats by a warp each", 2**28, _read_only),
    _workload("write_only", "a = s, f32", 2**28, _write_only),
)
