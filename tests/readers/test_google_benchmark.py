"""Google Benchmark: a real file of 1.9.5, files of old versions, failures."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from perfkit.errors import InputError
from perfkit.readers.recognise import read_results
from perfkit.readers.results import Unit

DATA = Path(__file__).resolve().parents[1] / "data" / "results"


def written(folder, *entries, **context):
    path = folder / "g.json"
    path.write_text(json.dumps({"context": context, "benchmarks": entries}), "utf-8")
    return path


def entry(name="BM_x", time=2.0, **more):
    return {"name": name, "real_time": time, "cpu_time": 1.0, "time_unit": "ms"} | more


def test_a_real_file():
    found = read_results(DATA / "google_benchmark.json")
    assert found.kind == "google-benchmark"
    assert found.environment == {
        "host": "ci",
        "date": "2026-11-30T16:11:13+00:00",
        "command": "bench.py",
    }
    runs = {run.benchmark: run for run in found.runs}
    assert len(runs) == len(found.runs) == 4
    manual = runs["manual/1024/manual_time"]
    # the three iterations; the rows of aggregates are none
    assert manual.values == pytest.approx(
        (33.729142515887567e-6, 19.292970721036848e-6, 26.496889133610349e-6)
    )
    assert runs["fails"].failure == 'no such GPU, 100 % "sure"'
    assert runs["skipped"].failure == "no skip"


def test_counters_are_further_metrics():
    found = read_results(DATA / "google_benchmark.json", metric="bytes|.*_per_second|cpu_time")
    runs = {run.metric: run for run in found.runs if run.benchmark.startswith("manual")}
    assert runs["bytes"].values == (5.0, 5.0, 5.0)
    assert runs["bytes_per_second"].values[0] == pytest.approx(1.2143801159696384e8)
    assert runs["bytes_per_second"].unit is Unit.BYTES_PER_SECOND
    assert runs["bytes_per_second"].better_when_higher
    assert runs["items_per_second"].unit is Unit.PER_SECOND
    assert runs["cpu_time"].values[0] == pytest.approx(11.770492478226448e-6)
    # failures stay, whatever is asked for
    assert {run.benchmark for run in found.runs if run.failure} == {"fails", "skipped"}


def test_aggregates_only():
    found = read_results(DATA / "google_benchmark_aggregates.json")
    runs = {run.benchmark: run for run in found.runs}
    manual = runs["manual/1024/manual_time"]
    assert manual.values == pytest.approx((11.500140459642333e-6,))  # the median
    assert manual.spread == pytest.approx(0.042661751708831762)  # the row called cv
    assert manual.samples == 3


def test_before_version_1_5_names_tell_aggregates(tmp_path):
    rows = [entry(), entry(time=4.0), entry("BM_x_mean", 3.0), entry("BM_x_stddev", 1.4)]
    (run,) = read_results(written(tmp_path, *rows)).runs
    assert (run.benchmark, run.values) == ("BM_x", (0.002, 0.004))


@pytest.mark.parametrize("more", [{}, {"run_type": "aggregate", "run_name": "BM_x"}])
def test_a_complexity_is_no_benchmark(tmp_path, more):
    rows = [
        entry("BM_x/8"),
        {"name": "BM_x_BigO", "real_coefficient": 1.5, "big_o": "N", "time_unit": "ns"} | more,
        {"name": "BM_x_RMS", "rms": 0.05} | more,
    ]
    (run,) = read_results(written(tmp_path, *rows)).runs
    assert run.benchmark == "BM_x/8"


def test_a_name_that_ends_like_an_aggregate(tmp_path):
    (run,) = read_results(written(tmp_path, entry("BM_mean"))).runs
    assert run.benchmark == "BM_mean"


def test_one_name_for_two_benchmarks_is_said(tmp_path):
    rows = [entry(run_type="iteration", repetition_index=0) for _ in range(2)]
    found = read_results(written(tmp_path, *rows))
    assert any("more often than it was repeated" in note for note in found.notes)


def test_a_skipped_benchmark_of_newer_versions(tmp_path):
    row = entry(time=0.0, run_type="iteration", skipped=True, skip_message="needs 9.0")
    (run,) = read_results(written(tmp_path, row)).runs
    assert (run.values, run.failure) == ((), "needs 9.0")


def test_one_failed_repetition_fails_the_run(tmp_path):
    rows = [entry(run_type="iteration"), entry(time=0.0, error_occurred=True, error_message="oom")]
    (run,) = read_results(written(tmp_path, *rows)).runs
    assert (run.values, run.failure) == ((), "oom")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (entry(time_unit="parsec"), r"benchmarks\[0\].time_unit: 'parsec' is no unit of time"),
        (entry(time_unit=5), r"5 is no unit of time"),
        (entry(time="fast"), r"benchmarks\[0\].real_time: 'fast' is not a number"),
        (entry(time=None), r"benchmarks\[0\].real_time: should be a number, is null"),
        (entry(time=True), r"should be a number, is true or false"),
        (entry(name=7), r"benchmarks\[0\].name: should be text, is a number"),
        (entry(bytes_per_second="x"), r"benchmarks\[0\].bytes_per_second: 'x' is not a number"),
    ],
)
def test_wrong_values_are_named(tmp_path, row, message):
    with pytest.raises(InputError, match=message):
        read_results(written(tmp_path, row))


def test_no_benchmark_is_no_result(tmp_path):
    with pytest.raises(InputError, match="holds no result"):
        read_results(written(tmp_path))
