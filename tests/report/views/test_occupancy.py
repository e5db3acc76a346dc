"""The numbers behind the goldens of ``occupancy``, worked out by hand.

64 threads with 40 registers and 1,024 B, carveout 14 %, on the small database's 9.0:

* registers: 1,280 per warp, 12 warps in each of four partitions, 48 warps, 24 blocks
* shared memory by the API: 14 % of 228 KiB is 32,686 B, capacity 32 KiB; a block takes 1,024 B and
  as much reserved, so 16 blocks; by the hardware 31 blocks' own kilobytes fit in 32,686 B, their
  reserve comes on top, 63,488 B, capacity 64 KiB, 32 blocks
"""

from __future__ import annotations

import csv
from dataclasses import replace
from io import StringIO

import pytest

from perfkit.analysis.launch import Launch
from perfkit.analysis.occupancy import estimate
from perfkit.arch import catalog
from perfkit.report import csv as report_csv
from perfkit.report.views import occupancy
from perfkit.report.views.occupancy_notes import notes
from tests.report import results
from tests.report.results import LAUNCH

#: clusters of up to 8 and nobody knows of how many more
OPEN = replace(
    results.TARGETS[0],
    capability=replace(
        results.HOPPER,
        cluster=replace(results.HOPPER.cluster, max_nonportable=None),
        unknown={"cluster.max_nonportable": "no paper says"},
    ),
)

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
        ("Room", "registers_cost", "65 (+25): 43.75%"),
        # 1,025 B allocate 2,176
        ("Room", "shared_memory_cost", "1025 B (+1 B): 46.88%"),
        # 25 warps: one block
        ("Room", "block_size_cost", "800 (+736): 39.06%"),
        # 17 blocks of 1,920 B
        ("What", "next_block", "17 blocks, shared memory <= 896 B (now 1 KiB): 53.12%"),
        # 16 blocks of 3 warps
        ("What", "block_size_gain", "96 (+32): 75%"),
    ],
)
def test_steps_of_the_occupancy_api(kind, quantity, expected):
    tables = occupancy.document(results.SAME)
    kind += " before occupancy drops" if kind == "Room" else " would raise occupancy"
    assert table(tables, f"{kind} (by the occupancy API)")[0][quantity] == expected


def test_steps_of_the_hardware_where_they_differ():
    """24 blocks by registers; 41 take 1,536 a warp, 10 warps a partition, 20 blocks of two."""
    rows = table(occupancy.document(results.SAME), "Room before occupancy drops (on the hardware)")
    assert [row["target"] for row in rows] == ["toy-100", "toy-50"]  # 6.1 has no reserve
    assert rows[0]["registers_cost"] == "41 (+1): 62.5%"
    assert [row["evidence"] for row in rows] == ["measured", "assumed"]
    rows = table(occupancy.document(results.SAME), "What would raise occupancy (on the hardware)")
    # 25 blocks of two warps: 13 warps a partition, 1,260 registers each, 1,024 in whole units,
    # with which 16 warps fit, 32 blocks
    assert rows[0]["next_block"] == "32 blocks, registers <= 32 (now 40): 100%"


def test_one_table_where_the_rules_agree():
    titles = [one.title for one in occupancy.document(results.KERNELS).tables if one.rows]
    assert sum("occupancy -" in title for title in titles if title) == 1
    assert not any("API" in title for title in titles if title)


def test_what_a_block_takes_of_what_an_sm_has():
    (row, *_) = table(occupancy.document(results.SAME), "Blocks per SM that each resource")
    assert row["limit_registers"] == "24 (2560 of 65536)"
    assert row["limit_shared_memory"] == "16 (2 KiB of 32 KiB)"
    assert row["limit_warps"] == "32"


def test_a_cost_that_ends_in_no_launch_is_called_a_limit():
    found = estimate(results.TARGETS[0], Launch(threads=1024, regs=64, smem=0))
    (row,) = table(occupancy.document([found]), "Room before occupancy drops")
    assert row["registers_cost"] == "65 (+1): the limit, no launch"
    assert row["shared_memory_cost"].endswith("the limit, no launch")


@pytest.mark.parametrize(
    ("launch", "text"),
    [
        (
            {"threads": 288, "regs": 32},  # 7 blocks of 9 warps
            "8 blocks: impossible, too few warp slots left for blocks of 288 threads",
        ),
        ({"threads": 32, "regs": 16}, "33 blocks: impossible, all 32 block slots are taken"),
        ({"threads": 1024, "regs": 65}, "1 block, registers <= 64 (now 65): 50%"),
        (
            {"threads": 128, "regs": 128, "smem": 57344},  # 4 blocks by either: 228 KiB by 57
            "5 blocks, registers <= 96 (now 128) and shared memory <= 45568 B (now 56 KiB): 31.25%",
        ),
        (
            {"threads": 512, "regs": 16, "max_threads": 100},  # 100 threads: 4 warps, 16 blocks
            "16 blocks, block <= 100 (now 512): 100%",
        ),
    ],
)
def test_what_one_more_block_takes(launch, text):
    found = estimate(results.TARGETS[0], Launch(**{"smem": 0} | launch))
    (row,) = table(occupancy.document([found]), "What would raise occupancy")
    assert row["next_block"] == text


