"""Writes docs/python.md from the docstrings of ``import perfkit``: ``make docs``."""

from __future__ import annotations

import ast
import doctest
import enum
import inspect
import re
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import is_dataclass
from typing import Any, Final, NamedTuple

import perfkit
from perfkit import errors, gate
from perfkit.analysis.gemm import GemmEstimate
from perfkit.analysis.recommend import Recommendation
from perfkit.arch.types import Capability, Gpu
from perfkit.kernel import KernelResources
from perfkit.models.occupancy import Occupancy
from perfkit.models.roofline import Bound


class Topic(NamedTuple):
    title: str
    names: tuple[str, ...]


TOPICS: Final = (
    Topic("Facts", ("capability", "gpu")),
    Topic(
        "How much fits",
        (
            *("occupancy", "blocks_per_sm", "sweep", "fits", "carveout_bytes"),
            "configured_shared_bytes",
        ),
    ),
    Topic(
        "Asked backwards",
        (
            *("recommend", "max_potential_block_size", "block_sizes_reaching", "max_registers"),
            "available_smem",
        ),
    ),
    Topic("How fast it can be", ("roofline", "gemm")),
    Topic("One access of a warp", ("sectors", "wavefronts")),
    Topic("Compiled kernels", ("inspect",)),
)
#: what is no function: each has a chapter of its own
OTHERS: Final = ("PerfkitError", "__version__", "errors", "gate")
RESULTS: Final = (
    *(Occupancy, KernelResources, Recommendation, Bound, GemmEstimate, Capability, Gpu),
)

INTRODUCTION: Final = """\
# From Python

<!-- written by `make docs` from the docstrings of perfkit -->

`import perfkit` costs next to nothing: each name loads what it needs when it is used. Inside it is
bytes, seconds, hertz, FLOP/s and ratios 0 to 1, and names say so. Every example on this page runs.

| written here | is |
|---|---|
| `TargetLike` | a product (`"h100"`), a capability (`"9.0"`), or a `Gpu` or `Capability` |
| `Whole` | an integer of Python or NumPy |
| `Size` | bytes, or text: `"20K"` |
| `Block` | threads per block, or its dimensions: `(16, 16)` |
| `ArrayLike` | what NumPy makes an array of; arrays broadcast |
| `Rule` | `"driver"`: as NVIDIA's occupancy API; `"hardware"`: what the SM does |

```python
>>> import perfkit
>>> occupancy = perfkit.occupancy("h100", threads=256, regs=40, smem="20K")
>>> occupancy.blocks_per_sm, occupancy.ratio, occupancy.limited_by
(6, 0.75, ('registers',))

```

What is wrong with an input is an [error](#errors) that says what, where, and what to do:

```python
>>> try:
...     perfkit.occupancy("rtx-4900", threads=256, regs=40)
... except perfkit.PerfkitError as error:
...     print(error, "|", error.hint)
unknown GPU 'rtx-4900' | nearest: rtx-4090, rtx-4080, rtx-4070

```
"""


class Docstring(NamedTuple):
    """A docstring in Google's style, taken apart."""

    paragraphs: tuple[str, ...]
    sections: dict[str, str]
    example: str


def taken_apart(text: str) -> Docstring:
    paragraphs, sections, example = [], {}, []
    for part in inspect.cleandoc(text).split("\n\n"):
        head, _, rest = part.partition(":\n")
        if part.startswith(">>> "):
            example.append(part)
        elif head in {"Args", "Returns", "Raises"}:
            sections[head] = textwrap.dedent(rest).strip()
        else:
            paragraphs.append(part)
    return Docstring(tuple(paragraphs), sections, "\n\n".join(example))


def entries(section: str) -> list[tuple[str, str]]:
    """``name: words`` of a section, whose further lines are indented."""
    joined = re.sub(r"\n +", " ", section)
    return [tuple(line.split(": ", 1)) for line in joined.splitlines()]  # type: ignore[misc]


def signature(name: str, function: Any) -> str:
    found = inspect.signature(function)
    lines, is_keyword = [], False
    for one in found.parameters.values():
        if one.kind is one.KEYWORD_ONLY and not is_keyword:
            is_keyword = True
            lines.append("*")
        lines.append(str(one))
    plain = [re.sub(r": '([^']*)'", r": \1", line) for line in lines]
    body = "".join(f"    {line},\n" for line in plain)
    returned = str(found.return_annotation).strip("'")
    return f"{name}(\n{body}) -> {returned}"


def text(paragraph: str) -> str:
    return re.sub(r"``([^`]+)``", r"`\1`", re.sub(r"\n(?! *\*)", " ", paragraph))


