"""Which candidates are tied with the fastest, and what the model's own choice would have cost."""

from __future__ import annotations

from dataclasses import replace

import pytest

from perfkit.analysis.measurement import Checked, Failed, Measurement, Run
from perfkit.analysis.prediction import Demand
from perfkit.analysis.tuning import Candidate, Tuning, judged
from tests.report.measured import ENVIRONMENT


def measured(key: str, *medians: float, **others: object) -> Measurement:
    values = {
        "checks": (),
        "failure": None,
        **others,
    }
    return Measurement(
        name=key,
        key=key,
        summary="",
        sizes={},
        cold=False,
        runs=tuple(Run(samples_s=(one,), sm_clock_hz=None, throttles=()) for one in medians),
        is_checked=True,
        facts=None,
        demand=Demand(),
        footprint_bytes=None,
        prediction=None,
        **values,
    )


def candidates(*keys: str) -> list[Candidate]:
    return [Candidate(key=k, label=k, settings={}, place=n) for n, k in enumerate(keys, 1)]


def tuning(keys: str, found: list[Measurement]) -> Tuning:
    return Tuning(
        what="toy",
        environment=ENVIRONMENT,
        considered=9,
        tried=judged(candidates(*keys), {one.key: one for one in found}),
        left_out=(),
    )


def test_runs_that_cannot_be_told_apart_are_tied_and_the_models_favourite_is_taken():
    # b is the fastest by its median; a overlaps with it; c never does
    found = tuning(
        "abc",
        [
            measured("a", 1.02, 0.99, 1.05),
            measured("b", 1.0, 0.98, 1.02),
            measured("c", 2, 2.01, 2),
        ],
    )
    assert [one.candidate.key for one in found.tried] == ["b", "a", "c"]
    assert [one.is_tied for one in found.tried] == [True, True, False]
    assert found.chosen is not None
    assert found.chosen.candidate.key == "a"
    assert found.regret == pytest.approx(0.02)
    assert found.regret_chosen == pytest.approx(0.02)


def test_a_sure_difference_is_no_tie_however_small_the_scatter():
    found = tuning("ab", [measured("a", 1.05, 1.0501, 1.0499), measured("b", 1, 1.0001, 0.9999)])
    assert found.chosen is not None
    assert found.chosen.candidate.key == "b"
    assert found.regret == pytest.approx(0.05)
    assert found.regret_chosen == 0


def test_less_than_what_a_repetition_differs_by_is_a_tie():
    found = tuning("ab", [measured("a", 1.004, 1.004, 1.004), measured("b", 1, 1, 1)])
    assert found.chosen is not None
    assert found.chosen.candidate.key == "a"


def test_one_run_each_ties_only_within_the_resolution():
    found = tuning("ab", [measured("a", 1.02), measured("b", 1.0)])
    assert [one.is_tied for one in found.tried] == [True, False]


def test_a_wrong_result_is_never_the_fastest():
    wrong = Checked(output="y", right=False, error=1, worst=1, tolerance=0, at=0, unwritten=0)
    failed = Failed(message="no room", hint=None, exit_code=5)
    found = tuning(
        "abc",
        [
            measured("a", 0.1, checks=(wrong,)),
            measured("b", failure=failed),
            measured("c", 1.0),
        ],
    )
    assert [one.candidate.key for one in found.tried] == ["c", "a", "b"]
    assert [one.is_good for one in found.tried] == [True, False, False]
    assert found.chosen is not None
    assert found.chosen.candidate.key == "c"
    # the first choices gave nothing: the regret is that of the first that did
    assert found.regret == 0


def test_nothing_good_is_no_choice():
    found = tuning("a", [])
    assert (found.chosen, found.regret, found.tried) == (None, None, ())
    assert replace(found, interrupted=True).interrupted
