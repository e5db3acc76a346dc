"""Rooflines and tilings for every format, on the products of ``results``."""

from __future__ import annotations

from perfkit.analysis.gemm import GemmQuestion, estimate
from perfkit.analysis.gemm_rank import rank
from perfkit.analysis.roofline import RooflineQuestion, roofline
from perfkit.kernel import DType
from perfkit.models.gemm_tile import Tiling
from perfkit.models.operations import operation
from tests.report.results import TARGETS

#: beyond the peak, so that the clock is explained
ONE = (
    roofline(
        TARGETS[0],
        RooflineQuestion(dtype=DType.F16, work=operation("gemm:4096", DType.F16), time_s=0.2e-3),
    ),
)
MANY = tuple(
    roofline(one, RooflineQuestion(dtype=DType.F32, work=operation("softmax:4096x1000", DType.F32)))
    for one in TARGETS[:2]
)
LEFT_OUT = {"toy-1": "has no f16 arithmetic", "toy-2": "has no f16 arithmetic"}

_HALF = RooflineQuestion(dtype=DType.F16)
_TILING = Tiling(tile_m=128, tile_n=128, tile_k=32, warp_m=64, warp_n=64, warp_k=32, stages=3)
#: rows that do not fill whole tiles, and are no multiple of 16 bytes
GEMM = (estimate(TARGETS[0], GemmQuestion(m=4096, n=4097, k=1024, roofs=_HALF), _TILING),)
_TOO_MANY = Tiling(tile_m=256, tile_n=256, tile_k=64, warp_m=128, warp_n=64, warp_k=64, stages=8)
#: the second does not launch
GEMMS = (
    *GEMM,
    estimate(TARGETS[1], GemmQuestion(m=4096, n=4097, k=1024, roofs=_HALF), _TOO_MANY),
)
RANKED = (rank(TARGETS[0], GemmQuestion(m=16, n=8192, k=8192, roofs=_HALF), limit=3),)
