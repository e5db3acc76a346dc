"""Checks on a card that follows the rules, and on cards with a planted deviation."""

from __future__ import annotations

import pytest

from perfkit.analysis.validation import QUESTIONS, Status, verdict
from perfkit.device.experiments.checks import CHECKS, PROFILED, check
from perfkit.device.properties import read_device
from tests.device.fake_validate import FakeCard, Rules, sums, trial, without_compiler
from tests.device.fakes import FakeDriver, h200_attributes

#: what runs on the fake card as it is; the others are in files of their own
HERE = (
    *("attributes", "driver-occupancy", "block-size", "available-shared", "clusters", "residency"),
    *("fits", "access-timing"),
)


@pytest.fixture(autouse=True)
def _no_compiler(monkeypatch):
    without_compiler(monkeypatch)


def test_every_question_has_a_check_and_every_check_a_question():
    assert list(CHECKS) == [question.name for question in QUESTIONS]
    assert set(PROFILED) < set(CHECKS)
    assert set(HERE) < set(CHECKS)


@pytest.mark.parametrize("name", HERE)
def test_a_card_that_follows_the_rules_passes(name):
    status, compared, differences, _, _ = sums(name, FakeCard())
    assert differences == []
    assert status is Status.PASS
    assert compared >= {"attributes": 20}.get(name, 100)


@pytest.mark.parametrize("name", ["driver-occupancy", "clusters", "residency", "access-timing"])
def test_what_is_compared_as_numbers_is_kept_as_numbers(name):
    tallies = list(check(trial(name, FakeCard())))
    pairs = [pair for tally in tallies for pair in tally.pairs]
    assert sum(pair.count for pair in pairs) == sum(tally.compared for tally in tallies)
    assert {type(number) for one in pairs for number in (one.predicted, one.measured)} <= {
        int,
        float,
    }
    assert all(pair.agrees for pair in pairs)
    rules = Rules(driver=lambda found, **_: found - (found > 3))
    if name == "driver-occupancy":
        (wrong, *_) = [one for tally in check(trial(name, FakeCard(rules=rules)))
                       for one in tally.pairs if not one.agrees]  # fmt: skip
        assert wrong.predicted == wrong.measured + 1


def test_the_full_modes_compare_as_much_as_they_should():
    status, compared, _, figures, _ = sums("residency", FakeCard(), quick=False)
    assert status is Status.PASS
    assert compared >= 20_000
    assert figures["kernels"] > 40
    assert figures["1 or 2 warps, limited by registers"] > 100
    assert compared - figures["1 or 2 warps, limited by registers"] >= 20_000
    assert figures['where rule="driver" says otherwise'] > 500
    assert figures["limited by shared memory alone"] > 10_000
    status, compared, _, _, _ = sums("driver-occupancy", FakeCard(), quick=False)
    assert (status, compared >= 20_000) == (Status.PASS, True)


@pytest.mark.parametrize(
    ("name", "rules", "shown"),
    [
        ("residency", Rules(resident=lambda found, **_: found - (found == 4)), ("4", "3")),
        ("residency", Rules(resident=lambda found, **_: found + (found == 2)), ("2", "3")),
        (
            "driver-occupancy",
            Rules(driver=lambda found, threads, **_: found - (found > 3 and threads == 96)),
            None,
        ),
        ("available-shared", Rules(driver=lambda found, **_: min(found, 1)), None),
        ("clusters", Rules(clusters=lambda found, launch: found - (launch.threads == 384)), None),
        ("fits", Rules(takes=lambda found, launch, **_: found and launch.threads != 96), None),
        (
            "access-timing",
            Rules(wavefronts=lambda found, store, width: found + (store and found > 2)),
            None,
        ),
    ],
)
def test_a_planted_deviation_fails_and_is_named(name, rules, shown):
    status, _, differences, _, _ = sums(name, FakeCard(rules=rules))
    assert status is Status.FAIL
    first = differences[0]
    assert first.configuration
    assert first.predicted != first.measured
    if shown:
        assert all((one.predicted, one.measured) == shown for one in differences)
        assert "threads" in first.configuration
        assert "carveout" in first.configuration or "no preference" in first.configuration


def test_small_blocks_limited_by_registers_may_stay_below_theory_and_not_above():
    def fewer(found, function, launch):
        return found - 3 if launch.threads <= 64 and found > 20 else found

    status, _, differences, figures, _ = sums("residency", FakeCard(rules=Rules(resident=fewer)))
    apart = figures["of these an SM below theory"]
    assert 0 < apart <= figures["1 or 2 warps, limited by registers"]
    assert 0.8 < figures["least share of theory there"] < 1
    # where shared memory or the number of blocks limits, it is a difference
    assert status is Status.FAIL
    assert all("at most" not in one.predicted for one in differences)


def test_a_launch_that_had_not_settled_is_measured_again_with_more_time():
    asked = []

    def arrival(ns):
        asked.append(ns)
        return 0.9 if ns < 500_000 else 0.1

    status, compared, _, _, _ = sums("residency", FakeCard(rules=Rules(arrival=arrival)))
    assert status is Status.PASS
    assert len([ns for ns in asked if ns >= 500_000]) >= 256
    assert len(asked) > compared


def test_the_same_seed_makes_the_same_configurations():
    rules = Rules(resident=lambda found, **_: found + 1)
    once, again, other = (
        sums("residency", FakeCard(rules=rules), seed=seed)[2] for seed in (3, 3, 4)
    )
    assert once == again != other


def test_a_database_that_differs_from_the_card():
    driver = FakeDriver(values=h200_attributes() | {"MAX_BLOCKS_PER_MULTIPROCESSOR": 31})
    card = FakeCard(device=read_device(0, driver))
    status, _, (difference,), _, _ = sums("attributes", card)
    assert status is Status.FAIL
    assert difference.configuration == "limits.max_blocks_per_sm"
    assert (difference.predicted, difference.measured) == ("32", "31")


def test_a_card_that_is_no_product_has_no_known_groups():
    card = FakeCard(device=read_device(0, FakeDriver(named="NVIDIA Unheard Of")))
    assert card.target.gpu is None
    status, _, _, _, reason = sums("clusters", card)
    assert status is Status.SKIPPED
    assert "no such product" in reason
    status, compared, _, figures, _ = sums("attributes", card)
    assert status is Status.PASS
    assert compared >= 15
    assert "NVIDIA Unheard Of" in figures["product"]


def test_a_capability_without_clusters():
    ampere = {"COMPUTE_CAPABILITY_MAJOR": 8, "COMPUTE_CAPABILITY_MINOR": 0}
    driver = FakeDriver(values=h200_attributes() | ampere)
    status, compared, _, _, reason = sums("clusters", FakeCard(device=read_device(0, driver)))
    assert (status, compared) == (Status.SKIPPED, 0)
    assert "have no clusters" in reason


def test_nothing_compared_is_not_green():
    assert verdict(compared=0, differing=0, nothing=None, failed=None)[0] is Status.SKIPPED
    assert verdict(compared=0, differing=0, nothing="why", failed=None) == (Status.SKIPPED, "why")
    assert verdict(compared=9, differing=0, nothing=None, failed="late")[0] is Status.UNFINISHED
    assert verdict(compared=9, differing=1, nothing=None, failed="late")[0] is Status.FAIL
