"""The tree in the docstring of ``perfkit.errors`` is the tree of its classes."""

from __future__ import annotations

import re

import pytest

from perfkit import errors
from perfkit.errors import CompileError, PerfkitError, UnknownTarget

LINE = re.compile(r"\s*(?P<branch>(?:[│├└─ ]*))(?P<name>[A-Z]\w+)(?:\s{2,}(?P<code>\d+))?\s{2,}\S")


def documented(docstring: str) -> dict[str, tuple[str | None, int]]:
    """Class name -> (parent, exit code) as the drawn tree says; a code holds for its branch."""
    tree: dict[str, tuple[str | None, int]] = {}
    path: list[tuple[int, str]] = []
    for line in docstring.splitlines():
        match = LINE.match(line)
        if match is None:
            continue
        depth = match.start("name")
        while path and path[-1][0] >= depth:
            path.pop()
        parent = path[-1][1] if path else None
        code = int(match["code"]) if match["code"] else tree[parent][1]
        tree[match["name"]] = (parent, code)
        path.append((depth, match["name"]))
    return tree


def classes() -> dict[str, tuple[str | None, int]]:
    found = {}
    for name, value in vars(errors).items():
        if isinstance(value, type) and issubclass(value, PerfkitError):
            (base,) = value.__bases__
            found[name] = (base.__name__ if base is not Exception else None, value.exit_code)
    return found


TREE = documented(errors.__doc__)


def test_docstring_and_classes_agree():
    assert len(TREE) >= 10
    assert classes() == TREE


def test_codes_of_verdicts_are_never_errors():
    assert not {0, 1, 3} & {code for _, code in TREE.values()}


def test_one_code_per_branch():
    """Below the first level nobody has a code of their own."""
    branches = {name for name, (parent, _) in TREE.items() if parent == "PerfkitError"}
    assert len(branches) >= 4
    for name, (parent, code) in TREE.items():
        if name not in branches and parent is not None:
            assert "exit_code" not in vars(getattr(errors, name)), name
            assert code == TREE[parent][1]
    # input and usage share 2 on purpose: both are mended by whoever asked
    codes = [TREE[name][1] for name in sorted(branches)]
    assert sorted(set(codes)) == [2, 4, 5]
    assert codes.count(2) == 2


def test_a_wrong_tree_is_noticed():
    planted = errors.__doc__.replace("Unavailable                    4", "Unavailable     7")
    assert documented(planted) != classes()


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (UnknownTarget("what", where="a.yaml:3", hint="do this"), "a.yaml:3: what"),
        (UnknownTarget("what"), "what"),
        (CompileError("refused", log="line 1", where="a.cu"), "a.cu: refused"),
    ],
)
def test_text_says_where_and_what(error, text):
    assert str(error) == text
