"""Where output goes, and what happens to a file that was there."""

from __future__ import annotations

import json
import os
import stat

import pytest

ASK = ["occupancy", "-g", "h100", "-t", "256", "-r", "40"]
FORMATS = ["table", "json", "csv", "markdown"]


@pytest.mark.parametrize("form", FORMATS)
def test_a_file_holds_what_stdout_would(perfkit, tmp_path, form):
    shown = perfkit([*ASK, "-f", form])
    path = tmp_path / "out"
    assert perfkit([*ASK, "-f", form, "-o", str(path)]) == (0, "", "")
    assert path.read_text("utf-8") == shown.out
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_is_replaced_and_a_link_stays_a_link(perfkit, tmp_path):
    path, link = tmp_path / "out", tmp_path / "link"
    path.write_text("old " * 10_000)
    link.symlink_to(path)
    assert perfkit([*ASK, "-f", "json", "-o", str(link)]).code == 0
    assert link.is_symlink()
    assert json.loads(path.read_text("utf-8"))["schema"] == "perfkit.occupancy/1"


@pytest.mark.parametrize("name", ["", ".", "nowhere/out", "folder", "file/out", "loop"])
def test_what_cannot_be_written_names_the_option(refused, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("kept")
    (tmp_path / "loop").symlink_to("loop")
    assert refused([*ASK, "-o", name]).startswith(f"perfkit: error: --output {name or '.'}: ")
    assert (tmp_path / "file").read_text() == "kept"
    assert {path.name for path in tmp_path.iterdir()} == {"folder", "file", "loop"}


def test_a_place_that_cannot_be_written_is_told_before_the_work(refused, tmp_path, monkeypatch):
    monkeypatch.setattr("perfkit.cli.emit.emit", lambda *_, **__: pytest.fail("it went to work"))
    monkeypatch.setattr("perfkit.cli.occupancy.emit", lambda *_, **__: pytest.fail("it did"))
    assert "--output" in refused([*ASK, "-o", str(tmp_path / "nowhere" / "out")])


def test_a_name_that_is_too_long(refused, tmp_path):
    assert "too long" in refused([*ASK, "-o", str(tmp_path / ("x" * 300))])


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anything")
def test_a_read_only_file_is_left_alone(refused, tmp_path):
    path = tmp_path / "out"
    path.write_text("kept")
    path.chmod(0o444)
    assert "Permission denied" in refused([*ASK, "-o", str(path)])
    assert path.read_text() == "kept"


@pytest.mark.parametrize("form", [*FORMATS, "sweep"])
def test_a_device_is_written_to_and_not_replaced(perfkit, tmp_path, form):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        ask = (
            ["sweep", "-g", "h100", "-t", "32", "-f", "csv"]
            if form == "sweep"
            else [*ASK, "-f", form]
        )
        assert perfkit([*ask, "-o", str(pipe)]).code == 0
        assert os.read(reader, 100)
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_failure_on_the_way_leaves_the_old_file(refused, tmp_path, monkeypatch):
    path = tmp_path / "out"
    path.write_text("kept")

    def fail(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.write_text", fail)
    assert "No space left" in refused([*ASK, "-o", str(path)])
    assert [entry.name for entry in tmp_path.iterdir()] == ["out"]
    assert path.read_bytes() == b"kept"


def test_the_environment_gives_defaults_and_the_command_line_wins(perfkit, monkeypatch):
    monkeypatch.setenv("PERFKIT_GPU", "a100")
    monkeypatch.setenv("PERFKIT_FORMAT", "json")
    ask = ["occupancy", "-t", "256", "-r", "40"]
    assert json.loads(perfkit(ask).out)["results"][0]["target"] == "a100-sxm4-80gb"
    assert perfkit([*ask, "-f", "csv", "-g", "h100"]).out.splitlines()[1].startswith(",h100-sxm5,")
    assert json.loads(perfkit("sweep -t 32").out)["schema"] == "perfkit.sweep/1"


def test_a_bad_format_in_the_environment_is_named(refused, monkeypatch):
    monkeypatch.setenv("PERFKIT_FORMAT", "xml")
    err = refused(ASK)
    assert "PERFKIT_FORMAT" in err
    assert "'xml'" in err


def test_an_empty_variable_is_no_variable(perfkit, monkeypatch):
    monkeypatch.setenv("PERFKIT_FORMAT", "")
    monkeypatch.setenv("PERFKIT_GPU", "")
    assert perfkit(ASK).code == 0
    assert "no GPU given" in perfkit("occupancy -t 256 -r 40").err


def test_a_terminal_gets_colours_and_a_pipe_does_not(perfkit, monkeypatch):
    assert "\x1b" not in perfkit(ASK).out
    monkeypatch.setattr("perfkit.cli.emit.is_colour_terminal", lambda: True)
    monkeypatch.setenv("TERM", "xterm-256color")
    assert "\x1b[" in perfkit(ASK).out
