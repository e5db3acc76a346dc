"""Pages that programs write are what they write: the commands, the man page, Python's names.

``make docs`` writes them; their sources are the help of the command line and the docstrings.
"""

from __future__ import annotations

import doctest
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import perfkit
from docs import api_page, command_line, command_pages, man_page
from perfkit.cli.app import COMMANDS
from perfkit.report import schema

DOCS = Path(__file__).resolve().parents[1] / "docs"
PROGRAM = command_line.program()
LEAVES = [one for one in command_line.walk(PROGRAM) if not one.members]


def test_the_pages_of_the_commands_are_what_the_help_says():
    there = {path.name: path.read_text("utf-8") for path in (DOCS / "commands").glob("*.md")}
    assert there == command_pages.pages(), "make docs"
    assert set(there) == {"index.md", *(f"{name}.md" for name in COMMANDS)}


def test_the_walk_finds_all():
    assert [one.word for one in PROGRAM.members] == list(COMMANDS)
    assert {"perfkit gate check", "perfkit arch list"} <= {one.name for one in LEAVES}
    assert set(command_pages.READ_MORE) <= set(COMMANDS)


@pytest.mark.parametrize("one", LEAVES, ids=lambda one: one.name)
def test_a_command_has_words_examples_and_help_for_all_it_takes(one):
    assert one.paragraphs[0].endswith(".")
    assert any(one.name in line for line in one.epilog["Examples"])
    assert all(row.help for row in (*one.arguments, *one.options))
    # Typer's own words for a type tell a reader nothing
    vague = [
        row.names for row in one.options if re.search(r"<(str|int|float|file|path)>", row.names)
    ]
    assert vague == []


def test_every_schema_belongs_to_a_command():
    assert {topic for one in LEAVES for topic in one.topics} == set(schema.topics())


def test_the_man_page_is_what_the_help_says():
    assert (DOCS / "perfkit.1").read_text("utf-8") == man_page.page(), "make docs"


def test_the_man_page_is_right_for_man():
    page = (DOCS / "perfkit.1").read_bytes()
    page.decode("ascii")
    wrong = [
        line
        for line in page.decode().splitlines()
        if re.match(r"[.'](?!TH |SH |SS |TP|PP|RS|RE|B |nf|fi)", line)
    ]
    assert wrong == []
    for name in (one.name for one in LEAVES):
        assert f"\n.SS {name}\n".encode() in page
    if shutil.which("groff"):
        done = subprocess.run(
            ["groff", "-ww", "-man", "-Tutf8", "-z"], input=page, capture_output=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, b"")


def test_what_the_environment_does_is_in_the_man_page():
    sources = (DOCS.parent / "perfkit").rglob("*.py")
    named = {
        name
        for file in sources
        for name in re.findall(r"PERFKIT_[A-Z]+\b", file.read_text("utf-8"))
    }
    assert len(named) > 3
    assert named == {row.names for row in man_page.ENVIRONMENT if row.names.startswith("PERFKIT")}


def test_the_page_of_python_is_what_the_docstrings_say():
    assert (DOCS / "python.md").read_text("utf-8") == api_page.page(), "make docs"


def test_the_page_of_python_has_every_name():
    told = [name for topic in api_page.TOPICS for name in topic.names]
    assert sorted([*told, *api_page.OTHERS]) == sorted(perfkit.__all__)


@pytest.mark.parametrize("name", [name for topic in api_page.TOPICS for name in topic.names])
def test_a_function_says_what_it_takes_and_shows_an_example(name):
    function = getattr(perfkit, name)
    found = api_page.taken_apart(function.__doc__)
    assert found.example
    taken = list(api_page.inspect.signature(function).parameters)
    if taken != ["text"]:  # which the first sentence explains
        assert [one for one, _ in api_page.entries(found.sections["Args"])] == taken


def test_every_example_of_the_page_of_python_runs_as_it_stands():
    text = (DOCS / "python.md").read_text("utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    assert len(blocks) > 20
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner(verbose=False)
    names: dict = {}
    for number, block in enumerate(blocks):
        test = parser.get_doctest(block, names if number < 2 else {}, f"{number}", "python.md", 0)
        assert runner.run(test, clear_globs=False).failed == 0, block
        names = test.globs if number < 2 else {}
