"""``perfkit.yaml``: the policy of a project, read strictly.

    timing:
      threshold: 2%            # both limits; see perfkit/gate/policy.py
      on_inconclusive: fail
      rules:
        - benchmark: "^gemm"   # a regular expression; the last rule that matches wins
          threshold: 1%

Static rules stand under ``static`` in the same file and are read elsewhere. Unknown keys are
errors that name the line and the nearest legal key.
"""

from __future__ import annotations

import re
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Final

from perfkit.arch.nodes import Source, join, nearest
from perfkit.errors import UsageError
from perfkit.gate.policy import PRESETS, Policy, Rule, check, preset
from perfkit.units import parse_seconds

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from perfkit.arch.nodes import Entry, Node

_SECTIONS: Final = ("timing", "static")

RATIOS: Final = {"threshold", "relative_floor", "false_alarm", "noise", "minimum_noise"}
QUANTITIES: Final = {"absolute_floor", "bound"}  #: in the unit of the metric, or a time
_FLAGS: Final = {"allow_mismatch", "allow_new", "allow_vanished"}
_NUMBERS: Final = RATIOS | QUANTITIES | {"collapse"}
_NUMBER: Final = re.compile(r"[0-9]{1,18}(\.[0-9]{1,18})?([eE][+-]?[0-9]{1,2})?", re.ASCII)


def load(path: Path) -> Policy:
    """The policy under ``timing``; the default one where the file has none.

    Raises:
        InputError: not readable, not YAML, an unknown key or an illegal value, with ``file:line``.
    """
    source = Source(path)
    entries = section(source, "timing", [*(item.name for item in fields(Policy)), "preset"])
    name = "default"
    if "preset" in entries:
        node = entries.pop("preset")[1]
        name = source.string(node, "timing.preset")
        if name not in PRESETS:
            source.fail(node, f"timing.preset: {name!r} is none of {', '.join(PRESETS)}")
    rules: tuple[Rule, ...] = ()
    if "rules" in entries:
        items = source.sequence(entries.pop("rules")[1], "timing.rules")
        rules = tuple(_rule(source, item, f"timing.rules[{i}]") for i, item in enumerate(items))
    return preset(name, rules=rules, **_values(source, entries, "timing"))


def _rule(source: Source, node: Node, path: str) -> Rule:
    entries = known(source, source.mapping(node, path), [f.name for f in fields(Rule)], path)
    if "benchmark" not in entries:
        source.fail(node, f"{path}: benchmark is missing", 'a regular expression; "." is all')
    return Rule(**_values(source, entries, path))


def _values(source: Source, entries: dict[str, Entry], path: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, (_, node) in entries.items():
        place = f"{path}.{key}"
        if key in _FLAGS:
            found[key] = source.boolean(node, place)
        elif key in _NUMBERS:
            found[key] = _number(source, node, place, key)
        elif key == "on_inconclusive" and node.value == "3":
            found[key] = "3"  # YAML reads it as a number
        else:
            found[key] = source.string(node, place)
        try:
            check(key, found[key])
        except UsageError as error:
            source.fail(node, f"{path}: {error.message}", error.hint)
    return found


def _number(source: Source, node: Node, place: str, key: str) -> float:
    """A number, with ``%`` where it is a ratio, with a unit of time where it may be one."""
    text = node.value.strip() if isinstance(node.value, str) else ""
    plain = text.removesuffix("%").rstrip() if key in RATIOS else text
    if _NUMBER.fullmatch(plain):
        value = float(plain) / (100 if plain != text else 1)
        if key in RATIOS and plain == text and value >= 1:
            source.fail(
                node,
                f"{place}: {text} would be {value * 100:g}%",
                f"write {text}%, or a ratio under 1",
            )
        return value
    if key in QUANTITIES:
        try:
            return parse_seconds(text)
        except UsageError:
            source.fail(node, f"{place}: expected a number or a time, got {text!r}", "write 10ns")
    what = "a ratio such as 2% or 0.02" if key in RATIOS else "a number"
    source.fail(node, f"{place}: expected {what}, got {text!r}")


def section(source: Source, name: str, legal: Sequence[str]) -> dict[str, Entry]:
    """What stands under ``name``; nothing where the file does not have it."""
    sections = known(source, source.mapping(source.root, ""), _SECTIONS, "")
    if name not in sections:
        return {}
    return known(source, source.mapping(sections[name][1], name), legal, name)


def known(
    source: Source, entries: dict[str, Entry], legal: Sequence[str], path: str
) -> dict[str, Entry]:
    for name, (key, _) in entries.items():
        if name not in legal:
            close = nearest(name, legal)
            hint = f"did you mean {close[0]}?" if close else f"legal: {', '.join(legal)}"
            source.fail(key, f"{join(path, name)}: unknown key", hint)
    return dict(entries)
