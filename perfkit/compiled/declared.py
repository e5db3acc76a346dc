"""The kernels that a source text declares, found by reading: for hints, not for answers.

A compiler says nothing of a template that nobody instantiates, so its name has to come from here.
Macros are not expanded and conditions are not decided.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

#: comments, strings and preprocessor lines: braces and names in them do not count
_HIDDEN: Final = re.compile(
    r"//[^\n]*|/\*.*?(?:\*/|\Z)|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'"
    r"|^[ \t]*#(?:\\\r?\n|[^\n])*",
    re.DOTALL | re.MULTILINE,
)
_TOKEN: Final = re.compile(r"\bnamespace(?:\s+([\w:]+))?\s*\{|\b__global__\b|[{};]")
_ATTRIBUTE: Final = re.compile(r"\b__\w+__\s*\((?:[^()]|\([^()]*\))*\)")
_NAME: Final = re.compile(r"[^;{}()=]*?\b([A-Za-z_]\w*)\s*\(")
_MOST_CHARACTERS: Final = 1000  #: between __global__ and the parameters
_MOST_LISTED: Final = 8


class Declared(NamedTuple):
    name: str  #: with its namespaces
    line: int
    is_template: bool


def declared(text: str) -> tuple[Declared, ...]:
    r"""Every kernel with the line of its ``__global__``, in the order of the text.

    >>> declared("template <int N>\n__global__ void k(float *x) {}")
    (Declared(name='k', line=2, is_template=True),)
    """
    text = _HIDDEN.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
    found: dict[str, Declared] = {}
    scopes: list[str | None] = []
    start = 0  # of the declaration
    for token in _TOKEN.finditer(text):
        if token[0] == "__global__":
            head = text[token.end() : token.end() + _MOST_CHARACTERS]
            name = _NAME.match(_ATTRIBUTE.sub(" ", head))
            if name is not None:
                full = "::".join((*filter(None, scopes), name[1]))
                line = text.count("\n", 0, token.start()) + 1
                is_template = re.search(r"\btemplate\s*<", text[start : token.start()]) is not None
                found.setdefault(full, Declared(full, line, is_template))
            continue
        if token[0] == "}":
            del scopes[-1:]
        elif token[0] != ";":
            scopes.append(token[1])
        start = token.end()
    return tuple(found.values())


def how_to_instantiate(kernels: Sequence[Declared]) -> str | None:
    """What to type for each template; None where there is none."""
    templates = [kernel for kernel in kernels if kernel.is_template]
    sentences = [
        f"{kernel.name} (line {kernel.line}) is a template: --instantiate '{kernel.name}<...>'"
        for kernel in templates[:_MOST_LISTED]
    ]
    if len(templates) > _MOST_LISTED:
        sentences.append(f"{len(templates) - _MOST_LISTED} more are templates")
    return "; ".join(sentences) or None


def listing(kernels: Sequence[Declared]) -> str:
    """What there is to choose from, in a sentence."""
    groups = {
        "template": [kernel for kernel in kernels if kernel.is_template],
        "kernel": [kernel for kernel in kernels if not kernel.is_template],
    }
    parts = []
    for kind, members in groups.items():
        shown = [f"{kernel.name} (line {kernel.line})" for kernel in members[:_MOST_LISTED]]
        if len(members) > _MOST_LISTED:
            shown.append(f"{len(members) - _MOST_LISTED} more")
        if shown:
            parts.append(f"the {kind}{'s' if len(members) > 1 else ''} {', '.join(shown)}")
    return f"the file has {' and '.join(parts)}" if parts else "the file has no kernel"
