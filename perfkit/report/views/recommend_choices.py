"""What a recommended launch was chosen among: block sizes and cluster sizes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from perfkit.analysis.block_sizes import Choice
from perfkit.analysis.cluster_choice import ClusterChoice, Why
from perfkit.analysis.recommend import Advice
from perfkit.report.document import Cell, Column, Table


def alternatives(choice: Choice) -> Table:
    """The block size that is taken, those tied with it, the next best; none where it is fixed."""
    rows = tuple(
        (
            one.threads,
            place.request.target.label,
            place.blocks_per_sm,
            (place.warps_per_sm, place.occupancy.max_warps_per_sm),
            place.warps_per_sm / place.occupancy.max_warps_per_sm,
            place.limited_by,
            "taken" if one.threads == choice.threads else "tied" if one.is_tied else "next best",
        )
        for one in choice.alternatives
        for place in one.places
    )
    return Table(
        title="Block sizes, the best first",
        columns=(
            Column("block_threads", "threads", "count"),
            Column("target", "GPU"),
            Column("blocks_per_sm", "blocks/SM", "count"),
            Column("warps", "warps/SM", "share"),
            Column("occupancy", "occupancy", "ratio"),
            Column("limited_by", "limited by", "names"),
            Column("place", "place"),
        ),
        rows=rows if len(choice.alternatives) > 1 else (),
    )


def alternatives_content(choice: Choice) -> list[dict[str, Any]]:
    return [
        {
            "block_threads": one.threads,
            "tied": one.is_tied,
            "results": [
                {
                    "target": place.request.target.label,
                    "blocks_per_sm": place.blocks_per_sm,
                    "warps_per_sm": place.warps_per_sm,
                    "occupancy": place.warps_per_sm / place.occupancy.max_warps_per_sm,
                    "limited_by": list(place.limited_by),
                }
                for place in one.places
            ],
        }
        for one in choice.alternatives
    ]


def clusters(advices: Sequence[Advice]) -> Table:
    rows = tuple(
        row
        for advice in advices
        if advice.cluster is not None
        for row in _cluster_rows(advice, advice.cluster)
    )
    return Table(
        title="Clusters on the whole GPU",
        columns=(
            Column("target", "GPU"),
            Column("size", "blocks per cluster", "count"),
            Column("active_clusters", "active clusters"),
            Column("active_blocks", "resident blocks"),
            Column("sms_in_use", "SMs in use"),
            Column("portable", "portable", "yes"),
            Column("recommended", "take", "yes"),
        ),
        rows=rows,
    )


def _cluster_rows(advice: Advice, choice: ClusterChoice) -> Iterator[tuple[Any, ...]]:
    """A launch without clusters first, if that is what to take: an SM may hold more of it."""
    target = advice.place.request.target
    plain = choice.why is Why.NO_USE
    if plain and target.gpu is not None:
        sms = target.gpu.sm_count
        alone = Cell(1, "no cluster")
        yield target.label, alone, None, sms * advice.place.blocks_per_sm, sms, True, True
    for one in choice.sizes:
        counts = (one.active_clusters, one.active_blocks, one.sms_in_use_at_most)
        texts = (Cell(n, str(n) if one.exact else f"at most {n}") for n in counts)
        taken = one.size == choice.size and not plain
        yield target.label, one.size, *texts, one.portable, taken


def clusters_content(advice: Advice) -> dict[str, Any]:
    choice = advice.cluster
    return {
        "cluster_recommended": choice.size if choice else None,
        "cluster_reason": choice.why.value if choice else None,
        "largest_cluster_on_every_sm": choice.largest_on_every_sm if choice else None,
        "clusters": [asdict(one) for one in choice.sizes] if choice else [],
    }
