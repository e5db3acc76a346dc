"""``perfkit arch``, ``gpu`` and ``schema``: the database shown, compared and checked."""

from __future__ import annotations

import csv
import json
import shutil
from io import StringIO
from pathlib import Path

import pytest

from perfkit.arch import catalog
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


def test_gpu_compare(perfkit):
    found = read(perfkit("gpu compare a100 h100,rtx-4090 -f json"), "gpu-compare")["gpus"]
    assert [one["key"] for one in found] == ["a100-sxm4-80gb", "h100-sxm5", "rtx-4090"]
    rows = {row["fact"]: row for row in table(perfkit("gpu compare a100 h100 -f csv"))}
    assert rows["sm_count"] == {"fact": "sm_count", "a100-sxm4-80gb": "108", "h100-sxm5": "132"}
    assert rows["f8/f32 tensor tflops"]["a100-sxm4-80gb"] == ""
    assert "TFLOP/s" in perfkit("gpu compare a100 h100").out


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
        ("arch show h100", "write 9.0"),
        ("arch show ampere", "one of: 8.0, 8.6"),
        ("arch show", "Missing argument"),
        ("arch compare 9.0", "nothing to compare with"),
        ("arch compare 9.0 9.0", "nothing to compare with"),
        ("arch compare 8.6 9.9", "unknown GPU '9.9'"),
        ("arch check /nonexistent", "/nonexistent is not a directory"),
        ("gpu show h10", "h100"),
        ("gpu list --match zzz", "no product matches 'zzz'"),
        ("gpu compare h100", "nothing to compare with"),
        ("gpu compare h100 h100", "nothing to compare with"),
        ("gpu compare h100 nothing-at-all", "unknown product 'nothing-at-all'"),
        ("schema ocupancy", "nearest: occupancy"),
        ("schema zzz", "one of: arch, "),
    ],
)
def test_what_is_refused_and_how(refused, line, says):
    assert says in refused(line)
