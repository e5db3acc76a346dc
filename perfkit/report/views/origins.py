"""Where kernels were read, shown where nothing else tells rows apart."""

from __future__ import annotations

from os.path import commonprefix
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence


def telling_apart(rows: Sequence[Hashable], origins: Sequence[str | None]) -> list[str | None]:
    """The origin of each row without what all share; None for all where the rows differ anyway."""
    named = {origin for origin in origins if origin is not None}
    if len(set(rows)) == len(rows) or len(named) < 2:
        return [None] * len(rows)
    shared = commonprefix([*named]).rpartition("/")  # noqa: RUF071  # origins are not only paths
    prefix = shared[0] + shared[1]
    rest = [origin and origin.removeprefix(prefix) for origin in origins]
    if prefix.count("(") <= prefix.count(")"):
        return rest
    return [origin and _without_last_bracket(origin) for origin in rest]


def _without_last_bracket(origin: str) -> str:
    """Of a wheel's member, whose opening bracket is in what all share."""
    before, _, after = origin.rpartition(")")
    return before + after
