"""The gate that collects its own evidence: order, stopping, failures, interrupts."""

from __future__ import annotations

import itertools
import random
import subprocess
import sys
from pathlib import Path

import pytest

from perfkit.device.collect import Metric
from perfkit.device.gate_run import Plan, gate_run
from perfkit.errors import UsageError
from perfkit.gate import Policy, Reason, Status, outcome
from perfkit.gate.baseline import chosen, entries_of
from perfkit.gate.collected import Stopped
from perfkit.readers.results import ResultFile
from tests.device.programs import side, times
from tests.gate.test_baseline import H200, results

FILES = Metric(benchmark="bench")


def noisy(centre, sigma, seed):
    chance = random.Random(seed)
    return (f"time: {centre * (1 + chance.gauss(0, sigma))!r} ms" for _ in itertools.count())


def plan(**fields):
    return Plan(**{"policy": Policy(), "seed": 1, "environment": {}, "warm_up": 0, **fields})


def go(before, after, **fields):
    sides = [side(name, outputs) for name, outputs in (("baseline", before), ("candidate", after))]
    return gate_run(plan(**fields), *sides)


def test_a_slower_candidate_fails_at_the_first_look_that_can_tell():
    done = go(noisy(10, 0.005, 1), noisy(10.6, 0.005, 2))
    (verdict,) = done.verdicts
    assert (verdict.status, verdict.paired) == (Status.FAIL, True)
    assert (done.stopped, done.pairs) == (Stopped.DECIDED, 6)
    assert done.looks == ((6, 0.0025),)
    assert len(done.baseline.runs) == len(done.candidate.runs) == 6


def test_the_same_code_passes():
    done = go(noisy(10, 0.005, 1), noisy(10, 0.005, 2))
    assert [one.status for one in done.verdicts] == [Status.PASS]


def test_noise_goes_on_to_the_end():
    done = go(noisy(10, 0.2, 1), noisy(10.3, 0.2, 2), most=14)
    (verdict,) = done.verdicts
    assert (done.stopped, done.pairs) == (Stopped.MOST, 14)
    assert (verdict.status, verdict.reason) == (Status.INCONCLUSIVE, Reason.TOO_NOISY)
    assert done.looks[0][0] == 6
    assert sum(risk for _, risk in done.looks) <= 0.01 + 1e-12


def test_the_order_is_random_and_that_of_the_seed():
    def order(seed):
        done = go(noisy(10, 0.2, 1), noisy(10, 0.2, 2), most=14, seed=seed)
        return [one.side for one in done.attempts if one.first]

    assert order(1) == order(1) != order(2)
    assert set(order(1)) == {"baseline", "candidate"}


def test_the_budget_ends_it_and_leaves_its_risk_to_the_last_look(monkeypatch):
    clock = itertools.count(0, 10.0)
    monkeypatch.setattr("perfkit.device.gate_run.time.monotonic", lambda: next(clock))
    done = go(noisy(10, 0.005, 1), noisy(10.6, 0.005, 2), budget_s=100.0)
    assert (done.stopped, done.pairs) == (Stopped.BUDGET, 5)
    assert done.looks == ((5, 0.01),)
    assert [one.status for one in done.verdicts] == [Status.FAIL]  # five pairs at the whole risk


@pytest.mark.parametrize("failing", ["baseline", "candidate"])
@pytest.mark.parametrize("call", [1, 2, 4])
def test_a_run_that_fails_ends_it_and_is_never_green(failing, call):
    ends = {f"run_{call}": "ended with exit code 3"}
    sides = [
        side(name, noisy(10, 0.001, 1), **(ends if name == failing else {}))
        for name in ("baseline", "candidate")
    ]
    done = gate_run(plan(warm_up=1), *sides)
    (verdict,) = done.verdicts
    assert done.stopped is Stopped.FAILED
    assert (verdict.status, verdict.reason) == (Status.INCONCLUSIVE, Reason.FAILED)
    assert "ended with exit code 3" in verdict.message
    assert failing in verdict.message
    assert outcome(done.verdicts, "pass").exit_code == 3
    assert done.pairs == max(call - 2, 0)


def test_a_zero_is_named():
    done = go(times(1, 1, 1), times(1, 0, 1))
    (verdict,) = done.verdicts
    assert verdict.reason is Reason.FAILED
    assert "0 s" in verdict.message


def test_what_can_never_be_compared_ends_at_once():
    done = go(["time: 5 ms"] * 9, ["time: 5 ms"] * 9, warm_up=0)
    assert done.pairs > 1
    rate = Metric(benchmark="bench", pattern=r"(\S+) GB/s", unit="GB/s")
    sides = [side("baseline", times(*range(1, 9))), side("candidate", ["3 GB/s"] * 9, rate)]
    done = gate_run(plan(), *sides)
    assert (done.stopped, done.pairs) == (Stopped.FAILED, 1)
    assert {one.status for one in done.verdicts} == {Status.INCONCLUSIVE}


