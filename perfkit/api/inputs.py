"""Values as Python users hold them: NumPy's integers, sizes as text, blocks with dimensions."""

from __future__ import annotations

import math
from operator import index
from typing import TYPE_CHECKING, Any, SupportsFloat, SupportsIndex, TypeAlias

from perfkit.errors import InvalidLaunch, UsageError
from perfkit.models.carveout import NO_PREFERENCE
from perfkit.units import parse_bytes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from perfkit.arch.types import Capability

#: an integer of Python or NumPy
Whole: TypeAlias = SupportsIndex
#: bytes, or text such as ``"20K"``
Size: TypeAlias = "SupportsIndex | str"
#: threads per block, or the block's dimensions
Block: TypeAlias = "SupportsIndex | Sequence[SupportsIndex]"


def whole(name: str, value: Any) -> int:
    """Any integer as Python's own; booleans are none.

    Raises:
        InvalidLaunch: not an integer.
    """
    try:
        if type(value).__name__ not in {"bool", "bool_"}:
            return index(value)
    except TypeError:  # said below
        pass
    raise InvalidLaunch(f"{name} must be an integer, not {value!r}")


def percentage(value: Any) -> int | None:
    """A carveout; None, and -1 as CUDA writes it: no preference."""
    percent = None if value is None else whole("carveout", value)
    return None if percent == NO_PREFERENCE else percent


def share(name: str, value: Any) -> float:
    """A ratio, 0..1; raises ``UsageError`` for everything else."""
    if not isinstance(value, SupportsFloat) or not 0 <= float(value) <= 1:
        raise UsageError(f"{name} = {value!r}: must be 0 to 1")
    return float(value)


def size(name: str, value: Any) -> int:
    """Bytes, given as a number or as text: ``"20K"`` is 20480.

    Raises:
        InvalidLaunch: neither.
    """
    if not isinstance(value, str):
        return whole(name, value)
    try:
        return parse_bytes(value)
    except UsageError as error:
        raise InvalidLaunch(f"{name} = {error.message}", hint=error.hint) from None


def block(capability: Capability, value: Any) -> int:
    """Threads of a block, given as a number or as one to three dimensions.

    Raises:
        InvalidLaunch: neither, or a dimension beyond its limit.
    """
    if not isinstance(value, tuple | list):
        return whole("threads", value)
    if not 1 <= len(value) <= 3:
        raise InvalidLaunch(f"threads = {value!r}: a block has one to three dimensions")
    dimensions = [whole("threads", one) for one in value]
    limits = capability.limits.max_block_dim
    for axis, given, most in zip("xyz", dimensions, limits, strict=False):
        if not 1 <= given <= most:
            raise InvalidLaunch(
                f"threads = {value!r}: {axis} is {given}, {capability.label} takes 1 to {most}",
                hint=capability.cite("limits.max_block_dim"),
            )
    return math.prod(dimensions)
