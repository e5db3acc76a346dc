"""The roofline model: the least time that some work can take, and what decides it.

There are as many units (tensor cores, SIMT cores) and memory levels (DRAM, L2, L1 and shared
memory) as there is something to do for. Left of the ridge point memory decides, right of it
arithmetic does.

Formula:
    time        >= max(FLOP of a unit / its peak rate, bytes through a level / its bandwidth)
    attainable   = FLOP / time
    intensity    = FLOP / DRAM bytes
    ridge point  = peak rate / DRAM bandwidth

Units: FLOP (a multiply-add is two), bytes, seconds, FLOP/s, bytes/s, FLOP per byte.

Source: S. Williams, A. Waterman, D. Patterson, "Roofline", CACM 52 (2009) 4; several levels: C.
Yang, T. Kurth, S. Williams, "Hierarchical Roofline Analysis for GPUs", CCPE 32 (2020).

Valid: work whose units and levels can all be busy at the same time. It is a bound, not a
prediction: launch, latency and imbalance come on top. A measurement beyond it means that a peak, a
clock or a count is not what was assumed.

>>> import perfkit
>>> found = perfkit.roofline("h100", dtype="f16", flops=2 * 4096**3, bytes=3 * 2 * 4096**2)
>>> round(found.time_s * 1e3, 3), found.bound_by, round(found.intensity), round(found.ridge)
(0.139, 'compute', 1365, 295)
"""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Final

from perfkit.errors import UsageError
from perfkit.record import record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from perfkit.kernel import DType

COMPUTE: Final = "compute"
MEMORY: Final = "memory"
DRAM: Final = "dram"

#: more than any GPU does in ten thousand years, and than the largest product that gemm takes
_MOST: Final = 1e29


@record
class Load:
    """What one unit or one memory level has to do, and how fast it is at best."""

    name: str  #: tensor | simt | dram | l2 | l1
    kind: str  #: compute | memory
    amount: float  #: FLOP, or bytes
    rate_per_s: float | None  #: FLOP/s, or bytes/s; None: not known
    roof: str  #: which ceiling that is: ``f16/f32 dense tensor``, or why it is not known
    basis: str  #: derived | published | measured | unknown
    clock_hz: float | None = None  #: at which it holds; None: it does not depend on the SM's clock
    dtype: DType | None = None  #: of the arithmetic; None: a memory level

    @property
    def time_s(self) -> float | None:
        """Seconds, if it were alone; None without a known rate."""
        return None if self.rate_per_s is None else self.amount / self.rate_per_s


@record
class Measured:
    """A measured time against the bound. Shares may exceed 1: they are reported as they are."""

    time_s: float
    flop_per_s: float | None  #: reached; None: nothing is computed
    share_of_peak: float | None  #: of the compute roof
    dram_bytes_per_s: float | None
    share_of_bandwidth: float | None
    share_of_bound: float  #: least time / measured time


@record
class Bound:
    """The least time of some work on one product."""

    time_s: float
    bound_by: str  #: compute | memory; compute at the ridge point itself
    limited_by: tuple[str, ...]  #: names of the loads that take that long
    flops: float  #: of the unit that has most of them; those of others are only in ``loads``
    bytes: float | None  #: through DRAM; None: not given
    intensity: float | None  #: FLOP of that unit per DRAM byte
    ridge: float | None  #: FLOP per DRAM byte at which its roof meets DRAM bandwidth
    peak_flop_per_s: float | None  #: of that unit; None: nothing is computed
    attainable_flop_per_s: float | None  #: of that unit
    loads: tuple[Load, ...]
    measured: Measured | None = None


