"""How much shared memory an SM is configured with, and what that leaves for L1.

From 7.0 on, L1 and shared memory share one array and the driver picks one of a few capacities,
guided by a preference (``cudaFuncAttributePreferredSharedMemoryCarveout``, a percentage). Two
rules give the capacity; they differ where a block carries the driver's reserved kilobyte:

* ``driver``: what ``cuda_occupancy.h`` and the occupancy API assume.
* ``hardware``: what the SM does. The preference is for the shared memory that the *user* asked
  for; the reserve of every block that fits in it comes on top.

Formula:
    allocated = round_up(declared + reserved, unit)
    user      = allocated - reserved
    preferred = percent * shared_per_sm / 100
    driver    : next capacity >= max(floor(preferred), allocated)
    hardware  : next capacity >= max(preferred // user * allocated, allocated, preferred)
    blocks    = capacity // allocated
    L1        = unified - capacity

Units: bytes; percent 0..100. The reserve is 1 KiB per block from 8.0 on; the unit is 256 bytes up
to 7.x, 128 from 8.0 on.

Source: ``cuda_occupancy.h`` 13.0 for ``driver``; for ``hardware`` 60,000 launches on one H200 (9.0,
driver 580), see docs/validation.

Valid: every capability of the database; on others than 9.0 the hardware rule is assumed to carry
over, and results say so.

>>> import perfkit
>>> from perfkit.models.carveout import carveout_bytes
>>> ampere = perfkit.capability("8.0").shared_memory
>>> carveout_bytes(ampere, 50) // 1024, carveout_bytes(ampere, 61) // 1024
(100, 132)
"""

from __future__ import annotations

from bisect import bisect_left
from typing import Final

from perfkit.arch.types import Capability, L1Cache, SharedMemory
from perfkit.models.ops import NO_LIMIT, SCALAR, Int, Ops, round_up

#: The carveout value that means "no preference" (``cudaSharedmemCarveoutDefault``).
NO_PREFERENCE: Final = -1

#: Without a preference the driver makes room for more blocks than are resident up to this much.
_ROOM_LIMIT_BYTES: Final = 132 * 1024


def next_capacity(shared: SharedMemory, size_bytes: Int, *, ops: Ops = SCALAR) -> Int:
    """Smallest supported capacity of at least ``size_bytes``; the largest one if none is."""
    if ops is SCALAR:  # the same, and most of what a curve over shared memory takes
        place = bisect_left(shared.capacities_bytes, size_bytes)
        return shared.capacities_bytes[min(place, len(shared.capacities_bytes) - 1)]
    capacity = shared.capacities_bytes[-1] + 0 * size_bytes
    for candidate in reversed(shared.capacities_bytes[:-1]):
        capacity = ops.where(size_bytes <= candidate, candidate, capacity)
    return capacity


def carveout_bytes(shared: SharedMemory, percent: Int, *, ops: Ops = SCALAR) -> Int:
    """Capacity that ``cuda_occupancy.h`` derives from a carveout preference.

    Args:
        shared: the capability's shared memory.
        percent: 0..100, or ``NO_PREFERENCE``, which means the largest capacity.
        ops: ``SCALAR`` or ``numpy``.

    Returns:
        Bytes. On 5.x and 6.x shared memory is dedicated: always all of it.
    """
    wanted = percent * shared.per_sm_bytes // 100
    return next_capacity(shared, ops.where(percent < 0, shared.per_sm_bytes, wanted), ops=ops)


def allocated_bytes(shared: SharedMemory, smem_bytes: Int) -> Int:
    """Shared memory that one block takes: declared + reserved, rounded up to the unit."""
    return round_up(smem_bytes + shared.reserved_per_block_bytes, shared.allocation_unit_bytes)


def driver_capacity_bytes(
    shared: SharedMemory, smem_bytes: Int, percent: Int, *, ops: Ops = SCALAR
) -> Int:
    """Capacity the occupancy API computes with.

    A preference too small for one block grows to the next capacity that holds one, not to the
    maximum.
    """
    preferred = carveout_bytes(shared, percent, ops=ops)
    needed = ops.maximum(preferred, allocated_bytes(shared, smem_bytes))
    return next_capacity(shared, needed, ops=ops)


