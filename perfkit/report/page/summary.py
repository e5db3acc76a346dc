"""What a page begins with: how everything ended, the worst first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

from perfkit.report.page import markup, outcomes, room
from perfkit.report.page.results import Result
from perfkit.report.page.sections import SECTIONS
from perfkit.report.page.tables import items, value
from perfkit.report.page.titles import title

#: rows that are named in the summary, of each topic
_MOST_NAMED: Final = 5
#: columns whose values say all
_PLAIN: Final = frozenset({"state", "status", "verdict"})
#: what people set up to be told; others answer what was asked
_GATES: Final = frozenset({"gate", "gate-run", "gate-history"})


def name(topic: str) -> str:
    """As the heading of its section."""
    return topic.replace("-", " ").capitalize().replace("Gpu", "GPU")


def by_topic(found: Sequence[Result]) -> dict[str, list[Result]]:
    """Topics with what needs attention first, otherwise as they come."""
    topics: dict[str, list[Result]] = {}
    for one in found:
        topics.setdefault(one.topic, []).append(one)
    order = sorted(topics, key=lambda topic: _urgency(topic, topics[topic]))
    return {topic: topics[topic] for topic in order}


def _urgency(topic: str, mine: Sequence[Result]) -> tuple[int, bool]:
    """To sort by; what went well stands where it came."""
    worst = min(outcomes.worst(_tally(topic), _rows(topic, mine)), outcomes.Level.PLAIN)
    return worst, worst < outcomes.Level.PLAIN and topic not in _GATES


def _tally(topic: str) -> str | None:
    parts = SECTIONS.get(topic, ())
    return parts[0].tally if parts else None


def _rows(topic: str, mine: Sequence[Result]) -> list[Mapping[str, Any]]:
    """Of the table whose outcomes are counted, or where none are of all."""
    parts = SECTIONS.get(topic, ())[: 1 if _tally(topic) else None]
    return [row for part in parts for one in mine for row in items(one.content, part.path)]


def lines(topics: Mapping[str, Sequence[Result]]) -> Iterator[str]:
    """HTML: how many rows of each topic ended how, and the worst by name."""
    count = sum(map(len, topics.values()))
    yield markup.paragraph(f"{_count(count, 'file')} of results: {', '.join(map(name, topics))}.")
    yield markup.points(_line(topic, mine) for topic, mine in topics.items())
    yield from _attention(topics)


def _line(topic: str, mine: Sequence[Result]) -> str:
    """How many rows, and how often each outcome."""
    link = markup.link(f"topic-{topic}", name(topic))
    if not SECTIONS.get(topic):
        return f"{link}: {_count(len(mine), 'file')}"
    rows, key = _rows(topic, mine), _tally(topic)
    text = f"{link}: {_count(len(rows), 'row')}"
    if key is None or not rows:
        return text
    found = Counter(outcome for row in rows if (outcome := outcomes.of(key, row)))
    if found:
        ordered = sorted(found.items(), key=lambda pair: (pair[0].level, -pair[1]))
        counted = (markup.outcome(f"{count} {one.words}", one.look) for one, count in ordered)
        what = "" if key in _PLAIN else f" {title(key)}:"
        return f"{text}:{what} {', '.join(counted)}"
    counts = Counter(_words(value(row, key)) for row in rows)
    said = ", ".join(f"{words} ({count})" for words, count in counts.most_common())
    return f"{text}; {markup.text(f'{title(key)} {said}')}"


def _attention(topics: Mapping[str, Sequence[Result]]) -> Iterator[str]:
    """The rows that are worst, in words, each with a link to its table."""
    found, left = [], 0
    for topic, mine in topics.items():
        key = _tally(topic)
        rows = sorted(_rows(topic, mine), key=partial(outcomes.severity, key))
        ended = ((row, outcomes.of(key, row)) for row in rows)
        bad = [(topic, one, row) for row, one in ended if one and one.level is outcomes.Level.BAD]
        found += bad[:_MOST_NAMED]
        left += len(bad[_MOST_NAMED:])
    if not found:
        return
    yield "<h3>What needs attention</h3>"
    yield markup.points(_named(*one) for one in found)
    if left:
        yield markup.paragraph(f"{left:,} more stand first in their tables.", faint=True)


def _named(topic: str, one: outcomes.Outcome, row: Mapping[str, Any]) -> str:
    word = markup.outcome(one.words, one.look)
    text = markup.abridged(outcomes.said(row), room.LONG[0])
    return f"{word} {markup.link(f'topic-{topic}', name(topic))}: {markup.text(text)}"


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _words(given: object) -> str:
    if isinstance(given, list):
        return " and ".join(map(_words, given)) or "nothing"
    if given is None:
        return "not known"
    return str(given).replace("_", " ")
