"""JSON: the schema first, no NaN, ASCII only."""

from __future__ import annotations

import json
import math

import pytest

from perfkit.report import json as report_json


def test_the_schema_comes_first():
    assert report_json.render("topic", {"a": 1}) == (
        '{\n  "schema": "perfkit.topic/1",\n  "a": 1\n}\n'
    )


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_json_does_not_have_is_refused(value):
    with pytest.raises(ValueError, match="not JSON compliant"):
        report_json.render("topic", {"a": [value]})


def test_any_terminal_takes_it():
    out = report_json.render("topic", {"name": "größer … \udcff"})
    assert out.isascii()
    assert json.loads(out)["name"] == "größer … \udcff"
