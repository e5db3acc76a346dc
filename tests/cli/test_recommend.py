"""``perfkit recommend``: a launch for a kernel, in every format and as code."""

from __future__ import annotations

import csv
import json
from io import StringIO
from pathlib import Path

import pytest

import perfkit as package
from tests.report.schemas import undescribed, validate

DATA = Path(__file__).resolve().parents[1] / "data" / "cubin"
CUBIN = DATA / "j04.sm_90.cubin"


def recommendations(done):
    assert done.code == 0, done.err
    content = json.loads(done.out)
    validate("recommend", content)
    assert undescribed("recommend", content) == []
    return content["recommendations"]


def test_numbers_typed(perfkit):
    (found,) = recommendations(perfkit("recommend -g h100 -r 40 --smem-static 4K -f json"))
    (result,) = found["results"]
    assert found["block_threads"] == 256
    assert result["blocks_per_sm"] == 6
    assert result["launch_bounds"] == [256, 6]
    assert (result["carveout_percent"], result["carveout_last_percent"]) == (8, 12)
    assert result["l1_bytes"] - result["default_l1_bytes"] == 32 * 1024
    assert result["grid_blocks"] == 132 * 6
    expected = package.occupancy("9.0", threads=256, regs=40, smem=4096)
    assert result["occupancy"] == expected.ratio
    # 48 registers leave room for 5 blocks, 40 for 6, 32 for 8
    rows = {row["blocks_per_sm"]: row["max_registers"] for row in result["budgets"]}
    assert [rows[n] for n in (5, 6, 7, 8)] == [48, 40, 32, 32]


def test_several_gpus_one_launch(perfkit):
    (found,) = recommendations(
        perfkit("recommend -g a100,rtx-4090,h100 -r 36 -s 4K -n 10000000 -f json")
    )
    assert {r["block_threads"] for r in found["results"]} == {found["block_threads"]}
    assert [r["target"] for r in found["results"]] == ["a100-sxm4-80gb", "rtx-4090", "h100-sxm5"]
    assert {r["grid_form"] for r in found["results"]} == {"one_to_one"}
    assert found["carveout_percent"] is not None


def test_a_kernel_of_a_file(perfkit):
    done = perfkit(["recommend", str(CUBIN), "-f", "json"])
    found = recommendations(done)
    kernels = {k.demangled: k for k in package.inspect(CUBIN)}
    assert [one["kernel"] for one in found] == list(kernels)
    for one in found:
        (result,) = one["results"]
        kernel = kernels[one["kernel"]]
        assert result["registers_per_thread"] == kernel.registers_per_thread
        assert one["block_threads"] <= (kernel.max_threads or 1024)


def test_a_source_on_two_architectures(perfkit):
    source = "examples/kernels/saxpy.cu"
    done = perfkit(["recommend", source, "-g", "a100,h100", "-f", "json"])
    if done.code == 4:
        pytest.skip(done.err)
    (found,) = recommendations(done)
    assert len(found["results"]) == 2


def test_the_block_size_that_is_given(perfkit):
    (found,) = recommendations(perfkit("recommend -g a100 -r 92 -t 224 -f json"))
    assert found["block_threads"] == 224
    assert found["restrictions"] == ["fixed"]
    assert found["results"][0]["most_warps_per_sm"] == 20


def test_shared_memory_that_grows_with_the_block(perfkit):
    (found,) = recommendations(perfkit("recommend -g h100 -r 32 --smem-per-thread 64 -f json"))
    assert found["dynamic_shared_bytes"] == 64 * found["block_threads"]


@pytest.mark.parametrize("form", ["table", "markdown", "csv", "json"])
@pytest.mark.parametrize(
    "arguments",
    [
        "-g h100 -r 40",
        "-g 6.1,9.0 -r 40 -s 4K",
        "-g h200 -r 40 --cluster 4 -n 1000",
        "-g all -r 40",
    ],
)
def test_every_format(perfkit, form, arguments):
    done = perfkit(f"recommend {arguments} -f {form}")
    assert done.code == 0, done.err
    assert "h200-sxm" in done.out or "256" in done.out


def test_csv_has_a_row_for_each_target(perfkit):
    rows = list(csv.DictReader(StringIO(perfkit("recommend -g a100,h100 -r 36 -f csv").out)))
    assert [(row["target"], row["block_threads"]) for row in rows] == [
        ("a100-sxm4-80gb", "256"),
        ("h100-sxm5", "256"),
    ]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("-g h200 -r 40", "note: no cluster, unless the kernel uses one"),
        ("-g h200 -r 40", "; up to 2 blocks per cluster every SM keeps work"),
        ("-g h100,b200 -r 40", "note: h100-sxm5, b200: no cluster, unless"),
        ("-g h100 -r 40", "depends on how the SMs are grouped, and that was not measured"),
        ("-g h200 -r 40 --cluster 4", "note: clusters of 4: the size asked for"),
    ],
)
def test_the_reason_for_a_cluster_or_none(perfkit, arguments, says):
    assert says in perfkit(f"recommend {arguments}").out


