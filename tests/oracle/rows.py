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
    opened = gzip.open(path, "rt", encoding="utf-8") if name.endswith(".gz") else path.open()
    with opened as file:
        found = list(csv.DictReader(file))
    assert found, f"{path} has no rows"
    return found
