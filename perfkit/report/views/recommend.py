"""``analysis.recommend`` -> document and JSON content."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any, Final

from perfkit.analysis.budgets import Budget
from perfkit.analysis.carveout_choice import CarveoutChoice
from perfkit.analysis.grids import Grid
from perfkit.analysis.recommend import Advice, Recommendation
from perfkit.report.document import Column, Document, Table
from perfkit.report.views import recommend_choices as choices
from perfkit.report.views.recommend_notes import notes
from perfkit.units import format_bytes

Field = tuple[Column, Callable[[Advice], Any]]

_TARGET: Final[Field] = (Column("target", "GPU"), lambda a: a.place.request.target.label)
_IDENTITY: Final[tuple[Field, ...]] = (
    _TARGET,
    (
        Column("compute_capability", "CC"),
        lambda a: str(a.place.request.target.capability.compute_capability),
    ),
    (Column("registers_per_thread", "regs", "count"), lambda a: a.place.request.regs),
)
_ANSWER: Final[tuple[Field, ...]] = (
    (Column("blocks_per_sm", "blocks/SM", "count"), lambda a: a.place.blocks_per_sm),
    (
        Column("warps", "warps/SM", "share"),
        lambda a: (a.place.warps_per_sm, a.place.occupancy.max_warps_per_sm),
    ),
    (
        Column("occupancy", "occupancy", "ratio"),
        lambda a: a.ratio,
    ),
    (Column("relative", "of the best size there", "ratio"), lambda a: a.relative),
    (Column("limited_by", "limited by", "names"), lambda a: a.place.limited_by),
    (Column("spare_registers", "spare regs", "count"), lambda a: a.spare_registers),
)
_CACHE: Final[tuple[Field, ...]] = (
    (
        Column("carveout", "carveout"),
        lambda a: "default" if a.carveout.percent is None else f"{a.carveout.percent}%",
    ),
    (Column("configured", "shared memory", "bytes"), lambda a: a.carveout.configured_bytes),
    (Column("l1", "L1", "bytes"), lambda a: a.carveout.l1_bytes),
    (Column("default_l1", "L1 by default", "bytes"), lambda a: a.carveout.default_l1_bytes),
    (Column("evidence", "evidence"), lambda a: a.carveout.evidence),
)


def document(found: Sequence[Recommendation]) -> Document:
    """For each kernel the launch on each target, the grid, the cache split, and what is left."""
    several = len(found) > 1
    said = [(one.advices[0].place.request.kernel, text) for one in found for text in notes(one)]
    return Document(
        tables=tuple(table for one in found for table in _tables(one)),
        notes=tuple(
            dict.fromkeys(f"{kernel}: {text}" if several else text for kernel, text in said)
        ),
        flat=_flat(found),
    )


def _tables(found: Recommendation) -> tuple[Table, ...]:
    advices = found.advices
    shown = [f for f in _ANSWER if f[0].key != "relative" or any(a.relative < 1 for a in advices)]
    return (
        _table(_heading(found), (*_IDENTITY, *shown), advices),
        choices.alternatives(found.choice),
        _grids(found),
        _table("Shared memory and L1 of an SM", (_TARGET, *_CACHE), advices),
        _budgets(advices),
        choices.clusters(advices),
    )


def _table(title: str, fields: Sequence[Field], advices: Sequence[Advice]) -> Table:
    return Table(
        title=title,
        columns=tuple(column for column, _ in fields),
        rows=tuple(tuple(get(a) for _, get in fields) for a in advices),
    )


def _heading(found: Recommendation) -> str:
    kernel = found.advices[0].place.request.kernel
    cluster = f", clusters of {found.wish.cluster}" if found.wish.cluster else ""
    carveout = "default" if found.carveout is None else f"{found.carveout}%"
    return (
        f"{f'{kernel}: ' if kernel else ''}blocks of {found.threads} threads, "
        f"{format_bytes(found.dynamic_bytes)} dynamic shared memory, carveout {carveout}{cluster}"
    )


def _grids(found: Recommendation) -> Table:
    rows = tuple(
        (
            advice.place.request.target.label,
            grid.form.value.replace("_", " "),
            grid.blocks,
            grid.per_thread,
            f"{grid.waves.waves:.2f}" if grid.waves else None,
            grid.waves.tail_share_max if grid.waves and grid.waves.full_waves else None,
            grid.form is advice.form,
        )
        for advice in found.advices
        for grid in advice.grids
    )
    return Table(
        title="Blocks in the grid",
        columns=(
            Column("target", "GPU"),
            Column("form", "form"),
            Column("blocks", "blocks", "count"),
            Column("per_thread", "elements per thread", "count"),
            Column("waves", "waves"),
            Column("tail_share_max", "last wave, of the time at most", "ratio"),
            Column("recommended", "take", "yes"),
        ),
        rows=rows,
    ).without_empty_columns()


def _budgets(advices: Sequence[Advice]) -> Table:
    """One block, and the counts around the present one."""
    rows = tuple(
        (
            advice.place.request.target.label,
            row.blocks_per_sm,
            row.ratio,
            row.max_registers,
            row.max_dynamic_bytes,
        )
        for advice in advices
        for row in _around(advice)
    )
    return Table(
        title="Most registers per thread and dynamic shared memory per block that leave room for "
        "so many blocks",
        columns=(
            Column("target", "GPU"),
            Column("blocks_per_sm", "blocks/SM", "count"),
            Column("occupancy", "occupancy", "ratio"),
            Column("max_registers", "registers", "count"),
            Column("max_dynamic_bytes", "dynamic shared memory", "bytes"),
        ),
        rows=rows,
    )


def _around(advice: Advice) -> list[Budget]:
    now = advice.place.blocks_per_sm
    return [
        row
        for row in advice.budgets
        if row.blocks_per_sm == 1 or now - 1 <= row.blocks_per_sm <= now + 2
    ]


_FLAT: Final = (
    "kernel", "target", "block_threads", "dynamic_shared_bytes", "carveout_percent",
    "blocks_per_sm", "warps_per_sm", "occupancy", "relative_occupancy", "limited_by", "grid_form",
    "grid_blocks",
)  # fmt: skip


def _flat(found: Sequence[Recommendation]) -> Table:
    rows = [
        {"kernel": advice.place.request.kernel, **_result(one, advice)}
        for one in found
        for advice in one.advices
    ]
    return Table(
        columns=tuple(Column(key, key) for key in _FLAT),
        rows=tuple(tuple(row[key] for key in _FLAT) for row in rows),
    )


def content(found: Sequence[Recommendation]) -> dict[str, Any]:
    return {"recommendations": [_one(one) for one in found]}


def _one(found: Recommendation) -> dict[str, Any]:
    wish, choice = found.wish, found.choice
    return {
        "kernel": found.advices[0].place.request.kernel,
        "block_threads": found.threads,
        "tied_block_threads": list(choice.tied),
        "alternatives": choices.alternatives_content(choice),
        "dynamic_shared_bytes": found.dynamic_bytes,
        "carveout_percent": found.carveout,
        "cluster_size": wish.cluster,
        "elements": wish.elements,
        "elements_per_thread": wish.per_thread,
        "restrictions": [reason.value for reason in choice.restrictions],
        "results": [_result(found, advice) for advice in found.advices],
        "notes": notes(found),
    }


def _result(found: Recommendation, advice: Advice) -> dict[str, Any]:
    place = advice.place
    target = place.request.target
    grid = next((grid for grid in advice.grids if grid.form is advice.form), None)
    return {
        "target": target.label,
        "gpu": target.gpu.name if target.gpu else None,
        "compute_capability": str(target.capability.compute_capability),
        "block_threads": place.threads,
        "registers_per_thread": place.request.regs,
        "shared_bytes_per_block": place.occupancy.smem_bytes,
        "dynamic_shared_bytes": found.dynamic_bytes,
        "blocks_per_sm": place.blocks_per_sm,
        "warps_per_sm": place.warps_per_sm,
        "max_warps_per_sm": place.occupancy.max_warps_per_sm,
        "occupancy": advice.ratio,
        "most_warps_per_sm": advice.most_warps,
        "relative_occupancy": advice.relative,
        "limited_by": list(place.limited_by),
        "launch_bounds": [place.threads, place.blocks_per_sm],
        "spare_registers": advice.spare_registers,
        "next_block": asdict(advice.step) if advice.step else None,
        **_cache(advice.carveout),
        "grid_form": advice.form.value if advice.form else None,
        "grid_blocks": grid.blocks if grid else None,
        "grids": [_grid(one) for one in advice.grids],
        "budgets": [asdict(row) for row in advice.budgets],
        **choices.clusters_content(advice),
        "remarks": [
            {"kind": remark.kind.value, "value": remark.value, "other": remark.other}
            for remark in advice.remarks
        ],
    }


def _cache(choice: CarveoutChoice) -> dict[str, Any]:
    return {
        "carveout_percent": choice.percent,
        "carveout_last_percent": choice.last_percent,
        "configured_shared_bytes": choice.configured_bytes,
        "l1_bytes": choice.l1_bytes,
        "default_l1_bytes": choice.default_l1_bytes,
        "evidence": choice.evidence,
    }


def _grid(grid: Grid) -> dict[str, Any]:
    return {
        "form": grid.form.value,
        "blocks": grid.blocks,
        "elements_per_thread": grid.per_thread,
        "waves": asdict(grid.waves) if grid.waves else None,
    }
