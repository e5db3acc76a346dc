"""cuda.core, CuPy and Numba: a function that launches; Triton: a configuration for autotuning."""

from __future__ import annotations

from typing import Final

from perfkit.errors import UsageError
from perfkit.report.code.facts import Facts


def _comments(f: Facts) -> list[str]:
    return [f"# {comment}" for comment in f.comments]


def _blocks(f: Facts, sms: str, resident: str) -> list[str]:
    """Statements that set ``blocks``; the two expressions are evaluated only for whole waves."""
    lines = [f"blocks = -(-elements // {f.per_block})"]
    if f.steps:
        lines += [f"resident = {resident}", f"blocks = min(blocks, {sms} * resident)"]
    if f.cluster is not None:
        lines.append(f"blocks = -(-blocks // {f.cluster}) * {f.cluster}")
    return lines


def _function(signature: str, doc: str, body: list[str]) -> list[str]:
    return [f"def {signature}:", f'    """{doc}"""', *(f"    {line}" for line in body), ""]


def _doc(f: Facts, what: str) -> str:
    return f"Launch {what} compiled with __launch_bounds__({f.threads}, {f.least_blocks})."


def _no_clusters(f: Facts, kind: str) -> None:
    if f.cluster is not None:
        raise UsageError(f"{kind} cannot launch clusters", hint="write --code cuda or cuda-core")


def cuda_core(f: Facts) -> str:
    wanted = (
        ("MAX_DYNAMIC_SHARED_SIZE_BYTES", f.dynamic_bytes, f.opts_in),
        ("PREFERRED_SHARED_MEMORY_CARVEOUT", f.carveout, f.carveout is not None),
        ("NON_PORTABLE_CLUSTER_SIZE_ALLOWED", 1, f.nonportable),
    )
    attributes = [f'_set(kernel, device, "{n}", {value})' for n, value, holds in wanted if holds]
    launcher = _function(
        "launch_kernel(kernel, elements, device, stream, *args)",
        _doc(f, "a Kernel"),
        [*attributes, *_configured(f), "launch(stream, config, kernel, *args)"],
    )
    lines = [
        *_comments(f),
        "",
        *(["from cuda.bindings import driver"] if attributes else []),
        "from cuda.core import LaunchConfig, launch",
        "",
        "",
        *([*_function(*_SETTER), ""] if attributes else []),
        *launcher,
    ]
    return "\n".join(lines)


_SETTER: Final = (
    "_set(kernel, device, name, value)",
    "Set an attribute of a kernel; the view of cuda.core only reads them.",
    [
        'attribute = getattr(driver.CUfunction_attribute, f"CU_FUNC_ATTRIBUTE_{name}")',
        "(status,) = driver.cuKernelSetAttribute(",
        "    attribute, value, kernel.handle, device.device_id",
        ")",
        "if status != driver.CUresult.CUDA_SUCCESS:",
        '    raise RuntimeError(f"{name} = {value}: {status.name}")',
    ],
)


def _configured(f: Facts) -> list[str]:
    """Statements that set ``config``; cuda.core counts a grid in clusters."""
    sizes = f"{f.threads}, {f.dynamic_bytes}"
    return [
        *_blocks(
            f,
            "device.properties.multiprocessor_count",
            f"kernel.occupancy.max_active_blocks_per_multiprocessor({sizes})",
        ),
        "config = LaunchConfig(",
        f"    grid={'blocks' if f.cluster is None else f'blocks // {f.cluster}'},",
        *([f"    cluster={f.cluster},"] if f.cluster is not None else []),
        f"    block={f.threads},",
        f"    shmem_size={f.dynamic_bytes},",
        ")",
    ]


def cupy(f: Facts) -> str:
    _no_clusters(f, "CuPy")
    attributes = (
        (f"kernel.max_dynamic_shared_size_bytes = {f.dynamic_bytes}", f.opts_in),
        (f"kernel.preferred_shared_memory_carveout = {f.carveout}", f.carveout is not None),
    )
    body = [
        *(line for line, holds in attributes if holds),
        *_blocks(f, 'cupy.cuda.Device().attributes["MultiProcessorCount"]', str(f.least_blocks)),
        f"kernel((blocks,), ({f.threads},), args, shared_mem={f.dynamic_bytes})",
    ]
    lines = [
        *_comments(f),
        "",
        *(["import cupy", "", ""] if f.steps else []),
        *_function("launch_kernel(kernel, elements, args)", _doc(f, "a RawKernel"), body),
    ]
    return "\n".join(lines)


def numba(f: Facts) -> str:
    _no_clusters(f, "Numba")
    if f.opts_in:  # numba-cuda 0.30 sets no such attribute, and has no way to set it
        raise UsageError(
            f"Numba cannot launch with {f.dynamic_bytes} B of dynamic shared memory: it does not "
            "opt in to more than every block gets",
            hint="write --code cuda, cuda-core or cupy",
        )
    options = [f'"launch_bounds": ({f.threads}, {f.least_blocks})']
    if f.carveout is not None:
        options.append(f'"shared_memory_carveout": {f.carveout}')
    body = [
        *_blocks(f, "cuda.get_current_device().MULTIPROCESSOR_COUNT", str(f.least_blocks)),
        f"kernel[blocks, {f.threads}, stream, {f.dynamic_bytes}](*args)",
    ]
    lines = [
        *_comments(f),
        "",
        *(["from numba import cuda", ""] if f.steps else []),
        "# decorate the kernel: @cuda.jit(**KERNEL_OPTIONS)",
        f"KERNEL_OPTIONS = {{{', '.join(options)}}}",
        "",
        "",
        *_function(
            "launch_kernel(kernel, elements, stream, *args)",
            "Launch a kernel that is decorated so.",
            body,
        ),
    ]
    return "\n".join(lines)


def triton(f: Facts) -> str:
    warps, rest = divmod(f.threads, 32)
    if rest or warps.bit_count() != 1:
        raise UsageError(
            f"Triton takes a power of two of warps, not blocks of {f.threads} threads",
            hint="leave out --threads: perfkit then looks at powers of two only",
        )
    options = [f"num_warps={warps}"]
    if f.most_registers is not None:
        options.append(f"maxnreg={f.most_registers}")
    if f.cluster is not None:
        options.append(f"num_ctas={f.cluster}")
    lines = [
        *_comments(f),
        "",
        "import triton",
        "",
        f"# @triton.autotune(configs=[CONFIG], key=[]); grid: triton.cdiv(elements, {f.per_block})",
        f'CONFIG = triton.Config({{"BLOCK_SIZE": {f.per_block}}}, {", ".join(options)})',
        "",
    ]
    return "\n".join(lines)
