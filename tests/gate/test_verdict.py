"""What follows from all verdicts together."""

from __future__ import annotations

import json

import pytest

from perfkit.gate import Reason, Status, Verdict, compare, outcome
from tests.gate.runs import runs

PASS = Verdict(benchmark="a", status=Status.PASS, reason=Reason.WITHIN, message="")
FAIL = Verdict(benchmark="b", status=Status.FAIL, reason=Reason.WORSE, message="")
NOISY = Verdict(benchmark="c", status=Status.INCONCLUSIVE, reason=Reason.TOO_NOISY, message="")
GONE = Verdict(benchmark="d", status=Status.INCONCLUSIVE, reason=Reason.VANISHED, message="")


@pytest.mark.parametrize(
    ("verdicts", "status", "codes"),  # codes for 3, fail, pass
    [
        ([PASS], Status.PASS, (0, 0, 0)),
        ([PASS, NOISY], Status.INCONCLUSIVE, (3, 1, 0)),
        ([PASS, GONE], Status.INCONCLUSIVE, (3, 1, 3)),
        ([NOISY, GONE], Status.INCONCLUSIVE, (3, 1, 3)),
        ([PASS, NOISY, GONE, FAIL], Status.FAIL, (1, 1, 1)),
        ([], Status.INCONCLUSIVE, (3, 1, 3)),
    ],
)
def test_exit_codes(verdicts, status, codes):
    found = [outcome(verdicts, option) for option in ("3", "fail", "pass")]
    assert tuple(one.exit_code for one in found) == codes
    assert {one.status for one in found} == {status}
    assert sum(found[0].counts.values()) == len(verdicts)


def test_blocking_reasons_are_those_of_comparisons_that_did_not_take_place():
    blocking = {reason for reason in Reason if reason.blocking}
    assert Reason.ENVIRONMENT in blocking
    assert blocking.isdisjoint({Reason.WITHIN, Reason.WORSE, Reason.TOO_NOISY, Reason.SINGLE_RUN})
    assert blocking.isdisjoint({Reason.OVER_LIMIT, Reason.INCREASED, Reason.DOES_NOT_FIT})
    assert len(blocking) == 15


def test_json_has_the_fixed_keys_and_no_infinities():
    verdicts = compare(
        runs([1e-3] * 5, "a") + runs([1e-3], "b"), runs([1e-3] * 5, "a") + runs([1e-3], "b")
    )
    found = json.loads(json.dumps(outcome(verdicts).as_dict(), allow_nan=False))
    assert found["status"] == "inconclusive"
    first, second = found["verdicts"]
    keys = {"benchmark", "status", "reason", "message", "ratio", "interval", "next_step", "notes"}
    assert keys <= set(first)
    assert (first["status"], len(first["interval"])) == ("pass", 2)
    assert (second["reason"], second["interval"]) == ("single_run", None)
