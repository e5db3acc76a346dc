"""Sweeps as data frames: every combination of the axes, one row each, in pieces that fit memory."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

from perfkit.analysis.sweep import blocks_per_sm, integers
from perfkit.arch.types import Target
from perfkit.errors import UsageError
from perfkit.models.carveout import NO_PREFERENCE
from perfkit.models.launch import MAX_BARRIERS_PER_BLOCK
from perfkit.models.occupancy import Rule

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

#: rows built at a time: about 30 MB
_ROWS: Final = 1 << 20


def sweep(targets: tuple[Target, ...], **axes: Any) -> pd.DataFrame:
    """All pieces of ``pieces`` in one frame."""
    import pandas as pd

    return pd.concat(pieces(targets, **axes), ignore_index=True)


def pieces(
    targets: tuple[Target, ...],
    *,
    threads: int | Iterable[int],
    regs: int | Iterable[int],
    smem: int | Iterable[int] = 0,
    carveout: int | Iterable[int] = NO_PREFERENCE,
    barriers: int | Iterable[int] = 1,
    rule: Rule = "driver",
) -> Iterator[pd.DataFrame]:
    """Frames of at most about a million rows over all combinations of the inputs.

    Args:
        targets: what to ask about.
        threads: threads per block; one value or several, as for the other axes.
        regs: registers per thread.
        smem: static plus dynamic bytes per block.
        carveout: percent 0..100, or -1 for no preference.
        barriers: named barriers per block.
        rule: ``driver`` or ``hardware``.

    Yields:
        Columns ``target`` (categorical), ``block_threads``, ``registers_per_thread``,
        ``shared_bytes_per_block``, ``carveout_percent``, ``barriers_per_block``,
        ``blocks_per_sm``, ``warps_per_sm`` and ``occupancy`` (0..1), the last input varying
        fastest.

    Raises:
        UsageError: an axis that is empty or no list of integers, or values that no launch can
            have (see ``analysis.sweep``).
    """
    import numpy as np

    if not targets:
        raise UsageError("nothing to sweep: no target")
    axes = [
        _axis(*axis)
        for axis in (
            ("threads", threads, 0, None),
            ("regs", regs, 0, None),
            ("smem", smem, 0, None),
            ("carveout", carveout, NO_PREFERENCE, 100),
            ("barriers", barriers, 0, MAX_BARRIERS_PER_BLOCK),
        )
    ]
    step = max(1, _ROWS // math.prod(axis.size for axis in axes[1:]))
    for target in targets:
        for start in range(0, axes[0].size, step):
            part = [axes[0][start : start + step], *axes[1:]]
            yield _piece(targets, target, np.ix_(*part), rule)


def _axis(name: str, values: Any, low: int, high: int | None) -> NDArray[Any]:
    given = values
    if isinstance(values, Iterable) and not hasattr(values, "__array__"):
        given = values if isinstance(values, str) else list(values)
    axis = integers(name, given, low, high)
    if axis.ndim > 1:
        raise UsageError(f"{name} has {axis.ndim} dimensions: must be one integer or a list")
    if axis.size == 0:
        raise UsageError(f"nothing to sweep: {name} is empty")
    return axis.reshape(-1)


def _piece(
    targets: tuple[Target, ...],
    target: Target,
    mesh: tuple[NDArray[Any], ...],
    rule: Rule,
) -> pd.DataFrame:
    import numpy as np
    import pandas as pd

    threads, regs, smem, carveout, barriers = mesh
    limits = target.capability.limits
    # one count of barriers costs nothing as a number, and a look at every row as an array
    count = barriers.item() if barriers.size == 1 else barriers
    blocks = blocks_per_sm(target.capability, threads, regs, smem, carveout, count, rule)
    warps = blocks.astype(np.int16) * -(-threads // limits.warp_size)
    # narrow where all that a launch can have fits; what is beyond is zero blocks, yet listed
    kinds = ("int32", "int16", "int32", "int8", "int8")
    columns = [
        np.broadcast_to(
            axis.astype(kind) if axis.max() <= np.iinfo(kind).max else axis, blocks.shape
        ).reshape(-1)
        for axis, kind in zip(mesh, kinds, strict=True)
    ]
    labels = [one.label for one in targets]
    code = np.full(blocks.size, labels.index(target.label), np.int16)
    return pd.DataFrame(
        {
            "target": pd.Categorical.from_codes(code, categories=pd.Index(labels)),
            "block_threads": columns[0],
            "registers_per_thread": columns[1],
            "shared_bytes_per_block": columns[2],
            "carveout_percent": columns[3],
            "barriers_per_block": columns[4],
            "blocks_per_sm": blocks.reshape(-1),
            "warps_per_sm": warps.reshape(-1).astype(np.int16),
            "occupancy": warps.reshape(-1) / limits.max_warps_per_sm,
        }
    )
