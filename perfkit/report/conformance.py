"""Whether JSON is what a shipped schema describes: the first thing that is not, in words.

The schemas use a dozen keywords of JSON Schema; these are they, and a test holds that there are no
others and that the answers are those of a full validator.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Final

from perfkit.report import schema

_TYPES: Final[dict[str, tuple[type, ...]]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "null": (type(None),),
}
_NUMBERS: Final = ("integer", "number")

Rule = Mapping[str, Any]


def _is_of(value: Any, name: str) -> bool:
    if isinstance(value, bool) and name in _NUMBERS:
        return False
    return isinstance(value, _TYPES[name]) or (
        name == "integer" and isinstance(value, float) and value.is_integer()
    )


def _is_of_any(value: Any, names: Any) -> bool:
    return any(_is_of(value, name) for name in ([names] if isinstance(names, str) else names))


def _is_number(value: Any) -> bool:
    return _is_of(value, "number")


def _is_same(value: Any, wanted: Any) -> bool:
    """In JSON true is not 1."""
    return bool(value == wanted) and isinstance(value, bool) == isinstance(wanted, bool)


#: keyword -> whether a value keeps to it
_KEPT: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "type": _is_of_any,
    "const": _is_same,
    "enum": lambda value, known: any(_is_same(value, one) for one in known),
    "minimum": lambda value, low: not _is_number(value) or value >= low,
    "maximum": lambda value, high: not _is_number(value) or value <= high,
    "exclusiveMinimum": lambda value, low: not _is_number(value) or value > low,
    "pattern": lambda value, text: not isinstance(value, str) or bool(re.search(text, value)),
    "minItems": lambda value, least: not isinstance(value, list) or len(value) >= least,
    "maxItems": lambda value, most: not isinstance(value, list) or len(value) <= most,
}
#: keywords that lead on to others, or say nothing about a value
STRUCTURE: Final = frozenset(
    {"required", "properties", "items", "additionalProperties", "$ref", "$defs"}
    | {"$schema", "$id", "title", "description"}
)
KEYWORDS: Final = STRUCTURE | set(_KEPT)


@cache
def _rules(topic: str) -> Rule:
    import json

    found: Rule = json.loads(schema.text(topic))
    return found


def breach(topic: str, document: Any) -> str | None:
    """Where and how a document first differs from its schema; None: it does not.

    >>> breach("sweep", {"schema": "perfkit.sweep/1"})
    "it has no 'results'"
    """
    rules = _rules(topic)
    found = _first(rules, rules.get("$defs", {}), document)
    return found and f"{found[0].removeprefix('.') or 'it'} {found[1]}"


def _first(rule: Rule, named: Rule, value: Any) -> tuple[str, str] | None:
    """Where below ``value``, and what. The way there is put together only where one is found."""
    while "$ref" in rule:
        rule = named[rule["$ref"].removeprefix("#/$defs/")]
    for keyword, asked in rule.items():
        if keyword in _KEPT and not _KEPT[keyword](value, asked):
            return "", f"is not as its schema says: {keyword} {asked}"
    if isinstance(value, dict):
        return _of_object(rule, named, value)
    if isinstance(value, list) and "items" in rule:
        for number, item in enumerate(value):
            if (found := _first(rule["items"], named, item)) is not None:
                return f"[{number}]{found[0]}", found[1]
    return None


def _of_object(rule: Rule, named: Rule, value: Mapping[str, Any]) -> tuple[str, str] | None:
    for key in rule.get("required", ()):
        if key not in value:
            return "", f"has no {key!r}"
    known, others = rule.get("properties", {}), rule.get("additionalProperties")
    for key, inner in value.items():
        rules = known.get(key, others)
        if isinstance(rules, dict) and (found := _first(rules, named, inner)) is not None:
            return f".{key}{found[0]}", found[1]
    return None
