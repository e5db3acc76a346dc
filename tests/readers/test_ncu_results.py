"""Profiled launches as samples."""

from __future__ import annotations

from pathlib import Path

import pytest

from perfkit.readers.recognise import read_results
from perfkit.readers.results import Unit

DATA = Path(__file__).resolve().parents[1] / "data" / "ncu"


def test_launches_of_a_kernel_are_samples():
    found = read_results(DATA / "decimal_comma.csv")
    assert found.kind == "ncu"
    assert found.environment == {"compute_capability": "8.9"}
    gemm, reduce = found.runs
    assert gemm.benchmark == "ampere_sgemm_128x64_nn"
    assert gemm.values == pytest.approx((117.344e-6, 120.416e-6))
    assert (gemm.metric, gemm.unit) == ("gpu__time_duration.sum", Unit.SECONDS)
    assert reduce.benchmark == "void at::reduce_kernel<512, 1>"
    assert reduce.values == pytest.approx((14.912e-6,))
    assert "numbers are read with a decimal comma" in found.notes


def test_metrics_by_choice():
    found = read_results(DATA / "decimal_comma.csv", metric=r"dram__bytes\.sum|sm__throughput.*")
    gemm = {run.metric: run for run in found.runs if "sgemm" in run.benchmark}
    assert gemm["dram__bytes.sum"].values == (27595520.0, 30818944.0)
    assert gemm["dram__bytes.sum"].unit is Unit.BYTES
    share = gemm["sm__throughput.avg.pct_of_peak_sustained_elapsed"]
    assert share.values == pytest.approx((0.6577, 0.6563))
    assert share.better_when_higher


def test_the_details_page_has_the_same_name_for_the_time():
    (run,) = read_results(DATA / "details.csv").runs
    assert run.metric == "gpu__time_duration.sum"
    assert run.values == pytest.approx((406240e-9,))
    assert run.clock_hz == pytest.approx(1239496049.13)
    (cycles,) = read_results(DATA / "details.csv", metric="Elapsed Cycles").runs
    assert (cycles.values, cycles.unit) == ((508757.0,), Unit.CYCLES)


HEADER = '"ID","Process ID","Kernel Name","Block Size","Grid Size","CC","gpu__time_duration.sum"'


def test_processes_are_runs_and_shapes_are_said(tmp_path):
    path = tmp_path / "raw.csv"
    rows = [
        HEADER,
        '"","","","block","grid","","us"',
        '"0","7","k","(64, 1, 1)","(1, 1, 1)","9.0","1.5"',
        '"1","7","k","(128, 1, 1)","(1, 1, 1)","9.0","2.5"',
        '"0","8","k","(64, 1, 1)","(1, 1, 1)","9.0","1.25"',
        '"1","8","k","(64, 1, 1)","(1, 1, 1)","9.0","0.0"',
    ]
    path.write_text("\n".join(rows) + "\n", "utf-8")
    found = read_results(path)
    first, second = found.runs
    assert first.run == "7"
    assert first.values == pytest.approx((1.5e-6, 2.5e-6))
    assert second.run == "8"
    assert "0 s, sample 2 of 2" in second.failure
    assert any("2 different shapes" in note for note in found.notes)


def test_metrics_that_could_be_better_either_way_are_said_where_they_are_chosen(tmp_path):
    path = tmp_path / "p.csv"
    names = '"sm__inst_executed.avg.per_cycle_active","sm__throughput.avg.pct_of_peak"'
    path.write_text(
        f"{HEADER},{names}\n"
        '"","","","","","","us","inst/cycle","%"\n'
        '"0","7","k","(32, 1, 1)","(1, 1, 1)","9.0","1.5","2.5","40"\n'
    )
    chosen = read_results(path, metric=".*per_cycle.*|.*throughput.*")
    (note,) = chosen.notes
    assert note.endswith("better when lower, as the file does not say: "
                         "sm__inst_executed.avg.per_cycle_active")  # fmt: skip
    assert not any("taken to be" in note for note in read_results(path).notes)


def test_a_summary_of_launches_has_their_averages():
    found = read_results(DATA / "summary.csv")
    (run,) = found.runs
    assert (run.metric, run.values) == ("gpu__time_duration.sum", (13.25e-6, 1.55e-3))
    assert any("launches of 2 different shapes" in note for note in found.notes)
