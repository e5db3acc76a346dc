"""The public functions behind ``import perfkit``: the models with names instead of dataclasses.

A ``target`` is a product (``"h100"``), a capability (``"9.0"``, ``"sm_90a"``) or one of the
dataclasses that ``perfkit.capability`` and ``perfkit.gpu`` return.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from perfkit.analysis import bounds
from perfkit.arch import catalog
from perfkit.arch.types import Capability, Gpu, Target
from perfkit.errors import UnknownTarget, UsageError
from perfkit.models import banks, coalescing, inverse
from perfkit.models import carveout as carveout_model
from perfkit.models import occupancy as occupancy_model
from perfkit.models.occupancy import Occupancy, PartitionedCaching, Rule

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    import numpy as np
    import pandas as pd
    from numpy.typing import ArrayLike, NDArray

    from perfkit.analysis.recommend import Recommendation
    from perfkit.kernel import KernelResources

TargetLike: TypeAlias = str | Capability | Gpu | Target

capability = catalog.capability
gpu = catalog.gpu
sectors = coalescing.sectors
wavefronts = banks.wavefronts
roofline = bounds.roofline
gemm = bounds.gemm


def _capability(target: TargetLike) -> Capability:
    if isinstance(target, Capability):
        return target
    if isinstance(target, Target):
        return target.capability
    if isinstance(target, Gpu):
        return catalog.capability(str(target.compute_capability))
    found = catalog.targets(target)
    if len(found) != 1:
        labels = ", ".join(one.label for one in found)
        raise UnknownTarget(f"{target!r} is several targets", hint=f"name one of: {labels}")
    return found[0].capability


def _rule(rule: str) -> Rule:
    if rule == "driver":
        return "driver"
    if rule == "hardware":
        return "hardware"
    raise UsageError(f"{rule!r} is not a rule", hint="driver or hardware")


def occupancy(
    target: TargetLike,
    *,
    threads: int,
    regs: int,
    smem: int = 0,
    carveout: int | None = None,
    barriers: int = 1,
    rule: Rule = "driver",
    opt_in: bool = True,
    partitioned_caching: PartitionedCaching = "off",
    virtual_resources: int = 0,
    max_threads: int | None = None,
) -> Occupancy:
    """Occupancy of one launch; see ``perfkit.models.occupancy.occupancy`` for the arguments.

    >>> occupancy("h100", threads=256, regs=40).blocks_per_sm
    6
    """
    return occupancy_model.occupancy(
        _capability(target),
        threads=threads,
        regs=regs,
        smem=smem,
        carveout=carveout,
        barriers=barriers,
        rule=_rule(rule),
        opt_in=opt_in,
        partitioned_caching=partitioned_caching,
        virtual_resources=virtual_resources,
        max_threads=max_threads,
    )


def blocks_per_sm(
    target: TargetLike,
    threads: ArrayLike,
    regs: ArrayLike,
    smem: ArrayLike,
    carveout: ArrayLike = carveout_model.NO_PREFERENCE,
    barriers: ArrayLike = 1,
    rule: Rule = "driver",
    *,
    out: NDArray[np.int8] | None = None,
) -> NDArray[np.int8]:
    """Resident blocks per SM of many launches; see ``perfkit.analysis.sweep.blocks_per_sm``.

    >>> blocks_per_sm("9.0", [128, 256], 40, 0).tolist()
    [12, 6]
    """
    from perfkit.analysis import sweep

    return sweep.blocks_per_sm(
        _capability(target), threads, regs, smem, carveout, barriers, _rule(rule), out=out
    )


def fits(target: TargetLike, configs: Any, *, reasons: bool = False, **defaults: Any) -> Any:
    """Which autotuning configurations launch, told before anything is compiled.

    Args:
        target: product or capability.
        configs: a sequence of mappings or objects (Triton's names are known), a data frame, or a
            mapping of arrays.
        reasons: also return why not.
        defaults: ``threads``, ``smem``, ``regs`` and ``cluster`` where the configurations do not
            say; see ``perfkit.analysis.configurations.fits``.

    Returns:
        A boolean array in the order of ``configs``; with ``reasons`` also an array of reasons
        (``threads``, ``cluster``, ``shared_memory``, ``registers``), None where one launches.

    >>> configs = [{"num_warps": 4, "shared": 98304}, {"num_warps": 8, "shared": 131072}]
    >>> fits("rtx-4090", configs).tolist()
    [True, False]
    >>> fits("rtx-4090", configs, reasons=True)[1].tolist()
    [None, <Reason.SHARED_MEMORY: 'shared_memory'>]
    """
    from perfkit.analysis import configurations

    return configurations.fits(_capability(target), configs, reasons=reasons, **defaults)


def sweep(
    targets: TargetLike | Iterable[TargetLike],
    *,
    threads: int | Iterable[int],
    regs: int | Iterable[int],
    smem: int | Iterable[int] = 0,
    carveout: int | Iterable[int] = carveout_model.NO_PREFERENCE,
    barriers: int = 1,
    rule: Rule = "driver",
) -> pd.DataFrame:
    """Occupancy over every combination of the axes; see ``perfkit.analysis.frame.pieces``.

    >>> sweep("h100", threads=[128, 256], regs=40)["occupancy"].tolist()
    [0.75, 0.75]
    """
    from perfkit.analysis import frame

    return frame.sweep(
        _targets(targets),
        threads=threads,
        regs=regs,
        smem=smem,
        carveout=carveout,
        barriers=barriers,
        rule=_rule(rule),
    )


def _targets(targets: TargetLike | Iterable[TargetLike]) -> tuple[Target, ...]:
    """Each once, in the order in which they are named."""
    names = [targets] if isinstance(targets, str | Capability | Gpu | Target) else list(targets)
    found: list[Target] = []
    for name in names:
        found += catalog.targets(name) if isinstance(name, str) else [_target(name)]
    return tuple({one.label: one for one in found}.values())


def _target(target: TargetLike) -> Target:
    if isinstance(target, Target):
        return target
    found = _capability(target)
    product = target if isinstance(target, Gpu) else None
    label = product.key if product else str(found.compute_capability)
    return Target(label=label, capability=found, gpu=product)


def recommend(targets: TargetLike | Iterable[TargetLike], **options: Any) -> Recommendation:
    """The launch configuration to use, one for all targets; see ``perfkit.analysis.requests``.

    >>> recommend("h100", regs=40, dynamic_smem=20480).threads
    256
    """
    from perfkit.analysis import requests

    return requests.recommend(_targets(targets), **options)


def carveout_bytes(target: TargetLike, percent: int) -> int:
    """Capacity in bytes that ``cuda_occupancy.h`` makes of a carveout preference.

    ``percent`` is 0..100, or -1 for no preference.

    >>> carveout_bytes("8.6", 50)
    65536
    """
    if type(percent) is not int or not -1 <= percent <= 100:
        raise UsageError(f"carveout = {percent!r}: must be -1 to 100")
    found: int = carveout_model.carveout_bytes(_capability(target).shared_memory, percent)
    return found


def configured_shared_bytes(
    target: TargetLike, threads: Any, regs: Any, smem: Any, carveout: Any = -1
) -> Any:
    """Shared-memory capacity that the driver configures for a launch; the rest is L1.

    Args:
        target: product or capability.
        threads: threads per block.
        regs: registers per thread.
        smem: static plus dynamic bytes per block.
        carveout: percent 0..100, or -1 for no preference.

    Returns:
        Bytes: an int for ints, a NumPy array for arrays, which broadcast. 0 where nothing launches.

    >>> configured_shared_bytes("9.0", 256, 32, 4096)
    102400
    """
    from perfkit.analysis import configured

    return configured.configured_shared_bytes(_capability(target), threads, regs, smem, carveout)


def available_smem(
    target: TargetLike,
    *,
    threads: int,
    regs: int,
    blocks: int,
    static_smem: int = 0,
    carveout: int | None = None,
    barriers: int = 1,
    rule: Rule = "driver",
) -> int:
    """Most dynamic shared memory with which ``blocks`` blocks fit; see ``models.inverse``.

    >>> available_smem("h200", threads=128, regs=32, blocks=2)
    115712
    """
    return inverse.available_smem(
        _capability(target),
        threads=threads,
        regs=regs,
        blocks=blocks,
        static_smem=static_smem,
        carveout=carveout,
        barriers=barriers,
        rule=_rule(rule),
    )


def inspect(path: str | Path, **options: Any) -> list[KernelResources]:
    """What the kernels of a file need; see ``perfkit.compiled.inspect.inspect``."""
    from pathlib import Path

    from perfkit.compiled.inspect import inspect as read

    return list(read(Path(path), **options))
