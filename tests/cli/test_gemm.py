"""``perfkit gemm``: one tiling or all of them, with every refusal."""

from __future__ import annotations

import csv
import json
from io import StringIO

import pytest

from tests.report.schemas import undescribed, validate

USUAL = "--tile 128x128x32 --warp 64x64x32 --stages 3"


def content(done, topic="gemm"):
    assert done.code == 0, done.err
    found = json.loads(done.out)
    validate(topic, found)
    assert undescribed(topic, found) == []
    return found


def test_the_promised_figures(perfkit):
    asked = f"gemm --gpu h100 --shape 4096x4096x4096 --dtype f16 {USUAL}"
    (found,) = content(perfkit(f"{asked} -f json"))["results"]
    block = found["block"]
    assert (block["warps"], block["threads"]) == (4, 128)
    assert (block["stage_bytes"], block["shared_bytes_per_block"]) == (16384, 49152)
    assert found["epilogue_fusion"]["read_bytes"] == 32 * 2**20
    assert found["epilogue_fusion"]["write_bytes"] == 32 * 2**20
    out = perfkit(asked).out
    for figure in ("16 KiB", "48 KiB", "32 MiB", "1024", "96.97%"):
        assert figure in out
    assert "the peak is that of wgmma: mma does not reach it" in out
    assert "registers are estimated" in out


def test_registers_that_are_known(perfkit):
    asked = f"gemm -g a100 --shape 4096 --dtype f16 {USUAL} --regs 254"
    (found,) = content(perfkit(f"{asked} -f json"))["results"]
    assert found["block"]["registers_per_thread"] == 254
    assert found["block"]["registers_given"] is True
    assert "estimated" not in perfkit(asked).out


def test_split_and_stream(perfkit):
    shape = "gemm -g a100 --shape 512x512x16384 --dtype f16"
    (split,) = content(perfkit(f"{shape} {USUAL} --split-k 8 -f json"))["results"]
    assert split["schedule"]["schedule"] == "split-k 8"
    assert split["schedule"]["blocks"] == 8 * 16
    (stream,) = content(perfkit(f"{shape} {USUAL} --stream-k -f json"))["results"]
    assert stream["tiling"]["split_k"] == 0
    assert "stream-k" in perfkit(f"{shape} {USUAL} --stream-k").out.splitlines()[0]


@pytest.mark.parametrize(("cluster", "known"), [("4x2", True), ("4x4", False)])
def test_clusters_of_a_size_that_no_source_tells(perfkit, cluster, known):
    ask = (
        "gemm -g b300 --shape 4096 --dtype f16 --tile 128x256x64 --warp 32x256x64 "
        f"--instruction 128x256x16 --stages 4 --cluster {cluster}"
    )
    (found,) = content(perfkit(f"{ask} -f json"))["results"]
    assert found["cluster"]["known"] is known
    assert ("no source says whether" in perfkit(ask).out) is not known


def test_wgmma_in_clusters(perfkit):
    asked = (
        "gemm -g h200 --shape 8192 --dtype bf16 --tile 128x256x64 --warp 16x256x64 "
        "--instruction 64x256x16 --stages 3 --cluster 2x1"
    )
    (found,) = content(perfkit(f"{asked} -f json"))["results"]
    assert found["tiling"]["instruction_kind"] == "wgmma"
    assert found["cluster"]["size"] == 2
    assert found["block"]["threads"] == 384
    assert "128 of the threads only load" in perfkit(asked).out


def test_without_a_tile_the_best_and_a_row_for_each_product(perfkit):
    done = perfkit("gemm -g a100,rtx-4090,tesla-p100-sxm2 --shape 1000x999x77 --dtype f16 -f csv")
    rows = list(csv.DictReader(StringIO(done.out)))
    assert [row["target"] for row in rows] == ["a100-sxm4-80gb", "rtx-4090", "tesla-p100-sxm2"]
    assert rows[2]["roof"] == "f16/f16 dense simt"
    out = perfkit("gemm -g a100,tesla-p100-sxm2 --shape 1000x999x77 --dtype f16").out
    assert out.startswith("gemm 1000x999x77 in f16\n")
    assert "no multiple of 16 bytes: k = 77 f16, n = 999 f16" in out


def test_ranking(perfkit):
    asked = "gemm -g h100,v100 --shape 16x8192x8192 --dtype f16 --rank --top 4"
    found = content(perfkit(f"{asked} -f json"), "gemm-rank")["rankings"]
    assert [one["target"] for one in found] == ["h100-sxm5", "v100-sxm2-16gb"]
    for one in found:
        assert len(one["best"]) == 4
        assert one["compared"] >= one["launchable"] >= one["tied"] >= 4
    again = perfkit(f"{asked} -f json")
    assert json.loads(again.out)["rankings"] == found
    rows = list(csv.DictReader(StringIO(perfkit(f"{asked} -f csv").out)))
    assert [row["place"] for row in rows] == ["1", "2", "3", "4"] * 2
    out = perfkit(asked).out
    assert "4 of" in out
    assert "only a measurement tells them apart" in out


def test_all_products(perfkit):
    found = content(perfkit("gemm -g all --shape 64 --dtype f8 -f json"))
    assert len(found["results"]) > 40
    assert {one["reason"] for one in found["left_out"]} == {
        "has no f8 arithmetic",
        "no peak rate is known",
    }


