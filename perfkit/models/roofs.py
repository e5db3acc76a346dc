"""The ceilings of a product: its compute roofs and the bandwidth of each memory level.

A compute roof is a peak of ``arch.peaks``, at the product's own clocks or at a given one, or what
was measured on the product. Which one is meant by a data type alone: dense; accumulation in f32
(f64 for f64, s32 for integers), which GeForce does at half the rate of f16 accumulation; the faster
unit where two can do it. DRAM has the data sheet's bandwidth; that of L2 is in no data sheet, so it
is known only where it was measured.

Formula:
    peak          = SMs * FLOP per clock and SM * clock of the unit
    L1 and shared = SMs * 32 banks * 4 bytes * boost clock
    L2            = bytes per clock, where the database has them, * boost clock

Units: FLOP/s (operations per second for integers), bytes/s, hertz.

Source: data sheets and architecture whitepapers, ``perfkit gpu show KEY --sources``; banks: CUDA
C++ Programming Guide 13, 5.1 Table 30. That L1 delivers as much as shared memory is in the Volta
and Turing tuning guides.

Valid: every product of the database; bytes of L1 from 5.0 on.

>>> import perfkit
>>> from perfkit.models.roofs import levels
>>> dram, l2, l1 = levels(perfkit.gpu("a100"), perfkit.capability("8.0"))
>>> dram.bytes_per_s, l2.bytes_per_s, round(l1.bytes_per_s / 1e12, 2)
(2039000000000, 7219200000000.0, 19.49)
"""

from __future__ import annotations

from dataclasses import field, replace
from typing import TYPE_CHECKING, Final

from perfkit.arch.peaks import PeakKey, derived, peaks
from perfkit.errors import UsageError
from perfkit.kernel import DType
from perfkit.models.roofline import COMPUTE, MEMORY, Load
from perfkit.record import record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from perfkit.arch.peaks import Peak
    from perfkit.arch.types import Capability, Gpu

_BANK_BYTES: Final = 4
NO_CLOCK: Final = "no clock is known"

#: what products of each type are added up in, unless said otherwise
ACCUMULATE: Final = {
    DType.F64: DType.F64,
    DType.S32: DType.S32,
    DType.S8: DType.S32,
    DType.S4: DType.S32,
}  # everything else: f32


@record
class Roof:
    """One compute ceiling of a product."""

    dtype: DType
    accumulate: DType
    sparsity: str  #: dense | sparse
    unit: str  #: simt | tensor
    flop_per_s: float
    basis: str  #: derived | published | measured
    peak_flop_per_s: float | None  #: of the data sheet, where a measured one took its place
    clock_hz: float | None  #: at which the rate holds; None: a figure without a clock

    @property
    def label(self) -> str:
        return f"{self.dtype}/{self.accumulate} {self.sparsity} {self.unit}"

    @property
    def key(self) -> PeakKey:
        return PeakKey(self.dtype, self.accumulate, self.sparsity, self.unit)


@record
class Level:
    """One level of memory."""

    name: str  #: dram | l2 | l1
    bytes_per_s: float | None
    basis: str  #: published | derived | measured | unknown
    roof: str  #: which figure it is, or why there is none
    clock_hz: float | None = None  #: of the SMs, where it counts


@record
class Ceilings:
    """What was measured on one product; each is the best over all ways of measuring."""

    gpu: str  #: key of the product
    compute: dict[PeakKey, float]  #: FLOP/s
    memory: dict[str, float]  #: bytes/s by level
    clock_hz: float | None  #: of the SMs during the measurement
    origin: str  #: file it was read from
    #: bytes/s of DRAM for one mix of reads and writes: ``read``, ``write``, ``copy``, ``triad``
    mixes: dict[str, float] = field(default_factory=dict)
    #: seconds of one load of a chain by level
    latencies_s: dict[str, float] = field(default_factory=dict)
    #: FLOP/s of one kind of instruction where a type has several: ``bf16/f32 mma.sync``
    instructions: dict[str, float] = field(default_factory=dict)
    launch_s: float | None = None  #: of an empty kernel, between the marks that time any kernel
    uuid: str | None = None  #: of the card, if the file says so and holds for one
    cards: int = 1  #: of which these are the best figures


