"""Problems and tilings for the tests of the tensor-core kernels, and their compiler."""

from __future__ import annotations

import pytest

import perfkit
from perfkit.access import require_nvrtc
from perfkit.errors import Unavailable
from perfkit.kernel import DType, KernelResources
from perfkit.models.gemm_tile import Tiling
from perfkit.models.gemm_traffic import Problem


def problem(dtype: str = "bf16", out: str | None = None, **sizes: int) -> Problem:
    kind = DType(dtype)
    sums = DType.S32 if kind == DType.S8 else DType.F32
    size = {"m": 512, "n": 1024, "k": 2048} | sizes
    return Problem(dtype=kind, accumulate=sums, out=DType(out or sums), **size)


def tiling(tile: str, warp: str, stages: int, cluster: str = "1x1", split_k: int = 1) -> Tiling:
    """``128x256x64``, ``64x64`` (as deep as the tile unless it says more) and ``2x1``."""
    tile_m, tile_n, tile_k = map(int, tile.split("x"))
    warp_m, warp_n, *warp_k = map(int, warp.split("x"))
    cluster_m, cluster_n = map(int, cluster.split("x"))
    return Tiling(
        tile_m=tile_m,
        tile_n=tile_n,
        tile_k=tile_k,
        warp_m=warp_m,
        warp_n=warp_n,
        warp_k=warp_k[0] if warp_k else tile_k,
        stages=stages,
        cluster_m=cluster_m,
        cluster_n=cluster_n,
        split_k=split_k,
    )


def compiled(tmp_path, text: str, arch: str) -> KernelResources:
    """What the one kernel of ``text`` needs, or a skip that says which compiler is missing."""
    try:
        require_nvrtc()
    except Unavailable as error:
        pytest.skip(str(error))
    path = tmp_path / "kernel.cu"
    path.write_text(text, "utf-8")
    (found,) = perfkit.inspect(path, arch=arch, compiler="nvrtc")
    return found
