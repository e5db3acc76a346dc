"""What the documentation shows is what happens.

A fenced block marked ``console`` in README.md or docs/ holds commands after ``$ `` and, under each,
its output. Lines that start with ``$ perfkit``, ``$ python`` or ``$ echo``, perhaps with a variable
before it, run in a shell, in order, and must print what the file shows; ``...`` stands for
anything. A command may fail only if ``$ echo $?`` follows. Other commands (``$ pip``, ``$ make``)
are for people.
"""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

import pytest

from perfkit.cli.app import COMMANDS
from perfkit.cli.doctor import EXTRAS

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text("utf-8")
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))

RUNS = re.compile(r"(?:[A-Z_]+=\S* )?(perfkit|python|echo)\b")
FENCE = re.compile(r"^( *)```console\n(.*?)^\1```", re.DOTALL | re.MULTILINE)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@dataclass(frozen=True, kw_only=True)
class Command:
    line: int
    text: str
    expected: str


def commands(page: str) -> list[Command]:
    """The commands of all console blocks of a page, with the output shown under each."""
    found: list[Command] = []
    for block in FENCE.finditer(page):
        line = page.count("\n", 0, block.start(2)) + 1
        body = textwrap.dedent(block[2])
        for step in re.finditer(r"^\$ ((?:.*\\\n)*.*)\n((?:(?!\$ ).*\n)*)", body, re.MULTILINE):
            at = line + body.count("\n", 0, step.start())
            found.append(Command(line=at, text=step[1], expected=step[2]))
    return found


@pytest.fixture
def shell(tmp_path):
    """Runs a command line as a reader would: in the checkout, with perfkit and python on PATH."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, call in (("perfkit", '-m perfkit "$@"'), ("python", '"$@"')):
        program = programs / name
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" {call}\n')
        program.chmod(0o755)
    # links instead of the checkout itself: what a command writes must not stay there
    place = tmp_path / "checkout"
    place.mkdir()
    for entry in ROOT.iterdir():
        if not entry.name.startswith("."):
            (place / entry.name).symlink_to(entry)
    variables = {
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "PYTHONUTF8": "1",
        "NO_COLOR": "1",
        "COLUMNS": "100",
    }
    hidden = [name for name in os.environ if name.startswith("PERFKIT_")]

    def run(command: str, status: int = 0) -> subprocess.CompletedProcess:
        return subprocess.run(
            ["bash", "-c", f"(exit {status}); {command}"],
            cwd=place,
            env={k: v for k, v in os.environ.items() if k not in hidden} | variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=120,
        )

    return run


def check(page: str, shell) -> int:
    """Run a page's commands; the number that ran. Fails with the line and both outputs."""
    steps = [step for step in commands(page) if RUNS.match(step.text)]
    status = 0
    for step, following in zip_longest(steps, steps[1:]):
        done = shell(step.text, status)
        status = done.returncode
        excused = following is not None and following.text.startswith("echo $?")
        assert status == 0 or excused, (
            f"line {step.line}: {step.text}: exit {status}\n{done.stdout}"
        )
        checker = doctest.OutputChecker()
        if not checker.check_output(step.expected, done.stdout, FLAGS):
            example = doctest.Example(step.text, step.expected)
            shown = checker.output_difference(example, done.stdout, doctest.REPORT_NDIFF)
            pytest.fail(f"line {step.line}: {step.text}\n{shown}", pytrace=False)
    return len(steps)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_console_blocks_show_what_happens(page, shell):
    check(page.read_text("utf-8"), shell)


def test_the_readme_has_console_blocks():
    found = [step.text for step in commands(README)]
    assert any(text.startswith("perfkit occupancy") for text in found)


def test_the_readme_leads_to_every_command_page_and_extra():
    answers = README.partition("## What it answers")[2].partition("## Why")[0]
    assert [name for name in COMMANDS if f"`{name}" not in answers.replace("perfkit ", "")] == []
    pages = {page.name for page in (ROOT / "docs").glob("*.md")}
    assert set(re.findall(r"\]\(docs/([\w-]+\.md)\)", README)) == pages
    index = (ROOT / "docs" / "index.md").read_text("utf-8")
    assert set(re.findall(r"\]\(([\w-]+\.md)\)", index)) == pages - {"index.md"}


def test_every_extra_is_in_the_table():
    text = (ROOT / "docs" / "install.md").read_text("utf-8")
    table = text.partition("| extra | for |")[2].partition("\n\n")[0]
    named = [name for row in table.splitlines() for name in re.findall(r"`(\w+)`", row[:30])]
    assert sorted(named) == sorted(EXTRAS)


def test_every_extra_that_is_advised_exists():
    folders = (ROOT / "perfkit", ROOT / "docs")
    files = [path for folder in folders for path in folder.rglob("*.*") if path.suffix != ".pyc"]
    texts = [README, *(path.read_text("utf-8") for path in files)]
    # `perfkit[{extra}]` has it from the list
    advised = {name for text in texts for name in re.findall(r"perfkit\[(\w+)\]", text)}
    assert {"cu12", "plot", "explore"} <= advised <= set(EXTRAS)


def test_every_benchmark_is_in_the_table_and_the_quick_ones_exist():
    folder = ROOT / "tests" / "bench"
    table = (folder / "README.md").read_text("utf-8").partition("## Measured")[0]
    runs = {
        path.stem for path in folder.glob("*.py") if "__main__" in path.read_text(encoding="utf-8")
    }
    # the others' tools, which the calibration calls, and what `make exhaustive` runs
    listed = set(re.findall(r"`python -m tests\.bench\.(\w+)", table))
    assert listed == runs - {"gate_peers", "exhaustive_header"}
    quick = (ROOT / "Makefile").read_text("utf-8").partition("BENCHES := ")[2].partition("\n\n")[0]
    assert set(quick.replace("\\", " ").split()) < listed


PAGE = """
Text
```console
$ pip install nothing-at-all
$ python -c 'print("one", 2)'
one ...
$ python -c 'raise SystemExit(3)'
$ echo $?
3
```
"""


def test_a_page_runs(shell):
    assert [step.line for step in commands(PAGE)] == [4, 5, 7, 8]
    assert check(PAGE, shell) == 3


@pytest.mark.parametrize(
    ("right", "wrong"), [("one ...", "two"), ("$ echo $?\n3\n", ""), ("\n3\n", "\n4\n")]
)
def test_a_page_that_lies_is_found(right, wrong, shell):
    assert right in PAGE
    with pytest.raises((AssertionError, pytest.fail.Exception), match="line"):
        check(PAGE.replace(right, wrong), shell)


# --- examples -----------------------------------------------------------------------------------


def test_the_tour_leads_past_every_example_and_none_is_long():
    guide = (ROOT / "examples" / "README.md").read_text("utf-8")
    assert sorted(re.findall(r"\]\((\w+\.py)\)", guide)) == [example.name for example in EXAMPLES]
    assert len(EXAMPLES) > 10
    long = [e.name for e in EXAMPLES if len(e.read_text("utf-8").splitlines()) > 80]
    assert long == []


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_examples_run(example, shell):
    assert "\nassert " in example.read_text("utf-8").replace("\n    ", "\n")
    done = shell(f"python examples/{example.name}")
    assert done.returncode == 0, done.stdout
