"""Copies of the small database in ``tests/data/archdb`` with one thing wrong."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Final

SAMPLE: Final = Path(__file__).resolve().parents[1] / "data" / "archdb"
CAPABILITY: Final = "compute_capability/sm_90.yaml"
GPU: Final = "gpu/toy-100.yaml"


def copy(folder: Path) -> Path:
    """A fresh copy of the whole small database."""
    target = folder / "archdb"
    shutil.copytree(SAMPLE, target)
    return target


def change(directory: Path, name: str, old: str, new: str) -> tuple[Path, int]:
    """Replace ``old``, which must be there once; return the file and the line where it stood."""
    path = directory / name
    text = path.read_text("utf-8")
    assert text.count(old) == 1, f"{old!r} is {text.count(old)} times in {name}"
    path.write_text(text.replace(old, new), "utf-8")
    return path, text[: text.index(old)].count("\n") + 1
