"""Recording and choosing entries of a baseline; the file as writers share it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from perfkit import durable
from perfkit.errors import InputError, UsageError
from perfkit.gate import Policy, Reason, Status, compare, outcome
from perfkit.gate.baseline import chosen, entries_of, load, update
from perfkit.readers.results import ResultFile, Unit
from tests.bench.gate_record import ROOT, entries, killed
from tests.gate.runs import runs

H200 = {"gpu": "NVIDIA H200", "compute_capability": "9.0", "driver": "580.1", "toolkit": "12.9"}
A100 = {**H200, "gpu": "NVIDIA A100", "compute_capability": "8.0"}
VALUES = (1.0, 1.01, 0.99, 1.02, 1.0)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def results(values=VALUES, benchmark="axpy", environment=H200, **fields):
    found = [replace(r, run=str(i)) for i, r in enumerate(runs(values, benchmark, **fields))]
    return ResultFile(kind="csv", origin="r.csv", runs=tuple(found), environment=dict(environment))


def recorded(path, *found, **about):
    for one in found:
        update(path, entries_of(one, about))
    return load(path)


def test_entries_come_back(tmp_path):
    path = tmp_path / "base.json"
    (entry,) = recorded(path, results(), date="2026-11-30", command="./bench", archdb="abc")
    assert [run.values[0] for run in entry.runs] == list(VALUES)
    assert entry.environment == H200
    assert entry.about == {"date": "2026-11-30", "command": "./bench", "archdb": "abc"}
    assert entry.noise is not None
    assert names(tmp_path) == ["base.json"]


def test_recording_again_replaces_its_own_entries_only(tmp_path):
    path = tmp_path / "base.json"
    found = recorded(path, results(), results(benchmark="gemm"), results([2.0] * 5))
    assert [(e.benchmark, e.runs[0].values[0]) for e in found] == [("axpy", 2.0), ("gemm", 1.0)]
    assert len(recorded(path, results(environment=A100))) == 3
    assert len(recorded(path, results(metric="cycles", unit=Unit.CYCLES))) == 4


def test_samples_become_the_median_of_their_run():
    one = results([1.0])
    run = replace(one.runs[0], values=(1.0, 5.0, 2.0))
    (entry,) = entries_of(replace(one, runs=(run,)), {})
    assert entry.runs[0].values == (2.0,)
    assert entry.noise is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"values": (), "failure": "it crashed"}, "failed: .*it crashed"),
        ({"values": (0.0,)}, "bad value"),
        ({"values": (float("nan"),)}, "bad value"),
        ({"unit": Unit.CYCLES}, "unit changed"),
    ],
)
def test_what_is_no_measurement_is_not_recorded(change, message):
    one = results()
    broken = (*one.runs[:-1], replace(one.runs[-1], **change))
    with pytest.raises(InputError, match=message):
        entries_of(replace(one, runs=broken), {})


def test_runs_of_two_environments_are_refused():
    both = results(environment={**H200, "driver": "580.1 | 590.2"})
    with pytest.raises(InputError, match="several environments, driver"):
        entries_of(both, {})


# --- choosing ------------------------------------------------------------------------------------


def verdicts(found, candidate, **policy):
    picked = chosen(found, "base.json", candidate.environment)
    noise = {key: floor.noise for key, floor in picked.floors.items()}
    return compare(picked.files, candidate, Policy(**policy), noise), picked


def test_the_entry_of_the_environment_is_compared(tmp_path):
    path = tmp_path / "base.json"
    found = recorded(path, results(), results([3.0] * 5, environment=A100))
    (verdict,), _ = verdicts(found, results([1.1, 1.11, 1.12, 1.1, 1.09]))
    assert (verdict.status, verdict.baseline_value) == (Status.FAIL, 1.0)


@pytest.mark.parametrize("name", ["gpu", "driver", "toolkit", "compute_capability"])
def test_another_environment_is_inconclusive_and_named(tmp_path, name):
    found = recorded(tmp_path / "base.json", results())
    candidate = results(environment={**H200, name: "another"})
    (verdict,), _ = verdicts(found, candidate)
    assert (verdict.status, verdict.reason) == (Status.INCONCLUSIVE, Reason.ENVIRONMENT)
    assert "another" in verdict.message
    assert outcome([verdict], "pass").exit_code == 3
    (verdict,), _ = verdicts(found, candidate, allow_mismatch=True)
    assert verdict.status is Status.PASS


def test_a_benchmark_of_other_environments_only_is_noted(tmp_path):
    path = tmp_path / "base.json"
    found = recorded(path, results(), results(benchmark="gemm", environment=A100))
    both = ResultFile(
        kind="csv", origin="c.csv", environment=H200,
        runs=(*results().runs, *results(benchmark="gemm").runs),
    )  # fmt: skip
    (axpy, gemm), picked = verdicts(found, both)
    assert axpy.status is Status.PASS
    assert gemm.reason is Reason.NEW
    assert "gemm" in picked.notes[0]


def test_a_candidate_that_does_not_say_where_it_is_from_takes_the_only_entry(tmp_path):
    path = tmp_path / "base.json"
    bare = results(environment={})
    (verdict,), _ = verdicts(recorded(path, results()), bare)
    assert verdict.status is Status.PASS
    with pytest.raises(UsageError, match="GPU NVIDIA A100 and NVIDIA H200"):
        verdicts(recorded(path, results(environment=A100)), bare)


def test_the_entry_that_agrees_in_most_is_taken(tmp_path):
    found = recorded(tmp_path / "base.json", results([9.0] * 5, environment={}), results())
    picked = chosen(found, "base.json", H200)
    assert picked.files[0].runs[0].values == (1.0,)


def test_an_empty_baseline_is_no_baseline():
    with pytest.raises(InputError, match="no entries"):
        chosen((), "base.json", H200)


# --- the file ------------------------------------------------------------------------------------


def test_what_is_no_baseline_is_not_overwritten(tmp_path):
    path = tmp_path / "base.json"
    path.write_text('{"schema": "perfkit.baseline/1", "entr')
    with pytest.raises(InputError, match="broken JSON") as caught:
        update(path, entries(1))
    assert "left as it is" in caught.value.hint
    assert path.read_text().endswith("entr")
    path.write_text('{"schema": "perfkit.baseline/7", "entries": []}')
    with pytest.raises(InputError, match="newer perfkit"):
        update(path, entries(1))


def test_an_old_version_is_brought_forward(tmp_path):
    path = tmp_path / "base.json"
    old = Path(__file__).resolve().parents[1] / "data" / "baselines" / "version-0.json"
    path.write_bytes(old.read_bytes())
    assert {entry.benchmark for entry in recorded(path, results())} == {"axpy", "copy"}
    assert json.loads(path.read_text())["schema"] == "perfkit.baseline/1"


def test_twenty_writers_at_once_lose_nothing(tmp_path):
    path = tmp_path / "base.json"
    program = (
        "import sys; from tests.bench.gate_record import record; "
        "[record(sys.argv[1], f'{sys.argv[2]}-{i}') for i in range(5)]"
    )
    writers = [
        subprocess.Popen([sys.executable, "-c", program, str(path), str(n)], cwd=ROOT)
        for n in range(20)
    ]
    assert [writer.wait(60) for writer in writers] == [0] * 20
    expected = {f"{n}-{i}" for n in range(20) for i in range(5)}
    assert {entry.benchmark for entry in load(path)} == expected
    assert names(tmp_path) == ["base.json"]


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL")
def test_a_writer_killed_at_any_moment_leaves_a_whole_file(tmp_path):
    found = killed(tmp_path / "base.json", tries=15, seed=1)
    assert found.broken == []
    assert found.tries == 15


def test_a_full_disk_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "base.json"
    recorded(path, results())
    before = path.read_bytes()

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(durable.os, "fsync", full)
    with pytest.raises(UsageError, match="No space left"):
        update(path, entries(2))
    assert path.read_bytes() == before
    assert names(tmp_path) == ["base.json"]
