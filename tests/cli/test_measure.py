"""``perfkit measure`` on a made-up card: what it takes, shows, refuses, and how it ends."""

from __future__ import annotations

import json
from functools import partial

import numpy as np
import pytest

from perfkit.device import items, measure, timing
from perfkit.device.child import End, Failure
from perfkit.errors import NoDevice
from tests.device.children import Children
from tests.device.fake_card import FakeMonitor, pretend_compiler, small_l2
from tests.device.fakes import FakeDriver
from tests.report.schemas import undescribed, validate

QUICK = "--runs 2 --samples 3"


def costs(card, number):
    """A launch takes a millisecond; at full size no made-up kernel does anything."""
    card.cost = lambda name, launch: 1e-3
    card.kernels["count_poison"] = lambda *_: None


@pytest.fixture
def children(monkeypatch):
    """The children that the command runs; there is one made-up card."""
    pretend_compiler(monkeypatch)
    monkeypatch.setattr(measure, "Monitor", FakeMonitor)
    found = Children(costs)
    monkeypatch.setattr(measure, "measure", partial(measure.measure, run=found))
    monkeypatch.setattr(items, "read_devices", _devices(1))
    return found


def _devices(count):
    from perfkit.device.properties import read_devices

    driver = small_l2()
    driver.devices = count
    return lambda: read_devices(driver)


def test_a_kernel_of_the_library(perfkit, children):
    done = perfkit(f"measure vector_add --size 1M {QUICK}")
    assert done.code == 0, done.err
    assert "NVIDIA H200" in done.out
    assert "right" in done.out
    assert "bounds by the data sheet of h200-sxm" in done.out
    assert [item["sizes"]["n"] for item in children.requests[0]["items"]] == [2**20]


def test_json_is_as_its_schema_says(perfkit, children):
    done = perfkit(f"measure vector_add copy --size n=1M {QUICK} --format json")
    document = json.loads(done.out)
    validate("measure", document)
    assert undescribed("measure", document) == []
    names = [one["name"] for one in document["devices"][0]["measurements"]]
    assert names == ["vector_add", "copy"]


@pytest.mark.parametrize("style", ["csv", "markdown", "table"])
def test_other_formats(perfkit, children, style, tmp_path):
    path = tmp_path / "out"
    done = perfkit(f"measure copy --size 1M {QUICK} -f {style} -o {path}")
    assert (done.code, done.out) == (0, "")
    assert "copy" in path.read_text()


def test_the_list_needs_no_gpu(perfkit):
    done = perfkit("measure --list --format json")
    assert done.code == 0
    document = json.loads(done.out)
    validate("measure-list", document)
    assert len(document["kernels"]) >= 38
    assert "transpose_naive" in perfkit("measure --list transpose_*").out


def test_block_sizes_and_several_sizes(perfkit, children):
    sizes = "m=64,n=128,k=1<<5"
    done = perfkit(f"measure matmul_tiled --size {sizes} --threads 128 {QUICK}")
    assert done.code == 0, done.err
    assert children.requests[0]["items"][0]["sizes"] == {"m": 64, "n": 128, "k": 32, "threads": 128}


def test_cold_and_hot(perfkit, children):
    perfkit(f"measure copy --size 1M --cold {QUICK}")
    perfkit(f"measure copy --size 1M {QUICK}")
    assert [request["items"][0]["cold"] for request in children.requests] == [True, True, *[0] * 2]


def test_rests_between_samples(perfkit, children, monkeypatch):
    rests = []
    monkeypatch.setattr(timing, "sleep", rests.append)
    done = perfkit(f"measure copy triad --size 1M --rest 0.25 {QUICK}")
    assert rests == [0.25] * 2 * 2  # two kernels, two runs, a burst of samples each
    assert done.out.count("note: the card rested 0.25 s before each burst") == 1
    document = json.loads(perfkit(f"measure copy --size 1M --rest 1 {QUICK} -f json").out)
    validate("measure", document)
    assert document["devices"][0]["measurements"][0]["rest_s"] == 1
    usual = perfkit(f"measure copy --size 1M {QUICK}")
    assert "rested" not in usual.out + usual.err


def test_two_devices(perfkit, children, monkeypatch):
    monkeypatch.setattr(items, "read_devices", _devices(2))
    done = perfkit(f"measure copy --size 1M --device all {QUICK} --format json")
    document = json.loads(done.out)
    assert [one["environment"]["index"] for one in document["devices"]] == [0, 1]
    assert len({request["uuid"] for request in children.requests}) == 2
    validate("measure", document)
    assert undescribed("measure", document) == []
    (row,) = document["side_by_side"]
    assert row["median_s"] == [
        one["median_s"] for device in document["devices"] for one in device["measurements"]
    ]


