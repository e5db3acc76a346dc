"""Operations on one element or row at a time, for SIMT cores.

What is written has the type of what is read, or ``out``.

Units: sizes are counts of elements; ``in`` and ``out`` are bytes per element; an addition,
multiplication, comparison, division or exponential is one FLOP.

Valid: as a lower bound: rows fit on the chip, so that data are read and written once.
"""

from __future__ import annotations

from perfkit.kernel import DType
from perfkit.models.work import Work, size_bytes


def elementwise(
    dtype: DType,
    n: int,
    *,
    inputs: int = 1,
    outputs: int = 1,
    flops: int = 1,
    out: DType | None = None,
) -> Work:
    """Combine n elements of ``inputs`` arrays into ``outputs`` arrays, ``flops`` FLOP for each.

    Formula:
        FLOP  = flops n
        bytes = inputs n in + outputs n out

    Source: NVIDIA GPU Performance Background User's Guide, 4 "Understanding Performance", Table 1
    (ReLU in f16: 0.25 FLOP per byte).

    >>> work = elementwise(DType.F16, 1 << 20)
    >>> work.flops / work.bytes
    0.25
    """
    out = out or dtype
    return _work(
        f"elementwise {n}, {inputs} in, {outputs} out",
        dtype,
        out,
        flops * n,
        inputs * size_bytes(n, dtype),
        outputs * size_bytes(n, out),
    )


def reduction(dtype: DType, rows: int, columns: int, *, out: DType | None = None) -> Work:
    """Each row to one value.

    Formula:
        FLOP  = rows (columns - 1)
        bytes = rows (columns in + out)

    Source: M. Harris, Optimizing Parallel Reduction in CUDA (NVIDIA): bounded by bandwidth at one
    FLOP per element loaded.

    >>> work = reduction(DType.F32, 1, 1 << 22)
    >>> work.flops, work.bytes
    (4194303, 16777220)
    """
    out = out or dtype
    return _work(
        f"reduction {rows}x{columns}",
        dtype,
        out,
        rows * (columns - 1),
        size_bytes(rows * columns, dtype),
        size_bytes(rows, out),
    )


def transpose(dtype: DType, rows: int, columns: int, *, out: DType | None = None) -> Work:
    """Every element read and written, nothing computed.

    Formula:
        FLOP  = 0
        bytes = rows columns (in + out)

    Source: G. Ruetsch, P. Micikevicius, Optimizing Matrix Transpose in CUDA (NVIDIA), 2: effective
    bandwidth counts each element twice.

    >>> transpose(DType.F32, 1024, 1024).bytes
    8388608
    """
    out, n = out or dtype, rows * columns
    name = f"transpose {rows}x{columns}"
    return _work(name, dtype, out, 0, size_bytes(n, dtype), size_bytes(n, out))


def layernorm(dtype: DType, rows: int, columns: int, *, out: DType | None = None) -> Work:
    """Rows brought to mean 0 and variance 1, then scaled and shifted by a weight per column.

    Sum (c - 1) and division; difference (c), squares (c), their sum (c - 1) and division; epsilon,
    inverse root; times inverse root, weight, plus bias (3 c).

    Formula:
        FLOP  = rows (7 columns + 2)
        bytes = (rows columns + 2 columns) in + rows columns out

    Source: J. L. Ba, J. R. Kiros, G. E. Hinton, Layer Normalization (2016), equations 3 and 4,
    counted by hand. Below 10 FLOP per byte, as in Table 1 of NVIDIA's GPU Performance Background
    User's Guide.

    >>> layernorm(DType.F16, 1, 4096).flops
    28674
    """
    out, n = out or dtype, rows * columns
    return _work(
        f"layernorm {rows}x{columns}",
        dtype,
        out,
        rows * (7 * columns + 2),
        size_bytes(n + 2 * columns, dtype),
        size_bytes(n, out),
    )


def softmax(dtype: DType, rows: int, columns: int, *, out: DType | None = None) -> Work:
    """Exponentials of each row over their sum, with the maximum subtracted first.

    Maximum (c - 1), difference (c), exponential (c), sum (c - 1), division (c).

    Formula:
        FLOP  = rows (5 columns - 2)
        bytes = rows columns (in + out)

    Source: M. Milakov, N. Gimelshein, Online normalizer calculation for softmax (2018), 2 "safe
    softmax", with the row kept on the chip.

    Valid: as a bound. Exponentials run on special function units, an eighth to a quarter as many as
    SIMT lanes; that roof is not modelled.

    >>> softmax(DType.F32, 2, 1000).flops
    9996
    """
    out, n = out or dtype, rows * columns
    return _work(
        f"softmax {rows}x{columns}",
        dtype,
        out,
        rows * (5 * columns - 2),
        size_bytes(n, dtype),
        size_bytes(n, out),
    )


def _work(name: str, dtype: DType, out: DType, flops: int, read: int, written: int) -> Work:
    return Work(
        name=name,
        dtype=dtype,
        out=out,
        matrix_flops=0,
        vector_flops=flops,
        read_bytes=read,
        write_bytes=written,
    )
