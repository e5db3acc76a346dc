"""When a change counts: limits, error rate and what is allowed, for all benchmarks or some.

Two limits decide. A FAIL needs the whole interval beyond ``threshold`` and the best estimate
beyond the floors; a PASS needs the whole interval inside the larger of the two. A change smaller
than a floor does not matter by definition, so more runs always decide. Stated alone, ``threshold``
is both limits. With nothing stated FAIL means surely more than 0.5 % worse and 3 % by best
estimate, PASS surely less than 3 % worse: figures at which five runs a side decide where noise is
1 % (docs/gate-calibration.md).
"""

from __future__ import annotations

import re
from dataclasses import field, fields, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from perfkit.errors import UsageError
from perfkit.gate.order import Order
from perfkit.readers.results import Unit
from perfkit.record import record

if TYPE_CHECKING:
    from collections.abc import Mapping

DEFAULT_THRESHOLD: Final = 0.005
DEFAULT_FLOOR: Final = 0.03
#: in the unit of the metric: 10 ns is under what any GPU timer resolves, 30 cycles is jitter
ABSOLUTE_FLOORS: Final = {Unit.SECONDS: 1e-8, Unit.CYCLES: 30.0}

ON_INCONCLUSIVE: Final = ("3", "fail", "pass")
SINGLE_RUN: Final = ("inconclusive", "assume")


@record
class Rule:
    """Settings of the benchmarks whose full name contains ``benchmark``, a regular expression.

    What is None stays as the policy, or an earlier rule that matches, has it.
    """

    benchmark: str
    metric: str | None = None  #: regular expression, too; None: every metric
    threshold: float | None = None
    relative_floor: float | None = None
    absolute_floor: float | None = None
    noise: float | None = None
    bound: float | None = None
    single_run: str | None = None

    def __post_init__(self) -> None:
        _check(self)

    def matches(self, benchmark: str, metric: str) -> bool:
        """Whether it is about them."""
        return bool(
            re.search(self.benchmark, benchmark)
            and (self.metric is None or re.search(self.metric, metric))
        )


@record
class Policy:
    """How to decide. Ratios are 0.05 for 5 %."""

    threshold: float | None = None  #: a FAIL is surely worse by more than this; None: 0.5 %
    relative_floor: float | None = None  #: and by best estimate by this; None: see the module
    absolute_floor: float | None = None  #: the same in the unit of the metric; None: 10 ns, 30
    false_alarm: float = 0.01  #: risk that unchanged code fails, over all benchmarks together
    noise: float | None = None  #: relative standard deviation from run to run, where known
    #: one run a side: ``assume`` that runs scatter by half of what their samples do
    single_run: str = "inconclusive"
    minimum_noise: float = 0.005  #: and at least by this
    bound: float | None = None  #: best value the hardware allows, in the unit of the metric
    #: of runs whose files have no dates: ``in_turn``, or the candidate's ``after`` or ``before``
    order: str = Order.UNKNOWN
    collapse: float = 10.0  #: better by more than this factor: the measurement broke
    allow_mismatch: bool = False  #: compare across GPUs, drivers and toolkits
    allow_new: bool = False  #: benchmarks of the candidate alone pass
    allow_vanished: bool = False  #: benchmarks of the baseline alone pass
    on_inconclusive: str = "3"
    rules: tuple[Rule, ...] = field(default_factory=tuple)

    def __post_init__(self) -> None:
        _check(self)

    @property
    def fails_beyond(self) -> float:
        """Relative change that the whole interval must exceed for a FAIL."""
        return DEFAULT_THRESHOLD if self.threshold is None else self.threshold

    @property
    def floor(self) -> float:
        """Relative change under which nothing counts."""
        if self.relative_floor is not None:
            return max(self.relative_floor, self.fails_beyond)
        return DEFAULT_FLOOR if self.threshold is None else self.threshold

    def absolute(self, unit: Unit) -> float:
        """Absolute change under which nothing counts."""
        if self.absolute_floor is None:
            return ABSOLUTE_FLOORS.get(unit, 0.0)
        return self.absolute_floor

    def of(self, benchmark: str, metric: str) -> Policy:
        """The policy with the rules for this benchmark applied, in their order."""
        if not self.rules:
            return self
        return _merged(self, tuple(rule for rule in self.rules if rule.matches(benchmark, metric)))


@lru_cache(maxsize=1024)
def _merged(policy: Policy, rules: tuple[Rule, ...]) -> Policy:
    stated: dict[str, Any] = {}
    for rule in rules:
        values = {f.name: getattr(rule, f.name) for f in fields(rule)}
        stated |= {k: v for k, v in values.items() if v is not None and k not in _SELECT}
    if stated.get("threshold") is not None and "relative_floor" not in stated:
        stated["relative_floor"] = None  # a threshold stated for some is both limits for them
    return replace(policy, rules=(), **stated)


_SELECT: Final = {"benchmark", "metric"}


#: key -> lowest and highest legal value
_RANGES: Final[dict[str, tuple[float, float]]] = {
    "threshold": (0.0, 10.0),
    "relative_floor": (0.0, 10.0),
    "absolute_floor": (0.0, float("inf")),
    "false_alarm": (1e-6, 0.2),
    "noise": (1e-6, 1.0),
    "minimum_noise": (0.0, 1.0),
    "bound": (0.0, float("inf")),
    "collapse": (1.0, float("inf")),
}
_CHOICES: Final = {
    "single_run": SINGLE_RUN,
    "on_inconclusive": ON_INCONCLUSIVE,
    "order": tuple(Order),
}


def check(name: str, value: Any) -> None:
    """Raise ``UsageError`` if a setting cannot have the value."""
    if name in _RANGES:
        low, high = _RANGES[name]
        if not low <= value <= high:
            raise UsageError(f"{name} {value:g} is not in {low:g} … {high:g}")
    if name in _CHOICES and value not in _CHOICES[name]:
        legal = ", ".join(_CHOICES[name])
        raise UsageError(f"{name} {value!r} is none of {legal}")
    if name in _SELECT:
        try:
            re.compile(value)
        except re.error as error:
            raise UsageError(f"{name} {value!r} is no regular expression: {error}") from None


def _check(settings: Policy | Rule) -> None:
    for item in fields(settings):
        value = getattr(settings, item.name)
        if value is not None:
            check(item.name, value)


#: preset -> what it changes
PRESETS: Final[Mapping[str, Mapping[str, Any]]] = {
    "default": {},
    "strict": {"threshold": 0.01, "on_inconclusive": "fail"},
    "permissive": {"threshold": 0.05, "single_run": "assume", "on_inconclusive": "pass"},
}


def preset(name: str, **changes: Any) -> Policy:
    """A named policy, with changes.

    >>> preset("permissive").fails_beyond, preset("default", threshold=0.02).floor
    (0.05, 0.02)
    """
    if name not in PRESETS:
        raise UsageError(f"{name!r} is no preset", hint=f"write one of {', '.join(PRESETS)}")
    return Policy(**{**PRESETS[name], **changes})
