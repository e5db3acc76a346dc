"""What the parser of the command line refuses, in the words of every other error."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from perfkit.errors import UsageError

if TYPE_CHECKING:
    from typer.exceptions import TyperException

_TYPE: Final = re.compile(r"is not a valid (int|float)( range)?")
_NUMBERS: Final = {"int": "is not a whole number", "float": "is not a number"}


def refused(error: TyperException) -> UsageError:
    """Where the value came from (an option, an argument, a variable), and where to read on."""
    context: Any = getattr(error, "ctx", None)
    where = _origin(error, context)
    message = error.message if where else error.format_message()
    message = _TYPE.sub(lambda kind: _NUMBERS[kind[1]], message)
    hint = f"'{context.command_path} -h' shows what it takes" if context is not None else None
    return UsageError(message.rstrip("."), where=where, hint=hint)


def _origin(error: Any, context: Any) -> str | None:
    parameter = getattr(error, "param", None)
    if parameter is None or not error.message:
        return None
    source = context.get_parameter_source(parameter.name)
    if source is not None and source.name == "ENVIRONMENT":
        variable = parameter.envvar
        return str(variable if isinstance(variable, str) else variable[0])
    return str(parameter.opts[0]) if parameter.param_type_name == "option" else parameter.name
