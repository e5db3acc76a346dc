"""What is told from the logs of refused compilations."""

from __future__ import annotations

import pytest

from perfkit.arch import catalog
from perfkit.compiled.inspect import inspect
from perfkit.compiled.refusals import SharedExcess, concerns_target, first_error, shared_excesses
from perfkit.errors import CompileError
from perfkit.models.compatibility import static_shared_limit

SHARED = """\
template <int words> __global__ void staged(float* p)
{
    __shared__ float s[words];
    s[threadIdx.x] = p[threadIdx.x];
    __syncthreads();
    p[threadIdx.x] = s[threadIdx.x * 7 % words];
}
template __global__ void staged<SIZE / 4>(float*);
"""


def refusal(path, arch, **options):
    with pytest.raises(CompileError) as caught:
        inspect(path, arch=arch, **options)
    return caught.value.log


@pytest.mark.parametrize("arch", ["sm_75", "sm_86", "sm_90", "sm_120"])
def test_static_shared_memory_up_to_the_limit_and_beyond(tmp_path, nvrtc, arch):
    source = tmp_path / "staged.cu"
    source.write_text(SHARED)
    limit = static_shared_limit(arch, catalog.capability(arch).shared_memory)
    (kernel,) = inspect(source, arch=arch, defines=[f"SIZE={limit}"])
    assert kernel.static_shared_bytes == limit
    log = refusal(source, arch, defines=[f"SIZE={limit + 4}"])
    name = f"staged<{limit // 4 + 1}>"
    assert shared_excesses(log) == (SharedExcess(name, limit + 4, limit),)
    assert concerns_target(log)


def test_a_typing_mistake_is_no_matter_of_the_target(tmp_path, nvrtc):
    source = tmp_path / "typo.cu"
    source.write_text("// error: this is a comment\n__global__ void k(float* p) { *q = 1; }\n")
    log = refusal(source, "sm_90")
    assert first_error(log).startswith(f"{source}(2): error: ")
    assert '"q" is undefined' in first_error(log)
    assert not concerns_target(log)
    assert shared_excesses(log) == ()


def test_clusters_are_a_matter_of_the_target(tmp_path, nvrtc):
    source = tmp_path / "cluster.cu"
    source.write_text("__global__ void __cluster_dims__(2) k(float* p) { *p = 1; }\n")
    log = refusal(source, "sm_80")
    assert first_error(log).startswith(f"{source}(1): error: ")
    assert "__cluster_dims__" in first_error(log)
    assert concerns_target(log)


@pytest.mark.parametrize(
    ("log", "line"),
    [
        ("", "no reason"),
        ("\n  NVRTC_ERROR_INTERNAL_ERROR\n", "NVRTC_ERROR_INTERNAL_ERROR"),
        ("a.cu(1): warning #1: w\nptxas fatal   : x\nptxas error   : y\n", "ptxas error   : y"),
        ("a.cu(3): catastrophic error: no b.h\n", "a.cu(3): catastrophic error: no b.h"),
    ],
)
def test_the_line_that_is_shown(log, line):
    assert first_error(log) == line
