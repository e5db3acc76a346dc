"""Operations that are products of matrices: ``gemm``, ``conv2d``, ``attention``.

The result of products is written in ``work.product_type``, or in ``out``.

Units: sizes are counts of elements; ``in`` and ``out`` are bytes per element; a multiply-add is two
FLOP.

Valid: as a lower bound: bytes are compulsory traffic, every input read once, every output written
once, as if everything in between stayed on the chip.
"""

from __future__ import annotations

import math
from typing import Final

from perfkit.errors import UsageError
from perfkit.kernel import DType
from perfkit.models.work import Work, product_type, size_bytes

#: no filter is that large; a size beyond is a mistake
_MOST_TAPS: Final = 65536


def gemm(
    dtype: DType, m: int, n: int, k: int, *, batch: int = 1, beta: int = 0, out: DType | None = None
) -> Work:
    """``C = A B``, A with m rows and k columns, B with k and n; with ``beta`` C is read and added.

    Scaling by alpha and beta is not counted.

    Formula:
        FLOP  = batch * 2 m n k
        bytes = batch * ((m k + k n) in + m n out), and m n out more with beta

    Source: NVIDIA Matrix Multiplication Background User's Guide, 2 "Math and Memory Bounds".

    >>> work = gemm(DType.F16, 8192, 128, 8192)
    >>> round(work.flops / work.bytes, 1)
    124.1
    """
    out = out or product_type(dtype)
    result = size_bytes(batch * m * n, out)
    return Work(
        name=f"gemm {m}x{n}x{k}" + (f" batch {batch}" if batch > 1 else ""),
        dtype=dtype,
        out=out,
        matrix_flops=2 * m * n * k * batch,
        vector_flops=0,
        read_bytes=size_bytes(batch * (m + n) * k, dtype) + (result if beta else 0),
        write_bytes=result,
    )


def conv2d(
    dtype: DType,
    n: int,
    h: int,
    w: int,
    c: int,
    *,
    k: int,
    r: int = 1,
    s: int = 0,
    stride: int = 1,
    pad: int = 0,
    dilation: int = 1,
    groups: int = 1,
    out: DType | None = None,
) -> Work:
    """Forward convolution of n images, h by w with c channels, with k filters of r by s (s = r).

    Formula:
        p     = (h + 2 pad - dilation (r - 1) - 1) // stride + 1, q likewise from w and s
        FLOP  = 2 n p q k (c / groups) r s, padding included
        bytes = (n h' w' c + k (c / groups) r s) in + n p q k out, with h' and w' the rows and
            columns that some filter covers: h and w unless the stride steps over some

    Source: NVIDIA Convolutional Layers User's Guide, 2 "Convolution Algorithms".

    Valid: direct and implicit-GEMM convolution; Winograd and FFT do with fewer FLOP.

    >>> work = conv2d(DType.F16, 32, 56, 56, 64, k=256, r=3, pad=1)
    >>> work.flops == 2 * 32 * 56 * 56 * 256 * 64 * 9
    True
    """
    s = s or r
    if max(r, s) > _MOST_TAPS:
        raise UsageError(f"conv2d: a filter of {r}x{s}: at most {_MOST_TAPS} either way")
    p = (h + 2 * pad - dilation * (r - 1) - 1) // stride + 1
    q = (w + 2 * pad - dilation * (s - 1) - 1) // stride + 1
    if p < 1 or q < 1:
        raise UsageError(f"conv2d: a filter of {r}x{s} does not fit into {h}x{w}, padding {pad}")
    if c % groups or k % groups:
        raise UsageError(f"conv2d: {groups} groups do not divide {c} channels and {k} filters")
    out = out or product_type(dtype)
    rows = _covered(h, p, r, stride=stride, dilation=dilation, pad=pad)
    columns = _covered(w, q, s, stride=stride, dilation=dilation, pad=pad)
    filters = k * (c // groups) * r * s
    return Work(
        name=f"conv2d {n}x{h}x{w}x{c}, {k} filters {r}x{s}",
        dtype=dtype,
        out=out,
        matrix_flops=2 * n * p * q * filters,
        vector_flops=0,
        read_bytes=size_bytes(n * rows * columns * c + filters, dtype),
        write_bytes=size_bytes(n * p * q * k, out),
    )


def _covered(size: int, outputs: int, taps: int, *, stride: int, dilation: int, pad: int) -> int:
    """Rows (or columns) of ``size`` that a filter covers at one of its places at least.

    Tap ``a`` at place ``i`` covers ``i * stride + a * dilation - pad``. Taps ``apart`` from one
    another cover rows of the same remainder by the stride, ``step`` places further.
    """
    common = math.gcd(stride, dilation)
    apart, step = stride // common, dilation // common
    found = 0
    for first in range(min(apart, taps)):
        runs = -(-(taps - first) // apart)
        start, rest = divmod(first * dilation, stride)
        # the places of these rows that are inside, counted from the first that is covered
        low = max(-((rest - pad) // stride) - start, 0)
        high = (size - 1 + pad - rest) // stride - start
        found += _up_to(high + 1, runs, outputs, step) - _up_to(low, runs, outputs, step)
    return found


def _up_to(end: int, runs: int, length: int, step: int) -> int:
    """How many places before ``end`` are in runs of ``length`` that start ``step`` apart."""
    if end <= 0:
        return 0
    if step <= length:  # the runs meet
        return min(end, (runs - 1) * step + length)
    whole = min(end // step, runs)
    return whole * length + (min(end % step, length) if whole < runs else 0)


def attention(
    dtype: DType,
    batch: int,
    heads: int,
    length: int,
    dim: int,
    *,
    kv: int = 0,
    kvheads: int = 0,
    causal: int = 0,
    out: DType | None = None,
) -> Work:
    """Forward attention whose scores stay on the chip.

    Vector FLOP are scale, maximum, subtract, exponential and add for each pair, and one division
    per output. With a causal mask kv is at least length, and the last query sees all keys.

    Formula:
        pairs       = length kv, causal: length kv - length (length - 1) / 2
        matrix FLOP = 4 batch heads pairs dim, for Q K and P V
        vector FLOP = batch heads (5 pairs + length dim)
        bytes       = batch dim ((heads length + 2 kvheads kv) in + heads length out)

    Source: T. Dao, FlashAttention-2 (2023), 3.1 and 4.1; it counts half of all pairs as causal,
    here it is the exact number, the diagonal included.

    >>> work = attention(DType.BF16, 1, 32, 4096, 128, causal=1)
    >>> work.matrix_flops == 4 * 32 * (4096 * 4097 // 2) * 128
    True
    """
    kv, kvheads = kv or length, kvheads or heads
    if heads % kvheads:
        raise UsageError(f"attention: {kvheads} heads of keys do not divide {heads} heads")
    if causal and kv < length:
        raise UsageError(f"attention: causal needs kv of at least {length}, not {kv}")
    pairs = length * kv - (length * (length - 1) // 2 if causal else 0)
    out = out or product_type(dtype)
    return Work(
        name=f"attention {batch}x{heads}x{length}x{dim}"
        + (f", {kv} keys" if kv != length else "")
        + (f", {kvheads} heads of keys" if kvheads != heads else "")
        + (", causal" if causal else ""),
        dtype=dtype,
        out=out,
        matrix_flops=4 * batch * heads * pairs * dim,
        vector_flops=batch * heads * (5 * pairs + length * dim),
        read_bytes=size_bytes(batch * dim * (heads * length + 2 * kvheads * kv), dtype),
        write_bytes=size_bytes(batch * heads * length * dim, out),
    )
