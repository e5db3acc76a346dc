"""``device.ceilings``: groups of figures on one card and on several, with children made up."""

from __future__ import annotations

import time

import pytest

from perfkit.device import cards as shared
from perfkit.device import ceilings as module
from perfkit.device.ceilings import groups_of, measure_ceilings
from perfkit.device.child import End, Failure, Limits, Outcome
from perfkit.device.experiments.groups import GROUPS
from perfkit.device.properties import read_devices
from perfkit.errors import UsageError
from tests.device.fakes import FakeDriver, h200_attributes

INTERRUPTED = Failure(end=End.INTERRUPTED, message="interrupted", exit_code=130)


def figure(group, value=1.0):
    return {
        "group": group, "name": "x", "value": value, "unit": "s", "how": "", "tried": 1,
        "median_of": 1, "sm_clock_hz": None, "throttles": [], "dtype": None, "accumulate": None,
        "compute_unit": None,
    }  # fmt: skip


@pytest.fixture
def cards(monkeypatch):
    """Cards whose children give one figure of each group, or the failure that a test says."""
    asked = []

    def use(devices=1, failures=None, driver=None):
        def child(task, arguments, *, uuid, limits, monitor, on_result, stop):
            asked.append((task, arguments, uuid, limits.seconds))
            failure = (failures or {}).get(arguments["group"])
            if failure is None:
                on_result(figure(arguments["group"]))
            return Outcome(results=(), failure=failure)

        monkeypatch.setattr(module, "run_child", child)
        found = read_devices(driver or FakeDriver(devices=devices))
        return asked, lambda **options: measure_ceilings(found, **options)

    return use


def test_every_group_in_a_child_of_its_own(cards):
    asked, measure = cards()
    told = []
    (report,) = measure(quick=True, on_ceiling=lambda index, one: told.append((index, one.group)))
    assert [one.ceiling.group for one in report.ceilings] == list(GROUPS)
    assert told == [(None, group) for group in GROUPS]
    assert [one[1] for one in asked] == [{"group": group, "quick": True} for group in GROUPS]
    assert {(one[0], one[3]) for one in asked} == {("ceilings", 180)}
    assert report.environment.index is None
    assert (report.unmeasured, report.interrupted) == ((), False)


def test_some_groups_with_a_limit(cards):
    asked, measure = cards()
    measure(groups=["tensor", "dram"], limits=Limits(seconds=7))
    assert [(one[1]["group"], one[3]) for one in asked] == [("tensor", 7), ("dram", 7)]


def test_an_unknown_group():
    with pytest.raises(UsageError, match="no group 'foo'"):
        groups_of(["dram", "foo"])


def test_a_group_that_fails_leaves_the_others_theirs(cards):
    crashed = Failure(end=End.CRASHED, message="ended early", log="a\nZeroDivisionError: x")
    _, measure = cards(failures={"l2": crashed})
    (report,) = measure()
    (lost,) = report.unmeasured
    assert (lost.group, lost.message) == ("l2", "ended early: ZeroDivisionError: x")
    assert len(report.ceilings) == len(GROUPS) - 1


def test_a_group_that_is_interrupted_is_the_last(cards):
    asked, measure = cards(failures={"l1": INTERRUPTED})
    (report,) = measure()
    assert [one[1]["group"] for one in asked] == ["dram", "l2", "l1"]
    assert [one.group for one in report.unmeasured] == ["l1"]
    assert report.interrupted


def test_several_cards_side_by_side_what_they_share_in_turns(monkeypatch):
    running, together, most = [], [], []

    def child(task, arguments, *, uuid, on_result, **_):
        thing = "host" if arguments["group"] in {"transfer", "launch"} else uuid
        together.extend(one for one in running if one == thing)
        running.append(thing)
        most.append(len(running))
        time.sleep(0.01)
        running.remove(thing)
        on_result(figure(arguments["group"], value=1.0 + int(uuid[4:12])))
        return Outcome(results=(), failure=None)

    monkeypatch.setattr(module, "run_child", child)
    reports = measure_ceilings(read_devices(FakeDriver(devices=3)))
    assert together == []
    assert max(most) > 1
    for place, report in enumerate(reports):
        assert report.environment.index == place
        # in the order of the groups, whichever turn was whose
        assert [one.ceiling.group for one in report.ceilings] == list(GROUPS)
        assert {one.ceiling.value for one in report.ceilings} == {1.0 + place}


def test_ctrl_c_ends_every_card_and_keeps_what_is_done(monkeypatch):
    done = []

    def child(task, arguments, *, uuid, on_result, stop, **_):
        if arguments["group"] == "dram":
            on_result(figure("dram"))
            return Outcome(results=(), failure=None)
        while not stop():
            time.sleep(0.005)
        return Outcome(results=(), failure=INTERRUPTED)

    def interrupt():
        if len(done) == 2:
            raise KeyboardInterrupt
        time.sleep(0.005)

    monkeypatch.setattr(module, "run_child", child)
    monkeypatch.setattr(shared, "_pause", interrupt)
    devices = read_devices(FakeDriver(devices=2))
    reports = measure_ceilings(devices, on_ceiling=lambda index, _: done.append(index))
    for report in reports:
        assert [one.ceiling.group for one in report.ceilings] == ["dram"]
        assert report.interrupted


def test_a_card_that_nobody_knows_has_no_data_sheet(cards):
    future = {"COMPUTE_CAPABILITY_MAJOR": 99, "COMPUTE_CAPABILITY_MINOR": 0}
    _, measure = cards(driver=FakeDriver(values=h200_attributes() | future))
    (report,) = measure(groups=["dram"])
    assert report.environment.product is None
    assert report.ceilings[0].datasheet is None
