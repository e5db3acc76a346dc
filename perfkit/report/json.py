"""Results -> JSON. Views give plain mappings; this adds the schema name and refuses NaN."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def render(topic: str, content: Mapping[str, Any]) -> str:
    """JSON text with ``"schema": "perfkit.<topic>/1"`` first, in ASCII: any terminal takes it.

    Raises:
        ValueError: NaN or infinity, which JSON does not have.
    """
    document = {"schema": f"perfkit.{topic}/1", **content}
    return json.dumps(document, indent=2, allow_nan=False) + "\n"
