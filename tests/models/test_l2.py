"""Turns of L2, against Nsight Compute's counters and times of an H200, and by hand."""

from __future__ import annotations

import csv
import json
import statistics
from pathlib import Path

import pytest

from perfkit.models.coalescing import LINE_BYTES, SECTOR_BYTES, global_access
from perfkit.models.l2 import TURN_BYTES, turns

DATA = Path(__file__).resolve().parents[1] / "data" / "h200"
with (DATA / "l2_sectors_2026-11-30.csv").open(encoding="utf-8", newline="") as file:
    ROWS = [
        {name: text if text.isalpha() else float(text) for name, text in row.items()}
        for row in csv.DictReader(file)
    ]
CEILINGS = json.loads((DATA / "ceilings_2026-11-30.json").read_text("utf-8"))["memory"]
(READ,) = [one["bytes_per_s"] for one in CEILINGS if one["what"] == "l2 read"]


def access(width, active, lanes, sectors_of_line):
    """Of each ``lanes`` lanes the first ones go to one sector; so many sectors lie side by side."""
    offsets = []
    for lane in range(32):
        number, within = divmod(lane, lanes)
        line, sector = divmod(number, sectors_of_line)
        at = line * LINE_BYTES + sector * SECTOR_BYTES + within * width
        offsets.append(at if within < active else None)
    return global_access(width, offsets)


@pytest.mark.parametrize(
    ("pattern", "port", "lookups"),
    [
        ((4, 1, 1, 1), 2.00, 1.54),
        ((4, 1, 1, 2), 1.50, 0.76),
        ((4, 1, 1, 4), 1.25, 0.38),
        ((16, 2, 2, 1), 1.00, 1.50),
        ((16, 2, 2, 2), 1.00, 0.75),
        ((16, 2, 2, 4), 1.00, 0.38),
    ],
)
def test_stores_as_counted_by_the_profiler(pattern, port, lookups):
    """Of a sector: ``lts__xbar2lts_cycles_active`` and ``lts__t_tag_requests``, both of a slice."""
    found = access(*pattern)
    assert turns(stores=[found]) / found.sectors == pytest.approx(max(port, lookups), rel=0.01)


def time_s(row):
    """As predicted, of all its sectors."""
    one = access(
        *(int(row[name]) for name in ("width_bytes", "active", "lanes", "sectors_of_line"))
    )
    found = turns(**{f"{row['op']}s": [one]})
    return row["sectors"] / one.sectors * found * TURN_BYTES / READ


def in_l2():
    """Of warps whose accesses touch several lines: fewer are a matter of how they are issued."""
    return [
        row
        for row in ROWS
        if row["footprint_mib"] == 16 and 32 / row["lanes"] / row["sectors_of_line"] > 1
    ]


def ratios(*, meets):
    """Measured over predicted, of stores that ``meets`` others of the same sectors, or not."""
    return [
        row["us"] * 1e-6 / time_s(row)
        for row in in_l2()
        if meets == (row["fills"] == "yes" and row["sectors_of_line"] == 4)
    ]


def test_nothing_in_l2_is_faster_or_much_slower():
    assert len(ratios(meets=False)) == 29
    assert min(ratios(meets=False)) > 0.99
    assert max(ratios(meets=False)) < 1.26
    assert statistics.median(ratios(meets=False)) < 1.11


def test_l1_joins_some_stores_of_several_warps_to_the_same_lines():
    (found,) = ratios(meets=True)
    assert 0.8 < found < 1


def test_by_hand():
    row = global_access(4, range(0, 128, 4))
    shifted = global_access(4, range(4, 132, 4))  # 28 bytes of the first sector, 4 of the fifth
    assert turns(stores=[row]) == 4
    assert (shifted.lines, shifted.sectors, shifted.part_lines) == (2, 5, 2)
    assert turns(stores=[shifted]) == 5 + 2
    # what is read and what is written pass different ways; both are looked up
    assert turns(loads=[row] * 3, stores=[row]) == 3 * 4 / 2
    assert turns(loads=[row] * 4, stores=[global_access(16, range(0, 512, 16))]) == 4 * 4
    apart = global_access(16, [128 * (lane // 2) + 16 * (lane % 2) for lane in range(32)])
    assert turns(loads=[apart], stores=[apart]) == 16 + 1.5 * 16
    assert turns() == 0


def test_a_lane_that_repeats_another_fills_nothing():
    assert global_access(4, [0] * 32).part_lines == 1
    assert global_access(16, [16 * (lane % 2) for lane in range(32)]).part_lines == 0
