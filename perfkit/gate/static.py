"""Compiled kernels against rules: exact, with no GPU and no tolerance.

Kernels, facts about them and rules in, one verdict out for each kernel, limit and GPU. Whatever was
not checked is named and inconclusive: a rule without a kernel, a quantity that the file does not
tell, a kernel that only one of two builds has.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Final

from perfkit.errors import UsageError
from perfkit.gate.quantities import shown
from perfkit.gate.static_rules import Check, StaticRule, allowed_text
from perfkit.gate.static_verdicts import Builds, Facts, names, of_all, of_kernel
from perfkit.gate.verdict import Reason, Verdict
from perfkit.kernel import KernelResources


def judge(
    rules: Sequence[StaticRule],
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
        chosen: dict[object, Check] = {}
        for place, rule in enumerate(rules):
            if rule.selects(new):
                used.add(place)
                chosen.update({check.key: check for check in rule.checks})
        found += _of_kernel([*chosen.values()], old, new, builds, facts, allow_new=allow_new)
    found += _idle(rules, builds, facts)
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
        message += f" ({why})" if why else ""
    return of_kernel(check, new, place, facts, reason, message, value=value, before=before)


def _compared(check: Check, value: float, before: float | None) -> tuple[Reason, str]:
    baseline = None if before is None else Fraction(before)
    message = f"{shown(value, check.asked.of)}, {allowed_text(check, baseline)}"
    if check.holds(Fraction(value), baseline):
        return Reason.WITHIN, message
    return (Reason.INCREASED if check.against_baseline else Reason.OVER_LIMIT), message


# --- what only one build has, and what no kernel is concerned by ----------------------------------


def _lonely(
    kernel: KernelResources, check: Check, facts: Facts, reason: Reason, *, allowed: bool
) -> Verdict:
    message = f"in the {'candidate' if reason is Reason.NEW else 'baseline'} only"
    if allowed:
        reason, message = Reason.ALLOWED, f"{message}: not compared, which the policy allows"
    return of_kernel(check, kernel, None, facts, reason, message)


def _idle(rules: Sequence[StaticRule], builds: Builds, facts: Facts) -> Iterator[Verdict]:
    """Kernels that a rule would be about, had they code for that GPU."""
    for kernel, target in builds.idle:
        there = replace(kernel, arch=target.capability.compute_capability.sm)
        rule = next((rule for rule in rules if rule.selects(there)), None)
        if rule is not None:
            message = f"no code that {target.label} runs: compiled for {kernel.arch}"
            yield of_kernel(rule.checks[0], kernel, target.label, facts, Reason.NOT_KNOWN, message)


def _vanished(
    rules: Sequence[StaticRule], builds: Builds, facts: Facts, *, allowed: bool
) -> Iterator[Verdict]:
    if builds.apart:
        return
    for kernel in builds.vanished:
        rule = next((rule for rule in rules if rule.selects(kernel)), None)
        if rule is not None:
            yield _lonely(kernel, rule.checks[0], facts, Reason.VANISHED, allowed=allowed)


def _of_builds(rules: Sequence[StaticRule], builds: Builds) -> Iterator[Verdict]:
    """Rules that compare with a baseline, where there is nothing to compare."""
    checks = [check for rule in rules for check in rule.checks if check.against_baseline]
    if builds.unread:
        yield of_all(
            "all kernels",
            Reason.NOT_READ,
            f"{builds.unread} parts of the files could not be read: they may be what fails",
            "see the notes; build the files anew, or leave them out",
            rules[0].checks[0],
        )
    if builds.apart:
        old, new = (names(side) for side in (builds.vanished, [k for _, k in builds.pairs]))
        yield of_all(
            "all kernels",
            Reason.NOTHING_IN_COMMON,
            f"the builds have no kernel in common: {old} before, {new} now",
            "kernels are matched by name within one architecture: compare like with like",
            rules[0].checks[0],
        )
    elif not builds.compared:
        for check in checks:
            yield of_all(
                "all kernels",
                Reason.NO_BASELINE,
                f"{check.text} compares with a baseline, and there is none",
                "name the earlier build with --baseline",
                check,
            )


def _nobody(rule: StaticRule, builds: Builds) -> Verdict:
    there = names([kernel for _, kernel in builds.pairs])
    return of_all(
        rule.subject,
        Reason.NO_MATCH,
        f"there is none: the rule checks nothing; there are {there}",
        "correct the name or the architecture, or take the rule out",
        rule.checks[0],
    )
