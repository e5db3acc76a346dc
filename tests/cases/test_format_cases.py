"""Files of benchmark programs as they are found in public, and what has to be read from them."""

from __future__ import annotations

import statistics
from pathlib import Path

import pytest

from perfkit.errors import InputError
from perfkit.readers.recognise import read_results
from tests.cases.questions import cases

DATA = Path(__file__).resolve().parents[1] / "data"
CASES = {case["id"]: case for case in cases("formats")}
RESULTS = DATA / "results"
NCU = {"d07.csv": "details.csv", "d08.csv": "decimal_comma.csv"}


def checks(case):
    return CASES[case].get("checks") or [CASES[case]]


def test_the_cases_are_there():
    assert set(CASES) == {"d02", "d04", "d07", "d08", "d12"}


def test_d02_noise_is_null_samples_lie_beside_and_a_state_is_skipped():
    good, malformed = checks("d02")
    found = read_results(RESULTS / good["input"]["nvbench"])
    expected = good["expected"]
    assert len(found.runs) == expected["states"]
    assert len([run for run in found.runs if run.failure]) == expected["skipped"]
    for wanted in expected["values"]:
        (run,) = [run for run in found.runs if run.benchmark.endswith(wanted["state"])]
        assert statistics.median(run.values) == pytest.approx(wanted["gpu_time_s"])
        assert run.spread == wanted.get("noise")
        assert run.samples == wanted.get("samples")
    with pytest.raises(InputError) as caught:
        read_results(RESULTS / malformed["input"]["nvbench"])
    assert "summaries[3].data[0].value" in str(caught.value)
    assert "'not-a-number'" in str(caught.value)
    assert caught.value.exit_code == 2


def test_d04_a_history_is_read_at_a_commit():
    case = CASES["d04"]
    expected, first = case["expected"], case["expected"]["first"]
    sides = [
        read_results(RESULTS / case["input"]["data_js"], commit=letter) for letter in ("a", "b")
    ]
    assert len(sides) == expected["commits"]
    assert {len(side.runs) for side in sides} == {expected["benches_per_commit"]}
    assert sides[0].runs[0].benchmark == first["name"]
    assert sides[0].runs[0].values == pytest.approx((first["value"] * 1e-9,))
    assert first["unit"] == "ns/iter"


def test_d07_the_details_page():
    case = CASES["d07"]
    expected = case["expected"]
    path = DATA / "ncu" / NCU[case["input"]["ncu_csv"]]
    (run,) = read_results(path).runs
    assert run.values == pytest.approx((expected["duration_ns"] * 1e-9,))
    found = {run.metric: run for run in read_results(path, metric=".*").runs}
    values = {name: one.values[0] for name, one in found.items()}
    assert {run.benchmark for run in found.values()} == {run.benchmark}
    assert values["# SMs"] == expected["sm_count"]
    assert values["Registers Per Thread"] == expected["registers"]
    assert values["Waves Per SM"] == expected["waves"]
    assert values["Theoretical Occupancy"] * 100 == expected["theoretical_occupancy_pct"]
    assert values["Achieved Occupancy"] * 100 == pytest.approx(expected["achieved_occupancy_pct"])
    assert read_results(path).environment["compute_capability"] == expected["cc"]


def test_d08_numbers_of_a_european_machine():
    case = CASES["d08"]
    path = DATA / "ncu" / NCU[case["input"]["ncu_csv"]]
    names = {
        "gpu__time_duration.sum": ("duration_us", 1e6),
        "dram__bytes.sum": ("dram_bytes", 1),
        "sm__throughput.avg.pct_of_peak_sustained_elapsed": ("sm_throughput_pct", 100),
    }
    runs = read_results(path, metric="|".join(names)).runs
    assert len({run.benchmark for run in runs}) == case["expected"]["kernels"]
    assert sum(len(run.values) for run in runs) == 3 * case["expected"]["launches"]
    for run in runs:
        key, scale = names[run.metric]
        kernel = "sgemm" if "sgemm" in run.benchmark else "reduce"
        expected = case["expected"][kernel]
        wanted = expected.get(key, expected.get(f"{key}_mean"))
        assert statistics.mean(run.values) * scale == pytest.approx(wanted)


def test_d12_a_launch_error_is_no_improvement_to_0_ns():
    case = CASES["d12"]
    expected = case["expected"]
    found = read_results(RESULTS / case["input"]["google_benchmark"].replace("files/", ""))
    runs = {run.benchmark: run for run in found.runs}
    assert len(runs) == len(found.runs) == expected["benchmarks"]
    saxpy, reduce = expected["values"]
    values = runs[saxpy["name"]].values
    assert len(values) == saxpy["repetitions"]
    assert statistics.median(values) == pytest.approx(saxpy["median_ns"] * 1e-9)
    cv = statistics.stdev(values) / statistics.mean(values) * 100
    assert cv == pytest.approx(saxpy["cv_pct"], abs=0.0005)
    assert runs[reduce["name"]].values == pytest.approx((reduce["value_ns"] * 1e-9,))
    (failed,) = expected["failed"]
    assert runs[failed["name"]].values == ()
    assert runs[failed["name"]].failure == failed["message"]
    assert any("debug build" in note for note in found.notes)
