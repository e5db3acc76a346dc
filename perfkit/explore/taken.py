"""Everything that can be taken away from a view, as text under a name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from perfkit.errors import PerfkitError
from perfkit.explore.commands import launch_code
from perfkit.report.code.kinds import Kind

if TYPE_CHECKING:
    from perfkit.explore.view import View


def taken(view: View) -> dict[str, str]:
    """Command lines, then launch code of every kind; where there is none, why."""
    if not view.commands:
        return {}
    found = {"command": "\n".join(view.commands)}
    if view.estimate is None:
        return found
    for kind in Kind:
        try:
            found[kind.value] = launch_code(view.state, view.estimate, kind)
        except PerfkitError as error:
            found[kind.value] = "\n".join([f"none: {error}", *([error.hint] if error.hint else [])])
    return found