def test_waves_and_clusters():
    first, second, third = table(occupancy.document(results.SAME), "Whole GPU")
    clusters = 18 * 24 // 2 + 16 * 24 // 2
    assert first["clusters"] == str(clusters)
    # a wave is what the clusters hold: 816 blocks, not 100 x 24
    assert (first["waves"], first["tail_blocks"]) == ("1.23", str(1000 - 2 * clusters))
    assert FIRST["waves"]["blocks_per_wave"] == FIRST["cluster"]["active_blocks"]
    assert second["clusters"] == f"at most {50 * 24 // 2}"
    assert second["waves"] == f"at least {1000 / (50 * 24):.2f}"
    assert third["waves"] == third["clusters"] == "-"
    assert any("waves need a product" in note for note in THIRD["notes"])


def test_slots_for_blocks_of_clusters():
    """Where the capability has them, the hardware holds no more, and the notes say so."""
    few = replace(results.HOPPER, cluster=replace(results.HOPPER.cluster, max_blocks_per_sm=8))
    target = replace(results.TARGETS[0], capability=few)
    found = estimate(target, Launch(threads=32, regs=16, smem=0), grid=1000, cluster=2)
    (result,) = occupancy.content([found])["results"]
    assert result["blocks_per_sm"] == 32
    assert result["hardware"]["blocks_per_sm"] == 8
    assert result["waves"]["blocks_per_wave"] == 18 * 8 + 16 * 8
    (note,) = result["notes"]
    assert "holds at most 8 blocks of a launch in clusters" in note
    (without,) = occupancy.content([estimate(results.TARGETS[0], LAUNCH, cluster=2)])["results"]
    assert any("is not known (9.0: at most 8, measured)" in note for note in without["notes"])


def test_a_cluster_of_which_nobody_knows():
    found = estimate(OPEN, Launch(threads=32, regs=16, smem=0), cluster=16)
    (result,) = occupancy.content([found])["results"]
    assert (result["cluster"]["known"], result["cluster"]["exact"]) == (False, False)
    assert any("whether of 16 is not known (no paper" in note for note in result["notes"])
    assert not any("not portable" in note for note in result["notes"])


def test_idle_lanes_of_the_last_warp():
    def said(threads):
        found = estimate(results.TARGETS[0], Launch(threads=threads, regs=16, smem=0))
        return [note for note in notes(found) if "idle" in note]

    assert said(256) == []
    (note,) = said(250)
    assert "250 threads has 6 idle lanes: a block of 256 takes the same" in note
    assert "1 idle lane:" in said(31)[0]


@pytest.mark.parametrize(
    ("smem", "configured"),
    # 28 % of 228 KiB are 65,372 B: 1,024 B fit 63 times, 126 KiB with reserves; 20,000 B 3 times
    [(1024, 132), (20000, 64)],
)
def test_a_capacity_asked_for_and_what_becomes_of_it(smem, configured):
    found = estimate(
        results.TARGETS[0],
        Launch(threads=128, regs=32, smem=smem, carveout=28),
        carveout_asked_bytes=65536,
    )
    assert found.hardware.configured_shared_bytes == configured * 1024
    document = occupancy.document([found])
    assert document.tables[0].title.endswith("carveout 64 KiB (28%)")
    said = [note for note in document.notes if "asked for" in note]
    assert bool(said) is (configured != 64)
    (result,) = occupancy.content([found])["results"]
    assert (result["carveout_percent"], result["carveout_asked_bytes"]) == (28, 65536)


def test_barriers_that_two_headers_disagree_about():
    (target,) = catalog.targets("10.3")
    busy = estimate(target, Launch(threads=32, regs=16, smem=0, barriers=4))
    (note,) = [note for note in notes(busy) if "named barriers" in note]
    assert "cuda-occupancy-h-13.5: 32, not cuda-occupancy-h-13.0: 64" in note
    idle = estimate(target, Launch(threads=512, regs=16, smem=0))
    assert not any("named barriers" in note for note in notes(idle))


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
    note, other = result["notes"]
    assert "compiled for blocks of 32 x 8 x 1 threads: it does not launch with 1024" in other
    assert note.startswith("reduce[bold]|*a_b* does not launch on toy-100: ")
    assert "73728 registers per block" in note
