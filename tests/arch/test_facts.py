"""Facts by name, and their evidence."""

from __future__ import annotations

from dataclasses import replace

import pytest

from perfkit.arch import catalog, load, schema
from perfkit.arch.facts import evidence, facts, kinds
from perfkit.arch.peaks import published_key
from perfkit.arch.schema import ABSENT
from tests.arch.broken import CAPABILITY, GPU, SAMPLE

#: what a record is called, and a summary
UNSOURCED = {"key", "name", "compute_capability", "architecture", "segment", "features"}
CC = schema.read_capability(SAMPLE / CAPABILITY)


def test_names():
    found = facts(CC)
    assert list(found)[:3] == ["compute_capability", "architecture", "limits.warp_size"]
    assert found["shared_memory.per_sm_bytes"] == 228 * 1024
    assert found["tensor_core.rates.full.f16/f32"] == 2048
    assert found["throughput.dp4a"] is None
    assert not [name for name in found if name.startswith(("unknown", "sources", "conflicts"))]


def test_absent_parts_are_one_fact():
    found = facts(catalog.capability("5.0"))
    assert found["tensor_core"] is None
    assert "tensor_core.generation" not in found


def test_evidence_of_a_part_covers_what_is_in_it():
    assert [row.id for row in evidence(CC, "tensor_core.rates.full.f16/f32")] == ["guide"]
    assert [row.id for row in evidence(CC, "compilation.first_cuda")] == ["ptx"]
    assert evidence(CC, "compilation_of_something_else") == ()
    assert evidence(CC, "architecture") == ()


def test_the_strongest_kind_counts():
    found = kinds(CC)
    assert found["compilation.first_cuda"] == "derived"
    assert found["tensor_core.rates.full.f16/f32"] == "official"
    assert not {"throughput.dp4a", "architecture"} & set(found)  # no value; no source needed
    strong = replace(CC.sources[1], id="other", kind="measured", facts=("compilation",))
    for sources in ((*CC.sources, strong), (strong, *CC.sources)):
        assert kinds(replace(CC, sources=sources))["compilation.first_cuda"] == "measured"


def test_published_peaks_are_facts_of_their_own():
    found = kinds(schema.read_gpu(SAMPLE / GPU))
    assert "published" not in found
    assert found["published.f16/f32/dense/tensor"] == "official"


@pytest.mark.parametrize(
    "record",
    [*catalog.all_capabilities(), *catalog.all_gpus()],
    ids=lambda record: str(getattr(record, "key", record.compute_capability)),
)
def test_every_shipped_fact_has_evidence_and_every_gap_a_reason(record):
    known = load.sources()
    found = facts(record)
    rows = found.pop("published", ())
    found |= {f"published.{'/'.join(published_key(row))}": row for row in rows}
    for name in UNSOURCED & set(found):
        del found[name]
    assert len(found) > 5
    for name, value in found.items():
        if value is None:
            assert name in record.unknown or name in ABSENT, name
        else:
            sources = evidence(record, name)
            assert sources, name
            assert {row.id for row in sources} <= set(known)
