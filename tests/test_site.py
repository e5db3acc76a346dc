"""The pages as a site: everything is in its navigation, and every link and anchor leads somewhere.

``make site`` builds it with MkDocs; here its rules are checked without.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from docs import site_hook
from docs.models_page import anchor

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
CONFIG = yaml.safe_load((ROOT / "mkdocs.yml").read_text("utf-8"))
#: every page of the site, and its file in the repository
PAGES = {path.relative_to(DOCS).as_posix(): path for path in sorted(DOCS.rglob("*.md"))} | {
    page: ROOT / file for page, file in site_hook.OUTSIDE.items()
}
#: what is read in the repository: the pages, and its front page
FILES = sorted({ROOT / "README.md", *PAGES.values()})

_HEADING = re.compile(r"^#{1,6} (.*)$", re.MULTILINE)


def entries(nav) -> list[str]:
    if isinstance(nav, str):
        return [nav]
    inner = nav.values() if isinstance(nav, dict) else nav
    return [page for one in inner for page in entries(one)]


def anchors(text: str) -> set[str]:
    """As GitHub numbers them: the second of a name gets ``-1``."""
    found: dict[str, int] = {}
    for heading in _HEADING.findall(site_hook._FENCE.sub("", text)):
        name = anchor(re.sub(r"\[([^\]]*)\]\([^)]*\)|[`\\]", r"\1", heading))
        found[name] = found.get(name, -1) + 1
    return {f"{name}-{n}" if n else name for name, most in found.items() for n in range(most + 1)}


def complaints(file: Path, text: str) -> list[str]:
    """Links of a file of the repository that lead nowhere."""
    wrong = []
    for target in site_hook.links(text):
        path, _, fragment = target.partition("#")
        goal = (file.parent / path).resolve() if path else file
        if not goal.exists():
            wrong.append(f"{target}: no such file")
        elif fragment and fragment not in anchors(goal.read_text("utf-8") if path else text):
            wrong.append(f"{target}: no such heading")
    return wrong


def test_the_navigation_has_every_page_once():
    listed = entries(CONFIG["nav"])
    assert len(listed) > 30
    assert sorted(listed) == sorted(PAGES)
    assert all(path.is_file() for path in PAGES.values())


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(file):
    assert complaints(file, file.read_text("utf-8")) == []


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere_on_the_site(page):
    texts = {name: path.read_text("utf-8") for name, path in PAGES.items()}
    there = {*PAGES, *site_hook.copies(texts)}
    there |= {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.*")}
    for target in site_hook.links(site_hook.rewritten(page, texts[page])):
        goal = (Path("/") / page).parent / target.partition("#")[0]
        if target[0] != "#":
            assert str(goal.resolve().relative_to("/")) in there, target


def test_a_link_that_leads_nowhere_is_found():
    text = "# A head: `x`\n[a](#a-head-x) [b](#b) [c](nowhere.md) [d](faq.md#none) [e](faq.md)\n"
    wrong = complaints(DOCS / "index.md", text)
    assert [one.partition(":")[0] for one in wrong] == ["#b", "nowhere.md", "faq.md#none"]
    assert complaints(DOCS / "index.md", "```\n[c](nowhere.md)\n```\n") == []


def test_links_out_of_the_folder_become_links_of_the_site():
    text = (
        "[a](../archdb/README.md#units) [b](occupancy.md) [c](../examples/coalescing.py) "
        "[d](../README.md) [e](../tests) [f](https://example.org) ![g](images/banks.svg)\n"
        "```text\n[a](../archdb/README.md)\n```\n"
    )
    assert site_hook.rewritten("faq.md", text) == (
        "[a](database.md#units) [b](occupancy.md) [c](files/examples/coalescing.py) "
        "[d](index.md) e [f](https://example.org) ![g](images/banks.svg)\n"
        "```text\n[a](../archdb/README.md)\n```\n"
    )
    assert site_hook.rewritten("commands/gpu.md", "[a](../../archdb/README.md)") == (
        "[a](../database.md)"
    )


def test_what_a_page_loads_from_elsewhere_is_seen():
    page = (
        '<script src="https://a.org/x.js"></script><link rel="icon" href="//b.org/i">'
        '<link rel=stylesheet href="http://c.org/s.css"><img src="https://d.org/p">'
        "<style>@import 'https://e.org/e.css'; a {background: url(https://f.org/g)}</style>"
        '<link rel="canonical" href="https://x.org/"><a href="https://x.org/">a link</a>'
        '<img src="images/a.svg"><script src="assets/https.js"></script><p>src="https://x.org"'
    )
    places = [address.partition("//")[2][0] for address in site_hook.from_elsewhere(page)]
    assert places == ["a", "b", "c", "d", "e", "f"]


def test_nothing_of_the_site_comes_from_elsewhere():
    """What is built is read by the hook, and by tests/test_built_site.py."""
    assert CONFIG["theme"]["font"] is False
    assert not {"extra_css", "extra_javascript"} & set(CONFIG)
    own = CONFIG["extra"]["polyfills"]
    assert all((DOCS / script).is_file() for script in own)
    # by this part of a name the plugin "offline" knows that it need not load one
    assert any("iframe-worker" in script for script in own)
