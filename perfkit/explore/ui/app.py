"""The program around the screen."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.app import App
from textual.binding import Binding, BindingType

from perfkit.explore.state import State
from perfkit.explore.ui.look import CSS
from perfkit.explore.ui.main import MainScreen

if TYPE_CHECKING:
    from perfkit.explore.state import CommandLine


class Explorer(App[State]):
    """``run()`` gives the last state."""

    TITLE = "perfkit explore"
    CSS = CSS
    ENABLE_COMMAND_PALETTE = False
    HORIZONTAL_BREAKPOINTS = [  # noqa: RUF012 - as textual declares it
        (0, "-narrow"),
        (70, "-normal"),
        (116, "-wide"),
    ]
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+q", "quit", "Quit", priority=True),
        Binding("ctrl+c", "quit", show=False, priority=True),
    ]

    def __init__(self, state: State, commands: CommandLine, *, is_ascii: bool = False) -> None:
        super().__init__()
        # the terminal knows no other letters
        self.set_class(is_ascii, "-ascii")
        self.main = MainScreen(state, commands)

    def on_mount(self) -> None:
        self.push_screen(self.main)

    async def action_quit(self) -> None:
        self.exit(self.main.state)
