"""Help that fits a terminal and reads as one voice."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import perfkit.__main__ as program
from perfkit import errors
from tests.cli.commands import COMMANDS

GROUPS = [name for name, command in COMMANDS.items() if hasattr(command, "list_commands")]
LEAVES = [name for name, command in COMMANDS.items() if not hasattr(command, "list_commands")]
EACH = pytest.mark.parametrize("name", COMMANDS, ids=" ".join)


def test_the_walk_finds_commands():
    assert {("occupancy",), ("arch", "list"), ("schema",)} <= set(LEAVES)
    assert set(GROUPS) == {(), ("access",), ("arch",), ("gate",), ("gpu",)}


@EACH
@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_help_is_data_and_fits_a_terminal(perfkit, name, flag):
    code, out, err = perfkit([*name, flag])
    assert (code, err) == (0, "")
    assert out.startswith(" ".join(["Usage: perfkit", *name]))
    assert max(map(len, out.splitlines())) <= 80
    assert "\b" not in out


@pytest.mark.parametrize("name", GROUPS, ids=" ".join)
def test_no_summary_is_cut_in_a_list(perfkit, name):
    out = perfkit([*name, "--help"]).out
    commands = out[out.index("Commands:") :].split("\n\n")[0]
    assert "..." not in commands


@pytest.mark.parametrize("name", LEAVES, ids=" ".join)
def test_examples_stand_on_lines_of_their_own_and_name_the_command(perfkit, name):
    out = perfkit([*name, "--help"]).out
    lines = out[out.index("  Examples:\n") :].splitlines()[1:]
    typed = " ".join(["perfkit", *name])
    assert lines
    assert all(line.strip().startswith(typed) for line in lines)
    assert all(line.startswith("    perfkit") for line in lines)


@pytest.mark.parametrize("name", LEAVES, ids=" ".join)
def test_options_come_in_one_order_and_the_output_last(name):
    options = [o.name for o in COMMANDS[name].params if o.param_type_name == "option"]
    assert options[-1] == "output"
    order = [
        "gpu", "threads", "regs", "smem", "smem_static", "smem_dynamic", "carveout", "barriers",
        "cluster", "grid", "kernel", "include", "define", "std", "maxrregcount", "fast_math",
        "instantiate", "format", "quiet", "output",
    ]  # fmt: skip
    shared = [option for option in options if option in order]
    assert shared == sorted(shared, key=order.index)


@pytest.mark.parametrize("name", LEAVES, ids=" ".join)
def test_the_same_option_has_the_same_name_and_letter_everywhere(name):
    letters = {"gpu": "-g", "threads": "-t", "regs": "-r", "smem": "-s", "format": "-f"}
    for option in COMMANDS[name].params:
        if option.param_type_name == "option" and option.name in letters:
            assert set(option.opts) == {f"--{option.name}", letters[option.name]}


def test_only_the_program_installs_completion(perfkit):
    assert "--install-completion" in perfkit("--help").out
    for name in LEAVES:
        assert "completion" not in {option.name for option in COMMANDS[name].params}
        assert "--install-completion" not in perfkit([*name, "-h"]).out


def test_the_exit_codes_are_listed(perfkit):
    out = perfkit("--help").out
    codes = re.findall(r"^ {4}(\d+) +\w", out[out.index("Exit codes:") :], re.MULTILINE)
    assert codes == ["0", "1", "2", "3", "4", "5", "70", "130"]


def test_every_error_has_a_listed_exit_code():
    found, waiting = set(), [errors.PerfkitError]
    while waiting:
        kind = waiting.pop()
        found.add(kind.exit_code)
        waiting += kind.__subclasses__()
    verdicts = {0, errors.EXIT_NO, errors.EXIT_INCONCLUSIVE, errors.EXIT_INTERRUPTED}
    assert found | verdicts == set(errors.EXIT_CODES)
    assert not found & verdicts


def test_the_program_ends_as_listed():
    # it looks after Ctrl-C before it loads anything, the list included
    assert program.EXIT_INTERRUPTED == errors.EXIT_INTERRUPTED


def test_the_readme_has_every_exit_code():
    readme = (Path(__file__).resolve().parents[2] / "README.md").read_text("utf-8")
    said = " ".join(readme.partition("Exit codes: ")[2].partition(".\n")[0].split())
    codes = dict(part.split(" ", 1) for part in said.split(", "))
    assert list(codes) == [str(code) for code in errors.EXIT_CODES]
    # in fewer words
    assert all(errors.EXIT_CODES[int(code)].startswith(words) for code, words in codes.items())
