"""What is slower than the best rates; expected values are worked out here."""

from __future__ import annotations

from dataclasses import replace

import pytest

from perfkit.analysis.expected import mixed
from perfkit.analysis.prediction import Demand, Machine, predict
from perfkit.arch import catalog
from perfkit.models.roofs import Ceilings

SMS, SCHEDULERS = 132, 4
H200 = Machine(gpu=catalog.gpu("h200"), capability=catalog.capability("9.0"))
CEILINGS = Ceilings(
    gpu="h200-sxm",
    compute={},
    memory={},
    clock_hz=1.5e9,
    origin="here.json",
    mixes={"read": 4.6e12, "copy": 4.3e12, "write": 4.7e12},
)
WAVEFRONTS = Demand(read_bytes=1e6, l1_bytes=1e12)


class Model:
    """Of a kernel: so long on an SM, in turns."""

    def expected_s(self, machine, blocks_per_sm):
        return None if machine.l2_bytes else 4.0 / (blocks_per_sm or 1)


def test_a_kernel_with_a_model_of_its_own():
    work = Demand(read_bytes=1e6, model=Model())
    assert predict(H200, work).expected_s == 4
    assert predict(H200, work, blocks_per_sm=2).expected_s == 2
    assert predict(H200, work, blocks_per_sm=2).bound_s == predict(H200, work).bound_s < 1e-6
    # one that cannot tell leaves what follows from the demand
    cannot = replace(H200, l2_bytes=1)
    assert predict(cannot, work).expected_s == pytest.approx(1e6 / 4.8e12)


@pytest.mark.parametrize(
    ("share", "rate"),
    [
        (0.0, 4.6e12),
        (1.0, 4.7e12),
        (0.5, 4.3e12),
        (0.75, 2 / (1 / 4.3e12 + 1 / 4.7e12)),
        (0.125, 1 / (0.75 / 4.6e12 + 0.25 / 4.3e12)),
    ],
)
def test_time_per_byte_is_evenly_between_mixes(share, rate):
    assert mixed(CEILINGS.mixes, share) == pytest.approx(rate)


def test_a_third_of_a_triad_is_written():
    assert mixed({"triad": 3.0, "write": 6.0}, 2 / 3) == pytest.approx(1 / (0.5 / 3 + 0.5 / 6))
    assert mixed({"read": 6.0, "triad": 3.0}, 1 / 6) == pytest.approx(1 / (0.5 / 6 + 0.5 / 3))


def test_a_mix_is_not_expected_to_beat_the_bound():
    fast = replace(H200, ceilings=replace(CEILINGS, mixes={"read": 9e12}))
    assert predict(fast, Demand(read_bytes=1e9)).expected_s == pytest.approx(1e9 / 4.8e12)


@pytest.mark.parametrize(("mixes", "found"), [({}, None), ({"strange": 1.0}, None)])
def test_without_mixes_nothing_is_known(mixes, found):
    assert mixed(mixes, 0.5) is found


@pytest.mark.parametrize(("share", "rate"), [(0.0, 3.0), (1.0, 3.0)])
def test_one_mix_stands_for_all(share, rate):
    assert mixed({"copy": 3.0}, share) == rate


@pytest.mark.parametrize(("ceilings", "clock_hz"), [(None, 1.98e9), (CEILINGS, 1.5e9)])
def test_every_instruction_takes_an_issue_slot(ceilings, clock_hz):
    demand = replace(WAVEFRONTS, instructions=1e11)
    found = predict(replace(H200, ceilings=ceilings), demand)
    assert found.expected_s == pytest.approx(1e11 / (SMS * SCHEDULERS * clock_hz))
    assert found.bound_s == pytest.approx(1e12 / (SMS * 128 * 1.98e9))
    assert found.bound_by == ("l1",)


def test_instructions_that_leave_slots_free_do_not_show():
    assert predict(H200, replace(WAVEFRONTS, instructions=1e9)) == predict(H200, WAVEFRONTS)


def test_schedulers_that_issue_two_at_once_are_no_limit():
    gtx = Machine(gpu=catalog.gpu("gtx-1080"), capability=catalog.capability("6.1"))
    demand = replace(WAVEFRONTS, instructions=1e12)
    assert predict(gtx, demand) == predict(gtx, WAVEFRONTS)


@pytest.mark.parametrize(
    ("blocks", "longer"), [(1, 132), (132, 1), (133, 2 * 132 / 133), (1024, 8 * 132 / 1024)]
)
def test_the_sm_with_most_blocks_decides(blocks, longer):
    even = predict(H200, WAVEFRONTS)
    found = predict(H200, replace(WAVEFRONTS, blocks=blocks))
    assert found.expected_s == pytest.approx(longer * even.expected_s)
    assert found.bound_s == even.bound_s
    issued = replace(WAVEFRONTS, instructions=1e11)
    assert predict(H200, replace(issued, blocks=blocks)).expected_s == pytest.approx(
        longer * predict(H200, issued).expected_s
    )


def test_l2_takes_its_turns():
    machine = replace(H200, ceilings=replace(CEILINGS, memory={"l2": 9e12}))
    demand = Demand(read_bytes=1e6, l2_bytes=9e9)
    assert predict(machine, demand).expected_s == pytest.approx(1e-3)
    # as many turns as the bytes are worth, fewer, and more: 64 bytes are read in one
    for turns, seconds in ((9e9 / 64, 1e-3), (1e6, 1e-3), (3 * 9e9 / 64, 3e-3)):
        found = predict(machine, replace(demand, l2_turns=turns))
        assert found.expected_s == pytest.approx(seconds)
        assert found.bound_s == pytest.approx(1e-3)


def test_without_a_rate_of_l2_turns_are_of_no_use():
    cannot = Machine(gpu=catalog.gpu("rtx-4090"), capability=catalog.capability("8.9"))
    demand = Demand(read_bytes=1e6, l2_bytes=9e9)
    assert predict(cannot, replace(demand, l2_turns=1e12)) == predict(cannot, demand)


def test_all_sms_share_dram():
    demand = Demand(read_bytes=1e9)
    assert predict(H200, replace(demand, blocks=133)) == predict(H200, demand)
