"""The sanitizer's command without a card: what it runs, and what it makes of what tools say."""

from __future__ import annotations

import stat
import sys

import pytest

from perfkit.arch.types import ComputeCapability
from perfkit.device.workloads.library import library
from tests.device.fake_card import FakeCard, FakeMonitor, pretend_compiler
from tests.gpu import sanitized

CLEAN = {
    "memcheck": "LEAK SUMMARY: 0 bytes leaked in 0 allocations\n========= ERROR SUMMARY: 0 errors",
    "racecheck": "RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)",
    "initcheck": "ERROR SUMMARY: 0 errors",
    "synccheck": "ERROR SUMMARY: 0 errors",
}
HAZARDS = "========= RACECHECK SUMMARY: 2 hazards displayed (0 errors, 2 warnings)"


@pytest.fixture
def tool(tmp_path, monkeypatch):
    """A stand-in for compute-sanitizer that says something, with an exit code."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CUDA_HOME", raising=False)
    monkeypatch.delenv("CUDA_PATH", raising=False)
    monkeypatch.setattr(sanitized, "DEFAULT", str(tmp_path / "none"))

    def says(text, status=0):
        path, asked = tmp_path / "compute-sanitizer", tmp_path / "asked"
        path.write_text(
            f"#!{sys.executable}\nimport sys\n"
            f"open({str(asked)!r}, 'a').write(' '.join(sys.argv[1:]) + '\\n')\n"
            f"print('========= COMPUTE-SANITIZER\\n' + {text!r})\n"
            f"if not {status}: print('========= ' + {CLEAN!r}[sys.argv[2]])\n"
            f"sys.exit({status})\n"
        )
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return asked

    return says


def test_each_tool_has_a_line(tool, capsys):
    asked = tool("left out: gemm_wgmma_f8 uses instructions of 9.0 only\n85 checks, 0 wrong")
    assert sanitized.main([]) == 0
    said = capsys.readouterr().out.splitlines()
    assert [line for line in said if not line.startswith("left out")] == [
        "memcheck: 85 checks, 0 wrong; 0 bytes leaked in 0 allocations; 0 errors; 0 s",
        "racecheck: 85 checks, 0 wrong; 0 hazards displayed (0 errors, 0 warnings); 0 s",
        "initcheck: 85 checks, 0 wrong; 0 errors; 0 s",
        "synccheck: 85 checks, 0 wrong; 0 errors; 0 s",
    ]
    commands = asked.read_text().splitlines()
    assert len(commands) == 4
    assert (
        "--tool memcheck --error-exitcode 9 --report-api-errors no --leak-check full" in commands[0]
    )
    assert all(command.endswith("sanitized.py --inside --only *") for command in commands)


def test_one_tool_on_some(tool, capsys):
    asked = tool("4 checks, 0 wrong")
    assert sanitized.main(["--tool", "racecheck", "--only", "attention_*"]) == 0
    (command,) = asked.read_text().splitlines()
    assert "--tool racecheck --error-exitcode 9" in command
    assert command.endswith("--inside --only attention_*")


@pytest.mark.parametrize(
    ("text", "status", "code", "words"),
    [
        ("4 checks, 1 wrong", 0, 1, "4 checks, 1 wrong"),
        ("0 checks, 0 wrong", 0, 1, "0 checks"),
        ("4 checks, 0 wrong\n========= ERROR SUMMARY: 8 errors", 9, 1, "8 errors"),
        (f"4 checks, 0 wrong\n{HAZARDS}", 0, 1, "2 hazards"),
        ("========= ERROR SUMMARY: 0 errors", 3, 1, "not finished, it ended with exit code 3"),
        ("error: no NVIDIA driver", 4, 4, "not finished, error: no NVIDIA driver"),
    ],
)
def test_whatever_is_not_clean_is_shown(tool, capsys, text, status, code, words):
    tool(text, status)
    assert sanitized.main(["--tool", "racecheck"]) == code
    said = capsys.readouterr().out
    assert "COMPUTE-SANITIZER" in said
    assert words in said.splitlines()[-1]


def test_what_is_not_there_is_told(tool, capsys):
    assert sanitized.main([]) == sanitized.NOT_THERE
    assert "compute-sanitizer is not there" in capsys.readouterr().out


def test_the_toolkits_folder_is_looked_into(tool, tmp_path, monkeypatch):
    tool("1 checks, 0 wrong")
    (tmp_path / "toolkit" / "bin").mkdir(parents=True)
    (tmp_path / "compute-sanitizer").rename(tmp_path / "toolkit" / "bin" / "compute-sanitizer")
    assert sanitized.sanitizer() is None
    monkeypatch.setenv("CUDA_HOME", str(tmp_path / "toolkit"))
    assert sanitized.sanitizer() == str(tmp_path / "toolkit" / "bin" / "compute-sanitizer")


@pytest.fixture
def bench(monkeypatch):
    from perfkit.device.bench import Bench
    from perfkit.device.timing import Stopwatch

    pretend_compiler(monkeypatch)
    card = FakeCard()
    for name in ("copy", "vector_add"):
        for sizes in library()[name].checks:
            card.answer(library()[name].case(sizes))
    return Bench(card, Stopwatch(card, FakeMonitor()))


def test_all_check_sizes_are_run_and_what_is_wrong_is_named(bench):
    count = len(library()["copy"].checks)
    assert count
    found = list(sanitized.checked(bench, ComputeCapability(9, 0), "copy"))
    assert found == [f"{count} checks, 0 wrong"]
    *wrong, last = sanitized.checked(bench, ComputeCapability(9, 0), "triad")  # does nothing here
    assert last == f"{len(wrong)} checks, {len(wrong)} wrong"
    assert wrong
    assert all(line.startswith("wrong: triad {") for line in wrong)


def test_what_the_card_cannot_run_is_left_out(bench):
    names = [name for name in library() if name.startswith("gemm_wgmma_")]
    *left_out, last = sanitized.checked(bench, ComputeCapability(8, 0), "gemm_wgmma_*")
    assert len(left_out) == len(names) > 0
    assert "uses instructions of 9.0 only" in left_out[0]
    assert last == "0 checks, 0 wrong"


def test_without_a_card_the_reason_is_given(capsys, monkeypatch):
    from perfkit.device import cuda_card
    from perfkit.errors import NoDevice

    def none():
        raise NoDevice("no NVIDIA driver here")

    monkeypatch.setattr(cuda_card, "open_card", none)
    assert sanitized.main(["--inside"]) == 4
    assert capsys.readouterr().out == "error: no NVIDIA driver here\n"
