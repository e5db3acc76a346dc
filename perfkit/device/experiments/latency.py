"""Latencies: a pointer chase through each level of memory, and chains of dependent arithmetic."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from perfkit.analysis.measured_ceilings import Ceiling
from perfkit.device.backend import launch_1d
from perfkit.device.experiments.ceiling import Bench
from perfkit.device.experiments.issue import INSTRUCTIONS, SOURCE
from perfkit.device.program import build

if TYPE_CHECKING:
    import numpy as np

    from perfkit.device.backend import Memory

STRIDE_BYTES: Final = 128  #: a cache line, so that no step finds what the one before fetched
_REPEATS: Final = 5
_DRAM_BYTES: Final = 2**30
#: a small chain is followed several times: to read the clocks takes hundreds of cycles
_STEPS: Final = 50_000
_SEED: Final = 1


def latency(bench: Bench) -> Iterator[Ceiling]:
    """Shared memory, L1, L2 and DRAM in cycles and seconds; arithmetic in cycles."""
    yield from _memory(bench)
    yield from _arithmetic(bench)


def _memory(bench: Bench) -> Iterator[Ceiling]:
    import numpy as np

    card = bench.card
    chase, chase_shared = build(card, "latency.cu", ("chase", "chase_shared"))
    out = card.allocate(24)
    yield from _figures(bench, "shared", chase_shared, (np.int32(_STEPS), out), out, "1,024 words")
    l2 = card.device.l2_bytes or 2**22
    for name, size, cached in (
        ("l1", 16 * 2**10, 1),
        ("l2", min(8 * 2**20, l2 // 4), 0),
        ("dram", min(_DRAM_BYTES, card.device.memory_bytes // 8), 0),
    ):
        places = size // STRIDE_BYTES
        data = random_cycle(places)
        memory = card.allocate(data.nbytes)
        card.write(memory, data)
        warm = 0 if name == "dram" else places
        arguments = (memory, np.int32(warm), np.int32(_STEPS), np.int32(cached), out)
        how = f"random cycle through {size // 1024:,} KiB"
        yield from _figures(bench, name, chase, arguments, out, how)
        card.free(memory)
    card.free(out)


def _figures(
    bench: Bench,
    name: str,
    function: Any,
    arguments: tuple[Any, ...],
    out: Memory,
    how: str,
) -> Iterator[Ceiling]:
    """Medians over a few launches."""
    import numpy as np

    rows = []
    for _ in range(_REPEATS):
        bench.stopwatch.flush()  # or the second chase through DRAM would find the first in L2
        bench.card.launch(function, launch_1d(1, 1), arguments)
        found = np.zeros(3, np.int64)
        bench.card.read(out, found)
        rows.append(found[:2] / _STEPS)
    cycles, ns = np.median(rows, axis=0)
    state = bench.stopwatch.monitor.state()
    for value, unit in ((float(cycles), "cycles"), (float(ns) * 1e-9, "s")):
        yield Ceiling(
            group="latency",
            name=name,
            value=value,
            unit=unit,
            how=how,
            tried=1,
            median_of=_REPEATS,
            sm_clock_hz=state.sm_clock_hz,
            throttles=state.throttles,
        )


def random_cycle(places: int) -> np.ndarray[Any, Any]:
    """A random cycle through all places, as the index of the next word."""
    import numpy as np

    order = np.random.default_rng(_SEED).permutation(places)
    # begin where the kernel begins
    order = np.roll(order, -int(np.flatnonzero(order == 0)[0]))
    words = STRIDE_BYTES // 4
    following = np.zeros(places * words, np.uint32)
    following[order * words] = np.roll(order, -1) * words
    return following


def _arithmetic(bench: Bench) -> Iterator[Ceiling]:
    import numpy as np

    card = bench.card
    out = card.allocate(16)
    rounds = 100
    for entry in INSTRUCTIONS:
        if entry.kernel in {"fma_f16", "fma_bf16"}:
            continue
        (function,) = build(card, SOURCE, [f"latency_{entry.kernel}"])
        value = np.dtype(entry.value)
        arguments = (value.type(1), value.type(1), np.int32(rounds))
        found = np.zeros(2, np.int64)
        cycles = []
        for _ in range(_REPEATS):
            card.launch(function, launch_1d(1, 1), (out, *arguments))
            card.read(out, found)
            cycles.append(int(found[0]) / (rounds * 64))
        yield Ceiling(
            group="latency",
            name=entry.label,
            value=float(np.median(cycles)),
            unit="cycles",
            how="one chain in one thread",
            tried=1,
            median_of=_REPEATS,
        )
    card.free(out)
