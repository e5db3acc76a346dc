"""Chart -> SVG and PNG, through matplotlib.

The layout is in inches and depends on no measured text, so that a figure is the same with every
version of fonts and renderer; text stays text in SVG. Nothing says when it was made.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Final

from perfkit.errors import NoExtra
from perfkit.report.chart import panels, svg
from perfkit.report.chart.model import Bars, Cells, Chart, Lanes, Panel
from perfkit.report.chart.theme import DARK, LIGHT, TOKENS, Theme
from perfkit.report.chart.words import shortened

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: the text width of a page; inches, as everything here
WIDTH: Final = 7.0
_LEFT, _RIGHT, _GAP, _BOTTOM = 0.72, 0.15, 0.62, 0.5
#: over the panels: title and summary, and what stands on a panel
_TOP, _LINE, _ON_A_PANEL = 0.55, 0.15, 0.25
_PLOT_HEIGHT, _ONE_PLOT_HEIGHT = 2.0, 3.2
_LANE_HEIGHT, _ROW_HEIGHT, _BAR_HEIGHT = 0.38, 0.19, 0.22
_MOST_ROWS_HEIGHT: Final = 8.0
_PNG_DPI: Final = 200
_TITLE_LETTERS: Final = 92
_MOST_LINES: Final = 6

_STYLE: Final[dict[str, Any]] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "perfkit",
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Helvetica", "Arial"],
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.labelsize": 8,
    "legend.fontsize": 7,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "axes.linewidth": 0.7,
    "lines.linewidth": 1.4,
    "hatch.linewidth": 0.5,
    "path.simplify": False,
    "text.parse_math": False,  # $ in a name is a letter
}


def require() -> None:
    """Raise ``NoExtra`` where matplotlib is not installed."""
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError:
        raise NoExtra(
            "charts as SVG and PNG need matplotlib, which is not installed",
            hint="pip install 'perfkit[plot]'; '--chart -' draws in the terminal",
        ) from None


def render_svg(chart: Chart, theme: Theme | None) -> str:
    """One SVG document; ``None``: light or dark as the reader's system is.

    Raises:
        NoExtra: matplotlib is not installed.
    """
    from io import StringIO

    buffer = StringIO()
    # without any of these there is no metadata, so no date and no address
    nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    _save(chart, theme or TOKENS, buffer, format="svg", metadata=nothing)
    text = svg.described(buffer.getvalue(), chart)
    return text if theme else svg.with_scheme(text)


def render_png(chart: Chart, theme: Theme | None) -> bytes:
    """One PNG; light if the theme is left to the reader; raises as ``render_svg``."""
    from io import BytesIO

    buffer = BytesIO()
    software = {"Software": None}
    _save(chart, theme or LIGHT, buffer, format="png", dpi=_PNG_DPI, metadata=software)
    return buffer.getvalue()


def _save(chart: Chart, theme: Theme, buffer: Any, **how: Any) -> None:
    require()
    from matplotlib import rc_context

    colours = {
        **dict.fromkeys(("text.color", "axes.edgecolor", "axes.labelcolor"), theme.ink),
        **dict.fromkeys(("xtick.color", "ytick.color"), theme.ink),
        **dict.fromkeys(("figure.facecolor", "axes.facecolor", "savefig.facecolor"), theme.paper),
    }
    style: Any = {**_STYLE, **colours}
    with rc_context(style), warnings.catch_warnings():
        # a name may hold letters that the font does not have: they become boxes
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        _figure(chart, theme).savefig(buffer, **how)


def _figure(chart: Chart, theme: Theme) -> Figure:
    from matplotlib.figure import Figure

    height = max(_height(panel, len(chart.panels)) for panel in chart.panels)
    said = _lines(chart.summary)
    top = _TOP + _LINE * (len(said) - 1)
    top += _ON_A_PANEL if any(map(panels.has_heading, chart.panels)) else 0
    whole = top + height + _BOTTOM
    figure = Figure(figsize=(WIDTH, whole))
    left = 0.12 / WIDTH
    figure.text(
        left, 1 - 0.2 / whole, shortened(chart.title, _TITLE_LETTERS), weight="bold", size=9
    )
    for number, line in enumerate(said):
        figure.text(left, 1 - (0.38 + _LINE * number) / whole, line, size=7)
    count = len(chart.panels)
    width = (WIDTH - _LEFT - _RIGHT - _GAP * (count - 1)) / count
    for number, panel in enumerate(chart.panels):
        left = (_LEFT + number * (width + _GAP)) / WIDTH
        place = (left, _BOTTOM / whole, width / WIDTH, height / whole)
        panels.draw(figure.add_axes(place), panel, theme)
    return figure


def _lines(summary: str) -> list[str]:
    """As many parts on a line as have room, none of them on two; of many the first."""
    first, *rest = summary.split("; ")
    lines = [first]
    for part in rest:
        longer = f"{lines[-1]}; {part}"
        lines[-1:] = [longer] if len(longer) <= _TITLE_LETTERS else [lines[-1], part]
    lines = [shortened(line, _TITLE_LETTERS) for line in lines]
    left = len(lines) - _MOST_LINES
    return lines if left <= 0 else [*lines[: _MOST_LINES - 1], f"and {left + 1} more"]


def _height(panel: Panel, count: int) -> float:
    if isinstance(panel, Lanes):
        return _LANE_HEIGHT * len(panel.lanes)
    if isinstance(panel, Bars):
        return min(_MOST_ROWS_HEIGHT, _BAR_HEIGHT * len(panel.bars))
    if isinstance(panel, Cells):
        return min(_MOST_ROWS_HEIGHT, _ROW_HEIGHT * len(panel.rows))
    return _ONE_PLOT_HEIGHT if count == 1 else _PLOT_HEIGHT


#: names of ``--chart-theme``; the reader's system decides of ``auto``
THEMES: Final[dict[str, Theme | None]] = {"light": LIGHT, "dark": DARK, "auto": None}