def roofs(gpu: Gpu, capability: Capability, clock_hz: int | None = None) -> tuple[Roof, ...]:
    """Every compute roof, in the order of ``arch.peaks``.

    Args:
        gpu: the product.
        capability: its SM.
        clock_hz: one clock for everything instead of the product's own ones; a peak that is only
            published then is not known, as no clock belongs to it.

    >>> from perfkit.arch import catalog
    >>> found = roofs(catalog.gpu("rtx-4060"), catalog.capability("8.9"), 2595 * 10**6)
    >>> roof = choose(found, DType.F16, label="rtx-4060")
    >>> roof.label, round(roof.flop_per_s / 1e12, 2)
    ('f16/f32 dense tensor', 31.89)
    """
    at_1_hz = derived(replace(gpu, boost_clock_hz=1, tensor_clock_hz=1), capability)
    if clock_hz is not None:
        gpu = replace(gpu, boost_clock_hz=clock_hz, tensor_clock_hz=clock_hz)
    found = peaks(gpu, capability)
    if clock_hz is not None:
        found = tuple(peak for peak in found if peak.basis == "derived")
    return tuple(_roof(peak, at_1_hz.get(peak.key)) for peak in found)


def _roof(peak: Peak, at_1_hz: float | None) -> Roof:
    return Roof(
        **peak.key._asdict(),
        flop_per_s=peak.flop_per_s,
        basis=peak.basis,
        peak_flop_per_s=None,
        clock_hz=peak.flop_per_s / at_1_hz if at_1_hz and peak.basis == "derived" else None,
    )


def levels(gpu: Gpu, capability: Capability, clock_hz: float | None = None) -> tuple[Level, ...]:
    """DRAM, L2 and L1 (with shared memory); the arguments are those of ``roofs``.

    >>> from perfkit.arch import catalog
    >>> dram, l2, l1 = levels(catalog.gpu("a100"), catalog.capability("8.0"))
    >>> dram.bytes_per_s, l2.bytes_per_s, round(l1.bytes_per_s / 1e12, 2)
    (2039000000000, 7219200000000.0, 19.49)
    """
    clock = gpu.boost_clock_hz if clock_hz is None else clock_hz
    per_clock = capability.shared_memory.banks * _BANK_BYTES
    bandwidth = gpu.memory.bandwidth_bytes_per_s
    l2 = gpu.memory.l2_read_bytes_per_clock
    no_l2 = NO_CLOCK if l2 else "data sheets give no L2 bandwidth; a ceilings file can"
    return (
        Level(
            name="dram",
            bytes_per_s=bandwidth,
            basis="unknown" if bandwidth is None else "published",
            roof=f"no figure: {gpu.unknown.get('memory.bandwidth_bytes_per_s', 'none is known')}"
            if bandwidth is None
            else f"{gpu.memory.type}, data sheet",
        ),
        Level(
            name="l2",
            bytes_per_s=float(l2) * clock if l2 and clock else None,
            basis="derived" if l2 and clock else "unknown",
            roof=f"{l2} bytes read per clock" if l2 and clock else no_l2,
            clock_hz=clock if l2 else None,
        ),
        Level(
            name="l1",
            bytes_per_s=None if clock is None else per_clock * gpu.sm_count * float(clock),
            basis="unknown" if clock is None else "derived",
            roof=NO_CLOCK if clock is None else f"{per_clock} bytes per clock per SM",
            clock_hz=clock,
        ),
    )


