"""The page around the parts: one file that needs nothing beside it, no network and no font.

It is readable without its script, which sorts and filters. A content security policy allows that
script by its hash and nothing else, so that no name in a result can run anything.
"""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Sequence
from pathlib import Path

from perfkit.report.chart import svg
from perfkit.report.page import markup


def whole(title: str, body: Sequence[str], *, links: Sequence[tuple[str, str]] = ()) -> str:
    """A page with a heading, links to its sections, and ``body``, which is HTML."""
    here = Path(__file__).parent
    script = (here / "page.js").read_text("utf-8")
    light, dark = svg.variables()
    style = (here / "page.css").read_text("utf-8") + (
        f":root {{ {light} }}\n@media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}\n"
        f"@media print {{ :root {{ {light} color-scheme: light; }} }}\n"
    )
    digest = b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = (
        "default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'unsafe-inline'; "
        f"script-src 'sha256-{digest}'"
    )
    menu = "".join(f'<li><a href="#{name}">{markup.text(text)}</a></li>' for name, text in links)
    return "\n".join(
        (
            "<!doctype html>",
            '<html lang="en"><head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{markup.text(title)}</title>",
            f"<style>{style}</style></head>",
            '<body><a class="skip" href="#main">Skip to the results</a>',
            f"<header><h1>{markup.text(title)}</h1>",
            f'<nav aria-label="Contents"><ul>{menu}</ul></nav></header>' if menu else "</header>",
            '<main id="main" tabindex="-1">',
            *body,
            "</main>",
            f"<script>{script}</script></body></html>\n",
        )
    )
