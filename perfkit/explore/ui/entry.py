"""One number of the launch: typed, or moved with the arrow keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import Input, Static

from perfkit.explore.paint import plain

if TYPE_CHECKING:
    from perfkit.explore.fields import Field


class Entry(Input):
    """The text of a field."""

    #: '?' is no part of any number, so that help needs no key of its own
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "move(1)", "More", show=False),
        Binding("down", "move(-1)", "Less", show=False),
        Binding("pageup", "move(1, True)", "Much more", show=False),
        Binding("pagedown", "move(-1, True)", "Much less", show=False),
        Binding("question_mark", "screen.help", "Help", priority=True, show=False),
    ]

    class Moved(Message):
        """A key asks for another value."""

        def __init__(self, entry: Entry, by: int, *, large: bool) -> None:
            super().__init__()
            self.entry = entry
            self.by = by
            self.large = large

    def __init__(self, field: Field, text: str) -> None:
        # what is typed after a tab replaces the number, as in any form
        super().__init__(text, id=field.name, compact=True, placeholder=field.empty)
        self.field = field

    def action_move(self, by: int, large: bool = False) -> None:  # noqa: FBT001, FBT002
        self.post_message(self.Moved(self, by, large=large))

    def show(self, text: str) -> None:
        """Another text, of which nobody is told."""
        if self.value != text:
            with self.prevent(Input.Changed):
                self.value = text
            self.cursor_position = len(text)


class OneLine(Static):
    """Text in one line, whose size stays."""

    def __init__(self, *, id: str) -> None:  # noqa: A002 - textual's name
        super().__init__("", id=id, markup=False)
        self._text = ""

    def show(self, text: str) -> None:
        """Another text."""
        if self.app.has_class("-ascii"):
            text = plain(text)
        if text != self._text:
            self._text = text
            self.update(text, layout=False)


class Chooser(OneLine, can_focus=True):
    """What is chosen on a screen of its own: enter opens it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,space", "choose", "Choose", show=False),
        Binding("question_mark", "screen.help", "Help", show=False),
    ]

    class Asked(Message):
        """The screen should open."""

        def __init__(self, chooser: Chooser) -> None:
            super().__init__()
            self.chooser = chooser

    def action_choose(self) -> None:
        self.post_message(self.Asked(self))

    def on_click(self) -> None:
        self.action_choose()
