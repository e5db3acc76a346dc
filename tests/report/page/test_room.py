"""However many results, however long their names: a page of less than 2 MB says what it lacks."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import pytest

from perfkit.report.document import Column, Table
from perfkit.report.page import page, room
from perfkit.report.page.results import Result
from tests.report.page.test_page import RESULTS, Checked

MOST_BYTES = 2_000_000
GOLDEN = Path(__file__).parents[2] / "golden"
ROW = json.loads((GOLDEN / "occupancy.json").read_text("utf-8"))["results"][0]


def result(rows, name="a.json", command="perfkit occupancy"):
    made_by = {"perfkit": "0", "command": command}
    return Result(name=name, topic="occupancy", content={"results": rows, "made_by": made_by})


def rows(count, letters):
    # one long text, as 50,000 of them would be half a gigabyte
    long = "void gemm<" + "float, " * (letters // 7)
    return [{**ROW, "kernel": f"{n:05} {long}" if letters < 1000 else long} for n in range(count)]


def rendered(found):
    text, _ = page.render(found, title="t")
    assert Checked(text).complaints == []
    assert len(text.encode()) < MOST_BYTES
    return text


def shown(text):
    return len(re.findall(r"<tr><td", text.partition('id="evidence"')[0]))


@pytest.mark.parametrize(
    ("count", "letters"), [(1_000, 60), (1_000, 10_000), (10_000, 10_000), (50_000, 60)]
)
def test_any_number_of_rows_with_any_names(count, letters):
    began = time.process_time()
    text = rendered([result(rows(count, letters))])
    assert time.process_time() - began < 25
    if count == 1_000:
        assert shown(text) == count
    else:
        said = re.search(r"([\d,]+) of ([\d,]+) rows are shown, of each outcome as many", text)
        assert said[2] == f"{count:,}"
        assert said[1] == f"{shown(text):,}"
        assert shown(text) > 1_000
    assert ("long texts are shown without the middle" in text) == (letters > 1_000)


def test_many_files_each_with_its_command():
    found = [result(rows(1, 60), f"{n}.json", f"perfkit occupancy -r {n}") for n in range(4_000)]
    text = rendered(found)
    assert "more are not shown. They are in the files, as made_by.command." in text
    silent = [Result(name=f"{n}.json", topic="occupancy", content={"results": rows(1, 60)})
              for n in range(4_000)]  # fmt: skip
    assert "more are not shown." in rendered(silent)


def blown(value, key=""):
    """The same content with long texts, and lists many times as long."""
    if isinstance(value, dict):
        return {name: blown(inner, name) for name, inner in value.items()}
    if isinstance(value, list):
        return [blown(one) for one in value] * (5 if len(value) < 100 else 1)
    return value + 3_000 * "x" if isinstance(value, str) and key not in KEPT else value


#: what a chart or the database looks up
KEPT = {"schema", "dtype", "unit", "op", "kind", "engine", "basis", "target"}


def test_everything_blown_up():
    found = [
        Result(name=one.name, topic=one.topic, content=blown(dict(one.content)))
        for one in RESULTS
        if one.topic not in {"overlap", "roofline", "access-banks", "carveout"}
    ]
    assert len(found) > 20
    rendered(found)


OUTCOME = Column("status", "outcome")
TABLE = Table(
    title="verdicts",
    columns=(Column("name", "name"), OUTCOME),
    rows=tuple((f"{n} {400 * 'x'}", "fail" if n % 1_000 == 7 else "pass") for n in range(20_000)),
)


def test_the_few_that_failed_stay_in_sight_and_in_their_order():
    (found,) = room.fitted({"gate": [(TABLE, "status")]})["gate"]
    assert found.html.count('<td class="l">fail</td>') == 20
    order = [int(n) for n in re.findall(r'<td class="l">(\d+) x', found.html)]
    assert order == sorted(order)
    assert len(found.html) < room.TABLE_BYTES * 1.1
    assert "of 20,000 rows are shown, of each outcome as many" in found.note


def test_small_tables_are_whole_beside_large_ones():
    small = Table(title="small", columns=(OUTCOME,), rows=(("pass",),) * 50)
    found = room.fitted({"gate": [(TABLE, "status")], "fits": [(small, None)]})
    assert found["fits"][0].html.count("<tr><td") == 50
    assert found["fits"][0].note is None
    assert len(found["gate"][0].html) > 0.9 * room.TABLE_BYTES


def test_no_rows_at_all():
    empty = Table(title="none", columns=(OUTCOME,), rows=())
    assert room.fitted({"gate": [(empty, "status")]})["gate"][0].note is None
    assert room.fitted({}) == {}


def test_lists_end_where_there_is_no_more_room():
    assert room.listed(["a", "b"]) == (["a", "b"], None)
    found, more = room.listed([f"{n} {90 * 'x'}" for n in range(5_000)])
    assert more == f"{5_000 - len(found):,} more are not shown."
    assert sum(map(len, found)) < room.LIST_BYTES
