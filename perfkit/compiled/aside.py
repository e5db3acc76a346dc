"""Work in a library that cannot be interrupted, in a thread of its own."""

from __future__ import annotations

from threading import Thread
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

#: between two looks at signals, where waiting for a thread keeps them out (Windows)
_LOOK_S = 0.1


def aside(work: Callable[[], T]) -> T:
    """What ``work`` returns or raises. An interrupt ends the waiting at once, not the work.

    The thread is none that the interpreter abandons: a program that goes on after the interrupt
    waits for it at its end, instead of pulling the library from under it.
    """
    outcome: _Outcome[T] = _Outcome()
    worker = Thread(target=outcome.of, args=(work,), name="perfkit: a library at work")
    worker.start()
    while worker.is_alive():
        worker.join(_LOOK_S)
    if outcome.error is not None:
        raise outcome.error
    return outcome.values[0]


class _Outcome(Generic[T]):
    """Of the work, whatever it is: an error is raised again where it is waited for."""

    def __init__(self) -> None:
        self.values: list[T] = []
        self.error: BaseException | None = None

    def of(self, work: Callable[[], T]) -> None:
        with self:
            self.values.append(work())

    def __enter__(self) -> None:
        pass

    def __exit__(self, _: object, error: BaseException | None, __: object) -> bool:
        self.error = error
        return True
