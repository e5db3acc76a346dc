"""pytest-benchmark: a real file with samples, and the summary that it saves."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from perfkit.errors import InputError
from perfkit.readers.recognise import read_results

DATA = Path(__file__).resolve().parents[1] / "data" / "results"


def test_a_real_file():
    found = read_results(DATA / "pytest_benchmark.json")
    assert found.kind == "pytest-benchmark"
    assert found.environment["host"] == "ci"
    assert found.environment["commit"] == "unversioned"
    # the test that failed and the one that was skipped are not in the file
    assert [run.benchmark for run in found.runs] == [
        "test_kernels.py::test_sum[256]",
        "test_kernels.py::test_sum[tile<64, 64>/f16]",
    ]
    assert found.runs[0].values == (
        0.00023126680025598034,
        0.00023479359988414216,
        0.00022397060020011849,
        0.00027034259983338416,
    )
    assert found.runs[0].spread is None  # the samples say it


def test_a_summary():
    path = DATA / "pytest_benchmark_saved.json"
    stats = json.loads(path.read_text("utf-8"))["benchmarks"][0]["stats"]
    first = read_results(path).runs[0]
    assert first.values == (stats["median"],)
    assert first.spread == pytest.approx(stats["stddev"] / stats["mean"])
    assert first.samples == stats["rounds"] == 4


def written(folder, stats):
    path = folder / "p.json"
    document = {"machine_info": {}, "benchmarks": [{"fullname": "t", "stats": stats}]}
    path.write_text(json.dumps(document), "utf-8")
    return path


@pytest.mark.parametrize(
    ("stats", "reason"),
    [
        ({}, "no value"),
        ({"median": 0}, "time is 0 s"),
        ({"data": [1.0, float("nan")]}, "nan s, sample 2 of 2"),
        ({"data": [1.0, -1.0]}, "-1 s, sample 2 of 2"),
    ],
)
def test_impossible_times_are_failures(tmp_path, stats, reason):
    (run,) = read_results(written(tmp_path, stats)).runs
    assert run.values == ()
    assert reason in run.failure


@pytest.mark.parametrize(
    ("stats", "message"),
    [
        ([], r"benchmarks\[0\].stats: should be an object, is a list"),
        ({"data": [1.0, "x"]}, r"stats.data\[1\]: 'x' is not a number"),
        ({"median": 1.0, "mean": "x"}, r"stats.mean: 'x' is not a number"),
    ],
)
def test_wrong_values_are_named(tmp_path, stats, message):
    with pytest.raises(InputError, match=message):
        read_results(written(tmp_path, stats))
