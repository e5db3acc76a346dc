"""What a target may be: a name, or one of the dataclasses that stand for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from perfkit.arch import catalog
from perfkit.arch.types import Capability, ComputeCapability, Gpu, Target
from perfkit.errors import UnknownTarget, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from perfkit.models.occupancy import Rule

TargetLike: TypeAlias = str | Capability | Gpu | Target


def capability_of(target: TargetLike) -> Capability:
    """The SM of a target; raises ``UnknownTarget`` where the name stands for several."""
    return target.capability if isinstance(target, Target) else target_of(target).capability


def target_of(target: TargetLike) -> Target:
    """One target; raises as ``capability_of``."""
    if isinstance(target, Target):
        return target
    if isinstance(target, Capability):
        return Target(label=str(target.compute_capability), capability=target, gpu=None)
    if isinstance(target, Gpu):
        owner = catalog.capability(str(target.compute_capability))
        return Target(label=target.key, capability=owner, gpu=target)
    found = catalog.targets(target)
    if len(found) != 1:
        labels = ", ".join(one.label for one in found)
        raise UnknownTarget(f"{target!r} is several targets", hint=f"name one of: {labels}")
    return found[0]


def targets_of(targets: TargetLike | Iterable[TargetLike]) -> tuple[Target, ...]:
    """Each once, in the order in which they are named."""
    if isinstance(targets, str | Capability | Gpu | Target):
        targets = [targets]
    if not hasattr(targets, "__iter__"):
        raise UsageError(f"{targets!r} is not a name", hint='write capabilities as text: "9.0"')
    found: list[Target] = []
    for name in targets:
        found += catalog.targets(name) if isinstance(name, str) else [target_of(name)]
    return tuple({one.label: one for one in found}.values())


def architecture_of(target: TargetLike | ComputeCapability) -> str:
    """What to compile for: ``sm_90``; ``sm_90a`` only if that is what was named."""
    if isinstance(target, ComputeCapability):
        return target.sm
    found = target_of(target)
    name = target.strip().lower() if isinstance(target, str) else ""
    suffix = name[-1] if found.gpu is None and name[-2:-1].isdigit() and name[-1] in "af" else ""
    return found.capability.compute_capability.sm + suffix


def rule_of(rule: str) -> Rule:
    if rule == "driver":
        return "driver"
    if rule == "hardware":
        return "hardware"
    raise UsageError(f"{rule!r} is not a rule", hint="driver or hardware")
