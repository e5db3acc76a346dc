"""The program as a whole: commands, exit codes, and what is said where."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import perfkit as package
from perfkit.cli import app
from perfkit.errors import DeviceError, InputError, InvalidLaunch, NoDevice, PerfkitError

ROOT = Path(__file__).resolve().parents[2]
ASK = ["occupancy", "-g", "h100", "-t", "256", "-r", "40"]


def shell(line, **environment):
    """A line of bash with ``perfkit`` in it, as a user would type it."""
    line = line.replace("perfkit", f"{sys.executable} -m perfkit")
    return subprocess.run(
        ["bash", "-c", line],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={k: v for k, v in os.environ.items() if not k.startswith("PERFKIT_")} | environment,
    )


def test_every_command_has_a_module_with_an_app():
    assert len(app.COMMANDS) >= 8
    for name, module in app.COMMANDS.items():
        assert import_module(f"perfkit.cli.{module}").app, name


def test_version(perfkit):
    assert perfkit("--version") == (0, f"perfkit {package.__version__}\n", "")


def test_without_a_command_the_help_is_talk_and_the_exit_code_that_of_bad_usage(perfkit):
    code, out, err = perfkit([])
    assert code == 2
    assert out == ""
    assert err.startswith("Usage: perfkit ")


@pytest.mark.parametrize("group", ["arch", "gpu"])
def test_a_group_without_a_command_does_the_same(perfkit, group):
    code, out, err = perfkit([group])
    assert (code, out) == (2, "")
    assert err.startswith(f"Usage: perfkit {group} ")


@pytest.mark.parametrize("typed", ["ocupancy", "occupanc"])
def test_an_unknown_command_names_the_nearest(refused, typed):
    assert "Did you mean 'occupancy'?" in refused([typed])


def test_data_goes_to_stdout_and_talk_to_stderr(perfkit):
    code, out, err = perfkit(ASK)
    assert code == 0
    assert "75%" in out
    assert err == ""


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (InvalidLaunch("regs = 256: too many", hint="fewer"), 2),
        (InputError("not a cubin", where="a.cubin@0x10"), 2),
        (NoDevice("no device"), 4),
        (DeviceError("it hung"), 5),
        (PerfkitError("how did that happen"), 70),
        (ZeroDivisionError("division by zero"), 70),
    ],
)
def test_errors_become_exit_codes_and_two_lines(monkeypatch, perfkit, error, code):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr("perfkit.cli.options.targets", fail)
    done = perfkit(ASK)
    assert (done.code, done.out) == (code, "")
    assert done.err.startswith("perfkit: error: ")
    assert len(done.err.splitlines()) <= 2


def test_a_bug_says_so_and_shows_where_if_asked(monkeypatch, perfkit):
    def fail(*_):
        raise KeyError("x")

    monkeypatch.setattr("perfkit.cli.options.targets", fail)
    assert "this is a bug in perfkit; PERFKIT_DEBUG=1 shows where" in perfkit(ASK).err
    monkeypatch.setenv("PERFKIT_DEBUG", "1")
    with pytest.raises(KeyError):
        perfkit(ASK)


def test_an_input_is_named_as_the_option_that_gave_it(refused):
    line = "occupancy -g h100 -t 256 -r 256"
    assert refused(line).splitlines() == [
        "perfkit: error: --regs 256: compute capability 9.0 takes 0 to 255 registers per thread",
        "hint: registers.max_per_thread: cuda-programming-guide-13.0, 5.1, Tables 30 and 31",
    ]


def test_interrupted(monkeypatch, perfkit):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("perfkit.cli.options.targets", interrupt)
    done = perfkit(ASK)
    assert done == (130, "", "perfkit: interrupted\n")


@pytest.mark.parametrize(
    "line", ["perfkit arch list -f json", "perfkit sweep -g h100 -t 1:1024 -r 1:100 -f csv"]
)
def test_a_reader_that_leaves_ends_the_run_without_a_word(line):
    done = shell(f"{line} | head -c 10; exit ${{PIPESTATUS[0]}}")
    assert done.returncode in {0, 141}
    assert len(done.stdout) == 10
    assert done.stderr == ""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize("line", ["perfkit arch list", "perfkit sweep -g h100 -f csv"])
def test_a_full_disk_is_an_error_not_a_traceback(line):
    done = shell(f"{line} > /dev/full")
    assert done.returncode == 2
    assert done.stderr == "perfkit: error: cannot write to stdout: No space left on device\n"


@pytest.mark.parametrize("form", ["table", "json", "csv", "markdown"])
def test_an_ascii_terminal_is_no_reason_to_fail(form):
    # the notes of doctor and the names of some files hold other characters
    done = shell(f"perfkit doctor -f {form}", PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert done.returncode in {0, 1}
    assert done.stdout.isascii()
    assert "Traceback" not in done.stderr


def test_a_broken_database_of_the_user_names_file_and_line(tmp_path, monkeypatch, refused):
    folder = tmp_path / "gpu"
    folder.mkdir()
    (folder / "mine.yaml").write_text("schema: 1\nname: Mine\nnmae: Mine\n")
    monkeypatch.setenv("PERFKIT_ARCHDB", str(tmp_path))
    err = refused("gpu show mine")
    assert f"{folder / 'mine.yaml'}:3" in err
    monkeypatch.setenv("PERFKIT_ARCHDB", str(tmp_path / "nowhere"))
    assert "PERFKIT_ARCHDB" in refused(ASK)


def test_memory_that_is_not_there_is_no_bug(refused, monkeypatch):
    def greedy(*_args, **_options):
        raise MemoryError

    monkeypatch.setattr("perfkit.cli.occupancy.options.architectures", greedy)
    monkeypatch.setattr("perfkit.cli.options.targets", greedy)
    said = refused("occupancy -g h100 -t 256 -r 40", code=4)
    assert "not enough memory" in said
    assert "bug" not in said


@pytest.mark.parametrize(
    "words", [["inspect", ""], ["fits", "", "-g", "all", "--check"], ["diff", ".", ""]]
)
def test_an_empty_name_is_not_this_directory(refused, words):
    """As of a script with a variable that is not set."""
    assert "is empty: write the name of a file" in refused(words)
