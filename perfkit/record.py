"""``@record``: the value type of perfkit, a frozen, slotted, keyword-only dataclass.

Comparison, hash and representation are shared functions instead of generated ones: a short
command defines some forty records, and generating theirs would take a tenth of its time.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True, kw_only_default=True)
def record(cls: type[T]) -> type[T]:
    """Make ``cls`` a dataclass whose instances never change; ``dataclasses`` functions work."""
    for name, function in _SHARED.items():
        if name not in cls.__dict__:
            setattr(cls, name, function)
    return dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)(cls)


def _values(self: Any) -> tuple[Any, ...]:
    return tuple(getattr(self, field.name) for field in fields(self))


def _repr(self: Any) -> str:
    values = ", ".join(f"{f.name}={getattr(self, f.name)!r}" for f in fields(self))
    return f"{type(self).__name__}({values})"


def _eq(self: Any, other: object) -> bool:
    return _values(self) == _values(other) if type(self) is type(other) else NotImplemented


def _hash(self: Any) -> int:
    return hash((type(self), _values(self)))


_SHARED = {"__repr__": _repr, "__eq__": _eq, "__hash__": _hash}
