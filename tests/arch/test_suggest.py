"""Names that are no misspellings: what the database does not hold is said as such."""

from __future__ import annotations

import pytest

from perfkit.arch import catalog
from perfkit.errors import UnknownTarget


def refused(name):
    with pytest.raises(UnknownTarget) as error:
        catalog.targets(name)
    return error.value


@pytest.mark.parametrize(
    ("name", "whole"),
    [
        ("NVIDIA A100-SXM4-40GB MIG 1g.5gb", "a100-sxm4-40gb"),
        ("H100 MIG 3g.40gb", "h100"),
        ("H200 1g.18gb+me", "h200"),
        ("A100 MIG 1c.3g.20gb", "a100"),
        ("1g.10gb", None),
    ],
)
def test_slices_lead_to_the_whole(name, whole):
    error = refused(name)
    assert "slice of a GPU (MIG)" in error.message
    assert ("name the whole product:" in error.hint) is True
    if whole is not None:
        assert f": {whole}: " in error.hint
        assert catalog.targets(whole)


@pytest.mark.parametrize(
    ("name", "card"),
    [("GRID T4-16Q", "t4"), ("NVIDIA A10-24Q", "a10"), ("GRID V100-8C", "v100"), ("A40-1B", "a40")],
)
def test_virtual_cards_lead_to_the_card(name, card):
    error = refused(name)
    assert "virtual GPU" in error.message
    assert error.hint.endswith(f": {card}")
    assert catalog.targets(card)


@pytest.mark.parametrize("name", ["10de:2330", "10DE-2684", "0x2330", "PCI 10de:20b2"])
def test_pci_identities(name):
    error = refused(name)
    assert "PCI identity" in error.message
    assert "nvidia-smi --query-gpu=name" in error.hint


@pytest.mark.parametrize(
    "name", ["sm_37", "sm_35", "3.0", "compute_20", "Tesla K80", "K40m", "k20x"]
)
def test_what_is_older_than_the_database(name):
    error = refused(name)
    assert "older than what the database holds" in error.message
    # the oldest file is what the hint names
    assert error.hint == f"it begins with {catalog.capability_keys()[0]}"


@pytest.mark.parametrize("name", ["sm_101", "10.1", "sm_101a", "compute_101"])
def test_thor_had_another_number_before_cuda_13(name):
    assert "11.0" in refused(name).hint
    assert catalog.capability("11.0")


@pytest.mark.parametrize("name", ["AMD MI300X", "gfx942", "Radeon Pro", "Intel Arc A770", "M2 Max"])
def test_other_makers(name):
    assert "no GPU of NVIDIA" in refused(name).message


def test_misspellings_still_lead_to_the_nearest():
    assert refused("h10").hint.startswith("nearest: h100")
    assert "9.0" in refused("sm_91").hint


def test_no_name_of_the_database_looks_like_a_stranger():
    from perfkit.arch.suggest import _OTHERS, _PARTS

    names = [*catalog.names(), *(gpu.name for gpu in catalog.all_gpus())]
    assert len(names) > 300
    for name in names:
        assert not any(kind.pattern.fullmatch(name) for kind in _PARTS), name
        assert not any(kind.pattern.search(name) for kind in _OTHERS), name


@pytest.mark.parametrize("gap", "- _")
def test_a_line_of_gaps_is_looked_through_once(gap):
    """What it may be part of was looked for from each gap to each other: minutes."""
    assert "unknown" in refused(f"a{gap * 4_000}b").message
