"""Compiled kernels against rules: exact, with no GPU and no tolerance.

Kernels, facts about them and rules in, one verdict out for each kernel, limit and GPU. Whatever was
not checked is named and inconclusive: a rule without a kernel, a quantity that the file does not
tell, a kernel that only one of two builds has.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Final, Protocol

from perfkit.errors import UsageError
from perfkit.gate.quantities import Asked, Quantity, shown
from perfkit.gate.static_rules import Check, Rule, allowed_text
from perfkit.gate.verdict import Reason, Static, Status, Verdict
from perfkit.kernel import KernelResources
from perfkit.record import record


class Facts(Protocol):
    """What is known of kernels; ``analysis.static_facts`` computes it."""

    def places(self, kernel: KernelResources, asked: Asked) -> Sequence[str | None]:
        """GPUs on which the kernel answers for the quantity; ``[None]``: no GPU matters."""

    def value(
        self, kernel: KernelResources, asked: Asked, place: str | None
    ) -> tuple[float | None, str | None]:
        """The figure; or None, and why. Of ``fits`` 1 or 0, and why not."""

    def source(self, kernel: KernelResources) -> tuple[str | None, int | None]:
        """File and line where people look for the kernel."""


@record
class Builds:
    """The kernels that are judged, each with its counterpart in the earlier build."""

    pairs: tuple[tuple[KernelResources | None, KernelResources], ...]  #: (earlier, now)
    vanished: tuple[KernelResources, ...] = ()
    compared: bool = False  #: whether there is an earlier build

    @property
    def apart(self) -> bool:
        """Two builds without a kernel that both have."""
        return self.compared and all(old is None for old, _ in self.pairs)


def judge(
    rules: Sequence[Rule],
    builds: Builds,
    facts: Facts,
    *,
    allow_new: bool = False,
    allow_vanished: bool = False,
) -> list[Verdict]:
    """Verdicts in the order of the kernels; what concerns no single kernel comes last.

    Args:
        rules: of two checks of the same quantity that hold for a kernel, the later one counts.
        builds: the kernels.
        facts: about the kernels of both builds.
        allow_new: a kernel that the baseline lacks passes what compares with it.
        allow_vanished: a kernel of the baseline alone passes.

    Raises:
        UsageError: there are no rules.
    """
    if not any(rule.checks for rule in rules):
        raise UsageError("no rule: nothing would be checked", hint=NO_RULE)
    found: list[Verdict] = []
    used: set[int] = set()
    for old, new in builds.pairs:
        chosen: dict[object, tuple[Rule, Check]] = {}
        for place, rule in enumerate(rules):
            if rule.selects(new):
                used.add(place)
                chosen.update({check.key: (rule, check) for check in rule.checks})
        checks = [check for _, check in chosen.values()]
        found += _of_kernel(checks, old, new, builds, facts, allow_new=allow_new)
    found += _vanished(rules, builds, facts, allowed=allow_vanished)
    found += _of_builds(rules, builds)
    found += [_nobody(rule, builds) for place, rule in enumerate(rules) if place not in used]
    return found


NO_RULE: Final = "write --rule 'registers<=64', or rules in perfkit.yaml under static"


def _of_kernel(
    checks: Sequence[Check],
    old: KernelResources | None,
    new: KernelResources,
    builds: Builds,
    facts: Facts,
    *,
    allow_new: bool,
) -> Iterator[Verdict]:
    against = [check for check in checks if check.against_baseline]
    if against and old is None and builds.compared and not builds.apart:
        yield _lonely(new, against[0], facts, Reason.NEW, allowed=allow_new)
    for check in checks:
        if check.against_baseline and old is None:
            continue
        for place in facts.places(new, check.asked):
            verdict = _judged(check, old, new, place, facts)
            if verdict is not None:
                yield verdict


def _judged(
    check: Check,
    old: KernelResources | None,
    new: KernelResources,
    place: str | None,
    facts: Facts,
) -> Verdict | None:
    """One limit on one kernel; None: optional, and neither side knows the quantity."""
    value, why = facts.value(new, check.asked, place)
    before: float | None = None
    if old is not None:
        before, why_before = facts.value(old, check.asked, place)
        if check.against_baseline and before is None:
            if check.optional and value is None:
                return None
            why = why or f"in the baseline: {why_before}"
    if value is None or (check.against_baseline and before is None):
        reason, message = Reason.NOT_KNOWN, f"{check.asked.of.title} not known: {why}"
    elif check.relation == "fits":
        reason = Reason.WITHIN if value else Reason.DOES_NOT_FIT
        message = "launches" if value else f"does not launch: {why}"
    else:
        reason, message = _compared(check, value, before)
    return _verdict(check, new, place, facts, reason, message, value=value, before=before)


def _compared(check: Check, value: float, before: float | None) -> tuple[Reason, str]:
    baseline = None if before is None else Fraction(before)
    message = f"{shown(value, check.asked.of)}: {allowed_text(check, baseline)}"
    if check.holds(Fraction(value), baseline):
        return Reason.WITHIN, message
    return (Reason.INCREASED if check.against_baseline else Reason.OVER_LIMIT), message


_STATUS: Final = {
    Reason.WITHIN: Status.PASS,
    Reason.ALLOWED: Status.PASS,
    Reason.OVER_LIMIT: Status.FAIL,
    Reason.INCREASED: Status.FAIL,
    Reason.DOES_NOT_FIT: Status.FAIL,
}


def _verdict(
    check: Check,
    kernel: KernelResources,
    place: str | None,
    facts: Facts,
    reason: Reason,
    message: str,
    *,
    value: float | None = None,
    before: float | None = None,
) -> Verdict:
    quantity = check.asked.of
    file, line = facts.source(kernel)
    known = check.relation != "fits" and not (check.against_baseline and before is None)
    baseline = None if before is None else Fraction(before)
    return Verdict(
        benchmark=kernel.demangled,
        status=_STATUS.get(reason, Status.INCONCLUSIVE),
        reason=reason,
        message=message,
        metric=check.asked.quantity,
        unit=_UNITS.get(quantity.unit, "count"),
        higher_is_better=quantity.higher_is_better,
        ratio=_ratio(quantity, value, before),
        baseline_value=before,
        candidate_value=value,
        next_step=_NEXT.get(reason),
        static=Static(
            rule=check.text,
            rule_at=check.where,
            arch=kernel.arch,
            gpu=place,
            symbol=kernel.name,
            limit=float(check.allowed(baseline)) if known else None,
            origin=kernel.origin,
            file=file,
            line=line,
        ),
    )


#: as ``readers.results.Unit`` writes them
_UNITS: Final = {"bytes": "B", "ratio": "1", "s": "s"}
_NEXT: Final = {
    Reason.NOT_KNOWN: "give what the reason names, or leave the rule out for these kernels",
    Reason.NEW: "build the baseline anew, or allow new kernels",
    Reason.VANISHED: "build the baseline anew, or allow kernels to vanish",
}


def _ratio(quantity: Quantity, value: float | None, before: float | None) -> float | None:
    """Worse over better read from the baseline, as of timings; None where one of them is 0."""
    if not value or not before:
        return None
    return before / value if quantity.higher_is_better else value / before


# --- what only one build has, and what no kernel is concerned by ----------------------------------


def _lonely(
    kernel: KernelResources, check: Check, facts: Facts, reason: Reason, *, allowed: bool
) -> Verdict:
    message = f"in the {'candidate' if reason is Reason.NEW else 'baseline'} only"
    if allowed:
        reason, message = Reason.ALLOWED, f"{message}: not compared, which the policy allows"
    return _verdict(check, kernel, None, facts, reason, message)


def _vanished(
    rules: Sequence[Rule], builds: Builds, facts: Facts, *, allowed: bool
) -> Iterator[Verdict]:
    if builds.apart:
        return
    for kernel in builds.vanished:
        rule = next((rule for rule in rules if rule.selects(kernel)), None)
        if rule is not None:
            yield _lonely(kernel, rule.checks[0], facts, Reason.VANISHED, allowed=allowed)


def _of_builds(rules: Sequence[Rule], builds: Builds) -> Iterator[Verdict]:
    """Rules that compare with a baseline, where there is nothing to compare."""
    checks = [check for rule in rules for check in rule.checks if check.against_baseline]
    if builds.apart:
        old, new = (_names(side) for side in (builds.vanished, [k for _, k in builds.pairs]))
        yield _general(
            "all kernels",
            Reason.NOTHING_IN_COMMON,
            f"the builds have no kernel in common: {old} before, {new} now",
            "kernels are matched by name within one architecture: compare like with like",
            rules[0].checks[0],
        )
    elif not builds.compared:
        for check in checks:
            yield _general(
                "all kernels",
                Reason.NO_BASELINE,
                f"{check.text} compares with a baseline, and there is none",
                "name the earlier build with --baseline",
                check,
            )


def _nobody(rule: Rule, builds: Builds) -> Verdict:
    there = _names([kernel for _, kernel in builds.pairs])
    return _general(
        rule.subject,
        Reason.NO_MATCH,
        f"there is none: the rule checks nothing; there are {there}",
        "correct the name or the architecture, or take the rule out",
        rule.checks[0],
    )


def _general(subject: str, reason: Reason, message: str, step: str, check: Check) -> Verdict:
    return Verdict(
        benchmark=subject,
        status=Status.INCONCLUSIVE,
        reason=reason,
        message=message,
        metric=check.asked.quantity,
        next_step=step,
        static=Static(rule=check.text, rule_at=check.where),
    )


def _names(kernels: Sequence[KernelResources], most: int = 3) -> str:
    names = list(dict.fromkeys(f"{kernel.demangled} ({kernel.arch})" for kernel in kernels))
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return (", ".join(names[:most]) or "none") + more
