"""``perfkit fits``: files and numbers, exit codes, every format, inputs that are refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from perfkit.access import require_nvrtc
from perfkit.errors import Unavailable
from tests.report.schemas import undescribed, validate

CUBINS = Path(__file__).resolve().parents[1] / "data" / "cubin"
EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "kernels"
CLUSTERED = CUBINS / "j04.sm_90.cubin"  # dsm: 12 registers, 512 B, 128 threads, clusters of 4
BOUNDED = CUBINS / "j03.mb3.sm_86.cubin"  # tile8: 80 registers, 8,192 B, 256 threads
UNBOUNDED = CUBINS / "j07.sm_80.cubin"  # 110, 8 and 10 registers, no launch bounds
KIB = 1024


def results(done, code=0):
    assert done.code == code, done.err
    content = json.loads(done.out)
    validate("fits", content)
    assert undescribed("fits", content) == []
    return content["results"]


@pytest.fixture(scope="module")
def nvrtc():
    try:
        return require_nvrtc()
    except Unavailable as error:
        pytest.skip(error.message)


@pytest.fixture
def source(nvrtc, tmp_path, monkeypatch):
    """Writes a source, to be compiled without the user's cache."""
    monkeypatch.setenv("PERFKIT_CACHE", str(tmp_path / "cache"))

    def write(text):
        path = tmp_path / "kernels.cu"
        path.write_text(text)
        return str(path)

    return write


# --- numbers --------------------------------------------------------------------------------------


def test_one_launch_on_several_gpus(perfkit):
    """232,448 B are what a block of 9.0 gets; 101,376 on 8.9, 166,912 on 8.0."""
    line = "fits -g h100,a100,rtx-4090 -t 384 -r 168 --smem 232448 -f json"
    hopper, ampere, ada = results(perfkit(line))
    # 24 blocks' worth of warps aside: 5,376 registers a warp, 12 warps, one block
    assert (hopper["launches"], hopper["blocks_per_sm"]) == (True, 1)
    assert hopper["conditions"][0]["value"] == 232_448
    for refused, allowed in ((ampere, 163 * KIB), (ada, 99 * KIB)):
        (obstacle,) = refused["obstacles"]
        assert refused["launches"] is False
        assert (obstacle["needed"], obstacle["allowed"]) == (232_448, allowed)
        assert obstacle["changes"][0]["value"] == allowed


def test_the_sentence_has_both_numbers(perfkit):
    done = perfkit("fits -g 8.9 -t 256 -r 32 -s 101377")
    assert "needs 101,377 B of shared memory, a block on sm_89 gets 99 KiB" in done.out
    assert "at most 101,376 B of shared memory (1 B less)" in done.out


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ("-g 8.9 -s 99K", 0),
        ("-g 8.9 -s 100K", 1),
        ("-g 8.9,9.0 -s 100K", 1),
        ("-g all -s 48K", 0),
        ("-g 9.0 --cluster 8", 0),
        ("-g 8.0 --cluster 8", 1),
        ("-g 10.3 --cluster 16", 3),  # nobody says whether it takes more than 8
        ("-g 10.3,8.0 --cluster 16", 1),
        ("-g 9.0 --smem-static 64K", 1),
        ("-g sm_90a --smem-static 64K", 0),
        ("-g 9.0 -t 1056", 1),
        ("-g 9.0 -r 256", 1),
    ],
)
def test_exit_codes_of_check(perfkit, more, code):
    line = f"fits -t 256 -r 32 {more}" if "-t" not in more else f"fits -r 32 {more}"
    if "-r" in more:
        line = f"fits -t 256 {more}"
    assert perfkit(line).code == 0
    assert perfkit(f"{line} --check").code == code


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("fits -t 256 -r 32", "no GPU given"),
        ("fits -g h100 -t 256", "no register count"),
        ("fits -g h100 -r 32", "how many threads"),
        ("fits -g h100 -t 0 -r 32", "--threads 0: "),
        ("fits -g h100 -t 256 -r -1", "--regs -1: "),
        ("fits -g h100 -t 256 -r 32 -s 1Q", "not a size"),
        ("fits -g h100 -t 256 -r 32 -s 4K --smem-static 1K", "--smem is static + dynamic"),
        ("fits -g h100 -t 256 -r 32 --cluster x", "--cluster"),
        ("fits -g h100 -t 256 -r 32 --cluster 0", "--cluster 0: at least 1 block per cluster"),
        (f"fits {CLUSTERED} -g 9.0 --cluster 2,0", "--cluster 2,0: at least 1 block per cluster"),
        ("fits -g h900 -t 256 -r 32", "unknown GPU"),
        ("fits -g h100 --kernel k -t 256 -r 32", "no file is given"),
        ("fits nowhere.cubin -g h100", "nowhere.cubin"),
        (f"fits {CLUSTERED} -g h100 --kernel nothing", "no kernel matches"),
        (f"fits {CLUSTERED} -g h100 -D X=1", "compiled already"),
        (f"fits {CLUSTERED}", "no GPU given"),
    ],
)
def test_refused(refused, line, says):
    assert says in refused(line)


