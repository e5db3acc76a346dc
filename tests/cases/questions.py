"""Questions that people asked in public, with the verified answers: tests/data/cases."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

FOLDER = Path(__file__).resolve().parents[1] / "data" / "cases"


def cases(topic):
    return yaml.safe_load((FOLDER / f"{topic}.yaml").read_text("utf-8"))["cases"]


def steps(found):
    """What is asked and what is right, as parameters of a test; one case may ask several times."""
    for case in found:
        checks = case.get("checks", [{key: case.get(key) for key in ("input", "expected")}])
        for number, step in enumerate(checks):
            yield pytest.param(step["input"], step["expected"], id=f"{case['id']}-{number}")
