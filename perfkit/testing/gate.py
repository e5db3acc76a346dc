"""What the fixture ``perfkit_gate`` does: kernels by rules, timings by a baseline.

A test process is one run, however often a function is called in it. So a baseline is recorded in
several sessions, each of which adds a run, and one session is held against how much they scatter.
"""

from __future__ import annotations

from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Final, ParamSpec, TypeVar, cast

import pytest

from perfkit.errors import PerfkitError, UsageError
from perfkit.files import printable
from perfkit.gate.policy import Policy
from perfkit.gate.verdict import Status, Verdict
from perfkit.readers.results import Run, Unit
from perfkit.testing.clock import seconds_per_call
from perfkit.testing.timings import Timings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from perfkit.gate.static_file import StaticPolicy

_P = ParamSpec("_P")
_R = TypeVar("_R")

_GATE: Final = pytest.StashKey["Gate"]()


def _at_the_test(method: Callable[_P, _R]) -> Callable[_P, _R]:
    """Raise an error of perfkit where the test called: its own frames tell a reader nothing."""

    @wraps(method)
    def called(*given: _P.args, **named: _P.kwargs) -> _R:
        __tracebackhide__ = True
        try:
            return method(*given, **named)
        except PerfkitError as error:
            raise error.with_traceback(None) from None

    return called


def gate_of(config: pytest.Config) -> Gate:
    """The one gate of a session."""
    if _GATE not in config.stash:
        option = config.getoption
        config.stash[_GATE] = Gate(
            baselines=[Path(one) for one in option("perfkit_baseline") or ()],
            recording=Path(option("perfkit_record")) if option("perfkit_record") else None,
            policy=_policy_file(option("perfkit_policy"), config.rootpath),
            on_inconclusive=option("perfkit_on_inconclusive"),
        )
    return config.stash[_GATE]


def _policy_file(named: str | None, root: Path) -> Path | None:
    if named is not None:
        return Path(named)
    there = root / "perfkit.yaml"
    return there if there.is_file() else None


