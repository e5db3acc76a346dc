"""Writes docs/models.md from the docstrings of perfkit/models: ``make docs``.

A docstring of a model is prose, then paragraphs that start with ``Formula:`` (indented below it),
``Units:``, ``Source:`` and ``Valid:``, then an example as in a Python session. A function with a
source of its own is a model of its own.
"""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
import re
import sys
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Final, NamedTuple

LABELS: Final = ("Formula", "Units", "Source", "Valid")
#: modules that only serve others
HELPERS: Final = frozenset({"lanes", "launch", "operations", "ops", "resident", "work"})


class Topic(NamedTuple):
    title: str
    commands: str
    models: tuple[str, ...]


TOPICS: Final = (
    Topic(
        "How much fits on an SM",
        "`perfkit occupancy`, `fits`, `sweep`, `carveout`, `recommend`",
        ("occupancy", "registers", "carveout", "cluster", "waves", "inverse", "compatibility"),
    ),
    Topic(
        "How fast it can be",
        "`perfkit roofline`",
        ("roofline", "roofs", "issue", "operations_matrix", "operations_vector"),
    ),
    Topic(
        "How one warp uses memory and its lanes",
        "`perfkit access coalescing`, `access banks`, `access divergence`",
        ("coalescing", "l2", "banks", "layout", "divergence"),
    ),
    Topic(
        "How a matrix product is tiled",
        "`perfkit gemm`, `gemm --rank`",
        (
            *("gemm_tile", "gemm_instructions", "gemm_traffic", "gemm_time", "gemm_rank"),
            "attention_time",
        ),
    ),
    Topic(
        "How waiting is hidden",
        "`perfkit latency`, `overlap`",
        ("latency", "contention", "overlap", "engines", "links"),
    ),
)

INTRODUCTION: Final = """\
# The models

<!-- written by `make docs` from the docstrings of perfkit/models -->

What perfkit computes, one rule at a time: the formula, its units, where it comes from, where it
holds, and an example that runs. Every rule is a pure function in `perfkit/models`; what it needs to
know of a GPU comes from `archdb`. `perfkit.occupancy`, `perfkit.roofline` and the others of the
[Python API](../README.md) ask the same rules by the name of a GPU.

`//` divides and rounds down, `ceil` rounds up; KiB, MiB and GiB are powers of two, GB/s and TFLOP/s
are powers of ten; a multiply-add is two FLOP. *Measured* is on one H200, as
[docs/validation](validation/README.md) says; *assumed* is what nobody measured.
"""


class Section(NamedTuple):
    """A docstring, taken apart."""

    title: str
    prose: tuple[str, ...]
    labelled: dict[str, str]
    example: str


def section(docstring: str) -> Section:
    title, *paragraphs = inspect.cleandoc(docstring).split("\n\n")
    prose, labelled, example = [], {}, []
    for paragraph in paragraphs:
        label, colon, rest = paragraph.partition(":")
        if paragraph.startswith(">>> "):
            example.append(paragraph)
        elif colon and label in LABELS:
            labelled[label] = inspect.cleandoc(rest) if label == "Formula" else rest.strip()
        elif label not in {"Args", "Returns", "Raises"}:
            prose.append(paragraph)
    return Section(title, tuple(prose), labelled, "\n\n".join(example))


def model(name: str) -> ModuleType:
    return importlib.import_module(f"perfkit.models.{name}")


def functions(module: ModuleType) -> dict[str, Callable[..., object]]:
    """The public functions that are written in it."""
    return {
        name: value
        for name, value in vars(module).items()
        if inspect.isfunction(value)
        and value.__module__ == module.__name__
        and not name.startswith("_")
    }


def own_models(module: ModuleType) -> dict[str, Section]:
    """Functions that are models of their own."""
    found = {name: section(one.__doc__ or "") for name, one in functions(module).items()}
    return {name: one for name, one in found.items() if "Formula" in one.labelled}


def imports(module: ModuleType, example: str) -> str:
    """What a reader has to import before an example that was written inside the module."""
    steps = doctest.DocTestParser().get_examples(example)
    trees = [ast.parse(step.source) for step in steps]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    used = {node.id for node in nodes if isinstance(node, ast.Name)}
    there = {a.asname or a.name for n in nodes if isinstance(n, ast.ImportFrom) for a in n.names}
    places: dict[str, list[str]] = {}
    for name in sorted((used - there) & set(vars(module))):
        value = getattr(module, name)
        places.setdefault(getattr(value, "__module__", module.__name__), []).append(name)
    lines = [f">>> from {place} import {', '.join(names)}" for place, names in places.items()]
    return "".join(f"{line}\n" for line in sorted(lines))


def text(paragraph: str) -> str:
    """Markdown of a paragraph: the names keep their backticks, the indented stays as it is."""
    return re.sub(r"``([^`]+)``", r"`\1`", paragraph)


def body(one: Section, module: ModuleType) -> Iterator[str]:
    yield from map(text, one.prose)
    if formula := one.labelled.get("Formula"):
        yield f"```text\n{formula}\n```"
    if units := one.labelled.get("Units"):
        yield f"**Units:** {text(units)}"
    if one.example:
        yield f"```python\n{imports(module, one.example)}{one.example}\n```"
    for label in ("Source", "Valid"):
        if found := one.labelled.get(label):
            yield f"**{label}:** {text(found)}"


def chapter(name: str) -> Iterator[str]:
    module = model(name)
    one = section(module.__doc__ or "")
    yield f"### {name.replace('_', ' ').capitalize()}"
    yield f"*{text(one.title)}* `perfkit.models.{name}`"
    yield from body(one, module)
    for function, its in own_models(module).items():
        yield f"#### {function}"
        yield text(its.title)
        yield from body(its, module)


def anchor(title: str) -> str:
    """The fragment that a heading gets."""
    return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")


def page() -> str:
    contents = [f"* [{one.title}](#{anchor(one.title)}): {one.commands}" for one in TOPICS]
    parts = [INTRODUCTION.rstrip("\n"), "\n".join(contents)]
    for topic in TOPICS:
        parts.append(f"## {topic.title}")
        for name in topic.models:
            parts.extend(chapter(name))
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    sys.stdout.write(page())
