"""The screen on which everything is in sight: numbers on the left, what follows on the right."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical, VerticalScroll
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Footer, Input, Static
from textual.worker import get_current_worker

from perfkit.explore import paint
from perfkit.explore.fields import FIELDS, moved
from perfkit.explore.help import help_lines
from perfkit.explore.reading import Failed, read
from perfkit.explore.taken import taken
from perfkit.explore.ui.choose_gpu import ChooseGpu
from perfkit.explore.ui.choose_kernel import ChooseKernel, Chosen
from perfkit.explore.ui.entry import Chooser, Entry, OneLine
from perfkit.explore.ui.lines import Lines
from perfkit.explore.ui.pages import Page, TakeAway
from perfkit.explore.ui.styles import content
from perfkit.explore.view import Trouble, View, view
from perfkit.report.document import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult
    from textual.widget import Widget

    from perfkit.arch.types import Target
    from perfkit.explore.state import CommandLine, State
    from perfkit.kernel import KernelResources

_NAMES = ("GPU", "kernel", *(field.label for field in FIELDS.values()))
_GPU_HINT = "The GPU: enter or ctrl+g lists every product and capability."
_KERNEL_HINT = "The kernel: enter or ctrl+o reads it from a file; without one numbers are typed."


class MainScreen(Screen[None]):
    """Keeps the state, and shows its view."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("question_mark,f1", "help", "Help", key_display="?"),
        Binding("ctrl+g", "choose_gpu", "GPU"),
        Binding("ctrl+o", "choose_kernel", "Kernel"),
        Binding("ctrl+y", "copy", "Copy"),
        Binding("ctrl+l", "take_away", "Code"),
        Binding("ctrl+t", "explain", "Explain"),
        Binding("ctrl+down", "scroll_answer(1)", show=False),
        Binding("ctrl+up", "scroll_answer(-1)", show=False),
    ]

    def __init__(self, state: State, commands: CommandLine) -> None:
        super().__init__()
        self.state = state
        self._commands = commands
        self._explain = False
        #: the kernel's name, also while no code of it runs on the GPU
        self._wanted = state.kernel.demangled if state.kernel else None
        self._unread: Trouble | None = None  #: why the file has no kernel for the GPU
        self.view: View = view(state, commands)
        self._entries: dict[str, Entry] = {}

    def compose(self) -> ComposeResult:
        with Container(id="body"):
            with VerticalScroll(id="form", can_focus=False):
                # one widget for all names: each widget in sight costs time at every key
                yield Static("\n".join(_NAMES), id="names", markup=False)
                with Vertical(id="fields"):
                    yield Chooser(id="gpu")
                    yield Chooser(id="kernel")
                    for name, field in FIELDS.items():
                        self._entries[name] = Entry(field, self.state.text(name))
                        yield self._entries[name]
            with VerticalScroll(id="right"):
                yield Lines(id="answer")
                yield Lines(id="curves")
        yield OneLine(id="brief")
        yield Static("", id="hint", markup=False)
        yield OneLine(id="command")
        yield Footer()

    def on_mount(self) -> None:
        self.call_after_refresh(self._begin)

    def _begin(self) -> None:
        self.query_one("#threads", Entry).focus()
        self._paint()
        if self.state.path is not None and self.state.kernel is None:
            self.action_choose_kernel()
        elif self.state.gpu is None:
            self.action_choose_gpu()

    def on_resize(self) -> None:
        self.call_after_refresh(self._paint)

    # --- the state ------------------------------------------------------------------------------

    def put(self, state: State) -> None:
        """Another state: everything that follows from it is worked out and shown."""
        self.state = state
        self.view = view(state, self._commands, before=self.view)
        for name, entry in self._entries.items():
            entry.show(state.text(name))
        self._paint()

    def on_input_changed(self, event: Input.Changed) -> None:
        name = event.input.id or ""
        if name in FIELDS and self.state.text(name) != event.value:
            self.put(self.state.having(**{name: event.value}))

    def on_entry_moved(self, message: Entry.Moved) -> None:
        if self.view.target is None:
            self.action_choose_gpu()
            return
        self.put(
            moved(
                self.state,
                message.entry.field.name,
                message.by,
                large=message.large,
                target=self.view.target,
                present=self.view.present(),
            )
        )

    def on_chooser_asked(self, message: Chooser.Asked) -> None:
        if message.chooser.id == "gpu":
            self.action_choose_gpu()
        else:
            self.action_choose_kernel()

    # --- choosing -------------------------------------------------------------------------------

    def action_choose_gpu(self) -> None:
        label = self.view.target.label if self.view.target else None
        self.app.push_screen(ChooseGpu(label), self._chosen_gpu)

    def _chosen_gpu(self, name: str | None) -> None:
        if name is None:
            return
        self._unread = None
        state = self.state.having(gpu=name)
        if state.path is None:
            self.put(state.completed())
        else:
            # another GPU runs other code of the file, or has it compiled anew
            self.put(state.having(kernel=None))
            self._read(state)

    @work(thread=True, exclusive=True)
    def _read(self, state: State) -> None:
        found = read(self._commands, state.path or "", state.gpu)
        if not get_current_worker().is_cancelled:
            self.app.call_from_thread(self._was_read, state, found)

    def _was_read(
        self,
        state: State,
        found: Failed | Sequence[tuple[Target, KernelResources]],
    ) -> None:
        if isinstance(found, Failed):
            self._unread = Trouble(text=printable(found.text), hint=None, field=None)
            self.put(state.having(kernel=None))
            return
        kernel = next((one for _, one in found if one.demangled == self._wanted), None)
        if kernel is None and len(found) > 1:
            self.action_choose_kernel()
            return
        self.put(state.having(kernel=kernel or found[0][1]).completed())

    def action_choose_kernel(self) -> None:
        screen = ChooseKernel(self._commands, self.state.path, self.state.gpu)
        self.app.push_screen(screen, self._chosen_kernel)

    def _chosen_kernel(self, chosen: Chosen | None) -> None:
        if chosen is None:
            return
        self._unread = None
        self._wanted = chosen.kernel.demangled if chosen.kernel else None
        if chosen.kernel is None or chosen.target is None:
            self.put(self.state.without_file().completed())
            return
        own = dict.fromkeys(_OF_A_KERNEL, "")
        state = self.state.having(
            gpu=self.state.gpu or chosen.target.label,
            path=chosen.path,
            kernel=chosen.kernel,
            # numbers of another kernel would hide those of this one
            **(own if self.state.kernel != chosen.kernel else {}),
        )
        self.put(state.completed())

    # --- taking away ----------------------------------------------------------------------------

    def action_copy(self) -> None:
        if self.view.commands:
            self.app.copy_to_clipboard(self.view.commands[0])
            self.notify("copied the command line below, if the terminal takes it (OSC 52)")

    def action_take_away(self) -> None:
        if texts := taken(self.view):
            self.app.push_screen(TakeAway(texts))

    def action_help(self) -> None:
        width = max(20, min(76, self.size.width - 8))
        self.app.push_screen(Page("Help", content(help_lines(width))))

    def action_explain(self) -> None:
        self._explain = not self._explain
        self._paint()

    def action_scroll_answer(self, by: int) -> None:
        self._scrolled().scroll_relative(y=by * 5, animate=False)

    def _scrolled(self) -> Widget:
        """What has the bar: in a narrow terminal everything is in one column."""
        return self.query_one("#body" if self.has_class("-narrow") else "#right")

    # --- showing --------------------------------------------------------------------------------

    def _paint(self) -> None:
        seen = self.view
        answer, curves = self.query_one("#answer", Lines), self.query_one("#curves", Lines)
        width = answer.content_size.width
        lines = paint.answer(seen, width=width, explain=self._explain)
        if self._unread is not None:
            lines = (*paint.trouble(self._unread, width), *lines)
        # empty rows are in nobody's sight unless the curves stand below
        answer.show(lines, slack=20 if self.has_class("-wide") else 3)
        curves.show(paint.drawn(seen, width=curves.content_size.width, explain=self._explain))
        wrong = {trouble.field for trouble in seen.troubles}
        present = seen.present()
        for name, entry in self._entries.items():
            entry.set_class(name in wrong, "-wrong")
            known = present.get(name)
            of_kernel = self.state.kernel is not None and known is not None
            entry.placeholder = f"{known} (kernel)" if of_kernel else entry.field.empty
        self._say_what_is_chosen()
        self.query_one("#brief", OneLine).show(paint.brief(seen))
        told = "  ".join(f"$ {line}" for line in seen.commands)
        self.query_one("#command", OneLine).show(told)

    def _say_what_is_chosen(self) -> None:
        target, kernel = self.view.target, self.state.kernel
        name = target.label if target else self.state.gpu or "choose …"
        self.query_one("#gpu", Chooser).show(f"{name} ▾")
        reading = "…" if self.state.path and self._unread is None else "none: typed numbers"
        shown = printable(kernel.demangled) if kernel else reading
        self.query_one("#kernel", Chooser).show(f"{shown} ▾")

    def on_descendant_focus(self) -> None:
        self._hint()

    def _hint(self) -> None:
        focused = self.focused
        if isinstance(focused, Entry):
            text = focused.field.help
        elif isinstance(focused, Chooser):
            text = _GPU_HINT if focused.id == "gpu" else _KERNEL_HINT
        else:
            text = "Arrow keys scroll; tab goes to the next field."
        self.query_one("#hint", Static).update(Content(text))


#: what a kernel says of itself
_OF_A_KERNEL = ("regs", "smem_static", "smem_dynamic", "barriers", "cluster", "threads")
