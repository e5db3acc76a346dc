"""``perfkit arch``, ``gpu`` and ``schema``: the database shown, compared and checked."""

from __future__ import annotations

import csv
import json
import re
import shutil
from io import StringIO
from pathlib import Path

import pytest

from perfkit.arch import catalog
from perfkit.arch.facts import facts
from perfkit.report import schema
from tests.report.schemas import undescribed, validate

SMALL = Path(__file__).resolve().parents[1] / "data" / "archdb"


def read(done, topic, code=0):
    assert done.code == code, done.err
    content = json.loads(done.out)
    validate(topic, content)
    assert undescribed(topic, content) == []
    return content


def table(done):
    assert done.code == 0, done.err
    return list(csv.DictReader(StringIO(done.out)))


# --- arch ---------------------------------------------------------------------------------------


def test_arch_list(perfkit):
    found = read(perfkit("arch list -f json"), "arch-list")["capabilities"]
    assert [one["compute_capability"] for one in found] == list(catalog.capability_keys())
    assert len(table(perfkit("arch list -f csv"))) == 20
    assert len(perfkit("arch list").out.splitlines()) == 2 + 20


@pytest.mark.parametrize("key", catalog.capability_keys())
def test_arch_show(perfkit, key):
    found = read(perfkit(["arch", "show", key, "-f", "json"]), "arch")
    assert found["compute_capability"] == key
    assert found["sources"]


def test_arch_show_with_sources(perfkit):
    plain, sourced = perfkit("arch show 9.0"), perfkit("arch show hopper --sources")
    assert "cuda-programming-guide" not in plain.out
    assert "cuda-programming-guide" in sourced.out
    assert "Sources that disagree" in sourced.out
    rows = {row["fact"]: row for row in table(perfkit("arch show sm_90a --sources -f csv"))}
    assert rows["shared_memory.per_sm_bytes"]["value"] == str(228 * 1024)
    assert rows["shared_memory.per_sm_bytes"]["source"]


def test_arch_show_of_a_product(perfkit):
    asked, plain = perfkit("arch show h100"), perfkit("arch show 9.0")
    note = "h100-sxm5 is a product; this is its compute capability, 9.0"
    assert note in asked.out
    assert asked.out.split("\n\n")[0] == plain.out.split("\n\n")[0]
    assert read(perfkit("arch show h100 -f json"), "arch")["compute_capability"] == "9.0"


@pytest.mark.parametrize("key", ["5.0", "9.0", "10.0", "12.0"])
def test_arch_show_is_not_wide(perfkit, key):
    """Features and options one per line."""
    found = catalog.capability(key)
    lines = perfkit(["arch", "show", key]).out.split("\n\n")[0].splitlines()
    assert max(map(len, lines)) <= 130
    assert all(any(line.endswith(one) for line in lines) for one in found.features)
    assert len(table(perfkit(["arch", "show", key, "-f", "csv"]))) == len(facts(found)) + 1


def test_arch_compare(perfkit):
    found = read(perfkit("arch compare 8.6 9.0 -f json"), "arch-compare")
    assert found["facts"]["limits.max_warps_per_sm"] == [48, 64]
    assert "limits.warp_size" not in found["facts"]
    everything = read(perfkit("arch compare 8.6 9.0 --all -f json"), "arch-compare")
    assert everything["facts"]["limits.warp_size"] == [32, 32]
    rows = {row["fact"]: row for row in table(perfkit("arch compare v100 h100 -f csv"))}
    assert rows["shared_memory.per_sm_bytes"] == {
        "fact": "shared_memory.per_sm_bytes", "7.0": "98304", "9.0": "233472",
    }  # fmt: skip


def test_arch_check_of_the_shipped_database(perfkit):
    found = read(perfkit("arch check -f json"), "arch-check")
    assert found["findings"] == []
    assert found["files"] > 80


def test_arch_check_of_a_database_with_a_mistake(perfkit, tmp_path):
    copy = tmp_path / "archdb"
    shutil.copytree(SMALL, copy)
    path = copy / "gpu" / "toy-100.yaml"
    path.write_text(path.read_text().replace("sm_count: 100", "sm_count: 200"))
    found = read(perfkit(["arch", "check", str(copy), "-f", "json"]), "arch-check", code=1)
    assert any("toy-100.yaml" in finding["where"] for finding in found["findings"])
    assert "toy-100.yaml" in perfkit(["arch", "check", str(copy)]).out


