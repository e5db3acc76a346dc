"""Matrix products in f32 on the SIMT cores."""

from __future__ import annotations

from typing import Final

from perfkit.analysis.prediction import Demand, Flow
from perfkit.device.backend import Launch
from perfkit.device.workload import (
    Arrays,
    Case,
    Code,
    Role,
    Sizes,
    Workload,
    arrays,
    i32,
    whole_warps,
)
from perfkit.errors import UsageError
from perfkit.models.banks import ROW_BYTES, wavefronts

_FILE: Final = "matmul.cu"
_COLUMNS: Final = 128  #: of the tile of a block
_DEPTH: Final = 8
_MOST: Final = 2**20


def _case(
    sizes: Sizes, code: Code, tile: tuple[int, int], block: tuple[int, int], l1_bytes: float
) -> Case:
    """``tile``: rows and columns of a block's results."""
    m, n, k = sizes["m"], sizes["n"], sizes["k"]
    if max(m, n, k) > _MOST:
        raise UsageError(f"m, n, k = {m}, {n}, {k}: at most {_MOST} each")

    def reference(given: Arrays) -> Arrays:
        import numpy as np

        a = given["a"].reshape(m, k).astype(np.float64)
        return {"c": (a @ given["b"].reshape(k, n).astype(np.float64)).ravel()}

    return Case(
        code=code,
        launch=Launch(grid=(-(-n // tile[1]), -(-m // tile[0]), 1), block=(*block, 1)),
        arrays=arrays(
            "f32", [("a", m * k, Role.IN), ("b", k * n, Role.IN), ("c", m * n, Role.OUT)]
        ),
        arguments=("a", "b", "c", i32(m), i32(n), i32(k)),
        demand=Demand(
            read_bytes=4 * (m + n) * k,
            write_bytes=4 * m * n,
            l1_bytes=l1_bytes,
            flow=Flow(flops=2 * m * n * k),
        ),
        reference=reference,
        tolerance=1e-5,
    )


def _naive(sizes: Sizes) -> Case:
    """For each multiply-add a warp loads one word of A, for all lanes, and 32 of B."""
    rows = whole_warps(sizes) // 32
    passes = 2 * sizes["m"] * sizes["n"] * sizes["k"] / 32
    code = Code(kernel="matmul_naive", file=_FILE)
    return _case(sizes, code, (rows, 32), (32, rows), ROW_BYTES * passes)


def _tiled(sizes: Sizes) -> Case:
    threads = sizes["threads"]
    if threads not in (64, 128, 256):
        raise UsageError(f"threads = {threads}: the kernel takes 64, 128 or 256")
    rows = threads // 2
    code = Code(kernel="matmul_tiled", file=_FILE, defines=(f"ROWS={rows}",))
    m, n, k = sizes["m"], sizes["n"], sizes["k"]
    blocks = -(-m // rows) * -(-n // _COLUMNS)
    slices = -(-k // _DEPTH)
    loads = _load_wavefronts() * _DEPTH * threads // 32
    stores = _store_wavefronts(rows) * (rows + _COLUMNS) * _DEPTH / 4 / 32
    lines = (rows + _COLUMNS) * _DEPTH * 4 / ROW_BYTES  # what comes from global memory
    passes = blocks * slices * (loads + stores + lines)
    return _case(sizes, code, (rows, _COLUMNS), (threads, 1), ROW_BYTES * passes)


def _load_wavefronts() -> int:
    """Of a warp, for one of k: 16 bytes twice from A, four rows of lanes, and twice from B."""
    a = wavefronts(16, [(lane // 16 * 2 + lane % 2) * 16 for lane in range(32)])
    b = wavefronts(16, [lane // 2 % 8 * 16 for lane in range(32)])
    return 2 * a + 2 * b


def _store_wavefronts(rows: int) -> float:
    """Of a warp that stores 128 floats, A and B on average: A goes in as single floats."""
    per_row = _DEPTH // 4
    pitch = 4 * (rows + 4)
    places = [lane % per_row * 4 * pitch + lane // per_row * 4 for lane in range(32)]
    a = 4 * wavefronts(4, places, store=True)
    b = wavefronts(16, [lane * 16 for lane in range(32)], store=True)
    return (rows * a + _COLUMNS * b) / (rows + _COLUMNS)


_SIZES: Final = {"m": 4096, "n": 4096, "k": 4096, "threads": 256}

WORKLOADS: Final = (
    Workload(
        name="matmul_naive",
        group="matmul",
        summary="one result a thread, f32, from memory",
        sizes=_SIZES,
        size="m",
        checks=({"m": 131, "n": 257, "k": 67}, {"m": 5, "n": 33, "k": 9, "threads": 96}),
        build=_naive,
    ),
    Workload(
        name="matmul_tiled",
        group="matmul",
        summary="8 x 8 results a thread, f32, through shared memory",
        sizes=_SIZES,
        size="m",
        checks=({"m": 131, "n": 257, "k": 67}, {"m": 300, "n": 132, "k": 100, "threads": 128}),
        build=_tiled,
    ),
)
