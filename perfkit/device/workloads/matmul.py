"""Matrix products in f32 on the SIMT cores."""

from __future__ import annotations

from typing import Final

from perfkit.analysis.prediction import Demand, Flow
from perfkit.device.backend import LaunchConfig
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
from perfkit.models.issue import tile_instructions

_FILE: Final = "matmul.cu"
_COLUMNS: Final = 128  #: of the tile of a block
_DEPTH: Final = 8  #: of its slices along k
_DOWN, _ACROSS = 8, 16  # results of a thread
#: addresses, ends, barrier and branch of one slice, as NVRTC makes them: tested against its code
_BOOKKEEPING: Final = 24
_MOST: Final = 2**20


def _case(
    sizes: Sizes,
    code: Code,
    tile: tuple[int, int],
    block: tuple[int, int],
    l1_bytes: float,
    instructions: float | None = None,
) -> Case:
    """``tile``: rows and columns of a block's results."""
    m, n, k = sizes["m"], sizes["n"], sizes["k"]
    if max(m, n, k) > _MOST:
        raise UsageError(f"m, n, k = {m}, {n}, {k}: at most {_MOST} each")

    def reference(given: Arrays) -> Arrays:
        import numpy as np

        a = given["a"].reshape(m, k).astype(np.float64)
        return {"c": (a @ given["b"].reshape(k, n).astype(np.float64)).ravel()}

    launch = LaunchConfig(grid=(-(-n // tile[1]), -(-m // tile[0]), 1), block=(*block, 1))
    return Case(
        code=code,
        launch=launch,
        arrays=arrays(
            "f32", [("a", m * k, Role.IN), ("b", k * n, Role.IN), ("c", m * n, Role.OUT)]
        ),
        arguments=("a", "b", "c", i32(m), i32(n), i32(k)),
        demand=Demand(
            read_bytes=4 * (m + n) * k,
            write_bytes=4 * m * n,
            l1_bytes=l1_bytes,
            flow=Flow(flops=2 * m * n * k),
            instructions=instructions,
            blocks=launch.blocks,
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
    rows = threads
    code = Code(kernel="matmul_tiled", file=_FILE, defines=(f"ROWS={rows}",))
    m, n, k = sizes["m"], sizes["n"], sizes["k"]
    slices = -(-k // _DEPTH)
    warps = -(-m // rows) * -(-n // _COLUMNS) * threads / 32
    lines = (rows + _COLUMNS) * _DEPTH * 4 / ROW_BYTES / (threads / 32)  # from global memory
    passes = warps * slices * (_load_wavefronts() + _store_wavefronts(rows) + lines)
    issued = warps * (slices * slice_instructions(rows) + _DOWN * _ACROSS)
    return _case(sizes, code, (rows, _COLUMNS), (threads, 1), ROW_BYTES * passes, issued)


def slice_instructions(rows: int) -> int:
    """Of a warp, for one slice; A goes into shared memory as single floats, B as fours."""
    a, b = _fours(rows)
    return _DEPTH * tile_instructions(_DOWN, _ACROSS) + 5 * a + 2 * b + _BOOKKEEPING


def _fours(rows: int) -> tuple[int, int]:
    """Of A and B that a thread brings for one slice; there are as many threads as rows."""
    return _DEPTH // 4, _COLUMNS * _DEPTH // 4 // rows


def _load_wavefronts() -> int:
    """Of a warp, for one slice: fours of A for four rows of lanes, and of B for eight columns."""
    a = wavefronts(16, [(lane // 16 * 2 + lane % 2) * 16 for lane in range(32)])
    b = wavefronts(16, [lane // 2 % 8 * 16 for lane in range(32)])
    return _DEPTH * (_DOWN // 4 * a + _ACROSS // 4 * b)


def _store_wavefronts(rows: int) -> int:
    """Of a warp, for one slice."""
    fours_a, fours_b = _fours(rows)
    per_row = _DEPTH // 4
    pitch = 4 * (rows + 4)
    places = [lane % per_row * 4 * pitch + lane // per_row * 4 for lane in range(32)]
    a = 4 * wavefronts(4, places, store=True)
    b = wavefronts(16, [lane * 16 for lane in range(32)], store=True)
    return fours_a * a + fours_b * b


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
        summary="8 x 16 results a thread, f32, through shared memory",
        sizes={**_SIZES, "threads": 128},
        size="m",
        checks=(
            {"m": 131, "n": 257, "k": 67},
            {"m": 300, "n": 260, "k": 104, "threads": 64},
            {"m": 300, "n": 132, "k": 96, "threads": 256},
        ),
        build=_tiled,
    ),
)
