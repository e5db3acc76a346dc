"""The tiling that was asked for, or the best one where none was."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from perfkit.analysis.gemm import GemmEstimate, GemmQuestion, estimate
from perfkit.errors import UsageError
from perfkit.models.gemm_tile import Tiling

if TYPE_CHECKING:
    from perfkit.arch.types import Target

_STAGES: Final = 3
#: before 8.0 there are no asynchronous copies, so that a stage is loaded while one is used
_EARLY_STAGES: Final = 2
_ASYNCHRONOUS: Final = (8, 0)


def estimate_or_best(
    target: Target,
    question: GemmQuestion,
    tile: tuple[int, int, int] | None,
    warp: tuple[int, int, int] | None,
    stages: int | None = None,
    cluster: tuple[int, int] = (1, 1),
    split_k: int = 1,
) -> GemmEstimate:
    """The estimate of a tiling; without one, of the first in the ranking.

    Args:
        target: a product.
        question: the matrix product.
        tile: of a block: m, n, k.
        warp: of a warp: m, n, k; together with ``tile``.
        stages: slices of k in shared memory; None: 3, or 2 before 8.0.
        cluster: blocks along m and n.
        split_k: blocks that share a tile's k; 0: stream-K.

    Raises:
        UnknownTarget: a bare capability.
        UsageError: sizes that are none or that no kernel can have, or a missing roof.
    """
    if tile is not None and warp is not None:
        early = target.capability.compute_capability < _ASYNCHRONOUS
        usual = _EARLY_STAGES if early else _STAGES
        tiling = Tiling(
            **dict(zip(("tile_m", "tile_n", "tile_k"), tile, strict=True)),
            **dict(zip(("warp_m", "warp_n", "warp_k"), warp, strict=True)),
            **dict(zip(("cluster_m", "cluster_n"), cluster, strict=True)),
            stages=usual if stages is None else stages,
            split_k=split_k,
        )
        return estimate(target, question, tiling)
    if tile is not None or warp is not None:
        raise UsageError("tile and warp belong together", hint="give both, or neither")
    if stages is not None or cluster != (1, 1) or split_k != 1 or question.instruction:
        raise UsageError(
            "stages, cluster, split and instruction are those of a tile",
            hint="give tile and warp, too, or nothing of them for the best tiling",
        )
    from perfkit.analysis.gemm_rank import rank

    best = rank(target, replace(question, regs=None), limit=1).best[0]
    if question.regs is None:
        return best
    raise UsageError("registers are those of a kernel: of which tile?", hint="give tile and warp")
