"""What is done to matplotlib's SVG: a description, a colour scheme, a place in a page."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING, Final

from perfkit.report.chart.theme import named
from perfkit.report.chart.words import clean

if TYPE_CHECKING:
    from perfkit.report.chart.model import Chart

_OPENING: Final = re.compile(r"<svg\b[^>]*>")
_ID: Final = re.compile(r'(\bid="|url\(#|href="#)')
_TOKEN: Final = re.compile(r"#fa00[01]\d")
_NAMESPACES: Final = re.compile(r'\s(?:xmlns(?::xlink)?|version)="[^"]*"')


def described(text: str, chart: Chart) -> str:
    """With title and description for those who do not see it, and without a document type."""
    text = text[text.index("<svg") :]
    title, summary = escape(clean(chart.title)), escape(clean(chart.summary))
    return _OPENING.sub(
        lambda found: (
            f'{found[0][:-1]} role="img" aria-label="{title}">'
            f"<title>{title}</title><desc>{summary}</desc>"
        ),
        text,
        count=1,
    )


def variables() -> tuple[str, str]:
    """Style declarations of every colour, light and dark."""
    both = list(named().values())
    return (
        "".join(f"{name}:{light};" for name, light, _ in both),
        "".join(f"{name}:{dark};" for name, _, dark in both),
    )


def with_scheme(text: str) -> str:
    """A file of its own that is light or dark as the reader's system is."""
    light, dark = variables()
    style = f"<style>svg{{{light}}}@media(prefers-color-scheme:dark){{svg{{{dark}}}}}</style>"
    head, end, rest = _coloured(text).partition("</desc>")
    return head + end + style + rest


def inline(text: str, prefix: str) -> str:
    """A part of a page that has the variables; ``prefix`` keeps its ids apart from others."""
    text = _ID.sub(lambda found: found[1] + prefix, _coloured(text))
    text = text.replace("xlink:href=", "href=")
    opening = _OPENING.search(text)
    if opening is None:
        return text
    return _NAMESPACES.sub("", opening[0]) + text[opening.end() :]


def _coloured(text: str) -> str:
    """``var(--ink, #1f2328)``: what knows no variables is light."""
    known = named()
    return _TOKEN.sub(lambda found: "var({}, {})".format(*known[found[0]][:2]), text)
