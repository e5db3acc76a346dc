"""A change and how sure it is: the values that the parts of the gate hand to one another.

Everything is the logarithm of a ratio, positive for worse.
"""

from __future__ import annotations

from functools import lru_cache
from math import inf
from typing import TYPE_CHECKING

from perfkit.gate.order import Order
from perfkit.record import record

if TYPE_CHECKING:
    from perfkit.gate.evidence import Series
    from perfkit.gate.policy import Policy


@record
class Noise:
    """Relative standard deviation from run to run, known before this comparison."""

    relative: float
    runs: int | None = None  #: from how many runs of an A/A comparison; None: stated


@record
class Comparison:
    """One benchmark on both sides, with the policy that holds for it."""

    baseline: Series
    candidate: Series
    policy: Policy
    noise: Noise | None = None
    order: Order = Order.UNKNOWN


@record
class ChangeEstimate:
    """Change of one benchmark. ``change`` and what derives from it are logarithms."""

    change: float
    error: float  #: standard error of the change
    degrees: float  #: of freedom; infinite where the noise is known
    tails: int = 1  #: 2: the better of two intervals was taken, each at half the risk
    scatter: float = 0.0  #: relative standard deviation from run to run
    evidence: str = "runs"
    ranks_p: float | None = None  #: rank test of "not worse"; None: not asked
    least_p: float = 0.0  #: smallest value the rank test could have given
    shift: float = 0.0  #: what a trend over the runs adds if the candidate's follow the baseline's
    shift_sure: bool = False  #: whether the trend is more than chance
    unshifted_error: float = 0.0  #: standard error of the change without the shift
    unshifted_degrees: float = 1.0
    unshifted_weight: float = 1.0  #: that error, of independent runs, over their scatter
    parting: float = (
        0.0  #: by how much the ends of the sides differ more than their middles, if sure
    )
    lopsided: float = 0.0  #: what runs left out add to the change, if no accidents explain them
    outliers: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())
    modes: tuple[float, float] = (0.0, 0.0)
    distrusted: float | None = None  #: stated noise that the runs contradict

    def p_beyond(self, limit: float) -> float:
        """Risk of a change as large as seen or larger where the true one is ``limit``."""
        return tail(self.change - limit, self.error, self.degrees) * self.tails


def tail(distance: float, error: float, degrees: float) -> float:
    """Upper tail of Student's t at distance / error."""
    from scipy.special import ndtr, stdtr

    if error <= 0:
        return 0.0 if distance > 0 else 1.0
    score = -distance / error
    return float(ndtr(score) if degrees == inf else stdtr(degrees, score))


@lru_cache(maxsize=4096)
def quantile(risk: float, degrees: float) -> float:
    """Upper quantile of Student's t."""
    from scipy.special import ndtri, stdtrit

    return float(-ndtri(risk) if degrees == inf else -stdtrit(degrees, risk))
