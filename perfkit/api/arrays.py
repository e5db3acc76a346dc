"""Many launches at once: arrays and data frames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, overload

from perfkit.api import inputs
from perfkit.api.targets import TargetLike, capability_of, rule_of, targets_of
from perfkit.models.carveout import NO_PREFERENCE

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np
    import pandas as pd
    from numpy.typing import ArrayLike, NDArray

    from perfkit.models.occupancy import Rule


def blocks_per_sm(
    target: TargetLike,
    threads: ArrayLike,
    regs: ArrayLike,
    smem: ArrayLike,
    carveout: ArrayLike = NO_PREFERENCE,
    barriers: ArrayLike = 1,
    rule: Rule = "driver",
    *,
    out: NDArray[np.int8] | None = None,
) -> NDArray[np.int8]:
    """Resident blocks per SM of many launches; the inputs broadcast like those of a ufunc.

    Args:
        target: product or capability.
        threads: threads per block. Outside 1..1024 nothing launches: 0.
        regs: registers per thread, 0 for "no limit". Above the maximum: 0.
        smem: static plus dynamic bytes per block, as declared. Above the opt-in limit: 0.
        carveout: percent 0..100, or -1 for no preference.
        barriers: named barriers per block, 0..16.
        rule: ``driver`` or ``hardware``.
        out: an array of the broadcast shape to write to, of int8 or a wider signed type.

    Raises:
        UsageError: inputs that are not integers, negative, or a carveout or barrier count that
            does not exist; shapes that do not broadcast; an ``out`` that cannot take the result.

    >>> blocks_per_sm("9.0", [128, 256], 40, 0).tolist()
    [12, 6]
    """
    from perfkit.analysis import sweep

    return sweep.blocks_per_sm(
        capability_of(target), threads, regs, smem, carveout, barriers, rule_of(rule), out=out
    )


def configured_shared_bytes(
    target: TargetLike, threads: Any, regs: Any, smem: Any, carveout: Any = NO_PREFERENCE
) -> Any:
    """Shared-memory capacity that the driver configures for a launch; the rest is L1.

    Args:
        target: product or capability.
        threads: threads per block.
        regs: registers per thread.
        smem: static plus dynamic bytes per block.
        carveout: percent 0..100, or -1 for no preference.

    Returns:
        Bytes: an int for integers, a NumPy array for arrays, which broadcast. 0 where nothing
        launches.

    Raises:
        UsageError: inputs as ``occupancy`` refuses them of integers, ``blocks_per_sm`` of arrays.

    >>> configured_shared_bytes("9.0", 256, 32, 4096)
    102400
    """
    from perfkit.analysis import shared_capacity

    given = {"threads": threads, "regs": regs, "smem": smem, "carveout": carveout}
    if all(
        hasattr(value, "__index__") and not getattr(value, "ndim", 0) for value in given.values()
    ):
        given = {name: inputs.whole(name, value) for name, value in given.items()}
    return shared_capacity.configured_shared_bytes(capability_of(target), **given)


@overload
def fits(
    target: TargetLike,
    configs: Any,
    *,
    threads: ArrayLike | None = ...,
    smem: ArrayLike | None = ...,
    regs: ArrayLike = ...,
    cluster: ArrayLike = ...,
    reasons: Literal[False] = ...,
) -> NDArray[np.bool_]: ...
@overload
def fits(
    target: TargetLike,
    configs: Any,
    *,
    threads: ArrayLike | None = ...,
    smem: ArrayLike | None = ...,
    regs: ArrayLike = ...,
    cluster: ArrayLike = ...,
    reasons: Literal[True],
) -> tuple[NDArray[np.bool_], NDArray[np.object_]]: ...
def fits(
    target: TargetLike,
    configs: Any,
    *,
    threads: ArrayLike | None = None,
    smem: ArrayLike | None = None,
    regs: ArrayLike = 0,
    cluster: ArrayLike = 1,
    reasons: bool = False,
) -> NDArray[np.bool_] | tuple[NDArray[np.bool_], NDArray[np.object_]]:
    """Which autotuning configurations launch, told before anything is compiled.

    Args:
        target: product or capability.
        configs: a sequence of mappings or objects (Triton's names are known), a data frame, or a
            mapping of arrays.
        threads: threads per block, where the configurations do not say.
        smem: static plus dynamic bytes per block, where they do not say. One number, or one for
            each configuration.
        regs: registers per thread, where they do not say; 0: not known, no obstacle.
        cluster: blocks per cluster, where they do not say.
        reasons: also return why not.

    Returns:
        A boolean array in the order of ``configs``; with ``reasons`` also an array of reasons
        (``threads``, ``cluster``, ``shared_memory``, ``registers``), None where one launches.

    Raises:
        UsageError: nothing says what a block has of threads or shared memory, two names of one
            quantity, or values that are no whole numbers.

    >>> configs = [{"num_warps": 4, "shared": 98304}, {"num_warps": 8, "shared": 131072}]
    >>> fits("rtx-4090", configs).tolist()
    [True, False]
    >>> fits("rtx-4090", configs, reasons=True)[1].tolist()
    [None, <Reason.SHARED_MEMORY: 'shared_memory'>]
    """
    from perfkit.analysis import configurations

    return configurations.fits(
        capability_of(target),
        configs,
        threads=threads,
        smem=smem,
        regs=regs,
        cluster=cluster,
        reasons=reasons,
    )


def sweep(
    targets: TargetLike | Iterable[TargetLike],
    *,
    threads: int | Iterable[int],
    regs: int | Iterable[int],
    smem: int | Iterable[int] = 0,
    carveout: int | Iterable[int] = NO_PREFERENCE,
    barriers: int | Iterable[int] = 1,
    rule: Rule = "driver",
) -> pd.DataFrame:
    """Occupancy over every combination of the inputs, one row each.

    Args:
        targets: one or several products and capabilities; a family stands for its members.
        threads: threads per block; one value or several, as for the other inputs.
        regs: registers per thread.
        smem: static plus dynamic bytes per block.
        carveout: percent 0..100, or -1 for no preference.
        barriers: named barriers per block, 0..16.
        rule: ``driver`` or ``hardware``.

    Returns:
        Columns ``target``, ``block_threads``, ``registers_per_thread``,
        ``shared_bytes_per_block``, ``carveout_percent``, ``barriers_per_block``,
        ``blocks_per_sm``, ``warps_per_sm`` and ``occupancy`` (0..1), the last input varying
        fastest. What cannot launch is a row with no block.

    Raises:
        UsageError: an axis that is empty or no list of integers, or values out of range.

    >>> sweep("h100", threads=[128, 256], regs=40)["occupancy"].tolist()
    [0.75, 0.75]
    """
    from perfkit.analysis import frame

    return frame.sweep(
        targets_of(targets),
        threads=threads,
        regs=regs,
        smem=smem,
        carveout=carveout,
        barriers=barriers,
        rule=rule_of(rule),
    )
