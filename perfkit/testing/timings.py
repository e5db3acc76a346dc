"""The timings of a test session: compared with a baseline, and recorded into one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from perfkit.errors import UsageError
from perfkit.gate.verdict import Reason, Status, Verdict
from perfkit.readers.results import ResultFile, Run

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from perfkit.cli.gate_inputs import Side
    from perfkit.gate.against import Recorded
    from perfkit.gate.baseline_format import Entry
    from perfkit.gate.policy import Policy

#: runs of a benchmark that a baseline keeps, the newest
KEPT_RUNS: Final = 30


class Timings:
    """What the options ``--perfkit-baseline`` and ``--perfkit-record`` ask for."""

    def __init__(self, baselines: Sequence[Path], recording: Path | None) -> None:
        self._baselines = tuple(baselines)
        self._recording = recording
        self._old: Side | None = None
        self._environment: dict[str, str] | None = None
        self._about: dict[str, str] = {}
        self._seen: set[str] = set()

    @property
    def are_wanted(self) -> bool:
        return bool(self._baselines) or self._recording is not None

    def judged(self, runs: Sequence[Run], policy: Policy) -> list[Verdict]:
        """Compare, and record; no verdict where there is only something to record.

        Raises:
            UsageError: a benchmark for the second time: it would pass for a second process.
            InputError: a baseline that cannot be read, or a value that is no measurement.
        """
        name = runs[0].benchmark
        if name in self._seen:
            raise UsageError(f"{name} is there twice in one session: give each its own name")
        self._seen.add(name)
        found = ResultFile(
            kind="pytest", origin="this session", runs=tuple(runs), environment=self._here()
        )
        verdicts = self._compared(found, policy) if self._baselines else []
        if self._recording is not None:
            self._record(self._recording, found)
        return verdicts

    def _here(self) -> dict[str, str]:
        if self._environment is None:
            from perfkit.device.commits import commit_here
            from perfkit.device.here import here

            machine = here()
            self._environment = machine.environment
            self._about = {**machine.about, **commit_here()}
        return self._environment

    def _compared(self, found: ResultFile, policy: Policy) -> list[Verdict]:
        """With the part of the baseline that is about the same benchmarks."""
        from perfkit.cli import gate_inputs
        from perfkit.cli.kernel_options import KernelOptions
        from perfkit.gate.against import against

        if self._old is None:
            self._old = gate_inputs.side(self._baselines, KernelOptions(), None, None)
            if self._old.holds_kernels:
                raise UsageError("--perfkit-baseline holds kernels, not timings")
        names = {run.benchmark for run in found.runs}
        recorded = [_only(one, names) for one in self._old.recorded]
        results = [
            replace(one, runs=tuple(run for run in one.runs if run.benchmark in names))
            for one in self._old.results
        ]
        recorded = [one for one in recorded if one.entries]
        results = [one for one in results if one.runs]
        if not recorded and not results:
            return [_missing(name, found, allowed=policy.allow_new) for name in sorted(names)]
        judged = against(recorded, results, found, policy)
        return list(judged.verdicts)

    def _record(self, path: Path, found: ResultFile) -> None:
        """Add this session's run to those that the baseline has of the same machine."""
        from perfkit.gate import baseline

        (fresh,) = baseline.entries_of(found, self._about)

        def grown(there: Sequence[Entry]) -> Sequence[Entry]:
            earlier = next((entry.runs for entry in there if entry.key == fresh.key), ())
            runs = tuple(
                replace(run, run=str(number + 1))
                for number, run in enumerate((*earlier, *fresh.runs)[-KEPT_RUNS:])
            )
            return baseline.entries_of(replace(found, runs=runs), self._about)

        baseline.change(path, grown)


def _only(recorded: Recorded, names: set[str]) -> Recorded:
    entries = tuple(entry for entry in recorded.entries if entry.benchmark in names)
    return replace(recorded, entries=entries)


def _missing(name: str, found: ResultFile, *, allowed: bool) -> Verdict:
    return Verdict(
        benchmark=name,
        metric=found.runs[0].metric,
        status=Status.PASS if allowed else Status.INCONCLUSIVE,
        reason=Reason.ALLOWED if allowed else Reason.NEW,
        message="not in the baseline",
        next_step="record it: pytest --perfkit-record FILE",
    )
