"""Bandwidth of DRAM by the bytes under way, against Little's law.

One thread that follows a random chain gives the latency. Then every SM reads with a known number of
warps, accesses and bytes under way. The law is a bound: nothing may be faster. With one load per
thread and the memory half idle it is nearly reached; the fuller the memory, the more it takes.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from statistics import median
from typing import TYPE_CHECKING, Final, NamedTuple

from perfkit.analysis.validation import Pair, Tally
from perfkit.device.backend import launch_1d
from perfkit.device.experiments.latency import STRIDE_BYTES, random_cycle
from perfkit.device.experiments.trial import Ledger
from perfkit.device.program import build
from perfkit.models.latency import concurrency, memory_per_warp

if TYPE_CHECKING:
    from perfkit.device.backend import Card, Function, Memory
    from perfkit.device.experiments.trial import Trial

_WIDTHS: Final = (4, 16)
_ILPS: Final = (1, 2, 4, 8)
_WARPS: Final = (1, 2, 4, 8, 16, 32, 64)
_BUFFER_BYTES: Final = 8 << 30
_CHAIN_BYTES: Final = 1 << 30
_CHAIN_STEPS: Final = 100_000
_SPARE_BYTES: Final = 1 << 20  #: behind what is read
_SECONDS: Final = 0.004  #: of one reading
_REPEATS: Final = 5
#: one measured latency stands for all of them
_OVER: Final = 1.05
#: of the law: reached with one load per thread while the memory is less than half in use
_REACHED: Final = 0.75
_HALF: Final = 0.5


class _Case(NamedTuple):
    width: int
    ilp: int
    warps: int

    def __str__(self) -> str:
        """For a report."""
        return f"{self.warps} warps per SM, {self.ilp} loads of {self.width} B per thread"


def latency_hiding(trial: Trial) -> Iterator[Tally]:
    """Chase, then read with 1 to 64 warps per SM."""
    card = trial.card
    peak = _peak(card)
    if peak is None:
        yield Tally(nothing="neither the database nor the driver tells this card's bandwidth")
        return
    latency_s = _latency(card)
    ledger = Ledger()
    ledger.figures |= {
        "latency of DRAM, ns": round(latency_s * 1e9, 1),
        "bandwidth by the data sheet, GB/s": round(peak / 1e9),
    }
    size = min(_BUFFER_BYTES, card.device.memory_bytes // 4)
    memory, out = card.allocate(size), card.allocate(4)
    card.fill(memory, 0)
    warps = [w for w in _WARPS if w <= card.device.max_warps_per_sm]
    cases = [_Case(*one) for one in itertools.product(_WIDTHS, _ILPS, warps)]
    best = 0.0
    for case in cases[:: trial.count(1, 4)]:
        law = concurrency(
            rate=peak / card.device.sm_count,
            latency=latency_s,
            per_warp=memory_per_warp(width_bytes=case.width, ilp=case.ilp),
            resident_warps=case.warps,
        )
        share = law.share or 0.0
        found = _read(card, case, memory, out, seconds_bytes=_SECONDS * peak * share)
        best = max(best, found)
        _judge(ledger, case, share * peak, found, half_idle=share < _HALF)
    ledger.figures["highest bandwidth, GB/s"] = round(best / 1e9)
    card.free(memory)
    yield ledger.tally()


def _judge(ledger: Ledger, case: _Case, law: float, found: float, *, half_idle: bool) -> None:
    shown = f"{found / 1e9:.0f} GB/s"
    predicted = f"at most {law / 1e9:.0f} GB/s"
    pair = Pair(what="bandwidth", predicted=law, measured=found, unit="B/s", relation="at most")
    ledger.compare(predicted, shown, str(case), agrees=found <= _OVER * law, pair=pair)
    if case.ilp == 1 and half_idle:
        ledger.add("close to the law, as it should be")
        predicted = f"{_REACHED:.0%} of {law / 1e9:.0f} GB/s"
        ledger.compare(predicted, shown, str(case), agrees=found >= _REACHED * law)


def _peak(card: Card) -> float | None:
    gpu, device = card.target.gpu, card.device
    if gpu is not None and gpu.memory.bandwidth_bytes_per_s:
        return float(gpu.memory.bandwidth_bytes_per_s)
    if device.memory_clock_hz and device.memory_bus_bits:
        return 2 * device.memory_clock_hz * device.memory_bus_bits / 8
    return None


def _latency(card: Card) -> float:
    """Seconds of one load from DRAM."""
    import numpy as np

    (chase,) = build(card, "latency.cu", ["chase"])
    data = random_cycle(min(_CHAIN_BYTES, card.device.memory_bytes // 8) // STRIDE_BYTES)
    memory, out = card.allocate(data.nbytes), card.allocate(24)
    card.write(memory, data)
    # the copy may have left the end of the chain in L2: what is filled last pushes it out
    other = card.allocate(8 * (card.device.l2_bytes or 1 << 25))
    card.fill(other, 0)
    values = (memory, np.int32(0), np.int32(_CHAIN_STEPS), np.int32(0), out)
    card.launch(chase, launch_1d(1, 1), values)
    found = np.zeros(3, np.int64)
    card.read(out, found)
    for one in (memory, out, other):
        card.free(one)
    return float(found[1]) / _CHAIN_STEPS * 1e-9


def _read(card: Card, case: _Case, memory: Memory, out: Memory, *, seconds_bytes: float) -> float:
    """Bytes per second; about ``seconds_bytes`` are read."""
    import numpy as np

    function = _function(card, case)
    per_sm, threads = (1, 32 * case.warps) if case.warps <= 32 else (2, 16 * case.warps)
    # as much shared memory as keeps further blocks away
    shared = card.target.capability.shared_memory
    dynamic = shared.max_per_block_optin_bytes // per_sm - shared.reserved_per_block_bytes
    function.allow_dynamic(dynamic)
    blocks = per_sm * card.device.sm_count
    step = blocks * threads * case.ilp * case.width
    steps = max(1, int(min(seconds_bytes, memory.size_bytes - _SPARE_BYTES) // step))
    launch = launch_1d(blocks, threads, dynamic)
    times = []
    for _ in range(_REPEATS):
        start = card.mark()
        card.launch(function, launch, (memory, np.int64(steps), np.int32(0), out))
        times.append(card.seconds(start, card.mark()))
    return steps * step / median(times)


def _function(card: Card, case: _Case) -> Function:
    (found,) = build(card, "underway.cu", [f"read_{case.width}_{case.ilp}"])
    return found