def bound(loads: Sequence[Load], *, time_s: float | None = None) -> Bound:
    """The bound that follows from every unit's and every memory level's share of the work.

    Args:
        loads: at least one with a known rate.
        time_s: a measured time, in seconds.

    Raises:
        UsageError: nothing to do, no rate known, or a number that is not positive and finite.

    >>> tensor = Load(name="tensor", kind="compute", amount=2 * 4096**3, rate_per_s=989.4e12,
    ...               roof="f16/f32 dense tensor", basis="published")
    >>> dram = Load(name="dram", kind="memory", amount=3 * 2 * 4096**2, rate_per_s=3350e9,
    ...             roof="data sheet", basis="published")
    >>> b = bound([tensor, dram])
    >>> round(b.time_s * 1e3, 4), b.bound_by, round(b.intensity), round(b.ridge, 1)
    (0.1389, 'compute', 1365, 295.3)
    """
    for load in loads:
        positive(f"{load.name} {'flops' if load.kind == COMPUTE else 'bytes'}", load.amount)
    times = {load.name: load.time_s for load in loads if load.time_s is not None}
    if not times:
        raise UsageError(
            "no bound: " + ("no rate is known" if loads else "nothing to do"),
            hint="; ".join(f"{load.name}: {load.roof}" for load in loads) or None,
        )
    longest = max(times.values())
    limits = tuple(name for name, time in times.items() if time == longest)
    compute = [load for load in loads if load.kind == COMPUTE]
    main = max(compute, key=lambda load: load.amount, default=None)
    flops = main.amount if main else 0
    dram = next((load for load in loads if load.name == DRAM), None)
    peak = main.rate_per_s if main else None
    computes = {load.name for load in compute}
    return Bound(
        time_s=longest,
        bound_by=COMPUTE if computes & set(limits) else MEMORY,
        limited_by=limits,
        flops=flops,
        bytes=dram.amount if dram else None,
        intensity=flops / dram.amount if dram else None,
        ridge=ridge(peak, dram.rate_per_s) if dram else None,
        peak_flop_per_s=peak,
        attainable_flop_per_s=flops / longest if flops else None,
        loads=tuple(loads),
        measured=None if time_s is None else _measured(time_s, longest, flops, peak, dram),
    )


def ridge(peak_flop_per_s: float | None, bytes_per_s: float | None) -> float | None:
    """FLOP per byte above which arithmetic decides; None where one of the two is not known.

    >>> round(ridge(312e12, 1555e9), 1)
    200.6
    """
    if peak_flop_per_s is None or bytes_per_s is None:
        return None
    return peak_flop_per_s / bytes_per_s


def attainable(
    intensity: float | None, peak_flop_per_s: float, bytes_per_s: float | None
) -> float | None:
    """FLOP/s under one roof and one slope; None where no FLOP or no byte is known.

    >>> attainable(0.25, 19.5e12, 1555e9)
    388750000000.0
    """
    if intensity is None or bytes_per_s is None:
        return None
    return min(peak_flop_per_s, intensity * bytes_per_s)


def _measured(
    time_s: float, least: float, flops: float, peak: float | None, dram: Load | None
) -> Measured:
    positive("time", time_s)
    rate = flops / time_s if flops else None
    bytes_per_s = dram.amount / time_s if dram else None
    bandwidth = dram.rate_per_s if dram else None
    return Measured(
        time_s=time_s,
        flop_per_s=rate,
        share_of_peak=rate / peak if rate is not None and peak is not None else None,
        dram_bytes_per_s=bytes_per_s,
        share_of_bandwidth=bytes_per_s / bandwidth if bytes_per_s and bandwidth else None,
        share_of_bound=least / time_s,
    )


def positive(name: str, value: float) -> None:
    """Refuse what is no amount: a zero would make a bound of 0 s.

    Raises:
        UsageError: not a number, not finite, zero, negative or beyond any machine.
    """
    if isinstance(value, bool) or not isinstance(value, Real):
        raise UsageError(f"{name} must be a number, not {value!r}")
    if not 0 < value < _MOST:  # false for NaN, too
        # an integer may have too many digits to be printed
        shown = "too large" if value >= _MOST else "too small" if value <= -_MOST else value
        raise UsageError(
            f"{name} = {shown}: must be greater than 0 and less than {_MOST:g}",
            hint="leave out what there is nothing of",
        )
