"""Reading the tables of ``tests/data``."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path
from typing import Final

DATA: Final = Path(__file__).resolve().parents[1] / "data"


def rows(name: str) -> list[dict[str, str]]:
    """The rows of ``tests/data/<name>``, gzipped or not; an empty table is an error."""
    path = DATA / name
    content = path.read_bytes()
    text = (gzip.decompress(content) if name.endswith(".gz") else content).decode()
    found = list(csv.DictReader(text.splitlines()))
    assert found, f"{path} has no rows"
    return found