# --- compiled files -------------------------------------------------------------------------------


def test_a_cubin_runs_on_what_it_is_compiled_for(perfkit):
    line = f"fits {BOUNDED} -g 8.0,8.6,8.9,9.0 --check -f json"
    older, same, newer, other = results(perfkit(line), code=1)
    assert [one["launches"] for one in (older, same, newer, other)] == [False, True, True, False]
    # 256 threads x 80 registers: 3 blocks on either; 24 of 48 warps
    assert (same["blocks_per_sm"], newer["occupancy"]) == (3, 0.5)
    assert older["obstacles"][0]["reason"] == "architecture"
    assert older["obstacles"][0]["changes"][0]["target"] == "-gencode=arch=compute_80,code=sm_80"


def test_what_a_cubin_says_of_its_launch(perfkit):
    (result,) = results(perfkit(f"fits {CLUSTERED} -g 9.0 -f json"))
    assert (result["block_threads"], result["cluster_size"], result["launches"]) == (128, 4, True)
    (result,) = results(perfkit(f"fits {CLUSTERED} -g 9.0 -t 256 --cluster 2 -f json"))
    assert [one["reason"] for one in result["obstacles"]] == ["launch_bounds", "launch_bounds"]
    # a block of that size in another shape has as many threads
    (result,) = results(perfkit(f"fits {CLUSTERED} -g 9.0 -t 16,8 --cluster 2,2 -f json"))
    assert result["launches"] is True


def test_dynamic_shared_memory_comes_on_top_of_static(perfkit):
    most = 227 * KIB - 512
    (fits,) = results(perfkit(f"fits {CLUSTERED} -g 9.0 --smem-dynamic {most} -f json"))
    assert (fits["launches"], fits["conditions"][0]["value"]) == (True, most)
    (not_,) = results(perfkit(f"fits {CLUSTERED} -g 9.0 --smem-dynamic {most + 1} -f json"))
    assert not_["obstacles"][0]["needed"] == 227 * KIB + 1


def test_kernels_without_launch_bounds(perfkit):
    """110 registers: 3,584 a warp; 65,536 hold 18, and in fours 16 warps."""
    line = f"fits {UNBOUNDED} -g a100 -f json"
    by_name = {one["kernel"]: one for one in results(perfkit(line))}
    assert by_name["app::detail::first"]["launches"] is True
    assert by_name["app::detail::first"]["block_threads"] is None
    anonymous = by_name["(anonymous namespace)::anon_k"]
    assert anonymous["launches"] is None
    assert "up to 512 threads" in anonymous["unknown"][0]
    assert perfkit(f"{line} --check").code == 3
    assert perfkit(f"{line} --check -t 512").code == 0
    assert perfkit(f"{line} --check -t 544").code == 1


def test_a_log(perfkit):
    """j03 with three blocks asked for: 80 registers and 8,192 B; 3 blocks on 8.6 and 8.9."""
    log = CUBINS / "j03.mb3.sm_86.ptxas.txt"
    line = f"fits {log} -g 8.6,8.9,7.5 -t 256 -f json"
    found = results(perfkit(line))
    assert [one["blocks_per_sm"] for one in found] == [3, 3, None]
    assert [one["launches"] for one in found] == [True, True, False]


def test_a_file_that_perfkit_wrote(perfkit, tmp_path):
    kernel = {"name": "attn_fwd", "arch": "sm_89", "threads": 128, "dynamic_shared_bytes": 27136}
    known = {"registers_per_thread": 96, "static_shared_bytes": 0}
    path = tmp_path / "kernels.json"

    def ask(entry, more=""):
        path.write_text(json.dumps({"schema": "perfkit.inspect/1", "kernels": [entry]}))
        return results(perfkit(f"fits {path} -g 8.9 -f json {more}"))[0]

    found = ask(kernel | known)
    # a block takes 27,136 + 1,024 B of 102,400: 3 blocks
    assert (found["launches"], found["blocks_per_sm"]) == (True, 3)
    assert ask(kernel | known, "--smem-dynamic 100K")["launches"] is False
    assert ask(kernel | known, "-t 1024")["launches"] is False  # 96 x 1,024 registers
    unknown = ask(kernel)
    assert unknown["launches"] is None
    assert len(unknown["unknown"]) == 2
    assert ask(kernel | {"dynamic_shared_bytes": 102_400})["launches"] is False


# --- sources --------------------------------------------------------------------------------------


def test_a_source_that_compiles_for_some_of_the_targets(perfkit, source):
    path = EXAMPLES / "cluster_sum.cu"
    line = f"fits {path} -g a100,h100 --check -f json"
    source("")  # only for its cache
    fits, refused = results(perfkit(line), code=1)
    assert (fits["target"], fits["launches"], fits["cluster_size"]) == ("h100-sxm5", True, 4)
    (obstacle,) = refused["obstacles"]
    assert (refused["launches"], refused["kernel"], obstacle["reason"]) == (
        False, None, "compilation",
    )  # fmt: skip
    assert "__cluster_dims__ is not supported" in obstacle["message"]
    # for that target alone it is an answer as well
    assert perfkit(f"fits {path} -g a100 --check").code == 1


