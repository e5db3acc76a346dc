"""Histories: which rows make a series, and what is said of a change."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from perfkit.errors import InputError, UsageError
from perfkit.gate.baseline import entries_of
from perfkit.gate.history import CommitOrder, Row, history, rows_of
from tests.gate.test_baseline import H200, results

START = datetime(2026, 11, 1, tzinfo=UTC)


def row(number, value, **fields):
    return Row(**{
        "benchmark": "axpy", "metric": "time", "value": value, "unit": "s",
        "higher_is_better": False, "run": "1", "recording": "r",
        "date": START + timedelta(hours=number), "commit": f"c{number:02}", "branch": "main",
        "gpu": "NVIDIA H200", **fields,
    })  # fmt: skip


def rows(count=30, step_at=20, ratio=1.05, noise=0.01, runs=3, **fields):
    """Each commit with some runs; from ``step_at`` on slower."""
    chance = random.Random(1)
    return [
        row(
            i, (ratio if i >= step_at else 1.0) * (1 + chance.gauss(0, noise)), run=str(j), **fields
        )
        for i in range(count)
        for j in range(runs)
    ]


def test_the_commit_of_a_change_is_named():
    (trace,) = history(rows()).traces
    (step,) = trace.steps
    assert (step.first.name, step.last.name) == ("c20", "c19")
    assert step.worse
    assert step.after / step.before == pytest.approx(1.05, rel=0.01)
    assert step.change.risk < 1e-4
    assert (len(trace.commits), trace.runs, trace.commits[0].runs) == (30, 90, 3)
    assert trace.enough


def test_no_change_has_no_step():
    (trace,) = history(rows(step_at=99)).traces
    assert trace.steps == ()
    assert trace.noise == pytest.approx(0.007, rel=0.4)


@pytest.mark.parametrize(("ratio", "worse"), [(0.9, True), (1.1, False)])
def test_of_a_rate_the_smaller_one_is_worse(ratio, worse):
    (trace,) = history(rows(ratio=ratio, higher_is_better=True, unit="B/s")).traces
    assert [step.worse for step in trace.steps] == [worse]


def names(trace):
    return [one.name for one in trace.commits]


IN_ORDER = [f"c{i:02}" for i in range(30)]


def test_the_order_is_that_in_which_commits_were_first_added():
    found = rows()
    late = [row(100 + i, one.value, commit=one.commit) for i, one in enumerate(found[::-1])]
    (trace,) = history([*found, *late]).traces
    assert names(trace) == IN_ORDER
    assert trace.steps[0].first.name == "c20"
    assert trace.backdated == ()


@pytest.mark.parametrize("back", [10_000, 5], ids=["years", "hours"])
def test_a_clock_set_back_changes_nothing(back):
    """By their dates the slow commits come first, or among the others: none or another change."""
    found = [
        replace(one, date=one.date - timedelta(hours=back)) if one.commit >= "c20" else one
        for one in rows()
    ]
    (trace,) = history(found).traces
    assert names(trace) == IN_ORDER
    (step,) = trace.steps
    assert (step.first.name, step.worse) == ("c20", True)
    assert [one.name for one in trace.backdated] == ["c20"]
    (dated,) = history(found, by_date=True).traces
    assert names(dated) != IN_ORDER
    if back > 100:
        assert [(step.first.name, step.worse) for step in dated.steps] == [("c00", False)]


def test_dates_at_the_end_of_time_are_dates():
    found = [replace(one, date=datetime.min.replace(tzinfo=UTC)) for one in rows()]
    assert history(found).traces[0].backdated == ()


def test_a_direction_that_was_corrected_is_the_last_one():
    found = [replace(one, higher_is_better=one.commit >= "c15") for one in rows()]
    (trace,) = history(found).traces
    assert trace.higher_is_better
    assert [step.worse for step in trace.steps] == [False]


def test_clocks_that_differ_by_seconds_are_not_worth_a_word():
    found = [replace(one, date=START - timedelta(seconds=int(one.commit[1:]))) for one in rows()]
    (trace,) = history(found).traces
    assert trace.backdated == ()
    assert names(trace) == IN_ORDER


def test_the_order_of_dates_can_be_asked_for():
    shuffled = rows()
    random.Random(2).shuffle(shuffled)
    found = history(shuffled, by_date=True)
    assert found.order is CommitOrder.DATE
    assert names(found.traces[0]) == IN_ORDER
    assert found.traces[0].steps[0].first.name == "c20"


def test_the_order_of_a_repository_can_be_asked_for():
    """As of older commits that were measured later."""
    added = [*rows()[45:], *rows()[:45]]
    found = history(added, places={name: i for i, name in enumerate(IN_ORDER)})
    assert found.order is CommitOrder.GIT
    assert names(found.traces[0]) == IN_ORDER
    assert found.traces[0].steps[0].first.name == "c20"


def test_a_commit_that_the_repository_does_not_have_stays_behind_the_one_before_it():
    places = {name: -i for i, name in enumerate(IN_ORDER[:6]) if name not in {"c01", "c02"}}
    (trace,) = history(rows(6), places=places).traces
    assert names(trace) == ["c05", "c04", "c03", "c00", "c01", "c02"]
    (trace,) = history(rows(6), places={"c03": 0}).traces
    assert names(trace) == IN_ORDER[:6]


def test_runs_without_a_commit_are_told_apart_by_their_date():
    (trace,) = history(rows(commit="")).traces
    assert len(trace.commits) == 30
    assert trace.steps[0].first.name == "2026-11-01T20:00:00+00:00"


def test_series_of_other_gpus_and_metrics_are_series_of_their_own():
    found = history([*rows(), *rows(gpu="NVIDIA A100"), *rows(metric="cycles", unit="cycles")])
    assert [(t.metric, t.gpu) for t in found.traces] == [
        ("cycles", "NVIDIA H200"), ("time", "NVIDIA A100"), ("time", "NVIDIA H200"),
    ]  # fmt: skip


def test_a_new_driver_at_the_same_commit_is_named():
    found = [*rows(20, driver="580.1"), *[r for r in rows(30, driver="590.2") if r.commit >= "c20"]]
    (trace,) = history(found).traces
    assert trace.steps[0].causes == ("driver 580.1 -> 590.2",)


@pytest.mark.parametrize(
    ("names", "asked", "shown"),
    [
        (["main", "topic"], None, "main"),
        (["topic", "master"], None, "master"),
        (["one", "two"], "two", "two"),
        (["main"], None, None),
        ([""], None, None),
    ],
)
def test_of_several_branches_one_is_shown(names, asked, shown):
    found = history([r for name in names for r in rows(branch=name)], branch=asked)
    assert found.branch == shown
    assert found.others == (tuple(sorted(set(names) - {shown})) if shown else ())
    assert len(found.traces[0].commits) == 30


def test_what_is_not_there_is_named():
    with pytest.raises(InputError, match="no run is of branch 'x'") as caught:
        history(rows(), branch="x")
    assert "main" in caught.value.hint
    with pytest.raises(InputError, match="no benchmark matches") as caught:
        history(rows(), benchmark="gemm")
    assert "axpy" in caught.value.hint
    with pytest.raises(UsageError, match="no regular expression"):
        history(rows(), benchmark="(")
    with pytest.raises(InputError, match="empty"):
        history([])


def test_the_newest_commits_alone():
    (trace,) = history(rows(), last=8).traces
    assert [one.name for one in trace.commits] == [f"c{i}" for i in range(22, 30)]
    assert not trace.enough


def test_benchmarks_are_chosen_by_a_part_of_their_name():
    found = history([*rows(), *rows(benchmark="gemm[n=1024]")], benchmark=r"^gemm\[")
    assert [trace.benchmark for trace in found.traces] == ["gemm[n=1024]"]


def test_entries_of_a_recording_are_a_row_for_each_run():
    entries = entries_of(results(), {"commit": "abc", "command": "./bench", "perfkit": "0.2"})
    found = rows_of(entries, "id", START, "main")
    assert [one.value for one in found] == [1.0, 1.01, 0.99, 1.02, 1.0]
    first = found[0]
    assert (first.commit, first.branch, first.recording, first.run) == ("abc", "main", "id", "1")
    assert (first.gpu, first.driver, first.toolkit) == (H200["gpu"], "580.1", "12.9")
    assert (first.command, first.perfkit, first.host) == ("./bench", "0.2", "")


def test_between_two_changes_a_level_is_that_of_its_own_commits():
    found = [*rows(count=30, step_at=15, noise=0.001)]
    back = [replace(one, value=one.value * (0.9 if i >= 66 else 1)) for i, one in enumerate(found)]
    (trace,) = history(back).traces
    first, second = trace.steps
    assert (first.first.name, second.first.name) == ("c15", "c22")
    assert [first.before, first.after, second.after] == pytest.approx([1, 1.05, 0.945], rel=0.002)
    assert second.before == first.after


@pytest.mark.parametrize(("seconds", "told"), [(59, []), (61, ["c11"])])
def test_clocks_of_two_runners_may_differ_by_a_minute(seconds, told):
    found = [
        replace(one, date=START + timedelta(hours=10, seconds=-seconds))
        if one.commit == "c11"
        else one
        for one in rows()
    ]
    assert names_of_backdated(history(found).traces[0]) == told


def names_of_backdated(trace):
    return [one.name for one in trace.backdated]
