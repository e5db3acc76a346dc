"""Screens that are only read: help, and what one takes away."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Label, Static

if TYPE_CHECKING:
    from collections.abc import Mapping

    from textual.app import ComposeResult


class Page(ModalScreen[None]):
    """Text that can be scrolled."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,question_mark,enter", "dismiss(None)", "Back"),
    ]

    def __init__(self, title: str, text: str | Content) -> None:
        super().__init__()
        self._title = title
        self._text = text

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Label(self._title, classes="title")
            with VerticalScroll():
                yield Static(self._text, markup=False)
            yield Label("esc: back", classes="dim")


class TakeAway(ModalScreen[None]):
    """Command lines and launch code, one at a time, to copy or to read."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss(None)", "Back"),
        Binding("right,tab", "turn(1)", "Next", priority=True),
        Binding("left,shift+tab", "turn(-1)", "Previous", priority=True),
        Binding("c,enter,ctrl+y", "copy", "Copy", priority=True),
    ]

    def __init__(self, texts: Mapping[str, str]) -> None:
        super().__init__()
        self._texts = texts
        self._place = 0

    @property
    def text(self) -> str:
        """What is shown, and copied."""
        return list(self._texts.values())[self._place]

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Label("", id="kinds")
            with VerticalScroll():
                yield Static("", id="text", markup=False)
            yield Label("c: copy, left and right: another form, esc: back", classes="dim")

    def on_mount(self) -> None:
        self.action_turn(0)

    def action_turn(self, by: int) -> None:
        self._place = (self._place + by) % len(self._texts)
        names = [
            (f" {name} ", "reverse" if i == self._place else "")
            for i, name in enumerate(self._texts)
        ]
        self.query_one("#kinds", Label).update(Content.assemble(*names))
        self.query_one("#text", Static).update(Content(self.text))

    def action_copy(self) -> None:
        self.app.copy_to_clipboard(self.text)
        self.notify("copied, if the terminal takes it (OSC 52); else select the text", timeout=4)
