"""CSV of programs that write JSON too says the same, as far as it goes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from perfkit.errors import InputError
from perfkit.readers.recognise import read_results

DATA = Path(__file__).resolve().parents[1] / "data" / "results"


def said(path, metric=None):
    return [
        (run.benchmark, run.metric, run.values, run.unit, run.spread, run.failure)
        for run in read_results(path, metric=metric).runs
    ]


@pytest.mark.parametrize("metric", [None, "cpu_time", "bytes_per_second"])
def test_both_outputs_of_one_process_of_google_benchmark_agree(metric):
    csv = said(DATA / "google_benchmark_both.csv", metric)
    full = said(DATA / "google_benchmark_both.json", metric)
    assert len(csv) == 3
    for one, other in zip(csv, full, strict=True):
        assert one[2] == pytest.approx(other[2], rel=1e-5)  # the table has six digits
        assert one[:2] + one[3:] == other[:2] + other[3:]


def test_statistics_without_repetitions_are_a_summary():
    found = read_results(DATA / "google_benchmark_aggregates.csv")
    first, second, failed = found.runs
    assert (first.benchmark, first.values, first.spread) == (
        "sum_list/64",
        (6.37351e-07,),
        0.174791,
    )
    assert (second.benchmark, second.values) == ("sum_list/1024", (1.784e-05,))
    assert failed.failure == 'too many "resources", launch'


def test_what_pytest_benchmark_compares_is_what_it_saved():
    csv = said(DATA / "pytest_benchmark_compare.csv")
    assert [name for name, *_ in csv] == [
        "test_b.py::test_sum[10]", "test_b.py::test_sum[100]", "test_b.py::test_list",
    ]  # fmt: skip
    assert csv == said(DATA / "pytest_benchmark_compared.json")
    samples = [run.samples for run in read_results(DATA / "pytest_benchmark_compare.csv").runs]
    assert samples == [9921, 4934, 3495]


def test_hyperfine_as_its_json(tmp_path):
    rows = [
        {
            "command": "./k 3",
            "mean": 0.5,
            "stddev": 0.002,
            "median": 0.49,
            "parameters": {"n": "3"},
        },
        {"command": "label", "mean": 18.0, "stddev": 1.0, "median": 18.0, "parameters": {"n": "4"}},
        {"command": 'say "hi, you"', "mean": 1.5, "stddev": None, "median": 1.5},
    ]
    path = tmp_path / "h.json"
    path.write_text(json.dumps({"results": rows}), "utf-8")
    assert said(DATA / "hyperfine.csv") == said(path)


def test_nvbench():
    found = read_results(DATA / "nvbench.csv")
    assert (found.kind, found.environment) == ("nvbench", {"gpu": "NVIDIA H200"})
    assert [(r.benchmark, r.values, r.spread, r.samples) for r in found.runs] == [
        ("copy T=U32 Elements=2^16", (8.9e-06,), 0.015, 1000),
        ("copy T=U32 Elements=2^24", (5.8e-05,), 0.005, 500),
        ("copy T=U64 Elements=2^16", (), None, None),
        ("scan Block=256", (3.5e-05,), 0.01, 700),
        ("scan Block=512", (3.6e-05,), 0.01, 700),
    ]
    assert found.runs[2].failure == "skipped: no reason given"
    rates = read_results(DATA / "nvbench.csv", metric="bytes_per_second").runs
    assert [run.values for run in rates if not run.failure] == [(5.8e10,), (2.3e12,)]


def test_nvbench_names_states_as_its_json_does(tmp_path):
    state = {
        "name": "Device=0 T=U32 Elements=2^16",
        "device": 0,
        "summaries": [
            {
                "tag": "nv/cold/time/gpu/mean",
                "data": [{"name": "value", "type": "float64", "value": "8.9e-06"}],
            }
        ],
    }
    document = {
        "devices": [{"id": 0, "name": "NVIDIA H200"}],
        "benchmarks": [{"name": "copy", "states": [state]}],
    }
    path = tmp_path / "n.json"
    path.write_text(json.dumps(document), "utf-8")
    assert said(path)[0][:4] == said(DATA / "nvbench.csv")[0][:4]


@pytest.mark.parametrize(
    "name", ["nvbench", "hyperfine", "google_benchmark_both", "pytest_benchmark_compare"]
)
def test_cut_off_rows_and_lonely_headers_are_refused(tmp_path, name):
    header, first, *rest = (DATA / f"{name}.csv").read_text("utf-8").splitlines()
    path = tmp_path / "r.csv"
    path.write_text("\n".join([header, *rest, first.rpartition(",")[0]]), "utf-8")
    with pytest.raises(InputError, match=rf"r.csv:{len(rest) + 2}: \d+ cells in \d+ columns"):
        read_results(path)
    path.write_text(header + "\n", "utf-8")
    with pytest.raises(InputError, match="a header and no row"):
        read_results(path)


def test_what_the_program_says_around_it(tmp_path):
    path = tmp_path / "log"
    text = (DATA / "hyperfine.csv").read_text("utf-8")
    path.write_text(f"starting\n{text}finished\n", "utf-8")
    assert said(path) == said(DATA / "hyperfine.csv")
