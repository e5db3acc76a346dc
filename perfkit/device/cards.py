"""Several cards side by side, a thread for each; what they share they take in turns.

The threads only wait for children. Ctrl-C arrives in the main thread, which then tells all of them:
each ends its child and keeps what is done.
"""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    from perfkit.device.properties import Device

_POLL_S: Final = 0.05
Result = TypeVar("Result")
Work = TypeVar("Work")


class Cards:
    """What the threads of a run have in common."""

    def __init__(self) -> None:
        self._stop = threading.Event()
        self._taken: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)

    def stopped(self) -> bool:
        """Whether everything is to end."""
        return self._stop.is_set()

    def side_by_side(self, works: Sequence[Callable[[], Result]]) -> tuple[Result, ...]:
        """Do all at the same time, and give what each gives.

        After Ctrl-C, or an error of one, ``stopped`` says so to all; what they then give counts.
        """
        with ThreadPoolExecutor(max_workers=max(1, len(works))) as pool:
            futures: list[Future[Result]] = []
            try:
                futures += [pool.submit(work) for work in works]
                while not all(future.done() for future in futures):
                    if any(future.done() and future.exception() for future in futures):
                        self._stop.set()
                    _pause()  # where Ctrl-C arrives
            except KeyboardInterrupt:
                self._stop.set()
            return tuple(future.result() for future in futures)

    def in_turn(self, left: Sequence[Work], shares: Callable[[Work], str | None]) -> Iterator[Work]:
        """Each piece of one card's work, until all is to end.

        Next comes the first of which no other card uses the same: a card that would have to wait
        does something else meanwhile.

        Args:
            left: the work of one card.
            shares: what a piece of it uses that all cards have in common; None: nothing.
        """
        waiting = list(left)
        while waiting and not self.stopped():
            for one in waiting:
                thing = shares(one)
                if thing is None or self._taken[thing].acquire(blocking=False):
                    break
            else:
                time.sleep(_POLL_S)
                continue
            waiting.remove(one)
            try:
                yield one
            finally:
                if thing is not None:
                    self._taken[thing].release()


def _pause() -> None:
    time.sleep(_POLL_S)


def number(device: Device, devices: Sequence[Device]) -> int | None:
    """What tells a card from the others of a run; None: it is alone."""
    return device.index if len(devices) > 1 else None
