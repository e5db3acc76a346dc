"""``analysis.gemm`` -> document and JSON content."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from perfkit.analysis.gemm import GemmEstimate
from perfkit.analysis.gemm_schedule import Schedule
from perfkit.report.document import Column, Document, Table
from perfkit.report.views.gemm_notes import notes
from perfkit.report.views.roofline import loads_table
from perfkit.report.views.roofline_notes import merged

Field = tuple[Column, Callable[[GemmEstimate], Any]]

_GPU: Final[Field] = (Column("target", "GPU"), lambda e: e.target.label)
_ROOF: Final[Field] = (Column("roof", "roof"), lambda e: e.machine.roof.label)
_TILING: Final[tuple[Field, ...]] = (
    (Column("tile", "tile"), lambda e: e.tiling.tile),
    (Column("warp", "warp tile"), lambda e: e.tiling.warp),
    (Column("instruction", "instruction"), lambda e: e.block.instruction.shape),
    (Column("stages", "stages", "count"), lambda e: e.tiling.stages),
    (Column("cluster", "cluster"), lambda e: e.tiling.cluster if e.cluster else None),
    (Column("schedule", "schedule"), lambda e: e.tiling.schedule),
)
_BLOCK: Final[tuple[Field, ...]] = (
    (Column("threads", "threads", "count"), lambda e: e.block.threads),
    (Column("warps", "warps that compute", "count"), lambda e: e.block.warps),
    (Column("stage_bytes", "a stage", "bytes"), lambda e: e.block.stage_bytes),
    (Column("shared_bytes_per_block", "shared", "bytes"), lambda e: e.block.shared_bytes),
    (Column("accumulators", "accumulators", "count"), lambda e: e.block.accumulators),
    (Column("registers_per_thread", "registers", "count"), lambda e: e.block.registers),
    (Column("blocks_per_sm", "blocks/SM", "count"), lambda e: e.block.driver.blocks_per_sm),
    (
        Column("hardware_blocks_per_sm", "on the hardware", "count"),
        lambda e: e.block.hardware.blocks_per_sm,
    ),
    (Column("occupancy", "occupancy", "ratio"), lambda e: e.block.driver.ratio),
    (Column("occupancy_limited_by", "limited by", "names"), lambda e: e.block.driver.binding),
)


def _grid(name: str) -> Callable[[GemmEstimate], Any]:
    return lambda e: getattr(e.schedule.grid, name) if e.schedule else None


def _wave(name: str) -> Callable[[GemmEstimate], Any]:
    return lambda e: getattr(e.waves, name) if e.waves else None


def _moved(name: str) -> Callable[[GemmEstimate], Any]:
    return lambda e: getattr(e.schedule.traffic, name) if e.schedule else None


_ANSWER: Final[tuple[Field, ...]] = (
    (Column("tiles", "tiles", "count"), _grid("tiles")),
    (Column("waves", "waves"), lambda e: f"{e.waves.waves:.2f}" if e.waves else None),
    (Column("tile_efficiency", "filled tiles", "ratio"), _grid("tile_efficiency")),
    (Column("wave_efficiency", "busy SMs", "ratio"), _grid("wave_efficiency")),
    (Column("dram_bytes", "DRAM", "traffic"), _moved("dram_bytes")),
    (Column("l2_bytes", "L2", "traffic"), _moved("l2_bytes")),
    (
        Column("time_s", "least time", "seconds"),
        lambda e: e.schedule.bound.time_s if e.schedule else None,
    ),
    (
        Column("expected_s", "expected", "seconds"),
        lambda e: e.schedule.expected_s if e.schedule else None,
    ),
    (Column("share_of_peak", "of the peak", "ratio"), lambda e: e.share_of_peak),
    (
        Column("limited_by", "limited by", "names"),
        lambda e: e.schedule.bound.limited_by if e.schedule else None,
    ),
)
_SHAPE: Final[Field] = (
    Column("shape_time_s", "whatever the tiles", "seconds"),
    lambda e: e.shape.time_s,
)
_REUSE: Final[tuple[Field, ...]] = (
    (Column("uses_of_a", "uses of each A", "count"), lambda e: e.tiling.tile_n),
    (Column("uses_of_b", "uses of each B", "count"), lambda e: e.tiling.tile_m),
    (Column("flops_per_byte", "per byte loaded", "intensity"), lambda e: e.flops_per_byte),
    (Column("fused_read_bytes", "fusing saves reading", "traffic"), lambda e: e.fused_bytes),
    (Column("fused_write_bytes", "and writing", "traffic"), lambda e: e.fused_bytes),
    (Column("fused_s", "through DRAM", "seconds"), lambda e: e.fused_s),
)
_WAVES: Final[tuple[Field, ...]] = (
    (Column("blocks_per_wave", "blocks at once", "count"), _wave("blocks_per_wave")),
    (Column("full_waves", "full waves", "count"), _wave("full_waves")),
    (Column("partial_wave_blocks", "blocks in the last", "count"), _wave("partial_wave_blocks")),
    (Column("tail_share_max", "its time, at most", "ratio"), _wave("tail_share_max")),
)
#: every figure of an estimate
FIELDS: Final = (_GPU, _ROOF, *_TILING, *_BLOCK, *_ANSWER, *_WAVES, _SHAPE, *_REUSE)


def document(found: Sequence[GemmEstimate], left_out: Mapping[str, str]) -> Document:
    """The answer, the block and its reuse; for a single product also loads and schedules."""
    varying = len({(e.tiling, e.block.instruction) for e in found}) > 1
    roof = (_ROOF,) if len({e.machine.roof.label for e in found}) > 1 else ()
    more = (*roof, *(_TILING if varying else ()))
    tables = [
        table(
            heading(found[0], tiles=not varying, roof=not roof),
            (_GPU, *more, *_ANSWER, _SHAPE),
            found,
        ),
        table("A block and an SM", (_GPU, *_BLOCK), found),
        table("Waves of resident blocks", (_GPU, *_WAVES) if _launches(found) else (), found),
        table("Reuse in a tile, and what the epilogue saves", (_GPU, *_REUSE), found),
    ]
    first = found[0]
    if len(found) == 1 and first.schedule is not None:
        tables.insert(1, loads_table(first.schedule.bound.loads))
        tables.append(_schedules((first.schedule, *first.others)))
    return Document(
        tables=tuple(tables),
        notes=merged([(e.target.label, notes(e)) for e in found], left_out),
        flat=table(
            None,
            FIELDS,
            found,
            keep=True,
        ),
    )


def _launches(found: Sequence[GemmEstimate]) -> bool:
    return any(e.waves for e in found)


def heading(e: GemmEstimate, *, tiles: bool, roof: bool) -> str:
    """The product, and how it is computed if that is the same in every row."""
    t, p = e.tiling, e.problem
    product = f"gemm {p.m}x{p.n}x{p.k} in {p.dtype}"
    if not tiles:
        return product + (f", roof {e.machine.roof.label}" if roof else "")
    parts = [
        f"{product}: tile {t.tile}",
        f"warps {t.warp} of {e.block.instruction.shape}",
        f"{t.stages} stages",
        f"clusters {t.cluster}" if e.cluster else "",
        t.schedule if t.split_k != 1 else "",
        f"roof {e.machine.roof.label}" if roof else "",
    ]
    return ", ".join(part for part in parts if part)


def table(
    title: str | None,
    fields: tuple[Field, ...],
    found: Sequence[GemmEstimate],
    *,
    keep: bool = False,
) -> Table:
    made = Table(
        title=title,
        columns=tuple(column for column, _ in fields),
        rows=tuple(tuple(get(e) for _, get in fields) for e in found),
    )
    return made if keep else made.without_empty_columns()


def _schedules(found: Sequence[Schedule]) -> Table:
    return Table(
        title="Ways to share out the tiles",
        columns=(
            Column("schedule", "schedule"),
            Column("blocks", "blocks", "count"),
            Column("wave_efficiency", "busy SMs", "ratio"),
            Column("partial_bytes", "partial sums", "traffic"),
            Column("time_s", "least time", "seconds"),
            Column("expected_s", "expected", "seconds"),
            Column("limited_by", "limited by", "names"),
        ),
        rows=tuple(
            (
                one.tiling.schedule,
                one.grid.blocks,
                one.grid.wave_efficiency,
                one.traffic.partial_bytes or None,
                one.bound.time_s,
                one.expected_s,
                one.bound.limited_by,
            )
            for one in found
        ),
    ).without_empty_columns()
