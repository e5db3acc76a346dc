"""Bandwidth of DRAM, L2, L1 and shared memory: the best over mixes, widths in flight and shapes.

A read-only stream can beat a triad, and a full grid a resident one, so every mix is its own figure
and every figure the envelope over launch shapes. Counted are the bytes that the kernel asks for.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Final

from perfkit.analysis.measured_ceilings import Ceiling
from perfkit.device.backend import LaunchConfig, launch_1d
from perfkit.device.experiments.ceiling import Bench, Way, rate
from perfkit.device.program import build

if TYPE_CHECKING:
    from perfkit.device.backend import Function, Memory

_SOURCE: Final = "bandwidth.cu"
_ACCESS_BYTES: Final = 16
_UNROLLS: Final = (1, 2, 4, 8)
_HINTS: Final = (0, 1)
_THREADS: Final = (256, 512, 1024)
_MOST_BUFFER_BYTES: Final = 4 * 2**30
_CACHED_UNROLL: Final = 8
#: what a kernel of the cached levels reads in all, about: a millisecond or two, of which it takes a
#: few microseconds to begin and to end
_CACHED_BYTES: Final = 2**34
_SHARED_BYTES: Final = 2**36

#: mix -> buffers it goes through
MIXES: Final = {"read": 1, "write": 1, "copy": 2, "triad": 3}


def dram(bench: Bench) -> Iterator[Ceiling]:
    """Read, write, copy and triad through buffers far larger than L2."""
    card = bench.card
    size = min(_MOST_BUFFER_BYTES, card.device.memory_bytes // 8) // 2**20 * 2**20
    buffers = [card.allocate(size) for _ in range(3)]
    for buffer in buffers:
        card.fill(buffer, 0x3F)  # 0.747 as f32: no special case of any unit
    for mix, count in MIXES.items():
        ways = [*_streams(bench, mix, buffers, size), *_driver_ways(bench, mix, buffers, size)]
        yield rate(bench, "dram", mix, "bytes_per_s", [way for way in ways if count])
    for buffer in buffers:
        card.free(buffer)


def _streams(bench: Bench, mix: str, buffers: list[Memory], size: int) -> Iterator[Way]:
    import numpy as np

    card = bench.card
    for unroll in _UNROLLS:
        for hint in _HINTS:
            (function,) = build(card, _SOURCE, [f"{mix}_u{unroll}_h{hint}"])
            for threads in _THREADS[:1] if bench.quick else _THREADS:
                tiles = size // (unroll * threads * _ACCESS_BYTES)
                moved = MIXES[mix] * tiles * unroll * threads * _ACCESS_BYTES
                for resident, blocks in _grids(bench, function, threads, tiles):
                    yield Way(
                        f"{unroll} x 16 B in flight, {threads} threads, {resident}"
                        + (", past L1" if hint else ""),
                        card.prepare(
                            function,
                            launch_1d(blocks, threads),
                            (*buffers, np.uint64(tiles)),
                        ),
                        moved,
                    )


def _grids(bench: Bench, function: Function, threads: int, tiles: int) -> Iterator[tuple[str, int]]:
    """One block for each tile, and as many blocks as are resident at once."""
    yield "a block per tile", tiles
    resident = function.blocks_per_sm(threads, 0) * bench.card.device.sm_count
    for times in (1,) if bench.quick else (1, 2):
        yield f"{times} x the resident blocks", times * resident


def _driver_ways(bench: Bench, mix: str, buffers: list[Memory], size: int) -> Iterator[Way]:
    """What the driver itself does in one call."""
    card = bench.card
    if mix == "write":
        yield Way("the driver's memset", partial(card.fill, buffers[2], 0x3F), size)
    if mix == "copy":
        work = partial(card.copy, buffers[2], buffers[0], size, None)
        yield Way("the driver's copy", work, 2 * size)


def l2(bench: Bench) -> Iterator[Ceiling]:
    """Reads past L1 of buffers that L2 holds, a different part by each block at a time."""
    card = bench.card
    whole = card.device.l2_bytes
    if whole is None:
        return
    sizes = [int(whole * share) // 2**19 * 2**19 for share in (0.15, 0.2, 0.3, 0.4, 0.5)]
    yield from _cached(bench, "l2", "read_l2", [size for size in sizes if size], _THREADS)


def l1(bench: Bench) -> Iterator[Ceiling]:
    """Reads of a buffer that every SM's L1 holds."""
    sizes = [16 * 2**10 * n for n in (1, 2, 4, 8)]
    yield from _cached(bench, "l1", "read_l1", sizes, (128, 256, 512, 1024))


def _cached(
    bench: Bench, group: str, name: str, sizes: list[int], threads_tried: tuple[int, ...]
) -> Iterator[Ceiling]:
    import numpy as np

    card = bench.card
    (function,) = build(card, _SOURCE, [name])
    if group == "l1":
        function.prefer_carveout(0)  # all that can be L1 is
    buffer, sink = card.allocate(max(sizes)), card.allocate(_ACCESS_BYTES)
    card.fill(buffer, 1)

    def ways() -> Iterator[Way]:
        for size in sizes:
            for threads in threads_tried:
                tile = _CACHED_UNROLL * threads * _ACCESS_BYTES
                if size % tile:
                    continue
                per_sm = function.blocks_per_sm(threads, 0)
                blocks = per_sm * card.device.sm_count
                count = max(1, _CACHED_BYTES // (blocks * tile))
                # blocks of L2 stay apart; in L1 every block reads all
                tiles = size // tile
                step = 1 if group == "l1" else max(1, blocks % tiles)
                arguments = (buffer, sink, np.uint32(tiles), np.uint32(step), np.uint32(count))
                yield Way(
                    f"{size // 1024} KiB, {threads} threads, {per_sm} blocks per SM",
                    card.prepare(function, launch_1d(blocks, threads), arguments),
                    count * blocks * tile,
                )

    yield rate(bench, group, "read", "bytes_per_s", ways())
    card.free(buffer)
    card.free(sink)


def shared(bench: Bench) -> Iterator[Ceiling]:
    """Reads of shared memory, 4, 8 and 16 bytes per lane without conflicts."""
    import numpy as np

    card = bench.card
    widths = (4, 8, 16)
    functions = build(card, _SOURCE, [f"read_shared_{width}" for width in widths])
    sink = card.allocate(_ACCESS_BYTES)

    def ways() -> Iterator[Way]:
        for width, function in zip(widths, functions, strict=True):
            for threads in (128, 256, 512, 1024):
                dynamic = 2 * threads * _ACCESS_BYTES
                per_sm = function.blocks_per_sm(threads, dynamic)
                blocks = per_sm * card.device.sm_count
                tile = _CACHED_UNROLL * threads * width
                count = max(1, _SHARED_BYTES // (blocks * tile))
                shape = LaunchConfig(
                    grid=(blocks, 1, 1), block=(threads, 1, 1), dynamic_bytes=dynamic
                )
                yield Way(
                    f"{width} bytes a lane, {threads} threads, {per_sm} blocks per SM",
                    card.prepare(function, shape, (sink, np.uint32(count))),
                    count * blocks * tile,
                )

    yield rate(bench, "shared", "read", "bytes_per_s", ways())
    card.free(sink)
