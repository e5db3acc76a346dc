"""Every product and capability, narrowed down by what is typed."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Label, OptionList
from textual.widgets.option_list import Option

from perfkit.explore.search import choices, matching

if TYPE_CHECKING:
    from textual.app import ComposeResult


class ChooseGpu(ModalScreen[str | None]):
    """Gives the name that ``--gpu`` takes; None: nothing was chosen."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "Back"),
        Binding("up", "list('cursor_up')", show=False, priority=True),
        Binding("down", "list('cursor_down')", show=False, priority=True),
        Binding("pageup", "list('page_up')", show=False, priority=True),
        Binding("pagedown", "list('page_down')", show=False, priority=True),
    ]

    def __init__(self, present: str | None) -> None:
        super().__init__()
        self._present = present
        self._known = choices()

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Label("GPU: type a part of its name, capability or family")
            yield Input(placeholder="h100, 9.0, blackwell, geforce 24 …", compact=True)
            yield OptionList(compact=True)
            yield Label("enter: choose, esc: back", classes="dim")

    def on_mount(self) -> None:
        self._narrow("")

    def on_input_changed(self, event: Input.Changed) -> None:
        self._narrow(event.value)

    def on_input_submitted(self) -> None:
        self.query_one(OptionList).action_select()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(event.option.id)

    def action_list(self, name: str) -> None:
        """Keys of the list, while the cursor stays in the text."""
        getattr(self.query_one(OptionList), f"action_{name}")()

    def _narrow(self, query: str) -> None:
        found = matching(self._known, query)
        listed = self.query_one(OptionList)
        listed.set_options(
            Option(Content.assemble((one.name.ljust(22), "bold"), " ", one.text), id=one.name)
            for one in found
        )
        names = [one.name for one in found]
        if names:
            listed.highlighted = names.index(self._present) if self._present in names else 0
