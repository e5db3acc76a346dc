"""The order of ranked tilings, where a card was asked."""

from __future__ import annotations

from perfkit.analysis.gemm import GemmQuestion
from perfkit.analysis.gemm_rank import rank
from perfkit.analysis.roofline import RooflineQuestion
from perfkit.arch import catalog
from perfkit.arch.types import Target
from perfkit.kernel import DType


def test_clusters_of_four_do_not_tie_with_clusters_of_two_on_an_h200():
    """Measured: 216 µs with clusters of four, 187 µs with two, for 4096 in bf16."""
    h200 = Target(
        label="h200-sxm", capability=catalog.capability("9.0"), gpu=catalog.gpu("h200-sxm")
    )
    question = GemmQuestion(m=4096, n=4096, k=4096, roofs=RooflineQuestion(dtype=DType.BF16))
    best = rank(h200, question, limit=5).best
    assert {one.tiling.cluster_m * one.tiling.cluster_n for one in best} == {2}
    # the fastest that was measured is among the first five
    assert ("128x256x64", 4) in {(one.tiling.tile, one.tiling.stages) for one in best}


def test_blocks_of_whole_tiles_only():
    """Where tiles are few, sharing out k is best: without it others are tied, by their own best."""
    h200 = Target(
        label="h200-sxm", capability=catalog.capability("9.0"), gpu=catalog.gpu("h200-sxm")
    )
    question = GemmQuestion(m=1024, n=1024, k=8192, roofs=RooflineQuestion(dtype=DType.BF16))
    every, whole = rank(h200, question), rank(h200, question, limit=500, is_whole=True)
    assert {one.tiling.split_k for one in every.best} != {1}
    assert {one.tiling.split_k for one in whole.best} == {1}
    assert whole.best[0].schedule.expected_s > every.best[0].schedule.expected_s
    assert 0 < whole.compared < every.compared
