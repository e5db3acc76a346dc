"""Results -> one HTML page: summary, a section for each topic, and what stands behind them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from perfkit.errors import NoExtra
from perfkit.report import charts
from perfkit.report.chart import figure, svg
from perfkit.report.chart.theme import TOKENS
from perfkit.report.page import about, markup, room, shell, summary
from perfkit.report.page.results import Result, shortened
from perfkit.report.page.sections import SECTIONS
from perfkit.report.page.tables import items, tables
from perfkit.report.schema import title as title_of

if TYPE_CHECKING:
    from perfkit.report.chart.model import Chart

#: charts of one topic, and of a page: most take a tenth of a second and 20 KB
_MOST_OF_A_TOPIC: Final = 6
_MOST_CHARTS: Final = 24
_MOST_CHART_BYTES: Final = 600_000
_MOST_NOTES: Final = 40
#: marks of a chart in words
_MOST_WORDS: Final = 12


def render(
    found: Sequence[Result], *, title: str, failed: Sequence[str] = ()
) -> tuple[str, str | None]:
    """The page, and why it has no charts where it could have had some.

    Args:
        found: the results, at least one.
        title: of the page.
        failed: what could not be read, in words.
    """
    found = shortened(found)
    drawing = _Drawing()
    by_topic = summary.by_topic(found)
    topics = list(by_topic)
    fitted = room.fitted({topic: tables(topic, mine) for topic, mine in by_topic.items()})
    parts = [_topic(topic, mine, fitted[topic], drawing) for topic, mine in by_topic.items()]
    closing = [
        ("evidence", "Evidence", about.evidence(found)),
        ("repeat", "How to repeat it", about.repeat(found)),
        ("environment", "Environment", about.environment(found)),
    ]
    links = [("summary", "Summary"), *((f"topic-{t}", summary.name(t)) for t in topics)]
    links += [(name, heading) for name, heading, body in closing if body]
    body = [
        markup.section("summary", "Summary", _summary(by_topic, failed, drawing)),
        *parts,
        *(markup.section(name, heading, [part]) for name, heading, part in closing if part),
    ]
    return shell.whole(title, body, links=links), drawing.missing


class _Drawing:
    """The charts of a page, as long as there is room."""

    def __init__(self) -> None:
        self.count = 0
        self.left_out = 0
        self.size = 0
        self.missing: str | None = None  #: why there are none

    def of(self, found: Sequence[Result]) -> Iterator[str]:
        """The charts of one topic's results; beyond the limits they are not even described."""
        overview = charts.overview(found[0].topic, [one.content for one in found])
        yield from self._figures(overview)
        here = len(overview)
        for one in found:
            if self.missing is not None:
                return
            if here >= _MOST_OF_A_TOPIC or self.count >= _MOST_CHARTS:
                self.left_out += 1
                continue
            drawn = charts.of(one.topic, one.content, most=_MOST_OF_A_TOPIC - here)
            here += len(drawn)
            yield from self._figures(drawn)

    def _figures(self, drawn: Sequence[Chart]) -> Iterator[str]:
        for chart in drawn:
            if self.missing is None and (text := self._figure(chart)) is not None:
                yield text

    def _figure(self, chart: Chart) -> str | None:
        try:
            drawn = figure.render_svg(chart, TOKENS)
        except NoExtra as error:
            self.missing = f"{error.message} ({str(error.hint).partition(';')[0]})"
            return None
        if self.size + len(drawn) > _MOST_CHART_BYTES:
            self.left_out += 1
            return None
        self.count += 1
        self.size += len(drawn)
        words = "; ".join(list(_words(chart))[:_MOST_WORDS])
        caption = f"<figcaption>{markup.text(words)}</figcaption>" if words else ""
        return f"<figure>{svg.inline(drawn, f'c{self.count}-')}{caption}</figure>"


def _words(chart: Chart) -> Iterator[str]:
    """What the marks mean."""
    for panel in chart.panels:
        marks = getattr(panel, "marks", ())
        yield from (markup.abridged(mark.text, room.LONG[0]) for mark in marks if mark.text)


def _topic(
    topic: str, mine: Sequence[Result], shown: Sequence[room.Shown], drawing: _Drawing
) -> str:
    notes = dict.fromkeys(note for one in mine for note in _notes(one))
    listed, _ = room.listed(list(notes)[:_MOST_NOTES])
    left = len(notes) - len(listed)
    parts = [
        markup.paragraph(title_of(topic), faint=True),
        *drawing.of(mine),
        *(part for one in shown for part in _with_note(one)),
        markup.folded("Notes", markup.listing(listed)) if notes else "",
        markup.paragraph(f"{left:,} more notes are in the files") if left > 0 else "",
    ]
    return markup.section(f"topic-{topic}", summary.name(topic), parts)


def _with_note(one: room.Shown) -> tuple[str, ...]:
    # before the table, which may be long
    return (one.html,) if one.note is None else (markup.paragraph(one.note), one.html)


def _notes(one: Result) -> Iterator[str]:
    rows = SECTIONS.get(one.topic, ())
    holders = [one.content, *(row for part in rows for row in items(one.content, part.path))]
    for holder in holders:
        yield from (note for note in holder.get("notes") or () if isinstance(note, str))


def _summary(
    by_topic: Mapping[str, Sequence[Result]], failed: Sequence[str], drawing: _Drawing
) -> Iterator[str]:
    yield from summary.lines(by_topic)
    if drawing.missing:
        yield markup.paragraph(f"Without charts: {drawing.missing}")
    if drawing.left_out:
        yield markup.paragraph(
            f"The first results of each kind are drawn; {drawing.left_out:,} others are in the "
            "tables alone, and '--chart' of their command draws them.",
            faint=True,
        )
    if failed:
        yield markup.paragraph("Left out, as they could not be read:")
        texts, more = room.listed(failed)
        yield markup.listing(texts)
        if more:
            yield markup.paragraph(more)
