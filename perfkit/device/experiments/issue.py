"""Issue rates of the arithmetic units: independent chains of one instruction in every warp."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from perfkit.analysis.measured_ceilings import Ceiling
from perfkit.device.backend import launch_1d
from perfkit.device.experiments.ceiling import Bench, Way, rate
from perfkit.device.program import build

if TYPE_CHECKING:
    import numpy as np

SOURCE: Final = "issue.cu"
_CHAINS: Final = 8
_INSTRUCTIONS: Final = 8 * _CHAINS  #: of one round of the loop
_ROUNDS: Final = 2000


class Instruction(NamedTuple):
    """A kernel of ``issue.cu``; ``operations`` of one lane's instruction, an FMA being two."""

    kernel: str
    label: str
    value: str  #: NumPy's name of the type of a register
    operations: int
    dtype: str | None  #: None: no data sheet has a peak of it
    first: tuple[int, int] = (5, 0)


INSTRUCTIONS: Final = (
    Instruction("fma_f32", "f32 FMA", "float32", 2, "f32"),
    Instruction("fma_f64", "f64 FMA", "float64", 2, "f64"),
    Instruction("fma_f16", "f16x2 FMA", "uint32", 4, "f16", (5, 3)),
    Instruction("fma_bf16", "bf16x2 FMA", "uint32", 4, "bf16", (8, 0)),
    Instruction("mad_s32", "s32 multiply-add", "uint32", 2, "s32"),
    Instruction("ex2_f32", "f32 2^x (special function unit)", "float32", 1, None),
)


def simt(bench: Bench) -> Iterator[Ceiling]:
    """Rates outside the tensor cores, of every instruction that the card has."""
    for entry in INSTRUCTIONS:
        if bench.card.device.compute_capability >= entry.first:
            yield _rate_of(bench, entry)


def _rate_of(bench: Bench, entry: Instruction) -> Ceiling:
    import numpy as np

    card = bench.card
    (function,) = build(card, SOURCE, [entry.kernel])
    value = np.dtype(entry.value)
    threads_at_most = card.device.sm_count * card.device.max_threads_per_sm
    out = card.allocate((threads_at_most + _CHAINS) * value.itemsize)
    card.fill(out, 0x3C)  # 1.06 as pairs of f16, 0.0115 as f32
    arguments = (out, *_factors(value), np.int32(_ROUNDS))

    def ways() -> Iterator[Way]:
        for threads in (256, 512, 1024):
            per_sm = function.blocks_per_sm(threads, 0)
            blocks = per_sm * card.device.sm_count
            yield Way(
                f"{threads} threads, {per_sm} blocks per SM",
                card.prepare(function, launch_1d(blocks, threads), arguments),
                blocks * threads * _ROUNDS * _INSTRUCTIONS * entry.operations,
            )

    found = rate(
        bench,
        "simt",
        entry.label,
        "flop_per_s" if entry.dtype else "op_per_s",
        ways(),
        dtype=entry.dtype,
        accumulate=entry.dtype,
        compute_unit="simt" if entry.dtype else None,
    )
    card.free(out)
    return found


def _factors(value: np.dtype[Any]) -> tuple[object, object]:
    """Two scalars of a type that keep a chain of multiply-adds finite and changing."""
    if value.kind == "f":
        return value.type(0.999), value.type(0.001)
    # as pairs of f16: 0.9995 and 0.001; as integers: odd, so that no bit is lost
    return value.type(0x3BFF3BFF), value.type(0x14191419)
