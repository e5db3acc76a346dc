"""Pipelines on an H200, like those of ``perfkit validate``, against the model.

What the model takes as given (rates, overheads) was measured beside them with single copies and
kernels; nothing is fitted to the pipelines.
"""

from __future__ import annotations

import csv
import json
import statistics
from pathlib import Path

import pytest

from perfkit.models.engines import Plan, Times
from perfkit.models.links import PAGEABLE_BYTES_PER_S, link
from perfkit.models.overlap import (
    COPY_OVERHEAD_S,
    HANDOFF_S,
    LAUNCH_OVERHEAD_S,
    Work,
    schedule,
)

DATA = Path(__file__).resolve().parents[1] / "data" / "h200"
GIVEN = json.loads((DATA / "overlap_2026-11-30.json").read_text("utf-8"))
with (DATA / "overlap_2026-11-30.csv").open(encoding="utf-8", newline="") as file:
    ROWS = list(csv.DictReader(file))
MEASURED = {
    pinned: [row for row in ROWS if row["pinned"] == str(int(pinned))] for pinned in (True, False)
}


def measured_work(row, kind):
    return Work(
        whole_s=Times(
            GIVEN["bytes_each_way"] / GIVEN[f"h2d_{kind}_bytes_per_s"],
            float(row["kernel_s"]),
            GIVEN["bytes_each_way"] / GIVEN[f"d2h_{kind}_bytes_per_s"],
        ),
        copy_overhead_s=GIVEN[f"h2d_{kind}_overhead_s"],
        launch_overhead_s=GIVEN["kernel_overhead_s"],
        handoff_s=GIVEN["handoff_s"],
        duplex_share=GIVEN["duplex_share"] if kind == "pinned" else 1.0,
    )


def default_work(row):
    """What perfkit assumes without measurements."""
    found = link("pcie5x16")
    return Work(
        whole_s=Times(
            GIVEN["bytes_each_way"] / found.h2d_bytes_per_s,
            float(row["kernel_s"]),
            GIVEN["bytes_each_way"] / found.d2h_bytes_per_s,
        ),
        copy_overhead_s=COPY_OVERHEAD_S,
        launch_overhead_s=LAUNCH_OVERHEAD_S,
        handoff_s=HANDOFF_S,
        duplex_share=found.duplex_share,
    )


def errors(rows, work):
    found = []
    for row in rows:
        plan = Plan(
            chunks=int(row["chunks"]),
            streams=int(row["streams"]),
            pinned=row["pinned"] == "1",
            order=row["order"],
        )
        found.append(schedule(work(row), plan).makespan_s / float(row["measured_s"]) - 1)
    return found


def test_there_are_measurements():
    assert {pinned: len(rows) for pinned, rows in MEASURED.items()} == {True: 150, False: 150}


@pytest.mark.parametrize(
    ("work", "nine_of_ten"),
    [(lambda row: measured_work(row, "pinned"), 0.03), (default_work, 0.04)],
)
def test_pinned_pipelines(work, nine_of_ten):
    off = sorted(map(abs, errors(MEASURED[True], work)))
    assert statistics.median(off) < 0.01
    assert off[len(off) * 9 // 10] < nine_of_ten
    assert off[-1] < 0.15  # three streams for four chunks, where a stage is late all the time


def test_pageable_pipelines():
    # the rate of pageable copies is the CPU's and varies from run to run by a third
    off = errors(MEASURED[False], lambda row: measured_work(row, "pageable"))
    assert abs(statistics.median(off)) < 0.10
    assert statistics.median(map(abs, off)) < 0.10


def test_pageable_copies_block_the_host_as_modelled():
    # 64 chunks, a kernel of 20 ms: issued stage by stage the kernels run under the copies back
    times = {
        row["order"]: float(row["measured_s"])
        for row in MEASURED[False]
        if (row["kernel_s"], row["chunks"], row["streams"]) == ("0.02", "64", "64")
    }
    assert times["breadth-first"] < times["depth-first"] - 0.01


def test_engines_take_what_is_ready():
    # a copy issued behind one that waits for a kernel of 10 ms in another stream
    assert GIVEN["second_stream_s"] < 1e-4 < GIVEN["first_stream_s"]


def test_the_defaults_are_what_was_measured():
    assert pytest.approx(GIVEN["h2d_pinned_overhead_s"], rel=0.05) == COPY_OVERHEAD_S
    assert pytest.approx(GIVEN["kernel_overhead_s"], rel=0.05) == LAUNCH_OVERHEAD_S
    assert pytest.approx(GIVEN["handoff_s"], rel=0.05) == HANDOFF_S
    assert link("pcie5x16").duplex_share == pytest.approx(GIVEN["duplex_share"], abs=0.03)
    assert link("pcie5x16").h2d_bytes_per_s == pytest.approx(
        GIVEN["h2d_pinned_bytes_per_s"], rel=0.01
    )
    assert GIVEN["h2d_pageable_bytes_per_s"] > PAGEABLE_BYTES_PER_S
