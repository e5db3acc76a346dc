"""Runs of foreign benchmark programs: started, timed or read, and named where they fail.

A run is one process. Its number is what it prints, what it writes to a file, or its wall time. What
fails, takes too long, prints no number, or leaves a benchmark out that was there before is a run
with a failure: it is kept, named, and no verdict goes past it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from perfkit import files
from perfkit.device.program_run import Executed, Program, execute, tail
from perfkit.errors import InputError
from perfkit.gate.collected import Attempt
from perfkit.readers.checks import checked
from perfkit.readers.merge import unique
from perfkit.readers.program_output import by_pattern
from perfkit.readers.recognise import read_results
from perfkit.readers.results import ResultFile, Run, Unit
from perfkit.record import record

if TYPE_CHECKING:
    from perfkit.device.nvml import Monitor

#: a program prints no more than that, or it is not read
_MOST_BYTES: Final = 256 * 2**20
WALL: Final = "wall"
_NO_RESULTS: Final = (
    "write --metric wall, --metric 'time: ([0-9.]+) ms', or {out} in the command for its file"
)


@record
class Metric:
    """Where a run's numbers come from."""

    benchmark: str  #: name of a run that has none of its own
    wall: bool = False  #: the time of the process
    pattern: str | None = None  #: one group around a number in the output
    unit: str | None = None  #: of that number; None: as the output has it
    names: str | None = None  #: regular expression of metrics in a file of results
    results_file: str | None = None  #: that the program writes, in its folder; None: see ``{out}``


class Side:
    """A program that is run again and again."""

    def __init__(
        self,
        name: str,
        program: Program,
        metric: Metric,
        *,
        time_limit_s: float,
        monitors: Sequence[Monitor] = (),
        run: Callable[..., Executed] = execute,
    ) -> None:
        self.name = name
        self.program = program
        self.metric = metric
        self._limit_s = time_limit_s
        self._monitors = monitors
        self._run = run
        self._expected: dict[tuple[str, str], Unit] = {}

    def attempt(self, number: int, *, first: bool = True) -> Attempt:
        """Run the program once. ``KeyboardInterrupt`` ends it and goes on."""
        with tempfile.TemporaryDirectory(prefix="perfkit-") as folder:
            paths = [Path(folder, name) for name in ("stdout.txt", "stderr.txt", "results")]
            before = self._stamp()
            done = self._run(
                self.program,
                self._limit_s,
                stdout=paths[0],
                stderr=paths[1],
                out=paths[2],
                monitors=self._monitors,
            )
            found = ResultFile(kind="", origin="", runs=())
            failure, hint, log = done.failure, None, done.log
            if failure is None:
                try:
                    found = self._found(done, paths[0], paths[2], before)
                except InputError as error:
                    failure, hint = error.message, error.hint
                    log = tail(paths[0])
        runs = self._checked(found.runs, number, failure)
        broken = next((run for run in runs if run.failure), None)
        if failure is None and broken is not None:
            failure = f"{broken.benchmark}: {broken.failure}"
        return Attempt(
            side=self.name,
            number=number,
            first=first,
            wall_s=done.wall_s,
            runs=runs,
            environment=found.environment,
            failure=failure,
            hint=hint,
            log=log,
            clock_hz=done.clock_hz,
            throttles=done.throttles,
            left=done.left,
        )

    def _found(
        self, done: Executed, stdout: Path, out: Path, before: tuple[int, int] | None
    ) -> ResultFile:
        """The numbers of a run that ended well; raises ``InputError`` where there are none."""
        how = self.metric
        if how.wall:
            run = Run(
                benchmark=how.benchmark, values=(done.wall_s,), unit=Unit.SECONDS, metric=WALL
            )
            return ResultFile(kind=WALL, origin=self.program.title, runs=(checked(run),))
        if how.pattern is not None:
            text = files.read(stdout, _MOST_BYTES, "the output of a benchmark")
            shown = text.decode("utf-8", "replace")
            run = by_pattern(shown, how.pattern, how.unit, how.benchmark, "the output")
            return ResultFile(kind="output", origin=self.program.title, runs=(run,))
        path = self._results_path(out)
        if path is None:
            return self._read(stdout, "what it prints", _NO_RESULTS)
        if not path.exists():
            raise InputError(f"it did not write {self._results_name()}")
        if how.results_file is not None and self._stamp() == before:
            raise InputError(f"it left {self._results_name()} as it was: those are old results")
        return self._read(path, self._results_name(), None)

    def _read(self, path: Path, what: str, hint: str | None) -> ResultFile:
        try:
            found = read_results(path, metric=self.metric.names)
        except InputError as error:
            raise InputError(f"{what}: {error.message}", hint=hint or error.hint) from None
        # whatever runs the file tells apart were one process
        plain = tuple(replace(run, run=None, pair=None) for run in found.runs)
        return unique(replace(found, runs=plain))

    def _results_path(self, out: Path) -> Path | None:
        if self.metric.results_file is not None:
            return (self.program.folder or Path()) / self.metric.results_file
        return out if self.program.writes_out else None

    def _results_name(self) -> str:
        return self.metric.results_file or "{out}"

    def _stamp(self) -> tuple[int, int] | None:
        """What changes when the file of results is written; None: there is none."""
        path = self._results_path(Path())
        if self.metric.results_file is None or path is None:
            return None
        try:
            status = path.stat()
        except (OSError, ValueError):
            return None
        return status.st_mtime_ns, status.st_ino

    def _checked(self, found: tuple[Run, ...], number: int, failure: str | None) -> tuple[Run, ...]:
        """The runs under their pair's number; what was there before and is missing has failed."""
        runs = {(run.benchmark, run.metric): run for run in found}
        missing = [key for key in self._expected if key not in runs]
        if failure is not None and not runs and not self._expected:
            missing = [(self.metric.benchmark, WALL if self.metric.wall else "time")]
        for key in missing:
            runs[key] = Run(
                benchmark=key[0],
                metric=key[1],
                values=(),
                unit=self._expected.get(key, Unit.SECONDS),
                failure=failure or "it is not among the results of this run",
            )
        for key, run in runs.items():
            self._expected.setdefault(key, run.unit)
        where = f"{self.name} {number}" if number else f"warm-up of the {self.name}"
        pair = str(number)
        return tuple(replace(run, run=pair, pair=pair, source=where) for run in runs.values())


