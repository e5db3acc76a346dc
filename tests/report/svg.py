"""Geometry of an SVG: what is drawn where, without glyphs, ids and styles."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from typing import NamedTuple

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")
_SPACE = "{http://www.w3.org/2000/svg}"


class Shape(NamedTuple):
    kind: str
    numbers: tuple[float, ...]


def shapes(text: str) -> list[Shape]:
    """Paths and placed markers outside of definitions, in the order in which they are drawn."""
    found: list[Shape] = []
    _walk(ET.fromstring(text), found)
    return found


def _walk(node: ET.Element, found: list[Shape]) -> None:
    kind = node.tag.removeprefix(_SPACE)
    if kind in {"defs", "text", "clipPath", "style"}:
        return
    given = {"path": ("d",), "use": ("x", "y"), "rect": ("x", "y", "width", "height")}.get(kind, ())
    numbers = [float(n) for name in given for n in _NUMBER.findall(node.get(name, ""))]
    if numbers:
        found.append(Shape(kind, tuple(numbers)))
    for child in node:
        _walk(child, found)


def texts(text: str) -> list[str]:
    return [node.text for node in ET.fromstring(text).iter(f"{_SPACE}text") if node.text]


def differences(text: str, golden: str, *, tolerance: float) -> list[str]:
    """Shapes of one that are not where those of the other are, in points."""
    ours, theirs = shapes(text), shapes(golden)
    if [one.kind for one in ours] != [one.kind for one in theirs]:
        return [f"{len(ours)} shapes instead of {len(theirs)}"]
    return [
        f"{a.kind} {number}"
        for number, (a, b) in enumerate(zip(ours, theirs, strict=True))
        if len(a.numbers) != len(b.numbers)
        or max(abs(x - y) for x, y in zip(a.numbers, b.numbers, strict=True)) > tolerance
    ]
