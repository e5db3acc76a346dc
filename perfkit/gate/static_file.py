"""Static rules in ``perfkit.yaml``, read strictly.

    static:
      allow_new: true              # kernels that the baseline lacks pass; likewise allow_vanished
      rules:
        - kernel: "^gemm"          # a regular expression; without it the rule is for all kernels
          arch: [sm_90, "sm_8*"]   # a name (9.0, hopper, h100), a pattern, or a list of them
          registers: {max: 128, max_increase: 8}
          stack: {max: 1K, max_increase: 10%}
          spills: {max: 0}
          occupancy: {min: 50%, threads: 256, gpu: h100}
          fits: {gpu: [a100, h100], threads: 256}
          bound: {max: 120us, op: "gemm:4096", dtype: f16, gpu: h100}

All limits of all rules that match a kernel hold; of two of the same kind the last counts.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from perfkit.arch.nodes import Source, kind
from perfkit.errors import UsageError
from perfkit.gate.policy import ON_INCONCLUSIVE
from perfkit.gate.policy_file import known, section
from perfkit.gate.quantities import QUANTITIES, amount
from perfkit.gate.static_rules import Check, Relation, StaticRule, ask, change, check_arch
from perfkit.record import record
from perfkit.units import parse_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from perfkit.arch.nodes import Entry, Node
    from perfkit.gate.quantities import Asked


@record
class StaticPolicy:
    """What a project asks of its compiled kernels."""

    rules: tuple[StaticRule, ...] = ()
    allow_new: bool = False
    allow_vanished: bool = False
    on_inconclusive: str | None = None  #: None: as the command says


#: key -> whether it is a limit from below, and whether it is a distance from the baseline
_LIMITS: Final[dict[str, tuple[Relation, bool]]] = {
    "max": ("at_most", False),
    "min": ("at_least", False),
    "max_increase": ("at_most", True),
    "max_decrease": ("at_least", True),
}
#: what a figure hangs on, by its scope
_CIRCUMSTANCES: Final = {
    "kernel": (),
    "launch": ("threads", "smem_dynamic", "gpu"),
    "work": ("op", "dtype", "gpu"),
    "fit": ("threads", "smem_dynamic", "gpu"),
}


def load_static(path: Path) -> StaticPolicy:
    """What stands under ``static``; no rules where the file has none.

    Raises:
        InputError: not readable, not YAML, an unknown key or an illegal value, with ``file:line``.
    """
    source = Source(path)
    legal = ("allow_new", "allow_vanished", "on_inconclusive", "rules")
    entries = section(source, "static", legal)
    rules: list[StaticRule] = []
    if "rules" in entries:
        items = source.sequence(entries["rules"][1], "static.rules")
        rules = [_rule(source, item, f"static.rules[{i}]") for i, item in enumerate(items)]
    return StaticPolicy(
        rules=tuple(rules),
        on_inconclusive=_on_inconclusive(source, entries),
        **{
            name: source.boolean(entries[name][1], f"static.{name}")
            for name in ("allow_new", "allow_vanished")
            if name in entries
        },
    )


def _on_inconclusive(source: Source, entries: dict[str, Entry]) -> str | None:
    if "on_inconclusive" not in entries:
        return None
    node = entries["on_inconclusive"][1]
    found = str(node.value)  # YAML reads 3 as a number
    if found not in ON_INCONCLUSIVE:
        legal = ", ".join(ON_INCONCLUSIVE)
        source.fail(node, f"static.on_inconclusive: {found!r} is none of {legal}")
    return found


def _rule(source: Source, node: Node, path: str) -> StaticRule:
    legal = ("kernel", "arch", *QUANTITIES)
    entries = known(source, source.mapping(node, path), legal, path)
    kernel = None
    if "kernel" in entries:
        pattern = entries.pop("kernel")[1]
        kernel = source.string(pattern, f"{path}.kernel")
        try:
            re.compile(kernel)
        except re.error as error:
            source.fail(pattern, f"{path}.kernel: {kernel!r} is no regular expression: {error}")
    archs: list[tuple[str, Node]] = []
    if "arch" in entries:
        archs = _names(source, entries.pop("arch")[1], f"{path}.arch")
    for name, one in archs:
        _told(source, one, f"{path}.arch", lambda name=name: check_arch(name))
    checks = tuple(
        check
        for name, (_, value) in entries.items()
        for one, place in _each(source, value, f"{path}.{name}", name)
        for check in _checks(source, one, place, name)
    )
    if not checks:
        source.fail(node, f"{path}: no limit", f"one of {', '.join(QUANTITIES)}")
    return StaticRule(
        kernel=kernel,
        archs=tuple(name for name, _ in archs),
        checks=checks,
        where=source.at(node),
    )


def _each(source: Source, node: Node, path: str, name: str) -> Iterator[tuple[Node, str]]:
    """A quantity under several circumstances is a list; a list of GPUs is what ``fits`` may be."""
    if kind(node) != "list" or name == "fits":
        yield node, path
        return
    for place, one in enumerate(source.sequence(node, path)):
        yield one, f"{path}[{place}]"


def _checks(source: Source, node: Node, path: str, name: str) -> Iterator[Check]:
    scope = QUANTITIES[name].scope
    gpus: Node | None = None
    entries: dict[str, Entry] = {}
    if name == "fits" and kind(node) != "mapping":
        gpus = node
    else:
        limits = () if scope == "fit" else tuple(_LIMITS)
        entries = source.mapping(node, path)
        entries = known(source, entries, (*limits, *_CIRCUMSTANCES[scope]), path)
        gpus = entries["gpu"][1] if "gpu" in entries else None
    asked = _asked(source, node, path, name, entries, gpus)
    said = _said(entries, asked)
    if scope == "fit":
        yield Check(asked=asked, relation="fits", text=f"{name}{said}", where=source.at(node))
        return
    if not any(key in entries for key in _LIMITS):
        source.fail(node, f"{path}: no limit", f"one of {', '.join(_LIMITS)}")
    for key, (relation, against) in _LIMITS.items():
        if key in entries:
            value = entries[key][1]
            yield Check(
                asked=asked,
                relation=relation,
                against_baseline=against,
                text=f"{name} {key} {value.value}{said}",
                where=source.at(value),
                **_limit(source, value, f"{path}.{key}", asked, against=against),
            )


def _limit(source: Source, node: Node, path: str, asked: Asked, *, against: bool) -> dict[str, Any]:
    text = _scalar(source, node, path)
    if against:
        return dict(_told(source, node, path, lambda: change(text, asked)))
    return {"limit": _told(source, node, path, lambda: amount(text, asked.of.unit))}


def _asked(
    source: Source,
    node: Node,
    path: str,
    name: str,
    entries: dict[str, Entry],
    gpus: Node | None,
) -> Asked:
    found: dict[str, Any] = {}
    if "threads" in entries:
        found["threads"] = source.whole(entries["threads"][1], f"{path}.threads")
    if "smem_dynamic" in entries:
        size = entries["smem_dynamic"][1]
        text = _scalar(source, size, f"{path}.smem_dynamic")
        found["dynamic_bytes"] = _told(
            source, size, f"{path}.smem_dynamic", lambda: parse_bytes(text)
        )
    if gpus is not None:
        found["gpu"] = ",".join(one for one, _ in _names(source, gpus, f"{path}.gpu"))
    for key, field in (("op", "operation"), ("dtype", "dtype")):
        if key in entries:
            found[field] = source.string(entries[key][1], f"{path}.{key}")
    asked: Asked = _told(source, node, path, lambda: ask(name, **found))
    return asked


def _said(entries: dict[str, Entry], asked: Asked) -> str:
    """What the figure hangs on, as one reads it in a report."""
    words = {"threads": "{} threads", "smem_dynamic": "{} smem", "op": "{}", "dtype": "{}"}
    said = [word.format(entries[key][1].value) for key, word in words.items() if key in entries]
    at = f" @ {' '.join(said)}" if said else ""
    return at if asked.gpu is None else f"{at} on {asked.gpu}"


def _names(source: Source, node: Node, path: str) -> list[tuple[str, Node]]:
    """One name, or a list of them; a capability such as 9.0 need not be quoted."""
    items = source.sequence(node, path) if kind(node) == "list" else [node]
    if not items:
        source.fail(node, f"{path}: an empty list")
    return [(_scalar(source, one, path), one) for one in items]


def _scalar(source: Source, node: Node, path: str) -> str:
    if kind(node) != "scalar" or not str(node.value).strip() or node.value == "null":
        source.fail(node, f"{path}: expected one value")
    return str(node.value)


def _told(source: Source, node: Node, path: str, read: Any) -> Any:
    """What ``read`` gives; its errors name the line."""
    try:
        return read()
    except UsageError as error:
        source.fail(node, f"{path}: {error.message}", error.hint)
