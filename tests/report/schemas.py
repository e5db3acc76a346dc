"""JSON output against the shipped schemas, and the schemas against the output."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator

from perfkit.report import schema


@cache
def validator(topic: str) -> Draft202012Validator:
    document = json.loads(schema.text(topic))
    Draft202012Validator.check_schema(document)
    return Draft202012Validator(document)


def validate(topic: str, document: Any) -> None:
    found = [
        f"{'/'.join(map(str, error.absolute_path))}: {error.message}"
        for error in validator(topic).iter_errors(document)
    ]
    assert found == []


def undescribed(topic: str, document: Any) -> list[str]:
    """Keys of an output that its schema does not mention."""
    rules = json.loads(schema.text(topic))
    return sorted(set(_undescribed(rules, rules.get("$defs", {}), document, "")))


def _undescribed(rule: dict[str, Any], named: dict[str, Any], value: Any, path: str) -> list[str]:
    rule = named[rule["$ref"].removeprefix("#/$defs/")] if "$ref" in rule else rule
    if isinstance(value, list):
        return [
            found
            for item in value
            for found in _undescribed(rule.get("items", {}), named, item, f"{path}[]")
        ]
    if not isinstance(value, dict):
        return []
    known = rule.get("properties", {})
    anything = "additionalProperties" in rule
    missing = [] if anything else [f"{path}.{key}" for key in value if key not in known]
    return missing + [
        found
        for key, inner in value.items()
        if key in known
        for found in _undescribed(known[key], named, inner, f"{path}.{key}")
    ]
