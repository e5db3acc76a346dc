"""Panels onto the axes of matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from perfkit.report.chart import labels
from perfkit.report.chart.model import Bars, Cells, Lanes, Mark, Panel, Plot, Series
from perfkit.report.chart.theme import DASHES, HATCHES, LIGHT, MARKERS, Theme
from perfkit.report.chart.words import shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: of marks, by kind; ``measured`` and ``predicted`` take that of their slot
_SHAPES: Final = {"present": "o", "cliff": "v", "gain": "^", "ridge": "d"}
_SIZE: Final = 28.0
_POINTS: Final = 72  #: of an inch
#: names in a legend, letters
_NAME_LETTERS: Final = 34
_BAR_LETTERS: Final = 72
#: spans narrower than this share of the axis have no room for text
_READABLE: Final = 0.025


def draw(axes: Axes, panel: Panel, theme: Theme) -> None:
    """One panel."""
    if isinstance(panel, Lanes):
        _lanes(axes, panel, theme)
    elif isinstance(panel, Cells):
        _cells(axes, panel, theme)
    elif isinstance(panel, Bars):
        _bars(axes, panel, theme)
    else:
        _plot(axes, panel, theme)


def has_heading(panel: Panel) -> bool:
    """Whether a title or a legend stands on it."""
    if isinstance(panel, Bars):
        return len(panel.kinds) > 1
    return bool(panel.title) or (isinstance(panel, Plot) and len(_named(panel)) > 1)


def _named(panel: Plot) -> list[str]:
    return [one.name for one in panel.series if one.name and one.draw != "guide"]


def _plot(axes: Axes, panel: Plot, theme: Theme) -> None:
    _axis(axes, panel, theme)
    for one in panel.series:
        _series(axes, one, theme)
    for mark in panel.marks:
        _mark(axes, mark, theme)
    _labels(axes, panel.marks, theme)
    if len(_named(panel)) > 1:
        _legend(axes)
    elif panel.title:
        axes.set_title(panel.title, loc="left", pad=4)


def _legend(axes: Axes, **what: Any) -> None:
    axes.legend(
        loc="lower left",
        bbox_to_anchor=(0, 1),
        ncols=3,
        frameon=False,
        borderpad=0,
        borderaxespad=0.3,
        columnspacing=1.0,
        handlelength=2.0,
        handletextpad=0.5,
        **what,
    )


def _filled(style: int, theme: Theme) -> dict[str, Any]:
    """An area told apart without colours, too."""
    colour, hatch = theme.slots[style], HATCHES[style]
    return {
        "facecolor": theme.paper if hatch else colour,
        "edgecolor": colour,
        "hatch": hatch or None,
        "linewidth": 0.8,
    }


def _axis(axes: Axes, panel: Plot, theme: Theme) -> None:
    for name, one in (("x", panel.x), ("y", panel.y)):
        if one.log:
            axes.set(**{f"{name}scale": "log"})
        # room above the highest value; logarithmic axes bring their own
        room = 0 if one.log or name == "x" else (one.high - one.low) * 0.07
        axes.set(**{f"{name}lim": (one.low, one.high + room), f"{name}label": one.title})
        axis = getattr(axes, f"{name}axis")
        axis.set_ticks([tick.at for tick in one.ticks], [tick.text for tick in one.ticks])
        axis.set_ticks([], minor=True)
    axes.grid(visible=True, color=theme.soft, linewidth=0.4, zorder=0)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def _series(axes: Axes, one: Series, theme: Theme) -> None:
    xs, ys = zip(*one.points, strict=True)
    colour, name = theme.slots[one.style], shortened(one.name, _NAME_LETTERS)
    if one.draw == "guide":
        axes.plot(xs, ys, color=theme.soft, linewidth=0.9, linestyle="solid")
    elif one.draw == "area":
        axes.fill_between(
            xs,
            ys,
            one.base,
            step="post",
            label=name,
            **_filled(one.style, theme),
        )
    else:
        how: dict[str, Any] = {"linestyle": DASHES[one.style]}
        if one.draw == "points":
            how = {"linestyle": "none", "marker": MARKERS[one.style], "markersize": 3}
            how |= {"clip_on": False, "zorder": 4}
        if one.draw == "step":
            how |= {"drawstyle": "steps-post"}
        axes.plot(xs, ys, color=colour, label=name, **how)


def _mark(axes: Axes, mark: Mark, theme: Theme) -> None:
    colour = {"present": theme.ink, "cliff": theme.alarm}.get(mark.kind, theme.slots[mark.style])
    hollow = mark.kind in {"predicted", "ridge"}
    axes.scatter(
        [mark.x],
        [mark.y],
        s=_SIZE if mark.kind != "ridge" else _SIZE * 0.7,
        marker=_SHAPES.get(mark.kind, MARKERS[mark.style]),
        facecolors=theme.paper if hollow else colour,
        edgecolors=colour,
        linewidths=1.1,
        zorder=5,
        clip_on=False,
    )


def _labels(axes: Axes, marks: Sequence[Mark], theme: Theme) -> None:
    # what is asked about keeps the place beside its mark
    marks = sorted(marks, key=lambda mark: mark.kind != "present")
    texts = [shortened(mark.label, _NAME_LETTERS) for mark in marks]
    width, height = (_POINTS * size / axes.figure.dpi for size in axes.bbox.size)
    anchors = [
        labels.Anchor(
            x=_share(axes, "x", mark.x) * width,
            y=_share(axes, "y", mark.y) * height,
            letters=len(text),
            is_below=mark.kind in {"ridge", "cliff"},
        )
        for mark, text in zip(marks, texts, strict=True)
    ]
    offsets = labels.offsets(anchors, width, height)
    for mark, text, offset in zip(marks, texts, offsets, strict=True):
        if text:
            axes.annotate(
                text,
                (mark.x, mark.y),
                xytext=(offset.across, offset.up),
                textcoords="offset points",
                ha="right" if offset.is_left else "left",
                va="bottom",
                fontsize=labels.SIZE,
                color=theme.ink,
                # readable on a curve, and no mark is hidden behind it
                bbox={"facecolor": theme.paper, "edgecolor": "none", "pad": 0.5},
                zorder=4.5,
                weight="bold" if mark.kind == "present" else "normal",
            )


def _share(axes: Axes, name: str, at: float) -> float:
    """Of the axis, from its low end; odd numbers in a file lead out of it."""
    low, high = getattr(axes, f"get_{name}lim")()
    if getattr(axes, f"get_{name}scale")() == "log":
        from math import log

        low, high, at = log(low), log(high), log(at)
    return min(max(float((at - low) / (high - low)), 0.0), 1.0)


def _lanes(axes: Axes, panel: Lanes, theme: Theme) -> None:
    low, high = panel.x.low, panel.x.high
    for span in panel.spans:
        axes.broken_barh(
            [(span.start, span.end - span.start)],
            (span.lane - 0.36, 0.72),
            facecolor=theme.slots[span.style],
            edgecolor=theme.paper,
            linewidth=0.8,
        )
        if span.end - span.start > _READABLE * (high - low):
            axes.text(
                (span.start + span.end) / 2,
                span.lane,
                span.text,
                ha="center",
                va="center",
                fontsize=6.5,
                bbox={"facecolor": theme.paper, "edgecolor": "none", "pad": 0.8},
            )
    axes.set_xlim(low, high)
    axes.set_ylim(len(panel.lanes) - 0.5, -0.5)
    axes.set_xlabel(panel.x.title)
    axes.xaxis.set_ticks([tick.at for tick in panel.x.ticks], [t.text for t in panel.x.ticks])
    axes.yaxis.set_ticks(range(len(panel.lanes)), panel.lanes)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)


def _cells(axes: Axes, panel: Cells, theme: Theme) -> None:
    """Conflicts are bold: readable without colours."""
    from matplotlib.patches import Rectangle

    colours = (theme.paper, theme.slots[4], theme.alarm)
    for y, row in enumerate(panel.cells):
        for x, cell in enumerate(row):
            axes.add_patch(
                Rectangle(
                    (x, y), 1, 1, edgecolor=theme.soft, linewidth=0.4, facecolor=colours[cell.level]
                )
            )
            if cell.text:
                weight = "bold" if cell.level > 1 else "normal"
                axes.text(
                    x + 0.5, y + 0.52, cell.text, ha="center", va="center", fontsize=5,
                    weight=weight, color=LIGHT.ink,
                )  # fmt: skip
    axes.set_xlim(0, len(panel.columns))
    axes.set_ylim(len(panel.rows), 0)
    axes.xaxis.set_ticks([i + 0.5 for i in range(len(panel.columns))], panel.columns)
    axes.yaxis.set_ticks([i + 0.5 for i in range(len(panel.rows))], panel.rows)
    axes.tick_params(length=0, labelsize=5.5)
    axes.set_xlabel(f"{panel.x_title} (blue: {panel.levels[1]}; orange: {panel.levels[2]})")
    axes.set_title(panel.title, loc="left", pad=4)


def _bars(axes: Axes, panel: Bars, theme: Theme) -> None:
    """Names stand on the bars: whatever their length, the bars begin at the same place."""
    for y, bar in enumerate(panel.bars):
        axes.barh(y, bar.value, height=0.74, **_filled(bar.style, theme))
        for x, across, text in (
            (0, 4, shortened(bar.name, _BAR_LETTERS)),
            (bar.value, 3, bar.text),
        ):
            axes.annotate(
                text,
                (x, y),
                xytext=(across, 0),
                textcoords="offset points",
                va="center",
                fontsize=6.5,
                bbox={"facecolor": theme.paper, "edgecolor": "none", "pad": 0.8},
            )
    axes.set_xlim(panel.x.low, panel.x.high)
    axes.set_ylim(len(panel.bars) - 0.5, -0.5)
    axes.set_xlabel(panel.x.title)
    if len(panel.kinds) > 1:
        from matplotlib.patches import Patch

        handles = [
            Patch(**_filled(style, theme), label=kind) for style, kind in enumerate(panel.kinds)
        ]
        _legend(axes, handles=handles)
    axes.xaxis.set_ticks([tick.at for tick in panel.x.ticks], [t.text for t in panel.x.ticks])
    numbers = [str(n) for n in range(1, len(panel.bars) + 1)]
    axes.yaxis.set_ticks(range(len(panel.bars)), numbers)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
