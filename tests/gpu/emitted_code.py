"""Code that ``perfkit recommend --code`` emits, run on the card: it launches, and gives the answer.

    python tests/gpu/emitted_code.py

For each kind whose library is here a saxpy kernel with a loop over its elements is launched by the
emitted function, over shapes that need opting in, a carveout, clusters and none of these; ``cuda``
needs nvcc. Prints a line for each and exits 1 if one is wrong.
"""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))

from perfkit.analysis.block_sizes import Request, Wish  # noqa: E402
from perfkit.analysis.recommend import Recommendation, recommend  # noqa: E402
from perfkit.device.properties import present_target  # noqa: E402
from perfkit.report.code.kinds import Kind, render  # noqa: E402

ELEMENTS = 3_000_001
KERNEL = """
extern "C" __global__ void BOUNDS saxpy(long long n, float a, const float* x, float* y)
{
    extern __shared__ float tile[];
    for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n;
         i += (long long)gridDim.x * blockDim.x) {
        if (SHARED) { tile[threadIdx.x] = x[i]; y[i] += a * tile[threadIdx.x]; }
        else y[i] += a * x[i];
    }
}
"""
MAIN = """
#include <cstdio>
#include <vector>
int main()
{
    const long long n = ELEMENTS;
    std::vector<float> x(n, 2.0f), y(n, 1.0f);
    float *dx, *dy;
    cudaMalloc(&dx, 4 * n); cudaMalloc(&dy, 4 * n);
    cudaMemcpy(dx, x.data(), 4 * n, cudaMemcpyHostToDevice);
    cudaMemcpy(dy, y.data(), 4 * n, cudaMemcpyHostToDevice);
    cudaError_t error = launch(saxpy, n, nullptr, n, 3.0f, (const float*)dx, dy);
    if (error == cudaSuccess) error = cudaDeviceSynchronize();
    cudaMemcpy(y.data(), dy, 4 * n, cudaMemcpyDeviceToHost);
    long long wrong = 0;
    for (float value : y) wrong += value != 7.0f;
    std::printf("%s, %lld wrong\\n", cudaGetErrorString(error), wrong);
    return error != cudaSuccess || wrong;
}
"""


def shapes() -> dict[str, Recommendation]:
    target = present_target()

    def ask(wish: Wish, **given: Any) -> Recommendation:
        return recommend([Request(target=target, **{"regs": 32} | given)], wish)

    return {
        "one to one": ask(Wish(elements=ELEMENTS)),
        "grid stride": ask(Wish()),
        "opt in": ask(Wish(elements=ELEMENTS), dynamic_bytes=100 * 1024),
        "carveout": ask(Wish(elements=ELEMENTS), dynamic_bytes=4096),
        "cluster": ask(Wish(elements=ELEMENTS, cluster=4)),
        "large cluster": ask(Wish(cluster=16)),
        "power of two": ask(Wish(elements=ELEMENTS, power_of_two=True)),
    }


def source(found: Recommendation) -> str:
    blocks = min(advice.place.blocks_per_sm for advice in found.advices)
    bounds = f"__launch_bounds__({found.threads}, {blocks})"
    text = KERNEL.replace("BOUNDS", bounds)
    return text.replace("SHARED", str(int(found.dynamic_bytes > 0)))


def right(y: Any) -> bool:
    return bool(np.all(y == 7.0))


def cuda(found: Recommendation) -> bool:
    nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    text = render(found, Kind.CUDA)
    kernel = KERNEL.replace("BOUNDS", "KERNEL_BOUNDS")
    kernel = kernel.replace("SHARED", str(int(found.dynamic_bytes > 0)))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "emitted.cu"
        path.write_text(text + kernel + MAIN.replace("ELEMENTS", str(ELEMENTS)))
        program = path.with_suffix("")
        subprocess.run([nvcc, "-arch=native", "-o", program, path], check=True)
        done = subprocess.run([program], capture_output=True, text=True, check=False)
        print("   ", done.stdout.strip())
        return done.returncode == 0


