"""A site of one page as MkDocs builds it, where MkDocs is: ``make site`` brings it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from docs.site_hook import from_elsewhere

ROOT = Path(__file__).resolve().parents[1]
MKDOCS = ROOT / ".venv" / "site" / "bin" / "mkdocs"
CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)


def build(folder: Path, **more: object) -> subprocess.CompletedProcess[str]:
    """With everything that mkdocs.yml says but its pages."""
    command = [str(MKDOCS)] if MKDOCS.exists() else [sys.executable, "-m", "mkdocs"]
    if not MKDOCS.exists() and not (find_spec("mkdocs") and find_spec("material")):
        pytest.skip("MkDocs is not installed: make site")
    docs = folder / "docs"
    docs.mkdir()
    shutil.copytree(ROOT / "docs" / "assets", docs / "assets")
    (docs / "index.md").write_text("# Head\n\nThe carveout.\n", "utf-8")
    config = {
        "INHERIT": str(ROOT / "mkdocs.yml"),
        "docs_dir": str(docs),
        "site_dir": str(folder / "site"),
        "nav": ["index.md"],
        "hooks": [str(folder / "hook.py")],
        **more,
    }
    # of the hook what looks at the result: the pages from outside are not here
    (folder / "hook.py").write_text(
        f"import sys\nsys.path.insert(0, {str(ROOT)!r})\nfrom docs.site_hook import on_post_build\n"
    )
    path = folder / "mkdocs.yml"
    path.write_text(json.dumps(config), "utf-8")  # YAML, too
    return subprocess.run(
        [*command, "build", "--strict", "-f", str(path)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    done = build(folder)
    assert done.returncode == 0, done.stderr
    return folder / "site"


def test_nothing_of_it_comes_from_elsewhere(site):
    pages = sorted(site.rglob("*.html"))
    assert {page.name for page in pages} >= {"404.html", "index.html"}
    assert all("iframe-worker.js" in page.read_text("utf-8") for page in pages)
    assert [from_elsewhere(page.read_text("utf-8")) for page in pages] == [[]] * len(pages)
    assert (site / "assets" / "iframe-worker.js").is_file()


def test_a_site_that_would_load_something_is_not_built(tmp_path):
    done = build(tmp_path, extra={"polyfills": ["https://example.org/iframe-worker"]})
    assert done.returncode != 0
    assert "loads from elsewhere: https://example.org/iframe-worker" in done.stderr


def test_search_answers_on_pages_from_the_disk(site):
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("no Chromium on PATH")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1300, "height": 900})
        asked, said = [], []
        page.on("request", lambda request: asked.append(request.url))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto((site / "index.html").as_uri())
        page.locator(".md-search__input").click()
        page.keyboard.type("carveout")
        page.locator(".md-search-result__item").wait_for()
        assert "The carveout" in page.locator(".md-search-result__item").inner_text()
        browser.close()
    assert said == []
    assert len(asked) > 3
    assert {address.partition(":")[0] for address in asked} <= {"file", "data"}
