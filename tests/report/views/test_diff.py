"""What a reviewer sees of two builds; the occupancies of the fixed set by hand, on 9.0.

256 threads are 8 warps. 128 registers: 4,096 a warp, 16 warps, 2 blocks, 25 %. 168: 5,376, three
in each of four partitions, 1 block, 12.5 %. 255: 8,192, 1 block. 40: 1,280, 48 warps, 75 %; 41 are
allocated as 48, 1,536: 40 warps, 62.5 %. 64: 2,048, 32 warps, 50 %.
"""

from __future__ import annotations

from perfkit.analysis.diff import diff
from perfkit.report import csv, markdown, terminal, text
from perfkit.report.views import diff as view
from tests.report import builds

SUMMARY = (
    "9 kernels compared: 3 worse, 1 mixed, 1 not comparable, 1 changed, 1 better, 2 unchanged, "
    "1 new, 1 vanished"
)


def test_the_summary_comes_first_in_every_format_for_people():
    document = view.document(builds.DIFF)
    assert document.summary == SUMMARY
    assert text.render(document).startswith(f"{SUMMARY}\n\nkernel")
    assert markdown.render(document).startswith(f"**{SUMMARY}**\n\n| kernel |")
    assert SUMMARY in terminal.render(document, width=200).splitlines()[0]


def test_the_rows_worst_first():
    keys, rows = _table(view.document(builds.DIFF).tables[0])
    assert keys == [
        "kernel", "arch", "verdict", "occupancy", "spill stores", "spill loads", "regs", "stack",
        "unbounded stack", "constant bank 0",
    ]  # fmt: skip
    shown = {row[0]: row[2:] for row in rows}
    assert list(shown) == [
        "gemm<64, 64>", "reduce[bold]|*a_b*", "calls through pointers", "gemm<128, 64>",
        "recursive", "parameters", "better",
    ]  # fmt: skip
    assert shown["gemm<64, 64>"] == [
        "worse", "25% → 12.5%", "0 B", "0 B", "128 → 168", "0 B", "-", "556 B",
    ]  # fmt: skip
    assert shown["gemm<128, 64>"][:5] == [
        "mixed", "12.5% → 25%", "64 B → 512 B", "80 B → 512 B", "255 → 128",
    ]  # fmt: skip
    assert shown["reduce[bold]|*a_b*"][:2] == ["worse", "75% → 62.5%"]
    assert shown["recursive"][5] == "-" or "16 B → -" in shown["recursive"]
    assert shown["recursive"][0] == "not comparable"
    assert shown["calls through pointers"][0] == "worse"
    assert "no → yes" in shown["calls through pointers"]
    assert shown["parameters"][-1] == "556 B → 572 B"


def test_what_is_new_and_what_has_vanished_is_listed():
    _, (new, vanished) = None, [_table(table)[1] for table in view.document(builds.DIFF).tables[2:]]
    assert [row[0] for row in new] == ["fresh"]
    assert [row[0] for row in vanished] == ["gone"]
    assert "16 KiB" in new[0]


def test_notes_say_what_worse_is_and_what_was_not_compared():
    notes = view.document(builds.DIFF).notes
    assert notes[0].startswith("worse is lower occupancy, more spills")
    assert "not compared for recursive: stack: a device function calls itself" in notes
    same = view.document(diff(builds.NEW, builds.NEW))
    assert same.summary == "10 kernels compared: 10 unchanged"
    assert not any(note.startswith("worse") for note in same.notes)


def test_a_long_list_is_folded_in_markdown_only():
    old = [builds.built(f"k<{i}>") for i in range(50)]
    new = [builds.built(f"k<{i}>", registers_per_thread=48 + i) for i in range(25)]
    document = view.document(diff(old, new))
    folded = [table.title for table in document.tables if table.collapsed]
    assert folded == ["5 more with changes", "25 vanished"]
    rendered = markdown.render(document)
    assert "<details><summary>5 more with changes</summary>\n\n| kernel |" in rendered
    assert rendered.count("</details>") == 2
    assert "<details>" not in text.render(document)
    assert text.render(document).count("k<") == 50


def test_csv_has_every_kernel_of_either_side():
    lines = csv.render(view.document(builds.DIFF)).splitlines()
    assert len(lines) == 1 + 9 + 2
    header = lines[0].split(",")
    assert header[:5] == ["kernel", "arch", "status", "occupancy_old", "occupancy_new"]
    (recursive,) = [line for line in lines if line.startswith("recursive")]
    cells = dict(zip(header, recursive.split(","), strict=True))
    assert (cells["stack_bytes_old"], cells["stack_bytes_new"]) == ("16", "")


def test_json_has_numbers_and_reasons():
    content = view.content(builds.DIFF)
    assert content["summary"] == {
        "compared": 9, "worse": 3, "mixed": 1, "not_comparable": 1, "changed": 1, "better": 1,
        "unchanged": 2, "new": 1, "vanished": 1,
    }  # fmt: skip
    first = content["changes"][0]
    assert (first["kernel"], first["arch"], first["status"]) == ("gemm<64, 64>", "sm_90", "worse")
    assert first["quantities"]["registers_per_thread"] == {
        "old": 128, "new": 168, "verdict": "worse", "reason": None,
    }  # fmt: skip
    (recursive,) = [one for one in content["changes"] if one["kernel"] == "recursive"]
    assert recursive["quantities"]["stack_bytes"] == {
        "old": 16, "new": None, "verdict": "not_comparable",
        "reason": "a device function calls itself",
    }  # fmt: skip
    assert [one["kernel"] for one in content["new"]] == ["fresh"]
    assert [one["kernel"] for one in content["vanished"]] == ["gone"]


def _table(table):
    return [column.title for column in table.columns], table.texts()
