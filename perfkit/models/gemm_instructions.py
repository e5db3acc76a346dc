"""Matrix instructions: which shapes each capability has for each data type.

Four kinds, by who issues them and where operands and sums are:

* ``simt``: multiply-adds of single threads; everything in registers.
* ``mma``: one warp, ``mma.sync``; everything in registers.
* ``wgmma``: four warps with 16 rows each (9.0 only); operands in shared memory, sums in registers.
* ``tcgen05``: one thread for the block (10.0, 10.3, 11.0); operands in shared memory, sums in
  tensor memory, which four warps read out, 32 rows each.

Formula:
    FLOP of an instruction = 2 m n k

Units: m, n and k are elements.

Source: PTX ISA 9.0, 9.7.14 (mma), 9.7.15 (wgmma), 9.7.16 (tcgen05), shapes and target notes.

Valid: every capability of the database. Where there is wgmma or tcgen05, mma.sync does not reach
the peak (for 9.0: W. Luo et al., "Benchmarking and Dissecting the Nvidia Hopper GPU Architecture",
arXiv 2402.13499).

>>> import perfkit
>>> from perfkit.kernel import DType
>>> from perfkit.models.gemm_instructions import instruction
>>> instruction(perfkit.capability("9.0"), DType.F16, "tensor", (64, 256, 16)).kind
'wgmma'
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from perfkit.arch.types import ComputeCapability
from perfkit.errors import UsageError
from perfkit.kernel import DType
from perfkit.record import record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from perfkit.arch.types import Capability


@record
class Instruction:
    """One matrix instruction."""

    kind: str  #: simt | mma | wgmma | tcgen05
    m: int
    n: int
    k: int
    rows_per_warp: int  #: of its m
    producer_warps: int  #: that CUTLASS adds for loading

    @property
    def shape(self) -> str:
        return f"{self.m}x{self.n}x{self.k}"

    @property
    def warps(self) -> int:
        """Warps that issue it together, or read its result, one above the other."""
        return self.m // self.rows_per_warp

    @property
    def reads_shared(self) -> bool:
        """It takes its operands from shared memory, so that none are held in registers."""
        return self.kind in {"wgmma", "tcgen05"}


class _Row(NamedTuple):
    kind: str
    dtypes: tuple[DType, ...]
    m: int
    ns: Sequence[int]
    k: int
    first: tuple[int, int]
    last: tuple[int, int] = (99, 9)


_HALF: Final = (DType.F16, DType.BF16)
_WGMMA_N: Final = range(8, 257, 8)
_WGMMA_INTEGER_N: Final = (8, 16, 24, *range(32, 257, 16))
_TCGEN05_N: Final = range(16, 257, 16)
_90: Final = ((9, 0), (9, 0))
#: data-center Blackwell and Thor; 12.x has mma.sync instead
_100: Final = ((10, 0), (11, 0))

_ROWS: Final = (
    _Row("mma", (DType.F16,), 8, (8,), 4, (7, 0), (7, 2)),
    _Row("mma", (DType.F16,), 16, (8,), 8, (7, 5)),
    _Row("mma", (DType.BF16,), 16, (8,), 8, (8, 0)),
    _Row("mma", _HALF, 16, (8,), 16, (8, 0)),
    _Row("mma", (DType.TF32,), 16, (8,), 4, (8, 0)),
    _Row("mma", (DType.TF32,), 16, (8,), 8, (8, 0)),
    _Row("mma", (DType.F64,), 16, (8,), 4, (9, 0)),
    _Row("mma", (DType.F64,), 16, (8,), 8, (9, 0)),
    _Row("mma", (DType.F64,), 16, (8,), 16, (9, 0)),
    _Row("mma", (DType.F64,), 8, (8,), 4, (8, 0)),  # the usual one, so the last of them
    _Row("mma", (DType.S8,), 16, (16,), 16, (7, 2), (7, 2)),  # wmma
    _Row("mma", (DType.S8,), 8, (8,), 16, (7, 5)),
    _Row("mma", (DType.S8,), 16, (8,), 16, (8, 0)),
    _Row("mma", (DType.S8,), 16, (8,), 32, (8, 0)),
    _Row("mma", (DType.S4,), 8, (8,), 32, (7, 5)),
    _Row("mma", (DType.S4,), 16, (8,), 32, (8, 0)),
    _Row("mma", (DType.S4,), 16, (8,), 64, (8, 0)),
    _Row("mma", (DType.F8,), 16, (8,), 32, (8, 9)),
    _Row("mma", (DType.F6,), 16, (8,), 32, (12, 0)),
    _Row("mma", (DType.F4,), 16, (8,), 64, (12, 0)),
    _Row("wgmma", _HALF, 64, _WGMMA_N, 16, *_90),
    _Row("wgmma", (DType.TF32,), 64, _WGMMA_N, 8, *_90),
    _Row("wgmma", (DType.F8,), 64, _WGMMA_N, 32, *_90),
    _Row("wgmma", (DType.S8,), 64, _WGMMA_INTEGER_N, 32, *_90),
    _Row("tcgen05", _HALF, 128, _TCGEN05_N, 16, *_100),
    _Row("tcgen05", (DType.TF32,), 128, _TCGEN05_N, 8, *_100),
    _Row("tcgen05", (DType.F8, DType.F6), 128, _TCGEN05_N, 32, *_100),
    _Row("tcgen05", (DType.S8,), 128, _TCGEN05_N, 32, (10, 0), (10, 0)),
    _Row("tcgen05", (DType.S8,), 128, _TCGEN05_N, 32, (11, 0), (11, 0)),
    _Row("tcgen05", (DType.F4,), 128, _TCGEN05_N, 64, *_100),
)
_ROWS_PER_WARP: Final = {"wgmma": 16, "tcgen05": 32}
_PRODUCER_WARPS: Final = {"wgmma": 4, "tcgen05": 4}

_SIMT: Final = Instruction(kind="simt", m=1, n=1, k=1, rows_per_warp=1, producer_warps=0)


def instructions(capability: Capability, dtype: DType, unit: str) -> tuple[Instruction, ...]:
    """The instructions for products of that type; those that reach the peak last.

    >>> from perfkit.arch import catalog
    >>> [one.shape for one in instructions(catalog.capability("8.0"), DType.F16, "tensor")]
    ['16x8x8', '16x8x16']
    """
    if unit == "simt":
        return (_SIMT,)
    cc = capability.compute_capability
    return tuple(
        Instruction(
            kind=row.kind,
            m=row.m,
            n=n,
            k=row.k,
            rows_per_warp=_ROWS_PER_WARP.get(row.kind, row.m),
            producer_warps=_PRODUCER_WARPS.get(row.kind, 0),
        )
        for row in _ROWS
        if dtype in row.dtypes and ComputeCapability(*row.first) <= cc <= row.last
        for n in row.ns
    )


def instruction(
    capability: Capability, dtype: DType, unit: str, shape: tuple[int, int, int] | None
) -> Instruction:
    """The instruction of that shape, or the usual one of a warp.

    Raises:
        UsageError: the capability has no such instruction.
    """
    known = instructions(capability, dtype, unit)
    if not known:
        raise UsageError(f"no matrix instruction for {dtype} on {capability.label} is known here")
    if shape is None:
        first = known[0].kind
        return [one for one in known if one.kind == first][-1]
    found = [one for one in known if (one.m, one.n, one.k) == shape]
    if not found:
        raise UsageError(
            f"instruction = {'x'.join(map(str, shape))}: {capability.label} has none for {dtype}",
            hint=f"it has {', '.join(_summary(known))}",
        )
    return found[0]


def _summary(known: Sequence[Instruction]) -> list[str]:
    """The shapes, those of any n in one."""
    by_kind: dict[tuple[str, int, int], list[int]] = {}
    for one in known:
        by_kind.setdefault((one.kind, one.m, one.k), []).append(one.n)
    return [
        f"{m}x{ns[0]}x{k}" if len(ns) == 1 else f"{m}x({ns[0]} to {ns[-1]})x{k}"
        for (_, m, k), ns in by_kind.items()
    ]
