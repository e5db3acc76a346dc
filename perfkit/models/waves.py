"""How a grid fills a GPU: full waves of blocks, and the tail.

``waves = grid / (sm_count * blocks_per_sm)``. Valid for blocks of about equal length; the last,
partial wave then takes up to as long as a full one.
"""

from __future__ import annotations

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
