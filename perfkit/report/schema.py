"""The JSON Schemas of perfkit's JSON output, one file per topic in ``schemas/``.

They are part of the interface: keys are added, never renamed, removed or given another meaning. So
no schema forbids keys that it does not list.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

_FOLDER: Final = Path(__file__).with_name("schemas")


def topics() -> tuple[str, ...]:
    """The names in ``"schema": "perfkit.<topic>/1"``, sorted."""
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.json")))


def text(topic: str) -> str:
    """The schema of one of the topics, as JSON text."""
    return (_FOLDER / f"{topic}.json").read_text("utf-8")


def title(topic: str) -> str:
    """What the output of that topic holds."""
    found: str = json.loads(text(topic))["title"]
    return found
