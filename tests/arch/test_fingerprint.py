"""The database's version: any change of a fact changes it, nothing else does."""

from __future__ import annotations

import re
import shutil

from perfkit.arch import load
from perfkit.arch.fingerprint import fingerprint


def test_it_follows_the_content(tmp_path, monkeypatch):
    first = fingerprint()
    assert re.fullmatch(r"[0-9a-f]{12}", first)
    copy = tmp_path / "copy"
    shutil.copytree(load.shipped(), copy)
    monkeypatch.setattr(load, "shipped", lambda: copy)
    assert fingerprint() == first
    file = copy / load.SOURCES
    file.write_bytes(file.read_bytes() + b"\n")
    assert fingerprint() != first


def test_the_users_own_directory_counts(tmp_path, monkeypatch):
    first = fingerprint()
    folder = tmp_path / load.GPUS
    folder.mkdir()
    (folder / "mine.yaml").write_text("name: mine\n")
    monkeypatch.setenv(load.ENVIRONMENT, str(tmp_path))
    assert fingerprint() != first
