"""Emitted code: it parses, compiles, and launches what was recommended.

Libraries are played by stand-ins that record the calls; what they are called with is what counts.
"""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
from types import ModuleType, SimpleNamespace

import pytest

from perfkit.analysis.block_sizes import Request, Wish
from perfkit.analysis.recommend import recommend
from perfkit.arch import catalog
from perfkit.errors import UsageError
from perfkit.report.code.kinds import Kind, render

PYTHON = (Kind.CUDA_CORE, Kind.CUPY, Kind.NUMBA, Kind.TRITON)


def advise(names="h100", *, wish=None, **given):
    requests = [
        Request(target=target, **{"regs": 40, "kernel": "axpy<float>(int)"} | given)
        for name in names.split(",")
        for target in catalog.targets(name)
    ]
    return recommend(requests, wish or Wish())


#: name -> a recommendation of every shape
SHAPES = {
    "plain": lambda: advise(wish=Wish(elements=10**7)),
    "stride": advise,
    "shared": lambda: advise(dynamic_bytes=100 * 1024, wish=Wish(elements=10**7)),
    "carveout": lambda: advise(static_bytes=4096, exact_threads=256),
    "several": lambda: advise("a100,rtx-4090,h100", regs=32, wish=Wish(elements=10**7)),
    "per thread": lambda: advise(wish=Wish(elements=10**7, per_thread=4)),
    "cluster": lambda: advise("h200", wish=Wish(cluster=4)),
    "large cluster": lambda: advise("h200", regs=32, wish=Wish(cluster=16, elements=10**7)),
    "strange name": lambda: advise(kernel='evil\n"""*/ #endif \\\r\u2028x'),
}


