"""Reports of nsys stats: sums, traces, old headers, several in one file."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest

from perfkit.errors import InputError
from perfkit.readers.recognise import read_results

DATA = Path(__file__).resolve().parents[1] / "data" / "results"


def test_several_reports_in_one_file():
    found = read_results(DATA / "nsys_stats.csv")
    assert found.kind == "nsys"
    kernel, zero = found.runs  # the calls on the host are another metric, sizes are no time
    assert kernel.benchmark == "void k<int, 3>(int, float)"
    assert kernel.values == (0.00049,)  # the median
    assert (kernel.spread, kernel.samples) == (0.01, 10)  # 5,000 of 500,000 ns
    assert "0 s" in zero.failure
    (call,) = read_results(DATA / "nsys_stats.csv", metric="host_time").runs[-1:]
    assert call.benchmark == "cudaLaunchKernel"


def test_rows_of_a_trace_are_samples():
    kernel, copy = read_results(DATA / "nsys_trace.csv").runs
    assert kernel.benchmark == "void moe<float, 4>(float *)"
    assert kernel.values == pytest.approx((2048e-9, 2112e-9))
    assert copy.benchmark == "[CUDA memcpy Host-to-Device]"


def test_headers_of_old_versions():
    gemm, copy = read_results(DATA / "nsys_old.csv").runs
    assert (gemm.benchmark, gemm.values, gemm.samples) == ("gemm(float, float)", (0.0015,), 2)
    assert copy.values == (0.001,)


def test_units_of_the_header_and_shapes():
    large, small = read_results(DATA / "nsys_shapes.csv").runs
    assert large.benchmark == "gemm grid(8, 1, 1) block(256, 1, 1)"
    assert large.values == pytest.approx((30e-6,))
    assert large.spread == pytest.approx(0.05)
    assert small.values == pytest.approx((20e-6,))


@pytest.mark.parametrize("unit", ["nsec", "ns"])
def test_units_have_long_names_in_old_traces(tmp_path, unit):
    path = tmp_path / "t.csv"
    path.write_text(f"Start({unit}),Duration({unit}),CorrId,Name\n1,100,7,k\n5,120,8,k\n", "utf-8")
    (run,) = read_results(path).runs
    assert run.values == pytest.approx((100e-9, 120e-9))


def test_numbers_with_european_marks(tmp_path):
    path = tmp_path / "t.csv"
    rows = [
        "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),StdDev (ns),Name",
        '"50,0","5.000.000",10,"500.000,0","490.000","5.000,0",k',
    ]
    path.write_text("\n".join(rows), "utf-8")
    found = read_results(path)
    (run,) = found.runs
    assert run.values == pytest.approx((0.00049,))
    assert "numbers are read with a decimal comma" in found.notes


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("1,fast,7,k", r"t.csv:2: 'fast' is not a number"),
        ("1,100,7,k,9", r"t.csv:2: 5 cells in 4 columns"),
        ("1,100", r"t.csv:2: 2 cells in 4 columns"),
        ("10", r"t.csv:2: 1 cells in 4 columns"),
        ("", "a report without any time"),
    ],
)
def test_broken_rows_are_named(tmp_path, rows, message):
    path = tmp_path / "t.csv"
    path.write_text(f"Start (ns),Duration (ns),CorrId,Name\n{rows}\n", "utf-8")
    with pytest.raises(InputError, match=message):
        read_results(path)


EXEC_SUM = (
    "PID,TID,DevId,Count,QCount,TAvg (ns),TMed (ns),TMin (ns),TMax (ns),TStdDev (ns),AAvg (ns),"
    "AMed (ns),AMin (ns),AMax (ns),AStdDev (ns),QAvg (ns),QMed (ns),QMin (ns),QMax (ns),"
    "QStdDev (ns),KAvg (ns),KMed (ns),KMin (ns),KMax (ns),KStdDev (ns),API Name,Kernel Name\n"
    "1,1,0,10,10,18000.0,17700.0,17000,19000,300.0,5000.0,5000.0,4900,5100,20.0,200.0,200.0,190,"
    '210,5.0,12500.0,12480.0,12400,12700,80.0,cudaLaunchKernel,"saxpy(int, float)"\n'
)
EXEC_TRACE = (
    "API Start (ns),API Dur (ns),Queue Start (ns),Queue Dur (ns),Kernel Start (ns),"
    "Kernel Dur (ns),Total Dur (ns),PID,TID,DevId,API Function,GridXYZ,BlockXYZ,Kernel Name\n"
    "100,5000,5100,200,5300,12500,17700,1,1,0,cudaLaunchKernel,   8    1    1, 256    1    1,k\n"
    "900,5000,5900,200,6300,12700,17900,1,1,0,cudaLaunchKernel,   8    1    1, 256    1    1,k\n"
)


def test_reports_of_calls_queues_and_kernels_are_about_the_kernels(tmp_path):
    path = tmp_path / "r.csv"
    path.write_text(EXEC_SUM, "utf-8")
    (run,) = read_results(path).runs
    assert (run.benchmark, run.metric, run.values) == ("saxpy(int, float)", "gpu_time", (12.48e-6,))
    assert run.spread == pytest.approx(80 / 12500)
    assert run.samples == 10
    path.write_text(EXEC_TRACE, "utf-8")
    (run,) = read_results(path).runs
    assert (run.benchmark, run.metric, run.values) == ("k", "gpu_time", (12.5e-6, 12.7e-6))


def test_a_report_as_json_says_what_its_csv_does(tmp_path):
    text = (DATA / "nsys_shapes.csv").read_text("utf-8")
    start = next(i for i, line in enumerate(text.splitlines()) if line.startswith("Time"))
    rows = [*csv.DictReader(text.splitlines()[start:])]
    assert rows
    path = tmp_path / "r.json"
    numbers = [
        {k: (float(v) if v.replace(".", "", 1).isdigit() else v) for k, v in row.items()}
        for row in rows
    ]
    path.write_text(json.dumps(numbers), "utf-8")
    said = [
        [(r.benchmark, r.metric, r.values, r.spread) for r in read_results(p).runs]
        for p in (path, DATA / "nsys_shapes.csv")
    ]
    assert said[0] == said[1]
    path.write_text(json.dumps([numbers[0], 3]), "utf-8")
    with pytest.raises(InputError, match=r"\[1\]: should be an object"):
        read_results(path)
    broken = {key: "oops" if "Med" in key or "Avg" in key else v for key, v in numbers[1].items()}
    path.write_text(json.dumps([numbers[0], broken], indent=1), "utf-8")
    with pytest.raises(InputError, match=r"\[1\]: 'oops' is not a number"):  # no line of a CSV
        read_results(path)


@pytest.mark.parametrize("name", ["nsys_stats", "nsys_shapes", "nsys_trace", "nsys_old"])
@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_as_a_spreadsheet_saves_it_with_decimal_commas(tmp_path, name, delimiter):
    text = (DATA / f"{name}.csv").read_text("utf-8")
    path = tmp_path / "r.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter)
        for row in csv.reader(text.splitlines()):
            numbers = [re.sub(r"^(\d+)\.(\d+)$", r"\1,\2", cell) for cell in row]
            writer.writerow(numbers if delimiter == ";" else row)
    said = [
        [(r.benchmark, r.metric, r.values, r.spread, r.failure) for r in read_results(p).runs]
        for p in (path, DATA / f"{name}.csv")
    ]
    assert said[0] == said[1]
