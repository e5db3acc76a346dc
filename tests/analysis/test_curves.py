"""Curves against the whole rule, value by value."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import replace
from itertools import pairwise

import pytest

import perfkit
from perfkit.analysis.curves import curves
from perfkit.analysis.launch import Launch

FIELD = {"block_size": "threads", "registers": "regs", "shared_memory": "smem"}
LAUNCHES = [
    Launch(threads=256, regs=40, smem=20480),
    Launch(threads=100, regs=0, smem=0, carveout=7),
    Launch(threads=64, regs=24, smem=3000, carveout=50, barriers=3),
    Launch(threads=128, regs=32, smem=200_000, carveout=100, max_threads=200),
]


def at(steps, value):
    return steps[bisect_right(steps, value, key=lambda step: step[0]) - 1][1]


@pytest.mark.parametrize("key", ["5.2", "6.0", "7.5", "8.6", "9.0", "12.0"])
@pytest.mark.parametrize("launch", LAUNCHES, ids=str)
def test_every_value_is_what_the_whole_rule_says(key, launch):
    capability = perfkit.capability(key)
    for curve in curves(capability, launch):
        assert (curve.driver[0][0], curve.hardware[0][0]) == (curve.first, curve.first)
        for value in range(curve.first, curve.last + 1, 1 if curve.last < 2000 else 997):
            one = replace(launch, **{FIELD[curve.quantity]: value})
            for rule in ("driver", "hardware"):
                expected = replace(one, rule=rule).on(capability).warps_per_sm
                assert at(getattr(curve, rule), value) == expected, (curve.quantity, value, rule)


def test_only_changes_are_kept():
    launch = Launch(threads=64, regs=24, smem=3000, carveout=50, cluster=2)
    for curve in curves(perfkit.capability("9.0"), launch):
        for steps in (curve.driver, curve.hardware):
            assert all(a[0] < b[0] and a[1] != b[1] for a, b in pairwise(steps))
