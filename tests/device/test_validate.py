"""``device.validate``: what becomes of children that end well, badly, or not by themselves."""

from __future__ import annotations

import time
from dataclasses import asdict

import pytest

from perfkit.analysis.validation import MOST_PAIRS, QUESTIONS, SHOWN, Pair, Status
from perfkit.device import cards as shared_by_cards
from perfkit.device import validate as module
from perfkit.device.child import End, Failure, Outcome
from perfkit.device.properties import read_devices
from perfkit.device.validate import check_names, fresh_seed, questions
from perfkit.errors import UsageError
from tests.device.fakes import FakeDriver, h200_attributes


def tally(compared=1, differing=0, nothing=None, pairs=(), **figures):
    found = {"configuration": "64 threads", "predicted": "4", "measured": "3"}
    return {
        "compared": compared,
        "differing": differing,
        "differences": [found] * min(differing, SHOWN),
        "figures": figures,
        "nothing": nothing,
        "pairs": [asdict(pair) for pair in pairs],
    }


@pytest.fixture
def cards(monkeypatch):
    """Cards whose children give what a test says: check -> tallies, failure."""
    asked = []

    def use(answers=None, driver=None, devices=1):
        def child(task, arguments, *, uuid, limits, monitor, on_result, stop):
            asked.append((task, arguments, uuid, limits.seconds))
            tallies, failure = (answers or {}).get(arguments["name"], ([tally()], None))
            for one in tallies:
                on_result(one)
            return Outcome(results=tuple(tallies), failure=failure)

        monkeypatch.setattr(module, "run_child", child)
        found = read_devices(driver or FakeDriver(devices=devices))
        return asked, lambda **options: module.validate(found, **options)

    return use


def test_every_check_runs_in_a_child_of_its_own(cards):
    asked, validate = cards()
    done = []
    report = validate(seed=7, on_check=lambda index, check: done.append((index, check)))
    assert [check.status for check in report.checks] == [Status.PASS] * len(QUESTIONS)
    assert done == [(None, check) for check in report.checks]
    assert [one[1]["name"] for one in asked] == list(check_names())
    assert {one[0] for one in asked} == {"validate"}
    assert all(one[1] == {"name": one[1]["name"], "seed": 7, "quick": False} for one in asked)
    assert [one[3] for one in asked] == [question.seconds for question in QUESTIONS]
    assert (report.seed, report.quick) == (7, False)
    scopes = {check.name: check.scope for check in report.checks}
    assert scopes["residency"] == scopes["access-counters"] == "measured"
    assert scopes["attributes"] == "stated"


def test_some_checks_with_a_limit_of_ones_own(cards):
    asked, validate = cards()
    report = validate(only=["residency", "attributes"], quick=True, seconds=9)
    assert [check.name for check in report.checks] == ["attributes", "residency"]
    assert all(one[1]["quick"] and one[3] == 9 for one in asked)


def test_the_seed_is_fresh_each_time(cards):
    _, validate = cards()
    assert len({fresh_seed() for _ in range(20)}) > 10
    assert validate(only=["attributes"]).seed >= 0


def test_an_unknown_check_is_refused_before_a_card_is_needed():
    with pytest.raises(UsageError, match="no check 'residensy'"):
        questions(["residensy"])


def test_tallies_add_up(cards):
    parts = [tally(10, 0, a=1), tally(20, 15, a=2, b="x"), tally(5, 3)]
    _, validate = cards({"residency": (parts, None)})
    (check,) = validate(only=["residency"]).checks
    assert (check.status, check.compared, check.differing) == (Status.FAIL, 35, 18)
    assert len(check.differences) == SHOWN
    assert check.figures == {"a": 2, "b": "x"}


def pair(predicted, measured=None, **given):
    measured = predicted if measured is None else measured
    return Pair(
        what="blocks per SM",
        predicted=predicted,
        measured=measured,
        agrees=predicted == measured,
        **given,
    )


def test_pairs_of_numbers_are_counted_and_those_that_differ_find_room(cards):
    many = [pair(n, count=2) for n in range(MOST_PAIRS + 50)]
    parts = [tally(10, pairs=[pair(1), pair(8, 7)]), tally(10, pairs=many), tally(1, pairs=many)]
    parts.append(tally(1, 1, pairs=[pair(9, 7)]))
    _, validate = cards({"residency": (parts, None)})
    (check,) = validate(only=["residency"]).checks
    found = {(one.predicted, one.measured): one.count for one in check.pairs}
    assert found[1, 1] == 5
    assert (found[8, 7], found[9, 7]) == (1, 1)
    assert len(found) == MOST_PAIRS + 2
    assert sum(found.values()) + check.pairs_left_out == 3 + 2 * 2 * len(many)


@pytest.mark.parametrize(
    ("tallies", "failure", "status", "reason"),
    [
        ([tally(0, nothing="no clusters")], None, Status.SKIPPED, "no clusters"),
        ([], None, Status.SKIPPED, "it compared nothing"),
        ([tally(9)], Failure(end=End.TIMEOUT, message="too long"), Status.UNFINISHED, "too long"),
        ([tally(9, 1)], Failure(end=End.TIMEOUT, message="too long"), Status.FAIL, "too long"),
        (
            [],
            Failure(end=End.ERROR, message="no NVRTC", hint="install it", exit_code=4),
            Status.SKIPPED,
            "no NVRTC",
        ),
        (
            [],
            Failure(end=End.CRASHED, message="ended early", log="a\nZeroDivisionError: x"),
            Status.UNFINISHED,
            "ended early: ZeroDivisionError: x",
        ),
    ],
)
def test_what_is_not_a_pass(cards, tallies, failure, status, reason):
    _, validate = cards({"clusters": (tallies, failure)})
    check, after = validate(only=["clusters", "residency"]).checks
    assert (check.status, check.reason) == (status, reason)
    assert after.status is Status.PASS


