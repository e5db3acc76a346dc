"""hyperfine: every time is a process, and processes fail."""

from __future__ import annotations

import json
from pathlib import Path

from perfkit.readers.recognise import read_results
from perfkit.readers.results import Unit

DATA = Path(__file__).resolve().parents[1] / "data" / "results"


def test_processes_are_runs():
    found = read_results(DATA / "hyperfine.json")
    assert found.kind == "hyperfine"
    first, second = found.runs[:3], found.runs[3:]
    assert [(run.benchmark, run.run, run.values) for run in first] == [
        ("./bench --size 256", "1", (0.19,)),
        ("./bench --size 256", "2", (0.2,)),
        ("./bench --size 256", "3", (0.21,)),
    ]
    # a label does not show its parameter
    assert {run.benchmark for run in second} == {"new [size=512]"}
    assert [(run.values, run.failure) for run in second] == [
        ((0.2,), None),
        ((), "exit code 3"),
        ((), "ended by a signal"),
    ]


def test_memory_is_a_metric():
    found = read_results(DATA / "hyperfine.json", metric="memory")
    kept = [run for run in found.runs if not run.failure]
    assert [(run.run, run.values, run.unit) for run in kept] == [
        ("1", (1048576.0,), Unit.BYTES),
        ("2", (1048576.0,), Unit.BYTES),
        ("3", (2097152.0,), Unit.BYTES),
    ]
    # processes that failed stay in the answer
    assert {run.run for run in found.runs if run.failure} == {"2", "3"}


def test_a_summary_alone(tmp_path):
    path = tmp_path / "h.json"
    rows = [{"command": "x", "mean": 2.0, "stddev": 0.5, "median": 1.5}, {"command": "y"}]
    path.write_text(json.dumps({"results": rows}), "utf-8")
    x, y = read_results(path).runs
    assert (x.values, x.spread, x.run) == ((1.5,), 0.25, None)
    assert y.failure == "no value"
