"""``--chart``: the options, and what becomes of them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from perfkit.cli import talk
from perfkit.cli.stdout import is_colour_terminal, knows_unicode
from perfkit.errors import UsageError
from perfkit.record import record

if TYPE_CHECKING:
    from perfkit.report.chart.model import Chart

#: draw in the terminal
HERE: Final = "-"
_KINDS: Final = (".svg", ".png")
_WIDTHS: Final = (40, 120)


class ChartTheme(StrEnum):
    LIGHT = "light"
    DARK = "dark"
    AUTO = "auto"


@record
class ChartOptions:
    """Whether and how to draw the result."""

    chart: Annotated[
        str | None,
        typer.Option(
            "--chart", metavar="FILE", help="Draw it: FILE.svg, FILE.png, or - in the terminal."
        ),
    ] = None
    chart_theme: Annotated[
        ChartTheme,
        typer.Option("--chart-theme", help="Of the file; auto: an SVG as its reader's system is."),
    ] = ChartTheme.LIGHT

    @property
    def is_here(self) -> bool:
        return self.chart == HERE

    def takes_stdout(self, output: Path | None) -> bool:
        """Whether the chart stands where the result would stand."""
        return self.is_here and output is None

    def check(self, *, is_table: bool, output: Path | None) -> None:
        """Refuse, before anything is computed, what cannot become a chart.

        Args:
            is_table: the result is to be a table, whose place a chart may take.
            output: file of the result; None: stdout.

        Raises:
            UsageError: neither a terminal nor a file of a known kind, or the result and a chart
                both go to stdout.
            NoExtra: a file, and matplotlib is not installed.
        """
        if self.chart is None:
            return
        if self.takes_stdout(output) and not is_table:
            raise UsageError(
                "--chart - and the result, which is no table, both go to stdout",
                hint="write one of them to a file: --chart chart.svg, or --output FILE",
            )
        if self.is_here:
            return
        if Path(self.chart).suffix.lower() not in _KINDS:
            raise UsageError(
                f"--chart {self.chart!r}: neither .svg nor .png",
                hint="write --chart chart.svg, or --chart - to draw in the terminal",
            )
        from perfkit.report.chart import figure

        figure.require()

    def drawn(self, topic: str, content: Mapping[str, Any]) -> str | None:
        """The charts of a result as text for the terminal; None: they are in files, or not wanted.

        Raises:
            UsageError: nothing in the result can be drawn, or a file cannot be written.
        """
        if self.chart is None:
            return None
        from perfkit.report import charts

        found = charts.of(topic, content)
        if not found:
            raise UsageError(
                "--chart: nothing in this result can be drawn", hint="leave out --chart"
            )
        if self.is_here:
            from perfkit.report.chart import terminal

            return "\n".join(terminal.render(chart, _look()) for chart in found)
        for chart, path in zip(found, _paths(Path(self.chart), len(found)), strict=True):
            self._save(chart, path)
            talk.note(f"chart: {path}")
        return None

    def _save(self, chart: Chart, path: Path) -> None:
        from perfkit.cli.emit import replacing
        from perfkit.report.chart import figure

        theme = figure.THEMES[self.chart_theme.value]
        with replacing(path, "--chart") as partial:
            if path.suffix.lower() == ".png":
                partial.write_bytes(figure.render_png(chart, theme))
            else:
                text = figure.render_svg(chart, theme)
                partial.write_text(text, encoding="utf-8", errors="backslashreplace")


def _paths(path: Path, count: int) -> list[Path]:
    """``chart-1.svg``, ``chart-2.svg`` where there are several."""
    if count == 1:
        return [path]
    return [path.with_name(f"{path.stem}-{n}{path.suffix}") for n in range(1, count + 1)]


def _look() -> Any:
    from perfkit.report.chart.terminal import Look

    low, high = _WIDTHS
    return Look(
        width=min(high, max(low, shutil.get_terminal_size().columns)),
        is_ascii=not knows_unicode() or os.environ.get("TERM") == "dumb",
        is_coloured=is_colour_terminal(),
    )
