"""How many blocks: one thread for each piece of work, a grid-stride loop, or blocks that stay.

* one to one: ``ceil(threads needed / block)`` blocks, as many waves as that takes
* grid stride: a whole wave at most, each thread in steps of the grid through the problem
* persistent: exactly a whole wave, which fetches its work itself

Source: M. Harris, CUDA Pro Tip: Write Flexible Kernels with Grid-Stride Loops (NVIDIA Developer
Blog, 2013); Nsight Compute's rule on launch statistics, which warns of a tail of a fifth. Waves by
``models.waves``.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Final

from perfkit.analysis import cluster_choice
from perfkit.models.ops import ceil_div, round_up
from perfkit.models.waves import Waves, waves
from perfkit.record import record

if TYPE_CHECKING:
    from perfkit.analysis.block_sizes import Place, Wish

#: share of the time in the last wave from which on it is worth a remark
TAIL: Final = 0.2


class Form(StrEnum):
    ONE_TO_ONE = "one_to_one"
    GRID_STRIDE = "grid_stride"
    PERSISTENT = "persistent"


@record
class Grid:
    """One way to cover the problem."""

    form: Form
    blocks: int
    per_thread: int | None  #: most elements of a thread; None: no problem size, or it fetches them
    waves: Waves | None


def grids(place: Place, wish: Wish) -> tuple[Grid, ...]:
    """The forms that can be launched; none for a capability, which has no number of SMs."""
    gpu = place.request.target.gpu
    if gpu is None:
        return ()
    wave = gpu.sm_count * place.blocks_per_sm
    unit = wish.cluster or 1
    if wish.cluster is not None:
        wave = cluster_choice.resident(place, wish.cluster).active_blocks
    if wave == 0:
        return ()
    found = []
    if wish.elements is not None and wish.threads_needed is not None:
        needed = round_up(ceil_div(wish.threads_needed, place.threads), unit)
        if needed <= place.request.target.capability.limits.max_grid_dim[0]:
            found.append(_grid(Form.ONE_TO_ONE, needed, wish.per_thread, wave))
        stride = min(needed, wave)
        each = ceil_div(wish.elements, stride * place.threads)
        found.append(_grid(Form.GRID_STRIDE, stride, each, wave))
    else:
        found.append(_grid(Form.GRID_STRIDE, wave, None, wave))
    found.append(_grid(Form.PERSISTENT, wave, None, wave))
    return tuple(found)


def _grid(form: Form, blocks: int, per_thread: int | None, wave: int) -> Grid:
    """``wave``: blocks that the GPU holds at once, in clusters if it is launched in them."""
    in_waves = waves(grid=blocks, sm_count=1, blocks_per_sm=wave)
    return Grid(form=form, blocks=blocks, per_thread=per_thread, waves=in_waves)


def recommended(found: tuple[Grid, ...]) -> Form | None:
    """One to one where the problem is known and a grid of that size exists."""
    forms = [grid.form for grid in found]
    return forms[0] if forms else None
