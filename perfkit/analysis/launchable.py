"""Which of many configurations launch, before anything is compiled.

Nothing launches exactly where ``models.occupancy`` gives no resident block, so that the answer is
``analysis.sweep.blocks_per_sm(…) > 0``, clusters aside; no limit is written here. Dynamic shared
memory counts up to the opt-in limit, as autotuners opt in.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from perfkit.analysis.obstacles import Reason
from perfkit.analysis.sweep import blocks_per_sm, integers
from perfkit.models.cluster import largest_known
from perfkit.models.ops import NO_LIMIT

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from perfkit.arch.types import Capability


def launchable(
    capability: Capability,
    threads: ArrayLike,
    regs: ArrayLike,
    smem: ArrayLike,
    cluster: ArrayLike = 1,
) -> NDArray[np.bool_]:
    """Whether each launch is possible; the inputs broadcast like those of a ufunc.

    Args:
        capability: the SM.
        threads: threads per block.
        regs: registers per thread; 0 where they are not known: they are then no obstacle.
        smem: static plus dynamic bytes of shared memory per block, as declared.
        cluster: blocks per cluster; 0 and 1: no cluster. A size of which nobody knows whether the
            capability takes it does not count as possible.

    Raises:
        UsageError: inputs that are not integers, or negative.

    >>> import perfkit
    >>> launchable(perfkit.capability("8.9"), 256, 64, [101376, 101377]).tolist()
    [True, False]
    """
    import numpy as np

    resident = blocks_per_sm(capability, threads, regs, smem) > 0
    found: NDArray[np.bool_] = np.logical_and(
        resident, _sizes(cluster) <= largest_known(capability.cluster)
    )
    return found


def reasons(
    capability: Capability,
    threads: ArrayLike,
    regs: ArrayLike,
    smem: ArrayLike,
    cluster: ArrayLike = 1,
) -> NDArray[np.object_]:
    """Why each launch is impossible: a ``Reason``, the first of several, or None where it is not.

    The inputs and errors are those of ``launchable``.
    """
    import numpy as np

    possible = launchable(capability, threads, regs, smem, cluster)
    one = capability.limits.warp_size
    tests = (
        (Reason.THREADS, blocks_per_sm(capability, threads, 0, 0) == 0),
        (Reason.CLUSTER, _sizes(cluster) > _refused_above(capability)),
        (Reason.SHARED_MEMORY, blocks_per_sm(capability, one, 0, smem) == 0),
        (Reason.REGISTERS, blocks_per_sm(capability, threads, regs, 0) == 0),
    )
    # what is left is a cluster of a size that nobody knows to launch
    codes = np.full(possible.shape, len(tests), np.int8)
    for code, (_, fails) in reversed(list(enumerate(tests))):
        np.copyto(codes, np.int8(code), where=fails)
    codes[possible] = len(tests) + 1
    names = [*(reason for reason, _ in tests), Reason.CLUSTER, None]
    found = np.empty(possible.shape, dtype=object)
    found[...] = np.array(names, dtype=object)[codes]
    return found


def _sizes(cluster: ArrayLike) -> NDArray[Any]:
    return integers("cluster", cluster, 0, None)


def _refused_above(capability: Capability) -> int:
    """The largest cluster that is not known to fail."""
    limits = capability.cluster
    return 1 if limits is None else limits.max_nonportable or NO_LIMIT
