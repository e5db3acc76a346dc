"""The small validator against the full one, on whole outputs and on broken ones."""

from __future__ import annotations

import copy
import json
import random
from pathlib import Path

import pytest

from perfkit.report import schema
from perfkit.report.conformance import KEYWORDS, breach
from tests.report.schemas import validator

GOLDEN = Path(__file__).parents[1] / "golden"


def outputs():
    for path in sorted(GOLDEN.glob("*.json")):
        document = json.loads(path.read_text("utf-8"))
        written = document.get("schema", "") if isinstance(document, dict) else ""
        if written.startswith("perfkit."):
            yield path.stem, written[8:].partition("/")[0], document


OUTPUTS = list(outputs())


def keywords(rule):
    yield from rule
    for key in ("properties", "$defs"):
        for inner in rule.get(key, {}).values():
            yield from keywords(inner)
    for key in ("items", "additionalProperties"):
        if isinstance(rule.get(key), dict):
            yield from keywords(rule[key])


def test_schemas_use_no_keyword_that_is_not_checked():
    used = {word for topic in schema.topics() for word in keywords(json.loads(schema.text(topic)))}
    assert len(used) > 10
    assert used <= KEYWORDS


@pytest.mark.parametrize(("name", "topic", "document"), OUTPUTS, ids=lambda v: str(v)[:20])
def test_every_golden_output_keeps_to_its_schema(name, topic, document):
    assert breach(topic, document) is None, name


def changed(document, rng):
    """With one value anywhere dropped or replaced."""
    found = copy.deepcopy(document)
    node = found
    while True:
        keys = list(node) if isinstance(node, dict) else range(len(node))
        if not keys:
            return found
        key = rng.choice(list(keys))
        if isinstance(node[key], dict | list) and node[key] and rng.random() < 0.8:
            node = node[key]
            continue
        if isinstance(node, dict) and rng.random() < 0.3:
            del node[key]
        else:
            node[key] = rng.choice([None, -1, 1.5, 7.0, True, "text", "9.0", [], {}, [1], {"a": 1}])
        return found


def test_it_says_what_a_full_validator_says():
    assert len(OUTPUTS) >= 20
    rng = random.Random(7)
    refused = 0
    for _ in range(1500):
        _, topic, document = rng.choice(OUTPUTS)
        broken = changed(document, rng)
        right = validator(topic).is_valid(broken)
        assert (breach(topic, broken) is None) == right, (topic, breach(topic, broken))
        refused += not right
    assert 300 < refused < 1500


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"schema": "perfkit.sweep/2"}, "schema is not as its schema says: const perfkit.sweep/1"),
        ({"results": 1}, "results is not as its schema says: type array"),
        ({"results": [{}]}, "results[0] has no 'target'"),
    ],
)
def test_the_place_is_named(change, words):
    assert breach("sweep", {"schema": "perfkit.sweep/1", "results": [], **change}) == words
