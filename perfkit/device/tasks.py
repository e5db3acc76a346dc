"""What a child process may be asked to do: a name and the function behind it.

A task is a generator: it takes the arguments that came as JSON and yields results that go back as
JSON. It opens the card itself (number 0: a child sees one card).
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from typing import Any, Final

from perfkit.errors import UsageError

Task = Callable[[dict[str, Any]], Iterator[dict[str, Any]]]

#: task -> module and function
TASKS: Final = {
    "ceilings": "perfkit.device.experiments.groups:measure_group",
    "validate": "perfkit.device.experiments.checks:run_check",
    "launch": "perfkit.device.experiments.checks:launch_profiled",
    "measure": "perfkit.device.measure_task:measure",
}


def task(name: str) -> Task:
    """The function behind a name.

    Raises:
        UsageError: there is no such task.
    """
    if name not in TASKS:
        raise UsageError(f"there is no task {name!r}", hint=f"one of: {', '.join(TASKS)}")
    module, _, function = TASKS[name].partition(":")
    found: Task = getattr(importlib.import_module(module), function)
    return found