def table(first: str, rows: list[tuple[str, str]]) -> str:
    lines = [f"| {first} | |", "|---|---|"]
    lines += [f"| `{one}` | {text(words)} |".replace("||", r"\|\|") for one, words in rows]
    return "\n".join(lines)


def example(code: str, names: tuple[str, ...], package: str) -> str:
    """An example as it stands in a docstring, with the import that it lacks."""
    steps = doctest.DocTestParser().get_examples(code)
    nodes = [node for step in steps for node in ast.walk(ast.parse(step.source))]
    used = sorted({node.id for node in nodes if isinstance(node, ast.Name)} & set(names))
    head = f">>> from {package} import {', '.join(used)}\n" if used else ""
    return f"```python\n{head}{code}\n\n```"


def described(name: str, function: Any, package: str, names: tuple[str, ...]) -> Iterator[str]:
    found = taken_apart(function.__doc__ or "")
    yield f"### {name}"
    yield from map(text, found.paragraphs)
    yield f"```text\n{signature(f'{package}.{name}', function)}\n```"
    if "Args" in found.sections:
        yield table("argument", entries(found.sections["Args"]))
    if "Returns" in found.sections:
        yield f"**Returns** {text(found.sections['Returns'])}"
    if "Raises" in found.sections:
        yield table("raises", entries(found.sections["Raises"]))
    if found.example:
        yield example(found.example, names, package)


#: a field of a record, with the comment beside or above it
FIELD: Final = re.compile(
    r"^    (?:#: (.*)\n    )?([a-z]\w*): ([^=#\n]+?)(?: = .*?)?(?:  #: (.*))?$", re.MULTILINE
)


def record(cls: type, level: str = "###") -> Iterator[str]:
    found = taken_apart(cls.__doc__ or "")
    yield f"{level} {cls.__name__}"
    yield from map(text, found.paragraphs)
    source = inspect.getsource(cls).partition("    def ")[0]
    rows = [
        (one[2], f"{code(one[3])}{words(one[1] or one[4])}")
        for one in FIELD.finditer(source.partition('"""\n')[2])
    ]
    for name, value in vars(cls).items():
        if isinstance(value, property) and value.__doc__ and not name.startswith("_"):
            kind = value.fget.__annotations__.get("return", "")
            rows.append((name, f"{code(kind)}{words(value.__doc__.strip().partition(chr(10))[0])}"))
    if rows:
        yield table("has", rows)


def code(kind: str) -> str:
    return f"`{kind.strip()}`".replace("|", r"\|")


def words(comment: str | None) -> str:
    return f": {comment.rstrip('.')}" if comment else ""


def of_gate() -> Iterator[str]:
    found = taken_apart(gate.__doc__ or "")
    yield "## Gates"
    yield "`perfkit.gate`: " + text(found.paragraphs[0])
    yield example(found.example, tuple(gate.__all__), "perfkit.gate")
    members = {name: getattr(gate, name) for name in gate.__all__}
    for name, value in members.items():
        if inspect.isfunction(value):
            yield from described(name, value, "perfkit.gate", tuple(gate.__all__))
    presets = ", ".join(f"`{one}`" for one in gate.PRESETS)
    yield f"`perfkit.gate.PRESETS` holds the policies {presets}."
    for name, value in members.items():
        if is_dataclass(value):
            yield from record(value)
        elif isinstance(value, enum.EnumMeta):
            yield f"### {name}"
            yield ", ".join(f"`{one.value}`" for one in value)


def of_errors() -> Iterator[str]:
    yield "## Errors"
    lines = (errors.__doc__ or "").strip().splitlines()
    yield text(lines[0])
    tree = "\n".join(line.removeprefix("    ") for line in lines[2:] if line.startswith("    "))
    yield f"```text\n{tree}\n```"
    yield "`PerfkitError`: " + text(errors.PerfkitError.__doc__ or "")
    yield "All of them are in `perfkit.errors`; the number is the exit code of the command line."


def page() -> str:
    names = tuple(perfkit.__all__)
    parts = [INTRODUCTION.rstrip("\n")]
    for topic in TOPICS:
        parts.append(f"## {topic.title}")
        for name in topic.names:
            parts.extend(described(name, getattr(perfkit, name), "perfkit", names))
    parts += ["## Results", "Records; None where something does not apply or is not known."]
    for cls in RESULTS:
        parts.extend(record(cls))
    parts.extend(of_gate())
    parts.extend(of_errors())
    parts.append("`perfkit.__version__` is the version, as text.")
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    sys.stdout.write(page())
