"""``perfkit inspect``: kernels of a cubin or a source, in every format."""

from __future__ import annotations

import csv
import json
from dataclasses import fields
from io import StringIO
from pathlib import Path

import pytest

from perfkit.kernel import KernelResources
from tests.report.schemas import undescribed, validate

CUBINS = Path(__file__).resolve().parents[1] / "data" / "cubin"
ZOO = str(CUBINS / "zoo.sm_90.nvrtc12.cubin")
SOURCE = str(Path(__file__).resolve().parents[2] / "examples" / "kernels" / "saxpy.cu")


def kernels(done):
    assert done.code == 0, done.err
    content = json.loads(done.out)
    validate("inspect", content)
    assert undescribed("inspect", content) == []
    return {kernel["name"]: kernel for kernel in content["kernels"]}


def test_a_cubin(perfkit):
    found = kernels(perfkit(["inspect", ZOO, "-f", "json"]))
    assert len(found) > 15
    # zoo.cu declares __block_size__((64, 2, 1), (2, 2, 1)) there
    assert found["blocks_of_clusters"]["required_block"] == [64, 2, 1]
    assert found["blocks_of_clusters"]["required_cluster"] == [2, 2, 1]
    assert found["named_barriers"]["barriers"] == 6
    assert found["recursive"]["stack_bytes"] is None
    assert "recursive" in found["recursive"]["unknown"]["stack_bytes"]
    assert all(kernel["arch"] == "sm_90" for kernel in found.values())


def test_nulls_are_explained(perfkit):
    found = kernels(perfkit(["inspect", ZOO, "-f", "json"]))
    optional = {field.name for field in fields(KernelResources) if "None" in str(field.type)}
    assert len(optional) > 15
    for kernel in found.values():
        absent = {key for key, value in kernel.items() if value is None}
        assert absent <= optional
        assert absent == set(kernel["unknown"]), kernel["name"]


def test_a_stack_without_a_bound_has_a_column(perfkit):
    done = perfkit(["inspect", ZOO, "--kernel", "^(recursive|plain)$", "-f", "csv"])
    rows = {row["demangled"]: row for row in csv.DictReader(StringIO(done.out))}
    # zoo.cu: one calls itself, the other nothing
    assert {name: row["unbounded_stack"] for name, row in rows.items()} == {
        "recursive": "True", "plain": "False",
    }  # fmt: skip
    table = perfkit(["inspect", ZOO, "--kernel", "^(recursive|plain)$"]).out
    assert "unbounded stack" in table
    assert "unbounded" not in perfkit(["inspect", ZOO, "--kernel", "^plain$"]).out


@pytest.mark.parametrize("form", ["table", "csv", "markdown"])
def test_every_kernel_is_in_every_format(perfkit, form):
    names = kernels(perfkit(["inspect", ZOO, "-f", "json"]))
    done = perfkit(["inspect", ZOO, "-f", form])
    assert done.code == 0
    text = done.out.replace("\\_", "_")
    assert all(name in text for name in names)


def test_csv_reads_back(perfkit):
    done = perfkit(["inspect", ZOO, "--kernel", "^blocks_of", "-f", "csv"])
    (row,) = csv.DictReader(StringIO(done.out))
    assert row["required_block"] == "64x2x1"
    assert row["registers_per_thread"].isdigit()


def test_a_source_is_compiled_once_per_architecture(perfkit, tmp_path, monkeypatch):
    monkeypatch.setenv("PERFKIT_CACHE", str(tmp_path / "cache"))
    source = tmp_path / "axpy.cu"
    source.write_text(
        "template <typename T, int N> __global__ void axpy(T *x) { x[threadIdx.x] *= N; }\n"
        'extern "C" __global__ void plain(float *x) { x[0] = 1; }\n'
    )
    ask = ["inspect", str(source), "-g", "h100,9.0,h200,8.0", "--instantiate", "axpy<float, 4>"]
    done = perfkit([*ask, "-f", "json"])
    assert done.code == 0, done.err
    content = json.loads(done.out)
    validate("inspect", content)
    assert [kernel["arch"] for kernel in content["kernels"]] == ["sm_90"] * 2 + ["sm_80"] * 2
    assert any("axpy<float, 4>" in kernel["demangled"] for kernel in content["kernels"])


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "Missing argument"),
        (["missing.cu", "-g", "9.0"], "missing.cu: cannot be read"),
        (["missing.cu"], "missing.cu: cannot be read"),
        ([SOURCE], "no GPU given"),
        ([ZOO, "--kernel", "("], "--kernel '(' is not a regular expression"),
        ([ZOO, "--kernel", "zzz"], "no kernel matches 'zzz'"),
        ([ZOO, "-I", "."], "--include is for sources"),
        ([ZOO, "--maxrregcount", "32"], "--maxrregcount is for sources"),
        ([ZOO, "--compiler", "nvrtc"], "--compiler is for sources"),
        ([SOURCE, "-g", "9.0", "--compiler", "gcc"], "--compiler gcc: one of auto, "),
        ([__file__], "CUDA source, which is not read"),
    ],
)
def test_what_is_refused_and_how(refused, arguments, says):
    assert says in refused(["inspect", *arguments])


@pytest.mark.parametrize(
    "words", ["inspect", "occupancy", "recommend", "gate check --rule registers<=64"]
)
def test_a_source_that_is_not_there_is_told_before_the_gpu_that_it_lacks(perfkit, words, tmp_path):
    done = perfkit([*words.split(), str(tmp_path / "no*.cu")])
    assert done.code == 2
    assert "no*.cu: cannot be read: No such file or directory" in done.err
