"""Kernels that do nothing but multiply matrices: how fast ``mma.sync`` and ``wgmma`` can be."""

from __future__ import annotations

from typing import Final, NamedTuple

from perfkit.device import matrix_source as source
from perfkit.device.gemm_wgmma import instruction as wgmma_text
from perfkit.kernel import DType
from perfkit.record import record

_THREADS: Final = 256
_TILES: Final = (4, 4)
_GROUPS, _SLICES, _N = 2, 4, 256
_SLICE_BYTES: Final = 128


class _Mma(NamedTuple):
    operand: DType
    sums: DType
    shape: tuple[int, int, int]
    words: tuple[int, int, int]  #: registers per thread of A, B and the sums; f64: pairs of them
    first: tuple[int, int]  #: capability


#: PTX ISA 9.0, 9.7.14: fragments are a matrix's bits shared out among 32 threads
_MMA: Final = (
    _Mma(DType.F16, DType.F16, (16, 8, 16), (4, 2, 2), (8, 0)),
    _Mma(DType.F16, DType.F32, (16, 8, 16), (4, 2, 4), (8, 0)),
    _Mma(DType.BF16, DType.F32, (16, 8, 16), (4, 2, 4), (8, 0)),
    _Mma(DType.TF32, DType.F32, (16, 8, 8), (4, 2, 4), (8, 0)),
    _Mma(DType.S8, DType.S32, (16, 8, 32), (4, 2, 4), (8, 0)),
    _Mma(DType.F8, DType.F16, (16, 8, 32), (4, 2, 2), (8, 9)),
    _Mma(DType.F8, DType.F32, (16, 8, 32), (4, 2, 4), (8, 9)),
    _Mma(DType.F64, DType.F64, (8, 8, 4), (1, 1, 2), (8, 0)),
    _Mma(DType.F64, DType.F64, (16, 8, 16), (8, 4, 4), (9, 0)),
)
_WGMMA: Final = (
    (DType.F16, DType.F16),
    (DType.F16, DType.F32),
    (DType.BF16, DType.F32),
    (DType.TF32, DType.F32),
    (DType.S8, DType.S32),
    (DType.F8, DType.F16),
    (DType.F8, DType.F32),
)


@record
class MatrixRoof:
    """A kernel of arguments: data (``data_bytes``), out (``out_bytes_per_block`` each), repeats.

    ``flops_per_block`` is for one repeat. Data are operands as bytes; with zeros the card is faster
    than any product is, so they should be random.
    """

    text: str
    name: str
    suffix: str
    operand: DType
    sums: DType
    shape: str  #: of the instruction
    threads: int
    dynamic_bytes: int
    data_bytes: int
    out_bytes_per_block: int
    flops_per_block: int


def mma_roofs(capability: tuple[int, int]) -> tuple[MatrixRoof, ...]:
    """Those of ``mma.sync`` that a capability has, by operand and sums.

    >>> sorted({str(roof.operand) for roof in mma_roofs((8, 0))})
    ['bf16', 'f16', 'f64', 's8', 'tf32']
    """
    return tuple(_mma_roof(row) for row in _MMA if row.first <= capability)


def wgmma_roofs(capability: tuple[int, int]) -> tuple[MatrixRoof, ...]:
    """Those of ``wgmma``: 9.0 only."""
    return tuple(_wgmma_roof(*row) for row in _WGMMA) if capability == (9, 0) else ()


def _mma_roof(row: _Mma) -> MatrixRoof:
    m, n, k = row.shape
    macros = {"THREADS": _THREADS, "TILES_M": _TILES[0], "TILES_N": _TILES[1]}
    value_bytes = 8 if row.operand == DType.F64 else 4
    values = _TILES[0] * row.words[0] + _TILES[1] * row.words[1]
    return MatrixRoof(
        text=source.text_of("mma_roof.cu", macros, _mma_text(row)),
        name="mma_roof",
        suffix="",
        operand=row.operand,
        sums=row.sums,
        shape=f"m{m}n{n}k{k}",
        threads=_THREADS,
        dynamic_bytes=0,
        data_bytes=_THREADS * values * value_bytes,
        out_bytes_per_block=_THREADS * value_bytes,
        flops_per_block=2 * m * n * k * _TILES[0] * _TILES[1] * _THREADS // 32,
    )


def _mma_text(row: _Mma) -> str:
    """C++ of ``multiply(sums, a, b)``."""
    is_double = row.operand == DType.F64
    letter, value = ("d", "double") if is_double else ("r", "word")
    a, b, sums = row.words
    numbers = iter(range(a + b + sums))

    def taken(count: int) -> str:
        return "{" + ", ".join(f"%{next(numbers)}" for _ in range(count)) + "}"

    d, a_text, b_text = taken(sums), taken(a), taken(b)
    operand, sum_type = source.ptx_name(row.operand), row.sums
    shape = "m{}n{}k{}".format(*row.shape)
    outputs = ", ".join(f'"+{letter}"(d[{i}])' for i in range(sums))
    inputs = [f'"{letter}"(a[{i}])' for i in range(a)] + [f'"{letter}"(b[{i}])' for i in range(b)]
    return f"""\
typedef {value} value;
#define A_WORDS {a}
#define B_WORDS {b}
#define SUM_WORDS {sums}
__device__ __forceinline__ void multiply(value (&d)[{sums}], const value (&a)[{a}],
                                         const value (&b)[{b}]) {{
  asm volatile(
      "mma.sync.aligned.{shape}.row.col.{sum_type}.{operand}.{operand}.{sum_type} "
      "{d}, {a_text}, {b_text}, {d};"
      : {outputs}
      : {", ".join(inputs)});
}}
"""


def _wgmma_roof(operand: DType, sums: DType) -> MatrixRoof:
    macros = {"GROUPS": _GROUPS, "SLICES": _SLICES, "N": _N}
    shared = _SLICES * _SLICE_BYTES * (64 * _GROUPS + _N)
    k = _SLICE_BYTES * 8 // operand.bits
    threads = 128 * _GROUPS
    return MatrixRoof(
        text=source.text_of("wgmma_roof.cu", macros, wgmma_text(operand, _N, sums)),
        name="wgmma_roof",
        suffix="a",
        operand=operand,
        sums=sums,
        shape=f"m64n{_N}k{source.STEP_BYTES * 8 // operand.bits}",
        threads=threads,
        dynamic_bytes=shared,
        data_bytes=shared,
        out_bytes_per_block=4 * threads,
        flops_per_block=2 * 64 * _N * k * _SLICES * _GROUPS,
    )
