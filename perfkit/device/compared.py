"""Outputs of kernels against their references."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from perfkit.errors import UsageError
from perfkit.record import record

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from perfkit.device.workload import Array

#: a single element may be further off than all together, by this factor of the tolerance
_ONE_ELEMENT: Final = 16


@record
class Check:
    """Found against right."""

    output: str
    error: float  #: ||found - right|| / ||right||
    worst: float  #: of one element, over its size and the typical one
    tolerance: float
    at: int | None  #: where the worst stands, if it is too far off
    unwritten: int  #: elements that the kernel left as they were

    @property
    def is_right(self) -> bool:
        within = self.error <= self.tolerance and self.worst <= _ONE_ELEMENT * self.tolerance
        return within and not self.unwritten


def compared(
    found: NDArray[Any], right: NDArray[Any], array: Array, tolerance: float, unwritten: int
) -> Check:
    """How far an output is off.

    Equal elements are right whatever they are, NaN where NaN is due as well.

    Raises:
        UsageError: the reference gives another number of elements.
    """
    import numpy as np

    right = np.asarray(right).ravel()
    if right.size != found.size:
        raise UsageError(f"the reference gives {right.size} of {array.name}, not {found.size}")
    a, b = found.astype(np.float64), right.astype(np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        off = np.abs(a - b)
        off[(a == b) | (np.isnan(a) & np.isnan(b))] = 0
        finite = np.where(np.isfinite(b), np.abs(b), 0)
        norm, typical = float(np.linalg.norm(finite)), float(np.sqrt(np.mean(finite**2)))
        off[~np.isfinite(off)] = np.inf
        relative = off / (finite + typical) if typical else off
        error = float(np.linalg.norm(off)) / norm if norm else float(off.max(initial=0))
    worst = float(relative.max(initial=0))
    is_off = worst > _ONE_ELEMENT * tolerance or error > tolerance
    return Check(
        output=array.name,
        error=min(error, _INFINITE),
        worst=min(worst, _INFINITE),
        tolerance=tolerance,
        at=int(relative.argmax()) if is_off else None,
        unwritten=unwritten,
    )


_INFINITE: Final = 1e300  #: JSON has no infinity
