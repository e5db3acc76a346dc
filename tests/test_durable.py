"""Files that no crash may break, and their locks."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from perfkit import durable
from perfkit.errors import UsageError


def names(folder):
    return sorted(path.name for path in folder.iterdir())


posix = pytest.mark.skipif(os.name != "posix", reason="permissions and limits of POSIX")


def test_a_file_is_made_and_replaced(tmp_path):
    path = tmp_path / "a.json"
    durable.replace(path, b"one")
    durable.replace(path, b"two")
    assert path.read_bytes() == b"two"
    assert names(tmp_path) == ["a.json"]


@posix
def test_permissions_and_links_stay(tmp_path):
    path, link = tmp_path / "a.json", tmp_path / "link.json"
    path.write_bytes(b"one")
    path.chmod(0o640)
    link.symlink_to(path.name)
    durable.replace(link, b"two")
    assert link.is_symlink()
    assert path.read_bytes() == b"two"
    assert path.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("name", ["", "missing/a.json", "a\0.json"])
def test_a_place_that_cannot_be_written_is_named(tmp_path, name):
    with pytest.raises(UsageError, match="cannot be written"):
        durable.replace(tmp_path / name, b"")
    assert names(tmp_path) == []


@posix
def test_a_link_to_itself_and_a_pipe_are_refused(tmp_path):
    loop, pipe = tmp_path / "loop", tmp_path / "pipe"
    loop.symlink_to("loop")
    os.mkfifo(pipe)
    for path in (loop, pipe):
        with pytest.raises(UsageError, match="cannot be written"):
            durable.replace(path, b"")


@posix
@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root writes everywhere")
def test_a_folder_without_permission_is_named(tmp_path):
    folder = tmp_path / "closed"
    folder.mkdir(mode=0o500)
    with pytest.raises(UsageError, match="Permission denied"):
        durable.replace(folder / "a", b"")
    with pytest.raises(UsageError, match="Permission denied"), durable.locked(folder / "a"):
        pass


@posix
def test_a_file_that_would_grow_too_large_leaves_the_old_one(tmp_path):
    """``RLIMIT_FSIZE`` cuts a write short as a full disk does."""
    path = tmp_path / "a.json"
    path.write_bytes(b"old")
    program = (
        "import resource, sys; from perfkit import durable; from perfkit.errors import UsageError\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "try: durable.replace(sys.argv[1], b'x' * 5000)\n"
        "except UsageError as error: print(error.message)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(path)],
        capture_output=True, text=True, check=True, cwd=Path(__file__).resolve().parents[1],
    )  # fmt: skip
    assert "File too large" in done.stdout
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["a.json"]


def test_a_lock_is_held_by_one_and_gone_afterwards(tmp_path):
    path = tmp_path / "a.json"
    with durable.locked(path):
        assert names(tmp_path) == [".a.json.lock"]
        again = durable.locked(path, patience_s=0.02)
        with pytest.raises(UsageError, match="another program has held its lock"), again:
            pass
    assert names(tmp_path) == []
    with durable.locked(path, patience_s=0):
        pass


def test_a_lock_ends_with_its_holder(tmp_path):
    path = tmp_path / "a.json"
    program = (
        "import os, sys; from perfkit import durable\n"
        "with durable.locked(sys.argv[1]): os._exit(9)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(path)],
        check=False, cwd=Path(__file__).resolve().parents[1],
    )  # fmt: skip
    assert done.returncode == 9
    assert names(tmp_path) == [".a.json.lock"]
    with durable.locked(path, patience_s=0):
        pass
    assert names(tmp_path) == []
