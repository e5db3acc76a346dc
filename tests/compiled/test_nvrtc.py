"""Sources through the installed NVRTC. Skipped where there is none."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest

from perfkit.access import nvrtc_targets
from perfkit.arch.types import ComputeCapability
from perfkit.compiled import cache
from perfkit.compiled.compile_options import CompileOptions
from perfkit.compiled.inspect import inspect
from perfkit.compiled.nvrtc import compile_source
from perfkit.compiled.reasons import NO_LAUNCH
from perfkit.errors import CompileError, InputError, Unavailable, UsageError
from tests.compiled.reports import DATA, EXAMPLES, REPOSITORY, cuobjdump, live_usage
from tests.compiled.test_cubin import declared_shared

pytestmark = pytest.mark.usefixtures("nvrtc")

AXPY = ("axpy<float, 256>", "axpy<double, 128>")


def only(path, **options):
    (kernel,) = inspect(path, **options)
    return kernel


def needs(arch):
    if ComputeCapability.parse(arch) not in {(sm // 10, sm % 10) for sm in nvrtc_targets()}:
        pytest.skip(f"this NVRTC does not compile for {arch}")


# -- every example, for several architectures, against cuobjdump --------------------------------

EXAMPLE_TARGETS = [
    *(("tiled_matmul", arch) for arch in ("sm_50", "sm_70", "sm_80", "sm_90", "sm_90a", "sm_120")),
    ("saxpy", "sm_61"),
    ("saxpy", "sm_100f"),
    ("dot_rows", "sm_80"),
    ("transpose", "sm_75"),
    ("transpose", "sm_120"),
    ("half2_add", "sm_86"),
    ("wmma_gemm", "sm_70"),
    ("axpy_template", "sm_50"),
    ("axpy_template", "sm_89"),
    # cooperative_groups.h takes the compiler two seconds
    ("block_reduce", "sm_80"),
    ("cluster_sum", "sm_90"),
]


def options_of(example):
    return CompileOptions(name_expressions=AXPY if example == "axpy_template" else ())


@pytest.mark.parametrize(("example", "arch"), EXAMPLE_TARGETS)
def test_cuobjdump_says_the_same_of_the_examples(example, arch, tmp_path):
    needs(arch)
    options = options_of(example)
    path = EXAMPLES / f"{example}.cu"
    found = inspect(path, arch=arch, name_expressions=options.name_expressions)
    assert {kernel.arch for kernel in found} == {arch}
    assert all(kernel.stack_bytes == kernel.spill_store_bytes == 0 for kernel in found)
    if (tool := cuobjdump()) is None:
        pytest.skip("no cuobjdump: make oracle installs it")
    cubin = tmp_path / "k.cubin"
    cubin.write_bytes(compile_source(path, arch=arch, options=options).cubin)
    expected = live_usage(tool, cubin)
    assert set(expected) == {kernel.name for kernel in found}
    for kernel in found:
        want = expected[kernel.name]
        assert kernel.registers_per_thread == want.registers
        assert kernel.static_shared_bytes == declared_shared(want.shared, arch)
        assert kernel.constant_bytes == want.constant
        assert kernel.stack_bytes == want.stack


@pytest.mark.parametrize("arch", ["sm_50", "sm_80"])
def test_cubin_and_log_complete_each_other(arch):
    """Before 7.0 a cubin hides some frames and some recursion; the log shows both."""
    needs(arch)
    found = {k.name: k for k in inspect(DATA / "zoo.cu", arch=arch)}
    assert found["plain"].frame_bytes == found["plain"].cumulative_stack_bytes == 0
    pointers = found["known_pointers"]
    assert (pointers.frame_bytes, pointers.cumulative_stack_bytes) == (0, 8)
    recursive = found["recursive_with_stack"]
    assert (recursive.frame_bytes, recursive.stack_bytes) == (400, None)
    assert recursive.cumulative_stack_bytes is recursive.local_bytes is None
    assert "recurs" in recursive.unknown["stack_bytes"]
    assert "frame_bytes" not in recursive.unknown


def test_every_example_is_tested():
    names = {path.stem for path in EXAMPLES.glob("*.cu")}
    assert len(names) >= 8
    assert names == {example for example, _ in EXAMPLE_TARGETS}


def test_the_examples_declare_what_they_say():
    needs("sm_70")
    matmul = only(EXAMPLES / "tiled_matmul.cu", arch="sm_70")
    assert matmul.static_shared_bytes == 2 * 16 * 16 * 4
    assert (matmul.max_threads, matmul.barriers, matmul.parameter_bytes) == (256, 1, 3 * 8 + 4)
    needs("sm_120")
    found = {k.name: k for k in inspect(EXAMPLES / "transpose.cu", arch="sm_120")}
    assert list(found) == ["transpose_naive", "transpose_tiled", "transpose_padded"]
    assert [k.static_shared_bytes for k in found.values()] == [0, 32 * 32 * 4, 32 * 33 * 4]
    needs("sm_90")
    cluster = only(EXAMPLES / "cluster_sum.cu", arch="sm_90")
    assert (cluster.required_cluster, cluster.static_shared_bytes) == ((4, 1, 1), 128 * 4)


# -- what options do ------------------------------------------------------------------------------


def test_the_origin_names_file_and_compiler():
    kernel = only(EXAMPLES / "tiled_matmul.cu", arch="9.0")
    file, _, compiler = kernel.origin.partition(", ")
    assert file == str(EXAMPLES / "tiled_matmul.cu")
    assert compiler.startswith("NVRTC 1")
    assert compiler.count(".") == 2


def test_template_instances_by_name():
    found = inspect(EXAMPLES / "axpy_template.cu", arch="sm_89", name_expressions=AXPY)
    assert {kernel.demangled: kernel.static_shared_bytes for kernel in found} == {
        "axpy<float, 256>": 256 * 4,
        "axpy<double, 128>": 128 * 8,
    }
    with pytest.raises(InputError, match="no kernel") as caught:
        inspect(EXAMPLES / "axpy_template.cu", arch="sm_89")
    assert "--instantiate" in caught.value.hint


def test_bounds_lower_registers_and_raise_spills():
    """Case j03: 122 registers unbounded, 80 for three blocks, 64 under __maxnreg__."""

    def tile8(*defines):
        return only(DATA / "j03.cu", arch="sm_86", defines=defines)

    free, three, capped = tile8(), tile8("MB=3"), tile8("MAXREG=64")
    assert free.registers_per_thread == pytest.approx(122, abs=4)
    assert three.registers_per_thread == pytest.approx(80, abs=4)
    assert capped.registers_per_thread == pytest.approx(64, abs=4)
    assert (free.max_threads, free.min_blocks) == (None, None)
    assert (three.max_threads, three.min_blocks) == (256, 3)
    assert free.spill_store_bytes == 0 < three.spill_store_bytes < capped.spill_store_bytes
    assert {name for name in three.unknown if not name.startswith("callee")} == {
        "required_block",
        "required_cluster",
        "max_cluster_blocks",
        *NO_LAUNCH,
    }


def test_maxrregcount_fast_math_std_and_extra(tmp_path):
    path = tmp_path / "k.cu"
    path.write_text(
        "template <class T> concept always = true;\n"
        "#if __USE_FAST_MATH__\n#define SIZE 64\n#else\n#define SIZE 32\n#endif\n"
        'extern "C" __global__ void k(float* a) { __shared__ float s[SIZE * FACTOR];'
        " s[threadIdx.x] = a[threadIdx.x]; __syncthreads(); a[threadIdx.x] = s[threadIdx.x ^ 1]; }"
    )
    options = {"arch": "sm_80", "std": "c++20", "extra": ["-DFACTOR=2"]}
    assert only(path, **options).static_shared_bytes == 32 * 2 * 4
    assert only(path, **options, fast_math=True).static_shared_bytes == 64 * 2 * 4
    small = only(DATA / "j03.cu", arch="sm_86", max_registers=48)
    assert small.registers_per_thread <= 48
    with pytest.raises(UsageError, match="refuses an option"):
        inspect(path, arch="sm_80", std="c++1066")


def test_cuda_headers(tmp_path):
    path = tmp_path / "k.cu"
    path.write_text(
        "".join(
            f"#include <{header}>\n"
            for header in (
                "cuda_fp16.h",
                "cuda_bf16.h",
                "cooperative_groups.h",
                "mma.h",
                "cuda_pipeline.h",
                "cuda/std/array",
                "cub/block/block_reduce.cuh",
            )
        )
        + """
        __global__ void k(const float* x, __half* y) {
            using Reduce = cub::BlockReduce<float, 128>;
            __shared__ typename Reduce::TempStorage storage;
            cuda::std::array<float, 2> a{x[threadIdx.x], x[threadIdx.x + 128]};
            float sum = Reduce(storage).Sum(a[0] + a[1]);
            if (threadIdx.x == 0) *y = __float2half(sum);
        }"""
    )
    assert only(path, arch="sm_90").demangled == "k"


def test_overloads_are_told_apart(tmp_path):
    path = tmp_path / "k.cu"
    path.write_text("__global__ void k(float* a) { *a = 1; } __global__ void k(int* a) { *a = 1; }")
    assert [k.demangled for k in inspect(path, arch="sm_80")] == ["k(float*)", "k(int*)"]


def test_a_recursive_kernel():
    """Case j05: 26 registers; the stack is not a plain 0."""
    found = {kernel.name: kernel for kernel in inspect(DATA / "j05.cu", arch="sm_80")}
    assert list(found) == ["rec", "flat"]  # the order of the source
    assert found["rec"].registers_per_thread == pytest.approx(26, abs=2)
    assert found["rec"].stack_bytes is None
    assert found["flat"].stack_bytes == 0


# -- errors ---------------------------------------------------------------------------------------


def test_the_compilers_own_words(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.cu").write_text("__global__ void k(int* a) {\n  *a = missing;\n}\n")
    with pytest.raises(CompileError) as caught:
        inspect("bad.cu", arch="sm_80")
    assert 'bad.cu(2): error: identifier "missing" is undefined' in caught.value.log
    assert str(caught.value) == "bad.cu: does not compile for sm_80"


@pytest.mark.parametrize(
    ("source", "hint"),
    [
        ("#include <cstdio>\n", "no headers of the host"),  # case j06
        ('#include "mine.h"\n', "-I"),
        ("#include <cutlass/gemm.h>\n", "-I"),
        ("int main() { return 0; }\n", "__CUDACC_RTC__"),
    ],
)
def test_hints(tmp_path, source, hint):
    (tmp_path / "k.cu").write_text(source)
    with pytest.raises(CompileError) as caught:
        inspect(tmp_path / "k.cu", arch="sm_80", compiler="nvrtc")
    assert hint in caught.value.hint
    assert "k.cu(1): " in caught.value.log


def test_clusters_before_9_0():
    """Case j04: the compiler's error, not a crash."""
    with pytest.raises(CompileError) as caught:
        inspect(EXAMPLES / "cluster_sum.cu", arch="sm_80")
    assert "__cluster_dims__ is not supported" in caught.value.log


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "no kernel"),
        (b"__device__ int f() { return 1; }", "no kernel"),
        ("__global__ void k() {}".encode("utf-16"), "zero byte"),
    ],
)
def test_sources_without_a_kernel(tmp_path, content, message):
    (tmp_path / "k.cu").write_bytes(content)
    with pytest.raises(InputError, match=message):
        inspect(tmp_path / "k.cu", arch="sm_80")


