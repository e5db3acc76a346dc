"""Whatever a name leads to, reading it ends, and says why where it cannot succeed."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from perfkit.cli.app import main
from perfkit.errors import InputError
from perfkit.files import read, shown

pipes = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
KIND = "a file of notes"


def refusal(path, most=1000):
    with pytest.raises(InputError) as found:
        read(path, most, KIND)
    return found.value


def test_a_file_up_to_its_limit(tmp_path):
    path = tmp_path / "notes"
    for size in (0, 1, 999, 1000):
        path.write_bytes(b"x" * size)
        assert read(path, 1000, KIND) == read(str(path), 1000, KIND) == b"x" * size
    path.write_bytes(b"x" * 1025)
    error = refusal(path, 1024)
    assert str(error) == f"{path}: larger than 1 KiB: not {KIND}"


def test_a_file_larger_than_memory_is_not_read(tmp_path):
    path = tmp_path / "sparse"
    with path.open("wb") as file:
        file.truncate(2**42)
    assert "larger than" in refusal(path, 2**41).message


@pytest.mark.parametrize(
    ("name", "says"),
    [("none", "No such file"), (".", "Is a directory"), ("a\0b", "null byte")],
)
def test_what_cannot_be_read(tmp_path, name, says):
    error = refusal(f"{tmp_path}/{name}")
    assert error.message.startswith("cannot be read: ")
    assert says in error.message


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/urandom"])
def test_devices_without_an_end(device):
    if not Path(device).exists():
        pytest.skip(f"this system has no {device}")
    assert refusal(device).message == "is a device, not a file or a pipe"


def test_the_null_device_is_empty():
    assert read(os.devnull, 10, KIND) == b""


@pipes
def test_a_pipe_that_nobody_writes_into(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    assert refusal(path).message == "is a pipe that nobody writes into"


@pipes
@pytest.mark.parametrize(("size", "most"), [(10, 1000), (200_000, 200_000), (200_001, 200_000)])
def test_a_pipe_with_a_writer(tmp_path, size, most):
    path = tmp_path / "pipe"
    os.mkfifo(path)

    def write():
        try:
            path.write_bytes(b"x" * size)
        except BrokenPipeError:  # the reader has seen enough
            assert size > most

    writer = threading.Thread(target=write)
    writer.start()
    held = os.open(path, os.O_RDWR)  # so that the pipe has a writer whichever comes first
    reader = threading.Timer(0.2, os.close, [held])
    reader.start()
    try:
        if size > most:
            assert "larger than" in refusal(path, most).message
        else:
            assert read(path, most, KIND) == b"x" * size
    finally:
        reader.join()
        writer.join()


def test_names_that_no_encoding_knows():
    assert shown(os.fsdecode(b"caf\xe9")) == "caf?"


#: every command that reads a file of results or of data, up to the name of the file
READERS = (
    "roofline -g h200 --dtype f16 --flops 1G --ceilings",
    "gemm -g h200 --dtype f16 --shape 4096 --ceilings",
    "access coalescing --addresses",
    "access banks --addresses",
    "diagnose",
    "arch check",
)


def put(path, kind):
    """Something at ``path`` that has no end, or is no file."""
    if kind == "pipe":
        if not hasattr(os, "mkfifo"):
            pytest.skip("this system has no named pipes")
        os.mkfifo(path)
    elif kind == "huge":
        with path.open("wb") as file:
            file.truncate(10 * 2**30)
    elif kind == "directory":
        path.mkdir()
    elif kind == "device":
        if not Path("/dev/zero").exists():
            pytest.skip("this system has no /dev/zero")
        path.symlink_to("/dev/zero")


@pytest.mark.parametrize("command", READERS)
@pytest.mark.parametrize("kind", ["pipe", "device", "huge", "directory", "missing"])
def test_commands_end_and_say_why(tmp_path, capsys, command, kind):
    if kind == "directory" and command == "arch check":
        pytest.skip("a database is a directory")
    path = tmp_path / "input"
    put(path, kind)
    code = main([*command.split(), str(path)])
    out, err = capsys.readouterr()
    assert code == 2, err
    assert out == ""
    assert str(path) in err
    assert "Traceback" not in err


@pytest.mark.parametrize("kind", ["pipe", "device", "huge"])
def test_the_database_of_a_user(tmp_path, monkeypatch, capsys, kind):
    path = tmp_path / "gpu" / "toy.yaml"
    path.parent.mkdir()
    put(path, kind)
    monkeypatch.setenv("PERFKIT_ARCHDB", str(tmp_path))
    assert main(["gpu", "show", "toy"]) == 2
    assert str(path) in capsys.readouterr().err
