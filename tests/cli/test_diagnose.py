"""``perfkit diagnose``: symptoms in a profile."""

from __future__ import annotations

import csv
import json
from io import StringIO
from pathlib import Path

import pytest

from tests.report.schemas import undescribed, validate

DATA = Path(__file__).resolve().parents[1] / "data" / "ncu"
DETAILS = str(DATA / "details.csv")
COMMA = str(DATA / "decimal_comma.csv")


def launches(done):
    assert done.code == 0, done.err
    content = json.loads(done.out)
    validate("diagnose", content)
    assert undescribed("diagnose", content) == []
    return content["launches"]


def test_a_profile(perfkit):
    (found,) = launches(perfkit(["diagnose", DETAILS, "-f", "json"]))
    assert [f["symptom"] for f in found["findings"]] == ["latency_bound", "tail", "low_occupancy"]
    assert found["findings"][2]["cause"] == "few blocks fit on an SM (registers, shared memory)"
    assert found["findings"][1]["value"] == 0.5  # one whole wave and a part
    assert {row["symptom"] for row in found["unchecked"]} >= {"divergence", "uncoalesced_loads"}


def test_what_could_not_be_looked_at_is_said(perfkit):
    done = perfkit(["diagnose", COMMA])
    assert "no rule fires" in done.out
    assert "3 of 63 rules had the figures they need" in done.out
    assert "numbers are read with a decimal comma" in done.out


@pytest.mark.parametrize("form", ["table", "markdown", "csv", "json"])
def test_every_format(perfkit, form):
    done = perfkit(["diagnose", DETAILS, "-f", form])
    assert done.code == 0
    assert "occupancy" in done.out


def test_csv(perfkit):
    rows = list(csv.DictReader(StringIO(perfkit(["diagnose", DETAILS, "-f", "csv"]).out)))
    assert [row["symptom"] for row in rows] == ["latency_bound", "tail", "low_occupancy"]


def test_kernels_are_chosen_by_name(perfkit, refused):
    assert len(launches(perfkit(["diagnose", COMMA, "--kernel", "sgemm", "-f", "json"]))) == 2
    assert "matches none of" in refused(["diagnose", COMMA, "--kernel", "conv"])
    assert "not a regular expression" in refused(["diagnose", COMMA, "--kernel", "("])


def test_the_decimal_mark_can_be_given(perfkit):
    (found,) = launches(perfkit(["diagnose", DETAILS, "--decimal", "point", "-f", "json"]))
    assert found["metrics"]["waves"] == 1.89


def test_what_is_no_profile(refused, tmp_path):
    assert "no CSV export of Nsight Compute" in refused("diagnose README.md")
    assert "No such file" in refused(["diagnose", str(tmp_path / "nothing.csv")])
    assert "Missing argument" in refused("diagnose")
