"""Rates of the tensor cores: nothing but ``mma.sync``, and on 9.0 ``wgmma``, on random data.

Such a loop draws more power than a card may take for long: its samples are bursts after rests.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from perfkit.analysis.measured_ceilings import Ceiling
from perfkit.device.backend import launch_1d
from perfkit.device.experiments.ceiling import Bench, Way, rate
from perfkit.device.matrix_data import random_operand
from perfkit.device.matrix_roofs import mma_roofs, wgmma_roofs
from perfkit.device.program import build_text

if TYPE_CHECKING:
    from perfkit.device.matrix_roofs import MatrixRoof

_FLOPS: Final = 2e12  #: of one launch, about: some milliseconds
_SEED: Final = 90


def tensor(bench: Bench) -> Iterator[Ceiling]:
    """Every pair of operand and accumulator types that the card's instructions have."""
    capability = bench.card.device.compute_capability
    pair = (capability.major, capability.minor)
    for kind, found in (("mma.sync", mma_roofs(pair)), ("wgmma", wgmma_roofs(pair))):
        for roof in found:
            yield _one(bench, kind, roof)


def _one(bench: Bench, kind: str, roof: MatrixRoof) -> Ceiling:
    import numpy as np

    card = bench.card
    (function,) = build_text(card, roof.text, [roof.name], suffix=roof.suffix)
    if roof.dynamic_bytes > 48 * 1024:
        function.allow_dynamic(roof.dynamic_bytes)
    data = card.allocate(roof.data_bytes)
    count = roof.data_bytes * 8 // roof.operand.bits
    card.write(data, random_operand(roof.operand, (count,), seed=_SEED))
    most = function.blocks_per_sm(roof.threads, roof.dynamic_bytes)
    out = card.allocate(max(1, most) * card.device.sm_count * roof.out_bytes_per_block)

    def ways() -> Iterator[Way]:
        for per_sm in range(1, most + 1):
            blocks = per_sm * card.device.sm_count
            repeats = max(1, int(_FLOPS / (blocks * roof.flops_per_block)))
            yield Way(
                f"{roof.shape}, {per_sm} blocks of {roof.threads} threads per SM",
                card.prepare(
                    function,
                    launch_1d(blocks, roof.threads, roof.dynamic_bytes),
                    (data, out, np.int32(repeats)),
                ),
                blocks * repeats * roof.flops_per_block,
            )

    found = rate(
        bench,
        "tensor",
        f"{roof.operand}/{roof.sums} {kind} {roof.shape}",
        "flop_per_s",
        ways(),
        dtype=str(roof.operand),
        accumulate=str(roof.sums),
        compute_unit="tensor",
        rests=True,  # no kernel that has rested may beat a ceiling
    )
    card.free(data)
    card.free(out)
    return found
