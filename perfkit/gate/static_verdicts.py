"""What static verdicts are made of: the kernels, what is known of them, and the words."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Final, Protocol

from perfkit.arch.types import Target
from perfkit.gate.quantities import Asked, Quantity
from perfkit.gate.static_rules import Check
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
    #: kernels of which a GPU that was asked about runs no code, and that GPU
    idle: tuple[tuple[KernelResources, Target], ...] = ()
    unread: int = 0  #: parts of the files that could not be read

    @property
    def apart(self) -> bool:
        """Two builds without a kernel that both have."""
        return self.compared and all(old is None for old, _ in self.pairs)


_STATUS: Final = {
    Reason.WITHIN: Status.PASS,
    Reason.ALLOWED: Status.PASS,
    Reason.OVER_LIMIT: Status.FAIL,
    Reason.INCREASED: Status.FAIL,
    Reason.DOES_NOT_FIT: Status.FAIL,
}


def of_kernel(
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
    """On one kernel; ``place`` is the GPU that matters, ``before`` the baseline's figure."""
    quantity = check.asked.of
    file, line = facts.source(kernel)
    known = check.relation != "fits" and (before is not None or not check.against_baseline)
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
            limit=_plain(check.allowed(baseline)) if known else None,
            origin=kernel.origin,
            file=file,
            line=line,
        ),
    )


def _plain(value: Fraction) -> float:
    """Whole numbers stay whole."""
    return int(value) if value.denominator == 1 else float(value)


#: as ``readers.results.Unit`` writes them
_UNITS: Final = {"bytes": "B", "ratio": "1", "s": "s"}
_NEXT: Final = {
    Reason.NOT_KNOWN: "give what the reason names, or leave the rule out for these kernels",
    Reason.DOES_NOT_FIT: "perfkit fits says what would help; sources are compiled for --gpu alone",
    Reason.NEW: "build the baseline anew, or allow new kernels: --allow-new",
    Reason.VANISHED: "build the baseline anew, or allow kernels to vanish: --allow-vanished",
}


def _ratio(quantity: Quantity, value: float | None, before: float | None) -> float | None:
    """Worse over better read from the baseline, as of timings; None where one of them is 0."""
    if not value or not before:
        return None
    return before / value if quantity.higher_is_better else value / before


def of_all(subject: str, reason: Reason, message: str, step: str, check: Check) -> Verdict:
    """On no single kernel; always inconclusive."""
    return Verdict(
        benchmark=subject,
        status=Status.INCONCLUSIVE,
        reason=reason,
        message=message,
        metric=check.asked.quantity,
        next_step=step,
        static=Static(rule=check.text, rule_at=check.where),
    )


def names(kernels: Sequence[KernelResources], most: int = 3) -> str:
    """The first few, for a message."""
    names = list(dict.fromkeys(f"{kernel.demangled} ({kernel.arch})" for kernel in kernels))
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return (", ".join(names[:most]) or "none") + more
