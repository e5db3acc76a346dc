"""Histories of github-action-benchmark: one commit at a time."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from perfkit.errors import InputError
from perfkit.readers.recognise import read_results
from perfkit.readers.results import Unit

DATA = Path(__file__).resolve().parents[1] / "data" / "results"


def test_the_newest_commit_or_the_one_that_is_named():
    newest = read_results(DATA / "d04.data.js")
    assert newest.kind == "github-action-benchmark"
    assert newest.environment == {"commit": "b" * 40}
    assert any("of 2" in note for note in newest.notes)
    older = read_results(DATA / "d04.data.js", commit="aaaa")
    assert older.environment == {"commit": "a" * 40}
    assert older.notes == ()
    assert older.runs[0].values == pytest.approx((5955.562298798582e-9,))
    assert newest.runs[0].values == pytest.approx((5956.216397277489e-9,))


def test_a_commit_that_is_not_there():
    with pytest.raises(InputError, match="no commit begins with 'c0ffee'") as caught:
        read_results(DATA / "d04.data.js", commit="c0ffee")
    assert caught.value.hint == "the file holds aaaaaaaaaaaa, bbbbbbbbbbbb"


def history(folder, suites, name="d.js"):
    path = folder / name
    text = json.dumps({"lastUpdate": 1, "repoUrl": "", "entries": suites})
    path.write_text(f"window.BENCHMARK_DATA = {text};\n", "utf-8")
    return path


def at(commit, *benches, tool="customSmallerIsBetter"):
    return {"commit": {"id": commit}, "date": 1, "tool": tool, "benches": [*benches]}


def bench(name="k", value=2.0, unit="ms", **more):
    return {"name": name, "value": value, "unit": unit} | more


def test_a_commit_measured_again_has_runs(tmp_path):
    path = history(tmp_path, {"S": [at("a", bench()), at("a", bench(value=3.0))]})
    first, second = read_results(path).runs
    assert [(run.run, run.values) for run in (first, second)] == [("1", (0.002,)), ("2", (0.003,))]


def test_suites_units_and_spreads(tmp_path):
    suites = {
        "A": [
            at("a", bench(range="± 0.5"), bench("g", 5.0, "GB/s", range="±2.5%"), tool="cargo"),
        ],
        "B": [at("a", bench("loss", 7.0, "widgets"), tool="customBiggerIsBetter")],
    }
    k, g, loss = read_results(history(tmp_path, suites)).runs
    assert (k.benchmark, k.values, k.spread) == ("A: k", (0.002,), 0.25)
    assert (g.unit, g.values, g.spread) == (Unit.BYTES_PER_SECOND, (5e9,), 0.025)
    assert (loss.metric, loss.higher_is_better) == ("widgets", True)


@pytest.mark.parametrize(
    ("suites", "message"),
    [
        ({}, "holds no commit"),
        ([], "entries: should be an object, is a list"),
        ({"S": [{}]}, r"entries.S\[0\].commit: should be an object, is null"),
        ({"S": [at(5)]}, r"commit.id: should be text, is a number"),
        ({"S": [at("a", bench(value="x"))]}, r"benches\[0\].value: 'x' is not a number"),
        ({"S": [at("a", bench(unit="widgets"), tool="cargo")]}, "unknown unit 'widgets'"),
        ({"S": [at("a")]}, "holds no result"),
    ],
)
def test_wrong_values_are_named(tmp_path, suites, message):
    with pytest.raises(InputError, match=message):
        read_results(history(tmp_path, suites))


def test_an_ambiguous_commit(tmp_path):
    with pytest.raises(InputError, match="several commits begin with 'a'"):
        read_results(history(tmp_path, {"S": [at("ab", bench()), at("ac", bench())]}), commit="a")


def test_the_list_that_its_custom_tools_take(tmp_path):
    path = tmp_path / "out.json"
    entries = [
        {"name": "k", "unit": "ms", "value": 12.5, "range": "± 0.25"},
        {"name": "copy", "unit": "GB/s", "value": "3"},
        {"name": "idle", "unit": "%", "value": 50},
    ]
    path.write_text(json.dumps(entries), "utf-8")
    found = read_results(path)
    assert found.kind == "github-action-benchmark"
    assert [(run.benchmark, run.values, run.spread) for run in found.runs] == [
        ("k", (0.0125,), 0.02),
        ("copy", (3e9,), None),
        ("idle", (0.5,), None),
    ]
    assert [run.better_when_higher for run in found.runs] == [False, True, False]
    assert any("better when lower" in note for note in found.notes)
    entries[0]["unit"] = "fortnights"
    path.write_text(json.dumps(entries), "utf-8")
    with pytest.raises(InputError, match=r"\[0\].unit: unknown unit 'fortnights'"):
        read_results(path)
