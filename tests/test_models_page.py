"""Every model says what it computes and where it holds, and docs/models.md is what they say.

A model is a module of ``perfkit.models`` that is no helper (``docs.models_page.HELPERS``). Its
docstring gives units and validity; formula, source and an example stand there, too, or in each of
its public functions.
"""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

from docs import models_page
from docs.models_page import HELPERS, TOPICS, functions, imports, model, own_models, section

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "models.md"
MODULES = {file.stem for file in (ROOT / "perfkit" / "models").glob("*.py")} - {"__init__"}
MODELS = [name for topic in TOPICS for name in topic.models]


def lacks(docstring: str, labels: set[str]) -> set[str]:
    one = section(docstring)
    there = {label for label, found in one.labelled.items() if found}
    return labels - there - ({"Example"} if one.example else set())


def test_every_module_is_a_model_or_a_helper():
    assert len(MODULES) > 20
    assert sorted(MODELS) == sorted(set(MODELS))
    assert set(MODELS) | HELPERS == MODULES
    assert not set(MODELS) & HELPERS


@pytest.mark.parametrize("name", MODELS)
def test_every_model_says_formula_units_source_and_validity(name):
    module = model(name)
    assert lacks(module.__doc__, {"Units", "Valid"}) == set()
    rest = {"Formula", "Source", "Example"}
    if lacks(module.__doc__, rest):
        assert set(own_models(module)) == set(functions(module))
        for function, value in functions(module).items():
            assert lacks(value.__doc__, rest) == set(), function


@pytest.mark.parametrize("name", sorted(MODULES))
def test_every_public_function_says_what_it_gives(name):
    silent = [key for key, value in functions(model(name)).items() if not value.__doc__]
    assert silent == []


def test_the_page_is_what_the_models_say():
    assert PAGE.read_text("utf-8") == models_page.page(), "make docs"


def test_every_example_of_the_page_runs_as_it_stands():
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    assert len(blocks) > len(MODELS)
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner(verbose=False)
    for number, block in enumerate(blocks):
        test = parser.get_doctest(block, {}, f"example {number}", str(PAGE), 0)
        assert test.examples
        assert runner.run(test).failed == 0, block


def test_the_links_of_the_page_lead_somewhere():
    text = PAGE.read_text("utf-8")
    anchors = {
        models_page.anchor(line.lstrip("# ")) for line in text.splitlines() if line[:1] == "#"
    }
    targets = re.findall(r"\]\(([^)]+)\)", text)
    assert len(targets) > len(TOPICS)
    for target in targets:
        path, _, fragment = target.partition("#")
        assert (PAGE.parent / path).exists(), target
        assert not fragment or fragment in anchors, target


DOCSTRING = """What it computes.

Words about ``it``.

Formula:
    y = 2 x
    z = y + 1

Units: metres.
Source: arithmetic.

>>> 1 + 1
2
"""


def test_a_docstring_is_taken_apart():
    one = section(DOCSTRING)
    assert one.title == "What it computes."
    assert one.prose == ("Words about ``it``.",)
    assert one.labelled["Formula"] == "y = 2 x\nz = y + 1"
    assert one.example == ">>> 1 + 1\n2"
    # two labels in one paragraph are one
    assert lacks(DOCSTRING, {"Units", "Source", "Valid", "Example"}) == {"Source", "Valid"}


def test_imports_are_those_that_the_example_lacks():
    module = model("operations_matrix")
    written = ">>> from perfkit.kernel import DType\n>>> gemm(DType.F16, 1, 1, 1)\n"
    assert imports(module, ">>> gemm(DType.F16, 1, 1, 1).bytes\n6\n") == (
        ">>> from perfkit.kernel import DType\n"
        ">>> from perfkit.models.operations_matrix import gemm\n"
    )
    assert imports(module, written) == ">>> from perfkit.models.operations_matrix import gemm\n"
