"""Lines of styled text of which only those are drawn anew that changed.

``Static`` wraps, formats and draws all of its text for every letter, and lays the screen out for
every line more or less. Both were most of the time between a key and its picture.
"""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING

from textual.content import Content
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from perfkit.explore.paint import plain
from perfkit.explore.ui.styles import content

if TYPE_CHECKING:
    from textual.geometry import Size

    from perfkit.explore.paint import Line


class Lines(Widget):
    """Text that was broken into lines for the width it has."""

    def __init__(self, *, id: str) -> None:  # noqa: A002 - textual's name
        super().__init__(id=id)
        self.lines: tuple[Line, ...] = ()
        self._rows = 0

    def show(self, lines: tuple[Line, ...], *, slack: int = 0) -> None:
        """Other lines; ``slack`` rows may stay empty below them before all is laid out anew."""
        if self.app.has_class("-ascii"):
            lines = tuple(tuple((plain(text), look) for text, look in line) for line in lines)
        before, self.lines = self.lines, lines
        if not self._rows - slack <= len(lines) <= self._rows:
            self._rows = len(lines)
            self.refresh(layout=True)
            return
        if changed := [
            Region(0, y, self.size.width, 1)
            for y, (old, new) in enumerate(zip_longest(before, lines))
            if old != new
        ]:
            self.refresh(*changed)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002
        return self._rows

    def render(self) -> Content:
        """Everything, which is what a selection with the mouse copies from."""
        return content(self.lines)

    def render_line(self, y: int) -> Strip:
        if self.text_selection is not None:
            return super().render_line(y)
        base = self.visual_style
        line = content(self.lines[y : y + 1]).render_segments(base)
        strip = Strip(line).adjust_cell_length(self.size.width, base.rich_style)
        return strip.apply_offsets(0, y)
