"""Which CUDA version compiles what, asked of the installed NVRTC."""

from __future__ import annotations

import functools

import pytest

from perfkit.arch import catalog
from perfkit.arch.types import Capability

#: names that the database does not carry: 10.1 became 11.0 with CUDA 13.0; 10.7 has no product
NOT_OURS = {101, 107}
KERNEL = b"__global__ void kernel(int *out) { *out = 1; }"


@functools.cache
def nvrtc():
    module = pytest.importorskip("cuda.bindings.nvrtc", reason="the extra cu12 is not installed")
    try:
        status, *_ = module.nvrtcVersion()
    except RuntimeError as error:  # bindings without the library
        pytest.skip(f"NVRTC is not here: {error}")
    assert status == module.nvrtcResult.NVRTC_SUCCESS
    return module


def installed() -> tuple[int, int]:
    _, major, minor = nvrtc().nvrtcVersion()
    return major, minor


def version(text: str) -> tuple[int, int]:
    major, minor = text.split(".")
    return int(major), int(minor)


def compiled_by(cc: Capability, toolkit: tuple[int, int]) -> bool:
    last = cc.compilation.last_cuda
    return version(cc.compilation.first_cuda) <= toolkit and (
        last is None or toolkit <= version(last)
    )


def test_supported_architectures():
    _, architectures = nvrtc().nvrtcGetSupportedArchs()
    ours = {
        cc.compute_capability.major * 10 + cc.compute_capability.minor
        for cc in catalog.all_capabilities()
        if compiled_by(cc, installed())
    }
    assert len(ours) >= 10
    assert ours == set(architectures) - NOT_OURS


@pytest.mark.parametrize(
    "target", [name for cc in catalog.all_capabilities() for name in cc.compilation.targets]
)
def test_target_is_accepted(target):
    """Also the names with a suffix, which NVRTC does not list."""
    if not compiled_by(catalog.capability(target), installed()):
        pytest.skip(f"NVRTC {'.'.join(map(str, installed()))} does not compile {target}")
    module = nvrtc()
    _, program = module.nvrtcCreateProgram(KERNEL, b"kernel.cu", 0, [], [])
    option = f"--gpu-architecture={target}".encode()
    (status,) = module.nvrtcCompileProgram(program, 1, [option])
    assert status == module.nvrtcResult.NVRTC_SUCCESS
    module.nvrtcDestroyProgram(program)
