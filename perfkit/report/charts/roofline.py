"""Rooflines of products, and the work that was asked about under them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from perfkit.kernel import DType
from perfkit.report.chart.model import Chart
from perfkit.report.chart.theme import SLOTS
from perfkit.report.charts.roofs import Ceiling, Kernel, panel
from perfkit.report.views.arch import per_s

#: of a title
_NAMES_LETTERS: Final = 60


def charts(content: Mapping[str, Any]) -> tuple[Chart, ...]:
    """As many products in one as can be told apart; of a single one every roof of the type."""
    known = [one for one in content["results"] if _is_drawn(one)]
    found = known[:SLOTS]
    if not found:
        return ()
    first = found[0]
    unit = per_s(DType(first["dtype"])).removeprefix("T")
    work = first["operation"] or first["dtype"]
    ceilings = tuple(_of_one(first) if len(found) == 1 else _of_several(found))
    names = ", ".join(one["target"] for one in found)
    names = names if len(names) <= _NAMES_LETTERS else f"{len(found)} GPUs"
    left_out = [f"the first {len(found)} of {len(known)} GPUs are drawn"] * (
        len(found) < len(known)
    )
    kernels = [
        Kernel(
            name=work if len(found) == 1 else one["target"],
            intensity=one["intensity_flop_per_byte"],
            predicted_flop_per_s=one["attainable_flop_per_s"],
            measured_flop_per_s=one["measured"]["flop_per_s"] if one["measured"] else None,
            style=number,
        )
        for number, one in enumerate(found)
    ]
    return (
        Chart(
            title=f"Roofline: {work} in {first['dtype']}, {names}",
            summary="; ".join(
                [
                    *left_out,
                    *(
                        f"{one['target']}: bound by {one['bound_by']} at "
                        f"{one['intensity_flop_per_byte']:.4g} FLOP per byte"
                        for one in found
                    ),
                ]
            ),
            panels=(panel(ceilings, kernels, unit=unit),),
        ),
    )


def _is_drawn(one: Mapping[str, Any]) -> bool:
    known = ("intensity_flop_per_byte", "peak_flop_per_s", "dram_bytes_per_s")
    return all(one[key] for key in known)


def _of_one(one: Mapping[str, Any]) -> Iterator[Ceiling]:
    """The roof that is used, then the others; equal ones are one line."""
    names: dict[float, list[str]] = {}
    for roof in sorted(one["roofs"], key=lambda roof: not roof["is_used"]):
        name = f"{roof['dtype']}/{roof['accumulate']} {roof['sparsity']} {roof['unit']}"
        names.setdefault(roof["flop_per_s"], []).append(name)
    for style, (rate, equal) in enumerate(list(names.items())[:SLOTS]):
        yield Ceiling(
            name=equal[0] if len(equal) == 1 else f"{equal[0]} (+ {len(equal) - 1} equal)",
            flop_per_s=rate,
            bytes_per_s=one["dram_bytes_per_s"],
            style=style,
            is_main=style == 0,
        )


def _of_several(found: Sequence[Mapping[str, Any]]) -> Iterator[Ceiling]:
    for number, one in enumerate(found):
        yield Ceiling(
            name=one["target"],
            flop_per_s=one["peak_flop_per_s"],
            bytes_per_s=one["dram_bytes_per_s"],
            style=number,
        )
