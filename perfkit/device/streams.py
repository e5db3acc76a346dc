"""Streams that begin one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from perfkit.device.backend import launch_1d
from perfkit.device.program import build

if TYPE_CHECKING:
    from perfkit.device.backend import Card, Mark, Stream

#: streams whose order counts: one more than there are engines, and none waits for another
_IN_TURN: Final = 4
#: from one to the next: longer than it takes to hand over, shorter than a chunk is copied
_TURN_NS: Final = 10_000


class Turns:
    """Lets work of streams of one card begin, in turn.

    An engine takes what has been ready longest, and of what is ready at once any: on an H200 three
    streams that one event let go began in a random order, so did at times three of which each
    waited for the one before it, and pipelines whose later chunks wait for the first took up to
    30 % longer. Work that the host issues as it goes is ready in order anyway.
    """

    def __init__(self, card: Card) -> None:
        import numpy as np

        self._card = card
        (self._hold,) = build(card, "between.cu", ("hold",))
        self._ns = (np.uint64(_TURN_NS),)

    def let_go(self, streams: Sequence[Stream], after: Mark) -> None:
        """Let work of ``streams`` begin at ``after``: the first few in turn, then all others.

        A chain through many streams would be slow itself: they share the card's queues.
        """
        for number, stream in enumerate(streams):
            self._card.follow(stream, after)
            if 0 < number < _IN_TURN:
                self._card.launch(self._hold, launch_1d(1, 1), self._ns, stream)
            if number < _IN_TURN:
                after = self._card.mark(stream)
