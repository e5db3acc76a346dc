"""The roofline itself: which load decides, what is attainable, and what is no amount."""

from __future__ import annotations

import itertools

import pytest

from perfkit.errors import UsageError
from perfkit.models.roofline import Load, attainable, bound, positive, ridge


def load(name: str, amount: float, rate: float | None, kind: str | None = None) -> Load:
    kind = kind or ("compute" if name in {"tensor", "simt"} else "memory")
    return Load(name=name, kind=kind, amount=amount, rate_per_s=rate, roof="toy", basis="derived")


def test_the_longest_load_decides():
    found = bound([load("tensor", 100, 10), load("simt", 30, 2), load("dram", 120, 10)])
    assert found.time_s == 15
    assert (found.bound_by, found.limited_by) == ("compute", ("simt",))
    # the main unit is the one with most FLOP, whether it decides or not
    assert (found.flops, found.peak_flop_per_s) == (100, 10)
    assert found.attainable_flop_per_s == 100 / 15
    assert found.intensity == 100 / 120


def test_at_the_ridge_point_both_limit_and_it_counts_as_compute():
    found = bound([load("tensor", 100, 10), load("dram", 50, 5)])
    assert found.intensity == found.ridge == 2
    assert (found.bound_by, found.limited_by) == ("compute", ("tensor", "dram"))


@pytest.mark.parametrize(("bytes_", "kind"), [(49, "compute"), (51, "memory")])
def test_either_side_of_the_ridge_point(bytes_, kind):
    found = bound([load("tensor", 100, 10), load("dram", bytes_, 5)])
    assert (found.intensity > found.ridge) == (kind == "compute")
    assert found.bound_by == kind


def test_attainable_is_the_lower_of_roof_and_slope_over_a_mesh():
    checked = 0
    for flops, moved, peak, slope in itertools.product((1, 7, 1e6), (3, 1e3), (2.5, 1e4), (0.1, 9)):
        found = bound([load("simt", flops, peak), load("dram", moved, slope)])
        expected = attainable(flops / moved, peak, slope)
        assert found.attainable_flop_per_s == pytest.approx(expected)
        assert found.attainable_flop_per_s <= peak * (1 + 1e-12)
        checked += 1
    assert checked == 24


def test_more_work_never_takes_less_and_a_faster_roof_never_more():
    times = [bound([load("simt", n, 10), load("dram", 50, 5)]).time_s for n in range(1, 300)]
    assert times == sorted(times)
    rates = [bound([load("simt", 500, n), load("dram", 50, 5)]).time_s for n in range(1, 300)]
    assert rates == sorted(rates, reverse=True)


def test_a_level_without_a_rate_is_kept_and_does_not_count():
    found = bound([load("simt", 10, 10), load("l2", 1e20, None)])
    assert found.time_s == 1
    assert found.loads[1].time_s is None
    assert found.intensity is None  # no DRAM bytes


def test_memory_alone():
    found = bound([load("dram", 10, 5)])
    assert (found.time_s, found.bound_by, found.flops) == (2, "memory", 0)
    assert found.attainable_flop_per_s is None
    assert found.ridge is None


def test_a_measurement_is_held_against_everything_and_never_cut_off():
    loads = [load("tensor", 100, 10), load("dram", 20, 5)]
    found = bound(loads, time_s=8).measured
    assert found.flop_per_s == 12.5
    assert found.share_of_peak == found.share_of_bound == 1.25
    assert found.dram_bytes_per_s == 2.5
    assert found.share_of_bandwidth == 0.5


def test_nothing_to_do_and_nothing_known():
    with pytest.raises(UsageError, match="nothing to do"):
        bound([])
    with pytest.raises(UsageError, match="no rate is known") as error:
        bound([load("l2", 5, None)])
    assert error.value.hint == "l2: toy"


@pytest.mark.parametrize(
    "value",
    [0, 0.0, -1, float("nan"), float("inf"), -float("inf"), 1e40, 10**5000, -(10**5000)],
    ids=("zero", "0.0", "negative", "nan", "inf", "-inf", "1e40", "long", "-long"),
)
def test_what_is_no_amount(value):
    for ask in (
        lambda: positive("bytes", value),
        lambda: bound([load("dram", value, 5)]),
        lambda: bound([load("dram", 5, 5)], time_s=value),
    ):
        with pytest.raises(UsageError, match="must be greater than 0"):
            ask()


@pytest.mark.parametrize("value", ["5", None, True, [1]])
def test_what_is_no_number(value):
    with pytest.raises(UsageError, match="must be a number"):
        positive("bytes", value)


def test_ridge_and_slope_without_a_figure():
    assert ridge(None, 5) is ridge(5, None) is None
    assert attainable(None, 5, 5) is attainable(5, 5, None) is None
