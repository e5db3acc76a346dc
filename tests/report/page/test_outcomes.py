"""What a page shows first, and how outcomes, titles and names look."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from perfkit.report.page import page
from perfkit.report.page.results import Result
from perfkit.report.page.tables import tables
from tests.report.page.test_page import RESULTS, occupancy


def verdict(status, **more):
    return {"benchmark": f"{status}-{more.get('ratio')}", "status": status, **more}


def test_what_needs_attention_comes_first():
    rows = [
        verdict("pass", reason="within"),
        verdict("inconclusive", reason="too_noisy"),
        verdict("fail", ratio=1.1, message="10% slower"),
        verdict("fail", ratio=1.5, message="50% slower"),
    ]
    gate = Result(name="g", topic="gate", content={"verdicts": rows})
    ((table, _),) = tables("gate", [gate])
    places = {column.key: n for n, column in enumerate(table.columns)}
    assert places["status"] == 0
    assert [row[0].text for row in table.rows] == ["FAIL", "FAIL", "inconclusive", "pass"]
    assert [row[0].look for row in table.rows] == ["bad", "bad", "open", "good"]
    assert [row[places["benchmark"]] for row in table.rows][:2] == ["fail-1.5", "fail-1.1"]
    assert table.rows[2][places["reason"]] == "too noisy"
    text, _ = page.render([occupancy(), gate], title="t")
    assert text.index('id="topic-gate"') < text.index('id="topic-occupancy"')
    summary = text[text.index('id="summary"') : text.index('id="topic-gate"')]
    words = " ".join(re.sub(r"<[^>]*>", " ", summary).split())
    assert "Gate : 4 rows: 2 FAIL , 1 inconclusive , 1 pass" in words
    assert "What needs attention FAIL Gate : fail-1.5: 50% slower FAIL Gate : fail-1.1" in words


def test_a_kernel_that_failed_says_why_and_on_which_card():
    (one,) = [one for one in RESULTS if one.name == "measure-several-cards.json"]
    text, _ = page.render([one], title="t")
    for card in ("device 0", "device 1"):
        assert f"hang, {card}: it ran longer than 60 s and was ended; a kernel may hang<" in text


def test_a_check_that_differs_says_how_often_and_what_differs_says_which_check():
    one = {"configuration": "8 chunks", "predicted": "6 ms", "measured": "7 ms"}
    check = {"name": "overlap", "status": "fail", "compared": 1530, "differing": 29}
    checks = [{**check, "differences": [one], "pairs": []}]
    cards = [{"environment": {"device": "H200"}, "checks": checks}]
    found = Result(name="v", topic="validate", content={"cards": cards})
    text, _ = page.render([found], title="t")
    assert "overlap: 29 of 1,530 differ<" in text
    table = next(table for table, _ in tables("validate", [found]) if table.title == "Differences")
    assert table.rows == (("overlap", "8 chunks", "6 ms", "7 ms"),)


def test_an_environment_is_in_words_and_units():
    about = {"device": "NVIDIA H200", "index": 0, "max_sm_clock_hz": 1.98e9, "mig": False}
    content = {"devices": [{"environment": about, "measurements": []}]}
    text, _ = page.render([Result(name="m", topic="measure", content=content)], title="t")
    for name, shown in (("max SM clock", "1980 MHz"), ("MIG", "no")):
        assert re.search(rf">{name}</t[dh]><td[^>]*>{shown}<", text), name
    assert ">index<" not in text


def test_the_worst_beyond_a_limit_is_first():
    rows = [
        verdict("fail", candidate_value=value, static={"limit": limit})
        for value, limit in ((66, 64), (10, 100), (0, 1), (70, None))
    ]
    ((table, _),) = tables("gate", [Result(name="g", topic="gate", content={"verdicts": rows})])
    at = [column.key for column in table.columns].index("candidate_value")
    assert [row[at] for row in table.rows] == [10, 66, 0, 70]


def test_what_limits_is_said_in_words():
    text, _ = page.render([occupancy(binding=["registers", "shared_memory"])], title="t")
    assert re.search(r"rows?; limited by registers and shared memory \(\d+\)", text)
    assert "What needs attention" not in text


def test_histories_have_a_line_and_worse_ones_come_first():
    (one,) = [one for one in RESULTS if one.topic == "gate-history"]
    ((table, _),) = tables("gate-history", [one])
    keys = [column.key for column in table.columns]
    changes = [row[keys.index("changes[].worse")] for row in table.rows]
    assert changes[0] == (0, "WORSE", "bad")
    assert [cell.raw for cell in changes] == sorted(cell.raw for cell in changes)
    assert set(table.rows[0][keys.index("commits[].median")].text) <= set("▁▂▃▄▅▆▇█")
    assert table.rows[0][keys.index("changes[].ratio")].text == "+4.9%"


def test_medians_that_have_no_logarithm_have_no_line():
    row = {"benchmark": "a", "commits": [{"median": 0}], "changes": [], "enough_commits": False}
    content = {"series": [row]}
    ((table, _),) = tables(
        "gate-history", [Result(name="g", topic="gate-history", content=content)]
    )
    assert table.texts() == [["a", "too few commits", "-", "-", "-"]]


def test_titles_are_words_and_tell_columns_apart():
    checked = 0
    for topic in dict.fromkeys(one.topic for one in RESULTS):
        for table, _ in tables(topic, [one for one in RESULTS if one.topic == topic]):
            titles = [column.title for column in table.columns]
            assert len(set(titles)) == len(titles), topic
            for title in titles:
                assert not re.search(r"[\[\]_.]|\b(sm|gpu|l1|l2|arch|binding)\b", title), title
                checked += 1
    assert checked > 150


def test_names_of_products_stay_on_one_line():
    text, _ = page.render([occupancy(target="h100-sxm5", kernel=f"a-{90 * 'b'}")], title="t")
    assert '<td class="l n">h100-sxm5</td>' in text
    assert f'<td class="l">a-{90 * "b"}</td>' in text


def luminance(colour):
    parts = (int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5))
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("name", ["bad", "open", "good", "faint", "mark"])
def test_outcomes_have_the_contrast_that_wcag_asks_for(name):
    style = (Path(page.__file__).parent / "page.css").read_text("utf-8")
    colours = re.findall(rf"--{name}: (#[0-9a-f]{{6}})", style)
    assert len(colours) == 2
    # white, and the lightest ground that browsers call dark; rows of headings on both
    for colour, grounds in zip(
        colours, (("#ffffff", "#f6f8fa"), ("#1e1e1e", "#212830")), strict=True
    ):
        for ground in grounds:
            low, high = sorted((luminance(colour), luminance(ground)))
            assert (high + 0.05) / (low + 0.05) >= 4.5