def preferred_capacity_bytes(
    shared: SharedMemory, smem_bytes: Int, percent: Int, *, ops: Ops = SCALAR
) -> Int:
    """Capacity the SM is given for a preference of ``percent`` 0..100 (hardware rule).

    With ``user`` the allocation without the reserve and ``preferred`` the exact percentage:
    ``needed = max(preferred // user * allocated, allocated, preferred)``, then the next capacity.
    A kernel with no shared memory of its own (``user == 0``) only has the preference.
    """
    allocated = allocated_bytes(shared, smem_bytes)
    user = allocated - shared.reserved_per_block_bytes
    # in hundredths of a byte, so that the percentage is not rounded
    preferred = percent * shared.per_sm_bytes
    blocks = ops.where(user > 0, preferred // (100 * ops.maximum(user, 1)), 1)
    needed = ops.maximum(100 * ops.maximum(blocks, 1) * allocated, preferred)
    return next_capacity(shared, -(-needed // 100), ops=ops)


def shared_block_limit(
    shared: SharedMemory, smem_bytes: Int, percent: Int, *, rule: str, opt_in: bool, ops: Ops
) -> Int:
    """Blocks per SM that shared memory allows; 0 if one block may not have that much.

    Args:
        shared: the capability's shared memory.
        smem_bytes: static plus dynamic bytes per block, as declared.
        percent: carveout preference, or ``NO_PREFERENCE``.
        rule: ``driver`` or ``hardware``.
        opt_in: the kernel raised its dynamic limit to the opt-in maximum.
        ops: ``SCALAR`` or ``numpy``.
    """
    allocated = allocated_bytes(shared, smem_bytes)
    allowed = shared.max_per_block_optin_bytes if opt_in else shared.max_per_block_bytes
    capacity = driver_capacity_bytes(shared, smem_bytes, percent, ops=ops)
    if rule == "hardware":
        preferred = preferred_capacity_bytes(shared, smem_bytes, percent, ops=ops)
        capacity = ops.where(percent < 0, capacity, preferred)
    blocks = capacity // ops.maximum(allocated, 1)
    # the API counts the reserve of a kernel without shared memory against the capacity, the SM not
    unlimited = allocated if rule == "driver" else allocated - shared.reserved_per_block_bytes
    blocks = ops.where(unlimited == 0, NO_LIMIT, blocks)
    return ops.where(smem_bytes > allowed, 0, blocks)


def configured_bytes(
    capability: Capability,
    *,
    threads: Int,
    smem_bytes: Int,
    blocks_per_sm: Int,
    percent: Int,
    ops: Ops = SCALAR,
) -> Int:
    """Capacity the driver configures for a launch; ``L1 = unified - capacity``.

    With a preference and shared memory of the kernel's own: ``preferred_capacity_bytes``. Without a
    preference, for ``n`` resident blocks of ``w`` warps: the next capacity that holds
    ``max(n, min(2 n, 32 - w))`` blocks (``n`` if it is 1), but no more than 132 KiB unless ``n``
    blocks need it. A kernel without shared memory of its own counts only the reserves, of
    ``max(n, 32 - w)`` blocks; a preference may give it more.

    Args:
        capability: the SM.
        threads: threads per block.
        smem_bytes: static plus dynamic bytes per block.
        blocks_per_sm: resident blocks by the occupancy API without a preference.
        percent: carveout preference, or ``NO_PREFERENCE``.
        ops: ``SCALAR`` or ``numpy``.

    Source: 7,441 launches under Nsight Compute on one H200 (``launch__shared_mem_config_size``,
    driver 580.159), all of them exact; tests/data/h200 has them.
    """
    shared, limits = capability.shared_memory, capability.limits
    allocated = allocated_bytes(shared, smem_bytes)
    own = allocated > shared.reserved_per_block_bytes
    # room for this many blocks, the fewer the larger they are
    spare = limits.max_blocks_per_sm - -(-threads // limits.warp_size)
    doubled = ops.where(own, ops.minimum(2 * blocks_per_sm, spare), spare)
    room = ops.where(blocks_per_sm == 1, 1, ops.maximum(blocks_per_sm, doubled))

    smallest = next_capacity(shared, blocks_per_sm * allocated, ops=ops)
    roomy = next_capacity(shared, room * allocated, ops=ops)
    automatic = ops.maximum(smallest, ops.minimum(roomy, _ROOM_LIMIT_BYTES))
    preferred = preferred_capacity_bytes(shared, smem_bytes, ops.maximum(percent, 0), ops=ops)
    preferred = ops.where(own, preferred, ops.maximum(preferred, automatic))
    return ops.where(percent < 0, automatic, preferred)


def l1_bytes(l1: L1Cache, shared_bytes: int) -> int:
    """L1 of an SM whose shared memory has ``shared_bytes``: the rest, or a cache of its own."""
    if l1.unified_with_shared_bytes is None:
        return l1.dedicated_bytes or 0
    return l1.unified_with_shared_bytes - shared_bytes
