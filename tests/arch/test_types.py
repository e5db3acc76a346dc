"""Capabilities as people write them, and what is derived from a dataclass by naming alone."""

from __future__ import annotations

import dataclasses

import pytest

from perfkit.arch import catalog, types
from perfkit.arch.schema import ABSENT
from perfkit.arch.types import Capability, ComputeCapability, Gpu
from perfkit.errors import UsageError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("9.0", (9, 0)),
        ("90", (9, 0)),
        ("sm_90", (9, 0)),
        ("sm_90a", (9, 0)),
        ("SM_100F", (10, 0)),
        ("compute_121", (12, 1)),
        ("sm90", (9, 0)),
        ("12.1", (12, 1)),
        ("12.0f", (12, 0)),
        (" 8.6\n", (8, 6)),
    ],
)
def test_capability_spellings(text, expected):
    assert ComputeCapability.parse(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        *("", "9", "9.", ".0", "8.10", "9.0.0", "9,0", "-9.0", "9.0 a", "9e0", "1000", "nine"),
        *("sm_", "sm_90b", "sm_90aa", "\u0669.\u0660"),  # the last: digits other than ASCII
    ],
)
def test_not_a_capability(text):
    with pytest.raises(UsageError, match="is not a compute capability"):
        ComputeCapability.parse(text)


def test_capabilities_compare_as_numbers():
    assert ComputeCapability.parse("9.0") < ComputeCapability.parse("11.0")
    assert str(ComputeCapability(10, 3)) == "10.3"
    assert ComputeCapability(10, 3).sm == "sm_103"


def test_gencode_keeps_the_suffix():
    assert catalog.capability("9.0").compilation.gencode == (
        "-gencode=arch=compute_90,code=sm_90",
        "-gencode=arch=compute_90a,code=sm_90a",
    )


def test_dedicated_shared_memory_cannot_be_configured():
    assert not catalog.capability("6.1").shared_memory.configurable
    assert catalog.capability("7.5").shared_memory.configurable


def annotations(owner):
    """Field -> how it is annotated; none of what is no record."""
    if not dataclasses.is_dataclass(owner):
        return {}
    return {field.name: str(field.type) for field in dataclasses.fields(owner)}


def test_absences_are_optional_fields():
    """A reason for a field that cannot be ``None``, or that is gone, would never be read."""
    for path in ABSENT:
        *parents, name = path.split(".")
        found = []
        for owner in (Capability, Gpu):
            holder = owner
            for parent in parents:
                kind = annotations(holder).get(parent, "").removesuffix(" | None")
                holder = getattr(types, kind, None)
            found += [annotations(holder)[name]] if name in annotations(holder) else []
        assert found, path
        assert all(annotation.endswith(" | None") for annotation in found), path