# --- Python ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", PYTHON)
@pytest.mark.parametrize("shape", SHAPES)
def test_python_parses(kind, shape):
    found = SHAPES[shape]()
    refuses = {Kind.CUPY, Kind.NUMBA} if "cluster" in shape else set()
    if kind in refuses:
        with pytest.raises(UsageError, match="cannot launch clusters"):
            render(found, kind)
        return
    if kind is Kind.NUMBA and shape == "shared":
        with pytest.raises(UsageError, match="102400 B of dynamic shared memory"):
            render(found, kind)
        return
    if kind is Kind.TRITON and (found.threads // 32).bit_count() != 1:
        return  # below
    text = render(found, kind)
    tree = ast.parse(text)
    assert tree.body
    assert max(map(len, text.splitlines())) <= 100
    assert text.endswith("\n")


class Recorder(SimpleNamespace):
    """Remembers what it was called with."""

    def __call__(self, *arguments, **options):
        self.calls = [*getattr(self, "calls", []), (arguments, options)]
        return getattr(self, "result", None)


@pytest.fixture
def stand_ins(monkeypatch):
    """Modules of the given names, empty but for what is passed."""

    def install(**modules):
        for name, content in modules.items():
            path = name.replace("__", ".")
            module = ModuleType(path)
            for key, value in content.items():
                setattr(module, key, value)
            monkeypatch.setitem(sys.modules, path, module)
        parents = {"cuda": ["core", "bindings"]}
        for parent, children in parents.items():
            if any(name.startswith(f"{parent}__") for name in modules):
                package = ModuleType(parent)
                package.__path__ = []
                monkeypatch.setitem(sys.modules, parent, package)
                for child in children:
                    setattr(package, child, sys.modules.get(f"{parent}.{child}"))

    return install


def run(text):
    names: dict = {}
    exec(compile(text, "emitted.py", "exec"), names)
    return names


def test_cuda_core(stand_ins):
    launch, config, attribute = Recorder(), Recorder(result="config"), Recorder(result=(0,))
    names = ("MAX_DYNAMIC_SHARED_SIZE_BYTES", "PREFERRED_SHARED_MEMORY_CARVEOUT")
    driver = SimpleNamespace(
        CUfunction_attribute=SimpleNamespace(**{f"CU_FUNC_ATTRIBUTE_{n}": n for n in names}),
        CUresult=SimpleNamespace(CUDA_SUCCESS=0),
        cuKernelSetAttribute=attribute,
    )
    stand_ins(
        cuda__core={"LaunchConfig": config, "launch": launch}, cuda__bindings={"driver": driver}
    )
    found = advise(dynamic_bytes=100 * 1024, regs=64)
    occupancy = SimpleNamespace(max_active_blocks_per_multiprocessor=Recorder(result=2))
    kernel = SimpleNamespace(handle="handle", occupancy=occupancy)
    device = SimpleNamespace(device_id=0, properties=SimpleNamespace(multiprocessor_count=132))
    run(render(found, Kind.CUDA_CORE))["launch_kernel"](kernel, 10**9, device, "stream", 1, 2)
    assert attribute.calls == [(("MAX_DYNAMIC_SHARED_SIZE_BYTES", 102400, "handle", 0), {})]
    assert occupancy.max_active_blocks_per_multiprocessor.calls == [((found.threads, 102400), {})]
    expected = {"grid": 264, "block": found.threads, "shmem_size": 102400}
    assert config.calls == [((), expected)]
    assert launch.calls == [(("stream", "config", kernel, 1, 2), {})]


def test_cuda_core_says_what_failed(stand_ins):
    status = SimpleNamespace(name="CUDA_ERROR_INVALID_VALUE")
    driver = SimpleNamespace(
        CUfunction_attribute=SimpleNamespace(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES=8),
        CUresult=SimpleNamespace(CUDA_SUCCESS=0),
        cuKernelSetAttribute=Recorder(result=(status,)),
    )
    stand_ins(cuda__core={"LaunchConfig": None, "launch": None}, cuda__bindings={"driver": driver})
    function = run(render(advise(dynamic_bytes=100 * 1024), Kind.CUDA_CORE))["launch_kernel"]
    with pytest.raises(RuntimeError, match="= 102400: CUDA_ERROR_INVALID_VALUE"):
        function(SimpleNamespace(handle=1), 1, SimpleNamespace(device_id=0), "stream")


def test_cuda_core_clusters(stand_ins):
    config = Recorder(result="config")
    driver = SimpleNamespace(
        CUfunction_attribute=SimpleNamespace(CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED=1),
        CUresult=SimpleNamespace(CUDA_SUCCESS=0),
        cuKernelSetAttribute=Recorder(result=(0,)),
    )
    stand_ins(
        cuda__core={"LaunchConfig": config, "launch": Recorder()}, cuda__bindings={"driver": driver}
    )
    found = SHAPES["large cluster"]()
    function = run(render(found, Kind.CUDA_CORE))["launch_kernel"]
    function(SimpleNamespace(handle=1), 10**6, SimpleNamespace(device_id=0), "stream")
    ((_, options),) = config.calls
    # cuda.core counts a grid in clusters
    blocks = -(-(10**6) // found.threads)
    assert options["cluster"] == 16
    assert options["grid"] == -(-blocks // 16)


def test_cupy(stand_ins):
    attributes = {"MultiProcessorCount": 132}
    device = Recorder(result=SimpleNamespace(attributes=attributes))
    stand_ins(cupy={"cuda": SimpleNamespace(Device=device)})
    found = advise(static_bytes=4096, exact_threads=256)
    kernel = Recorder()
    run(render(found, Kind.CUPY))["launch_kernel"](kernel, 10**9, ("a",))
    assert kernel.preferred_shared_memory_carveout == found.carveout
    assert not hasattr(kernel, "max_dynamic_shared_size_bytes")
    assert kernel.calls == [(((132 * 6,), (256,), ("a",)), {"shared_mem": 0})]


def test_cupy_large_shared_memory():
    kernel = Recorder()
    found = SHAPES["shared"]()
    run(render(found, Kind.CUPY))["launch_kernel"](kernel, 10**7, ())
    assert kernel.max_dynamic_shared_size_bytes == 102400
    (((grid, block, _), options),) = kernel.calls
    assert grid == (-(-(10**7) // found.threads),)
    assert block == (found.threads,)
    assert options == {"shared_mem": 102400}


def test_numba(stand_ins):
    device = SimpleNamespace(MULTIPROCESSOR_COUNT=132)
    stand_ins(numba={"cuda": SimpleNamespace(get_current_device=lambda: device)})
    found = advise(static_bytes=4096, exact_threads=256)
    names = run(render(found, Kind.NUMBA))
    assert names["KERNEL_OPTIONS"] == {
        "launch_bounds": (256, 6),
        "shared_memory_carveout": found.carveout,
    }
    configured = Recorder()

    class Kernel:
        def __getitem__(self, launch):
            self.launch = launch
            return configured

    kernel = Kernel()
    names["launch_kernel"](kernel, 10**9, "stream", 1)
    assert kernel.launch == (792, 256, "stream", 0)
    assert configured.calls == [((1,), {})]


def test_triton(stand_ins):
    config = Recorder(result="config")
    stand_ins(triton={"Config": config})
    found = advise(regs=36, wish=Wish(elements=10**7, per_thread=4, power_of_two=True))
    assert run(render(found, Kind.TRITON))["CONFIG"] == "config"
    # 6 blocks of 256 threads leave each of them 40 registers
    expected = {"num_warps": 8, "maxnreg": 40}
    assert config.calls == [(({"BLOCK_SIZE": 1024},), expected)]


def test_triton_wants_a_power_of_two():
    with pytest.raises(UsageError, match="power of two of warps, not blocks of 96 threads"):
        render(advise(exact_threads=96), Kind.TRITON)


# --- CUDA C++ -------------------------------------------------------------------------------------

#: what the emitted code uses of the runtime; calls print themselves
RUNTIME = """
#include <cstddef>
#include <cstdio>
#include <utility>
#define __launch_bounds__(...)
#define __global__
enum cudaError_t { cudaSuccess };
typedef void* cudaStream_t;
struct dim3 { unsigned x, y = 1, z = 1; dim3(unsigned a = 1) : x(a) {} };
enum cudaLaunchAttributeID { cudaLaunchAttributeClusterDimension };
struct cudaLaunchAttribute {
    cudaLaunchAttributeID id;
    struct { struct { unsigned x, y, z; } clusterDim; } val;
};
struct cudaLaunchConfig_t {
    dim3 gridDim, blockDim; size_t dynamicSmemBytes; cudaStream_t stream;
    cudaLaunchAttribute* attrs; unsigned numAttrs;
};
enum cudaFuncAttribute {
    cudaFuncAttributeMaxDynamicSharedMemorySize,
    cudaFuncAttributePreferredSharedMemoryCarveout,
    cudaFuncAttributeNonPortableClusterSizeAllowed
};
enum cudaDeviceAttr { cudaDevAttrMultiProcessorCount };
template <class T> cudaError_t cudaFuncSetAttribute(T*, cudaFuncAttribute which, int value)
{ std::printf("set %d %d\\n", which, value); return cudaSuccess; }
inline cudaError_t cudaGetDevice(int* device) { *device = 0; return cudaSuccess; }
inline cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr, int)
{ *value = 132; return cudaSuccess; }
template <class T>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, T*, int, size_t)
{ *blocks = 6; return cudaSuccess; }
template <class... P, class... A>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* c, void (*kernel)(P...), A&&... arguments)
{
    std::printf("grid %u block %u shared %zu cluster %u\\n", c->gridDim.x, c->blockDim.x,
                c->dynamicSmemBytes, c->numAttrs ? c->attrs->val.clusterDim.x : 0);
    kernel(std::forward<A>(arguments)...);
    return cudaSuccess;
}
"""
MAIN = """
__global__ void KERNEL_BOUNDS kernel(float* y, int n) { std::printf("ran %d\\n", n); }
int main() { return launch(kernel, ELEMENTSLL, nullptr, nullptr, 7); }
"""


@pytest.fixture(scope="module")
def compiler():
    found = shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")
    if found is None:
        pytest.skip("no C++ compiler")
    return found


def compiled(compiler, folder, found, elements=10**7):
    """What the emitted launcher does with a runtime that prints."""
    source = folder / "emitted.cpp"
    code = render(found, Kind.CUDA)
    source.write_text(RUNTIME + code + MAIN.replace("ELEMENTS", str(elements)), "utf-8")
    program = folder / "emitted"
    flags = ["-std=c++17", "-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter"]
    done = subprocess.run(
        [compiler, *flags, str(source), "-o", str(program)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    done = subprocess.run([program], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


@pytest.mark.parametrize("shape", SHAPES)
def test_cuda_compiles_and_launches_what_was_recommended(shape, compiler, tmp_path):
    found = SHAPES[shape]()
    *attributes, launch, ran = compiled(compiler, tmp_path, found)
    blocks = -(-(10**7) // (found.threads * found.wish.per_thread))
    if found.wish.elements is None:
        blocks = min(blocks, 132 * 6)
    size = found.wish.cluster or 1
    blocks = -(-blocks // size) * size
    assert launch == (
        f"grid {blocks} block {found.threads} shared {found.dynamic_bytes} "
        f"cluster {found.wish.cluster or 0}"
    )
    assert ran == "ran 7"
    expected = []
    if shape == "shared":
        expected.append("set 0 102400")
    if found.carveout is not None:
        expected.append(f"set 1 {found.carveout}")
    if shape == "large cluster":
        expected.append("set 2 1")
    assert attributes == expected


def test_the_bounds_of_each_architecture():
    text = render(SHAPES["several"](), Kind.CUDA)
    rows = re.findall(r"__CUDA_ARCH__ == (\d+)\n#define KERNEL_BOUNDS (.*)\n", text)
    assert dict(rows) == {
        "800": "__launch_bounds__(256, 8)",
        "890": "__launch_bounds__(256, 6)",
        "900": "__launch_bounds__(256, 8)",
    }
    same = render(advise("a100,h100", regs=32), Kind.CUDA)
    assert "#define KERNEL_BOUNDS __launch_bounds__(256, 8)\n" in same
    assert "__CUDA_ARCH__" not in same


KERNEL = """
extern "C" __global__ void KERNEL_BOUNDS axpy(int n, float a, const float* x, float* y)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += a * x[i];
}
"""


def test_the_compiler_keeps_the_bounds(tmp_path):
    from perfkit.access import require_nvrtc
    from perfkit.errors import Unavailable

    try:
        require_nvrtc()
    except Unavailable as error:
        pytest.skip(str(error))
    import perfkit

    text = render(SHAPES["several"](), Kind.CUDA)
    bounds = text[text.index("#if") : text.index("#endif") + len("#endif")]
    source = tmp_path / "kernel.cu"
    source.write_text(bounds + KERNEL, "utf-8")
    for arch, blocks in (("sm_80", 8), ("sm_89", 6), ("sm_90", 8), ("sm_86", None)):
        (kernel,) = perfkit.inspect(source, arch=arch)
        assert kernel.max_threads == 256
        assert kernel.min_blocks == blocks
