"""Options that several commands share, declared once, as the fields of a record.

A command takes the record; Typer, which knows only single parameters, sees one option for each of
its fields, named, annotated and defaulted like the field::

    @app.command()
    @grouped
    def fits(*, launch: Annotated[LaunchOptions, Without("carveout", "grid")]) -> None: ...
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from typing import Any, Final, get_type_hints

Command = Callable[..., None]


class Without:
    """The fields that a command does not offer; they keep their defaults."""

    def __init__(self, *names: str) -> None:
        self.names: Final = frozenset(names)


def grouped(command: Command) -> Command:
    """``command`` with the fields of each record among its parameters in the record's place."""
    groups: dict[str, tuple[type[Any], list[str]]] = {}
    parameters = []
    for one in inspect.signature(command, eval_str=True).parameters.values():
        found = [one.replace(kind=one.KEYWORD_ONLY)]
        if (group := _group(one.annotation)) is not None:
            found = list(_options(*group))
            groups[one.name] = (group[0], [option.name for option in found])
        parameters += found

    def flat(**values: Any) -> None:
        for name, (cls, names) in groups.items():
            values[name] = cls(**{option: values.pop(option) for option in names})
        command(**values)

    functools.update_wrapper(flat, command)
    flat.__annotations__ = {one.name: one.annotation for one in parameters}
    flat.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return flat


def _group(annotation: Any) -> tuple[type[Any], Without] | None:
    """The record of a parameter that is a group, and what is left out of it."""
    cls = getattr(annotation, "__origin__", annotation)
    if not (isinstance(cls, type) and is_dataclass(cls)):
        return None
    without = [one for one in getattr(annotation, "__metadata__", ()) if isinstance(one, Without)]
    return cls, without[0] if without else Without()


def _options(cls: type[Any], without: Without) -> Iterator[inspect.Parameter]:
    hints = get_type_hints(cls, include_extras=True)
    names = {field.name for field in fields(cls)}
    if unknown := without.names - names:
        raise TypeError(f"{cls.__name__} has no {', '.join(sorted(unknown))} to leave out")
    for field in fields(cls):
        if field.name not in without.names:
            yield inspect.Parameter(
                field.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=field.default,
                annotation=hints[field.name],
            )
