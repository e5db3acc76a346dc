"""The numbers behind the goldens of ``occupancy``, worked out by hand.

64 threads with 40 registers and 1,024 B, carveout 14 %, on the small database's 9.0:

* registers: 1,280 per warp, 12 warps in each of four partitions, 48 warps, 24 blocks
* shared memory by the API: 14 % of 228 KiB is 32,686 B, capacity 32 KiB; a block takes 1,024 B and
  as much reserved, so 16 blocks; by the hardware 31 blocks' own kilobytes fit in 32,686 B, their
  reserve comes on top, 63,488 B, capacity 64 KiB, 32 blocks
"""

from __future__ import annotations

import csv
from io import StringIO

import pytest

from perfkit.report import csv as report_csv
from perfkit.report.views import occupancy
from tests.report import results

FIRST, SECOND, THIRD = occupancy.content(results.SAME)["results"]


def table(document, title):
    (found,) = [one for one in document.tables if (one.title or "").startswith(title)]
    keys = [column.key for column in found.columns]
    return [dict(zip(keys, row, strict=True)) for row in found.texts()]


def test_the_answer():
    assert FIRST["limits"] == {
        "warps": 32,
        "blocks": 32,
        "registers": 24,
        "shared_memory": 16,
        "barriers": 64,
    }
    assert (FIRST["blocks_per_sm"], FIRST["warps_per_sm"], FIRST["occupancy"]) == (16, 32, 0.5)
    assert FIRST["limited_by"] == FIRST["binding"] == ["shared_memory"]
    assert FIRST["allocated_shared_bytes_per_block"] == 2048
    assert FIRST["allocated_registers_per_block"] == 2 * 1280


def test_the_hardware_holds_more_and_a_note_says_so():
    hardware = FIRST["hardware"]
    assert (hardware["blocks_per_sm"], hardware["limited_by"]) == (24, ["registers"])
    assert hardware["configured_shared_bytes"] == 64 * 1024
    assert hardware["l1_bytes"] == (256 - 64) * 1024
    assert hardware["is_upper_bound"]  # two warps a block, limited by registers
    (note,) = [note for note in FIRST["notes"] if "the SM holds 24" in note]
    assert "says 16 blocks" in note
    assert "measured on" in note
    assert [h["hardware"]["evidence"] for h in (FIRST, SECOND, THIRD)] == [
        "measured",
        "assumed",
        "dedicated",
    ]
    assert any("assumed from measurements on 9.0" in note for note in SECOND["notes"])


@pytest.mark.parametrize(
    ("kind", "quantity", "expected"),
    [
        # 65 registers: 2,304 per warp, 7 warps a partition, 14 blocks
        ("Next step up", "registers_cost", "65 (+25): 43.75%"),
        # 1,025 B allocate 2,176
        ("Next step up", "shared_memory_cost", "1025 B (+1 B): 46.88%"),
        # 25 warps: one block
        ("Next step up", "block_size_cost", "800 (+736): 39.06%"),
        # 17 blocks of 1,920 B
        ("Nearest gain", "shared_memory_gain", "896 B (-128 B): 53.12%"),
        # 16 blocks of 3 warps
        ("Nearest gain", "block_size_gain", "96 (+32): 75%"),
        # shared memory binds alone
        ("Nearest gain", "registers_gain", "-"),
    ],
)
def test_steps(kind, quantity, expected):
    assert table(occupancy.document(results.SAME), kind)[0][quantity] == expected


def test_waves_and_clusters():
    first, second, third = table(occupancy.document(results.SAME), "Whole GPU")
    assert (first["waves"], first["tail_blocks"]) == ("0.42", "1000")  # 1000 / (100 x 24)
    assert first["clusters"] == str(18 * 24 // 2 + 16 * 24 // 2)
    assert second["clusters"] == f"at most {50 * 24 // 2}"
    assert third["waves"] == third["clusters"] == "-"
    assert any("waves need a product" in note for note in THIRD["notes"])


def test_csv_has_one_value_in_a_cell_and_the_keys_of_json():
    rows = list(csv.DictReader(StringIO(report_csv.render(occupancy.document(results.SAME)))))
    assert rows[0]["limited_by"] == "shared_memory"
    assert rows[0]["hardware_blocks_per_sm"] == "24"
    for row, result in zip(rows, (FIRST, SECOND, THIRD), strict=True):
        for key in set(row) & set(result) - {"limited_by", "binding"}:
            assert row[key] == ("" if result[key] is None else str(result[key]))
        assert row["barriers"] == "1"


def test_what_is_the_same_stands_in_the_heading_and_what_differs_in_columns():
    same = occupancy.document(results.SAME).tables[0]
    assert same.title == (
        "64 threads per block, 40 registers per thread, 1 KiB shared memory per block, carveout 14%"
    )
    assert "registers_per_thread" not in [column.key for column in same.columns]
    differing = occupancy.document(results.KERNELS).tables[0]
    assert differing.title is None
    assert "registers_per_thread" in [column.key for column in differing.columns]
    one = occupancy.document(results.KERNELS[:1])
    assert one.tables[0].title == (
        "void axpy<float, 4>(float*, float const*, int): 256 threads per block, "
        "40 registers per thread, 8 KiB shared memory per block"
    )
    assert one.tables[1].columns[0].key == "limit_warps"


def test_a_bare_capability_is_named_once():
    keys = [column.key for column in occupancy.document(results.SAME[2:]).tables[0].columns]
    assert keys[:2] == ["target", "blocks_per_sm"]


def test_a_launch_that_is_impossible_says_why():
    result = occupancy.content(results.KERNELS)["results"][1]
    # 65 registers: 2,304 per warp, 32 warps
    assert result["refusal"] == {
        "resource": "registers_per_block",
        "needed": 32 * 2304,
        "allowed": 65536,
        "fact": "registers.max_per_block",
    }
    assert result["hardware"] is None
    (note,) = result["notes"]
    assert note.startswith("reduce[bold]|*a_b* does not launch on toy-100: ")
    assert "73728 registers per block" in note
