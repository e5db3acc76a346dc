"""The program as a process: closed streams, and Ctrl-C at any moment."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "examples" / "kernels" / "tiled_matmul.cu"
POSIX = pytest.mark.skipif(os.name != "posix", reason="signals and descriptors of POSIX")


def shell(line):
    line = line.replace("perfkit", f"{sys.executable} -m perfkit")
    # as users have it: unbuffered streams meet a full disk at another time
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    return subprocess.run(
        ["bash", "-c", line],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@POSIX
@pytest.mark.parametrize("line", ["perfkit arch list", "perfkit sweep -g h100 -f csv"])
def test_a_closed_stdout_is_an_error_not_a_bug(line):
    done = shell(f"{line} >&-")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("perfkit: error: cannot write to stdout: it is closed\n")


@POSIX
def test_a_file_needs_no_stdout(tmp_path):
    done = shell(f"perfkit arch list -f json -o {tmp_path}/a.json >&- <&-")
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "a.json").read_text("utf-8").startswith("{")


@POSIX
@pytest.mark.parametrize("line", ["perfkit arch list", "perfkit arch sho", "perfkit gpu show x"])
def test_a_closed_stderr_takes_nothing_but_the_talk(line):
    silent, full = shell(f"{line} 2>&-"), shell(line)
    assert (silent.returncode, silent.stdout) == (full.returncode, full.stdout)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no disk that is always full")
@pytest.mark.parametrize(
    ("line", "code"), [("perfkit gpu show x", 2), ("perfkit fits -g h100 --regs 300", 2)]
)
def test_a_stderr_that_takes_nothing_does_not_change_the_exit_code(line, code):
    """1 would be an answer."""
    for streams in ("2>/dev/full", ">/dev/full 2>&1"):
        assert shell(f"{line} {streams}").returncode == code


#: says when it begins: how long Python takes to start is not perfkit's, and differs
_PROGRAM = (
    "import sys; from perfkit.__main__ import main; print('up', flush=True); sys.exit(main())"
)


def interrupted(arguments, after_s, environment=None):
    """Exit code, stderr and how long the end took, of a run that gets SIGINT ``after_s`` on."""
    process = subprocess.Popen(
        [sys.executable, "-c", _PROGRAM, *arguments],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | (environment or {}),
    )
    assert process.stdout.readline() == "up\n"
    time.sleep(after_s)
    process.send_signal(signal.SIGINT)
    start = time.monotonic()
    _, said = process.communicate(timeout=60)
    return process.returncode, said, time.monotonic() - start


@POSIX
@pytest.mark.parametrize("after_s", [0.01, 0.03, 0.06, 0.1, 0.2])
def test_an_interrupt_while_the_program_loads_or_computes(after_s):
    # a sweep without an end in sight: whenever the signal comes, it finds the program at work
    line = ["sweep", "-g", "all", "-t", "1:1024", "-r", "0:255", "-s", "0:96K:64", "-f", "csv"]
    code, said, _ = interrupted([*line, "-o", os.devnull], after_s)
    assert (code, said) == (130, "perfkit: interrupted\n")


@POSIX
def test_an_interrupt_does_not_wait_for_the_compiler(tmp_path):
    pytest.importorskip("cuda.bindings.nvrtc", exc_type=ImportError)
    # what NVRTC takes seconds for
    lines = "".join(f"  x = x * {i}.5f + y[i % {i + 3}] / (x + {i});\n" for i in range(4000))
    source = tmp_path / "slow.cu"
    source.write_text(
        f"__global__ void slow(float *y, int i) {{ float x = 1;\n{lines} y[i] = x; }}"
    )
    line = ["inspect", str(source), "-g", "h100"]
    environment = {"PERFKIT_CACHE": "off", "TMPDIR": str(tmp_path)}
    code, said, took_s = interrupted(line, 1.0, environment)
    assert (code, said) == (130, "perfkit: interrupted\n")
    assert took_s < 1
    assert [file.name for file in tmp_path.iterdir()] == ["slow.cu"]


@POSIX
def test_an_ignored_interrupt_stays_ignored():
    # what nohup and scripts with jobs in the background do
    done = shell("trap '' INT; perfkit arch list & kill -INT $!; wait $!")
    assert done.returncode == 0
    assert "9.0" in done.stdout


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("arch foo", "No such command 'foo'"),
        ("occupancy --foo", "No such option: --foo"),
        ("occupancy -r many", "--regs: 'many' is not a whole number"),
        ("validate --seed x", "--seed: 'x' is not a whole number"),
        ("overlap --kernel-ms x", "--kernel-ms: 'x' is not a number"),
        ("inspect", "Missing argument 'path'"),
        (
            "sweep --occupancy-rule luck",
            "--occupancy-rule: 'luck' is not one of 'driver', 'hardware'",
        ),
    ],
)
def test_what_the_parser_refuses_reads_like_every_other_error(refused, line, says):
    first, second = refused(line).splitlines()
    assert first.startswith(f"perfkit: error: {says}")
    assert second == f"hint: 'perfkit {line.split()[0]} -h' shows what it takes"


def test_a_format_may_come_from_the_environment_in_any_case(monkeypatch, perfkit, refused):
    monkeypatch.setenv("PERFKIT_FORMAT", "JSON")
    assert perfkit("arch list").out.startswith("{")
    assert perfkit("sweep -g h100 -t 64").out.startswith("{")
    monkeypatch.setenv("PERFKIT_FORMAT", "parquet")
    assert "perfkit: error: PERFKIT_FORMAT: 'parquet' is not one of 'table'" in refused("arch list")
    assert perfkit("arch list -f table").code == 0
