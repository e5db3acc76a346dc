"""The page in a real browser, where there are one and Playwright: ``pip install playwright``."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from perfkit.cli.app import main

GOLDEN = Path(__file__).parents[2] / "golden"
CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
COMMANDS = {
    "occupancy": "occupancy -g all -t 256 -r 40 -s 16K",
    "roofline": "roofline -g h100,a100 --dtype f16 --op gemm:4096 --time 0.5ms",
    "overlap": "overlap --h2d 1G --kernel-ms 20 --link pcie4x16 --chunks 4",
}


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("no Chromium on PATH")
    with playwright.sync_playwright() as started:
        found = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    files = []
    for name, command in COMMANDS.items():
        files.append(str(folder / f"{name}.json"))
        assert main([*command.split(), "-f", "json", "-o", files[-1], "-q"]) == 0
    content = json.loads((folder / "occupancy.json").read_text("utf-8"))
    content["results"][0]["kernel"] = "<script>document.title = 'hacked'</script><img src=x>"
    (folder / "occupancy.json").write_text(json.dumps(content), "utf-8")
    files.append(str(GOLDEN / "gate.json"))
    page = folder / "report.html"
    assert main(["report", *files, "-o", str(page)]) == 0
    return page


class Opened:
    """A page, and everything that it complained about or asked for."""

    def __init__(self, browser, path, **options):
        self.context = browser.new_context(viewport={"width": 1100, "height": 900}, **options)
        self.page = self.context.new_page()
        self.said, self.asked = [], []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(path.as_uri())


@pytest.fixture
def opened(browser, path):
    found = Opened(browser, path)
    yield found
    assert found.said == []
    assert found.asked == [path.as_uri()]
    found.context.close()


def column(page, number):
    return page.evaluate(
        "n => Array.from(document.querySelector('#topic-occupancy').parentNode.querySelector("
        "'table.data').tBodies[0].rows).filter(r => !r.hidden).map(r => r.cells[n].textContent)",
        number,
    )


def place(page, title):
    titles = page.locator("section:has(#topic-occupancy) thead th").all_inner_texts()
    return next(n for n, text in enumerate(titles) if text.startswith(title))


def test_nothing_that_a_result_holds_runs(opened):
    assert opened.page.title() == "perfkit report"
    assert "<script>document.title" in opened.page.locator("#topic-occupancy ~ div").inner_text()
    assert opened.page.locator("img").count() == 0


def test_columns_sort_by_their_numbers_with_the_keyboard(opened):
    page = opened.page
    at = place(page, "occupancy")
    before = column(page, at)
    head = page.locator("section:has(#topic-occupancy) thead th").nth(at)
    head.locator("button").focus()
    page.keyboard.press("Enter")
    assert head.get_attribute("aria-sort") == "ascending"
    numbers = [float(text.rstrip("%")) for text in column(page, at)]
    assert numbers == sorted(numbers)
    assert len(numbers) == len(before) >= 20
    page.keyboard.press("Space")
    assert head.get_attribute("aria-sort") == "descending"
    numbers = [float(text.rstrip("%")) for text in column(page, at)]
    assert numbers == sorted(numbers, reverse=True)
    others = page.locator("section:has(#topic-occupancy) thead th").all()
    assert [one.get_attribute("aria-sort") for one in others].count("none") == len(others) - 1


def test_absent_values_come_last_either_way(opened):
    page = opened.page
    kernel = page.locator("section:has(#topic-occupancy) thead th").nth(place(page, "kernel"))
    for _ in range(2):
        kernel.locator("button").click()
        values = column(page, place(page, "kernel"))
        assert values[0].startswith("<script>")
        assert set(values[1:]) == {"-"}


def test_rows_are_filtered_by_words(opened):
    page = opened.page
    box = page.locator("section:has(#topic-occupancy)").get_by_label("Filter").first
    total = len(column(page, 0))
    box.fill("KIB 12.1")
    names = column(page, place(page, "target"))
    assert names == ["12.1"]
    status = page.locator("section:has(#topic-occupancy) [role=status]").first
    assert status.inner_text() == f"1 of {total} rows"
    box.fill("")
    assert len(column(page, 0)) == total


def test_the_keyboard_reaches_everything_and_shows_where_it_is(opened):
    page = opened.page
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    assert page.locator(".skip").bounding_box()["x"] >= 0
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    seen = []
    for _ in range(600):
        page.keyboard.press("Tab")
        found = page.evaluate(
            "(e => [e.tagName, e.type || '', getComputedStyle(e).outlineStyle])"
            "(document.activeElement)"
        )
        if found[0] == "BODY":
            break
        seen.append(found)
    kinds = {(tag, kind) for tag, kind, _ in seen}
    assert {("BUTTON", "button"), ("INPUT", "search"), ("SUMMARY", ""), ("DIV", "")} <= kinds
    assert all(outline != "none" for *_, outline in seen)
    visible = page.locator("main button:visible, main input:visible, main summary").count()
    assert len(seen) >= visible


def test_it_prints_with_everything_open(browser, path, opened):
    page = opened.page
    assert page.locator("details:not([open])").count() >= 2
    page.emulate_media(media="print")
    assert not page.locator("nav").is_visible()
    assert not page.locator(".filter").first.is_visible()
    pages = page.pdf().count(b"/Type /Page\n")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("details:not([open])").count() == 0
    frames = "Array.from(document.querySelectorAll('.wide'))"
    assert page.evaluate(f"{frames}.every(e => e.scrollHeight <= e.clientHeight + 1)")
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("details[open]").count() == 0
    assert pages >= 3


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_is_as_light_as_the_readers_system(browser, path, scheme):
    found = Opened(browser, path, color_scheme=scheme)
    colours = found.page.evaluate(
        "[getComputedStyle(document.documentElement).getPropertyValue('--paper'),"
        " getComputedStyle(document.querySelector('svg path')).fill]"
    )
    light = {"light": ["#ffffff", "rgb(255, 255, 255)"], "dark": ["#0d1117", "rgb(13, 17, 23)"]}
    assert [colours[0].strip(), colours[1]] == light[scheme]
    found.context.close()


def test_it_is_readable_without_its_script(browser, path):
    found = Opened(browser, path, java_script_enabled=False)
    assert found.page.locator("section:has(#topic-roofline) tbody tr").count() == 2
    assert found.page.locator("figure svg").first.is_visible()
    assert found.page.locator("button").count() == 0
    assert found.said == []
    found.context.close()


#: lowest ratio of luminances of a text and what is behind it, by what the text is in
CONTRASTS = """() => {
  const numbers = (text) => (text.match(/[\\d.]+/g) || [0, 0, 0, 0]).map(Number);
  const linear = (v) => ((v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  const light = (c) => 0.2126 * linear(c[0]) + 0.7152 * linear(c[1]) + 0.0722 * linear(c[2]);
  const resolved = (colour) => {
    const probe = document.createElement("i");
    probe.style.color = colour;
    document.body.append(probe);
    const found = numbers(getComputedStyle(probe).color);
    probe.remove();
    return found;
  };
  const canvas = resolved("Canvas");
  const behind = (node) => {
    for (; node; node = node.parentElement) {
      const found = numbers(getComputedStyle(node).backgroundColor);
      if (found.length < 4 || found[3] > 0) return found;
    }
    return canvas;
  };
  const lowest = {};
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const parent = texts.currentNode.parentElement;
    if (!texts.currentNode.textContent.trim() || parent.closest("svg, script, style")) continue;
    const pair = [numbers(getComputedStyle(parent).color), behind(parent)].map(light);
    const ratio = (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05);
    lowest[parent.tagName] = Math.min(ratio, lowest[parent.tagName] || 99);
  }
  return lowest;
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_has_the_contrast_that_wcag_asks_for(browser, path, scheme):
    found = Opened(browser, path, color_scheme=scheme)
    ratios = found.page.evaluate(CONTRASTS)
    assert {"H1", "H2", "TD", "BUTTON", "A", "P", "SUMMARY", "CODE"} <= set(ratios)
    assert {tag for tag, ratio in ratios.items() if ratio < 4.5} == set()
    weights = found.page.evaluate(
        "['bad', 'good'].map(name => getComputedStyle(document.querySelector(`td.${name}`)))"
        ".map(style => [Number(style.fontWeight), style.color])"
    )
    assert weights[0][0] > weights[1][0]
    assert weights[0][1] != weights[1][1]
    names = found.page.evaluate(
        "Array.from(document.querySelectorAll('svg')).map(one => one.getAttribute('aria-label'))"
    )
    assert names
    assert all(names)
    found.context.close()
