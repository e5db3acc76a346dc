"""Occupancy of many configurations at once, as fast as memory allows.

Each limit of ``models.occupancy`` depends on few inputs, and each of those has a small domain:
warps and registers (33 x 256), shared memory in allocation units and carveout (1,800 x 101). So
the rule runs once over the domains, into tables of bytes, and configurations only look up and
take minima. A mesh looks up each table once per axis pair, not once per configuration.
"""

from __future__ import annotations

from operator import index
from typing import TYPE_CHECKING, Any, Final

from perfkit.errors import UsageError
from perfkit.models import carveout as carveout_model
from perfkit.models.launch import MAX_BARRIERS_PER_BLOCK
from perfkit.models.occupancy import Rule, barrier_limit, warp_limit
from perfkit.models.registers import register_limit

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from perfkit.arch.types import Capability

#: Configurations looked up at a time: the indices stay in the second-level cache.
_CHUNK: Final = 1 << 15


def blocks_per_sm(
    capability: Capability,
    threads: ArrayLike,
    regs: ArrayLike,
    smem: ArrayLike,
    carveout: ArrayLike = carveout_model.NO_PREFERENCE,
    barriers: ArrayLike = 1,
    rule: Rule = "driver",
    *,
    out: NDArray[np.int8] | None = None,
) -> NDArray[np.int8]:
    """Resident blocks per SM; the inputs broadcast like those of a ufunc.

    Args:
        capability: the SM.
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

    The rule and its source are those of ``models.occupancy``; 20,000,000 and more configurations
    a second, see tests/bench.
    """
    import numpy as np

    t, r, s, c, b = (
        integers(name, value, low, high)
        for name, value, low, high in (
            ("threads", threads, 0, None),
            ("regs", regs, 0, None),
            ("smem", smem, 0, None),
            ("carveout", carveout, carveout_model.NO_PREFERENCE, 100),
            ("barriers", barriers, 0, MAX_BARRIERS_PER_BLOCK),
        )
    )
    inputs = {"threads": t, "regs": r, "smem": s, "carveout": c, "barriers": b}
    check_shapes(inputs, out)
    warps_and_regs = _warp_register_table(capability)
    by_barriers = _barrier_table(capability)
    if b.ndim == 0:
        warps_and_regs = np.minimum(warps_and_regs, by_barriers[int(b)])
    others = by_barriers[b] if b.ndim else None  # before anything is written: out may be an input
    result = _smaller(
        _warp_register_lookup(capability, warps_and_regs, t, r),
        _shared_lookup(capability, s, c, rule),
        out if others is None else None,
    )
    return result if others is None else _smaller(result, others, out)


def check_shapes(inputs: dict[str, NDArray[Any]], out: Any = None) -> None:
    """Raise ``UsageError`` where the inputs do not broadcast, or not to ``out``."""
    import numpy as np

    try:
        shape = np.broadcast_shapes(*(array.shape for array in inputs.values()))
    except ValueError:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in inputs.items() if array.ndim)
        raise UsageError(f"the shapes do not broadcast: {shapes}") from None
    if out is None:
        return
    if not isinstance(out, np.ndarray) or out.shape != shape:
        found = getattr(out, "shape", type(out).__name__)
        raise UsageError(f"out must be an array of shape {shape}, not {found}")
    if out.dtype.kind != "i" or not out.flags.writeable:
        why = f"of {out.dtype}" if out.dtype.kind != "i" else "read-only"
        raise UsageError(f"out is {why}: must be a writable array of int8 or a wider signed type")


#: far above every limit, and far enough from the end of int64 for the arithmetic that follows
_HUGE: Final = 1 << 62


def integers(name: str, value: ArrayLike, low: int, high: int | None) -> NDArray[Any]:
    """``value`` as int32 or a wider type, checked; the values themselves may be any integers.

    Raises:
        UsageError: other values than integers, ragged lists, or values outside ``low`` to ``high``.
    """
    import numpy as np

    try:
        array = np.asarray(value)
    except ValueError:
        raise UsageError(f"{name} must be an array: the lists in it differ in length") from None
    if array.dtype.kind == "O":
        return _from_objects(name, array, low, high)
    if array.size == 0 and array.dtype.kind == "f":  # what NumPy makes of []
        array = array.astype(np.int64)
    if array.dtype.kind not in "iu":
        raise UsageError(f"{name} must be integers, not {array.dtype}")
    most = int(array.max()) if array.size else 0
    if array.size:
        _check_range(name, int(array.min()), most, low, high)
    if most > _HUGE:
        array = np.minimum(array, array.dtype.type(_HUGE))
    if array.dtype.kind == "u" and array.dtype.itemsize >= 4:
        return array.astype(
            np.int64
        )  # unsigned ones take no -1, and next to signed ones turn float
    # narrow types would overflow in the arithmetic that follows
    return array if array.dtype.itemsize >= 4 else array.astype(np.int32)


