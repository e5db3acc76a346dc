"""Autotuning configurations in the forms in which people have them, as arrays.

A list of mappings or of objects (such as ``triton.Config``), a data frame, or a mapping of arrays.
Names are perfkit's own or Triton's; what else a configuration holds (tile sizes, stages) is not
looked at.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, Any, Final

from perfkit.analysis.launchable import launchable
from perfkit.analysis.launchable import reasons as reasons_of
from perfkit.errors import UsageError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from perfkit.arch.types import Capability

#: quantity -> the names it goes by
NAMES: Final[dict[str, tuple[str, ...]]] = {
    "threads": ("threads", "block_threads", "num_warps"),
    "regs": ("regs", "registers", "registers_per_thread", "n_regs"),
    "smem": ("smem", "shared", "shared_bytes_per_block"),
    "cluster": ("cluster", "num_ctas", "cluster_dims"),
}
_WARPS: Final = "num_warps"
_LARGE: Final = 2**20  #: beyond every limit, and its third power is a number of 64 bits


def fits(
    capability: Capability,
    configs: Any,
    *,
    threads: ArrayLike | None = None,
    smem: ArrayLike | None = None,
    regs: ArrayLike = 0,
    cluster: ArrayLike = 1,
    reasons: bool = False,
) -> NDArray[np.bool_] | tuple[NDArray[np.bool_], NDArray[np.object_]]:
    """Which configurations launch, in their order.

    Args:
        capability: the SM.
        configs: a sequence of mappings or objects, a data frame, or a mapping of arrays.
        threads: threads per block, where the configurations do not say.
        smem: static plus dynamic bytes per block, where they do not say. One number, or one for
            each configuration.
        regs: registers per thread, where they do not say; 0: not known, no obstacle.
        cluster: blocks per cluster, where they do not say.
        reasons: also return why: for each configuration a ``Reason``, or None.

    Raises:
        UsageError: nothing says what a block has of threads or shared memory, two names of one
            quantity, or values that are no whole numbers.
    """
    defaults = {"threads": threads, "smem": smem, "regs": regs, "cluster": cluster}
    columns = _columns(configs, defaults, warp_size=capability.limits.warp_size)
    mask = launchable(capability, **columns)
    return (mask, reasons_of(capability, **columns)) if reasons else mask


def _columns(
    configs: Any, defaults: Mapping[str, ArrayLike | None], *, warp_size: int
) -> dict[str, NDArray[Any]]:
    import numpy as np

    names, read, count = _source(configs)
    found = {}
    for quantity, default in defaults.items():
        name = _name(quantity, names)
        if name is None and default is None and count != 0:
            raise UsageError(
                f"the configurations do not say {_WORDS[quantity]}",
                hint=f"name it {', '.join(NAMES[quantity])}, or give {quantity}= for all of them",
            )
        found[quantity] = (
            _whole(quantity, 0 if default is None else default)
            if name is None
            else _whole(name, read(name), default, times=warp_size if name == _WARPS else 1)
        )
    try:
        shape = np.broadcast_shapes(*(array.shape for array in found.values()))
    except ValueError:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in found.items())
        raise UsageError(f"the configurations do not have one length: {shapes}") from None
    if count is not None and shape not in {(count,), ()}:
        raise UsageError(f"{count} configurations, and values of shape {shape} for them")
    if count is not None:
        found["threads"] = np.broadcast_to(found["threads"], (count,))
    return found


_WORDS: Final = {"threads": "how many threads a block has", "smem": "how much shared memory"}

Read = Callable[[str], Any]


def _source(configs: Any) -> tuple[frozenset[str], Read, int | None]:
    """The names there are, how to read one of them, and the number of configurations if known."""
    if isinstance(configs, Mapping):
        return frozenset(configs), configs.__getitem__, None
    if hasattr(configs, "columns"):
        return frozenset(configs.columns), configs.__getitem__, len(configs)
    fields = getattr(getattr(configs, "dtype", None), "names", None)
    if fields:
        return frozenset(fields), configs.__getitem__, None
    if isinstance(configs, str | bytes) or not isinstance(configs, Iterable):
        raise UsageError(
            f"{type(configs).__name__} holds no configurations",
            hint="give a list of mappings, a data frame or a mapping of arrays",
        )
    rows = configs if isinstance(configs, Sequence) else list(configs)
    return (*_rows(rows), len(rows))


def _rows(rows: Sequence[Any]) -> tuple[frozenset[str], Read]:
    """A name counts if any row has it: what one row alone says must not be overlooked."""
    kinds = {type(row): row for row in rows}
    if all(issubclass(kind, Mapping) for kind in kinds):
        names = frozenset(set().union(*rows))
        return names, lambda name: _each(rows, itemgetter(name), lambda row: row.get(name))
    own = set().union(*(vars(row) for row in rows if hasattr(row, "__dict__")))
    names = frozenset(
        name
        for group in NAMES.values()
        for name in group
        if name in own or any(hasattr(row, name) for row in kinds.values())
    )
    return names, lambda name: _each(rows, attrgetter(name), lambda row: getattr(row, name, None))


def _each(
    rows: Sequence[Any], strict: Callable[[Any], Any], lenient: Callable[[Any], Any]
) -> list[Any]:
    """One value per row; ``None`` where a row lacks it, which few do."""
    try:
        return list(map(strict, rows))
    except (KeyError, AttributeError):
        return list(map(lenient, rows))


def _name(quantity: str, names: frozenset[str]) -> str | None:
    present = [name for name in NAMES[quantity] if name in names]
    if len(present) > 1:
        raise UsageError(f"the configurations have both {present[0]} and {present[1]}: which one?")
    return present[0] if present else None


def _whole(
    name: str, values: Any, default: ArrayLike | None = None, *, times: int = 1
) -> NDArray[Any]:
    """``times`` the values as an array of whole numbers; ``default`` where one is absent."""
    import numpy as np

    if name in NAMES["cluster"] and isinstance(values, list):
        values = [math.prod(one) if isinstance(one, tuple | list) else one for one in values]
    try:
        array = np.asarray(values)
        if array.dtype.kind == "O":
            array = np.asarray(array.tolist())
        if array.dtype.kind in "fO":
            return _filled(name, array, default, times)
    except (ValueError, TypeError, OverflowError) as error:
        raise UsageError(f"{name} must be whole numbers: {error}") from None
    if array.dtype.kind not in "iu":
        raise UsageError(f"{name} must be whole numbers, not {array.dtype}")
    if name in NAMES["cluster"] and array.ndim == 2:  # as dimensions
        return np.asarray(_wide(array).prod(axis=-1))
    return array if times == 1 else _wide(array) * times


def _wide(array: NDArray[Any]) -> NDArray[Any]:
    """Of which a product does not wrap round: 8 warps in 8 bits are 256 threads, not 0."""
    import numpy as np

    wide = array if array.dtype.itemsize == 8 else array.astype(np.int64)
    found: NDArray[Any] = np.minimum(wide, _LARGE).astype(np.int64)
    return found


def _filled(name: str, array: NDArray[Any], default: ArrayLike | None, times: int) -> NDArray[Any]:
    """Data frames write whole numbers as floating-point ones where some are absent."""
    import numpy as np
    import pandas as pd

    absent = pd.isna(array)
    if absent.any() and default is None:
        raise UsageError(f"configuration {int(absent.argmax())} does not say {name}")
    present = np.where(absent, 0, array)
    with np.errstate(invalid="ignore"):
        whole = present.astype(np.int64)
    if not (whole == present).all():
        raise UsageError(f"{name} must be whole numbers")
    return np.where(
        absent, 0 if default is None else default, whole if times == 1 else _wide(whole) * times
    )
