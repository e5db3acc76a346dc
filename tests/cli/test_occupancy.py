"""``perfkit occupancy``: answers for numbers and for files, and every input that is none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.report.schemas import undescribed, validate

CUBINS = Path(__file__).resolve().parents[1] / "data" / "cubin"
CLUSTERED = CUBINS / "j04.sm_90.cubin"  # dsm: 12 registers, 512 B, 128 threads, clusters of 4
UNBOUNDED = CUBINS / "j05.sm_80.cubin"  # flat and rec, without launch bounds
H100 = "occupancy -g h100 -t 256 -r 32"

SOURCE = """
extern "C" __global__ __launch_bounds__(192) void first(float *x) {
    __shared__ float tile[256];
    tile[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = tile[191 - threadIdx.x];
}
#ifdef MORE
extern "C" __global__ void second(float *x) { x[threadIdx.x] = NAME; }
#endif
"""


def results(done, topic="occupancy"):
    assert done.code == 0, done.err
    content = json.loads(done.out)
    validate(topic, content)
    assert undescribed(topic, content) == []
    return content["results"]


@pytest.fixture
def source(tmp_path, monkeypatch):
    monkeypatch.setenv("PERFKIT_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "kernels.cu"
    path.write_text(SOURCE)
    return str(path)


# --- numbers ------------------------------------------------------------------------------------


def test_numbers(perfkit):
    (result,) = results(perfkit("occupancy -g h100 -t 256 -r 40 -f json"))
    # 40 x 32 = 1,280 registers a warp, 12 warps in each of four partitions, 48 warps, 6 blocks of 8
    assert result["limits"]["registers"] == 6
    assert result["occupancy"] == 48 / 64
    assert result["kernel"] is None
    assert (result["target"], result["gpu"]) == ("h100-sxm5", "H100 SXM5 80GB")


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ("-s 1.5K", {"shared_bytes_per_block": 1536}),
        ("--smem-static 1K --smem-dynamic 48K", {"shared_bytes_per_block": 49 * 1024}),
        ("--smem-dynamic 48KiB", {"shared_bytes_per_block": 49152}),
        ("--carveout 50%", {"carveout_percent": 50}),
        ("--carveout 0", {"carveout_percent": 0}),
        ("--carveout default", {"carveout_percent": None}),
        ("--barriers 16", {"barriers": 16, "binding": ["barriers"], "blocks_per_sm": 4}),
        ("--barriers 0", {"barriers": 0}),
        ("--grid 32,16", {"grid": 512}),
        ("--cluster 2,2", {"cluster_size": 4}),
        ("", {"shared_bytes_per_block": 0, "barriers": 1, "grid": None, "cluster": None}),
    ],
)
def test_options(perfkit, more, expected):
    (result,) = results(perfkit(f"{H100} {more} -f json"))
    assert {key: result[key] for key in expected} == expected


def test_three_dimensions_and_no_registers(perfkit):
    (result,) = results(perfkit("occupancy -g 8.6 -t 32,8,4 -r 0 -f json"))
    assert result["block_threads"] == 1024
    assert result["limits"]["registers"] is None


def test_a_dedicated_and_a_configurable_capability_take_64_kib(perfkit):
    first, second = results(perfkit("occupancy -g sm_75,6.0 -t 64 -r 16 --carveout 64KiB -f json"))
    assert (first["carveout_percent"], second["carveout_percent"]) == (100, 100)
    assert any("no effect" in note for note in second["notes"])


def test_every_capability(perfkit):
    found = results(perfkit("occupancy -g all -t 256 -r 32 -s 8K -f json"))
    assert len(found) == 20
    assert found[0]["target"] == "5.0"
    assert {result["hardware"]["evidence"] for result in found} == {
        "measured",
        "assumed",
        "dedicated",
    }


def test_a_large_cluster_is_said_to_be_not_portable(perfkit):
    done = perfkit(f"{H100} --cluster 9")
    assert done.code == 0
    assert "a cluster of 9 is not portable" in done.out
    assert "portable" not in perfkit(f"{H100} --cluster 8").out


def test_a_launch_that_fits_one_gpu_and_not_another_is_an_answer(perfkit):
    first, second = results(perfkit("occupancy -g h100,v100 -t 256 -r 32 -s 128K -f json"))
    assert (first["blocks_per_sm"], second["blocks_per_sm"]) == (1, 0)
    assert second["refusal"]["resource"] == "shared_bytes_per_block"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("-t 0", "--threads 0: compute capability 9.0 takes 1 to 1024"),
        ("-t 1025", "--threads 1025: compute capability 9.0 takes 1 to 1024"),
        ("-t 2000,1", "--threads 2000: compute capability 9.0 takes 1 to 1024"),
        ("-t 1,1,65", "--threads: z is 65, compute capability 9.0 takes 1 to 64"),
        ("-t 32,8,4,2", "--threads '32,8,4,2': not one to three whole numbers"),
        ("-t -5", "--threads '-5'"),
        ("-r 256", "--regs 256: compute capability 9.0 takes 0 to 255"),
        ("-r -1", "--regs -1: compute capability 9.0 takes 0 to 255"),
        ("-r 9999999999999999999999", "--regs 9999999999999999999999: compute"),
        ("-r many", "--regs: 'many' is not"),
        ("-s -1", "--smem '-1' is not a size"),
        ("-s 1e9", "--smem: 1000000000 bytes of shared memory per block"),
        ("-s 1e", "--smem '1e' is not a size"),
        ("-s 99999999999999999999", "--smem '99999999999999999999' is not a plausible size"),
        ("-s 999999999999999999G", "--smem: "),
        ("-s 1.3B", "--smem '1.3B' is not a whole number of bytes"),
        ("-s 228K", "--smem: 233472 bytes of shared memory per block, compute capability 9.0"),
        ("--smem-static 1G", "--smem-static: "),
        ("--smem-dynamic 228K", "--smem-dynamic: 233472 bytes"),
        ("--smem-static x", "--smem-static 'x' is not a size"),
        ("-s 1K --smem-dynamic 1K", "--smem is static + dynamic"),
        ("--carveout 101%", "--carveout 101%"),
        ("--carveout 33K", "--carveout 33K: compute capability 9.0 cannot be configured so"),
        ("--barriers 17", "--barriers 17: compute capability 9.0 takes 0 to 16"),
        ("--barriers -1", "--barriers -1: compute capability 9.0 takes 0 to 16"),
        ("--grid 0", "--grid: x is 0"),
        ("--grid 1,1,65536", "--grid: z is 65536, compute capability 9.0 takes 1 to 65535"),
        ("--cluster 17", "--cluster 17: compute capability 9.0 takes 1 to 16"),
        ("--cluster 0", "--cluster 0: compute capability 9.0 takes 1 to 16"),
        ("-g 8.0 --cluster 2", "--cluster 2: compute capability 8.0 has no thread block clusters"),
        ("-g h101", "unknown GPU 'h101'"),
        ("-g 9.0,", "--gpu '9.0,' holds an empty name"),
        ("--kernel x", "--kernel is about the kernels of a file"),
        ("--maxrregcount 32", "--maxrregcount is about the kernels of a file"),
        ("--fast-math", "--fast-math is about the kernels of a file"),
        ("-f xml", "--format: 'xml' is not"),
        ("--threadz 3", "No such option"),
    ],
)
def test_what_is_refused_and_how(refused, arguments, says):
    assert says in refused(f"{H100} {arguments}")


@pytest.mark.parametrize(
    ("arguments", "source_id"),
    [
        ("-t 1025", "limits.max_threads_per_block: "),
        ("-r 256", "registers.max_per_thread: "),
        ("-s 228K", "shared_memory.max_per_block_optin_bytes: "),
        ("--carveout 33K", "shared_memory.capacities_bytes: "),
        ("--cluster 17", "cluster.max_nonportable: "),
    ],
)
def test_a_limit_names_its_source(refused, arguments, source_id):
    hint = refused(f"{H100} {arguments}").splitlines()[1]
    assert hint.startswith(f"hint: {source_id}")
    assert len(hint) > len(f"hint: {source_id}") + 5


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("-t 256 -r 32", "no GPU given"),
        ("-g h100 -r 32", "how many threads per block?"),
        ("-g h100 -t 256", "no register count given"),
    ],
)
def test_what_is_missing(refused, arguments, says):
    assert says in refused(f"occupancy {arguments}")


# --- files --------------------------------------------------------------------------------------


def test_a_cubin_says_itself_what_it_is_compiled_for(perfkit):
    (result,) = results(perfkit(["occupancy", str(CLUSTERED), "-f", "json"]))
    assert (result["kernel"], result["target"]) == ("dsm", "9.0")
    assert (result["block_threads"], result["registers_per_thread"]) == (128, 12)
    assert result["shared_bytes_per_block"] == 512
    assert result["cluster_size"] == 4  # the kernel insists on it
    assert any("clusters need a product" in note for note in result["notes"])


def test_what_is_typed_wins_over_the_kernel(perfkit):
    ask = ["occupancy", str(CLUSTERED), "-g", "h100", "-t", "64", "-r", "64"]
    ask += ["--smem-dynamic", "1K", "--barriers", "3", "--cluster", "4", "-f", "json"]
    (result,) = results(perfkit(ask))
    assert (result["block_threads"], result["registers_per_thread"]) == (64, 64)
    assert result["shared_bytes_per_block"] == 512 + 1024
    assert (result["barriers"], result["cluster_size"]) == (3, 4)


@pytest.mark.parametrize(
    ("typed", "noted"),
    [("", True), ("--smem-dynamic 4K", False), ("--smem-dynamic 0", False), ("--smem 0", False)],
)
def test_dynamic_shared_memory_is_not_forgotten_silently(perfkit, typed, noted):
    ask = ["occupancy", str(CUBINS / "zoo.sm_80.nvrtc12.cubin"), "-t", "128", "-f", "json"]
    (result,) = results(perfkit([*ask, "--kernel", "^dynamic_shared$", *typed.split()]))
    note = "dynamic_shared uses dynamic shared memory, counted as 0 bytes: give --smem-dynamic"
    assert (note in result["notes"]) == noted


def test_all_kernels_with_all_targets_in_the_order_of_the_file(perfkit):
    ask = ["occupancy", str(UNBOUNDED), "-g", "8.0,a100,8.6", "-t", "128", "-f", "json"]
    found = results(perfkit(ask))
    assert [(r["kernel"], r["target"]) for r in found] == [
        (kernel, target)
        for kernel in ("flat", "rec")
        for target in ("8.0", "a100-sxm4-80gb", "8.6")
    ]
    assert any("stack bytes unknown" in note for note in found[-1]["notes"])


def test_one_kernel_of_several(perfkit):
    (result,) = results(
        perfkit(["occupancy", str(UNBOUNDED), "--kernel", "^r", "-t", "128", "-f", "json"])
    )
    assert result["kernel"] == "rec"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["-g", "h100"], "does not run on 9.0"),
        (["-t", "128", "--kernel", "("], "--kernel '(' is not a regular expression"),
        (["-t", "128", "--kernel", "nothing"], "no kernel matches 'nothing'"),
        (["-t", "128", "-D", "X"], "--define is for sources"),
        ([], "kernel flat has no launch bounds"),
    ],
)
def test_a_file_and_options_that_do_not_go_together(refused, arguments, says):
    assert says in refused(["occupancy", str(UNBOUNDED), *arguments])


def test_less_shared_memory_than_the_kernel_declares(refused):
    err = refused(["occupancy", str(CLUSTERED), "-s", "100"])
    assert "--smem 100: the kernel declares 512 B statically" in err


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("missing.cubin", None, "cannot be read: No such file"),
        ("folder.cu", "folder", "folder.cu"),
        ("empty.cubin", b"", "empty"),
        ("text.txt", b"hello", "text"),
        ("cut.cubin", CLUSTERED.read_bytes()[:3000], "cut.cubin"),
    ],
)
def test_files_that_are_no_kernels(refused, tmp_path, name, content, says):
    path = tmp_path / name
    if content == "folder":
        path.mkdir()
    elif content is not None:
        path.write_bytes(content)
    err = refused(["occupancy", str(path), "-g", "h100", "-t", "128"])
    assert says in err
    assert name in err


def test_a_source_is_compiled_for_every_target(perfkit, source):
    found = results(perfkit(["occupancy", source, "-g", "gtx-980,sm_90a", "-f", "json"]))
    assert [result["target"] for result in found] == ["gtx-980", "9.0a"]
    assert {result["kernel"] for result in found} == {"first"}
    assert {result["block_threads"] for result in found} == {192}
    assert {result["shared_bytes_per_block"] for result in found} == {1024}
    done = perfkit(["occupancy", source, "-g", "gtx-980,sm_90a"])
    assert done.out.startswith("first: 192 threads per block, ")


def test_compiler_options_reach_the_compiler(perfkit, source):
    ask = ["occupancy", source, "-g", "8.0", "-t", "64", "-D", "MORE", "-D", "NAME=1.5f"]
    found = results(perfkit([*ask, "--std", "c++17", "--maxrregcount", "32", "-f", "json"]))
    assert [result["kernel"] for result in found] == ["first", "second"]


def test_a_source_that_does_not_compile_shows_the_log(refused, tmp_path, monkeypatch):
    monkeypatch.setenv("PERFKIT_CACHE", "")
    path = tmp_path / "wrong.cu"
    path.write_text("__global__ void k() {\n    undeclared = 1;\n}\n")
    err = refused(["occupancy", str(path), "-g", "8.0", "-t", "64"])
    assert "wrong.cu(2): error:" in err
    assert "perfkit: error: " in err


def test_a_source_needs_a_gpu(refused, source):
    assert "no GPU given" in refused(["occupancy", source])


# --- clusters -----------------------------------------------------------------------------------

BOUNDED = CUBINS.parent / "clusters" / "clusters.sm_90.cubin"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (
            "--kernel bounded --cluster 8",
            "--cluster 8: the launch bounds of bounded allow clusters",
        ),
        ("--kernel bounded --cluster 4,2", "--cluster 4,2: the launch bounds of bounded"),
        ("--kernel required --cluster 4", "--cluster 4: required is compiled for clusters of 2 x"),
        ("--kernel required --cluster 1,2", "--cluster 1,2: required is compiled for"),
        ("--kernel required --grid 3", "--grid 3: 3 blocks are no multiple of the cluster's 2"),
        ("--kernel required --grid 3,2", "--grid 3,2: x: 3 blocks are no multiple of"),
        ("--kernel plain --cluster 2,2 --grid 6,3", "--grid 6,3: y: 3 blocks are no multiple of"),
        ("--kernel plain --cluster 4 --grid 6", "--grid 6: 6 blocks are no multiple of"),
        ("--kernel plain --cluster 0 --grid 6", "--cluster 0: compute capability 9.0 takes 1 to"),
    ],
)
def test_clusters_that_do_not_launch(refused, arguments, says):
    err = refused(["occupancy", str(BOUNDED), "-g", "h200", "-t", "128", *arguments.split()])
    assert says in err


@pytest.mark.parametrize(
    "arguments",
    [
        "--kernel bounded --cluster 4 --grid 64",
        "--kernel required --cluster 2 --grid 6",
        "--kernel required --cluster 2,1,1 --grid 2,3",
        "--kernel plain --cluster 4 --grid 6,2",  # one number is a total: its axes are not known
    ],
)
def test_clusters_that_launch(perfkit, arguments):
    ask = ["occupancy", str(BOUNDED), "-g", "h200", "-t", "128", *arguments.split()]
    (result,) = results(perfkit([*ask, "-f", "json"]))
    assert result["waves"]["blocks_per_wave"] == result["cluster"]["active_blocks"]


def test_waves_are_those_of_clusters(perfkit):
    (result,) = results(perfkit("occupancy -g h200 -t 32 -r 16 --cluster 2 --grid 10000 -f json"))
    # 132 SMs of 8 blocks, all in groups of an even number
    assert result["cluster"]["active_blocks"] == result["waves"]["blocks_per_wave"] == 132 * 8
    assert result["hardware"]["blocks_per_sm"] == 8
    assert result["blocks_per_sm"] == 32  # the occupancy API does not know of clusters


def test_a_size_of_which_no_source_speaks(perfkit):
    for gpu in ("b300", "rtx-5090"):
        (result,) = results(perfkit(f"occupancy -g {gpu} -t 128 -r 32 --cluster 16 -f json"))
        assert (result["cluster"]["known"], result["cluster"]["exact"]) == (False, False)
        assert any("whether of 16 is not known" in note for note in result["notes"])


# --- one answer does not hang on another --------------------------------------------------------


def test_a_target_without_an_answer_leaves_the_others_theirs(perfkit):
    done = perfkit(["occupancy", str(UNBOUNDED), "-g", "h100,a100", "-t", "128", "-f", "json"])
    assert done.code == 2
    assert [r["target"] for r in json.loads(done.out)["results"]] == ["a100-sxm4-80gb"] * 2
    assert done.err.startswith("perfkit: error: every kernel of ")
    assert "which does not run on 9.0" in done.err


def test_errors_of_several_targets_follow_the_answers(perfkit):
    done = perfkit("occupancy -g h100,v100,a100 -t 128 -r 32 --carveout 228K -f json")
    assert (done.code, len(json.loads(done.out)["results"])) == (2, 1)
    assert done.err.count("perfkit: error: --carveout 228K: compute capability") == 2


def test_where_nothing_has_an_answer_one_error_is_enough(refused):
    err = refused("occupancy -g all -t 1025 -r 32")
    assert err.count("perfkit: error: ") == 1


def test_what_is_only_missing_is_4_and_what_is_wrong_is_2(perfkit, source, monkeypatch):
    from perfkit.cli.kernel_options import KernelOptions
    from perfkit.errors import CompileError, Unavailable

    real = KernelOptions.read
    errors = {
        "sm_80": Unavailable("no compiler for it"),
        "sm_75": CompileError("wrong", log="x(1)"),
    }

    def read(self, path, arch):
        if arch in errors:
            raise errors[arch]
        return real(self, path, arch)

    monkeypatch.setattr(KernelOptions, "read", read)
    done = perfkit(["occupancy", source, "-g", "9.0,8.0", "-f", "json"])
    assert (done.code, len(json.loads(done.out)["results"])) == (4, 1)
    assert done.err == "perfkit: error: no compiler for it\n"
    done = perfkit(["occupancy", source, "-g", "8.0,9.0,7.5", "-f", "json"])
    assert (done.code, len(json.loads(done.out)["results"])) == (2, 1)
    assert done.err.splitlines() == [
        "perfkit: error: no compiler for it", "x(1)", "perfkit: error: wrong",
    ]  # fmt: skip


def test_the_default_gpu_is_no_request(perfkit, monkeypatch):
    """Two kernels for 8.0: a default that runs them is taken, another is not."""
    monkeypatch.setenv("PERFKIT_GPU", "h100")
    done = perfkit(["occupancy", str(UNBOUNDED), "-t", "128", "-f", "json"])
    assert [r["target"] for r in results(done)] == ["8.0", "8.0"]
    assert "PERFKIT_GPU=h100 runs none of" in done.err
    monkeypatch.setenv("PERFKIT_GPU", "a100,h100")
    done = perfkit(["occupancy", str(UNBOUNDED), "-t", "128", "-f", "json"])
    assert [r["target"] for r in json.loads(done.out)["results"]] == ["a100-sxm4-80gb"] * 2
    monkeypatch.setenv("PERFKIT_GPU", "h100")
    for command in (["inspect", str(UNBOUNDED)], ["diff", str(UNBOUNDED), str(UNBOUNDED)]):
        assert perfkit(command).code == 0
    assert perfkit(["occupancy", str(UNBOUNDED), "-t", "128", "-g", "h100"]).code == 2


def test_kernels_stay_together_and_what_a_target_lacks_is_said(perfkit, tmp_path, monkeypatch):
    monkeypatch.setenv("PERFKIT_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "k.cu"
    path.write_text(
        "#if __CUDA_ARCH__ >= 900\n"
        'extern "C" __global__ void __launch_bounds__(64) late(float *x) { *x = 1; }\n'
        "#endif\n"
        'extern "C" __global__ void __launch_bounds__(64) both(float *x) { *x = 2; }\n'
    )
    done = perfkit(["occupancy", str(path), "-g", "8.0,9.0,10.0", "-f", "json"])
    assert [(r["kernel"], r["target"]) for r in results(done)] == [
        *(("both", gpu) for gpu in ("8.0", "9.0", "10.0")),
        *(("late", gpu) for gpu in ("9.0", "10.0")),
    ]
    assert done.err == "perfkit: note: 8.0 has no late\n"


@pytest.mark.parametrize("command", ["occupancy", "fits", "recommend"])
def test_a_warning_of_the_compiler_is_said_once_for_all_targets(
    perfkit, tmp_path, monkeypatch, command
):
    monkeypatch.setenv("PERFKIT_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "k.cu"
    path.write_text(
        'extern "C" __global__ void __launch_bounds__(64) k(float *x) { int spare; *x = 1; }\n'
    )
    done = perfkit([command, str(path), "-g", "8.0,9.0,10.0"])
    if done.code == 4:
        pytest.skip(done.err)
    assert done.code == 0
    assert done.err.count("spare") == 1
    assert perfkit([command, str(path), "-g", "8.0,9.0,10.0"]).err == done.err


def test_targets_with_a_letter_are_targets_of_their_own(perfkit, source):
    found = results(perfkit(["occupancy", source, "-g", "sm_90,sm_90a", "-f", "json"]))
    assert [r["target"] for r in found] == ["9.0", "9.0a"]
    assert {r["compute_capability"] for r in found} == {"9.0"}


# --- what is typed ------------------------------------------------------------------------------


def test_less_static_memory_than_the_kernel_declares(refused, perfkit):
    err = refused(["occupancy", str(CLUSTERED), "--smem-static", "0"])
    assert "--smem-static 0: the kernel declares 512 B" in err
    (result,) = results(perfkit(["occupancy", str(CLUSTERED), "--smem-static", "1K", "-f", "json"]))
    assert result["shared_bytes_per_block"] == 1024


def test_a_carveout_keeps_the_size_that_was_typed(perfkit):
    (result,) = results(perfkit(f"{H100} -s 1K --carveout 64KiB -f json"))
    assert (result["carveout_percent"], result["carveout_asked_bytes"]) == (28, 65536)
    assert "carveout 64 KiB (28%)" in perfkit(f"{H100} -s 1K --carveout 64KiB").out


def test_a_carveout_on_dedicated_memory_is_its_only_capacity(refused):
    err = refused("occupancy -g gtx-980 -t 128 -r 32 --carveout 3M")
    assert "--carveout 3M: compute capability 5.2 cannot be configured so; it takes 96 KiB" in err


@pytest.mark.parametrize("flag", ["-q", "--quiet"])
def test_quiet_leaves_the_notes_out(perfkit, monkeypatch, flag):
    ask = ["occupancy", str(UNBOUNDED), "-t", "100"]
    monkeypatch.setenv("PERFKIT_GPU", "h100")
    loud = perfkit(ask)
    assert "note: " in loud.out
    assert "perfkit: note: " in loud.err
    quiet = perfkit([*ask, flag])
    assert loud.out.startswith(quiet.out.rstrip("\n"))
    assert "note: " not in quiet.out + quiet.err
    assert perfkit(ask) == loud  # nothing of it stays


def test_a_block_that_the_kernel_is_not_compiled_for(perfkit):
    ask = ["occupancy", str(CUBINS / "zoo.sm_90.nvrtc12.cubin"), "-f", "json"]
    (result,) = results(perfkit([*ask, "--kernel", "^blocks_of_clusters$", "-t", "64"]))
    assert any("is compiled for blocks of 64 x 2 x 1 threads" in n for n in result["notes"])
    assert "block_size" not in {step["quantity"] for step in result["steps"]}
    (result,) = results(perfkit([*ask, "--kernel", "^blocks_of_clusters$"]))
    assert not any("is compiled for blocks" in note for note in result["notes"])