def measured_roofs(found: tuple[Roof, ...], ceilings: Ceilings | None) -> tuple[Roof, ...]:
    """Measured rates in place of the peaks of the same key, in front of the other peaks.

    None: nothing was measured.
    """
    if ceilings is None:
        return found
    left = dict(ceilings.compute)
    known = [(roof, left.pop(roof.key, None)) for roof in found]
    measured = [
        Roof(
            **key._asdict(),
            flop_per_s=rate,
            basis="measured",
            peak_flop_per_s=peak,
            clock_hz=ceilings.clock_hz,
        )
        for key, rate, peak in (
            *((roof.key, rate, roof.flop_per_s) for roof, rate in known if rate is not None),
            *((key, rate, None) for key, rate in left.items()),
        )
    ]
    return (*measured, *(roof for roof, rate in known if rate is None))


def measured_levels(found: tuple[Level, ...], ceilings: Ceilings | None) -> tuple[Level, ...]:
    """The levels with measured bandwidths in place of those that were measured; None: none was."""
    if ceilings is None:
        return found
    return tuple(
        Level(
            name=level.name,
            bytes_per_s=ceilings.memory[level.name],
            basis="measured",
            roof=f"measured: {ceilings.origin}"
            + (f", the best of {ceilings.cards} cards" if ceilings.cards > 1 else ""),
            clock_hz=ceilings.clock_hz if level.name != "dram" else None,
        )
        if level.name in ceilings.memory
        else level
        for level in found
    )


def choose(
    found: Sequence[Roof],
    dtype: DType,
    *,
    label: str,
    accumulate: DType | None = None,
    sparsity: str = "dense",
    unit: str | None = None,
) -> Roof:
    """The roof that a kernel of that data type is under.

    Args:
        found: all roofs of the product.
        dtype: of the operands.
        label: the product, for messages.
        accumulate: type of the sums; None: ``ACCUMULATE``, or what the product has.
        sparsity: dense | sparse; sparse must be asked for.
        unit: simt | tensor; None: the faster one.

    Raises:
        UsageError: the product has no such roof; the hint says what it has.
    """
    if not found:
        raise UsageError(f"{label}: no peak rate is known", hint="its clock is not known")
    left = _only(found, "dtype", dtype, f"{label} has no {dtype} arithmetic")
    what = f"{label} has no {sparsity} {dtype} arithmetic"
    left = _only(left, "sparsity", sparsity, f"{label} has no {sparsity!r} {dtype} arithmetic")
    if unit is not None:
        left = _only(left, "unit", unit, f"{what} on its {unit} units")
    wanted = accumulate or ACCUMULATE.get(dtype, DType.F32)
    if accumulate is None and all(roof.accumulate != wanted for roof in left):
        wanted = max((roof.accumulate for roof in left), key=lambda one: one.bits)
    left = _only(left, "accumulate", wanted, f"{what} that accumulates in {wanted}")
    return max(left, key=lambda roof: roof.flop_per_s)


def compute_load(roof: Roof, flops: float) -> Load:
    """So much arithmetic under a roof."""
    return Load(
        name=roof.unit,
        kind=COMPUTE,
        amount=flops,
        rate_per_s=roof.flop_per_s,
        roof=roof.label,
        basis=roof.basis,
        clock_hz=roof.clock_hz,
        dtype=roof.dtype,
    )


def memory_load(level: Level, amount: float) -> Load:
    """So many bytes through a level."""
    return Load(
        name=level.name,
        kind=MEMORY,
        amount=amount,
        rate_per_s=level.bytes_per_s,
        roof=level.roof,
        basis=level.basis,
        clock_hz=level.clock_hz,
    )


def _only(found: Sequence[Roof], field: str, wanted: str, otherwise: str) -> list[Roof]:
    left = [roof for roof in found if getattr(roof, field) == wanted]
    if not left:
        has = ", ".join(dict.fromkeys(str(getattr(roof, field)) for roof in found))
        raise UsageError(otherwise, hint=f"{field}: it has {has}")
    return left
