"""Targets and kernels that have no answer must not keep the others from theirs."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from perfkit.errors import InputError, PerfkitError, Unavailable, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator


_MOST_ALIKE: Final = 3  #: a library has hundreds of kernels that lack the same


class Failures:
    """Errors of single targets: what can be answered is, and they follow on stderr."""

    def __init__(self) -> None:
        self._found: list[PerfkitError] = []

    @contextmanager
    def collected(self) -> Iterator[None]:
        """Keep an error of the block for later."""
        try:
            yield
        except (UsageError, InputError, Unavailable) as error:
            if str(error) not in map(str, self._found):
                self._found.append(error)

    def texts(self) -> tuple[str, ...]:
        """All so far, as a person reads them."""
        return tuple(map(str, self._found))

    def summed_up(self) -> tuple[str, ...]:
        """What happened, without the remedies; the same kind of failure is told once."""
        return tuple(error.message for error in _summed_up(self._found))

    def raise_first(self) -> None:
        """Where nothing is answered: one error says why."""
        if self._found:
            raise self._found[0]

    def report(self) -> None:
        """Write all, and end with one that has their exit code: 2, or 4 if things are missing."""
        from perfkit.cli.app import report_error

        found = list(_summed_up(self._found))
        if not found:
            return
        wrong = [error for error in found if not isinstance(error, Unavailable)]
        last = (wrong or found)[-1]
        for error in found:
            if error is not last:
                report_error(error)
        raise last


def _summed_up(errors: list[PerfkitError]) -> Iterator[PerfkitError]:
    """The first of those with the same remedy, which then stands once, and how many more there are.

    Errors of files stay: each file is named.
    """
    alike: dict[object, list[PerfkitError]] = {}
    for error in errors:
        is_common = error.hint is not None and error.where is None
        alike.setdefault((type(error), error.hint) if is_common else id(error), []).append(error)
    for group in alike.values():
        shown = group[:_MOST_ALIKE]
        for error in shown[:-1]:
            error.hint = None
        if more := len(group) - len(shown):
            shown[-1].message += f" (and {more} more like it)"
        yield from shown
