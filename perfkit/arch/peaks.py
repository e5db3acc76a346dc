"""Peak rates of a product, keyed by operand, accumulator, sparsity and unit.

    peak [FLOP/s] = 2 x SMs x multiply-adds per clock per SM x clock

Tensor work other than f64 runs at the tensor clock, everything else at the boost clock: H100 SXM
has two (whitepaper 1.04, Table 3), and the wrong one is 8 % off. Tensor rates belong to a rate
class, not to a capability: GeForce runs f32 accumulation at half of what professional cards do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from perfkit.arch.types import NO_TENSOR_CORES
from perfkit.kernel import DType
from perfkit.record import record

if TYPE_CHECKING:
    from perfkit.arch.types import Capability, Gpu, PublishedPeak

FLOP_PER_FMA: Final = 2
#: multiply-adds in one dp4a
_DP4A_FMA: Final = 4
#: operand types that 2:4 structured sparsity doubles, where a capability has it
SPARSE_TYPES: Final = frozenset(
    {DType.TF32, DType.F16, DType.BF16, DType.F8, DType.F6, DType.F4, DType.S8, DType.S4}
)


class PeakKey(NamedTuple):
    dtype: DType
    accumulate: DType
    sparsity: str  #: dense | sparse
    unit: str  #: simt | tensor


@record
class Peak:
    """One peak rate of a product."""

    dtype: DType
    accumulate: DType
    sparsity: str  #: dense | sparse; sparse counts the zeros as work, as the data sheets do
    unit: str  #: simt | tensor
    flop_per_s: float
    published_tflops: float | None
    basis: str  #: derived: from SMs, rate and clock | published: the vendor's figure
    note: str | None

    @property
    def key(self) -> PeakKey:
        return PeakKey(self.dtype, self.accumulate, self.sparsity, self.unit)


def derived(gpu: Gpu, capability: Capability) -> dict[PeakKey, float]:
    """Every peak that follows from SMs, rates and clocks, in FLOP/s; empty without a clock."""
    boost = gpu.boost_clock_hz
    if boost is None:
        return {}
    per_hz = FLOP_PER_FMA * gpu.sm_count
    found = {
        PeakKey(dtype, accumulate, "dense", "simt"): float(per_hz * rate * boost)
        for dtype, accumulate, rate in _simt_rates(capability)
    }
    tensor = capability.tensor_core
    if tensor is None or gpu.rate_class == NO_TENSOR_CORES:
        return found
    for rate_class, dtype, accumulate, rate in tensor.rates:
        if rate_class != gpu.rate_class:
            continue
        clock = boost if dtype is DType.F64 else gpu.tensor_clock_hz or boost
        dense = float(per_hz * rate * clock)
        found[PeakKey(dtype, accumulate, "dense", "tensor")] = dense
        if tensor.sparsity and dtype in SPARSE_TYPES:
            found[PeakKey(dtype, accumulate, "sparse", "tensor")] = 2 * dense
    return found


def peaks(gpu: Gpu, capability: Capability) -> tuple[Peak, ...]:
    """Every known peak: derived ones, replaced or completed by published ones.

    A published row counts where it says ``use: published`` or where nothing can be derived.
    Order: simt before tensor, dense before sparse, then wide types before narrow ones.
    """
    computed = derived(gpu, capability)
    printed = {published_key(row): row for row in gpu.published}
    found = []
    for key in sorted({*computed, *printed}, key=_order):
        row = printed.get(key)
        use_published = row is not None and (row.use == "published" or key not in computed)
        rate = row.tflops * 1e12 if row is not None and use_published else computed[key]
        found.append(
            Peak(
                **key._asdict(),
                flop_per_s=rate,
                published_tflops=row.tflops if row else None,
                basis="published" if use_published else "derived",
                note=row.note if row else None,
            )
        )
    return tuple(found)


def _simt_rates(capability: Capability) -> list[tuple[DType, DType, int]]:
    rates = capability.throughput
    rows = [
        (DType.F64, DType.F64, rates.f64),
        (DType.F32, DType.F32, rates.f32),
        (DType.F16, DType.F16, rates.f16),
        (DType.BF16, DType.BF16, rates.bf16),
        (DType.S8, DType.S32, rates.dp4a and rates.dp4a * _DP4A_FMA),
    ]
    return [(dtype, accumulate, rate) for dtype, accumulate, rate in rows if rate]


def published_key(row: PublishedPeak) -> PeakKey:
    """Which peak a published row is a figure for."""
    return PeakKey(row.dtype, row.accumulate, row.sparsity, row.unit)


def _order(key: PeakKey) -> tuple[str, str, int, int]:
    types = list(DType)
    return (key.unit, key.sparsity, types.index(key.dtype), types.index(key.accumulate))
