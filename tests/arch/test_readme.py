"""``archdb/README.md`` says what every key means, and names no key that does not exist."""

from __future__ import annotations

import re
from typing import Final

import pytest

from perfkit.arch import load
from perfkit.arch.builder import KINDS
from tests.arch.broken import CAPABILITY, GPU, SAMPLE

TEXT: Final = (load.shipped() / "README.md").read_text("utf-8")
KEY: Final = re.compile(r"^\s*(?:- )?([a-z][a-z0-9_]*):", re.MULTILINE)
#: keys of evidence are explained in prose; rate classes have a table of their own
OTHER: Final = {"id", "facts", "kind", "note", "where", "fact", "chosen", "others", "why", "full"}


def keys(name: str) -> set[str]:
    """The keys at the start of a line; what flow mappings hold is checked below."""
    text = (SAMPLE / name).read_text("utf-8")
    text = re.sub(r"^  (?:\S+\.\S+|tdp_w): .*$", "", text, flags=re.MULTILINE)  # reasons
    return set(KEY.findall(text)) - OTHER


def explained(section: str) -> set[str]:
    """The keys in the first column of the section's first table."""
    part = TEXT.split(f"\n## {section}\n")[1].split("\n## ")[0].split("\n### ")[0]
    rows = [line.split("|")[1] for line in part.splitlines() if line.startswith("| `")]
    assert rows
    return {key for row in rows for key in re.findall(r"`([a-z0-9_]+)`", row)}


@pytest.mark.parametrize(
    ("section", "name", "extra"),
    [
        ("compute_capability/*.yaml", CAPABILITY, {"max_blocks_per_sm"}),
        (
            "gpu/*.yaml",
            GPU,
            {"dtype", "accumulate", "sparsity", "unit", "tflops", "use", "note"},
        ),
    ],
)
def test_every_key_is_explained(section, name, extra):
    found = keys(name)
    assert len(found) > 15
    assert explained(section) == found | extra


def test_evidence_is_explained():
    rules = TEXT.split("\n## Rules of evidence\n")[1].split("\n## ")[0]
    for word in (*KINDS, "facts", "where", "kind", "note", "fact", "chosen", "others", "why"):
        assert f"`{word}`" in rules, word