def test_of_two_devices_all_that_is_said_names_the_card(perfkit, children, monkeypatch, tmp_path):
    def fails(card, number):
        costs(card, number)
        card.fails.add("triad")

    children.prepare = fails
    monkeypatch.setattr(items, "read_devices", _devices(3))
    chart = tmp_path / "a.svg"
    done = perfkit(f"measure copy triad --size 1M --device 2,1 {QUICK} --chart {chart}")
    assert done.code == 5
    assert "device 2: NVIDIA H200, driver 580.1, bounds by the data sheet" in done.out
    assert "device 1: NVIDIA H200, driver 580.1, bounds by the data sheet" in done.out
    assert "Cards side by side\nkernel  device 2  device 1  apart" in done.out
    # both failed alike: told once
    assert done.err.count("error: every card: triad: running the kernel fails") == 1
    assert done.err.count("error:") == 1
    drawn = "".join(path.read_text("utf-8") for path in tmp_path.iterdir())
    assert "device 2: NVIDIA H200" in drawn


def test_one_device_has_no_number_and_nothing_beside_it(perfkit, children):
    done = perfkit(f"measure copy --size 1M {QUICK}")
    assert "device 0" not in done.out
    assert "side by side" not in done.out
    document = json.loads(perfkit(f"measure copy --size 1M {QUICK} --format json").out)
    assert "index" not in document["devices"][0]["environment"]
    assert "side_by_side" not in document


def test_what_the_card_cannot_run_is_left_out_of_a_pattern(perfkit, refused, monkeypatch, children):
    from perfkit.arch import catalog
    from perfkit.device.properties import read_devices

    ampere = FakeDriver.of("NVIDIA A100-SXM4-80GB", catalog.gpu("a100"))
    monkeypatch.setattr(items, "read_devices", lambda: read_devices(ampere))
    assert "gemm_wgmma_bf16 uses instructions of 9.0 only" in refused("measure gemm_wgmma_bf16")
    assert "none of these kernels" in refused("measure gemm_wgmma_*")


def test_a_wrong_result_is_exit_code_1(perfkit, children):
    def spoil(card, number):
        costs(card, number)
        card.kernels["copy"] = lambda launch, a, b, n: b.fill(0)

    children.prepare = spoil
    done = perfkit(f"measure copy --size 1M {QUICK}")
    assert done.code == 1
    assert "WRONG" in done.out


def test_a_failure_is_exit_code_5_and_keeps_the_rest(perfkit, children):
    def fails(card, number):
        costs(card, number)
        card.fails.add("triad")

    children.prepare = fails
    done = perfkit(f"measure copy triad --size 1M {QUICK}")
    assert done.code == 5
    assert "near the bound" in done.out or "below the bound" in done.out
    assert "perfkit: error: triad: running the kernel fails" in done.err


def test_an_interrupt_is_exit_code_130_and_keeps_what_is_done(perfkit, children):
    ended = Failure(end=End.INTERRUPTED, message="interrupted", exit_code=130)
    children.before = lambda number: ended if number else None
    done = perfkit(f"measure copy --size 1M {QUICK}")
    assert done.code == 130
    assert "copy" in done.out
    assert "interrupted" in done.err


def test_no_gpu(refused, monkeypatch):
    def none():
        raise NoDevice("there is no GPU", hint="find one")

    monkeypatch.setattr(items, "read_devices", none)
    assert "there is no GPU" in refused("measure copy", code=4)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("measure nonsense", "no workload is called 'nonsense'"),
        ("measure copy --size m=4", "copy has no size 'm'"),
        ("measure copy --ceilings none.json", "none.json: cannot be read"),
        (
            "measure a.cu --kernel k --grid 1 --threads 1 --reference m.py",
            "--reference 'm.py': not a function",
        ),
        ("measure --spec none.yaml", "none.yaml: cannot be read"),
        ("measure none.yaml", "none.yaml: cannot be read"),
        ("measure none.cu --kernel k --grid 1 --threads 1", "none.cu: cannot be read"),
        ("measure --python none.py:f", "none.py: cannot be read"),
    ],
)
def test_what_the_question_lacks_is_told_before_the_gpu_that_is_missing(
    refused, monkeypatch, line, words
):
    def none():
        raise NoDevice("there is no GPU")

    monkeypatch.setattr(items, "read_devices", none)
    assert words in refused(line, code=2)


@pytest.mark.parametrize(
    ("options", "lacks"),
    [
        (["--arg", "x:f32[4]=none.npy"], "none.npy"),
        (["--reference", "none.py:f"], "none.py"),
    ],
)
def test_files_of_a_kernel_that_are_not_there(perfkit, children, source, options, lacks):
    line = ["measure", str(source), "--kernel", "twice", "--grid", "1", "--threads", "1"]
    done = perfkit([*line, *options])
    assert done.code == 2
    assert f"{lacks}: cannot be read" in done.err
    assert not children.requests


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "twice.cu"
    path.write_text("__global__ void twice(int n, const float* x, float* y) {}")
    return path


