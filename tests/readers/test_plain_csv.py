"""The plain CSV: columns, units, notations, and lines that are wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from perfkit.errors import InputError
from perfkit.readers.recognise import read_results
from perfkit.readers.results import Unit

DATA = Path(__file__).resolve().parents[1] / "data" / "results"


def written(folder, *lines):
    path = folder / "p.csv"
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


def test_every_column():
    found = read_results(DATA / "plain.csv")
    assert found.kind == "csv"
    a, b, *others = found.runs
    assert (a.benchmark, a.run, a.pair, a.metric) == ("axpy<float, 4>/µ", "a", "1", "time")
    assert a.values == pytest.approx((12.5e-6, 12.7e-6))
    assert (a.spread, a.clock_hz) == (0.015, 1.97e9)  # the mean of two clocks
    assert (b.run, b.pair, b.spread, b.values) == ("b", "2", 0.02, pytest.approx((12.6e-6,)))
    first, second, score, empty, zero = others
    assert (first.values, second.values) == ((9228.0,), (7814.0,))
    assert (first.unit, first.metric) == (Unit.PER_SECOND, "throughput")
    assert first.better_when_higher
    assert score.higher_is_better is True
    assert empty.values == zero.values == ()
    assert "0 s" in zero.failure


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["benchmark,value,unit", "hits,93,%"], True),
        (["benchmark,value,unit", "launches,93,count"], True),
        (["benchmark,value,unit,higher_is_better", "hits,93,%,yes"], False),
        (["benchmark,value,unit,higher_is_better", "stalls,93,%,no"], False),
        (["benchmark,value,unit", "copy,93,GB/s"], False),
        (["benchmark,value,unit", "k,93,us"], False),
    ],
)
def test_a_unit_that_tells_no_direction_is_said(tmp_path, lines, said):
    found = read_results(written(tmp_path, *lines))
    assert any("higher_is_better" in note for note in found.notes) is said


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_line_break_in_a_name_tells_two_benchmarks_apart(tmp_path, end):
    path = tmp_path / "p.csv"
    rows = ["benchmark,value,unit", '"ax', 'py",1,s', "axpy,2,s", '"a,b",3,s', ""]
    path.write_bytes(end.join(rows).encode())
    found = read_results(path).runs
    assert [run.benchmark for run in found] == ["ax\npy", "axpy", "a,b"]
    assert [run.values for run in found] == [(1.0,), (2.0,), (3.0,)]


def test_rows_without_a_run_are_samples_of_one(tmp_path):
    (run,) = read_results(written(tmp_path, "unit,benchmark,value", "ms,k,1", "us,k,3000")).runs
    assert (run.run, run.values) == (None, (0.001, 0.003))


@pytest.mark.parametrize(
    ("lines", "seconds"),
    [
        (["benchmark;value;unit", "k;1.234,5;us"], 0.0012345),
        (["benchmark;value;unit", "k;12,5;us"], 12.5e-6),
        (["benchmark\tvalue\tunit", "k\t12.5\tus"], 12.5e-6),
        (["benchmark,value,unit", 'k,"65,77",us'], 65.77e-6),
        (["benchmark,value,unit", 'k,"1,234.5",us'], 1234.5e-6),
        (["benchmark,value,unit", "k,117.344,us"], 117.344e-6),  # a point unless it says otherwise
        (["Benchmark, Value , UNIT", "k,1e1,us"], 10e-6),
    ],
)
def test_notations(tmp_path, lines, seconds):
    (run,) = read_results(written(tmp_path, *lines)).runs
    assert run.values == pytest.approx((seconds,))


def test_a_notation_that_nothing_decides(tmp_path):
    path = written(tmp_path, "benchmark;value;unit", "k;117.344;ns")
    with pytest.raises(InputError, match="two ways") as caught:
        read_results(path)
    assert "--decimal" in caught.value.hint
    assert read_results(path, mark=",").runs[0].values == pytest.approx((117344e-9,))
    assert read_results(path, mark=".").runs[0].values == pytest.approx((117.344e-9,))


@pytest.mark.parametrize("text", ["nan", "inf", "-5", "0", "", " "])
def test_impossible_values_are_failures(tmp_path, text):
    (run,) = read_results(written(tmp_path, "benchmark,value,unit", f"k,{text},us")).runs
    assert run.values == ()
    assert run.failure


@pytest.mark.parametrize("order", [["", "1"], ["1", ""]])
def test_a_missing_value_among_others_fails_the_run(tmp_path, order):
    lines = [f"k,{text},us" for text in order]
    (run,) = read_results(written(tmp_path, "benchmark,value,unit", *lines)).runs
    assert run.values == ()
    assert "nan" in run.failure


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["benchmark,value,unit,colour", "k,1,s,red"], r"p.csv:1: unknown column 'colour'"),
        (["benchmark,value", "k,1"], r"p.csv:1: column 'unit' is missing"),
        (["benchmark,value,value,unit", "k,1,1,s"], r"p.csv:1: column 'value' is there twice"),
        (["benchmark,value,unit,noise,spread", "k,1,s,,"], r"p.csv:1: noise and spread"),
        (["benchmark,value,unit"], r"a header and no row"),
        (["benchmark,value,unit", "k,1,parsec"], r"p.csv:2: unknown unit 'parsec'"),
        (["benchmark,value,unit", "k,1,"], r"p.csv:2: unknown unit ''"),
        (["# talk", "benchmark,value,unit", "", "k,1"], r"p.csv:4: 2 cells in 3 columns"),
        (["benchmark,value,unit", "k,fast,s"], r"p.csv:2: 'fast' is not a number"),
        (["benchmark,value,unit", "k,1_000,s"], r"p.csv:2: '1_000' is not a number"),
        (["benchmark,value,unit", "k,1,s", "k,1,GB/s"], r"p.csv:3: 'k' is in B/s here, in s"),
        (["benchmark,value,unit", 'k,"1"x,s'], r"p.csv:2: broken CSV"),
        (["benchmark,value,unit", 'k,"1,234.5",s', 'k,"1.234,5",s'], "two notations"),
        (["benchmark,value,unit,clock_mhz", "k,1,s,0"], r"p.csv:2: a clock of 0 MHz"),
        (["benchmark,value,unit,higher_is_better", "k,1,s,maybe"], r"p.csv:2: higher_is_better"),
        (
            ["benchmark,value,unit,higher_is_better", "k,1,s,yes", "k,1,s,no"],
            r"p.csv:3: higher_is_better is true and false",
        ),
        (["benchmark,value,unit,pair", "k,1,s,1", "k,1,s,2"], r"p.csv:3: pair '2' and '1'"),
    ],
)
def test_errors_name_the_line(tmp_path, lines, message):
    with pytest.raises(InputError, match=message):
        read_results(written(tmp_path, *lines))


@pytest.mark.parametrize("name", ["", "  ", '""'])
def test_a_row_without_a_benchmark_is_refused_with_its_line(tmp_path, name):
    path = written(tmp_path, "benchmark,value,unit", "k,1,ms", f"{name},2,ms")
    with pytest.raises(InputError, match=r"p\.csv:3: a row without the name of its benchmark"):
        read_results(path)


@pytest.mark.parametrize(
    ("unit", "metric"),
    [("ms", "time"), ("GB/s", "B/s"), ("TFLOPS", "FLOP/s"), ("MiB", "B"), ("cycles", "cycles")],
)
def test_a_series_without_a_metric_is_time_only_in_units_of_time(tmp_path, unit, metric):
    (run,) = read_results(written(tmp_path, "benchmark,value,unit", f"k,1,{unit}")).runs
    assert run.metric == metric
    path = written(tmp_path, "benchmark,value,unit,metric", f"k,1,{unit},mine")
    (run,) = read_results(path).runs
    assert run.metric == "mine"


def test_a_metric_that_is_named_as_the_default_is_the_same_series(tmp_path):
    head = "benchmark,value,unit,metric"
    (run,) = read_results(written(tmp_path, head, "k,1,s,time", "k,2,s,")).runs
    assert (run.metric, run.values) == ("time", (1.0, 2.0))
    with pytest.raises(InputError, match=r"p\.csv:3: 'k' is in B/s here, in s before"):
        read_results(written(tmp_path, head, "k,1,s,", "k,2,GB/s,"))
    with pytest.raises(InputError, match=r"p\.csv:3: 'k' is in s here, in B/s before"):
        read_results(written(tmp_path, head, "k,1,GB/s,time", "k,2,s,"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("benchmark,value,unit\na,1,s\na,2,s\nb,1,s\n", True),
        ("benchmark,value,unit\na,1,s\nb,1,s\n", False),
        ("benchmark,run,value,unit\na,1,1,s\na,1,2,s\n", False),
    ],
)
def test_rows_that_become_samples_of_one_run_are_said_to_be_that(tmp_path, text, said):
    found = read_results(written(tmp_path, *text.splitlines()))
    assert any("column run" in note for note in found.notes) is said
    assert [run.run for run in found.runs if run.benchmark == "a"] in ([None], ["1"])
