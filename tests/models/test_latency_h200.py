"""Bandwidth by bytes under way on an H200, as ``perfkit validate`` reads, against Little's law."""

from __future__ import annotations

import csv
import json
import statistics
from pathlib import Path

from perfkit.models.latency import concurrency, memory_per_warp

DATA = Path(__file__).resolve().parents[1] / "data" / "h200"
LATENCY_S = json.loads((DATA / "overlap_2026-11-30.json").read_text("utf-8"))["dram_latency_s"]
with (DATA / "bandwidth_2026-11-30.csv").open(encoding="utf-8", newline="") as file:
    ROWS = list(csv.DictReader(file))
PEAK, SMS = 4.8e12, 132


def predicted(row):
    found = concurrency(
        rate=PEAK / SMS,
        latency=LATENCY_S,
        per_warp=memory_per_warp(width_bytes=int(row["width_bytes"]), ilp=int(row["ilp"])),
        resident_warps=int(row["warps"]),
    )
    return found.share


def test_there_are_measurements():
    assert len(ROWS) == 2 * 4 * 7


def test_nothing_is_faster_than_the_law_allows():
    """A latency measured alone gives an upper bound, as the docstring says."""
    assert all(float(row["measured_bytes_per_s"]) <= predicted(row) * PEAK for row in ROWS)


def test_few_accesses_reach_most_of_it():
    """Where the link is far from full, an access takes about as long as alone."""
    shares = [
        float(row["measured_bytes_per_s"]) / (predicted(row) * PEAK)
        for row in ROWS
        if row["ilp"] == "1" and predicted(row) < 0.5
    ]
    assert len(shares) >= 8
    assert min(shares) > 0.85
    assert statistics.median(shares) > 0.9