def test_a_block_that_does_not_fit(perfkit):
    asked = "gemm -g rtx-4090 --shape 4096 --dtype f16 --tile 256x128x64 --warp 64x64x64 --stages 4"
    (found,) = content(perfkit(f"{asked} -f json"))["results"]
    assert found["time_s"] is found["schedule"] is found["waves"] is None
    assert found["occupancy"]["driver"]["blocks_per_sm"] == 0
    assert (
        "does not launch: 196608 shared bytes per block, 101376 are allowed" in perfkit(asked).out
    )


def test_matrices_that_no_memory_holds(perfkit):
    out = perfkit("gemm -g t4 --shape 100000 --dtype f16").out
    assert "the matrices take 60 GB, its memory has 16384 MiB" in out


@pytest.mark.parametrize("ending", ["table", "json", "csv", "markdown"])
@pytest.mark.parametrize("how", [USUAL, "", "--rank --top 2"])
def test_every_format(perfkit, ending, how):
    done = perfkit(f"gemm -g a100,h100 --shape 333x1000x64 --dtype f16 {how} -f {ending}")
    assert done.code == 0, done.err
    assert "nan" not in done.out.lower()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("--shape 4096 --dtype f16", "no GPU given"),
        ("-g h100 --dtype f16", "no shape of a matrix product given"),
        ("-g h100 --shape 4096", "no data type given"),
        ("-g 9.0 --shape 4096 --dtype f16", "9.0 is a compute capability"),
        ("-g h100 --shape 4096 --dtype f6", "h100-sxm5 has no f6 arithmetic"),
        ("-g h100 --shape 4096 --dtype f16 --out f5", "--out: unknown data type 'f5'"),
        ("-g h100 --shape 0 --dtype f16", "m = 0: must be a whole number"),
        ("-g h100 --shape 4x-1x4 --dtype f16", "--shape '4x-1x4': not three whole numbers"),
        ("-g h100 --shape nan --dtype f16", "--shape 'nan': not three whole numbers"),
        ("-g h100 --shape 4x4 --dtype f16", "--shape '4x4': not three whole numbers"),
        ("-g h100 --shape 1x1x9999999999 --dtype f16", "k = 9999999999: must be"),
        ("-g h100 --shape 1x1x9999999999999999999 --dtype f16", "not three whole numbers"),
        ("-g h100 --shape 4 --dtype f16 --tile 128x128x32", "--tile and --warp belong together"),
        ("-g h100 --shape 4 --dtype f16 --warp 64x64x32", "--tile and --warp belong together"),
        ("-g h100 --shape 4 --dtype f16 --tile 128x128 --warp 64x64x32", "--tile '128x128'"),
        ("-g h100 --shape 4 --dtype f16 --tile 96x64x32 --warp 64x64x32", "--warp 64x64x32: does"),
        ("-g h100 --shape 4 --dtype f16 --tile 64x64x0 --warp 64x64x32", "--tile 64x64x0: must be"),
        ("-g h100 --shape 4 --dtype f16 --tile 64x64x32 --warp 8x64x32", "not a multiple of the"),
        (f"-g h100 --shape 4 --dtype f16 {USUAL} --stages 0", "--stages 0: must be"),
        (f"-g h100 --shape 4 --dtype f16 {USUAL} --stages -3", "--stages -3: must be"),
        (f"-g h100 --shape 4 --dtype f16 {USUAL} --regs 256", "--regs 256: compute capability"),
        (f"-g h100 --shape 4 --dtype f16 {USUAL} --split-k 0", "--split-k 0: at least one block"),
        (f"-g h100 --shape 4 --dtype f16 {USUAL} --split-k -1", "--split-k -1: must be"),
        (f"-g h100 --shape 4 --dtype f16 {USUAL} --split-k 2 --stream-k", "exclude each other"),
        (f"-g h100 --shape 4 --dtype f16 {USUAL} --swizzle 0", "--swizzle 0: must be"),
        (f"-g h100 --shape 4 --dtype f16 {USUAL} --cluster 2,2,2", "along m and n only"),
        (f"-g h100 --shape 4 --dtype f16 {USUAL} --cluster 32", "--cluster 32: compute"),
        (f"-g a100 --shape 4 --dtype f16 {USUAL} --cluster 2", "no thread block clusters"),
        (f"-g h100 --shape 4 --dtype f16 {USUAL} --instruction 8x8x4", "--instruction 8x8x4: "),
        (f"-g h100 --shape 4 --dtype f16 {USUAL} --rank", "--rank compares all tilings"),
        ("-g h100 --shape 4 --dtype f16 --rank --stages 3", "leave out --stages"),
        ("-g h100 --shape 4 --dtype f16 --rank --regs 9 --stream-k", "out --stream-k and --regs"),
        ("-g h100 --shape 4 --dtype f16 --rank --cluster 2", "leave out --cluster"),
        ("-g h100 --shape 4 --dtype f16 --rank --top 0", "--top: 0 is not in the range"),
        ("-g h100 --shape 4 --dtype f16 --stages 3", "are those of a tile"),
        ("-g h100 --shape 4 --dtype f16 --regs 100", "of which tile?"),
        ("-g h100 --shape 4 --dtype f16 --clock-mhz -5", "--clock-mhz -5"),
        ("-g h100 --shape 4 --dtype f16 --ceilings none.json", "none.json: cannot be read"),
    ],
)
def test_what_is_refused_and_how(refused, arguments, says):
    assert says in refused(f"gemm {arguments}")
