"""``perfkit report``: good and bad files together, and where the page goes."""

from __future__ import annotations

import json
import sys

import pytest


@pytest.fixture
def files(perfkit, tmp_path):
    commands = {
        "occupancy": "occupancy -g h100 -t 256 -r 40 -s 16K",
        "fits": "fits -g h100,t4 -t 256 -r 40 -s 100K",
        "doctor": "doctor",
        "gpu": "gpu show h100",
    }
    for name, command in commands.items():
        done = perfkit(f"{command} -f json -o {tmp_path}/{name}.json")
        assert (done.out, done.err) == ("", "")
    return sorted(str(path) for path in tmp_path.glob("*.json"))


def test_a_page_of_what_commands_wrote(perfkit, files, tmp_path):
    path = tmp_path / "report.html"
    assert perfkit(["report", *files, "--title", "Mine & yours", "-o", str(path)]) == (0, "", "")
    text = path.read_text("utf-8")
    assert "<title>Mine &amp; yours</title>" in text
    for part in ("<svg", "perfkit occupancy -g h100 -t 256 -r 40 -s 16K -f json", "launches: "):
        assert part in text
    assert perfkit(["report", *files, "--title", "Mine & yours"]).out == text


def test_the_same_file_twice_counts_once(perfkit, files):
    once, twice = (perfkit(["report", *files[:1] * count]).out for count in (1, 2))
    assert once == twice


def test_bad_files_leave_the_others_their_page(perfkit, files, tmp_path):
    new, odd = tmp_path / "new.json", tmp_path / "odd.json"
    new.write_text(json.dumps({"schema": "perfkit.occupancy/9", "results": []}))
    odd.write_text("{")
    done = perfkit(["report", *files, str(new), str(odd), str(tmp_path / "gone.json")])
    assert done.code == 2
    assert "Left out, as they could not be read" in done.out
    for name in ("new.json: holds version 9", "odd.json: is no JSON", "gone.json: cannot be read"):
        assert name in done.err
        assert name in done.out
    assert "Traceback" not in done.err


def test_only_bad_files_are_one_error(refused, tmp_path):
    path = tmp_path / "x.json"
    path.write_text("[]")
    assert "names no schema" in refused(["report", str(path)])
    assert "--format json" in refused(["report", str(path)])


def test_without_files_there_is_nothing_to_report(refused):
    assert "RESULT.json" in refused("report")


def test_without_matplotlib_the_page_has_tables_alone(perfkit, files, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    done = perfkit(["report", *files])
    assert done.code == 0
    assert "pip install 'perfkit[plot]'" in done.err
    assert "<svg" not in done.out
