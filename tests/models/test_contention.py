"""Streams that share units, against closed forms and against the network counted out."""

from __future__ import annotations

from itertools import combinations_with_replacement
from math import prod

import numpy as np
import pytest

from perfkit.models.contention import time_per_piece


def counted(demands, streams):
    """Time per piece from all states of the network (Buzen): G(n) / G(n - 1)."""

    def states(n):
        return sum(prod(found) for found in combinations_with_replacement(demands, n))

    return states(streams) / states(streams - 1) if streams > 1 else sum(demands)


@pytest.mark.parametrize("demands", [(1.0,), (3.0, 1.0), (2.0, 2.0), (5.0, 3.0, 1.0), (1, 2, 3, 4)])
@pytest.mark.parametrize("streams", [1, 2, 3, 7])
def test_as_all_states_counted_one_by_one(demands, streams):
    assert time_per_piece(demands, streams) == pytest.approx(counted(demands, streams))


@pytest.mark.parametrize("ratio", [0.2, 0.9, 0.999])
@pytest.mark.parametrize("streams", [1, 4, 32])
def test_two_units_in_a_closed_form(ratio, streams):
    """A geometric sum: (1 - r^(n+1)) / (1 - r^n) of the busier unit's time."""
    found = (1 - ratio ** (streams + 1)) / (1 - ratio**streams)
    assert time_per_piece((1.0, ratio), streams) == pytest.approx(found)


def test_between_the_busiest_unit_and_all_of_them():
    times = [time_per_piece((4.0, 3.0, 2.0), n) for n in range(1, 33)]
    assert times[0] == 9.0
    assert times == sorted(times, reverse=True)
    assert 4.0 < times[-1] < 4.001


def test_more_than_32_streams_are_32():
    assert time_per_piece((2.0, 1.9), 33) == time_per_piece((2.0, 1.9), 32)


def test_arrays_as_scalars():
    demands = np.array([3.0, 1.0, 2.0]), np.array([1.0, 1.0, 5.0])
    streams = np.array([1.0, 4.0, 32.0])
    found = time_per_piece(demands, streams, ops=np)
    alone = [time_per_piece(d, n) for *d, n in zip(*demands, [1, 4, 32], strict=True)]
    assert found.tolist() == pytest.approx(alone)
