"""Sweeps as data frames: every combination of the axes, one row each, in pieces that fit memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

from perfkit.analysis.sweep import blocks_per_sm
from perfkit.arch.types import Target
from perfkit.errors import UsageError
from perfkit.models.carveout import NO_PREFERENCE
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
    barriers: int = 1,
    rule: Rule = "driver",
) -> Iterator[pd.DataFrame]:
    """Frames of at most about a million rows over targets x threads x regs x smem x carveout.

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
        ``shared_bytes_per_block``, ``carveout_percent``, ``blocks_per_sm``, ``warps_per_sm`` and
        ``occupancy`` (0..1), the last input varying fastest.

    Raises:
        UsageError: an empty axis, or values that no launch can have (see ``analysis.sweep``).
    """
    import numpy as np

    if not targets:
        raise UsageError("nothing to sweep: no target")
    axes = [
        _axis(name, values)
        for name, values in (
            ("threads", threads), ("regs", regs), ("smem", smem), ("carveout", carveout),
        )
    ]  # fmt: skip
    inner = axes[1].size * axes[2].size * axes[3].size
    step = max(1, _ROWS // inner)
    for target in targets:
        for start in range(0, axes[0].size, step):
            part = [axes[0][start : start + step], *axes[1:]]
            yield _piece(targets, target, np.ix_(*part), barriers, rule)


def _axis(name: str, values: int | Iterable[int]) -> NDArray[Any]:
    import numpy as np

    axis = np.asarray(list(values) if isinstance(values, Iterable) else [values])
    if axis.size == 0:
        raise UsageError(f"nothing to sweep: {name} is empty")
    return axis


def _piece(
    targets: tuple[Target, ...],
    target: Target,
    mesh: tuple[NDArray[Any], ...],
    barriers: int,
    rule: Rule,
) -> pd.DataFrame:
    import numpy as np
    import pandas as pd

    threads, regs, smem, carveout = mesh
    limits = target.capability.limits
    blocks = blocks_per_sm(target.capability, threads, regs, smem, carveout, barriers, rule)
    warps = blocks.astype(np.int16) * -(-threads // limits.warp_size)
    # narrow where all that a launch can have fits; what is beyond is zero blocks, yet listed
    kinds = ("int32", "int16", "int32", "int8")
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
            "blocks_per_sm": blocks.reshape(-1),
            "warps_per_sm": warps.reshape(-1).astype(np.int16),
            "occupancy": warps.reshape(-1) / limits.max_warps_per_sm,
        }
    )
