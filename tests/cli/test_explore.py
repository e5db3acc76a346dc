"""``perfkit explore`` up to the screen and after it; tests/explore has what lies between."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest

from perfkit.cli import explore
from perfkit.cli.explore_desk import Desk, start
from perfkit.cli.kernel_options import KernelOptions
from perfkit.cli.launch_options import LaunchOptions
from perfkit.errors import UsageError


def test_without_textual_it_says_what_to_install(refused, monkeypatch):
    monkeypatch.setitem(sys.modules, "textual", None)
    said = refused("explore -g h100", code=4)
    assert "needs textual" in said
    assert "pip install 'perfkit[explore]'" in said


def test_without_a_terminal_it_names_the_command_that_needs_none(refused):
    assert "perfkit occupancy" in refused("explore -g h100", code=4)


@pytest.fixture
def terminal(monkeypatch):
    monkeypatch.setattr(explore, "_require_terminal", lambda: None)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("explore -g rtx-4900", "unknown GPU"),
        ("explore -g h100,a100", "the explorer shows one"),
        ("explore nothing.cubin -g h100", "nothing.cubin"),
        ("explore -", "stdin is where you type"),
        ("explore -g h100 --kernel x", "no file is given"),
        ("explore tests/data/cubin/j07.sm_80.cubin --smem 1K", "--smem-dynamic"),
    ],
)
def test_a_bad_start_is_refused_as_by_the_other_commands(terminal, refused, arguments, said):
    assert said in refused(arguments)


def test_the_options_say_where_it_starts():
    desk = Desk(KernelOptions(define=["N=4"], std="c++17", fast_math=True))
    launch = LaunchOptions(threads="32,8", regs=40, smem="16K", carveout="50%", grid="512")
    with pytest.raises(UsageError, match="no file is given"):
        start(desk, None, "h100", launch)
    found = start(Desk(KernelOptions()), None, "h100", launch)
    assert (found.gpu, found.threads, found.regs, found.smem_dynamic) == (
        "h100", "32,8", "40", "16K",
    )  # fmt: skip
    assert desk.compiling == ("-D", "N=4", "--std", "c++17", "--fast-math")


def test_what_leaves_gives_the_last_state_again(terminal, perfkit, monkeypatch, tmp_path):
    from perfkit.explore.ui.app import Explorer

    monkeypatch.setattr(Explorer, "run", lambda app: app.main.state)
    line = "explore -g h100 -t 128 -r 40 --op gemm:64 --dtype f16"
    done = perfkit(line)
    assert done.code == 0
    assert done.out == (
        "perfkit occupancy -g h100 --threads 128 --regs 40\n"
        "perfkit roofline -g h100 --dtype f16 --op gemm:64\n"
    )
    assert perfkit([*line.split(), "-o", str(tmp_path / "last")]).out == ""
    assert (tmp_path / "last").read_text() == done.out


@pytest.mark.skipif(os.name != "posix", reason="pseudo-terminals are POSIX")
def test_in_a_terminal_it_starts_moves_and_leaves():
    import pty
    import select

    terminal, inner = pty.openpty()
    child = subprocess.Popen(
        [sys.executable, "-m", "perfkit", "explore", "-g", "h100"],
        stdin=inner,
        stdout=inner,
        stderr=inner,
        env=os.environ | {"TERM": "xterm-256color", "COLUMNS": "80", "LINES": "24"},
    )
    os.close(inner)
    seen, deadline, keys = b"", time.monotonic() + 60, [b"\x1b[A", b"\x11"]
    while time.monotonic() < deadline:
        ready, _, _ = select.select([terminal], [], [], 0.5)
        try:
            read = os.read(terminal, 65536) if ready else b""
        except OSError:  # what Linux says when the other side is gone
            break
        seen += read
        if not ready and keys and b"registers" in seen:
            os.write(terminal, keys.pop(0))
    os.close(terminal)
    assert child.wait(timeout=30) == 0, seen[-500:]
    assert seen.endswith(b"perfkit occupancy -g h100 --threads 288 --regs 32\r\n")