def test_an_interrupt_keeps_what_is_done():
    before = itertools.chain(itertools.islice(noisy(10, 0.005, 1), 5), [KeyboardInterrupt()])
    kept = []
    sides = [side("baseline", before), side("candidate", noisy(10.6, 0.005, 2))]
    done = gate_run(plan(), *sides, keep=lambda attempts: kept.append(len(attempts)))
    assert (done.stopped, done.pairs) == (Stopped.INTERRUPTED, 5)
    assert len(done.baseline.runs) == 5
    assert [one.status for one in done.verdicts] == [Status.FAIL]
    assert kept == list(range(1, len(done.attempts) + 1))


def test_what_an_interrupt_must_not_leave_half_loaded_is_there_before_the_first_run():
    """NumPy cannot be loaded twice in a process: the verdict after Ctrl-C would be a crash."""
    seen = """
import sys
from perfkit.device.collect import Side
from perfkit.device.gate_run import Plan, gate_run
from perfkit.gate import Policy

class Asked(Side):
    def __init__(self):
        self.name = "x"

    def attempt(self, number, *, first=True):
        print("numpy" in sys.modules, "scipy.special" in sys.modules)
        raise KeyboardInterrupt

gate_run(Plan(policy=Policy(), seed=1, environment={}), Asked(), Asked())
"""
    root = str(Path(__file__).resolve().parents[2])
    done = subprocess.run(
        [sys.executable, "-c", seen], cwd=root, capture_output=True, text=True, check=True
    )
    assert done.stdout == "True True\n"


def test_an_interrupt_at_once_has_no_verdict():
    done = go([KeyboardInterrupt()] * 2, [KeyboardInterrupt()] * 2)
    assert (done.stopped, done.verdicts, done.pairs) == (Stopped.INTERRUPTED, (), 0)
    assert outcome(done.verdicts).exit_code == 3


def test_throttled_runs_are_marked():
    hot = [*times(1), "time: 1 ms hot", *times(*[1] * 30)]
    done = go(hot, times(*[1] * 32))
    assert [one.number for one in done.attempts if one.throttles] == [2]


def test_so_few_pairs_that_nothing_could_fail_are_refused():
    with pytest.raises(UsageError, match="--max-pairs 4") as caught:
        go([], [], most=4)
    assert caught.value.hint == "allow --max-pairs 5"


def test_a_risk_too_small_to_share_is_refused():
    with pytest.raises(UsageError, match="too small for 500 looks"):
        go([], [], most=500, policy=Policy(false_alarm=1e-4))


# --- against a recorded baseline ------------------------------------------------------------------


def stored(values, environment=H200):
    found = entries_of(results(values, "bench", environment), {})
    return chosen(found, "base.json", H200)


def against(values, outputs, **fields):
    baseline = stored(values)
    candidate = side("candidate", outputs)
    return gate_run(plan(environment=H200, **fields), baseline, candidate)


TEN = (0.01, 0.01005, 0.00995, 0.01, 0.01002, 0.00999, 0.01001, 0.01003, 0.00997, 0.01)


@pytest.mark.parametrize(("centre", "status"), [(10.6, Status.FAIL), (10, Status.PASS)])
def test_only_the_candidate_runs(centre, status):
    done = against(TEN, noisy(centre, 0.003, 3))
    assert [one.status for one in done.verdicts] == [status]
    assert {one.side for one in done.attempts} == {"candidate"}
    assert done.baseline is None
    assert done.pairs < 10


def test_another_gpu_ends_at_the_first_run():
    found = entries_of(results(TEN, "bench", {**H200, "gpu": "NVIDIA A100"}), {})
    baseline = chosen(found, "base.json", H200)
    done = gate_run(plan(environment=H200), baseline, side("candidate", noisy(10, 0.003, 3)))
    (verdict,) = done.verdicts
    assert (verdict.reason, done.pairs) == (Reason.ENVIRONMENT, 1)
    assert "NVIDIA A100" in verdict.message


def test_a_benchmark_that_the_baseline_lacks_ends_it():
    other = ResultFile(kind="", origin="", environment=H200, runs=results(TEN, "other").runs)
    baseline = chosen(entries_of(other, {}), "base.json", H200)
    done = gate_run(plan(environment=H200), baseline, side("candidate", noisy(10, 0.003, 3)))
    assert {one.reason for one in done.verdicts} == {Reason.NEW, Reason.VANISHED}
    assert done.pairs == 1


def test_one_recorded_run_can_never_decide():
    with pytest.raises(UsageError, match="has 1 run: of at most 30"):
        against([0.01], noisy(10, 0.003, 3))
