"""The shipped schemas: valid, open, and with the keys that were promised."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from perfkit import cli
from perfkit.report import schema
from tests.report.schemas import undescribed, validator

TOPICS = schema.topics()

#: keys that programs may rely on for good, by the path to their object
FIXED = {
    "occupancy": {
        "results": [
            "target", "kernel", "block_threads", "registers_per_thread", "shared_bytes_per_block",
            "blocks_per_sm", "warps_per_sm", "max_warps_per_sm", "occupancy", "limits",
            "limited_by", "rule", "hardware",
        ],
        "results/limits": ["warps", "blocks", "registers", "shared_memory", "barriers"],
    },
    "inspect": {
        "kernels": [
            "name", "demangled", "arch", "registers_per_thread", "static_shared_bytes",
            "stack_bytes", "spill_store_bytes", "spill_load_bytes", "barriers", "max_threads",
            "min_blocks", "required_cluster", "origin",
        ],
    },
    "gate": {
        "": ["status", "verdicts"],
        "verdicts": ["benchmark", "status", "reason", "message", "ratio", "interval"],
    },
    "gpu": {
        "": ["name", "compute_capability", "sm_count", "boost_clock_mhz", "dram_bandwidth_gb_per_s",
             "peaks"],
        "peaks": ["dtype", "accumulate", "sparsity", "unit", "tflops", "published_tflops"],
    },
}  # fmt: skip


def objects(rule):
    """Every rule for an object inside a schema."""
    if isinstance(rule, list):
        return [found for one in rule for found in objects(one)]
    if not isinstance(rule, dict):
        return []
    own = [rule] if "properties" in rule and isinstance(rule["properties"], dict) else []
    return own + [found for inner in rule.values() for found in objects(inner)]


def test_every_command_that_writes_json_has_a_schema():
    emits = re.compile(r"\bemit\(\s*\"([a-z-]+)\"")
    sources = sorted(Path(cli.__file__).parent.glob("*.py"))
    written = {topic for path in sources for topic in emits.findall(path.read_text("utf-8"))}
    assert {"occupancy", "gpu-compare", "arch-check", "doctor", "sweep"} <= written
    missing = written - set(TOPICS)
    assert not missing, f"write perfkit/report/schemas/{missing.pop()}.json"


@pytest.mark.parametrize("topic", TOPICS)
def test_it_is_a_schema_that_names_its_topic_and_forbids_no_keys(topic):
    validator(topic)  # checks it against the meta-schema
    document = json.loads(schema.text(topic))
    assert document["properties"]["schema"] == {"const": f"perfkit.{topic}/1"}
    assert schema.title(topic) == document["title"]
    found = objects(document)
    assert found
    for rule in found:
        assert rule.get("additionalProperties", True) is not False
        assert set(rule["required"]) <= set(rule["properties"])
    assert schema.text(topic).isascii()


@pytest.mark.parametrize("topic", FIXED)
def test_the_fixed_keys_are_required(topic):
    for path, keys in FIXED[topic].items():
        rule = json.loads(schema.text(topic))
        for name in filter(None, path.split("/")):
            rule = rule["properties"][name]
            rule = rule.get("items", rule)
        assert set(keys) <= set(rule["required"]), path


@pytest.mark.parametrize(
    "change",
    [
        {"blocks_per_sm": "6"},
        {"occupancy": 1.5},
        {"limited_by": ["luck"]},
        {"compute_capability": "90"},
        {"hardware": {}},
    ],
)
def test_a_wrong_output_is_found(change):
    from perfkit.report.views import occupancy
    from tests.report import results

    content = {"schema": "perfkit.occupancy/1", **occupancy.content(results.SAME)}
    assert validator("occupancy").is_valid(content)
    content["results"][0] |= change
    assert not validator("occupancy").is_valid(content)


def test_a_key_that_no_schema_mentions_is_found():
    assert undescribed("doctor", {"schema": "", "broken": False, "checks": [{"new": 1}]}) == [
        ".checks[].new"
    ]
