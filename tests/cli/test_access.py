"""``perfkit access``: sectors, wavefronts and divergence as typed."""

from __future__ import annotations

import csv
import json
from io import StringIO

import pytest

import perfkit as package
from tests.report.schemas import undescribed, validate


@pytest.fixture
def read(perfkit):
    """JSON content of ``perfkit access TOPIC ...``, checked against its schema."""

    def run(*words: str):
        done = perfkit(["access", *words, "-f", "json"])
        assert done.code == 0, done.err
        content = json.loads(done.out)
        topic = f"access-{words[0]}"
        validate(topic, content)
        assert undescribed(topic, content) == []
        return content

    return run


# --- coalescing ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "sectors", "efficiency"),
    [
        # the Best Practices Guide's copies, and cases g01 and g03
        ("", 4, 1.0),
        ("--stride 0", 1, 1 / 8),
        ("--stride 2", 8, 0.5),
        ("--offset 1", 5, 0.8),
        ("--stride 32", 32, 1 / 8),
        ("--width 16", 16, 1.0),
        ("--width 8", 8, 1.0),
        ("--width 2", 2, 1.0),
        ("--width 16 --element 4 --stride 4", 16, 1.0),
        ("--element 12 --width 4", 12, 1 / 3),
        ("--stride -1 --offset 31", 4, 1.0),
    ],
)
def test_strides(read, arguments, sectors, efficiency):
    (found,) = read("coalescing", *arguments.split())["results"]
    assert found["sectors"] == sectors
    assert found["efficiency"] == efficiency
    assert package.sectors(found["width_bytes"], found["addresses"]) == sectors


