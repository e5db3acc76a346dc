"""The time to expect of a tiled matrix product: what its busiest SM does, one thing after another.

Nothing can beat the bound of ``models.gemm_traffic``; this is what is likely.

* **Step.** ``wgmma`` and ``tcgen05`` fetch their operands themselves and wait for nothing: a step
  takes what its slowest unit takes. Warps that read their own operands get in each other's way at
  the tensor cores and at shared memory, which their own copies, but not those of TMA, are written
  to as well; each is two streams (``models.contention``), as it loads the fragments of one step
  while it multiplies others.
* **Feed.** An SM takes 64 bytes per clock from L2. What blocks of a column ask for together L2
  answers once, but for copies to whole clusters, each of which is an answer of its own.
* **Window.** A slice is under way for the latency of DRAM and for as long as L2 takes for it; all
  stages but the one in use can be under way at once.
* **Ends.** A block begins with a slice that it waits for and ends with its results on their way to
  DRAM; meanwhile only other blocks of the SM multiply. Blocks with producers load on all the time.

Formula:
    step   = max(multiply, feed, window)
    feed   = max((a + b) / 64 clock, (a / cluster_n + b / cluster_m / together) / L2)
    window = (latency + (a + b) / L2) / ((stages - 1) resident blocks)
    time   = launch + max(steps * step + tiles * (fill + store) / resident blocks, DRAM)

Units: seconds, bytes, hertz; a and b are bytes of a slice of each operand, rates one SM's share.

Source: as ``models.gemm_traffic`` and ``models.contention``; 64 bytes, what is answered once, and
that wgmma does not wait for what is written to shared memory: products without multiplication, and
of zeros, on one H200 (docs/validation).

Valid: kernels made like CUTLASS's. Power is in no term: a card that slows down under its limit
takes longer. With two stages, or slices of 64 bytes, up to a third longer was measured.

>>> from perfkit.models.gemm_time import store_time
>>> store_time(128, 256, out_bytes=2, write_bytes_per_s=4.7e12 / 132) * 4.7e12
8650752.0
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from perfkit.models.contention import time_per_piece
from perfkit.models.gemm_tile import WARP, warps
from perfkit.models.gemm_traffic import shared_elements
from perfkit.models.ops import SCALAR, Int, Ops, ceil_div
from perfkit.record import record

if TYPE_CHECKING:
    from perfkit.models.gemm_instructions import Instruction
    from perfkit.models.gemm_tile import Tiling
    from perfkit.models.gemm_traffic import Problem, TileGrid, Traffic

#: bytes per clock that an SM takes from L2: 62 to 64 were measured on an H200
_PORT_BYTES: Final = 64
#: fragments of a warp: one step's are multiplied while the next ones load
_FRAGMENTS: Final = 2
#: values that one lane converts at once
_CONVERTED: Final = 2


@record
class Rates:
    """What one SM's share of the GPU is; None: nobody knows."""

    flop_per_s: float  #: of the instruction
    clock_hz: float | None  #: while it multiplies
    shared_bytes_per_s: float | None
    l2_bytes_per_s: float | None
    read_bytes_per_s: float | None  #: of DRAM
    write_bytes_per_s: float | None
    latency_s: float = 0.0  #: of DRAM
    launch_s: float = 0.0  #: of an empty kernel
    partitions: int = 4  #: of an SM, each with a tensor core
    #: lanes per second that make f16 of f8, and that add f32, where an instruction is made of those
    convert_per_s: float | None = None
    add_per_s: float | None = None


