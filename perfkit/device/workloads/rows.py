"""Work on the rows of a matrix: the end of a linear layer, layer norm, softmax."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from perfkit.analysis.prediction import Demand, Flow
from perfkit.device.backend import launch_1d
from perfkit.device.workload import (
    Array,
    Arrays,
    Case,
    Code,
    Role,
    Sizes,
    Workload,
    blocks_for,
    f32,
    i32,
    i64,
    whole_warps,
)
from perfkit.errors import UsageError
from perfkit.kernel import DType
from perfkit.models.operations_vector import layernorm
from perfkit.models.operations_vector import softmax as softmax_work

_FILE: Final = "rows.cu"
_EPSILON: Final = 1e-5
#: float4 of a row that one thread can hold in its registers
_MOST_VECTORS: Final = 16
#: addition and maximum; addition, product, error function, addition, two products
_RELU_FLOPS, _GELU_FLOPS = 2, 6


def _matrix(sizes: Sizes) -> tuple[int, int]:
    rows, columns = sizes["rows"], sizes["columns"]
    if columns % 4 or columns >= 2**31:
        raise UsageError(f"columns = {columns}: the kernel takes a multiple of 4")
    return rows, columns


def _bias(kernel: str, flops: int, activation: Callable[[Any], Any]) -> Callable[[Sizes], Case]:
    def build(sizes: Sizes) -> Case:
        rows, columns = _matrix(sizes)
        n, threads = rows * columns, sizes["threads"]

        def reference(given: Arrays) -> Arrays:
            import numpy as np

            x = given["x"].reshape(rows, columns).astype(np.float64) + given["bias"]
            return {"y": activation(x).ravel()}

        return Case(
            code=Code(kernel=kernel, file=_FILE),
            launch=launch_1d(blocks_for(n, 4 * threads), threads),
            arrays=(
                Array(name="x", dtype="f32", count=n),
                Array(name="bias", dtype="f32", count=columns),
                Array(name="y", dtype="f32", count=n, role=Role.OUT),
            ),
            arguments=("x", "bias", "y", i64(n), i32(columns)),
            demand=Demand(
                read_bytes=4 * (n + columns), write_bytes=4 * n, flow=Flow(flops=flops * n)
            ),
            reference=reference,
        )

    return build


def _relu(x: Any) -> Any:
    import numpy as np

    return np.maximum(x, 0)


def _gelu(x: Any) -> Any:
    from scipy.special import erf

    return 0.5 * x * (1 + erf(x / 2**0.5))


def _vectors(columns: int, threads: int) -> str:
    vectors = -(-columns // (4 * threads))
    if vectors > _MOST_VECTORS:
        raise UsageError(
            f"columns = {columns}: with {threads} threads a row has at most "
            f"{4 * _MOST_VECTORS * threads}",
            hint="take more threads",
        )
    return f"VECTORS={vectors}"


def _layer_norm(sizes: Sizes) -> Case:
    (rows, columns), threads = _matrix(sizes), whole_warps(sizes)
    n = rows * columns

    def reference(given: Arrays) -> Arrays:
        import numpy as np

        x = given["x"].reshape(rows, columns).astype(np.float64)
        x = x - x.mean(axis=1, keepdims=True)
        x /= np.sqrt((x * x).mean(axis=1, keepdims=True) + _EPSILON)
        return {"y": (x * given["gamma"] + given["beta"]).ravel()}

    return Case(
        code=Code(kernel="layer_norm", file=_FILE, defines=(_vectors(columns, threads),)),
        launch=launch_1d(rows, threads),
        arrays=(
            Array(name="x", dtype="f32", count=n),
            Array(name="gamma", dtype="f32", count=columns),
            Array(name="beta", dtype="f32", count=columns),
            Array(name="y", dtype="f32", count=n, role=Role.OUT),
        ),
        arguments=("x", "gamma", "beta", "y", i32(columns), f32(_EPSILON)),
        demand=Demand(
            read_bytes=4 * (n + 2 * columns),
            write_bytes=4 * n,
            flow=Flow(flops=layernorm(DType.F32, rows, columns).flops),
        ),
        reference=reference,
        tolerance=1e-5,
    )


def _softmax(sizes: Sizes) -> Case:
    (rows, columns), threads = _matrix(sizes), whole_warps(sizes)
    n = rows * columns

    def reference(given: Arrays) -> Arrays:
        import numpy as np

        x = given["x"].reshape(rows, columns).astype(np.float64)
        e = np.exp(x - x.max(axis=1, keepdims=True))
        return {"y": (e / e.sum(axis=1, keepdims=True)).ravel()}

    return Case(
        code=Code(kernel="softmax", file=_FILE, defines=(_vectors(columns, threads),)),
        launch=launch_1d(rows, threads),
        arrays=(
            Array(name="x", dtype="f32", count=n),
            Array(name="y", dtype="f32", count=n, role=Role.OUT),
        ),
        arguments=("x", "y", i32(columns)),
        demand=Demand(
            read_bytes=4 * n,
            write_bytes=4 * n,
            flow=Flow(flops=softmax_work(DType.F32, rows, columns).flops),
        ),
        reference=reference,
        tolerance=1e-5,
    )


def _workload(
    name: str,
    summary: str,
    build: Callable[[Sizes], Case],
    checks: tuple[Sizes, ...] = (
        {"rows": 37, "columns": 1020},
        {"rows": 3, "columns": 260, "threads": 96},
        {"rows": 9, "columns": 5000},
    ),
) -> Workload:
    return Workload(
        name=name,
        group="rows",
        summary=summary,
        sizes={"rows": 32768, "columns": 4096, "threads": 256},
        size="rows",
        checks=checks,
        build=build,
    )


WORKLOADS: Final = (
    _workload("bias_relu", "y = max(x + bias, 0), fused", _bias("bias_relu", _RELU_FLOPS, _relu)),
    _workload("bias_gelu", "y = gelu(x + bias), fused", _bias("bias_gelu", _GELU_FLOPS, _gelu)),
    _workload("layer_norm", "a row a block, in registers", _layer_norm),
    _workload("softmax", "a row a block, in registers", _softmax),
)
