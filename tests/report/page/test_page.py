"""``perfkit report``'s page: valid, escaped, whole by itself, with what every topic says."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import sys
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest

from perfkit.errors import InputError
from perfkit.report import schema
from perfkit.report.document import Cell
from perfkit.report.page import page
from perfkit.report.page.results import Result, load, shortened
from perfkit.report.page.sections import SECTIONS
from perfkit.report.page.tables import tables

#: lists of objects that stand beside what a topic is about
ASIDE = {"conflicts", "looks", "sources", "unmeasured", "unread"}
GOLDEN = Path(__file__).parents[2] / "golden"
VOID = {"meta", "br", "hr", "img", "link", "input"}
EVIL = "</td><script>alert(1)</script><img src=x onerror=alert(2)> ' \" & \x1b[31m"
COMMAND = "perfkit occupancy -g h100 -f json"


def results():
    found = []
    for path in sorted(GOLDEN.glob("*.json")):
        content = json.loads(path.read_text("utf-8"))
        written = content.get("schema", "") if isinstance(content, dict) else ""
        if written.startswith("perfkit."):
            found.append(
                Result(name=path.name, topic=written[8:].partition("/")[0], content=content)
            )
    return found


RESULTS = results()


class Checked(HTMLParser):
    """Tags in balance, ids once, links that lead somewhere, controls and tables with names."""

    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.links, self.tags, self.scripts = [], [], [], [], []
        self.complaints, self.data = [], []
        self.feed(text)
        self.close()
        self.complaints += [f"{tag} is not closed" for tag in self.open]
        self.complaints += [f"id {one} twice" for one in set(self.ids) if self.ids.count(one) > 1]
        self.complaints += [f"#{one} leads nowhere" for one in self.links if one not in self.ids]

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.tags.append(tag)
        if tag not in VOID:
            self.open.append(tag)
        self.ids += [given["id"]] if "id" in given else []
        for name in ("href", "src", "action", "aria-labelledby"):
            value = given.get(name)
            if value is None:
                continue
            if name == "aria-labelledby" or value.startswith("#"):
                self.links.append(value.removeprefix("#"))
            else:
                self.complaints.append(f"{tag} {name} leads outside: {value}")
        self.complaints += [f"{tag} has {name}" for name in given if name.startswith("on")]
        if tag in {"input", "button", "select"} and not given.get("aria-label"):
            self.complaints.append(f"{tag} has no label")
        if given.get("tabindex") == "0" and not given.get("aria-label"):
            self.complaints.append(f"{tag} can be reached and has no name")
        if tag == "th" and given.get("scope") != "col":
            self.complaints.append("th has no scope")

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.complaints.append(f"</{tag}> closes nothing")

    def handle_data(self, data):
        kind = self.open[-1] if self.open else ""
        (self.scripts if kind in {"script", "style"} else self.data).append(data)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("<p><b></p></b>", "closes nothing"),
        ("<p>", "p is not closed"),
        ('<p id="a"></p><p id="a"></p>', "twice"),
        ('<a href="#b"></a>', "nowhere"),
        ('<a href="https://example.org"></a>', "outside"),
        ("<input>", "no label"),
        ('<p onclick="x"></p>', "has onclick"),
    ],
)
def test_the_check_finds_what_is_wrong(text, complaint):
    assert any(complaint in one for one in Checked(text).complaints)


@pytest.fixture(scope="module")
def everything():
    return page.render(RESULTS, title="Everything", failed=("bad.json: is no JSON",))[0]


def test_the_samples_are_of_nearly_every_topic():
    assert len({one.topic for one in RESULTS}) >= 20


def test_a_page_of_everything_is_valid(everything):
    found = Checked(everything)
    assert found.complaints == []
    assert {"figure", "svg", "table", "details", "nav", "main"} <= set(found.tags)
    text = "".join(found.data)
    for part in ("Summary", "Evidence", "How to repeat it", "Environment", "bad.json: is no JSON"):
        assert part in text
    for one in RESULTS:
        assert f'id="topic-{one.topic}"' in everything


def test_headings_go_down_one_step_at_a_time(everything):
    levels = [int(level) for level in re.findall(r"<h([1-6])[ >]", everything)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_only_the_pages_own_script_may_run(everything):
    (script,) = re.findall(r"<script>(.*?)</script>", everything, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', everything)
    assert f"script-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'")


def test_nothing_comes_from_elsewhere(everything):
    assert not re.search(r"https?://|@import|url\((?!#)", everything)


def occupancy(**changes):
    (one,) = [one for one in RESULTS if one.name == "occupancy-kernels.json"]
    content = json.loads(json.dumps(one.content))
    for row in content["results"]:
        row.update(changes)
    return Result(name="a.json", topic="occupancy", content=content)


def test_what_others_wrote_is_text():
    one = occupancy(kernel=EVIL, target=EVIL, notes=[EVIL])
    one.content["made_by"] = {"perfkit": EVIL, "command": EVIL}
    found = Checked(page.render([one], title=EVIL, failed=(EVIL,))[0])
    assert found.complaints == []
    assert found.tags.count("script") == 1
    assert "img" not in found.tags
    assert "".join(found.data).count("<script>alert(1)</script>") >= 6
    assert "\x1b" not in "".join(found.data)


def test_undecodable_names_are_shown():
    text, _ = page.render([occupancy(kernel="k\udcff")], title="t")
    assert "k?" in text
    text.encode("utf-8")


def test_rows_come_from_all_files_with_their_names():
    found = shortened([Result(name=f"/x/y/{n}.json", topic=one.topic, content=one.content)
                       for n, one in enumerate([occupancy(), occupancy()])])  # fmt: skip
    ((table, tally),) = tables("occupancy", found)
    assert tally == "binding"
    assert table.columns[0].key == "file"
    assert {row[0] for row in table.rows} == {"0.json", "1.json"}
    assert len(table.rows) == 2 * len(found[0].content["results"])


@pytest.mark.parametrize("topic", ["measure-several-cards", "validate-two-cards"])
def test_rows_of_several_cards_name_theirs(topic):
    (one,) = [found for found in RESULTS if found.name == f"{topic}.json"]
    first = tables(one.topic, [one])[0][0]
    assert first.columns[0].key == "card"
    assert {"device 0", "device 1"} <= {row[0] for row in first.rows}


def test_values_keep_their_numbers_to_sort_by():
    text, _ = page.render([occupancy(shared_bytes_per_block=2048, occupancy=0.5)], title="t")
    assert '<td data-v="2048">2 KiB</td>' in text
    assert '<td data-v="0.5">50%</td>' in text


@pytest.mark.parametrize(
    ("given", "unit", "shown"),
    [
        (5.24075e-5, "s", "52.41 us"), (4.2e12, "B/s", "4.2 TB/s"), (9208, "B", "9208 B"),
        (24, "count", "24"), (0.5, "1", "0.5"), (None, "s", None),
    ],
)  # fmt: skip
def test_measured_values_carry_their_unit(given, unit, shown):
    row = {"benchmark": "axpy", "candidate_value": given, "unit": unit}
    ((table, _),) = tables("gate", [Result(name="g", topic="gate", content={"verdicts": [row]})])
    found = {
        column.key: column.text(cell)
        for column, cell in zip(table.columns, table.rows[0], strict=True)
    }
    assert found.get("candidate_value") == shown


@pytest.mark.parametrize(
    ("part", "row", "shown"),
    [
        ("memory", {"bytes_per_s": 4.6e12, "datasheet": 4.8e12}, "4800 GB/s"),
        ("compute", {"flop_per_s": 6e14, "unit": "tensor", "datasheet": 9.9e14}, "990 TFLOP/s"),
        ("others", {"value": 4.175e12, "unit": "op_per_s"}, "4.175 T/s"),
        ("others", {"value": 5.5e10, "unit": "bytes_per_s"}, "55 GB/s"),
        ("others", {"value": 29.5, "unit": "cycles"}, "29.5 cycles"),
    ],
)
def test_ceilings_and_their_data_sheet_carry_their_unit(part, row, shown):
    content = {"cards": [{"environment": {"index": 0}, part: [row]}]}
    found = [Result(name="c", topic="ceilings", content=content)]
    ((table, _),) = tables("ceilings", found)
    assert shown in [cell.text for cell in table.rows[0] if isinstance(cell, Cell)]
    assert "Ceilings</a>: 1 row<" in page.render(found, title="t")[0]


def test_cards_side_by_side_have_the_time_of_each():
    row = {"name": "copy", "median_s": [0.0365, 0.0379, None], "apart": 0.04, "slowest": 1}
    found = Result(name="m", topic="measure", content={"devices": [], "side_by_side": [row]})
    ((table, _),) = tables("measure", [found])
    assert [cell.text for cell in table.rows[0] if isinstance(cell, Cell)] == [
        "36.5 ms, 37.9 ms, -",
        "device 1",
    ]


def test_the_peaks_of_a_product_stand_below_its_facts():
    row = {"dtype": "f32", "tflops": 19.5}
    content = {"key": "a100", "sm_count": 108, "peaks": [row]}
    (facts, _), (peaks, _) = tables("gpu", [Result(name="g", topic="gpu", content=content)])
    assert [row[1] for row in facts.rows] == ["key", "SMs"]
    assert peaks.title == "perfkit gpu: peaks"


def test_sentences_keep_their_underscores():
    row = {"obstacles": [{"message": "a block on sm_75 gets 64 KiB"}, {"message": "no"}]}
    ((table, _),) = tables("fits", [Result(name="f", topic="fits", content={"results": [row]})])
    assert table.rows == (("a block on sm_75 gets 64 KiB; no",),)


def test_verdicts_of_kernels_say_for_which_architecture():
    rows = [{"benchmark": "axpy", "static": {"arch": arch}} for arch in ("sm_80", "sm_90")]
    ((table, _),) = tables("gate", [Result(name="g", topic="gate", content={"verdicts": rows})])
    assert [column.title for column in table.columns] == ["benchmark", "architecture"]
    assert [row[1] for row in table.rows] == ["sm_80", "sm_90"]


def test_every_named_column_is_one_of_the_schema():
    """A column that no result can have would be empty for ever."""
    checked = 0
    for topic, parts in SECTIONS.items():
        rules = json.loads(schema.text(topic))
        for part in parts:
            row = rules
            for step in part.path.split("[]."):
                row = resolved(rules, row["properties"][step])["items"]
            for column in part.columns:
                place = resolved(rules, row)
                for step in column.split("."):
                    place = resolved(rules, place)
                    named = place.get("properties", {})
                    # an object of any keys has those, too
                    place = named.get(step.removesuffix("[]")) or place["additionalProperties"]
                    place = place["items"] if step.endswith("[]") else place
                checked += 1
    assert checked > 100


def resolved(rules, rule):
    return rules["$defs"][rule["$ref"].removeprefix("#/$defs/")] if "$ref" in rule else rule


@pytest.mark.parametrize("number", ["1" + "0" * 400, "-1e400", "9" * 301, "NaN"])
def test_numbers_that_nothing_holds_are_refused(tmp_path, number):
    path = tmp_path / "a.json"
    path.write_text(f'{{"schema": "perfkit.roofline/1", "results": [{{"flops": {number}}}]}}')
    with pytest.raises(InputError, match="is no JSON: "):
        load(path)


def test_every_topic_shows_its_rows():
    """A page of a gate that failed must say which benchmark did."""
    listed = 0
    for topic in schema.topics():
        rules = json.loads(schema.text(topic))
        rows = {
            name
            for name, rule in rules["properties"].items()
            if resolved(rules, resolved(rules, rule).get("items", {})).get("type") == "object"
        } - ASIDE
        shown = {part.path.partition("[]")[0] for part in SECTIONS.get(topic, ())}
        assert shown or not rows, f"{topic} has {rows}, of which no table is made"
        listed += len(rows)
    assert listed > 25


def test_a_gate_that_failed_says_what_and_where():
    (one,) = [one for one in RESULTS if one.topic == "gate-run"]
    text, _ = page.render([one], title="t")
    assert "surely more than 0.5% slower" in text
    assert 'Gate run</a>: 1 row: <span class="bad">1 FAIL</span>' in text
    assert "Measured on NVIDIA H200" in text
    assert "power cap set by software" in text


def test_where_it_was_measured_is_not_made_up():
    (one,) = [one for one in RESULTS if one.topic == "gate-run"]
    one.content["environment"] = {"baseline": {}, "candidate": {}}
    text, _ = page.render([one], title="t")
    assert "On which GPU it was measured the files do not say." in text
    assert "Measured on" not in text
    assert "Nothing was measured" in page.render([occupancy()], title="t")[0]


def test_what_differs_between_capabilities_is_named():
    (one,) = [one for one in RESULTS if one.topic == "arch-compare"]
    text, _ = page.render([one], title="t")
    assert re.search(r"facts limits block barriers per SM</td><td[^>]*>-, 64<", text)


def test_commands_are_repeated_once_and_silence_is_said():
    one, two = occupancy(), occupancy()
    one.content["made_by"] = {"perfkit": "0.1.0", "command": COMMAND}
    text, _ = page.render([one, one, two], title="t")
    assert text.count(COMMAND) == 1
    assert "do not say which command" in text


def test_evidence_has_who_says_so():
    text, _ = page.render([occupancy(target="h100-sxm5", compute_capability="9.0")], title="t")
    assert "Compute capability 9.0" in text
    assert "H100 SXM5 80GB" in text
    assert "h100-whitepaper" in text
    text, _ = page.render([occupancy(target="toy-1", compute_capability="77.7")], title="t")
    assert re.search(r"Not in the database: 77\.7, .*toy-1<", text)


def test_without_matplotlib_there_are_tables_and_a_reason(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    roofline = [one for one in RESULTS if one.topic == "roofline"]
    text, missing = page.render(roofline, title="t")
    assert "pip install" in missing
    assert "Without charts" in text
    assert "<svg" not in text
    assert "<table" in text


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "is empty"),
        (b"{", "is no JSON"),
        (b'{"schema": NaN}', "NaN is not a number"),
        (b"[" * 100_000, "is no JSON"),
        (b"\xff\xfe\x00", "is no JSON"),
        (b"[]", "names no schema"),
        (b"{}", "names no schema"),
        (b'{"schema": 1}', "names no schema"),
        (b'{"schema": "other/1"}', "names no schema"),
        (b'{"schema": "perfkit.nothing/1"}', "does not know"),
        (b'{"schema": "perfkit.occupancy"}', "does not know"),
        (b'{"schema": "perfkit.occupancy/2", "results": []}', "holds version 2"),
        (b'{"schema": "perfkit.occupancy/1"}', "has no 'results'"),
        (b'{"schema": "perfkit.occupancy/1", "results": 7}', "results is not"),
        (b'{"schema": "perfkit.occupancy/1", "results": [{}]}', "results[0] has no"),
    ],
)
def test_what_is_no_result_is_refused_with_its_name(data, words, tmp_path):
    path = tmp_path / "odd.json"
    path.write_bytes(data)
    with pytest.raises(InputError) as caught:
        load(path)
    assert words in str(caught.value)
    assert caught.value.where == str(path)


@pytest.mark.parametrize("topic", schema.topics())
def test_a_result_with_nothing_in_it_makes_a_page(topic):
    rules = json.loads(schema.text(topic))
    content = {key: empty(resolved(rules, rule)) for key, rule in rules["properties"].items()}
    text, _ = page.render([Result(name="a.json", topic=topic, content=content)], title="t")
    assert Checked(text).complaints == []


def empty(rule):
    kinds = rule.get("type", "string")
    kind = kinds if isinstance(kinds, str) else kinds[0]
    return {"array": [], "object": {}, "integer": 1, "number": 1.0, "boolean": True}.get(kind, "x")
