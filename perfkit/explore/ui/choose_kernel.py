"""A file with kernels, and which of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NamedTuple

from textual import work
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Label, OptionList
from textual.widgets.option_list import Option
from textual.worker import get_current_worker

from perfkit.explore.reading import Failed, read
from perfkit.report.document import printable
from perfkit.units import format_bytes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult

    from perfkit.arch.types import Target
    from perfkit.explore.state import CommandLine
    from perfkit.kernel import KernelResources


class Chosen(NamedTuple):
    """A kernel of a file; neither: numbers are typed."""

    path: str | None
    target: Target | None
    kernel: KernelResources | None


class ChooseKernel(ModalScreen[Chosen | None]):
    """Gives what was chosen; None: nothing."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "Back")]

    def __init__(self, commands: CommandLine, path: str | None, gpu: str | None) -> None:
        super().__init__()
        self._commands = commands
        self._path = path or ""
        self._gpu = gpu
        self._found: Sequence[tuple[Target, KernelResources]] = ()

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Label("File with kernels: source, cubin, library, program, log, cache")
            yield Input(self._path, placeholder="empty: numbers are typed", compact=True)
            yield Label("", id="said")
            yield OptionList(compact=True)
            yield Label("enter: read and choose, esc: back", classes="dim")

    def on_mount(self) -> None:
        if self._path:
            self._open(self._path)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        if event.value.strip():
            self._open(event.value.strip())
        else:
            self.dismiss(Chosen(None, None, None))

    def _open(self, path: str) -> None:
        self._say(f"reading {path} …")
        self.query_one(OptionList).clear_options()
        self._read(path)

    @work(thread=True, exclusive=True)
    def _read(self, path: str) -> None:
        found = read(self._commands, path, self._gpu)
        if not get_current_worker().is_cancelled:
            self.app.call_from_thread(self._show, path, found)

    def _show(self, path: str, found: Failed | Sequence[tuple[Target, KernelResources]]) -> None:
        if isinstance(found, Failed):
            self._say(found.text)
            self.query_one(Input).focus()
            return
        self._path, self._found = path, found
        if len(found) == 1:
            self.dismiss(Chosen(path, *found[0]))
            return
        self._say(f"{len(found)} kernels")
        listed = self.query_one(OptionList)
        listed.set_options(Option(_text(kernel), id=str(i)) for i, (_, kernel) in enumerate(found))
        listed.highlighted = 0
        listed.focus()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(Chosen(self._path, *self._found[event.option_index]))

    def _say(self, text: str) -> None:
        self.query_one("#said", Label).update(Content(printable(text)))


def _text(kernel: KernelResources) -> Content:
    known = (
        kernel.arch,
        None if kernel.registers_per_thread is None else f"{kernel.registers_per_thread} registers",
        None
        if kernel.static_shared_bytes is None
        else f"{format_bytes(kernel.static_shared_bytes)} static",
    )
    about = ", ".join(one for one in known if one)
    return Content.assemble((printable(kernel.demangled), "bold"), f"  {about}")
