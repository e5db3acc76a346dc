"""Measured figures beside the data sheet: the right peak, and the clock that was held."""

from __future__ import annotations

import pytest

from perfkit.analysis.measured_ceilings import compared
from perfkit.arch import catalog
from perfkit.arch.types import Target
from perfkit.models.roofs import choose, roofs
from perfkit.readers import ceilings
from perfkit.report import json
from perfkit.report.views import ceilings as view
from tests.report.measured import CEILINGS, ceiling

H200 = Target(label="h200-sxm", capability=catalog.capability("9.0"), gpu=catalog.gpu("h200-sxm"))


def one(found, target=H200):
    (result,) = compared([found], target)
    return result


def test_dram_is_held_against_the_data_sheet_and_has_a_clock_of_its_own():
    found = one(ceiling("dram", "copy", 4.32e12, "bytes_per_s", sm_clock_hz=1.5e9))
    assert found.datasheet == 4800e9
    assert found.share == pytest.approx(0.9)
    assert found.share_at_clock is None


@pytest.mark.parametrize("group", ["l1", "shared"])
def test_l1_and_shared_memory_are_one_level_of_128_bytes_per_clock(group):
    found = one(ceiling(group, "read", 16e12, "bytes_per_s", sm_clock_hz=0.99e9))
    assert found.datasheet == 128 * 132 * 1.98e9
    # at half the clock the same rate is twice the share
    assert found.share_at_clock == pytest.approx(2 * found.share)


@pytest.mark.parametrize(
    ("dtype", "accumulate", "unit", "peak"),
    [
        ("f32", "f32", "simt", 2 * 128 * 132 * 1.98e9),
        ("f64", "f64", "simt", 2 * 64 * 132 * 1.98e9),
        ("bf16", "f32", "tensor", 2 * 2048 * 132 * 1.83e9),
        ("s8", "s32", "tensor", 2 * 4096 * 132 * 1.83e9),
    ],
)
def test_arithmetic_is_held_against_its_own_peak(dtype, accumulate, unit, peak):
    found = one(
        ceiling(
            *("tensor", "x", peak / 2, "flop_per_s"),
            dtype=dtype,
            accumulate=accumulate,
            compute_unit=unit,
        )
    )
    assert found.datasheet == pytest.approx(peak, rel=1e-3)
    assert found.share == pytest.approx(0.5, rel=1e-3)


def test_what_no_data_sheet_has_and_unknown_cards_have_no_share():
    for found in (
        one(ceiling("latency", "dram", 1e-6, "s")),
        one(ceiling("dram", "read", 1e12, "bytes_per_s"), None),
        one(
            ceiling("dram", "read", 1e12, "bytes_per_s"),
            Target(label="9.0", capability=H200.capability, gpu=None),
        ),
    ):
        assert (found.datasheet, found.share, found.share_at_clock) == (None, None, None)


def test_the_file_is_read_back_as_ceilings_and_the_best_counts():
    text = json.render("ceilings", view.content(CEILINGS))
    found = ceilings.parse(text, "own.json")
    assert found.gpu == "h200-sxm"
    assert found.clock_hz == 1.98e9
    assert found.memory == {"dram": 4.5e12, "l1": 33e12}
    roof = choose(roofs(H200.gpu, H200.capability), "bf16", label="h200")
    assert found.compute == {roof.key: 8.6e14}