def test_clusters_as_json(perfkit):
    def result(arguments):
        return recommendations(perfkit(f"recommend {arguments} -r 40 -f json"))[0]["results"][0]

    keys = ("cluster_recommended", "cluster_reason", "largest_cluster_on_every_sm")
    assert [result("-g h200")[key] for key in keys] == [1, "no_use", 2]
    assert [result("-g h200 --cluster 4")[key] for key in keys] == [4, "asked", 2]
    assert [result("-g h100")[key] for key in keys] == [1, "no_use", None]
    assert [result("-g a100")[key] for key in keys] == [None, None, None]
    assert [one["size"] for one in result("-g h200")["clusters"]] == [1, 2, 4, 8, 16]


def test_block_sizes_that_tie_each_with_its_limit(perfkit):
    # by registers 51 warps of 40 fit; 768 threads are 24 of them, and 2 * 24 fill 64 slots as well
    done = perfkit("recommend -g h200 -r 40 -f json")
    (found,) = recommendations(done)
    rows = {one["block_threads"]: one for one in found["alternatives"]}
    assert [t for t in sorted(rows) if rows[t]["tied"]] == found["tied_block_threads"]
    assert sum(not one["tied"] for one in rows.values()) == 3
    assert rows[256]["results"][0]["limited_by"] == ["registers"]
    assert rows[768]["results"][0]["limited_by"] == ["warps", "registers"]
    assert done.out == perfkit("recommend -g h200 -r 40 -f json").out
    table = perfkit("recommend -g h200 -r 40").out
    assert "Block sizes, the best first" in table
    assert "Block sizes" not in perfkit("recommend -g h200 -r 40 -t 256").out


@pytest.mark.parametrize("kind", ["cuda", "cuda-core", "cupy", "numba", "triton"])
def test_code(perfkit, kind):
    done = perfkit(f"recommend -g h100 -r 40 --code {kind}")
    assert done.code == 0, done.err
    assert "256" in done.out or "num_warps=8" in done.out
    (content,) = [json.loads(perfkit(f"recommend -g h100 -r 40 --code {kind} -f json").out)]
    assert content["code"] == done.out


def test_code_into_a_file(perfkit, tmp_path):
    path = tmp_path / "launch.cuh"
    assert (
        perfkit(["recommend", "-g", "h100", "-r", "40", "--code", "cuda", "-o", str(path)]).code
        == 0
    )
    assert "cudaLaunchKernelEx" in path.read_text("utf-8")


def test_triton_gets_powers_of_two(perfkit):
    # 384 threads would be as good for this kernel on Ada, and 512 is the power of two
    done = perfkit("recommend -g rtx-4090 -r 40 -s 20K --code triton")
    assert "num_warps=16" in done.out


def test_total_shared_memory_is_taken_as_dynamic_and_says_so(perfkit):
    assert "--smem counts as dynamic" in perfkit("recommend -g h100 -r 40 -s 4K").err
    assert perfkit("recommend -g h100 -r 40 --smem-static 4K").err == ""


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("-g h100", "no kernel and no register count"),
        ("-r 40", "no GPU given"),
        ("-g h100 -r 256", "--regs 256"),
        ("-g h100 -r -1", "--regs -1"),
        ("-g h100 -r 40 -n 0", "--elements 0"),
        ("-g h100 -r 40 -n -5", "--elements '-5' is not a whole number"),
        ("-g h100 -r 40 -n 9223372036854775808", "--elements '9223372036854775808' is not"),
        ("-g h100 -r 40 -n nan", "'nan'"),
        ("-g h100 -r 40 --per-thread 0", "--per-thread 0"),
        ("-g h100 -r 40 -t 1025", "--threads 1025"),
        (
            "-g h100 -r 255 -t 1024",
            "no block of 1024 threads of this kernel launches on h100-sxm5: 262144 registers",
        ),
        ("-g h100 -r 40 -s 300K", "--smem: 307200 bytes"),
        ("-g rtx-4090,5.0 -r 40 --smem-static 90K --smem-dynamic 60K", "--smem-dynamic: 153600"),
        ("-g rtx-4090,5.0 -r 40 --smem-static 1K --smem-per-thread 200K", "launches on rtx-4090"),
        ("-g h100 -r 40 --smem-per-thread 300K", "launches on h100-sxm5"),
        ("-g h100 -r 40 --barriers 17", "--barriers 17"),
        ("-g a100 -r 40 --cluster 4", "no thread block clusters"),
        ("-g h100 -r 40 --cluster 32", "--cluster 32"),
        ("-g h100 -r 40 --cluster 4 --code cupy", "CuPy cannot launch clusters"),
        ("-g h100 -r 40 -t 96 --code triton", "no block size that is asked for"),
        ("-g h100 -r 40 --code fortran", "'fortran'"),
        ("-g h100 -r 40 --kernel gemm", "no file is given"),
    ],
)
def test_what_is_refused_and_how(refused, arguments, says):
    assert says in refused(f"recommend {arguments}")


