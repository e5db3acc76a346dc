"""Runs to a time, an interval, a verdict."""

from __future__ import annotations

from dataclasses import replace
from math import exp, log, sqrt

import numpy as np
import pytest
from scipy import stats

from perfkit.analysis.measurement import MeasureReport, Verdict, interval
from tests.report.timed import FAILED, LEAST_S, MEASURED, STREAM, check, measurement, run


@pytest.mark.parametrize("count", [2, 3, 5, 20, 40])
def test_the_interval_is_students_on_logarithms(count):
    medians = list(1 + 0.01 * np.random.default_rng(count).standard_normal(count))
    logs = np.log(medians)
    half = stats.t.ppf(0.975, min(count - 1, 20)) * logs.std(ddof=1) / sqrt(count)
    low, high = interval(medians)
    assert low == pytest.approx(exp(logs.mean() - half), rel=1e-4)
    assert high == pytest.approx(exp(logs.mean() + half), rel=1e-4)
    assert log(high / low) == pytest.approx(2 * half, rel=1e-3)


@pytest.mark.parametrize("medians", [[], [1.0], [0.0, 1.0]])
def test_no_interval(medians):
    assert interval(medians) is None


@pytest.mark.parametrize(
    ("factor", "verdict"),
    [
        (1.0, Verdict.NEAR),
        (1.1, Verdict.NEAR),
        (1.11, Verdict.BELOW),
        (0.996, Verdict.NEAR),
        (0.994, Verdict.FASTER),
    ],
)
def test_verdicts(factor, verdict):
    assert measurement("x", STREAM, run(LEAST_S * factor)).verdict is verdict


def test_as_fast_as_expected_is_near_too():
    found = measurement("x", STREAM, run(LEAST_S * 1.2))
    assert found.verdict is Verdict.BELOW
    expected = replace(found.prediction, expected_s=LEAST_S * 1.15)
    assert replace(found, prediction=expected).verdict is Verdict.NEAR


def test_a_wrong_result_outweighs_its_time():
    found = measurement("x", STREAM, run(LEAST_S), checks=(check(right=False),))
    assert found.verdict is Verdict.WRONG


def test_occupancy_and_waves():
    found = measurement("x", STREAM, run(LEAST_S))
    assert found.occupancy == 1.0  # 8 blocks of 8 warps, of 64
    assert found.waves == 4096 / (8 * 100)


def test_rates_count_useful_bytes():
    found = measurement("x", replace(STREAM, useful_bytes=6e8), run(2.0))
    assert found.bytes_per_s == 3e8
    assert found.flop_per_s == 2.5e8


def test_a_launch_below_its_bound_is_diagnosed():
    found = measurement("x", STREAM, run(LEAST_S * 3)).diagnosis()
    assert "latency_bound" in [finding.symptom.value for finding in found.findings]
    assert measurement("x", STREAM, failure=FAILED).diagnosis() is None


@pytest.mark.parametrize(
    ("rows", "interrupted", "code"),
    [
        ([measurement("x", STREAM, run(1.0))], False, 0),
        ([measurement("x", STREAM, run(1.0), checks=(check(right=False),))], False, 1),
        ([measurement("x", STREAM, failure=FAILED)], False, 5),
        ([measurement("x", STREAM, failure=FAILED)], True, 130),
    ],
)
def test_exit_codes(rows, interrupted, code):
    device = replace(MEASURED.devices[0], measurements=tuple(rows))
    assert MeasureReport(devices=(device,), interrupted=interrupted).exit_code == code
