"""CUDA C++: a launcher for kernels with any parameters, and the launch bounds of the kernel."""

from __future__ import annotations

from perfkit.report.code.facts import Facts


def render(f: Facts) -> str:
    lines = [
        *(f"// {comment}" for comment in f.comments),
        "",
        *_bounds(f),
        "// __global__ void KERNEL_BOUNDS kernel(...);",
        *_loop(f),
        "",
        "template <typename... Params, typename... Args>",
        "cudaError_t launch(void (*kernel)(Params...), long long elements, cudaStream_t stream,",
        "                   Args... args)",
        "{",
        *(f"    {line}" if line else "" for line in _body(f)),
        "}",
        "",
    ]
    return "\n".join(lines)


def _bounds(f: Facts) -> list[str]:
    """``__launch_bounds__`` for each capability, so that the compiler keeps the occupancy."""
    define = f"#define KERNEL_BOUNDS __launch_bounds__({f.threads}"
    if len({blocks for _, blocks in f.bounds}) == 1:
        return [f"{define}, {f.least_blocks})"]
    lines = []
    for number, (arch, blocks) in enumerate(f.bounds):
        condition = "#elif" if number else "#if defined(__CUDA_ARCH__) &&"
        lines += [f"{condition} __CUDA_ARCH__ == {arch}", f"{define}, {blocks})"]
    return [*lines, "#else", f"{define})", "#endif"]


def _loop(f: Facts) -> list[str]:
    if not f.steps:
        return []
    return [
        "// with a loop over its elements:",
        "//   for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < elements;",
        "//        i += (long long)gridDim.x * blockDim.x)",
    ]


def _body(f: Facts) -> list[str]:
    return [
        f"const int threads = {f.threads};",
        f"const size_t shared_bytes = {f.dynamic_bytes};",
        "cudaError_t error = cudaSuccess;",
        *_attributes(f),
        f"long long blocks = (elements + {f.per_block - 1}) / {f.per_block};",
        *(_wave() if f.steps else []),
        *(
            [f"blocks = (blocks + {f.cluster - 1}) / {f.cluster} * {f.cluster};"]
            if f.cluster
            else []
        ),
        "",
        "cudaLaunchConfig_t config = {};",
        "config.gridDim = dim3(static_cast<unsigned>(blocks));",
        "config.blockDim = dim3(threads);",
        "config.dynamicSmemBytes = shared_bytes;",
        "config.stream = stream;",
        *_cluster(f),
        "error = cudaLaunchKernelEx(&config, kernel, args...);",
        "return error;",
    ]


def _checked(call: str) -> list[str]:
    return [f"error = {call};", "if (error != cudaSuccess) return error;"]


def _attributes(f: Facts) -> list[str]:
    wanted = (
        ("MaxDynamicSharedMemorySize", "shared_bytes", f.opts_in),
        ("PreferredSharedMemoryCarveout", f.carveout, f.carveout is not None),
        ("NonPortableClusterSizeAllowed", 1, f.nonportable),
    )
    return [
        line
        for name, value, holds in wanted
        if holds
        for line in _checked(f"cudaFuncSetAttribute(kernel, cudaFuncAttribute{name}, {value})")
    ]


def _wave() -> list[str]:
    """No more blocks than are resident at once on the GPU at hand."""
    return [
        "int device = 0, sms = 0, resident = 0;",
        *_checked("cudaGetDevice(&device)"),
        *_checked("cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device)"),
        *_checked(
            "cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, threads, "
            "shared_bytes)"
        ),
        "const long long wave = (long long)sms * resident;",
        "if (blocks > wave) blocks = wave;",
    ]


def _cluster(f: Facts) -> list[str]:
    if f.cluster is None:
        return []
    return [
        "cudaLaunchAttribute cluster = {};",
        "cluster.id = cudaLaunchAttributeClusterDimension;",
        f"cluster.val.clusterDim.x = {f.cluster};",
        "cluster.val.clusterDim.y = 1;",
        "cluster.val.clusterDim.z = 1;",
        "config.attrs = &cluster;",
        "config.numAttrs = 1;",
    ]