def test_code_is_for_one_kernel(refused):
    several = DATA / "zoo.sm_90.nvrtc13.cubin"
    assert "choose with --kernel" in refused(["recommend", str(several), "--code", "cuda"])


def test_every_kernel_of_a_file(perfkit):
    several = DATA / "zoo.sm_90.nvrtc13.cubin"
    found = recommendations(perfkit(["recommend", str(several), "-g", "h100", "-f", "json"]))
    kernels = {k.demangled: k for k in package.inspect(several)}
    assert [one["kernel"] for one in found] == list(kernels)
    assert len(found) > 10
    for one in found:
        kernel = kernels[one["kernel"]]
        block = kernel.required_block
        if block is not None:
            assert one["block_threads"] == block[0] * block[1] * block[2]
        if kernel.required_cluster is not None:
            assert one["cluster_size"] is not None


def test_a_kernel_that_launches_nowhere_leaves_the_others_theirs(perfkit):
    several = DATA / "zoo.sm_90.nvrtc13.cubin"
    names = [k.demangled for k in package.inspect(several)]
    # with 227 KiB of dynamic shared memory there is none left to declare
    done = perfkit(["recommend", str(several), "--smem-dynamic", "227K", "-f", "json"])
    found = [one["kernel"] for one in json.loads(done.out)["recommendations"]]
    statics = {k.demangled: k.static_shared_bytes for k in package.inspect(several)}
    assert 0 < len(found) < len(names)
    assert done.code == 2
    assert all(statics[name] == 0 for name in found)
    left = [name for name in names if name not in found]
    assert all(name in done.err for name in left)


@pytest.mark.parametrize(
    ("arguments", "left", "says"),
    [
        ("-g a100,rtx-4090 --smem-dynamic 150K", "a100-sxm4-80gb", "launches on rtx-4090: 153600"),
        ("-g rtx-4090,a100 --smem-dynamic 150K", "a100-sxm4-80gb", "launches on rtx-4090: 153600"),
        ("-g a100,h100 --cluster 4", "h100-sxm5", "8.0 has no thread block clusters"),
    ],
)
def test_a_target_that_cannot_launch_leaves_the_others_theirs(perfkit, arguments, left, says):
    done = perfkit(f"recommend {arguments} -r 40 -f json")
    (found,) = json.loads(done.out)["recommendations"]
    assert [result["target"] for result in found["results"]] == [left]
    assert done.code == 2
    assert done.err.count("perfkit: error: ") == 1
    assert says in done.err
    alone = arguments.replace("a100,rtx-4090", "a100").replace("rtx-4090,a100", "a100")
    alone = alone.replace("a100,h100", "h100")
    assert json.loads(perfkit(f"recommend {alone} -r 40 -f json").out)["recommendations"] == [found]


def test_a_mistake_about_all_targets_is_told_once(refused):
    assert refused("recommend -g a100,h100 -r 40 -n 0").count("--elements 0") == 1


def test_a_target_that_the_source_does_not_compile_for(perfkit, tmp_path, monkeypatch):
    monkeypatch.setenv("PERFKIT_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "k.cu"
    path.write_text(
        "#if __CUDA_ARCH__ < 900\n#error hopper only\n#endif\n"
        'extern "C" __global__ void k(float *x) { *x = 1; }\n'
    )
    done = perfkit(["recommend", str(path), "-g", "a100,h100", "--compiler", "nvrtc", "-f", "json"])
    if done.code == 4:
        pytest.skip(done.err)
    (found,) = json.loads(done.out)["recommendations"]
    assert [result["target"] for result in found["results"]] == ["h100-sxm5"]
    assert done.code == 2
    assert "does not compile for sm_80" in done.err


def test_a_compiler_without_a_source(refused):
    assert "--compiler is about" in refused("recommend -g h100 -r 40 --compiler nvrtc")


def test_elements_as_sizes_are_typed_everywhere(perfkit):
    texts = ("16M", "16777216", "16_777_216", "1.6777216e7")
    tables = [perfkit(f"recommend -g h100 -r 40 -n {text}").out for text in texts]
    assert len(set(tables)) == 1
    assert tables[0] != perfkit("recommend -g h100 -r 40 -n 1e6").out


@pytest.mark.parametrize("option", ["--rest 1", "--tries 3", "--runs 5"])
@pytest.mark.parametrize(
    "question", ["recommend -g h100 -r 40", "gemm -g h100 --dtype f16 --shape 4096"]
)
def test_what_says_how_to_measure_needs_measure(perfkit, question, option):
    done = perfkit(f"{question} {option}")
    assert (done.code, done.out) == (2, "")
    assert f"{option.split()[0]} says how to measure: it needs --measure" in done.err


def test_a_given_block_size_is_no_compromise(perfkit):
    done = perfkit("recommend -g h100,rtx-4090 -r 96 --smem-dynamic 48K -t 192")
    assert "because the block size is given\n" in done.out
    assert "compromise" not in done.out
