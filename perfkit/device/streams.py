"""Streams that begin one after the other."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from perfkit.device.backend import Card, Mark, Stream


def let_go(card: Card, streams: Iterable[Stream], after: Mark) -> None:
    """Let work of ``streams`` begin at ``after``, each a moment after the one before it.

    An engine takes what has been ready longest, and of what is ready at once any: on an H200 three
    streams that one event let go began in a random order, and pipelines whose later chunks wait for
    the first took up to 30 % longer. Work that the host issues as it goes is ready in order anyway.
    """
    for stream in streams:
        card.follow(stream, after)
        after = card.mark(stream)
