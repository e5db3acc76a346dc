"""``perfkit gate``: did the change make it worse? Each command is a module of its own."""

from __future__ import annotations

from typing import Final

from perfkit.cli.app import LazyGroup
from perfkit.cli.help import examples, new_app

#: command -> its module in ``perfkit.cli``, in the order of ``perfkit gate --help``
COMMANDS: Final = {
    "check": "gate_check",
    "run": "gate_run",
    "record": "gate_record",
    "history": "gate_history",
}


class GateGroup(LazyGroup):
    modules = COMMANDS


app = new_app(
    no_args_is_help=True,
    cls=GateGroup,
    help="Decide whether a change made it worse.",
    epilog=examples("perfkit gate check build.log --rule 'registers<=64'"),
)


@app.callback()
def gate() -> None:
    """Decide whether a change made it worse."""
