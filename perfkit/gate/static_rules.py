"""Static rules: which kernels, which quantity, what is allowed."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, Literal

from perfkit.arch import catalog
from perfkit.arch.nodes import nearest
from perfkit.arch.types import ComputeCapability
from perfkit.errors import UsageError
from perfkit.gate.quantities import QUANTITIES, Asked, amount, figure, share
from perfkit.kernel import DType, KernelResources
from perfkit.models.operations import operation
from perfkit.record import record

if TYPE_CHECKING:
    pass

Relation = Literal["at_most", "at_least", "fits"]


@record
class Check:
    """One limit on one quantity."""

    asked: Asked
    relation: Relation
    limit: Fraction = Fraction(0)  #: or, with ``against_baseline``, how far from the baseline
    strict: bool = False  #: the limit itself is not allowed
    against_baseline: bool = False
    relative: bool = False  #: ``limit`` is a share of the baseline's value
    optional: bool = False  #: nobody asked for it by name: passed over where nothing is known
    text: str  #: as written
    where: str  #: ``--rule`` or ``file:line``

    @property
    def key(self) -> tuple[object, ...]:
        """Of two checks with one key that hold for a kernel, the later one counts."""
        return (self.asked, self.relation, self.against_baseline)

    def allowed(self, baseline: Fraction | None) -> Fraction:
        """The largest or smallest value; ``baseline`` must be known where it is asked about."""
        if not self.against_baseline or baseline is None:
            return self.limit
        change = baseline * self.limit if self.relative else self.limit
        return baseline + (change if self.relation == "at_most" else -change)

    def holds(self, value: Fraction, baseline: Fraction | None) -> bool:
        allowed = self.allowed(baseline)
        if self.relation == "at_most":
            return value < allowed or (value == allowed and not self.strict)
        return value > allowed or (value == allowed and not self.strict)


@record
class StaticRule:
    """Limits for the kernels whose name and architecture match."""

    kernel: str | None = None  #: regular expression, in the shown or the mangled name; None: all
    archs: tuple[str, ...] = ()  #: names or patterns, of which one must match; none: all
    checks: tuple[Check, ...]
    where: str

    def selects(self, kernel: KernelResources) -> bool:
        if self.archs and not any(_arch_matches(one, kernel.arch) for one in self.archs):
            return False
        return self.kernel is None or any(
            re.search(self.kernel, name) for name in (kernel.demangled, kernel.name)
        )

    @property
    def subject(self) -> str:
        """The kernels that it is about, in words."""
        which = "any kernel" if self.kernel is None else f"kernels that match {self.kernel!r}"
        return f"{which} for {', '.join(self.archs)}" if self.archs else which


def check_arch(pattern: str) -> None:
    """Raise ``UsageError`` if ``pattern`` can match no architecture: a name nobody knows."""
    if not _GLOB.search(pattern):
        _capabilities(pattern)


_GLOB: Final = re.compile(r"[*?\[]")
_EXACT: Final = re.compile(r"(sm_)?[0-9]+[af]", re.IGNORECASE)


@lru_cache(maxsize=4096)
def _arch_matches(pattern: str, arch: str) -> bool:
    """``sm_8*`` is a pattern, ``sm_90a`` itself; all other names stand for capabilities."""
    if _GLOB.search(pattern):
        return fnmatchcase(arch.lower(), pattern.lower())
    if _EXACT.fullmatch(pattern):
        return arch.lower().removeprefix("sm_") == pattern.lower().removeprefix("sm_")
    try:
        return ComputeCapability.parse(arch) in _capabilities(pattern)
    except UsageError:  # an architecture of a kernel that is none
        return False


@lru_cache(maxsize=256)
def _capabilities(name: str) -> frozenset[ComputeCapability]:
    return frozenset(one.capability.compute_capability for one in catalog.targets(name))


def change(text: str, asked: Asked) -> dict[str, Any]:
    """How far from the baseline: ``8``, ``1K``, or a share of the baseline's value, ``10%``."""
    part = share(text)
    if part is not None:
        return {"limit": part, "relative": True}
    return {"limit": amount(text, asked.of.unit) if text.strip() != "0" else Fraction(0)}


#: options of the same meaning
_ALIASES: Final = {"regs": "registers", "smem_static": "static_shared"}


def ask(
    name: str,
    *,
    threads: int | None = None,
    dynamic_bytes: int | None = None,
    gpu: str | None = None,
    operation: str | None = None,
    dtype: str | None = None,
) -> Asked:
    """A quantity by its name, with what it hangs on.

    Raises:
        UsageError: no such quantity, GPU, block or work, or something that it does not hang on.
    """
    key = name.strip().lower()
    key = _ALIASES.get(key, key)
    if key not in QUANTITIES:
        close = nearest(key, QUANTITIES)
        hint = f"did you mean {close[0]}?" if close else f"one of {', '.join(QUANTITIES)}"
        raise UsageError(f"{name!r} is no quantity of a kernel", hint=hint)
    scope = QUANTITIES[key].scope
    if scope == "kernel" and (threads or dynamic_bytes or gpu):
        raise UsageError(f"{key} is the same for every launch and GPU: leave out what follows it")
    if threads is not None and not 1 <= threads <= 1024:
        raise UsageError(f"{threads} threads: a block has 1 to 1024")
    if gpu is not None:
        catalog.targets(gpu)
    if scope == "work":
        _check_work(operation, dtype)
    return Asked(
        quantity=key,
        threads=threads,
        dynamic_bytes=dynamic_bytes,
        gpu=gpu,
        operation=operation,
        dtype=dtype,
    )


def _check_work(text: str | None, dtype: str | None) -> None:
    if text is None or dtype is None:
        raise UsageError("a bound needs the work and its type", hint="gemm:4096 and f16")
    operation(text, DType.parse(dtype))


def not_worse() -> StaticRule:
    """What holds where two builds are compared and nobody says how: nothing gets worse."""
    checks = []
    for name, quantity in QUANTITIES.items():
        if name in _COMPARED:
            relation: Relation = "at_least" if quantity.higher_is_better else "at_most"
            sign = ">=" if quantity.higher_is_better else "<="
            checks.append(
                Check(
                    asked=Asked(quantity=name),
                    relation=relation,
                    against_baseline=True,
                    optional=True,
                    text=f"{name}{sign}baseline",
                    where="nothing may get worse",
                )
            )
    return StaticRule(checks=tuple(checks), where="nothing may get worse")


#: as ``perfkit diff`` has it
_COMPARED: Final = frozenset(
    {
        *("registers", "spill_stores", "spill_loads", "stack", "unbounded_stack"),
        *("static_shared", "barriers", "occupancy"),
    }
)


def allowed_text(check: Check, baseline: Fraction | None) -> str:
    """In words: ``at most 64 allowed``, ``40 in the baseline and 8 more allowed``."""
    quantity = check.asked.of
    sign = {"at_most": "at most", "at_least": "at least"}[check.relation]
    if check.strict:
        sign = {"at_most": "less than", "at_least": "more than"}[check.relation]
    if not check.against_baseline or baseline is None:
        asked = "allowed" if check.relation == "at_most" else "asked for"
        return f"{sign} {figure(check.limit, quantity)} {asked}"
    more = "more" if check.relation == "at_most" else "less"
    size = f"{float(check.limit * 100):g}%" if check.relative else figure(check.limit, quantity)
    allowed = f"{size} {more}" if check.limit else f"no {more}"
    return f"{figure(baseline, quantity)} in the baseline and {allowed} allowed"
