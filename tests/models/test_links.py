"""Rates of links: the standard's arithmetic, and never more seen than there is on paper."""

from __future__ import annotations

import pytest

from perfkit.errors import UsageError
from perfkit.models.links import link


@pytest.mark.parametrize(
    ("name", "gb_per_s"),
    [
        # lanes x GT/s x data bits of all bits / 8
        ("pcie2x16", 16 * 5 * 8 / 10 / 8),
        ("pcie3x16", 16 * 8 * 128 / 130 / 8),
        ("pcie3x8", 8 * 8 * 128 / 130 / 8),
        ("pcie4x16", 16 * 16 * 128 / 130 / 8),
        ("pcie5x16", 16 * 32 * 128 / 130 / 8),
        ("pcie5x1", 32 * 128 / 130 / 8),
        # the Grace Hopper whitepaper: 900 GB/s in both directions
        ("nvlink-c2c", 450),
    ],
)
def test_the_rate_on_paper(name, gb_per_s):
    assert link(name).peak_bytes_per_s == pytest.approx(gb_per_s * 1e9)


@pytest.mark.parametrize(
    ("name", "h2d", "d2h"),
    [
        ("pcie3x16", 12, 12),  # CUDA C++ Best Practices Guide
        ("pcie3x8", 6, 6),
        ("pcie4x16", 25.17, 25.17),  # an A10 under nvbandwidth 0.5
        ("pcie5x16", 55.2, 55.2),  # tests/data/h200/overlap_2026-11-30.json
        ("nvlink-c2c", 337.55, 295.23),
    ],
)
def test_the_rate_that_was_seen(name, h2d, d2h):
    found = link(name)
    assert (found.h2d_bytes_per_s, found.d2h_bytes_per_s) == pytest.approx((h2d * 1e9, d2h * 1e9))
    assert found.source


@pytest.mark.parametrize("generation", [2, 3, 4, 5, 6])
@pytest.mark.parametrize("lanes", [1, 2, 4, 8, 16])
def test_nothing_is_faster_than_on_paper(generation, lanes):
    found = link(f"pcie{generation}x{lanes}")
    assert 0.5 < found.h2d_bytes_per_s / found.peak_bytes_per_s <= 1
    assert 0 < found.duplex_share < 1
    # twice the lanes, twice the rate
    if lanes < 16:
        wider = link(f"pcie{generation}x{2 * lanes}")
        assert wider.peak_bytes_per_s == pytest.approx(2 * found.peak_bytes_per_s)
        assert wider.h2d_bytes_per_s == pytest.approx(2 * found.h2d_bytes_per_s)


@pytest.mark.parametrize(
    "text", ["PCIe 4.0 x16", "pcie-gen4", "pcie4", "PCIE_GEN4_X16", "pcie4.0x16", " pcie4x16 "]
)
def test_spellings(text):
    assert link(text) == link("pcie4x16")


@pytest.mark.parametrize("text", ["c2c", "NVLink-C2C", "nvlink_c2c"])
def test_spellings_of_nvlink(text):
    assert link(text).name == "nvlink-c2c"


@pytest.mark.parametrize(
    "text", ["", "pcie", "pcie4x3", "pcie7x16", "pcie4x32", "pcie1x16", "nvlink", "4x16", "pcie४"]
)
def test_what_is_no_link(text):
    with pytest.raises(UsageError) as caught:
        link(text)
    assert "pcie4x16" in caught.value.hint
