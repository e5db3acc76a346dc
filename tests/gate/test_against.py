"""What follows from where a baseline comes from: recorded, or files of results."""

from __future__ import annotations

from perfkit.gate import Policy, Reason, Status
from perfkit.gate.against import Recorded, against
from perfkit.gate.baseline import entries_of
from tests.gate.test_baseline import results
from tests.gate.test_timing import NOISY

BEFORE, AFTER = (results(values) for values in NOISY)


def judged(recorded=(), files=(), policy=None):
    return against(recorded, files, AFTER, policy or Policy()).verdicts[0]


def test_what_is_recorded_was_measured_before():
    """So that a drift may be the whole of a change that runs of unknown order are granted."""
    recorded = Recorded(origin="base.json", entries=tuple(entries_of(BEFORE, {})))
    assert judged([recorded]).reason is Reason.DRIFT
    assert judged(files=[BEFORE]).status is Status.FAIL
    assert judged([recorded], policy=Policy(order="in_turn")).reason is Reason.DRIFT
