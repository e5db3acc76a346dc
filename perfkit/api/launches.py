"""One launch: its occupancy, and the questions asked backwards."""

from __future__ import annotations

from typing import TYPE_CHECKING, overload

from perfkit.api import inputs
from perfkit.api.targets import TargetLike, capability_of, rule_of, target_of
from perfkit.errors import InvalidLaunch, UsageError
from perfkit.models import carveout as carveout_model
from perfkit.models import inverse
from perfkit.models import occupancy as model

if TYPE_CHECKING:
    from collections.abc import Callable

    from perfkit.api.inputs import Block, Size, Whole
    from perfkit.models.occupancy import Occupancy, PartitionedCaching, Rule


def occupancy(
    target: TargetLike,
    *,
    threads: Block,
    regs: Whole,
    smem: Size = 0,
    carveout: Whole | None = None,
    barriers: Whole = 1,
    rule: Rule = "driver",
    opt_in: bool = True,
    partitioned_caching: PartitionedCaching = "off",
    virtual_resources: Whole = 0,
    max_threads: Whole | None = None,
) -> Occupancy:
    """Blocks and warps of one launch that are resident on one SM, and what limits them.

    Args:
        target: product or capability.
        threads: threads per block, 1..1024, or the block's dimensions: ``(16, 16)``.
        regs: registers per thread as compiled; 0 means that registers do not limit.
        smem: static plus dynamic shared memory per block, as declared: bytes, or ``"20K"``.
        carveout: preferred share of shared memory in percent, 0..100; None or -1: no preference.
        barriers: named barriers per block, 0..16; compilers report 1 for ``__syncthreads``.
        rule: ``driver`` equals NVIDIA's occupancy API, ``hardware`` is what the SM does.
        opt_in: the kernel raised its dynamic shared memory limit to the opt-in maximum.
        partitioned_caching: on 5.2, 5.3, 6.1 and 6.2, global caching that confines a block to half
            an SM: ``off``, ``on`` (gives way where a block would not fit) or ``strict``.
        virtual_resources: per block; 10.x and later have 128 per SM.
        max_threads: the kernel's own limit on threads per block (``__launch_bounds__``), if any.

    Returns:
        ``blocks_per_sm``, ``warps_per_sm``, ``ratio`` (0..1), ``limits`` (blocks that each resource
        allows), ``limited_by``, ``allocated_registers_per_block``,
        ``allocated_shared_bytes_per_block`` and, where nothing fits, ``refusal``.

    Raises:
        InvalidLaunch: an input that no launch on this target can have.
        UnknownTarget: no such target, or several.

    >>> occupancy("h100", threads=256, regs=40).blocks_per_sm
    6
    >>> print(occupancy("8.0", threads=(16, 14), regs=92, smem="1K"))
    8.0: 2 blocks and 14 of 64 warps per SM (21.88%), limited by registers
    """
    capability = capability_of(target)
    return model.occupancy(
        capability,
        threads=inputs.block(capability, threads),
        regs=inputs.whole("regs", regs),
        smem=inputs.size("smem", smem),
        carveout=inputs.percentage(carveout),
        barriers=inputs.whole("barriers", barriers),
        rule=rule_of(rule),
        opt_in=opt_in,
        partitioned_caching=partitioned_caching,
        virtual_resources=inputs.whole("virtual_resources", virtual_resources),
        max_threads=None if max_threads is None else inputs.whole("max_threads", max_threads),
    )


def carveout_bytes(target: TargetLike, percent: Whole) -> int:
    """Capacity in bytes that ``cuda_occupancy.h`` makes of a carveout preference.

    Args:
        target: product or capability.
        percent: 0..100, or -1 for no preference.

    Raises:
        UsageError: another number, or none.

    >>> carveout_bytes("8.6", 50)
    65536
    """
    capability = capability_of(target)
    number = inputs.whole("carveout", percent)
    if not -1 <= number <= 100:
        raise InvalidLaunch(f"carveout = {number}: must be -1 to 100")
    found: int = carveout_model.carveout_bytes(capability.shared_memory, number)
    return found


def available_smem(
    target: TargetLike,
    *,
    threads: Block,
    regs: Whole,
    blocks: Whole,
    static_smem: Size = 0,
    carveout: Whole | None = None,
    barriers: Whole = 1,
    rule: Rule = "driver",
) -> int:
    """Most dynamic shared memory per block, in bytes, with which ``blocks`` blocks are resident.

    Unlike CUDA's own answer up to 13.0 it counts the kilobyte that the driver reserves in every
    block from 8.0 on, so that it really fits.

    Args:
        target: product or capability.
        threads: threads per block, or the block's dimensions.
        regs: registers per thread.
        blocks: resident blocks wanted, at least 1.
        static_smem: what the kernel declares: bytes, or ``"4K"``.
        carveout: percent 0..100; None or -1: no preference.
        barriers: named barriers per block.
        rule: ``driver`` or ``hardware``.

    Raises:
        DoesNotFit: another limit, or the static shared memory alone, leaves fewer blocks.
        InvalidLaunch: an input that no launch on this target can have.

    >>> available_smem("h200", threads=128, regs=32, blocks=2)
    115712
    """
    capability = capability_of(target)
    return inverse.available_smem(
        capability,
        threads=inputs.block(capability, threads),
        regs=inputs.whole("regs", regs),
        blocks=inputs.whole("blocks", blocks),
        static_smem=inputs.size("static_smem", static_smem),
        carveout=inputs.percentage(carveout),
        barriers=inputs.whole("barriers", barriers),
        rule=rule_of(rule),
    )


