"""The pytest plugin, in test sessions of its own."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from perfkit import durable
from perfkit.errors import UsageError
from perfkit.gate import Policy
from perfkit.gate.baseline import entries_of, load, update
from perfkit.readers.results import ResultFile, Run, Unit

pytest_plugins = "pytester"

LOG = Path(__file__).resolve().parent / "data" / "ptxas" / "b09.log"
STEADY = (1.0, 1.001, 0.999, 1.002, 0.998, 1.0005)


@pytest.fixture(autouse=True)
def _no_machine(monkeypatch):
    """The environment of the machine that runs these tests is beside the point."""
    # a session inside this one forgets what it loaded, which NumPy does not survive
    import scipy.special  # noqa: F401

    from perfkit.device import commits, here

    known = here.Here(environment={"gpu": "h100-sxm5"}, about={"date": "2026-11-30"})
    monkeypatch.setattr(here, "here", lambda: known)
    monkeypatch.setattr(commits, "commit_here", dict)


@pytest.fixture
def suite(pytester):
    """Runs one test whose body is given; the counts of its session."""
    pytester.makeini("[pytest]\n")

    def run(body: str, *options: str):
        lines = "\n".join(f"    {line}" for line in body.splitlines())
        pytester.makepyfile(f"def test_it(perfkit_gate):\n{lines}\n")
        return pytester.runpytest_inprocess("-rA", "-p", "no:cacheprovider", *options)

    return run


def baseline(path: Path, *factors: float, gpu: str = "h100-sxm5") -> Path:
    runs = tuple(
        Run(benchmark="axpy", values=(5e-5 * factor,), unit=Unit.SECONDS, run=str(number))
        for number, factor in enumerate(factors)
    )
    found = ResultFile(kind="t", origin="t", runs=runs, environment={"gpu": gpu})
    update(path, entries_of(found, {}))
    return path


# --- kernels --------------------------------------------------------------------------------------


def test_kernels_within_their_budget(suite):
    suite(f"perfkit_gate.kernel({str(LOG)!r}, 'registers<=255')").assert_outcomes(passed=1)


def test_kernels_beyond_it(suite):
    done = suite(f"perfkit_gate.kernel({str(LOG)!r}, 'registers<=128', kernel='double')")
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(
        ["perfkit: SolverCTA<complex<double>, 32, 64, false> (sm_89): 255 registers, at most 128 *"]
    )
    assert "gate.py" not in done.stdout.str()  # no traceback through perfkit


def test_what_was_not_checked_fails(suite):
    call = f"perfkit_gate.kernel({str(LOG)!r}, 'occupancy>=50%')"
    done = suite(call, "--perfkit-on-inconclusive=skip")
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(["*the block size is not known*[[]not_known]*"])


def test_an_earlier_build(suite):
    call = f"perfkit_gate.kernel({str(LOG)!r}, baseline={str(LOG)!r})"
    suite(call).assert_outcomes(passed=1)


def test_rules_of_the_project(suite, pytester):
    pytester.makefile(".yaml", perfkit="static:\n  rules:\n    - registers: {max: 128}\n")
    suite(f"perfkit_gate.kernel({str(LOG)!r})").assert_outcomes(failed=1)
    suite(f"perfkit_gate.kernel({str(LOG)!r}, 'registers<=255')").assert_outcomes(passed=1)
    pytester.makefile(".yaml", other="static:\n  rules:\n    - registers: {max: 255}\n")
    suite(f"perfkit_gate.kernel({str(LOG)!r})", "--perfkit-policy=other.yaml").assert_outcomes(
        passed=1
    )


@pytest.mark.parametrize(
    ("call", "says"),
    [
        ("kernel('nowhere.cubin', 'registers<=1')", "nowhere.cubin: cannot be read"),
        (f"kernel({str(LOG)!r})", "no rule: nothing would be checked"),
        (f"kernel({str(LOG)!r}, 'registers=1')", "is not a rule"),
        ("record('axpy', [])", "axpy: no value"),
        ("record('axpy', 10**400)", "axpy: no number: int too large"),
        ("record(' ', 1.0)", "a benchmark needs a name"),
        ("record('axpy', 1, unit='parsec')", "unit 'parsec'"),
        ("record('axpy', 0.0)", "bad value"),
        ("time('axpy', int, samples=0)", "samples = 0"),
    ],
)
def test_mistakes_are_errors_of_the_test(suite, call, says):
    done = suite(f"perfkit_gate.{call}", "--perfkit-record=base.json")
    done.assert_outcomes(failed=1)
    assert says in done.stdout.str()
    # at the line of the test: perfkit's own frames would bury it
    shown = re.findall(r"^(\S+\.py):\d+: ", done.stdout.str(), re.MULTILINE)
    assert shown
    assert set(shown) == {"test_mistakes_are_errors_of_the_test.py"}


# --- timings --------------------------------------------------------------------------------------


def test_nothing_to_compare_with(suite):
    done = suite("perfkit_gate.record('axpy', 5e-5)")
    done.assert_outcomes(skipped=1)
    done.stdout.fnmatch_lines(["*no --perfkit-baseline*"])
    suite("perfkit_gate.time('axpy', lambda: 1 / 0)").assert_outcomes(skipped=1)


@pytest.mark.parametrize(
    ("factor", "outcome"), [(1.0, {"passed": 1}), (1.1, {"failed": 1}), (0.9, {"passed": 1})]
)
def test_one_run_against_a_recorded_baseline(suite, pytester, factor, outcome):
    baseline(pytester.path / "base.json", *STEADY)
    done = suite(f"perfkit_gate.record('axpy', {5e-5 * factor})", "--perfkit-baseline=base.json")
    done.assert_outcomes(**outcome)


def test_runs_of_several_processes(suite, pytester):
    baseline(pytester.path / "base.json", *STEADY)
    values = [5.5e-5 * factor for factor in STEADY]
    done = suite(f"perfkit_gate.record('axpy', {values})", "--perfkit-baseline=base.json")
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(["perfkit: axpy: 10% slower *[[]worse]*"])


def test_results_of_any_kind_are_a_baseline(suite, pytester):
    lines = [f"axpy,{i},{50 * factor},us" for i, factor in enumerate(STEADY)]
    text = "\n".join(["benchmark,run,value,unit", *lines])
    (pytester.path / "base.csv").write_text(text)
    values = [5e-5 * factor for factor in STEADY]
    done = suite(f"perfkit_gate.record('axpy', {values})", "--perfkit-baseline=base.csv")
    done.assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("option", "outcome"),
    [
        ((), {"skipped": 1}),
        (("--perfkit-on-inconclusive=skip",), {"skipped": 1}),
        (("--perfkit-on-inconclusive=xfail",), {"xfailed": 1}),
        (("--perfkit-on-inconclusive=fail",), {"failed": 1}),
    ],
)
def test_what_cannot_be_told(suite, pytester, option, outcome):
    baseline(pytester.path / "base.json", 1.0)  # one run says nothing of how runs repeat
    done = suite("perfkit_gate.record('axpy', 5e-5)", "--perfkit-baseline=base.json", *option)
    done.assert_outcomes(**outcome)
    done.stdout.fnmatch_lines(["*axpy: *how runs repeat*"])


def test_what_is_not_in_the_baseline_or_from_elsewhere_fails(suite, pytester):
    baseline(pytester.path / "base.json", *STEADY)
    done = suite("perfkit_gate.record('other', 5e-5)", "--perfkit-baseline=base.json")
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(["*other: not in the baseline [[]new]*"])
    baseline(pytester.path / "else.json", *STEADY, gpu="a100-sxm4-80gb")
    done = suite("perfkit_gate.record('axpy', 5e-5)", "--perfkit-baseline=else.json")
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(["*not the same machine or software: GPU: a100*"])


def test_each_session_adds_a_run(suite, pytester):
    path = pytester.path / "base.json"
    for factor in STEADY:
        call = f"perfkit_gate.record('axpy', {5e-5 * factor})"
        suite(call, "--perfkit-record=base.json").assert_outcomes(passed=1)
    (entry,) = load(path)
    assert [run.values[0] / 5e-5 for run in entry.runs] == pytest.approx(STEADY)
    assert entry.environment == {"gpu": "h100-sxm5"}
    assert entry.noise.relative < 0.01
    suite("perfkit_gate.record('axpy', 5.5e-5)", "--perfkit-baseline=base.json").assert_outcomes(
        failed=1
    )


def test_a_function_is_timed(suite, pytester):
    body = "import time\nperfkit_gate.time('nap', lambda: time.sleep(0.002), samples=3)"
    suite(body, "--perfkit-record=base.json").assert_outcomes(passed=1)
    (entry,) = load(pytester.path / "base.json")
    assert (entry.benchmark, entry.unit, len(entry.runs)) == ("nap", "s", 1)
    assert 0.002 <= entry.runs[0].values[0] < 0.1


def test_the_gpu_is_waited_for(suite, pytester):
    body = (
        "calls = []\n"
        "perfkit_gate.time('k', lambda: calls.append('k'), samples=2,\n"
        "    sync=lambda: calls.append('sync'))\n"
        "assert calls[:4] == ['k', 'sync', 'k', 'sync']\n"
        "assert calls[-1] == 'sync'"
    )
    suite(body, "--perfkit-record=base.json").assert_outcomes(passed=1)


@pytest.mark.parametrize("value", ["True", "'2.0'", "None", "[1.0, 'x']", "object()"])
def test_what_is_no_number_is_refused(suite, pytester, value):
    done = suite(f"perfkit_gate.record('axpy', {value})", "--perfkit-record", "base.json")
    done.stdout.fnmatch_lines("*UsageError: axpy: * is no number*")
    assert not (pytester.path / "base.json").exists()


@pytest.mark.parametrize("value", ["np.float32(2)", "np.array([2, 2])", "np.array(2.0)"])
def test_numbers_of_numpy_are_figures(suite, pytester, value):
    line = f"import numpy as np; perfkit_gate.record('axpy', {value})"
    suite(line, "--perfkit-record", "base.json").assert_outcomes(passed=1)
    (entry,) = load(pytester.path / "base.json")
    assert {run.values for run in entry.runs} == {(2.0,)}


def test_names_do_not_command_the_terminal(suite, pytester):
    baseline(pytester.path / "base.json", *STEADY)
    line = r"perfkit_gate.record('a\x1b[31m\n::error::b', 5e-5)"
    done = suite(line, "--perfkit-baseline", "base.json")
    assert "perfkit: a\ufffd[31m\ufffd::error::b: not in the baseline" in done.stdout.str()


def test_sessions_at_the_same_time_lose_no_run(tmp_path, monkeypatch):
    """Between what one session reads and what it writes no other one may write."""
    from perfkit.testing.timings import Timings

    path = baseline(tmp_path / "base.json", 1.0)
    seen = []

    def slow(found, about):
        fresh = entries_of(found, about)
        if len(found.runs) > 1 and not seen:  # the lock is held: another session would wait
            seen.append(durable_is_locked(path))
        return fresh

    monkeypatch.setattr("perfkit.gate.baseline.entries_of", slow)
    run = Run(benchmark="axpy", values=(5e-5,), unit=Unit.SECONDS, run="1")
    Timings([], path).judged([run], Policy())
    assert seen == [True]
    assert [len(entry.runs) for entry in load(path)] == [2]


def durable_is_locked(path):
    try:
        with durable.locked(path, patience_s=0.0):
            return False
    except UsageError:
        return True


def test_a_benchmark_twice_in_one_session_is_refused(suite):
    body = "perfkit_gate.record('axpy', 1e-5)\nperfkit_gate.record('axpy', 1e-5)"
    done = suite(body, "--perfkit-record=base.json")
    done.assert_outcomes(failed=1)
    assert "twice in one session" in done.stdout.str()


# --- the plugin itself ----------------------------------------------------------------------------


def test_it_can_be_left_out(pytester):
    pytester.makepyfile("def test_it():\n    pass\n")
    pytester.runpytest_inprocess("-p", "no:perfkit").assert_outcomes(passed=1)
    pytester.makepyfile("def test_it(perfkit_gate):\n    pass\n")
    done = pytester.runpytest_inprocess("-p", "no:perfkit")
    done.assert_outcomes(errors=1)
    done.stdout.fnmatch_lines(["*fixture 'perfkit_gate' not found*"])


def test_the_options_are_in_the_help(pytester):
    done = pytester.runpytest_inprocess("--help")
    done.stdout.fnmatch_lines(["performance gates*", "*--perfkit-baseline=FILE*"])


def test_loading_it_costs_nothing():
    """Beside pytest nothing is loaded but the package and the plugin."""
    program = (
        "import json, pytest, sys\n"
        "before = set(sys.modules)\n"
        "import perfkit.pytest_plugin\n"
        "print(json.dumps(sorted(set(sys.modules) - before)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    )
    assert json.loads(done.stdout) == ["perfkit", "perfkit.pytest_plugin"]