def test_odd_encodings(tmp_path):
    kernel = b'extern "C" __global__ void k(int* a) { *a = 1; }'
    (tmp_path / "bom.cu").write_bytes(b"\xef\xbb\xbf" + kernel)
    latin = tmp_path / b"caf\xe9.cu".decode("utf-8", "surrogateescape")
    latin.write_bytes(b"// caf\xe9\n" + kernel)
    assert only(tmp_path / "bom.cu", arch="sm_80").name == "k"
    assert only(latin, arch="sm_80").origin.encode("utf-8")


def test_a_target_that_this_compiler_lacks(nvrtc):
    missing, extra = ("sm_88", "cu13") if nvrtc < (13, 0) else ("sm_50", "cu12")
    with pytest.raises(Unavailable, match=f"does not compile for {missing}") as caught:
        inspect(EXAMPLES / "saxpy.cu", arch=missing, compiler="nvrtc")
    assert f"perfkit[{extra}]" in caught.value.hint


def test_targets_that_do_not_exist():
    with pytest.raises(UsageError, match="no target sm_80a") as caught:
        inspect(EXAMPLES / "saxpy.cu", arch="sm_80a")
    assert caught.value.hint == "write sm_80"
    with pytest.raises(UsageError):
        inspect(EXAMPLES / "saxpy.cu", arch="9.9")


