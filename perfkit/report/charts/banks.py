"""Bank map of a warp's access: which lanes each wavefront serves from which bank."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from perfkit.models.banks import BANKS, WORD_BYTES
from perfkit.report.chart.model import Cell, Cells, Chart

_LEVELS: Final = ("no lane", "a word", "one more word of the same bank: a conflict")


def charts(content: Mapping[str, Any]) -> Iterator[Chart]:
    """One chart an access."""
    return (_chart(one) for one in content["results"] if one["passes"] and one["addresses"])


def _chart(one: Mapping[str, Any]) -> Chart:
    rows: list[str] = []
    cells: list[tuple[Cell, ...]] = []
    for number, part in enumerate(one["passes"], 1):
        for wave, row in enumerate(_wavefronts(one, part), 1):
            rows.append(f"pass {number}.{wave}" if len(one["passes"]) > 1 else f"{wave}")
            cells.append(row)
    name = one["pattern"] + (f", {one['layout']}" if one["layout"] else "")
    way = one["conflict_way"]
    conflict = f"{way}-way conflict" if way > 1 else "no conflict"
    return Chart(
        title=f"Banks: {name}, {one['width_bytes']} bytes per lane, warp {one['warp']}",
        summary=(
            f"{name}: {one['wavefronts']} wavefronts where {one['ideal_wavefronts']} would do, "
            f"{conflict}"
        ),
        panels=(
            Cells(
                title="lanes served, by wavefront",
                x_title="bank",
                columns=tuple(map(str, range(BANKS))),
                rows=tuple(rows),
                cells=tuple(cells),
                levels=_LEVELS,
            ),
        ),
    )


def _wavefronts(one: Mapping[str, Any], part: Mapping[str, Any]) -> Sequence[tuple[Cell, ...]]:
    """Each wavefront's banks: the first lane that gets its word there, ``+`` if others share it."""
    words: list[dict[int, list[int]]] = [{} for _ in range(BANKS)]
    count = min(max(1, one["width_bytes"] // WORD_BYTES), BANKS)
    for lane, address in enumerate(one["addresses"]):
        if part["first_lane"] <= lane <= part["last_lane"] and address is not None:
            first = address // WORD_BYTES
            for word in range(first, first + count):
                words[word % BANKS].setdefault(word, []).append(lane)
    columns = [[by_word[word] for word in sorted(by_word)] for by_word in words]
    return [
        tuple(_cell(lanes[wave] if wave < len(lanes) else None, wave) for lanes in columns)
        for wave in range(min(part["wavefronts"], max(map(len, columns))))
    ]


def _cell(lanes: list[int] | None, wave: int) -> Cell:
    if lanes is None:
        return Cell(text="", level=0)
    return Cell(text=f"{lanes[0]}{'+' if len(lanes) > 1 else ''}", level=2 if wave else 1)
