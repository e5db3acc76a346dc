"""What transposes ask of L2, counted by hand, and against an H200."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from perfkit.analysis.prediction import Machine, predict
from perfkit.arch import catalog
from perfkit.device.workloads.library import library
from perfkit.readers.ceilings import read

CEILINGS = Path(__file__).resolve().parents[2] / "data" / "h200" / "ceilings_2026-11-30.json"
FLOATS = 16_000**2


def demand(name, side=16_000):
    return library()[name].case({"rows": side, "columns": side}).demand


@pytest.mark.parametrize(
    ("name", "turns"),
    [
        # each float is a sector written in part, alone in its line
        ("transpose_naive", FLOATS * 2),
        # 32 floats are four sectors of one line; what is read passes another way
        ("transpose_tiled", FLOATS / 32 * 4),
        ("transpose_padded", FLOATS / 32 * 4),
    ],
)
def test_turns_of_l2(name, turns):
    assert demand(name).l2_turns == turns


@pytest.mark.parametrize(
    ("name", "side", "measured_s"),
    # docs/validation, "Kernels of the library": other cards than that of the ceilings
    [
        ("transpose_naive", 16_000, 3655.3e-6),
        ("transpose_naive", 8000, 919.9e-6),
        ("transpose_naive", 4096, 249.0e-6),
        ("transpose_tiled", 16_000, 1105.6e-6),
        ("transpose_padded", 16_000, 501.6e-6),
    ],
)
def test_transposes_take_about_as_long_as_expected(name, side, measured_s):
    ceilings = read(CEILINGS)
    machine = Machine(
        gpu=catalog.gpu("h200"), capability=catalog.capability("9.0"), ceilings=ceilings
    )
    found = predict(machine, demand(name, side))
    assert found.bound_s <= found.expected_s
    assert measured_s == pytest.approx(found.expected_s, rel=0.08)
    # turns of L2 are expected alone, and no bound
    assert predict(machine, replace(demand(name, side), l2_turns=None)).bound == found.bound
