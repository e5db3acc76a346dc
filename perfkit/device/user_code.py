"""Python code of the user's, found by ``module:function`` or ``file.py:function``."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from perfkit.errors import UsageError


def load(name: str, option: str) -> Callable[..., Any]:
    """The function; modules are looked for in the working directory first.

    Raises:
        UsageError: no such module or function. What the module itself raises goes through.
    """
    module_name, function = parted(name, option)
    found: Any = _module(module_name, option, name)
    for part in function.split("."):
        if not hasattr(found, part):
            raise UsageError(f"{option} {name}: {module_name} has no {function!r}")
        found = getattr(found, part)
    if not callable(found):
        raise UsageError(f"{option} {name}: it is {type(found).__name__}, not a function")
    called: Callable[..., Any] = found
    return called


def parted(name: str, option: str) -> tuple[str, str]:
    """The module or file, and the function in it.

    Raises:
        UsageError: one of them is missing.
    """
    module, colon, function = name.rpartition(":")
    if not colon or not module or not function:
        raise UsageError(
            f"{option} {name!r}: not a function",
            hint="write module:function or folder/file.py:function",
        )
    return module, function


def _module(name: str, option: str, whole: str) -> Any:
    if name.endswith(".py"):
        path = Path(name)
        spec = importlib.util.spec_from_file_location(path.stem, path)
        if spec is None or spec.loader is None or not path.is_file():
            raise UsageError(f"{option} {whole}: there is no file {name}")
        sys.path.insert(0, str(path.parent.resolve()))
        module = importlib.util.module_from_spec(spec)
        sys.modules[path.stem] = module
        spec.loader.exec_module(module)
        return module
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name and name.startswith(error.name):
            raise UsageError(
                f"{option} {whole}: there is no module {error.name!r}",
                hint="modules are looked for in the working directory, then as Python does",
            ) from None
        raise


def prepared(function: Callable[..., Any]) -> tuple[Callable[[], Any], Callable[[], None]]:
    """What is to be timed, and what to call in the end.

    * A generator function does its setup, yields what is to be timed, and cleans up afterwards.
    * A function that gives back a callable is a factory: that is timed.
    * Anything else is timed itself; it was called once by then.
    """
    if inspect.isgeneratorfunction(function):
        running = function()
        work = next(running, None)
        if not callable(work):
            raise UsageError(f"{function.__name__} does not yield what is to be timed")
        return work, lambda: _finish(running)
    made = function()
    return (made if callable(made) and not hasattr(made, "shape") else function), _nothing


def _finish(running: Any) -> None:
    next(running, None)


def _nothing() -> None:
    return