def cuda_core(found: Recommendation) -> bool:
    from cuda.bindings import driver
    from cuda.core import Device, Program, ProgramOptions

    device = Device()
    device.set_current()
    stream = device.create_stream()
    major, minor = device.compute_capability
    options = ProgramOptions(arch=f"sm_{major}{minor}")
    program = Program(source(found), "c++", options)
    kernel = program.compile("cubin").get_kernel("saxpy")
    names: dict[str, Any] = {}
    exec(render(found, Kind.CUDA_CORE), names)
    x, y = np.full(ELEMENTS, 2, np.float32), np.full(ELEMENTS, 1, np.float32)
    pointers = []
    for array in (x, y):
        _, pointer = driver.cuMemAlloc(array.nbytes)
        driver.cuMemcpyHtoD(pointer, array.ctypes.data, array.nbytes)
        pointers.append(int(pointer))
    arguments = (np.int64(ELEMENTS), np.float32(3), *pointers)
    names["launch_kernel"](kernel, ELEMENTS, device, stream, *arguments)
    stream.sync()
    driver.cuMemcpyDtoH(y.ctypes.data, pointers[1], y.nbytes)
    return right(y)


def cupy(found: Recommendation) -> bool:
    import cupy as cp

    kernel = cp.RawKernel(source(found), "saxpy")
    names: dict[str, Any] = {}
    exec(render(found, Kind.CUPY), names)
    x, y = cp.full(ELEMENTS, 2, cp.float32), cp.full(ELEMENTS, 1, cp.float32)
    names["launch_kernel"](kernel, ELEMENTS, (np.int64(ELEMENTS), np.float32(3), x, y))
    return right(cp.asnumpy(y))


def numba(found: Recommendation) -> bool:
    from numba import cuda as nc

    names: dict[str, Any] = {}
    exec(render(found, Kind.NUMBA), names)

    @nc.jit(**names["KERNEL_OPTIONS"])
    def saxpy(n: Any, a: Any, x: Any, y: Any) -> None:
        for i in range(nc.grid(1), n, nc.gridsize(1)):
            y[i] += a * x[i]

    x = nc.to_device(np.full(ELEMENTS, 2, np.float32))
    y = nc.to_device(np.full(ELEMENTS, 1, np.float32))
    names["launch_kernel"](saxpy, ELEMENTS, 0, ELEMENTS, np.float32(3), x, y)
    return right(y.copy_to_host())


def triton(found: Recommendation) -> bool:
    names: dict[str, Any] = {}
    exec(render(found, Kind.TRITON), names)
    config = names["CONFIG"]
    print("   ", config)
    return bool(config.num_warps * 32 == found.threads)


RUN = {
    Kind.CUDA: (cuda, None),
    Kind.CUDA_CORE: (cuda_core, "cuda.core"),
    Kind.CUPY: (cupy, "cupy"),
    Kind.NUMBA: (numba, "numba"),
    Kind.TRITON: (triton, "triton"),
}
NO_CLUSTERS = {Kind.CUPY, Kind.NUMBA}


def main() -> int:
    wrong = 0
    for kind, (run, package) in RUN.items():
        if package is not None and importlib.util.find_spec(package) is None:
            print(f"{kind}: {package} is not here")
            continue
        for name, found in shapes().items():
            if "cluster" in name and (kind in NO_CLUSTERS or kind is Kind.TRITON):
                continue
            if kind is Kind.TRITON and (found.threads // 32).bit_count() != 1:
                continue
            try:
                good = run(found)
            except AttributeError as error:  # a Numba older than the NumPy beside it
                print(f"{kind}: {package} does not work here: {error}")
                break
            wrong += not good
            print(f"{kind}, {name}, {found.threads} threads: {'right' if good else 'WRONG'}")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