def results(attempts: Sequence[Attempt], side: str, environment: dict[str, str]) -> ResultFile:
    """What the attempts of one side gave, warm-ups left out, as a file of results.

    Args:
        attempts: of both sides.
        side: which one.
        environment: of this machine; what the results say of themselves comes first.
    """
    mine = [one for one in attempts if one.side == side and one.number]
    told: dict[str, list[str]] = {}
    for one in mine:
        for key, value in one.environment.items():
            told.setdefault(key, []).append(value)
    own = {key: " | ".join(dict.fromkeys(values)) for key, values in told.items()}
    return ResultFile(
        kind="perfkit-collected",
        origin=side,
        runs=tuple(run for one in mine for run in one.runs),
        environment={**environment, **own},
    )


def collect(
    side: Side,
    count: int,
    *,
    warm_up: int,
    tell: Callable[[str], None],
) -> Iterator[Attempt]:
    """Run one side ``count`` times after ``warm_up`` times that do not count; a failure ends it."""
    for number in (*[0] * warm_up, *range(1, count + 1)):
        tell(f"{side.name}, run {number} of {count}" if number else f"{side.name}, warm-up")
        one = side.attempt(number)
        yield one
        if one.failure is not None:
            return


@contextmanager
def interruptible() -> Iterator[list[bool]]:
    """Ctrl-C ends the block and is noted in the list, so that what is done is kept."""
    interrupted: list[bool] = []
    try:
        yield interrupted
    except KeyboardInterrupt:
        interrupted.append(True)