class Gate:
    """Gates of a test. Each method returns the verdicts, or ends the test."""

    def __init__(
        self,
        *,
        baselines: Sequence[Path] = (),
        recording: Path | None = None,
        policy: Path | None = None,
        on_inconclusive: str = "skip",
    ) -> None:
        self._timings = Timings(baselines, recording)
        self._policy_file = policy
        self._on_inconclusive = on_inconclusive
        self._policies: tuple[StaticPolicy, Policy] | None = None

    # -- kernels -------------------------------------------------------------------------------

    @_at_the_test
    def kernel(
        self,
        path: str | Path,
        *rules: str,
        gpu: str | None = None,
        baseline: str | Path | None = None,
        kernel: str | None = None,
        include: Iterable[str | Path] = (),
        define: Iterable[str] = (),
        std: str | None = None,
        maxrregcount: int | None = None,
        fast_math: bool = False,
        instantiate: Iterable[str] = (),
        compiler: str = "auto",
    ) -> list[Verdict]:
        """Hold kernels against rules, exactly.

        Args:
            path: a ``.cu`` file, or anything else that ``perfkit inspect`` reads.
            rules: ``"registers<=64"``; without any, those of the policy file.
            gpu: what to compile for, or whose code counts: ``"h100,a100"``.
            baseline: the earlier build, for rules such as ``"registers<=baseline"``.
            kernel: a regular expression: only these kernels.
            include: directories with headers.
            define: macros, ``"TILE=32"``.
            std: C++ dialect.
            maxrregcount: most registers per thread.
            fast_math: compile with fast math.
            instantiate: template instances, ``"axpy<float, 256>"``.
            compiler: ``auto``, ``nvrtc`` or ``nvcc``.

        Raises:
            PerfkitError: a file that cannot be read, a source that does not compile, a rule that is
                none, or no rule at all.
        """
        from perfkit.cli import gate_inputs, gate_judge
        from perfkit.cli.diff import without_compiler
        from perfkit.cli.gate_policy import GatePolicy
        from perfkit.cli.kernel_options import KernelOptions, is_source
        from perfkit.gate.static_line import parse_rule

        options = KernelOptions(
            kernel=kernel,
            include=[Path(one) for one in include] or None,
            define=list(define) or None,
            std=std,
            maxrregcount=maxrregcount,
            fast_math=fast_math,
            instantiate=list(instantiate) or None,
            compiler=compiler,
        )
        static, timing = self._policy()
        if rules:
            static = replace(static, rules=tuple(parse_rule(rule, "rule") for rule in rules))
        files = [Path(one) for one in (path, baseline) if one is not None]
        plain = without_compiler(options) if any(map(is_source, files)) else options
        new, old = (gate_inputs.side(one, plain, gpu, None) for one in (files[:1], files[1:]))
        if not new.holds_kernels:
            raise UsageError(f"{path} holds results, not kernels", hint="use perfkit_gate.record")
        policy = GatePolicy(static=static, timing=timing, on_inconclusive={})
        found = gate_judge.static(new, old, options, gpu, policy)
        self._end(found)
        return found

    def _policy(self) -> tuple[StaticPolicy, Policy]:
        from perfkit.gate.policy_file import load
        from perfkit.gate.static_file import StaticPolicy, load_static

        if self._policies is None:
            path = self._policy_file
            self._policies = (
                (StaticPolicy(), Policy()) if path is None else (load_static(path), load(path))
            )
        return self._policies

    # -- timings -------------------------------------------------------------------------------

    @_at_the_test
    def time(
        self,
        name: str,
        function: Callable[[], object],
        *,
        samples: int = 20,
        sync: Callable[[], object] | None = None,
    ) -> list[Verdict]:
        """Time calls of ``function`` and compare: all samples together are one run.

        Args:
            name: of the benchmark.
            function: what is timed; it is called once or twice before the clock starts.
            samples: how many; each calls it as often as a millisecond takes.
            sync: called before each reading of the clock: a GPU works on after a launch returns.
        """
        if samples < 1:
            raise UsageError(f"samples = {samples}: must be at least 1")
        self._skip_where_nobody_asks()
        values = seconds_per_call(function, samples, sync)
        return self._measured([Run(benchmark=name, values=values, unit=Unit.SECONDS, run="1")])

    @_at_the_test
    def record(
        self,
        name: str,
        value: float | Sequence[float],
        *,
        unit: str = "s",
        higher_is_better: bool | None = None,
    ) -> list[Verdict]:
        """Compare a figure that the test measured itself.

        Args:
            name: of the benchmark.
            value: one figure, or one for each of several processes.
            unit: ``s``, ``cycles``, ``B/s``, ``FLOP/s``, ``1/s``, ``B``, ``1`` or ``count``.
            higher_is_better: as the unit says, if not given.
        """
        try:
            known = Unit(unit)
        except ValueError:
            raise UsageError(f"unit {unit!r}", hint=f"one of {', '.join(Unit)}") from None
        values = _numbers(name, value)
        runs = [
            Run(
                benchmark=name,
                values=(one,),
                unit=known,
                run=str(number + 1),
                metric="time" if known is Unit.SECONDS else "value",
                higher_is_better=higher_is_better,
            )
            for number, one in enumerate(values)
        ]
        return self._measured(runs)

    def _measured(self, runs: Sequence[Run]) -> list[Verdict]:
        if not runs[0].benchmark.strip():
            raise UsageError("a benchmark needs a name")
        self._skip_where_nobody_asks()
        verdicts = self._timings.judged(runs, self._policy()[1])
        self._end(verdicts)
        return verdicts

    def _skip_where_nobody_asks(self) -> None:
        if not self._timings.are_wanted:
            pytest.skip("no --perfkit-baseline: there is nothing to compare with")

    # -- how a test ends -----------------------------------------------------------------------

    def _end(self, verdicts: Sequence[Verdict]) -> None:
        """Fail with all that fails; what was not checked fails, what cannot be told as asked."""
        __tracebackhide__ = True
        failed = [one for one in verdicts if one.status is Status.FAIL]
        open_ = [one for one in verdicts if one.status is Status.INCONCLUSIVE]
        blocking = [one for one in open_ if one.reason.blocking]
        if failed or blocking:
            pytest.fail(_words([*failed, *blocking]), pytrace=False)
        if not open_:
            return
        if self._on_inconclusive == "fail":
            pytest.fail(_words(open_), pytrace=False)
        if self._on_inconclusive == "xfail":
            pytest.xfail(_words(open_))
        pytest.skip(_words(open_))


def _numbers(name: str, value: object) -> list[float]:
    """One figure or several, of Python, NumPy or a framework; ``True`` is none."""
    is_several = isinstance(value, list | tuple) or getattr(value, "ndim", 0) > 0
    several = list(cast("Iterable[object]", value)) if is_several else [value]
    if not several:
        raise UsageError(f"{name}: no value")
    for one in several:
        if isinstance(one, bool | str | bytes) or not hasattr(one, "__float__"):
            raise UsageError(f"{name}: {one!r} is no number")
    try:
        return [float(cast("float", one)) for one in several]
    except (OverflowError, TypeError, ValueError) as error:
        raise UsageError(f"{name}: no number: {error}") from None


def _words(verdicts: Sequence[Verdict]) -> str:
    lines = []
    for one in verdicts:
        place = f" ({one.static.arch})" if one.static and one.static.arch else ""
        step = f"; next: {one.next_step}" if one.next_step else ""
        line = f"perfkit: {one.benchmark}{place}: {one.message} [{one.reason}]{step}"
        lines.append(printable(line))
    return "\n".join(lines)
