"""``perfkit gate history``: series, changes, and what is no history."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import replace
from datetime import timedelta

import pytest

from perfkit.gate.history_file import append
from tests.gate.test_history import rows
from tests.report.schemas import undescribed, validate


@pytest.fixture
def place(tmp_path):
    steady = rows(40, step_at=99, benchmark="gemm", higher_is_better=True, unit="B/s")
    append(str(tmp_path / "h"), [*rows(40, step_at=25), *steady])
    return str(tmp_path / "h")


def test_the_commit_is_named(perfkit, place):
    done = perfkit(["gate", "history", place])
    assert done.code == 0, done.err
    assert "1 of 2 series changed" in done.out
    assert "(worse) at c25" in done.out
    assert "▇" in done.out


def test_one_benchmark_and_every_commit(perfkit, place):
    out = perfkit(["gate", "history", place, "--benchmark", "^gemm$", "--commits"]).out
    assert "No change in 1 series" in out
    assert "axpy" not in out
    assert out.count("2026-11-0") == 40


def test_few_commits_say_so(perfkit, place):
    done = perfkit(["gate", "history", place, "--last", "5"])
    assert "Too few commits" in done.out
    assert perfkit(["gate", "history", place, "--last", "5", "--check"]).code == 3


@pytest.mark.parametrize(("name", "code"), [("axpy", 1), ("gemm", 0)])
def test_check_ends_with_the_answer(perfkit, place, name, code):
    assert perfkit(["gate", "history", place, "--benchmark", name, "--check"]).code == code


def test_small_changes_can_be_left_out(perfkit, place):
    assert "No change" in perfkit(["gate", "history", place, "--min-change", "20%"]).out


def test_json_keeps_to_its_schema(perfkit, place):
    document = json.loads(perfkit(["gate", "history", place, "-f", "json"]).out)
    validate("gate-history", document)
    assert undescribed("gate-history", document) == []
    (change,) = document["series"][0]["changes"]
    assert (change["first_commit"], change["last_commit_before"]) == ("c25", "c24")
    assert change["ratio"] == pytest.approx(1.05, rel=0.02)
    assert change["confidence"] > 0.999


def test_csv_has_a_row_for_each_commit(perfkit, place):
    lines = perfkit(["gate", "history", place, "-f", "csv"]).out.splitlines()
    assert len(lines) == 81
    assert sum("c24" in line and "c25" in line for line in lines) == 1


def test_dates_that_disagree_are_said(perfkit, tmp_path):
    where = str(tmp_path / "h")
    found = rows(30)
    append(where, found[:60])
    append(where, [replace(one, date=one.date - timedelta(days=900)) for one in found[60:]])
    done = perfkit(["gate", "history", where])
    assert "(worse) at c20" in done.out
    note = " ".join(done.out.split())
    assert "disagree: 1 commit is dated before the one ahead (c20, 2024-05-" in note
    document = json.loads(perfkit(["gate", "history", where, "-f", "json"]).out)
    assert document["series"][0]["backdated_commits"] == ["c20"]
    dated = perfkit(["gate", "history", where, "--order", "date"])
    assert "(better) at c00" in dated.out
    assert "disagree" not in dated.out


def test_the_order_of_git(perfkit, refused, tmp_path, monkeypatch):
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    (tmp_path / "r").mkdir()
    monkeypatch.chdir(tmp_path / "r")
    found = rows(30)
    where = str(tmp_path / "h")
    append(where, [*found[45:], *found[:45]])
    assert "no git repository" in refused(["gate", "history", where, "--order", "git"])
    git = ["git", "-c", "user.name=x", "-c", "user.email=x@example.com"]
    subprocess.run([*git, "init", "-q", "-b", "main"], check=True)
    assert "none of the commits" in refused(["gate", "history", where, "--order", "git"])
    for number in range(29):
        message = ["--allow-empty", "-m", str(number)]
        subprocess.run([*git, "commit", "-q", *message], check=True)
        subprocess.run([*git, "tag", f"c{number:02}"], check=True)
    done = perfkit(["gate", "history", where, "--order", "git", "-f", "json"])
    assert "1 of 30 commits are not in this repository" in done.err
    document = json.loads(done.out)
    validate("gate-history", document)
    assert document["order"] == "git"
    (change,) = document["series"][0]["changes"]
    assert (change["first_commit"], change["last_commit_before"]) == ("c20", "c19")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["missing"], "cannot be read"),
        (["."], "no history"),
        (["{h}", "--benchmark", "("], "no regular expression"),
        (["{h}", "--benchmark", "zzz"], "no benchmark matches"),
        (["{h}", "--branch", "zzz"], "no run is of branch"),
        (["{h}", "--min-change", "lots"], "--min-change"),
        (["nonsense://x"], "Protocol not known"),
    ],
)
def test_what_is_wrong_is_named(refused, place, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    assert message in refused(["gate", "history", *(a.format(h=place) for a in arguments)])