def test_a_source(perfkit, children, source):
    def prepare(card, number):
        costs(card, number)
        card.kernels["twice"] = lambda launch, n, x, y: None

    children.prepare = prepare
    line = ["measure", str(source), "--kernel", "twice", "--grid", "(n+127)/128", "--threads"]
    line += ["128", "--arg", "n:i32=1<<20", "--arg", "x:f32[n]", "--arg", "out y:f32[n]"]
    line += ["--flops", "n", "--smem-dynamic", "1K", *QUICK.split(), "-f", "json"]
    done = perfkit(line)
    assert done.code == 0, done.err
    (found,) = json.loads(done.out)["devices"][0]["measurements"]
    assert found["launch"]["blocks"] == 8192
    assert found["launch"]["dynamic_shared_bytes"] == 1024
    assert found["work"] == {
        "flops": 2**20,
        "dtype": "f32",
        "read_bytes": 2**22,
        "write_bytes": 2**22,
        "footprint_bytes": 2**23,
    }


@pytest.mark.parametrize(("tolerance", "code"), [(0.02, 0), (0.005, 1)])
def test_how_wrong_a_result_may_be(perfkit, children, source, tolerance, code):
    """Each element is 1 % more than what is right."""

    def almost(launch, x, y):
        y.view(np.float32)[:] = x.view(np.float32) * 2.02

    def prepare(card, number):
        costs(card, number)
        card.kernels["twice"] = almost

    children.prepare = prepare
    reference = source.with_name("right.py")
    reference.write_text("def right(x):\n    return {'y': 2 * x}\n")
    line = ["measure", str(source), "--kernel", "twice", "--grid", "2", "--threads", "128"]
    line += ["--arg", "x:f32[256]", "--arg", "out y:f32[256]", *QUICK.split()]
    line += ["--reference", f"{reference}:right", "--tolerance", str(tolerance)]
    done = perfkit(line)
    assert done.code == code, done.err


def test_a_yaml_file(perfkit, children, source):
    spec = source.with_name("twice.yaml")
    spec.write_text("file: twice.cu\nkernel: twice\ngrid: 4\nthreads: 64\nargs: ['x:f32[256]']\n")
    children.prepare = costs
    for said in (f"--spec {spec}", str(spec)):
        done = perfkit(f"measure {said} {QUICK}")
        assert done.code == 0, done.err
        assert "twice" in done.out


def test_python(perfkit, children, tmp_path):
    (tmp_path / "bench_of_mine.py").write_text("def work():\n    return None\n")
    path = tmp_path / "bench_of_mine.py"
    done = perfkit(f"measure --python {path}:work --flops 2*8*8*8 --dtype f16 --bytes 1e6 {QUICK}")
    assert done.code == 0, done.err


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("measure", "nothing to measure"),
        ("measure copy --spec a.yaml", "one of them"),
        ("measure nonsense", "no workload is called 'nonsense'"),
        ("measure copy --size n=lots", "no size"),
        ("measure copy --size m=4", "copy has no size 'm'"),
        ("measure copy --size 0", "0: must be 1"),
        ("measure copy --flops 4", "--flops is not for a kernel of the library"),
        ("measure copy --device x", "no number of a device"),
        ("measure copy --ceilings none.json", "cannot be read"),
        ("measure copy --memory-limit lots", "--memory-limit"),
        ("measure copy --runs 0", "--runs"),
        ("measure a.cu copy --kernel k --grid 1 --threads 1", "stands alone"),
        ("measure a.cu --grid 1 --threads 1", "no --kernel"),
        ("measure a.cu --kernel k --grid 1 --threads 1 --unit fast", "simt or tensor"),
        ("measure --spec none.yaml", "No such file"),
        ("measure a.yaml b.yaml", "stands alone"),
        ("measure a.yaml --size 4", "stands alone"),
        ("measure a.yaml --kernel k", "--kernel is not for a.yaml"),
        ("measure --spec a.yaml --grid 1", "--grid is not for --spec"),
        ("measure --python bench.py", "--python 'bench.py': not a function"),
        ("measure --python m:", "not a function"),
        ("measure --python :f", "not a function"),
        ("measure --python m:f --flops n", "names mean nothing here"),
        ("measure --python m:f --flops 1+", "--flops"),
        ("measure --python m:f --kernel k", "--kernel is not for --python"),
        ("measure --python m:f --size 4", "--size is not for --python"),
        ("measure --python m:f --flops 4 --dtype f99", "unknown data type"),
    ],
)
def test_what_is_refused(refused, children, line, words):
    assert words in refused(line)


@pytest.mark.parametrize("line", ["measure copy --device 7", "measure copy --device 0,1"])
def test_a_device_that_is_not_there(refused, children, line):
    assert "there is no device" in refused(line, code=4)


@pytest.mark.parametrize("name", ["bench.py", "bench", "bench.py:"])
def test_python_code_without_its_function_is_refused_before_a_card_is_looked_for(
    refused, monkeypatch, name
):
    def looked(*_):
        raise AssertionError("the driver was asked")

    monkeypatch.setattr(items, "read_devices", looked)
    said = refused(f"measure --python {name}")
    assert f"--python '{name}': not a function" in said
    assert "write module:function" in said
