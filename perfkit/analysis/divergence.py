"""How the warps of a block go through a branch or a loop."""

from __future__ import annotations

from perfkit.models.divergence import Branch, Loop, branch, loop
from perfkit.models.lanes import WARP_LANES
from perfkit.record import record


@record
class Divergence:
    """A branch or a loop, warp by warp."""

    text: str  #: the expression
    kind: str  #: condition | switch | trips
    values: tuple[tuple[int | None, ...], ...]  #: per warp and lane; None: no thread
    warps: tuple[Branch | Loop, ...]

    @property
    def diverging(self) -> tuple[int, ...]:
        """Numbers of the warps whose lanes do not go the same way."""
        return tuple(number for number, warp in enumerate(self.warps) if warp.diverges)

    @property
    def idle_share(self) -> float:
        """Lane slots of the whole block without work, 0..1."""
        if self.kind == "trips":
            loops = [warp for warp in self.warps if isinstance(warp, Loop)]
            busy = sum(warp.lane_iterations for warp in loops)
            slots = WARP_LANES * sum(warp.iterations for warp in loops)
        else:
            busy = sum(warp.threads for warp in self.warps)
            slots = WARP_LANES * sum(int(warp.serial_factor) for warp in self.warps)
        return 1 - busy / slots if slots else 0.0


def divergence(text: str, kind: str, values: tuple[tuple[int | None, ...], ...]) -> Divergence:
    """What a branch on a condition or a switch, or a loop, costs.

    Args:
        text: the expression.
        kind: ``condition`` (as in C, everything but 0 is true), ``switch`` (every value is a path
            of its own) or ``trips`` (how often each lane runs a loop).
        values: of the expression, per warp and lane.

    Raises:
        UsageError: a negative trip count.
    """
    if kind == "condition":
        values = tuple(tuple(None if v is None else int(v != 0) for v in lanes) for lanes in values)
    walk = loop if kind == "trips" else branch
    return Divergence(
        text=text, kind=kind, values=values, warps=tuple(walk(lanes) for lanes in values)
    )
