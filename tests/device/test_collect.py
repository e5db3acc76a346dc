"""Runs of programs: what counts as their number, and what as a failure."""

from __future__ import annotations

import pytest

from perfkit.device.collect import Metric, collect, results
from perfkit.readers.recognise import read_results
from perfkit.readers.results import Unit
from perfkit.report.runs_csv import render
from tests.device.programs import side, times

CSV = "benchmark,value,unit\naxpy,{},ms\ngemm,{},ms\n"
FILES = Metric(benchmark="bench")


def test_a_number_of_the_output():
    one = side("candidate", times(2.5)).attempt(3)
    assert (one.number, one.failure) == (3, None)
    (run,) = one.runs
    assert (run.benchmark, run.metric, run.unit) == ("bench", "time", Unit.SECONDS)
    assert run.values == (0.0025,)
    assert (run.run, run.pair, run.source) == ("3", "3", "candidate 3")


def test_the_time_of_the_process():
    one = side("candidate", ["0.25"], Metric(benchmark="bench", wall=True)).attempt(1)
    assert [(run.metric, run.values) for run in one.runs] == [("wall", (0.25,))]


@pytest.mark.parametrize("words", [("bench",), ("bench", "--json={out}")])
def test_results_are_known_by_their_content_wherever_they_come(words):
    one = side("candidate", [CSV.format(1, 2)], FILES, words).attempt(1)
    assert [(run.benchmark, run.values) for run in one.runs] == [
        ("axpy", (0.001,)), ("gemm", (0.002,)),
    ]  # fmt: skip


def test_what_a_file_calls_runs_is_one_process():
    text = "benchmark,run,value,unit\naxpy,a,1,s\naxpy,b,2,s\naxpy,c,9,s\n"
    (run,) = side("candidate", [text], FILES).attempt(1).runs
    assert run.values == (1.0, 2.0, 9.0)
    assert run.run == "1"


@pytest.mark.parametrize(
    ("text", "metric", "words", "message"),
    [
        ("no number here", None, ("bench",), "matches nothing"),
        ("time: 0 ms", None, ("bench",), "no possible measurement"),
        ("time: nan ms", None, ("bench",), "no possible measurement"),
        ("time: 3 apples", Metric(benchmark="b", pattern=r": (\d)"), ("bench",), "no unit"),
        ("gibberish", FILES, ("bench",), "^what it prints: no known kind of results$"),
        ("", FILES, ("bench",), "what it prints"),
        ("gibberish", FILES, ("bench", "{out}"), r"\{out\}: no known kind"),
        (CSV.format(1, 0), FILES, ("bench",), "gemm: .*no possible measurement"),
    ],
)
def test_a_run_without_a_number_has_failed(text, metric, words, message):
    arguments = {} if metric is None else {"metric": metric}
    one = side("baseline", [text], words=words, **arguments).attempt(1)
    assert one.failure is not None
    import re

    assert re.search(message, one.failure)
    assert any(run.failure and not run.values for run in one.runs)


@pytest.mark.parametrize(
    ("words", "helps"),
    [(("bench",), "--metric wall"), (("bench", "{out}"), "google-benchmark")],
)
def test_what_would_help_stands_apart_from_what_failed(words, helps):
    one = side("baseline", ["gibberish"], FILES, words).attempt(1)
    assert helps in one.hint
    assert helps not in one.failure
    assert len(one.failure) < 60  # with the hint behind it a table had 280 columns
    assert side("baseline", ["gibberish"] * 2, FILES, run_1="ended").attempt(1).hint is None


def test_what_was_printed_instead_of_the_number_is_kept():
    one = side("baseline", ["took 3 ms"], Metric(benchmark="b", pattern=r"time: (\d)")).attempt(1)
    assert (one.failure, one.log) == ("'time: (\\\\d)' matches nothing in the output", "took 3 ms")


def test_a_program_that_fails_has_no_number_whatever_it_prints():
    one = side("baseline", times(2.5), run_1="ended with exit code 1").attempt(1)
    assert one.failure == "ended with exit code 1"
    assert [(run.benchmark, run.values, run.failure) for run in one.runs] == [
        ("bench", (), "ended with exit code 1")
    ]
    assert one.log == "last words"


def test_a_file_that_is_not_written_is_named(tmp_path):
    metric = Metric(benchmark="bench", results_file="r.csv")
    one = side("baseline", ["x"], metric, folder=tmp_path).attempt(1)
    assert one.failure == "it did not write r.csv"
    (tmp_path / "r.csv").write_text(CSV.format(1, 2))
    one = side("baseline", ["x"], metric, folder=tmp_path).attempt(1)
    assert "those are old results" in one.failure


def test_a_benchmark_that_is_missing_later_has_failed():
    outputs = [CSV.format(1, 2), "benchmark,value,unit\naxpy,1,ms\n"]
    both = side("candidate", outputs, FILES)
    assert both.attempt(1).failure is None
    second = both.attempt(2)
    assert second.failure == "gemm: it is not among the results of this run"
    assert [run.benchmark for run in second.runs] == ["axpy", "gemm"]


def test_a_later_failure_is_one_of_every_benchmark():
    both = side("candidate", [CSV.format(1, 2)] * 2, FILES, run_2="ran longer than 10 s")
    both.attempt(1)
    assert [run.failure for run in both.attempt(2).runs] == ["ran longer than 10 s"] * 2


def test_warm_ups_come_first_and_do_not_count():
    found = list(collect(side("baseline", times(9, 1, 2, 3)), 3, warm_up=1, tell=lambda _: None))
    assert [one.number for one in found] == [0, 1, 2, 3]
    held = results(found, "baseline", {"gpu": "NVIDIA H200"})
    assert [run.values[0] for run in held.runs] == [0.001, 0.002, 0.003]
    assert held.environment == {"gpu": "NVIDIA H200"}
    assert results(found, "candidate", {}).runs == ()


def test_a_failure_ends_the_collection():
    failing = side("baseline", times(1, 2, 3, 4), run_2="ended with exit code 1")
    found = list(collect(failing, 4, warm_up=0, tell=lambda _: None))
    assert [one.failure for one in found] == [None, "ended with exit code 1"]


def test_what_results_say_of_their_gpu_comes_before_the_machine():
    from dataclasses import replace

    one = side("baseline", times(1)).attempt(1)
    told = [replace(one, environment={"gpu": gpu}) for gpu in ("A", "A", "B")]
    found = results(told, "baseline", {"gpu": "C", "driver": "1"})
    assert found.environment == {"gpu": "A | B", "driver": "1"}


def test_collected_runs_are_read_back_from_csv(tmp_path):
    rate = Metric(benchmark='b, "x"', pattern=r"(\S+) GB/s")
    found = list(collect(side("baseline", ["3.5 GB/s", "0 GB/s"], rate), 2, warm_up=0, tell=print))
    path = tmp_path / "runs.csv"
    path.write_text(render(results(found, "baseline", {}).runs))
    first, second = read_results(path).runs
    assert (first.benchmark, first.values, first.unit) == (
        'b, "x"', (3.5e9,), Unit.BYTES_PER_SECOND,
    )  # fmt: skip
    assert (first.run, first.pair) == ("1", "1")
    assert (second.values, second.pair) == ((), "2")
    assert "no possible measurement" in second.failure
