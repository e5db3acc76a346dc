"""Streams that begin one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from perfkit.device.backend import Card, Mark, Stream

#: streams whose order counts: one more than there are engines, and none waits for another
_IN_TURN: Final = 4


def let_go(card: Card, streams: Sequence[Stream], after: Mark) -> None:
    """Let work of ``streams`` begin at ``after``: the first few in turn, then all others.

    An engine takes what has been ready longest, and of what is ready at once any: on an H200 three
    streams that one event let go began in a random order, and pipelines whose later chunks wait for
    the first took up to 30 % longer. Work that the host issues as it goes is ready in order anyway.
    A chain through many streams would be slow itself: they share the card's queues.
    """
    for stream in streams[:_IN_TURN]:
        card.follow(stream, after)
        after = card.mark(stream)
    for stream in streams[_IN_TURN:]:
        card.follow(stream, after)
