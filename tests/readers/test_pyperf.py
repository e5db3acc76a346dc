"""pyperf: every run that measured is a process; the files were written by pyperf 2.9."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from perfkit.errors import InputError
from perfkit.readers.recognise import read_results
from perfkit.readers.results import Unit

DATA = Path(__file__).resolve().parents[1] / "data" / "results"


def test_processes_are_runs_and_calibrations_are_none():
    found = read_results(DATA / "pyperf.json")
    assert found.kind == "pyperf"
    # ``pyperf stats`` says: 4 runs with values, 3 values each, 1 calibration; minimum 9.27 us
    runs = [run for run in found.runs if run.benchmark == "sum"]
    assert [(run.run, len(run.values), run.metric) for run in runs] == [
        (number, 3, "time") for number in "1234"
    ]
    assert min(min(run.values) for run in runs) == pytest.approx(9.27e-6, rel=1e-3)
    assert [run.run for run in found.runs if run.benchmark == "list"] == [*"1234"]
    assert found.environment == {"host": "host", "date": "2026-11-30 22:24:37.753127"}


def test_the_only_benchmark_is_named_for_the_file_and_memory_is_bytes():
    runs = read_results(DATA / "pyperf_memory.json").runs
    assert [(run.benchmark, run.metric, run.values, run.unit) for run in runs] == [
        ("mem", "memory", (14925824.0,), Unit.BYTES),
        ("mem", "memory", (14864384.0,), Unit.BYTES),
    ]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"metadata": {"unit": "furlong"}}, r"metadata.unit: unknown unit 'furlong'"),
        ({"runs": [{"values": ["fast"]}]}, r"runs\[0\].values\[0\]: 'fast' is not a number"),
        ({"runs": [3]}, r"runs\[0\]: should be an object"),
    ],
)
def test_what_is_wrong_is_named(tmp_path, change, message):
    path = tmp_path / "p.json"
    benchmark = {"metadata": {"name": "k"}, "runs": [{"values": [1.0]}], **change}
    path.write_text(json.dumps({"benchmarks": [benchmark], "version": "1.0"}), "utf-8")
    with pytest.raises(InputError, match=message):
        read_results(path)


@pytest.mark.parametrize("values", [[], [0.0], [float("nan")], [-1.0]])
def test_no_possible_time_is_a_failure(tmp_path, values):
    path = tmp_path / "p.json"
    benchmark = {"metadata": {"name": "k"}, "runs": [{"values": values}]}
    path.write_text(json.dumps({"benchmarks": [benchmark], "version": "1.0"}), "utf-8")
    (run,) = read_results(path).runs
    assert run.failure
    assert run.values == ()
