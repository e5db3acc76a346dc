"""Questions about peaks and bandwidths need a product: a capability alone has neither."""

from __future__ import annotations

from typing import TYPE_CHECKING

from perfkit.arch import catalog
from perfkit.arch.types import Target
from perfkit.errors import UnknownTarget

if TYPE_CHECKING:
    from collections.abc import Iterable

    from perfkit.arch.types import Capability, Gpu


def product(target: Target) -> Gpu:
    """The product of a target.

    Raises:
        UnknownTarget: it is a bare capability; the hint names its products.
    """
    if target.gpu is not None:
        return target.gpu
    keys = [
        gpu.key
        for gpu in catalog.all_gpus()
        if gpu.compute_capability == target.capability.compute_capability
    ]
    raise UnknownTarget(
        f"{target.label} is a compute capability: clocks, SMs and bandwidth belong to a product",
        hint=f"write one of: {', '.join(keys)}" if keys else "the database has no product of it",
    )


def products(name: str, found: Iterable[Target]) -> tuple[tuple[Target, ...], bool]:
    """The products that a name stands for, and whether it names each of them.

    Args:
        name: as typed: a product, a family or ``all``.
        found: what ``catalog.targets`` makes of it; a family is its capabilities there.

    Raises:
        UnknownTarget: a bare capability, or a card that the database does not hold.
    """
    targets = tuple(found)
    stands_for_one = len(targets) == 1 and not _is_family(name, targets[0])
    if stands_for_one:
        product(targets[0])
    if all(target.gpu is not None for target in targets):
        return targets, True
    capabilities = {target.capability.compute_capability: target.capability for target in targets}
    return tuple(
        _target(gpu, capabilities[gpu.compute_capability])
        for gpu in catalog.all_gpus()
        if gpu.compute_capability in capabilities
    ), False


def _target(gpu: Gpu, capability: Capability) -> Target:
    return Target(label=gpu.key, capability=capability, gpu=gpu)


def _is_family(name: str, target: Target) -> bool:
    """Whether the name is an architecture's that has this capability only, or ``all``.

    A bare capability is named by its number, the card of this machine by ``device``.
    """
    if target.gpu is not None:
        return False
    architecture = target.capability.architecture
    wanted = catalog.normalise(name)
    return wanted in {catalog.normalise(one) for one in (architecture, architecture.split()[0])}
