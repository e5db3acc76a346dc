"""The same work with good and bad places in memory: strides, structs, transposes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from perfkit.analysis.prediction import Demand, Flow
from perfkit.device.backend import LaunchConfig, launch_1d
from perfkit.device.workload import (
    Arrays,
    Case,
    Code,
    Role,
    Sizes,
    Workload,
    arrays,
    blocks_for,
    i32,
    i64,
)
from perfkit.errors import UsageError
from perfkit.models.banks import wavefronts
from perfkit.models.coalescing import LINE_BYTES, SECTOR_BYTES, global_access
from perfkit.models.l2 import turns

_FILE: Final = "layout.cu"
_WARP: Final = range(32)
#: of floats that a warp takes, side by side and below one another
_ROW: Final = [4 * lane for lane in _WARP]
_COLUMN: Final = [4096 * lane for lane in _WARP]
_TILE: Final = 64
_TILE_THREADS: Final = (64, 128, 256, 512, 1024)  #: whole rows of a tile that divide it
_SIDE: Final = 16_000  #: whole tiles, so that rows of a tile are aligned pieces; no power of two
_STRUCT_BYTES: Final = 32
#: An H200 reads DRAM in such pieces: at strides from 64 bytes on it took the time of twice the
#: sectors. Other cards may read sectors alone, so that the bound does not count it.
_DRAM_BYTES: Final = 64
_MASS, _CHARGE = 3, 7  # floats of the struct


def _sector_bytes(n: int, stride_bytes: int) -> float:
    """Bytes of all sectors that n floats at that stride lie in: those of a warp, in proportion."""
    of_warp = global_access(4, [lane * stride_bytes for lane in _WARP]).sectors
    # a warp that starts inside a sector shares it with the one before
    return max(of_warp * SECTOR_BYTES * n / 32, 4.0 * n)


def _fetched_bytes(n: int, stride_bytes: int) -> float:
    """The same in the pieces that DRAM gives."""
    pieces = {lane * stride_bytes // _DRAM_BYTES for lane in _WARP}
    return max(len(pieces) * _DRAM_BYTES * n / 32, 4.0 * n)


def _strided(sizes: Sizes) -> Case:
    n, stride, threads = sizes["n"], sizes["stride"], sizes["threads"]
    if stride >= 2**31:
        raise UsageError(f"stride = {stride}: the kernel takes it as a 32-bit integer")
    return Case(
        code=Code(kernel="strided", file=_FILE),
        launch=launch_1d(blocks_for(n, threads), threads),
        arrays=arrays("f32", [("a", n * stride, Role.IN), ("b", n, Role.OUT)]),
        arguments=("a", "b", i64(n), i32(stride)),
        demand=Demand(
            read_bytes=_sector_bytes(n, 4 * stride),
            write_bytes=4 * n,
            useful_bytes=8 * n,
            fetched_bytes=_fetched_bytes(n, 4 * stride),
        ),
        reference=lambda given: {"b": given["a"][::stride]},
    )


def _array_of_structs(sizes: Sizes) -> Case:
    n, threads = sizes["n"], sizes["threads"]
    floats = _STRUCT_BYTES // 4

    def reference(given: Arrays) -> Arrays:
        p = given["p"].reshape(n, floats)
        return {"out": p[:, _MASS] * p[:, _CHARGE]}

    return Case(
        code=Code(kernel="array_of_structs", file=_FILE),
        launch=launch_1d(blocks_for(n, threads), threads),
        arrays=arrays("f32", [("p", n * floats, Role.IN), ("out", n, Role.OUT)]),
        arguments=("p", "out", i64(n)),
        demand=Demand(
            read_bytes=_sector_bytes(n, _STRUCT_BYTES),
            write_bytes=4 * n,
            useful_bytes=12 * n,
            flow=Flow(flops=n),
        ),
        reference=reference,
    )


def _struct_of_arrays(sizes: Sizes) -> Case:
    n, threads = sizes["n"], sizes["threads"]
    return Case(
        code=Code(kernel="struct_of_arrays", file=_FILE),
        launch=launch_1d(blocks_for(n, 4 * threads), threads),
        arrays=arrays("f32", [("mass", n, Role.IN), ("charge", n, Role.IN), ("out", n, Role.OUT)]),
        arguments=("mass", "charge", "out", i64(n)),
        demand=Demand(read_bytes=8 * n, write_bytes=4 * n, flow=Flow(flops=n)),
        reference=lambda given: {"out": given["mass"] * given["charge"]},
    )


def _transpose(kernel: str, l1_per_warp: Callable[[], float], written: list[int]) -> Any:
    """A transpose: bytes through L1 of each 32 floats, and where a warp writes them to."""

    def build(sizes: Sizes) -> Case:
        rows, columns, threads = sizes["rows"], sizes["columns"], sizes["threads"]
        if max(rows, columns) >= 2**21:
            raise UsageError(f"rows, columns = {rows}, {columns}: at most {2**21 - 1} each")
        if threads not in _TILE_THREADS:
            known = ", ".join(map(str, _TILE_THREADS))
            raise UsageError(f"threads = {threads}: the kernel takes {known}")
        n, height = rows * columns, threads // _TILE
        load, store = (global_access(4, lanes) for lanes in (_ROW, written))
        return Case(
            code=Code(kernel=kernel, file=_FILE, defines=(f"HEIGHT={height}",)),
            launch=LaunchConfig(
                grid=(-(-columns // _TILE) * -(-rows // _TILE), 1, 1), block=(_TILE, height, 1)
            ),
            arrays=arrays("f32", [("a", n, Role.IN), ("b", n, Role.OUT)]),
            arguments=("a", "b", i32(rows), i32(columns)),
            demand=Demand(
                read_bytes=4 * n,
                write_bytes=4 * n,
                l2_bytes=(load.moved_bytes + store.moved_bytes) * n / 32,
                l2_turns=turns(loads=[load], stores=[store]) * n / 32,
                l1_bytes=l1_per_warp() * n / 32,
            ),
            reference=lambda given: {"b": given["a"].reshape(rows, columns).T.ravel()},
        )

    return build


def _naive_l1() -> float:
    """A load of one line, and a store whose lanes each go to a line of their own."""
    return LINE_BYTES * (1 + global_access(4, _COLUMN).lines)


def _tiled_l1(pitch: int) -> Callable[[], float]:
    """Global load and store of a line each, and what the tile costs."""

    def passes() -> float:
        row = wavefronts(4, _ROW, store=True)
        column = wavefronts(4, [4 * pitch * lane for lane in _WARP])
        return float(LINE_BYTES * (2 + row + column))

    return passes


def _plain(name: str, summary: str, sizes: Sizes, build: Callable[[Sizes], Case]) -> Workload:
    return Workload(
        name=name,
        group="layout",
        summary=summary,
        sizes={**sizes, "threads": 256},
        size="n",
        checks=({"n": 100_003}, {"n": 5, "threads": 96}),
        build=build,
    )


def _tile(name: str, summary: str, build: Callable[[Sizes], Case]) -> Workload:
    return Workload(
        name=name,
        group="layout",
        summary=summary,
        sizes={"rows": _SIDE, "columns": _SIDE, "threads": 256},
        size="rows",
        checks=({"rows": 517, "columns": 1030}, {"rows": 3, "columns": 70, "threads": 128}),
        build=build,
    )


WORKLOADS: Final = (
    _plain("strided", "b[i] = a[i * stride], f32", {"n": 2**26, "stride": 8}, _strided),
    _plain("array_of_structs", "two of eight floats of a struct", {"n": 2**26}, _array_of_structs),
    _plain("struct_of_arrays", "the same, each field apart", {"n": 2**27}, _struct_of_arrays),
    _tile(
        "transpose_naive",
        "rows read, columns written",
        _transpose("transpose_naive", _naive_l1, _COLUMN),
    ),
    _tile(
        "transpose_tiled",
        "through 64 x 64 in shared memory, whose columns conflict",
        _transpose("transpose_tiled", _tiled_l1(_TILE), _ROW),
    ),
    _tile(
        "transpose_padded",
        "through 64 x 65 in shared memory, without conflicts",
        _transpose("transpose_padded", _tiled_l1(_TILE + 1), _ROW),
    ),
)
