"""Sources with host code: nvcc found, run apart, trusted with nothing. Most of it with a fake."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from perfkit.compiled import tools
from perfkit.compiled.compilers import compile_source
from perfkit.compiled.inspect import inspect
from perfkit.errors import CompileError, Unavailable, UsageError
from tests.compiled.containers import Listed, needs_sh, no_tools, program, temporary
from tests.compiled.reports import DATA

__all__ = ["no_tools", "temporary"]  # fixtures

pytestmark = needs_sh

HOST = """#include <cstdio>
template <int N> __global__ void tile(float *x) {
    __shared__ float s[N];
    s[threadIdx.x] = *x;
    __syncthreads();
    *x = s[N - 1 - threadIdx.x];
}
extern "C" __global__ void plain(float *x) { *x = 1; }
int main() {
    float *x;
    cudaMalloc(&x, 4);
    tile<64><<<1, 64>>>(x);
    printf("%s", cudaGetErrorString(cudaGetLastError()));
}
"""
PTX = ".visible .entry flat() .minnctapersm 3 { ret; } .entry rec() { ret; }"


class Fake:
    """An nvcc that makes the same of everything, and remembers how it was called."""

    def __init__(self, folder: Path) -> None:
        self.log, self.place, self.path = folder / "log", folder / "place", folder / "nvcc"
        self.folder = folder
        self.write()

    def write(self, script: str = "", version: str = "V13.9.41") -> None:
        lines = [
            "PATH=/usr/bin:/bin",
            f'echo "$@" >> {self.log}',
            f'[ "$1" = --version ] && {{ echo "release 13.9, {version}"; exit 0; }}',
            script,
            f"pwd > {self.place}",
            f"cp '{DATA / 'j05.sm_80.cubin'}' output.cubin",
            f"echo '{PTX}' > source.ptx",
        ]
        program(self.path, "\n".join(lines))

    def calls(self) -> list[str]:
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return [line for line in lines if line != "--version"]


@pytest.fixture
def fake(no_tools, monkeypatch, tmp_path_factory, temporary):
    made = Fake(tmp_path_factory.mktemp("tool"))
    monkeypatch.setenv("PATH", str(made.folder))
    monkeypatch.setenv("PERFKIT_CACHE", str(made.folder / "cache"))
    return made


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "mine" / "host.cu"
    path.parent.mkdir()
    path.write_text(HOST)
    return path


@pytest.fixture
def nvcc(monkeypatch):
    """The real one, with a host compiler."""
    if shutil.which("nvcc") is None:
        pytest.skip("no nvcc on PATH")
    if shutil.which("g++") is None:
        pytest.skip("no g++ for nvcc")
    monkeypatch.delenv("NVCC", raising=False)


def test_it_runs_apart_and_gets_the_options(fake, source, monkeypatch):
    monkeypatch.chdir(source.parent)
    Path("include").mkdir()
    kernels = inspect(
        "host.cu",
        arch="sm_90a",
        compiler="nvcc",
        include_dirs=["include"],
        defines=["PAIR(a,b)=a,b"],
        std="c++20",
        max_registers=64,
        fast_math=True,
        extra=["--extra=1,2"],
    )
    assert [(kernel.name, kernel.min_blocks) for kernel in kernels] == [("flat", 3), ("rec", None)]
    assert {kernel.origin for kernel in kernels} == {"host.cu, nvcc 13.9.41"}
    (call,) = fake.calls()
    for flag in (
        "-cubin",
        "--gpu-architecture=sm_90a",
        "--ptxas-options=-v",
        r"--define-macro=PAIR(a\,b)=a\,b",  # nvcc takes a comma for the next value
        f"--include-path={source.parent / 'include'}",
        "--std=c++20",
        "--maxrregcount=64",
        "--use_fast_math",
        "--extra=1,2",
        f"-x cu {source}",
    ):
        assert flag in call
    place = Path(fake.place.read_text().strip())
    assert f"--keep-dir {place}" in call
    assert not place.exists()
    assert sorted(path.name for path in source.parent.iterdir()) == ["host.cu", "include"]


def test_the_cache_knows_the_version_and_the_host_compiler(fake, source, monkeypatch):
    def ask():
        inspect(source, arch="sm_80", compiler="nvcc")
        return len(fake.calls())

    assert (ask(), ask()) == (1, 1)
    fake.write(version="V13.9.42")
    assert (ask(), ask()) == (2, 2)
    monkeypatch.setenv("NVCC_CCBIN", "clang++")
    assert (ask(), ask()) == (3, 3)
    source.write_text(HOST + "// more\n")
    assert (ask(), ask()) == (4, 4)


def test_instances_are_named_in_a_file_of_their_own(fake, source):
    fake.write(script="cat instances.cu >&2; exit 1")
    with pytest.raises(CompileError) as caught:
        inspect(source, arch="sm_80", compiler="nvcc", name_expressions=["tile<3>", "tile<\n4>"])
    lines = caught.value.log.splitlines()
    assert lines[0] == f'#include "{source}"'
    assert lines[2].endswith("= &tile<3>;")
    assert lines[3].endswith("= &tile< 4>;")


@pytest.mark.parametrize(
    ("script", "error", "message", "hint"),
    [
        ("echo 'k.cu(1): error: no' >&2; exit 2", CompileError, "does not compile for sm_80", ""),
        ("kill -SEGV $$", CompileError, "does not compile", ""),
        ("exit 0", CompileError, "does not compile", ""),
        (
            "echo 'nvcc fatal   : Failed to preprocess host compiler properties.' >&2; exit 1",
            Unavailable,
            "nvcc has no host compiler",
            "g++",
        ),
        (
            "echo \"nvcc fatal   : Unsupported gpu architecture 'sm_80'\" >&2; exit 1",
            Unavailable,
            "this nvcc does not compile for sm_80: CUDA 11",
            "NVCC",
        ),
    ],
)
def test_it_fails(fake, source, script, error, message, hint):
    fake.write(script=script)
    with pytest.raises(error, match=message) as caught:
        inspect(source, arch="sm_80", compiler="nvcc")
    assert hint in (caught.value.hint or "")
    assert not (fake.folder / "cache").exists()


def test_a_target_that_does_not_exist(fake, source):
    fake.write(script="echo \"nvcc fatal   : Unsupported gpu architecture 'sm_80a'\" >&2; exit 1")
    with pytest.raises(UsageError, match="nvcc has no target sm_80a") as caught:
        inspect(source, arch="sm_80a", compiler="nvcc")
    assert caught.value.hint == "write sm_80"


def test_it_takes_too_long(fake, source, monkeypatch):
    fake.write(script="sleep 60")
    monkeypatch.setattr(tools, "TIME_LIMIT", 0.3)
    with pytest.raises(CompileError) as caught:
        inspect(source, arch="sm_80", compiler="nvcc")
    assert "nvcc did not finish within 0.3 s" in caught.value.log


def test_it_does_not_even_tell_its_version(fake, source):
    program(fake.path, "exit 1")
    with pytest.raises(Unavailable, match="nvcc failed with exit code 1"):
        inspect(source, arch="sm_80", compiler="nvcc")


def test_where_it_is_looked_for(no_tools, monkeypatch, tmp_path, source):
    """A wheel comes last, and counts only with the compiler that nvcc calls."""
    with pytest.raises(Unavailable, match="nvcc, which compiles CUDA sources") as caught:
        inspect(source, arch="sm_80", compiler="nvcc")
    assert "CUDA toolkit" in caught.value.hint
    places = {}
    for name in ("wheel/bin", "path", "home/bin", "variable"):
        (tmp_path / name).mkdir(parents=True)
        places[name] = program(tmp_path / name / "nvcc", "exit 0")
    monkeypatch.setattr(tools, "files", lambda name: [Listed(places["wheel/bin"])])
    with pytest.raises(Unavailable):
        tools.find(tools.NVCC)
    (tmp_path / "wheel" / "nvvm" / "bin").mkdir(parents=True)
    (tmp_path / "wheel" / "nvvm" / "bin" / "cicc").touch()
    assert tools.find(tools.NVCC) == places["wheel/bin"]
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    assert tools.find(tools.NVCC) == places["path"]
    monkeypatch.setenv("CUDA_HOME", str(tmp_path / "home"))
    assert tools.find(tools.NVCC) == places["home/bin"]
    monkeypatch.setenv("NVCC", str(places["variable"]))
    assert tools.find(tools.NVCC) == places["variable"]


# -- which compiler -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        HOST,
        "__global__ void k() {}\nint main() {}\n",
        "__global__ void k() {}\nvoid f() { k<<<1, 1>>>(); }\n",
        "#include <unistd.h>\n__global__ void k() {}\n",
        "static float table[4];\n__global__ void k() {}\n",
    ],
)
def test_host_code_goes_to_nvcc(fake, nvrtc, source, text):
    source.write_text(text)
    (kernel, _) = inspect(source, arch="sm_80")
    assert kernel.origin == f"{source}, nvcc 13.9.41 (NVRTC takes no host code)"
    with pytest.raises(CompileError) as caught:
        inspect(source, arch="sm_80", compiler="nvrtc")
    assert caught.value.hint


def test_device_code_stays_with_nvrtc(fake, nvrtc, source):
    source.write_text("__global__ void k(int *x) { *x = 1; }\n")
    assert compile_source(source, arch="sm_80").compiler.startswith("NVRTC ")
    source.write_text("__global__ void k(int *x) { *x = missing; }\n")
    with pytest.raises(CompileError, match="does not compile"):
        inspect(source, arch="sm_80")
    assert fake.calls() == []


def test_no_nvrtc_but_nvcc(fake, source, monkeypatch):
    def missing():
        raise Unavailable("NVRTC is not here")

    monkeypatch.setattr("perfkit.compiled.nvrtc.require_nvrtc", missing)
    monkeypatch.setattr("perfkit.compiled.nvrtc._toolchain", missing)
    (kernel, _) = inspect(source, arch="sm_80")
    assert kernel.origin == f"{source}, nvcc 13.9.41 (NVRTC is not here)"
    fake.path.unlink()
    with pytest.raises(Unavailable, match="NVRTC is not here"):
        inspect(source, arch="sm_80")


def test_without_nvcc_the_hint_is_what_to_run(no_tools, nvrtc, source, monkeypatch):
    monkeypatch.chdir(source.parent)
    with pytest.raises(CompileError) as caught:
        inspect("host.cu", arch="sm_80", defines=["A=1 2"])
    assert (
        "run: nvcc -arch=sm_80 -cubin '-DA=1 2' -o host.cubin host.cu; "
        "then: perfkit occupancy host.cubin" in caught.value.hint
    )
    monkeypatch.setenv("NVCC", "/nowhere/nvcc")
    with pytest.raises(CompileError) as caught:
        inspect("host.cu", arch="sm_80")
    assert "NVCC is '/nowhere/nvcc'" in caught.value.hint


def test_no_such_compiler(source):
    with pytest.raises(UsageError, match="--compiler clang: one of auto, nvrtc, nvcc"):
        inspect(source, arch="sm_80", compiler="clang")


# -- the real one ---------------------------------------------------------------------------------


def test_host_code_and_the_instances_that_it_uses(nvcc, source):
    found = inspect(source, arch="sm_80", compiler="nvcc", name_expressions=["tile<96>"])
    shown = {kernel.demangled: kernel for kernel in found}
    assert {name: k.static_shared_bytes for name, k in shown.items()} == {
        "plain": 0,
        "tile<64>": 256,
        "tile<96>": 384,
    }
    assert all(kernel.spill_store_bytes == 0 for kernel in found)
    assert not any(kernel.uses_dynamic_shared for kernel in found)
    assert sorted(path.name for path in source.parent.iterdir()) == ["host.cu"]


def test_nvcc_and_nvrtc_agree_on_what_a_kernel_declares(nvcc, nvrtc, tmp_path):
    path = tmp_path / "k.cu"
    path.write_text(
        "extern __shared__ float s[];\n"
        'extern "C" __global__ void __launch_bounds__(128, 2) k(float *x) {\n'
        "    s[threadIdx.x] = *x; __syncthreads(); *x = s[1]; }\n"
    )
    pair = [inspect(path, arch="sm_90", compiler=name)[0] for name in ("nvrtc", "nvcc")]
    for field in ("max_threads", "min_blocks", "uses_dynamic_shared", "static_shared_bytes"):
        assert getattr(pair[0], field) == getattr(pair[1], field), field
    assert (pair[1].min_blocks, pair[1].uses_dynamic_shared) == (2, True)


@pytest.mark.parametrize("compiler", ["nvrtc", "nvcc"])
def test_an_instance_that_the_source_lacks(request, compiler, tmp_path):
    request.getfixturevalue(compiler)
    path = tmp_path / "k.cu"
    path.write_text(HOST.partition("int main")[0].partition("\n")[2])
    with pytest.raises(UsageError) as caught:
        inspect(path, arch="sm_80", compiler=compiler, name_expressions=["tile<4>", "none<3>"])
    assert caught.value.message == "--instantiate 'none<3>': identifier \"none\" is undefined"
    assert caught.value.hint == (
        "the file has the template tile (line 1) and the kernel plain (line 7)"
    )


@pytest.mark.parametrize("compiler", ["nvrtc", "nvcc"])
def test_too_much_static_shared_memory(request, compiler, tmp_path):
    request.getfixturevalue(compiler)
    path = tmp_path / "k.cu"
    path.write_text(
        "__global__ void k(float *x) { __shared__ float s[16384]; s[threadIdx.x] = *x;\n"
        "    __syncthreads(); *x = s[1]; }\n"
    )
    with pytest.raises(CompileError) as caught:
        inspect(path, arch="sm_80", compiler=compiler)
    assert "cudaFuncAttributeMaxDynamicSharedMemorySize" in caught.value.hint


def test_templates_alone_are_named(nvrtc, tmp_path):
    path = tmp_path / "k.cu"
    path.write_text("\n\ntemplate <int N>\n__global__ void reduce_kernel(int *x) { *x = N; }\n")
    with pytest.raises(Exception, match="the source has no kernel") as caught:
        inspect(path, arch="sm_80")
    assert caught.value.hint == (
        "reduce_kernel (line 4) is a template: --instantiate 'reduce_kernel<...>'"
    )
