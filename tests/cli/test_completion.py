"""Shell completion, asked for as the scripts of bash, zsh and fish do."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from perfkit.arch import catalog
from perfkit.cli.app import COMMANDS

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def complete(perfkit, monkeypatch):
    """What a shell would offer for a line that ends where the cursor is."""

    def run(line: str, shell: str = "bash") -> list[str]:
        monkeypatch.setenv("_PERFKIT_COMPLETE", f"complete_{shell}")
        monkeypatch.setenv("COMP_WORDS", line)
        monkeypatch.setenv("COMP_CWORD", str(len(line.split()) - (not line.endswith(" "))))
        monkeypatch.setenv("_TYPER_COMPLETE_ARGS", line)
        monkeypatch.setenv("_TYPER_COMPLETE_FISH_ACTION", "get-args")
        done = perfkit([])
        assert (done.code, done.err) == (0, "")
        return done.out.split("\n")[:-1] if done.out.strip() else []

    return run


def test_commands(complete):
    assert complete("perfkit ") == list(COMMANDS)
    assert complete("perfkit oc") == ["occupancy"]
    assert complete("perfkit arch ") == ["list", "show", "compare", "check"]


def test_options_of_a_command_that_is_not_imported_yet(complete):
    assert complete("perfkit occupancy --thr") == ["--threads"]
    assert "--smem-dynamic" in complete("perfkit occupancy --")


@pytest.mark.parametrize("option", ["-g", "--gpu"])
def test_gpu_names_also_after_a_comma(complete, option):
    assert "h100" in complete(f"perfkit occupancy {option} h1")
    found = complete(f"perfkit occupancy {option} a100,rtx-40")
    assert "a100,rtx-4090" in found
    assert all(name.startswith("a100,rtx-40") for name in found)
    assert "a100,9.0" in complete(f"perfkit sweep {option} a100,9")


def test_everything_that_is_offered_is_accepted(complete):
    offered = complete("perfkit occupancy -g ")
    assert {"all", "9.0", "h100", "h100-sxm5"} <= set(offered)
    for name in offered[::10]:
        assert catalog.targets(name)


def test_arguments(complete):
    assert complete("perfkit arch show 8.") == ["8.0", "8.6", "8.7", "8.8", "8.9"]
    assert complete("perfkit arch compare 8.6 9") == ["9.0"]
    assert "rtx-4090" in complete("perfkit gpu show rtx-409")
    assert "h100" in complete("perfkit gpu compare a100 h1")
    assert "9.0" not in complete("perfkit gpu show ")
    assert complete("perfkit schema occ") == ["occupancy"]


def test_choices(complete):
    assert complete("perfkit occupancy -f ") == ["table", "json", "csv", "markdown"]
    assert complete("perfkit sweep --occupancy-rule h") == ["hardware"]
    assert complete("perfkit sweep -f p") == ["parquet"]


@pytest.mark.parametrize(
    "line",
    [
        "perfkit occupancy ",
        "perfkit occupancy ker",
        "perfkit inspect kernel.c",
        "perfkit occupancy -o out",
        "perfkit occupancy -I inc",
        "perfkit arch check ",
    ],
)
def test_files_are_left_to_the_shell(complete, line):
    assert complete(line, "bash") == []  # the script says -o default
    assert complete(line, "zsh") == ["_files"]
    assert complete(line, "fish") == []  # and its condition fails, which allows files


def test_zsh_and_fish_get_names_in_their_own_way(complete):
    zsh = "\n".join(complete("perfkit occupancy -g a100,h200", "zsh"))
    assert zsh.startswith("_arguments '*: :((")
    assert '"a100,h200"' in zsh
    assert "a100,h200" in complete("perfkit occupancy -g a100,h200", "fish")


@pytest.mark.parametrize(("line", "code"), [("perfkit gpu show h1", 0), ("perfkit inspect k", 1)])
def test_fish_asks_first_whether_there_are_names(perfkit, monkeypatch, line, code):
    monkeypatch.setenv("_PERFKIT_COMPLETE", "complete_fish")
    monkeypatch.setenv("_TYPER_COMPLETE_ARGS", line)
    monkeypatch.setenv("_TYPER_COMPLETE_FISH_ACTION", "is-args")
    assert perfkit([]).code == code


def test_a_database_that_cannot_be_read_is_no_traceback(perfkit, monkeypatch, tmp_path):
    monkeypatch.setenv("PERFKIT_ARCHDB", str(tmp_path / "missing"))
    monkeypatch.setenv("_PERFKIT_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "perfkit occupancy -g h1")
    monkeypatch.setenv("COMP_CWORD", "3")
    done = perfkit([])
    assert (done.code, done.out) == (2, "")
    assert "PERFKIT_ARCHDB" in done.err


IN_BASH = r"""
eval "$(_PERFKIT_COMPLETE=source_bash perfkit)"
COMP_WORDS=(perfkit occupancy -g a100,h200)
COMP_CWORD=3
_perfkit_completion perfkit
printf '%s\n' "${COMPREPLY[@]}"
"""


def test_bash_itself(tmp_path):
    """The script that bash would load, in bash, with the words that it would hand over."""
    program = tmp_path / "perfkit"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m perfkit "$@"\n')
    program.chmod(0o755)
    done = subprocess.run(
        ["bash", "--norc", "-c", IN_BASH],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        timeout=60,
        env=os.environ | {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"},
    )
    assert done.returncode == 0, done.stderr
    assert "a100,h200" in done.stdout.split()


@pytest.fixture
def shell_by_name(monkeypatch, tmp_path):
    """Lets a test name the shell, as there is none above it, and gives it a home."""
    monkeypatch.setenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", "1")
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize(
    ("shell", "script"),
    [
        ("bash", ".bash_completions/perfkit.sh"),
        ("zsh", ".zfunc/_perfkit"),
        ("fish", ".config/fish/completions/perfkit.fish"),
    ],
)
def test_install_and_show(perfkit, shell_by_name, shell, script):
    done = perfkit(["--install-completion", shell])
    assert done.code == 0
    assert script in done.out
    installed = (shell_by_name / script).read_text()
    shown = perfkit(["--show-completion", shell])
    assert shown.code == 0
    assert shown.out.strip() == installed.strip()
    assert "_PERFKIT_COMPLETE=complete_" in installed
    # `perfkit doctor` looks for the script where it is
    assert f"installed for {shell}" in perfkit("doctor").out


def test_a_home_that_cannot_be_written(refused, shell_by_name):
    (shell_by_name / ".bash_completions").write_text("in the way")
    assert ".bash_completions" in refused(["--install-completion", "bash"])
