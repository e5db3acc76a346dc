"""Whether JSON is what a shipped schema describes: the first thing that is not, in words.

The schemas use a dozen keywords of JSON Schema; these are they, and a test holds that there are no
others and that the answers are those of a full validator.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
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
    return next(_breaches(rules, rules.get("$defs", {}), document, ""), None)


def _breaches(rule: Rule, named: Rule, value: Any, path: str) -> Iterator[str]:
    while "$ref" in rule:
        rule = named[rule["$ref"].removeprefix("#/$defs/")]
    for keyword, asked in rule.items():
        if keyword in _KEPT and not _KEPT[keyword](value, asked):
            yield f"{path or 'it'} is not as its schema says: {keyword} {asked}"
    if isinstance(value, dict):
        yield from _of_object(rule, named, value, path)
    elif isinstance(value, list) and "items" in rule:
        for number, item in enumerate(value):
            yield from _breaches(rule["items"], named, item, f"{path}[{number}]")


def _of_object(rule: Rule, named: Rule, value: Mapping[str, Any], path: str) -> Iterator[str]:
    for key in rule.get("required", ()):
        if key not in value:
            yield f"{path or 'it'} has no {key!r}"
    known, others = rule.get("properties", {}), rule.get("additionalProperties")
    for key, inner in value.items():
        found = known.get(key, others)
        if isinstance(found, dict):
            yield from _breaches(found, named, inner, f"{path}.{key}" if path else key)