# --- gpu ----------------------------------------------------------------------------------------


def test_gpu_list(perfkit):
    found = read(perfkit("gpu list -f json"), "gpu-list")["gpus"]
    assert [one["key"] for one in found] == list(catalog.gpu_keys())
    few = read(perfkit("gpu list --match h100 -f json"), "gpu-list")["gpus"]
    assert few
    assert all("h100" in f"{one['key']} {one['name']}".lower() for one in few)
    assert few == [one for one in found if one in few]


@pytest.mark.parametrize("key", catalog.gpu_keys())
def test_gpu_show(perfkit, key):
    found = read(perfkit(["gpu", "show", key, "-f", "json"]), "gpu")
    assert found["key"] == key
    assert found["peaks"] or found["boost_clock_mhz"] is None


def test_gpu_show_gives_the_data_sheet_s_units(perfkit):
    found = read(perfkit("gpu show h100 -f json"), "gpu")
    assert (found["sm_count"], found["boost_clock_mhz"]) == (132, 1980)
    assert found["dram_bandwidth_gb_per_s"] == 3350
    (peak,) = [
        peak
        for peak in found["peaks"]
        if (peak["dtype"], peak["accumulate"], peak["sparsity"]) == ("f16", "f32", "dense")
    ]
    # 132 SMs x 2,048 multiply-adds x 2 x 1,830 MHz, the clock of tensor work
    assert peak["tflops"] == pytest.approx(132 * 2048 * 2 * 1.830e9 / 1e12)
    assert peak["published_tflops"] == 989.4
    rows = {row["fact"]: row["value"] for row in table(perfkit("gpu show h100 -f csv"))}
    assert rows["boost_clock_hz"] == "1980000000"
    assert float(rows["peaks.f16/f32.dense.tensor.tflops"]) == peak["tflops"]


@pytest.mark.parametrize("form", ["table", "markdown"])
def test_units_stand_with_the_values(perfkit, form):
    """``boost_clock_hz  1755 MHz`` would contradict itself; CSV keeps both raw."""
    for line in ("gpu show h100-pcie", "arch show 9.0", "arch compare 8.6 9.0"):
        out = perfkit(f"{line} -f {form}").out.replace("\\", "")
        labels = [row.strip("| ").split(" ")[0] for row in out.splitlines()]
        assert len(labels) > 10
        bad = [one for one in labels if one.endswith(("_hz", "_bytes", "_per_s", "_gib", "_w"))]
        assert bad == []
    rows = {row["fact"]: row["value"] for row in table(perfkit("gpu show h100-pcie -f csv"))}
    assert rows["boost_clock_hz"] == "1755000000"
    assert rows["memory.l2_bytes"] == str(50 * 2**20)
    assert (rows["tdp_w"], rows["memory.size_gib"]) == ("350", "80.0")


def test_gpu_show_dense_and_sparse_in_one_row(perfkit):
    rows = [line.split() for line in perfkit("gpu show h100-pcie").out.splitlines()]
    # whitepaper: 756 dense, 1513 sparse; 2 x 114 SMs x 2048 x 1620 MHz = 756.4
    assert ["f16/f32", "tensor", "756.4", "1513", "756", "1513", "TFLOP/s", "derived"] in rows
    # 114 SMs x 64 dp4a x 4 x 2 x 1755 MHz; integers are no floating point
    assert ["s8/s32", "simt", "102.4", "-", "-", "-", "TOP/s", "derived"] in rows
    assert ["s8/s32", "tensor", "1513", "3026", "1513", "-", "TOP/s", "derived"] in rows


def test_gpu_show_lists_aliases(perfkit):
    # one after another, or below one another where they are many
    shown = re.search(
        r"^aliases\s+(.*?)^\S", perfkit("gpu show h100").out, re.DOTALL | re.MULTILINE
    )
    assert re.split(r",?\s+", shown[1].strip()) == [*catalog.aliases_of("h100-sxm5")]