def _check_range(name: str, least: int, most: int, low: int, high: int | None) -> None:
    if least < low or (high is not None and most > high):
        span = f"at least {low}" if high is None else f"{low} to {high}"
        raise UsageError(f"{name} = {least if least < low else most}: must be {span}")


def _from_objects(name: str, array: NDArray[Any], low: int, high: int | None) -> NDArray[np.int64]:
    """Python's integers, and pandas' columns with room for absent values."""
    import numpy as np

    found = []
    for value in array.reshape(-1).tolist():
        if isinstance(value, bool) or not hasattr(value, "__index__"):
            raise UsageError(f"{name} must be integers, not {value!r}")
        found.append(index(value))
    if found:
        _check_range(name, min(found), max(found), low, high)
    return np.array([min(one, _HUGE) for one in found], np.int64).reshape(array.shape)


def _smaller(x: NDArray[Any], y: NDArray[Any], out: NDArray[Any] | None) -> NDArray[np.int8]:
    import numpy as np

    smaller: NDArray[np.int8] = np.minimum(x, y, out=out) if out is not None else np.minimum(x, y)
    return smaller


def _capped(capability: Capability, limit: NDArray[Any]) -> NDArray[np.int8]:
    import numpy as np

    capped: NDArray[Any] = np.minimum(limit, capability.limits.max_blocks_per_sm)
    return capped.astype(np.int8)


def _warp_register_table(capability: Capability) -> NDArray[np.int8]:
    """Blocks by warps (0..33) and registers (0..256); the ends stand for what cannot launch."""
    import numpy as np

    limits, registers = capability.limits, capability.registers
    warps = np.arange(limits.max_threads_per_block // limits.warp_size + 2)[:, None]
    regs = np.arange(registers.max_per_thread + 2)[None, :]
    by_warps = warp_limit(limits, warps * limits.warp_size, halves=1, ops=np)
    by_registers = register_limit(registers, np.maximum(warps, 1), regs, halves=1, ops=np)
    return _capped(capability, np.minimum(by_warps, by_registers))


def _barrier_table(capability: Capability) -> NDArray[np.int8]:
    import numpy as np

    counts = np.arange(MAX_BARRIERS_PER_BLOCK + 1)
    return _capped(capability, barrier_limit(capability.limits, counts, ops=np))


def _warp_register_lookup(
    capability: Capability, table: NDArray[np.int8], threads: NDArray[Any], regs: NDArray[Any]
) -> NDArray[np.int8]:
    import numpy as np

    flat, width = table.reshape(-1), table.shape[1]
    warp, most = capability.limits.warp_size, capability.limits.max_threads_per_block

    def index(t: NDArray[Any], r: NDArray[Any]) -> NDArray[Any]:
        row = np.minimum(t, most + 1)
        row = (row + (warp - 1)) // warp * width
        found: NDArray[Any] = row + np.minimum(r, width - 1)
        return found

    return _lookup(flat, index, threads, regs)


def _shared_lookup(
    capability: Capability, smem: NDArray[Any], percent: NDArray[Any], rule: Rule
) -> NDArray[np.int8]:
    import numpy as np

    shared = capability.shared_memory
    unit, top = shared.allocation_unit_bytes, shared.max_per_block_optin_bytes
    # one column per allocation unit, and a last one for what is above the opt-in limit
    units = np.arange(-(-top // unit) + 2)
    lowest = int(percent) if percent.ndim == 0 else carveout_model.NO_PREFERENCE
    rows = np.arange(lowest, (lowest if percent.ndim == 0 else 100) + 1)[:, None]
    sizes = np.where(units * unit - top >= unit, top + 1, np.minimum(units * unit, top))[None, :]
    table = _capped(
        capability,
        carveout_model.shared_block_limit(shared, sizes, rows, rule=rule, opt_in=True, ops=np),
    )
    flat, width = table.reshape(-1), table.shape[1]

    def index(s: NDArray[Any], p: NDArray[Any]) -> NDArray[Any]:
        column: NDArray[Any] = (np.minimum(s, top + unit) + (unit - 1)) // unit
        return column if p.ndim == 0 else (p - lowest) * width + column

    return _lookup(flat, index, smem, percent)


def _lookup(
    flat: NDArray[np.int8],
    index: Callable[[NDArray[Any], NDArray[Any]], NDArray[Any]],
    x: NDArray[Any],
    y: NDArray[Any],
) -> NDArray[np.int8]:
    """``flat[index(x, y)]``; arrays of one shape in chunks, so that no index array is large."""
    import numpy as np

    whole = np.broadcast_shapes(x.shape, y.shape)
    if not (x.shape == y.shape or y.ndim == 0) or x.ndim == 0 or x.size <= _CHUNK:
        return flat.take(index(x, y), mode="clip")
    found = np.empty(x.size, np.int8)
    xs, ys = x.reshape(-1), y.reshape(-1) if y.ndim else y
    for start in range(0, x.size, _CHUNK):
        part = slice(start, start + _CHUNK)
        chosen = index(xs[part], ys[part] if y.ndim else y)
        flat.take(chosen, mode="clip", out=found[part])
    return found.reshape(whole)