@pytest.mark.parametrize(
    "words",
    [
        "--stride -1",
        "--stride -3 --width 8",
        "--index 5*lane-77",
        "--index threadIdx.x-1",
        "--offset -40 --element 12 --width 4",
        "--stride -2 --width 16",
        "--index -lane*lane --width 2",
    ],
)
def test_before_the_start_as_python_counts(perfkit, read, words):
    options = dict(zip(*[iter(words.split())] * 2, strict=True))
    width = int(options.get("--width", 4))
    element = int(options.get("--element", width))
    index = options.get("--index", f"lane*{options.get('--stride', 1)}").replace(
        "threadIdx.x", "lane"
    )
    first = int(options.get("--offset", 0))
    addresses = [element * (eval(index, {"lane": lane}) + first) for lane in range(32)]
    assert min(addresses) < 0
    (found,) = read("coalescing", *words.split())["results"]
    assert found["sectors"] == len({address // 32 for address in addresses})
    assert found["lines"] == len({address // 128 for address in addresses})
    (stored,) = read("banks", "--store", *words.split())["results"]
    lanes = 32 * 4 // max(width, 4)  # that a pass serves
    waves = 0
    for start in range(0, 32, lanes):
        group = addresses[start : start + lanes]
        used = {(a + i) // 4 for a in group for i in range(0, width, min(width, 4))}
        waves += max(sum(word % 32 == bank for word in used) for bank in range(32))
    assert stored["wavefronts"] == waves
    assert "before the start of the array" in perfkit(["access", "banks", *words.split()]).err


@pytest.mark.parametrize(
    ("arguments", "transactions", "lines"),
    [
        # Best Practices Guide, 10.2.1.1 and 10.2.1.2: 32 floats in order take four transactions of
        # 32 bytes, and five where the array begins off; they lie in one line of 128 bytes, or two
        ("", 4, 1),
        ("--offset 1", 5, 2),
        # every 32nd float: each lane its own transaction and its own line
        ("--stride 32", 32, 32),
    ],
)
def test_transactions_are_the_accesses_to_sectors(perfkit, read, arguments, transactions, lines):
    (one,) = read("coalescing", *arguments.split())["results"]
    assert one["transactions"] == one["sectors"] == transactions
    assert one["lines"] == lines <= transactions <= 4 * lines
    table = perfkit(f"access coalescing {arguments}").out
    assert "sectors (transactions)" in table
    assert (
        "note: a transaction, as the Best Practices Guide calls it, is the access to one sec"
        in table
    )


def test_an_index_in_a_block(read):
    # 8 threads along x: four rows of 32 bytes in a warp, 400 bytes apart, not on a sector's edge
    content = read(
        "coalescing", "--index", "threadIdx.y * 100 + threadIdx.x", "-t", "8,32", "--warp", "1"
    )
    (found,) = content["results"]
    assert found["addresses"] == [4 * ((4 + lane // 8) * 100 + lane % 8) for lane in range(32)]
    assert found["warp"] == 1
    assert found["block_requests"] == 8


def test_several_accesses_have_a_mean(read):
    # loads of a naive matrix product: one broadcast, one contiguous
    content = read("coalescing", "--index", "threadIdx.y", "--index", "threadIdx.x")
    assert [one["sectors"] for one in content["results"]] == [1, 4]
    (total,) = content["totals"]
    assert (total["requests"], total["sectors_per_request"]) == (2, 2.5)


def test_a_struct_against_arrays(read):
    content = read("coalescing", "--struct", "float x; float y; half h", "-t", "64")
    assert content["struct"]["size_bytes"] == 12
    assert content["struct"]["padding_bytes"] == 2
    aos, soa = content["totals"]
    assert (aos["layout"], aos["sectors"], aos["distinct_sectors"]) == ("aos", 36, 12)
    assert (soa["layout"], soa["sectors"], soa["distinct_sectors"]) == ("soa", 10, 10)


def test_inactive_lanes_and_missing_threads(read):
    (found,) = read("coalescing", "--active", "lane < 8", "-t", "40")["results"]
    assert (found["lanes"], found["sectors"], found["block_sectors"]) == (8, 1, 2)
    (found,) = read("coalescing", "-t", "40", "--warp", "1")["results"]
    assert (found["lanes"], found["sectors"]) == (8, 1)


@pytest.mark.parametrize("topic", ["coalescing", "banks"])
def test_a_warp_without_active_lanes_is_said(perfkit, topic):
    said = "no lane of warp 0 takes part"
    assert said in perfkit(f"access {topic} --active 0").out
    assert said in perfkit(["access", topic, "--active", "thread >= 32", "-t", "64"]).out
    assert said not in perfkit(["access", topic, "--active", "thread < 1", "-t", "64"]).out


def test_a_file_of_addresses(read, tmp_path):
    path = tmp_path / "warp.txt"
    path.write_text("0\n0x40\n-\n128\n")
    (found,) = read("coalescing", "--addresses", str(path))["results"]
    assert (found["pattern"], found["lanes"], found["sectors"]) == ("warp.txt", 3, 3)


def test_the_picture_shows_what_is_moved_for_nothing(perfkit):
    done = perfkit("access coalescing --stride 2")
    assert "#.#.#.#. #.#.#.#. #.#.#.#. #.#.#.#." in done.out
    done = perfkit("access coalescing --stride 32 --offset 1")
    assert "the first 8 of 32 lines" in done.out
    done = perfkit("access coalescing --offset 1")
    assert "the first byte is 4 bytes into a sector" in done.out


# --- banks --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "wavefronts", "ideal", "way"),
    [
        # cases g05, g07 and g10
        ("--element 8 --width 2", 2, 1, 2),
        ("--width 8", 2, 2, 1),
        ("--index thread/2 --width 16", 2, 2, 1),
        ("--stride 32", 32, 1, 32),
        ("--stride 33", 1, 1, 1),
        ("--stride 36", 4, 1, 4),
        ("--stride 32 --width 8", 32, 2, 16),
        ("--stride 33 --width 8", 2, 2, 1),
    ],
)
def test_strides_in_shared_memory(read, arguments, wavefronts, ideal, way):
    (found,) = read("banks", *arguments.split())["results"]
    assert (found["wavefronts"], found["ideal_wavefronts"], found["conflict_way"]) == (
        wavefronts,
        ideal,
        way,
    )
    assert package.wavefronts(found["width_bytes"], found["addresses"]) == wavefronts


def test_a_transposed_tile_and_its_fixes(read):
    tile = ["--tile", "32,32", "--row", "threadIdx.x", "--column", "threadIdx.y", "-t", "32,8"]
    content = read("banks", *tile)
    (found,) = content["results"]
    assert (found["conflict_way"], found["block_wavefronts"]) == (32, 256)
    padding, swizzle = content["fixes"]
    assert (padding["pitch"], padding["padding"], padding["extra_bytes"]) == (32, 1, 128)
    assert (swizzle["bits"], swizzle["base"], swizzle["shift"]) == (5, 0, 5)
    for fix in content["fixes"]:
        assert fix["removes_all"]
        # what it says to paste, pasted
        index = fix["index"].replace("i", "(threadIdx.x * 32 + threadIdx.y)")
        (again,) = read("banks", "--index", index, "-t", "32,8")["results"]
        assert again["block_wavefronts"] == fix["block_wavefronts"] == 8


def test_a_tile_is_read_by_rows_unless_told(read):
    (found,) = read("banks", "--tile", "8,32", "-t", "32,8")["results"]
    assert found["pattern"] == "tile[threadIdx.y][threadIdx.x]"
    assert found["conflict_way"] == 1


def test_addresses_beyond_any_shared_memory_are_said(perfkit):
    # the largest that a block may have, by the database: 227 KiB; lane 31 reads from 31 * stride on
    edge = (227 * 1024 - 4) // 31 // 4
    assert "launches nowhere" not in perfkit(f"access banks --stride {edge}").out
    done = perfkit(f"access banks --stride {edge + 1}")
    assert done.code == 0
    reached = 31 * 4 * (edge + 1) + 4
    assert reached > 227 * 1024
    assert f"reaches {reached:,} bytes into shared memory, and no block of any GPU" in done.out
    assert "more than 227 KiB: this launches nowhere" in done.out


def test_the_fewest_wavefronts_are_no_conflict(perfkit):
    done = perfkit("access banks --width 8")
    assert "a profiler's ratio of 2 is no conflict here" in done.out
    done = perfkit("access banks --width 16 --index thread/2")
    assert "i, i^1" in done.out
    assert "measured on 9.0, assumed elsewhere" in done.out


def test_structs_in_shared_memory(read):
    content = read("banks", "--struct", "float4 a; float4 b")
    assert content["fixes"] == []
    # 8 words apart: the quarter-warps meet in half of the banks
    assert [one["conflict_way"] for one in content["results"]] == [2, 1, 2, 1]


# --- divergence ---------------------------------------------------------------------------------


def test_a_condition(read):
    content = read("divergence", "--condition", "threadIdx.x % 2 == 0", "-t", "256")
    assert content["diverging_warps"] == list(range(8))
    assert content["idle_share"] == 0.5
    first = content["results"][0]
    assert (first["active_lanes"], first["active_mask"]) == (16, "0x55555555")
    assert first["serial_factor"] == 2


def test_a_condition_that_splits_one_warp(read):
    content = read("divergence", "--condition", "threadIdx.x < 40", "--block", "96")
    assert content["diverging_warps"] == [1]
    # warps 0 and 2 go one way, warp 1 both: four passes for 96 lanes
    assert content["idle_share"] == 1 - 96 / 128
    assert [one["active_lanes"] for one in content["results"]] == [32, 8, 0]


def test_a_switch_and_a_loop(read):
    content = read("divergence", "--switch", "lane / 8", "-t", "32")
    assert [p["mask"] for p in content["results"][0]["paths"]] == [
        "0x000000ff", "0x0000ff00", "0x00ff0000", "0xff000000",
    ]  # fmt: skip
    (loop,) = read("divergence", "--trips", "lane")["results"]
    assert (loop["iterations"], loop["mean_iterations"], loop["serial_factor"]) == (31, 15.5, 2.0)


def test_warps_that_do_the_same_share_a_row(perfkit):
    done = perfkit(["access", "divergence", "--condition", "threadIdx.x < 40", "-t", "256"])
    rows = [line.split()[0] for line in done.out.splitlines() if "#" in line or "......" in line]
    assert rows[-3:] == ["0", "1", "2-7"]
    assert "1 of 8 warps diverge" in done.out


# --- formats, and what is refused ---------------------------------------------------------------

ASKED = [
    ["coalescing", "--stride", "2", "-t", "64"],
    ["coalescing", "--struct", "float x; double y"],
    ["banks", "--stride", "4"],
    ["divergence", "--condition", "lane < 3", "-t", "64"],
    ["divergence", "--trips", "lane"],
]
EACH = pytest.mark.parametrize("asked", ASKED, ids=lambda words: "-".join(words[:2]))


@EACH
def test_csv_has_the_keys_of_json(perfkit, read, asked):
    done = perfkit(["access", *asked, "-f", "csv"])
    rows = list(csv.DictReader(StringIO(done.out)))
    results = read(*asked)["results"]
    assert len(rows) == len(results)
    nested = {"addresses", "passes", "paths", "values"}
    for row, result in zip(rows, results, strict=True):
        assert list(row) == [key for key in result if key not in nested]
        assert row["warp"] == str(result["warp"])


@EACH
def test_markdown(perfkit, asked):
    done = perfkit(["access", *asked, "-f", "markdown"])
    assert done.code == 0
    assert "| --- |" in done.out


PLACES = ["coalescing", "banks"]


@pytest.mark.parametrize("topic", PLACES)
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--width", "3"], "--width 3: no instruction moves that many bytes"),
        (["--width", "0"], "--width 0"),
        (["--width", "-4"], "--width -4"),
        (["--width", "nan"], "'nan' is not a whole number"),
        (["--width", "99999999999999999999"], "--width 9999"),
        (["--element", "12"], "--element 12: no instruction"),
        (["--element", "0", "--width", "4"], "--element 0: not a size"),
        (["--element", "-4", "--width", "4"], "--element -4: not a size"),
        (["--stride", str(-(2**50))], "beyond any memory"),
        (["--stride", "nan"], "'nan' is not a whole number"),
        (["--stride", "1.5"], "'1.5' is not a whole number"),
        (["--stride", str(10**30)], "beyond 64 bits"),
        (["--stride", str(2**50)], "beyond any memory"),
        (["--offset", "inf"], "'inf' is not a whole number"),
        (["--width", "16", "--element", "4", "--offset", "1"], "4 is not a multiple of 16"),
        (["--index", "tid"], "unknown name 'tid'"),
        (["--index", "threadIdx.w"], "unknown name 'threadIdx.w'"),
        (["--index", "threadIdx.x -"], "a value is missing, at its end"),
        (["--index", "0.5"], "whole numbers"),
        (["--index", " "], "an empty expression"),
        (["--index", "1/threadIdx.y"], "division by zero in thread (0, 0, 0)"),
        (["--index", "gridDim.x"], "unknown name 'gridDim.x'"),
        (["--index", "1", "--stride", "2"], "--stride and --index: one of them"),
        (["--active", "("], "a value is missing"),
        (["--warp", "1"], "warp 1: the block has 1"),
        (["--warp", "-1"], "warp -1"),
        (["-t", "0"], "--threads 0: a block has 1 to 1024"),
        (["-t", "2000"], "--threads 2000"),
        (["-t", "1,1,65"], "z is 65"),
        (["-t", "x"], "--threads 'x'"),
        (["-t", "32", "--block", "32"], "--threads and --block are the same"),
        (["--grid", "2", "--block-index", "2"], "block x is 2: the grid ends at 1"),
        (["--block-index", "-1"], "--block-index '-1'"),
        (["--struct", "quad x"], "unknown type 'quad'"),
        (["--struct", "float x", "--width", "4"], "--width does not go with --struct"),
        (["--struct", "float x", "--stride", "1", "--stride", "2"], "takes one --stride"),
        (["--addresses", "no/such/file"], "no/such/file: cannot be read: No such file"),
        (["--addresses", "/"], "cannot be read: Is a directory"),
        (["--addresses", "/dev/zero"], "is a device"),
        (["--addresses", "x", "--stride", "2"], "one of them says where the lanes go"),
        (["--addresses", "x", "--warp", "1"], "--warp does not go with --addresses"),
        (["--addresses", "x", "--active", "1"], "--active does not go with --addresses"),
    ],
)  # fmt: skip
def test_what_is_refused_and_how(refused, topic, arguments, says):
    assert says in refused(["access", topic, *arguments])


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--row", "1"], "--row and --column are of a tile"),
        (["--tile", "0,32"], "not a size in shared memory"),
        (["--tile", "1,2,3"], "not a size in shared memory"),
        (["--tile", "9999,9999"], "not a size in shared memory"),
        (["--tile", "x"], "--tile 'x'"),
        (["--tile", "8,8", "--row", "threadIdx.x"], "--row threadIdx.x: 8 in warp 0, lane 8"),
        (["--tile", "8,8", "--column", "-1"], "--column -1: -1 in warp 0, lane 0; the tile has 8"),
        (["--tile", "4,4", "--stride", "1"], "element 16 is not in a tile of 4 x 4"),
        (["--tile", "32,32", "--stride", "1", "--row", "0"], "one of them says"),
        (["--tile", "4,4", "--struct", "float x"], "--tile does not go with --struct"),
    ],
)
def test_tiles_that_are_refused(refused, arguments, says):
    assert says in refused(["access", "banks", *arguments])


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "one of --condition, --switch and --trips"),
        (["--condition", "1", "--trips", "1"], "one of --condition, --switch and --trips"),
        (["--condition", ""], "an empty expression"),
        (["--condition", "x < 1"], "unknown name 'x'"),
        (["--trips", "lane - 1"], "lane 0: a loop cannot run -1 times"),
        (["--switch", "1 << 99"], "shift by 99"),
        (["--condition", "1", "-t", "1025"], "--threads 1025"),
    ],
)
def test_branches_that_are_refused(refused, arguments, says):
    assert says in refused(["access", "divergence", *arguments])


def test_a_file_that_is_no_warp(refused, tmp_path):
    path = tmp_path / "warp.txt"
    path.write_text("0\n" * 33)
    assert f"{path}:33: more than 32 lanes" in refused(
        ["access", "coalescing", "--addresses", str(path)]
    )
    path.write_bytes(b"\xff\xfe\0")
    assert f"{path}:1: " in refused(["access", "banks", "--addresses", str(path)])