def test_ctrl_c_keeps_what_is_done(cards):
    interrupted = Failure(end=End.INTERRUPTED, message="interrupted", exit_code=130)
    _, validate = cards({"clusters": ([tally(3)], interrupted)})
    (card,) = validate().cards
    assert card.interrupted
    names = [check.name for check in card.checks]
    assert names == list(check_names()[: len(names)])
    assert names[-1] == "clusters"
    assert card.checks[-1].status is Status.UNFINISHED


def test_several_cards_each_have_their_children(cards):
    asked, validate = cards(devices=3)
    done = []
    report = validate(seed=7, on_check=lambda index, check: done.append((index, check.name)))
    assert [card.environment.index for card in report.cards] == [0, 1, 2]
    for card in report.cards:
        assert [check.name for check in card.checks] == list(check_names())
        assert not card.interrupted
        mine = [one[1]["name"] for one in asked if one[2] == card.environment.uuid]
        assert sorted(mine) == sorted(check_names())
    assert sorted(done) == sorted((n, name) for n in range(3) for name in check_names())


def test_cards_side_by_side_take_what_they_share_in_turns(monkeypatch):
    shared = {question.name: question.shares for question in QUESTIONS if question.shares}
    assert {"overlap", "shared-capacity", "access-counters"} <= set(shared)
    running, together, most = [], [], []

    def child(task, arguments, *, on_result, **_):
        running.append(shared.get(arguments["name"], arguments["name"]))
        together.extend(
            thing for thing in set(running) & {*shared.values()} if running.count(thing) > 1
        )
        most.append(len(running))
        time.sleep(0.01)
        running.remove(shared.get(arguments["name"], arguments["name"]))
        on_result(tally())
        return Outcome(results=(), failure=None)

    monkeypatch.setattr(module, "run_child", child)
    report = module.validate(read_devices(FakeDriver(devices=4)))
    assert together == []
    assert max(most) > 1
    assert len(report.checks) == 4 * len(QUESTIONS)


def test_ctrl_c_ends_the_checks_of_every_card_and_keeps_what_is_done(monkeypatch):
    stopped = []

    def child(task, arguments, *, uuid, on_result, stop, **_):
        on_result(tally())
        if arguments["name"] == "attributes":
            return Outcome(results=(), failure=None)
        while not stop():
            time.sleep(0.005)
        stopped.append(uuid)
        failure = Failure(end=End.INTERRUPTED, message="interrupted", exit_code=130)
        return Outcome(results=(), failure=failure)

    def interrupt():
        if len({one for one, _ in done}) == 2:
            raise KeyboardInterrupt
        time.sleep(0.005)

    done = []
    monkeypatch.setattr(module, "run_child", child)
    monkeypatch.setattr(shared_by_cards, "_pause", interrupt)
    devices = read_devices(FakeDriver(devices=2))
    report = module.validate(devices, on_check=lambda index, check: done.append((index, check)))
    assert sorted(stopped) == sorted(device.uuid for device in devices)
    for card in report.cards:
        assert card.interrupted
        first, second = card.checks
        assert (first.status, second.status) == (Status.PASS, Status.UNFINISHED)


def test_an_error_of_one_card_ends_the_others(monkeypatch):
    def child(task, arguments, *, uuid, stop, **_):
        if uuid.startswith("GPU-00000001"):
            raise UsageError("no room for a file")
        while not stop():
            time.sleep(0.005)
        failure = Failure(end=End.INTERRUPTED, message="interrupted", exit_code=130)
        return Outcome(results=(), failure=failure)

    monkeypatch.setattr(module, "run_child", child)
    with pytest.raises(UsageError, match="no room"):
        module.validate(read_devices(FakeDriver(devices=2)))


def test_a_capability_that_the_database_lacks_has_nothing_to_compare(cards):
    unknown = {"COMPUTE_CAPABILITY_MAJOR": 99, "COMPUTE_CAPABILITY_MINOR": 0}
    asked, validate = cards(driver=FakeDriver(values=h200_attributes() | unknown))
    report = validate()
    assert asked == []
    assert {check.status for check in report.checks} == {Status.SKIPPED}
    assert all("lacks compute capability 99.0" in check.reason for check in report.checks)
    assert {check.scope for check in report.checks} == {"unknown"}


def test_another_capability_rests_on_assumptions(cards):
    ada = {"COMPUTE_CAPABILITY_MAJOR": 8, "COMPUTE_CAPABILITY_MINOR": 9}
    _, validate = cards(driver=FakeDriver(values=h200_attributes() | ada))
    scopes = {check.name: check.scope for check in validate().checks}
    assert scopes["residency"] == scopes["access-counters"] == "assumed"
    assert scopes["driver-occupancy"] == "stated"
