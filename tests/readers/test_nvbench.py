"""nvbench: all generations of its file, numbers that are none, side files."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from perfkit.errors import InputError
from perfkit.readers.recognise import read_results
from perfkit.readers.results import Unit

DATA = Path(__file__).resolve().parents[1] / "data" / "results"


def by_name(found):
    return {run.benchmark: run for run in found.runs}


def test_version_1():
    found = read_results(DATA / "nvbench_1.0.0.json")
    assert found.kind == "nvbench"
    assert found.environment == {
        "gpu": "NVIDIA B300",
        "compute_capability": "10.3",
        "sm_clock_mhz": "1920",
        "command": "./bench --json out.json",
    }
    runs = by_name(found)
    first = runs["reduce T=F32 Shape=a, b"]
    assert first.values == (1.75e-5,)
    assert (first.unit, first.metric, first.samples) == (Unit.SECONDS, "gpu_time", 812)
    assert first.spread is None  # "inf": a single sample has no deviation
    assert first.clock_hz == 1.905e9
    assert "nan" in runs["reduce T=F64 Shape=a"].failure
    assert runs["reduce T=I8 Shape=a"].failure == "gpu_time is null"
    assert runs["reduce T=I4 Shape=a"].failure == "no time in the file"
    assert all(run.values == () for run in found.runs if run.failure)
    host = runs["host"]
    assert (host.metric, host.values, host.spread, host.samples) == ("cpu_time", (0.001,), 0.02, 7)


def test_further_metrics():
    found = read_results(DATA / "nvbench_1.0.0.json", metric=".*")
    runs = {
        run.metric: run
        for run in found.runs
        if run.benchmark.startswith("reduce T=F32") and not run.failure
    }
    values = {metric: (run.values, run.unit) for metric, run in runs.items()}
    assert values == {
        "gpu_time": ((1.75e-5,), Unit.SECONDS),
        "cpu_time": ((2.5e-5,), Unit.SECONDS),
        "batch_time": ((1.5e-5,), Unit.SECONDS),
        "bytes_per_second": ((1.6e11,), Unit.BYTES_PER_SECOND),
        "items_per_second": ((4e10,), Unit.PER_SECOND),
    }
    assert runs["cpu_time"].spread == 0.04
    assert set(found.metrics) == set(values)


@pytest.mark.parametrize("generation", ["unversioned", "first"])
def test_earlier_generations(generation):
    (run,) = read_results(DATA / f"nvbench_{generation}.json").runs
    assert (run.benchmark, run.values, run.spread) == ("copy N=2^8", (1.5e-6,), 0.25)


def test_devices_are_named_where_there_are_several(tmp_path):
    document = json.loads((DATA / "nvbench_1.0.0.json").read_text("utf-8"))
    states = document["benchmarks"][0]["states"]
    states[1] |= {"name": "Device=1 T=F32 Shape=a, b", "device": 1}
    path = tmp_path / "two.json"
    path.write_text(json.dumps(document), "utf-8")
    found = read_results(path)
    names = [run.benchmark for run in found.runs]
    assert "reduce Device=0 T=F32 Shape=a, b" in names
    assert "reduce Device=1 T=F32 Shape=a, b" in names
    assert found.environment["gpu"] == "NVIDIA B300 | NVIDIA L4"
    assert found.environment["compute_capability"] == "10.3 | 8.9"


@pytest.fixture
def moved(tmp_path):
    """The result with its side files, in a folder of its own."""
    for name in ("d02.nvbench.json", "d02.bin", "d02.freqs"):
        source = DATA / name
        copy = shutil.copytree if source.is_dir() else shutil.copy
        copy(source, tmp_path / name)
    return tmp_path / "d02.nvbench.json"


def rewrite(path, old, new):
    path.write_text(path.read_text("utf-8").replace(old, new), "utf-8")


@pytest.mark.parametrize("name", ["/elsewhere/run/d02.bin/0.bin", r"C:\\runs\\d02.bin\\0.bin"])
def test_side_files_are_found_beside_the_result(moved, name):
    rewrite(moved, "d02.bin/0.bin", name)
    assert len(read_results(moved).runs[0].values) == 3


@pytest.mark.parametrize("name", ["../secret/0.bin", "/dev/zero", "d02.bin", "", "a" * 5000])
def test_no_other_file_is_read(moved, name):
    rewrite(moved, "d02.bin/0.bin", name)
    found = read_results(moved)
    assert found.runs[0].values == (1.25e-6,)  # the summary
    assert any("is not beside the file" in note for note in found.notes)


def test_a_side_file_that_is_too_short(moved):
    side = moved.parent / "d02.bin" / "0.bin"
    side.write_bytes(side.read_bytes()[:-1])
    with pytest.raises(InputError, match=r"d02.bin/0.bin holds 11 bytes, 3 samples would be 12"):
        read_results(moved)


def test_a_sample_of_no_time_fails_the_run(moved):
    (moved.parent / "d02.bin" / "0.bin").write_bytes(bytes(12))
    run = read_results(moved).runs[0]
    assert run.values == ()
    assert "0 s, sample 1 of 3" in run.failure