def test_how_much_is_only_estimated(perfkit):
    """RTX A5000: all but the rate class, which is derived."""
    plain, sourced = perfkit("gpu show rtx-a5000").out, perfkit("gpu show rtx-a5000 --sources").out
    note = "note: 9 of 10 facts are estimated or assumed"
    assert plain.endswith(f"{note}: --sources shows which\n")
    assert sourced.endswith(f"{note}\n")
    marked = [line for line in sourced.splitlines() if "[estimated" in line or "[assumed" in line]
    assert len(marked) == 9
    assert any("[assumed: recalled, not re-read]" in line for line in marked)
    assert "1 of 58 facts is estimated" in perfkit("arch show 9.0").out
    assert "estimated" not in perfkit("gpu show rtx-a5000 -f csv").out


def test_gpu_new(perfkit, tmp_path):
    printed = perfkit("gpu new new-card --like a5000")
    assert printed.code == 0
    assert 'name: "NEW CARD"' in printed.out
    path = tmp_path / "new-card.yaml"
    command = ["gpu", "new", "new-card", "--like", "a5000", "-o", str(path)]
    assert perfkit(command) == (0, "", "")
    assert path.read_text("utf-8") == printed.out
    path.write_text("mine")
    done = perfkit(command)
    assert (done.code, done.out) == (2, "")
    assert "exists, and is left as it is" in done.err
    assert path.read_text() == "mine"


def test_gpu_compare(perfkit):
    found = read(perfkit("gpu compare a100 h100,rtx-4090 -f json"), "gpu-compare")["gpus"]
    assert [one["key"] for one in found] == ["a100-sxm4-80gb", "h100-sxm5", "rtx-4090"]
    rows = {row["fact"]: row for row in table(perfkit("gpu compare a100 h100 -f csv"))}
    assert rows["sm_count"] == {"fact": "sm_count", "a100-sxm4-80gb": "108", "h100-sxm5": "132"}
    assert rows["f8/f32 tensor tflops"]["a100-sxm4-80gb"] == ""
    lines = perfkit("gpu compare a100 h100").out.splitlines()
    units = {line.split()[0]: line.split()[-1] for line in lines if "OP/s" in line}
    assert (units["f16/f32"], units["s8/s32"]) == ("TFLOP/s", "TOP/s")


# --- schema -------------------------------------------------------------------------------------


def test_schema_list(perfkit):
    done = perfkit("schema")
    assert done.code == 0
    assert [line.split()[0] for line in done.out.splitlines()] == list(schema.topics())
    assert all(len(line.split()) > 2 for line in done.out.splitlines())


@pytest.mark.parametrize("topic", schema.topics())
def test_schema_shows_the_shipped_file(perfkit, topic, tmp_path):
    done = perfkit(["schema", topic])
    assert done == (0, schema.text(topic), "")
    path = tmp_path / "schema.json"
    assert perfkit(["schema", f"perfkit.{topic}/1", "-o", str(path)]) == (0, "", "")
    assert json.loads(path.read_text()) == json.loads(done.out)


def test_doctor(perfkit):
    done = perfkit("doctor -f json")
    content = read(done, "doctor", code=done.code)
    assert done.code == (1 if content["broken"] else 0)


# --- what is refused ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("arch show 9.5", "nearest: 9.0"),
        ("arch show ampere", "one of: 8.0, 8.6"),
        ("arch show", "Missing argument"),
        ("arch compare 9.0", "nothing to compare with"),
        ("arch compare 9.0 9.0", "nothing to compare with"),
        ("arch compare 8.6 9.9", "unknown GPU '9.9'"),
        ("arch check no-such-directory", "no-such-directory is not a directory"),
        ("gpu show h10", "h100"),
        ("gpu list --match zzz", "no product matches 'zzz'"),
        ("gpu new new-card --like h10", "h100"),
        ("gpu new h100-sxm5 --like rtx-a5000", "is in the database"),
        ("gpu new new-card", "--like"),
        ("gpu new new-card --like a5000 -o /no/folder/new-card.yaml", "No such file"),
        ("gpu new new-card --like a5000 -o card.yaml", "is named new-card.yaml"),
        ("gpu compare h100", "nothing to compare with"),
        ("gpu compare h100 h100", "nothing to compare with"),
        ("gpu compare h100 nothing-at-all", "unknown product 'nothing-at-all'"),
        ("schema ocupancy", "nearest: occupancy"),
        ("schema zzz", "one of: access-banks, "),
    ],
)
def test_what_is_refused_and_how(refused, line, says):
    assert says in refused(line)
