"""How a grid fills a GPU: full waves of blocks, and the tail.

A wave is what the GPU holds at once. The last, partial wave takes up to as long as a full one. What
SMs are the limit of takes as long as the SM with most blocks.

Formula:
    blocks_per_wave = sm_count * blocks_per_sm
    waves           = grid / blocks_per_wave
    tail share      = 1 / (full waves + 1), at most, if a partial wave is left
    unevenness      = ceil(grid / sm_count) / (grid / sm_count)

Units: blocks; the tail share is that of the run time, 0..1; unevenness is the work of the SM with
most blocks over the mean, 1 or more.

Source: NVIDIA GPU Performance Background User's Guide, 3 "GPU Execution Model", Figure 3, which is
the example; Nsight Compute, rule LaunchConfiguration. Unevenness is arithmetic.

Valid: blocks of about equal length.

>>> from perfkit.models.waves import waves
>>> found = waves(grid=12, sm_count=8, blocks_per_sm=1)
>>> found.waves, found.full_waves, found.partial_wave_blocks, found.tail_share_max
(1.5, 1, 4, 0.5)
"""

from __future__ import annotations

from perfkit.models.ops import ceil_div
from perfkit.record import record


@record
class Waves:
    """A grid in units of what the GPU holds at once."""

    blocks_per_wave: int
    full_waves: int
    partial_wave_blocks: int
    waves: float
    tail_share_max: float  #: most of the run time, 0..1, that the partial wave may take


def waves(*, grid: int, sm_count: int, blocks_per_sm: int) -> Waves | None:
    """Waves of ``grid`` blocks; None when no block fits.

    >>> w = waves(grid=512, sm_count=108, blocks_per_sm=2)
    >>> w.full_waves, w.partial_wave_blocks, round(w.tail_share_max, 3)
    (2, 80, 0.333)
    """
    per_wave = sm_count * blocks_per_sm
    if per_wave == 0:
        return None
    full, partial = divmod(grid, per_wave)
    return Waves(
        blocks_per_wave=per_wave,
        full_waves=full,
        partial_wave_blocks=partial,
        waves=grid / per_wave,
        tail_share_max=1 / (full + 1) if partial else 0.0,
    )


def unevenness(*, grid: int, sm_count: int) -> float:
    """The work of the SM with most blocks over that of all on average, of at least one block.

    >>> unevenness(grid=264, sm_count=132), unevenness(grid=1024, sm_count=132)
    (1.0, 1.03125)
    """
    most: int = ceil_div(grid, sm_count)
    return most * sm_count / grid