def expected(
    p: Problem,
    t: Tiling,
    instruction: Instruction,
    g: TileGrid,
    moved: Traffic,
    *,
    blocks_per_sm: Int,
    sm_count: int,
    rates: Rates,
    together: Int = 1,
    ops: Ops = SCALAR,
) -> Int:
    """Seconds.

    Args:
        p: the product.
        t: how it is cut up.
        instruction: that the warps use.
        g: its grid.
        moved: its traffic.
        blocks_per_sm: resident blocks, by ``models.occupancy``; at least 1.
        sm_count: SMs of the GPU.
        rates: of one SM.
        together: blocks after one another that multiply the same columns of B.
        ops: ``SCALAR``, or ``numpy`` with arrays.
    """
    resident = ops.maximum(1, ops.minimum(blocks_per_sm, ceil_div(g.blocks, sm_count)))
    a, b = _slice_bytes(p, t)
    load = rates.latency_s + _through(a + b, _l2_rate(rates))
    under_way = ops.maximum(t.stages - 1, 1) * resident
    step = _largest(
        ops,
        _multiply(p, t, instruction, resident, rates, ops),
        _feed(t, a, b, rates, ops.where(t.cluster_m * t.cluster_n == 1, together, 1), ops),
        load / under_way,
    )
    k_steps = ops.maximum(1, ceil_div(g.k_steps, ops.maximum(t.split_k, 1)))
    tiles = ceil_div(g.busiest_steps, k_steps)
    store = store_time(
        ops.minimum(t.tile_m, p.m),
        ops.minimum(t.tile_n, p.n),
        out_bytes=p.out.bits / 8,
        write_bytes_per_s=rates.write_bytes_per_s,
    )
    # producers load the next tile while the last one's results are stored
    fills = 1 if instruction.producer_warps else tiles / resident
    sums = _through(moved.partial_bytes / sm_count, rates.write_bytes_per_s)
    busiest = g.busiest_steps * step + fills * load + tiles * store / resident + sums
    return rates.launch_s + ops.maximum(busiest, _dram(p, moved, sm_count, rates))


def store_time(
    rows: Int, columns: Int, *, out_bytes: float, write_bytes_per_s: float | None
) -> Int:
    """Seconds until the results of a tile are on their way, while all SMs store theirs.

    >>> store_time(64, 64, out_bytes=4, write_bytes_per_s=16384.0)
    1.0
    """
    return _through(rows * columns * out_bytes, write_bytes_per_s)


def _slice_bytes(p: Problem, t: Tiling) -> tuple[Int, Int]:
    row = t.tile_k * p.dtype.bits / 8
    return t.tile_m * row, t.tile_n * row


def _through(amount: Int, rate: float | None) -> Int:
    return amount / rate if rate else 0.0 * amount


def _largest(ops: Ops, first: Int, *others: Int) -> Int:
    for other in others:
        first = ops.maximum(first, other)
    return first


def _l2_rate(rates: Rates) -> float | None:
    if rates.l2_bytes_per_s:
        return rates.l2_bytes_per_s
    return _PORT_BYTES * rates.clock_hz if rates.clock_hz else None


def _feed(t: Tiling, a: Int, b: Int, rates: Rates, together: Int, ops: Ops) -> Int:
    """From L2 into shared memory."""
    asked = a / t.cluster_n + b / t.cluster_m / together
    port = _PORT_BYTES * rates.clock_hz if rates.clock_hz else None
    return ops.maximum(_through(a + b, port), _through(asked, rates.l2_bytes_per_s))


def _multiply(
    p: Problem, t: Tiling, instruction: Instruction, resident: Int, rates: Rates, ops: Ops
) -> Int:
    """A step of one block, as long as the SM takes for it."""
    operand = p.dtype.bits / 8
    reads = shared_elements(t, instruction) * t.tile_k * operand
    multiply = 2 * t.tile_m * t.tile_n * t.tile_k / rates.flop_per_s
    if instruction.reads_shared:
        return ops.maximum(multiply, _through(reads, rates.shared_bytes_per_s))
    resident_warps = warps(t) * resident
    # fewer warps than partitions leave some of them idle
    multiply = multiply * rates.partitions / ops.minimum(rates.partitions, resident_warps)
    # TMA's writes and the warps' reads go on at once
    copied = 0 if instruction.producer_warps else (t.tile_m + t.tile_n) * t.tile_k * operand
    units = [multiply, _through(reads + copied, rates.shared_bytes_per_s)]
    converted = shared_elements(t, instruction) * t.tile_k / _CONVERTED
    if rates.convert_per_s is not None and instruction.producer_warps:
        units.append(converted / rates.convert_per_s)  # by the kernel, which then multiplies f16
    elif rates.convert_per_s is not None and rates.add_per_s is not None:
        added = t.tile_m * t.tile_n * t.tile_k / instruction.k
        halves = 2 * WARP * added / (instruction.m * instruction.n)
        # and all of them in issue slots, of which there are as many as lanes that add
        issued = converted + added + halves
        units += [converted / rates.convert_per_s, *(x / rates.add_per_s for x in (added, issued))]
    streams = ops.maximum(1, _FRAGMENTS * resident_warps // rates.partitions)
    return time_per_piece(units, streams, ops=ops)


def _dram(p: Problem, moved: Traffic, sm_count: int, rates: Rates) -> Int:
    read = _through((moved.dram_bytes - p.out_bytes) / sm_count, rates.read_bytes_per_s)
    return read + _through(p.out_bytes / sm_count, rates.write_bytes_per_s)
