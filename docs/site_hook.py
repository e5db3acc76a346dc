"""Makes a site of the pages: MkDocs runs this (``hooks`` in mkdocs.yml), and tests use its rules.

Some pages lie where people look for them in a repository, outside docs/. They become pages of the
site, and links that lead out of docs/ lead to them, or to a copy of the file.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[1]

#: page of the site -> file of the repository
OUTSIDE: Final = {
    "changelog.md": "CHANGELOG.md",
    "contributing.md": "CONTRIBUTING.md",
    "database.md": "archdb/README.md",
    "examples.md": "examples/README.md",
}
_PAGE_OF: Final = {file: page for page, file in OUTSIDE.items()} | {"README.md": "index.md"}
#: where copies of other files go
COPIES: Final = "files"

_FENCE: Final = re.compile(r"^( *)(```|~~~).*?^\1\2", re.DOTALL | re.MULTILINE)
#: what a browser loads by itself; of links those with these relations
_LOADS: Final = {"src", "srcset", "poster", "data"}
_RELATIONS: Final = {"stylesheet", "icon", "preload", "modulepreload", "prefetch", "preconnect"}
_ELSEWHERE: Final = re.compile(r"(?:https?:)?//")
_IN_STYLES: Final = re.compile(r"(?:@import|url\()\s*[\"']?((?:https?:)?//[^\"')\s]+)")
_LINK: Final = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")


def links(markdown: str) -> Iterator[str]:
    """Targets of the links of a page; what stands in code is none."""
    for _, _, target in _LINK.findall(_FENCE.sub("", markdown)):
        if not re.match(r"[a-z]+:", target):
            yield target


def file_of(page: str) -> str:
    """The file of the repository that a page of the site is made of."""
    if page.startswith(f"{COPIES}/"):
        return page.removeprefix(f"{COPIES}/")
    return OUTSIDE.get(page, f"docs/{page}")


def page_of(file: str) -> str | None:
    """The page or copy that stands for a file of the repository; None: folders have none."""
    if file in _PAGE_OF:
        return _PAGE_OF[file]
    if file.startswith("docs/") and (ROOT / file).is_file():
        return file.removeprefix("docs/")
    return f"{COPIES}/{file}" if (ROOT / file).is_file() else None


def resolved(page: str, target: str) -> str:
    """The file or folder of the repository that a link leads to."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(file_of(page)), target))


def rewritten(page: str, markdown: str) -> str:
    """A page whose links lead to other pages of the site; what is on none stays as text."""

    def rewrite(found: re.Match[str]) -> str:
        mark, words, target = found.groups()
        path, hash_, fragment = target.partition("#")
        if not path or re.match(r"[a-z]+:", target):
            return found[0]
        goal = page_of(resolved(page, path))
        # a copied page would lead on and on
        if goal is None or (page.startswith(COPIES) and goal.startswith(COPIES)):
            return words
        there = posixpath.relpath(goal, posixpath.dirname(page) or ".")
        return f"{mark}[{words}]({there}{hash_}{fragment})"

    parts, end = [], 0
    for fence in _FENCE.finditer(markdown):
        parts += [_LINK.sub(rewrite, markdown[end : fence.start()]), fence[0]]
        end = fence.end()
    return "".join([*parts, _LINK.sub(rewrite, markdown[end:])])


def copies(pages: dict[str, str]) -> set[str]:
    """Pages that are copies of other files, and that the given pages lead to."""
    found = set()
    for page, markdown in pages.items():
        for target in links(markdown):
            goal = page_of(resolved(page, target.partition("#")[0])) if target[0] != "#" else None
            if goal is not None and goal.startswith(f"{COPIES}/"):
                found.add(goal)
    return found


def on_config(config: Any) -> Any:
    """Anchors as GitHub makes them, so that one link serves both."""
    from pymdownx.slugs import slugify

    config.mdx_configs["toc"]["slugify"] = slugify(case="lower")
    return config


def on_files(files: Any, config: Any) -> Any:
    """The pages from outside, and what they lead to."""
    from mkdocs.structure.files import File, InclusionLevel

    def add(page: str, inclusion: Any) -> None:
        path = str(ROOT / file_of(page))
        files.append(File.generated(config, page, abs_src_path=path, inclusion=inclusion))

    for page in OUTSIDE:
        add(page, InclusionLevel.INCLUDED)
    pages = {
        file.src_uri: (ROOT / file_of(file.src_uri)).read_text("utf-8")
        for file in files.documentation_pages()
    }
    for page in sorted(copies(pages)):
        add(page, InclusionLevel.NOT_IN_NAV)
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """The links of one page."""
    return rewritten(page.file.src_uri, markdown)


class _Loads(HTMLParser):
    """Addresses that a page makes a browser ask."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        loads = [given[name] for name in sorted(_LOADS & given.keys())]
        if tag == "link" and _RELATIONS & set(given.get("rel", "").split()):
            loads.append(given.get("href", ""))
        self.found += [address for address in loads if _ELSEWHERE.match(address)]


def from_elsewhere(text: str) -> list[str]:
    """What a page or a style sheet makes a browser load from another place."""
    return _Loads(text).found + _IN_STYLES.findall(text)


def on_post_build(config: Any) -> None:
    """A site that loads anything from elsewhere is not built."""
    from mkdocs.exceptions import PluginError

    site = Path(config.site_dir)
    for path in sorted([*site.rglob("*.html"), *site.rglob("*.css")]):
        if found := from_elsewhere(path.read_text("utf-8")):
            raise PluginError(f"{path.relative_to(site)} loads from elsewhere: {', '.join(found)}")
