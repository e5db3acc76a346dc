"""Options that say what a gate allows, and the policy that they make with ``perfkit.yaml``."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from perfkit.cli import talk
from perfkit.cli.quantities import share
from perfkit.errors import UsageError
from perfkit.gate.policy import Policy
from perfkit.gate.static_file import StaticPolicy
from perfkit.gate.verdict import Outcome, outcome
from perfkit.record import record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from perfkit.gate.verdict import Verdict

#: read where it lies and nothing else is named
DEFAULT_FILE: Final = Path("perfkit.yaml")


class OnInconclusive(StrEnum):
    """What the exit code makes of what cannot be told."""

    PASS = "pass"  # noqa: S105 - a choice, no password
    FAIL = "fail"
    THREE = "3"


@record
class GatePolicy:
    """What holds: the file's settings and those typed."""

    static: StaticPolicy
    timing: Policy
    #: suite -> what the exit code makes of what cannot be told
    on_inconclusive: dict[str, str]

    def outcome(self, static: Sequence[Verdict], timing: Sequence[Verdict]) -> Outcome:
        """All verdicts together; each suite by its own setting, and the worse exit code counts."""
        whole = outcome([*static, *timing])
        suites = {"static": static, "timing": timing}
        codes = {
            outcome(verdicts, self.on_inconclusive[name]).exit_code
            for name, verdicts in suites.items()
            if verdicts
        }
        code = next((code for code in (1, 3, 0) if code in codes), whole.exit_code)
        return replace(whole, exit_code=code)


@record
class Settings:
    """As typed."""

    rule: Annotated[
        list[str] | None,
        typer.Option(
            "--rule",
            metavar="RULE",
            help="Of kernels: 'registers<=64', 'spills==0', 'occupancy>=50%@256 threads', "
            "'registers<=baseline+8', 'fits@256 threads on a100'; may be repeated.",
        ),
    ] = None
    policy: Annotated[
        Path | None,
        typer.Option(
            "--policy",
            metavar="FILE",
            help="Rules and limits; if not given perfkit.yaml of this directory, if there is one.",
        ),
    ] = None
    threshold: Annotated[
        str | None,
        typer.Option(
            "--threshold", metavar="SHARE", help="Of timings: surely worse by more fails: 3%."
        ),
    ] = None
    metric: Annotated[
        str | None,
        typer.Option("--metric", metavar="REGEX", help="Of timings: the metrics to compare."),
    ] = None
    allow_new: Annotated[
        bool, typer.Option("--allow-new", help="What the baseline lacks passes.")
    ] = False
    allow_vanished: Annotated[
        bool, typer.Option("--allow-vanished", help="What only the baseline has passes.")
    ] = False
    allow_mismatch: Annotated[
        bool,
        typer.Option("--allow-mismatch", help="Compare timings of other GPUs, drivers, toolkits."),
    ] = False
    on_inconclusive: Annotated[
        OnInconclusive | None,
        typer.Option(
            "--on-inconclusive",
            help="Exit code of what cannot be told: 0, 1 or, if not given, 3. What was not checked "
            "at all never passes.",
        ),
    ] = None

    def read(self) -> GatePolicy:
        """With the policy file.

        Raises:
            InputError: the file cannot be read, with ``file:line``.
            UsageError: a rule or a threshold that is none.
        """
        from perfkit.gate.static_line import parse_rule

        static, timing = self._file()
        typed = tuple(parse_rule(text) for text in self.rule or ())
        _refuse_twice([check.key for rule in typed for check in rule.checks])
        static = replace(
            static,
            rules=(*static.rules, *typed),
            allow_new=static.allow_new or self.allow_new,
            allow_vanished=static.allow_vanished or self.allow_vanished,
        )
        if self.threshold is not None:
            limit = share(self.threshold, "--threshold")
            timing = replace(timing, threshold=limit, relative_floor=None)
        timing = replace(
            timing,
            allow_new=timing.allow_new or self.allow_new,
            allow_vanished=timing.allow_vanished or self.allow_vanished,
            allow_mismatch=timing.allow_mismatch or self.allow_mismatch,
        )
        typed_how = self.on_inconclusive and self.on_inconclusive.value
        how = {
            "static": typed_how or static.on_inconclusive or timing.on_inconclusive,
            "timing": typed_how or timing.on_inconclusive,
        }
        return GatePolicy(static=static, timing=timing, on_inconclusive=how)

    def _file(self) -> tuple[StaticPolicy, Policy]:
        from perfkit.gate.policy_file import load
        from perfkit.gate.static_file import load_static

        path = self.policy
        if path is None:
            if not DEFAULT_FILE.is_file():
                return StaticPolicy(), Policy()
            path = DEFAULT_FILE
            talk.note(f"rules and limits of {path}")
        return load_static(path), load(path)

    def typed_for(self, suite: str) -> str | None:
        """An option that only one kind of input can follow, if it was typed."""
        given: dict[str, dict[str, object]] = {
            "static": {"--rule": self.rule},
            "timing": {
                "--threshold": self.threshold,
                "--metric": self.metric,
                "--allow-mismatch": self.allow_mismatch,
            },
        }
        return next((option for option, value in given[suite].items() if value), None)


def _refuse_twice(keys: Sequence[object]) -> None:
    if len(set(keys)) < len(keys):
        raise UsageError(
            "two --rule set the same limit, and only one can hold", hint="leave one of them out"
        )