def max_registers(target: TargetLike, *, threads: Block, blocks: Whole) -> int:
    """Most registers per thread with which ``blocks`` blocks are resident on an SM.

    What ``__launch_bounds__(threads, blocks)`` leaves to the compiler.

    Args:
        target: product or capability.
        threads: threads per block, or the block's dimensions.
        blocks: resident blocks wanted, at least 1.

    Raises:
        DoesNotFit: the warp or block slots, or even one register per thread, forbid it.
        InvalidLaunch: an input that no launch on this target can have.

    >>> max_registers("8.6", threads=256, blocks=3)
    80
    """
    capability = capability_of(target)
    wanted = inputs.whole("blocks", blocks)
    if wanted < 1:
        raise InvalidLaunch(f"blocks = {wanted}: must be at least 1")
    return inverse.max_registers(
        capability, threads=inputs.block(capability, threads), blocks=wanted
    )


@overload
def _smem(smem: Size) -> int: ...
@overload
def _smem(smem: Callable[[int], int]) -> Callable[[int], int]: ...
def _smem(smem: Size | Callable[[int], int]) -> int | Callable[[int], int]:
    return smem if callable(smem) else inputs.size("smem", smem)


def block_sizes_reaching(
    target: TargetLike,
    *,
    ratio: float,
    regs: Whole,
    smem: Size | Callable[[int], int] = 0,
    carveout: Whole | None = None,
    barriers: Whole = 1,
    rule: Rule = "driver",
) -> tuple[int, ...]:
    """Block sizes, in whole warps, with an occupancy of at least ``ratio``, ascending.

    Args:
        target: product or capability.
        ratio: occupancy wanted, 0..1.
        regs: registers per thread.
        smem: static plus dynamic per block: bytes, ``"20K"``, or a function of the block size.
        carveout: percent 0..100; None or -1: no preference.
        barriers: named barriers per block.
        rule: ``driver`` or ``hardware``.

    Raises:
        UsageError: a ratio outside 0..1.
        InvalidLaunch: an input that no launch on this target can have.

    >>> block_sizes_reaching("9.0", ratio=0.9, regs=32)[:3]
    (64, 96, 128)
    """
    return inverse.block_sizes_reaching(
        capability_of(target),
        ratio=inputs.share("ratio", ratio),
        regs=inputs.whole("regs", regs),
        smem=_smem(smem),
        carveout=inputs.percentage(carveout),
        barriers=inputs.whole("barriers", barriers),
        rule=rule_of(rule),
    )


def max_potential_block_size(
    target: TargetLike,
    *,
    regs: Whole,
    smem: Size | Callable[[int], int] = 0,
    carveout: Whole | None = None,
    max_threads: Whole = 1024,
    sm_count: Whole | None = None,
) -> tuple[int, int]:
    """The smallest grid that fills the GPU and its block size, as CUDA's helper finds them.

    Like ``cudaOccupancyMaxPotentialBlockSize`` it walks block sizes down in steps of a warp and
    keeps the first that maximises resident threads.

    Args:
        target: product; a capability where ``sm_count`` is given.
        regs: registers per thread.
        smem: static plus dynamic per block: bytes, ``"20K"``, or a function of the block size.
        carveout: percent 0..100; None or -1: no preference.
        max_threads: the kernel's own limit (``__launch_bounds__``).
        sm_count: SMs, if not those of the product.

    Returns:
        ``(min_grid, block)``; ``(0, 0)`` if nothing launches.

    Raises:
        UsageError: a capability without ``sm_count``.
        InvalidLaunch: an input that no launch on this target can have.

    >>> max_potential_block_size("h100", regs=40)
    (264, 768)
    """
    found = target_of(target)
    if sm_count is None and found.gpu is None:
        raise UsageError(f"{found.label} has no number of SMs", hint="name a product, or sm_count=")
    sms = found.gpu.sm_count if sm_count is None and found.gpu else sm_count
    threads, count = inputs.whole("max_threads", max_threads), inputs.whole("sm_count", sms)
    if threads < 1 or count < 1:
        raise InvalidLaunch("max_threads and sm_count must be at least 1")
    return inverse.max_potential_block_size(
        found.capability,
        regs=inputs.whole("regs", regs),
        sm_count=count,
        smem=_smem(smem),
        carveout=inputs.percentage(carveout),
        max_threads=threads,
    )