def test_a_source_that_compiles_for_nothing_is_bad_input(refused, source):
    path = source("__global__ void k(float* p) { *q = 1; }\n")
    error = refused(f"fits {path} -g a100,h100 --check")
    assert '"q" is undefined' in error


def test_static_shared_memory_that_the_assembler_refuses(perfkit, source):
    path = source(
        "template <int n> __global__ void staged(int* p) {\n"
        "  __shared__ int s[n]; s[threadIdx.x] = *p; __syncthreads(); *p = s[threadIdx.x ^ 1];\n"
        "}\ntemplate __global__ void staged<BYTES / 4>(int*);\n"
    )
    (fits,) = results(perfkit(f"fits {path} -g 8.0 -D BYTES=49152 -f json"))
    assert (fits["launches"], fits["static_shared_bytes"]) == (True, 48 * KIB)
    turing, ampere = results(perfkit(f"fits {path} -g 6.1,8.0 -D BYTES=65536 -f json"))
    for refused in (turing, ampere):
        assert refused["kernel"] == "staged<16384>"
        (obstacle,) = refused["obstacles"]
        assert obstacle["reason"] == "static_shared_memory"
        assert (obstacle["needed"], obstacle["allowed"]) == (65_536, 49_152)
    assert turing["obstacles"][0]["changes"][0]["kind"] == "less_static"
    assert ampere["obstacles"][0]["changes"][0]["kind"] == "dynamic_shared"


def test_a_target_that_the_compiler_does_not_know(perfkit, source, nvrtc):
    """NVRTC 12.9 knows no 8.8, NVRTC 13 no 7.0."""
    path = source("__global__ void __launch_bounds__(64) k(float* p) { *p = 1; }\n")
    unknown = "8.8" if nvrtc < (13, 0) else "7.0"
    fits, open_ = results(perfkit(f"fits {path} -g 9.0,{unknown} --compiler nvrtc -f json"))
    assert (fits["launches"], open_["launches"]) == (True, None)
    assert "does not compile for" in open_["unknown"][0]
    assert perfkit(f"fits {path} -g 9.0,{unknown} --compiler nvrtc --check").code == 3
    assert perfkit(f"fits {path} -g {unknown} --compiler nvrtc --check").code == 4


# --- formats --------------------------------------------------------------------------------------


def test_failures_only(perfkit):
    """dsm is launched in clusters: H100 has them, A100 has none and runs no code for 9.0."""
    done = perfkit(f"fits {CLUSTERED} -g a100,h100 --failed --check -f json")
    assert done.code == 1
    content = json.loads(done.out)
    validate("fits", content)
    assert [one["target"] for one in content["results"]] == ["a100-sxm4-80gb"]
    assert content["counts"] == {"launches": 1, "does_not_launch": 1, "unknown": 0}
    table = perfkit(f"fits {CLUSTERED} -g h100 --failed").out
    assert table.strip() == "1 of 1 launch"


def test_formats(perfkit, tmp_path):
    line = f"fits {CLUSTERED} -g a100,h100"
    assert perfkit(line).out.startswith("1 of 2 launch\n")
    assert perfkit(f"{line} -f markdown").out.startswith("**1 of 2 launch**\n\n| kernel |")
    rows = perfkit(f"{line} -f csv").out.splitlines()
    assert len(rows) == 3
    assert rows[0].startswith("kernel,target,compute_capability,arch,")
    path = tmp_path / "out.json"
    done = perfkit(f"{line} -f json -o {path} --check")
    assert (done.code, done.out) == (1, "")
    validate("fits", json.loads(path.read_text()))


@pytest.mark.parametrize(
    ("more", "launches"),
    [
        ([], None),
        (["--smem-dynamic", "0"], True),
        (["--smem-dynamic", "232448"], True),
        (["--smem-dynamic", "232449"], False),
        (["--smem", "4K"], True),
    ],
)
def test_dynamic_shared_memory_of_an_amount_that_nobody_says(perfkit, tmp_path, more, launches):
    """A kernel that is known to use some does not use none."""
    path = tmp_path / "kernels.json"
    perfkit(["inspect", str(CLUSTERED), "-f", "json", "-o", str(path)])
    content = json.loads(path.read_text())
    (kernel,) = content["kernels"]
    kernel |= {"uses_dynamic_shared": True, "static_shared_bytes": 0, "required_cluster": None}
    path.write_text(json.dumps(content))
    words = ["fits", str(path), "-g", "h100", "--check", "-f", "json", *more]
    code = {True: 0, False: 1, None: 3}[launches]
    (found,) = results(perfkit(words), code)
    assert found["launches"] is launches
    if launches is None:
        assert "up to 232,448 B of dynamic shared memory" in found["unknown"][0]
