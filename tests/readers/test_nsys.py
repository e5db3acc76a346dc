"""Reports of nsys stats: sums, traces, old headers, several in one file."""

from __future__ import annotations

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
