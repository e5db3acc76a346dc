"""The time that follows from what a launch has to do; expected values are worked out here."""

from __future__ import annotations

from dataclasses import replace

import pytest

from perfkit.analysis.prediction import (
    Chain,
    Demand,
    Flow,
    Machine,
    predict,
    share_of,
    through_dram,
)
from perfkit.arch import catalog
from perfkit.kernel import DType
from perfkit.models.roofs import Ceilings

H200 = Machine(gpu=catalog.gpu("h200"), capability=catalog.capability("9.0"), l2_bytes=60 * 2**20)
CEILINGS = Ceilings(
    gpu="h200-sxm",
    compute={},
    memory={"dram": 4.7e12, "l2": 9.7e12},
    clock_hz=1.98e9,
    origin="here.json",
    mixes={"read": 4.6e12, "copy": 4.3e12, "write": 4.7e12},
    latencies_s={"dram": 350e-9},
    instructions={"f16/f32 mma.sync": 600e12},
)
MEASURED = replace(H200, ceilings=CEILINGS)
COPY = Demand(read_bytes=1e9, write_bytes=1e9)


def test_bytes_over_the_data_sheets_bandwidth():
    found = predict(H200, COPY)
    assert found.bound_s == found.expected_s == pytest.approx(2e9 / 4.8e12)
    assert (found.bound_by, found.basis) == (("dram",), "data sheet")


def test_measured_ceilings_bound_by_the_best_mix_and_expect_this_one():
    found = predict(MEASURED, COPY)
    assert found.bound_s == pytest.approx(2e9 / 4.7e12)
    assert found.expected_s == pytest.approx(2e9 / 4.3e12)
    assert found.basis == "measured"


@pytest.mark.parametrize(
    ("cold", "footprint", "moved"),
    [
        (False, None, 2e9),
        (False, 2e9, 2e9),
        (False, 60 * 2**20, 0.0),  # all of it stays in L2
        (True, 60 * 2**20, 2e9 - 60 * 2**20),  # what is written may
        (True, None, 2e9 - 60 * 2**20),
    ],
)
def test_what_passes_dram(cold, footprint, moved):
    assert through_dram(H200, COPY, cold=cold, footprint_bytes=footprint) == moved


def test_pieces_that_dram_gives_are_expected_but_no_bound():
    found = predict(H200, replace(COPY, fetched_bytes=3e9))
    assert found.bound_s == pytest.approx(2e9 / 4.8e12)
    assert found.expected_s == pytest.approx(4e9 / 4.8e12)


def test_wavefronts_of_shared_memory():
    # 132 SMs, 128 bytes a clock, 1980 MHz
    found = predict(H200, replace(COPY, l1_bytes=1e12))
    assert found.bound_s == pytest.approx(1e12 / (132 * 128 * 1.98e9))
    assert found.bound_by == ("l1",)


def test_idle_lanes_are_issued_all_the_same():
    flow = Flow(flops=1e12, issued=4e12)
    found = predict(H200, replace(COPY, flow=flow))
    assert found.bound_s == pytest.approx(4e12 / (2 * 128 * 132 * 1.98e9))
    assert found.bound_by == ("simt",)


def test_one_kind_of_instruction_is_expected_to_reach_what_it_was_measured_to():
    flow = Flow(
        flops=1e15, dtype=DType.F16, unit="tensor", accumulate=DType.F32, instruction="mma.sync"
    )
    found = predict(MEASURED, Demand(read_bytes=1e9, flow=flow))
    assert found.expected_s == pytest.approx(1e15 / 600e12)
    assert found.bound_s < found.expected_s


def test_arithmetic_that_the_card_does_not_have_is_named():
    volta = Machine(gpu=catalog.gpu("v100"), capability=catalog.capability("7.0"))
    flow = Flow(flops=1e12, dtype=DType.F8, unit="tensor")
    found = predict(volta, replace(COPY, flow=flow))
    assert found.bound_by == ("dram",)
    assert any("f8" in text for text in found.missing)


def test_l2_without_a_known_rate_is_only_named_where_it_could_decide():
    no_l2 = replace(H200, gpu=catalog.gpu("rtx-4090"), capability=catalog.capability("8.9"))
    assert predict(no_l2, COPY).missing == ()
    assert any(text.startswith("l2") for text in predict(no_l2, COPY, footprint_bytes=1).missing)


@pytest.mark.parametrize(
    ("machine", "seconds", "basis"),
    [
        (MEASURED, 350e-9, "measured"),
        (H200, 696 / 1.98e9, "database"),
        (replace(H200, gpu=catalog.gpu("t4")), None, ""),
    ],
)
def test_a_chain_takes_its_latencies(machine, seconds, basis):
    found = predict(machine, Demand(), chain=Chain(hops=1000, level="dram"))
    assert found.bound_s is None
    assert found.basis == basis
    assert bool(found.missing) == (seconds is None)
    assert found.expected_s == (None if seconds is None else pytest.approx(1000 * seconds))


def test_nothing_to_do_is_no_bound():
    found = predict(H200, Demand())
    assert (found.bound, found.bound_s, found.expected_s) == (None, None, None)


def test_shares_of_a_measured_time():
    found = predict(H200, replace(COPY, flow=Flow(flops=1e10))).bound
    assert share_of(found, "memory", 1e-3) == pytest.approx(2e9 / 4.8e12 / 1e-3)
    assert share_of(found, "compute", 1e-3) == pytest.approx(1e10 / (2 * 128 * 132 * 1.98e9) / 1e-3)
    assert share_of(predict(H200, COPY).bound, "compute", 1e-3) == 0.0