# -- the cache ------------------------------------------------------------------------------------


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A source with a header beside it and one in an include directory; an empty cache."""
    monkeypatch.setenv("PERFKIT_CACHE", str(tmp_path / "cache"))
    (tmp_path / "k.cu").write_text(
        '#include "near.h"\n#include <far.h>\n'
        'extern "C" __global__ void k(int* a) { __shared__ int s[NEAR * FAR];'
        " s[threadIdx.x] = *a; __syncthreads(); *a = s[threadIdx.x ^ 1]; }"
    )
    (tmp_path / "near.h").write_text("#define NEAR 32\n")
    (tmp_path / "before").mkdir()
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "far.h").write_text("#define FAR 1\n")
    return tmp_path


def shared_bytes(project):
    options = {"arch": "sm_80", "include_dirs": [project / "before", project / "include"]}
    return only(project / "k.cu", **options).static_shared_bytes


def test_a_changed_header_is_seen(project):
    assert shared_bytes(project) == 32 * 4
    assert shared_bytes(project) == 32 * 4
    assert len(list((project / "cache").iterdir())) == 1
    (project / "near.h").write_text("#define NEAR 64\n")
    assert shared_bytes(project) == 64 * 4
    (project / "include" / "far.h").write_text("#define FAR 2\n")
    assert shared_bytes(project) == 64 * 2 * 4
    # a header that did not exist before, and now hides the other
    (project / "before" / "far.h").write_text("#define FAR 3\n")
    assert shared_bytes(project) == 64 * 3 * 4


def test_a_broken_entry_is_compiled_again(project):
    assert shared_bytes(project) == 32 * 4
    (entry,) = (project / "cache").iterdir()
    whole = entry.read_bytes()
    entry.write_bytes(whole[:-100])
    assert shared_bytes(project) == 32 * 4
    assert cache.load(entry.stem) is not None


def test_errors_are_not_stored(project):
    (project / "near.h").write_text("#error no\n")
    for _ in range(2):
        with pytest.raises(CompileError):
            shared_bytes(project)
    assert not (project / "cache").exists()


HIT = """
import sys
from perfkit.compiled.inspect import inspect
inspect(sys.argv[1], arch="sm_80")
print(sorted(name for name in sys.modules if name.split(".")[0] in {"cuda", "numpy", "yaml"}))
"""


def test_dynamic_shared_memory(tmp_path):
    path = tmp_path / "k.cu"
    path.write_text(
        "extern __shared__ float s[];\n"
        "__device__ __noinline__ float get(int i) { return s[i]; }\n"
        'extern "C" __global__ void own(float *x) { __shared__ float t[32]; t[threadIdx.x] = *x;\n'
        "    __syncthreads(); s[threadIdx.x] = t[31 - threadIdx.x]; __syncthreads(); *x = s[1]; }\n"
        'extern "C" __global__ void calls(float *x) { *x = get(threadIdx.x); }\n'
        'extern "C" __global__ void none(float *x) { *x = 1; }\n'
    )
    for _ in range(2):  # the second time from the cache
        found = inspect(path, arch="sm_80")
        uses = {kernel.name: kernel.uses_dynamic_shared for kernel in found}
        assert uses == {"own": True, "calls": True, "none": False}
        assert not any("uses_dynamic_shared" in kernel.unknown for kernel in found)


def test_a_hit_imports_nothing_of_cuda(tmp_path):
    """A start-up hook of cuda-bindings 12 may put the bare namespace there; nothing more."""
    shutil.copy(EXAMPLES / "saxpy.cu", tmp_path)
    environment = {**os.environ, "PERFKIT_CACHE": str(tmp_path), "PYTHONPATH": str(REPOSITORY)}
    loaded = []
    for _ in range(2):
        command = [sys.executable, "-c", HIT, str(tmp_path / "saxpy.cu")]
        answer = subprocess.run(
            command, env=environment, check=True, capture_output=True, text=True
        )
        loaded.append(answer.stdout.strip())
    assert "cuda.bindings.nvrtc" in loaded[0]
    assert loaded[1] in {"[]", "['cuda']"}
