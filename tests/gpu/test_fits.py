"""Verdicts of ``analysis.fits`` against launches: what launches does, what does not is refused.

Every configuration is launched with and without what ``fits`` names as a condition, so that a
condition that is not needed is found as well as one that is missing. A refused launch leaves the
context as it was.
"""

from __future__ import annotations

import ctypes
import random
from itertools import product
from typing import Any, NamedTuple

import pytest

from perfkit.analysis.fits import fits
from perfkit.analysis.obstacles import Demand
from perfkit.models.compatibility import static_shared_limit

pytestmark = pytest.mark.gpu

KIB = 1024
SAMPLES = 400
#: what the host may ask for
OPT_IN_SHARED, OPT_IN_CLUSTER = "opt_in_shared", "opt_in_cluster"

KERNEL = """
extern "C" __global__ void {bounds} {name}(float* out) {{
    extern __shared__ float dynamic[];
    __shared__ volatile float own[{static} / 4];
    {work}
    if (out) {{ own[threadIdx.x & 7] = dynamic[threadIdx.x]; out[threadIdx.x] = own[0]; }}
}}
"""
HEAVY = """
    float a[{n}];
    #pragma unroll
    for (int i = 0; i < {n}; ++i) a[i] = out ? out[32 * i + threadIdx.x] : i;
    __syncthreads();
    #pragma unroll
    for (int i = 0; i < {n}; ++i) if (out) out[32 * i + threadIdx.x] = a[i];
"""
PLAIN = {"bounds": "", "static": 64, "work": ""}
KERNELS = {
    "plain": {},
    "own_shared": {"static": 16 * KIB},
    "bounded": {"bounds": "__launch_bounds__(256)"},
    "required": {"bounds": "__block_size__((128, 1, 1))"},
    "clustered": {"bounds": "__cluster_dims__(4, 1, 1)"},
    "registers": {"bounds": "__maxnreg__(80)", "work": HEAVY.format(n=80)},
    "many_registers": {"bounds": "__maxnreg__(255)", "work": HEAVY.format(n=250)},
}


class Launch(NamedTuple):
    threads: int
    dynamic: int
    cluster: int
    asked: frozenset[str]


class Loaded(NamedTuple):
    handle: Any
    regs: int
    static: int
    max_threads: int
    required_cluster: int


@pytest.fixture(scope="module")
def tools():
    return pytest.importorskip("tests.gpu.card")


def load(tools, card, name, arch, **changes):
    source = KERNEL.format(name=name, **(PLAIN | changes))
    module = tools.call(tools.driver.cuModuleLoadData, tools.compile_cubin(source, arch))
    handle = tools.call(tools.driver.cuModuleGetFunction, module, name.encode())
    which = tools.driver.CUfunction_attribute

    def attribute(key):
        return int(
            tools.call(
                tools.driver.cuFuncGetAttribute, getattr(which, f"CU_FUNC_ATTRIBUTE_{key}"), handle
            )
        )

    return Loaded(
        handle,
        attribute("NUM_REGS"),
        attribute("SHARED_SIZE_BYTES"),
        attribute("MAX_THREADS_PER_BLOCK"),
        attribute("REQUIRED_CLUSTER_WIDTH"),
    )


def launches(tools, function: Loaded, launch: Launch) -> bool:
    """Whether the driver takes it; anything but a refusal of this launch is an error."""
    driver = tools.driver
    which = driver.CUfunction_attribute
    usual = max(0, 48 * KIB - function.static)
    limits = (
        (which.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
         launch.dynamic if OPT_IN_SHARED in launch.asked else usual),
        (which.CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED,
         int(OPT_IN_CLUSTER in launch.asked)),
    )  # fmt: skip
    for attribute, value in limits:
        (status,) = driver.cuFuncSetAttribute(function.handle, attribute, value)
        if int(status):
            return False
    threads, dynamic, cluster, _ = launch
    config = tools.cluster_config(2 * cluster, threads, dynamic, cluster)
    if cluster in {1, function.required_cluster}:
        config.attrs, config.numAttrs = [], 0
    (status,) = driver.cuLaunchKernelEx(config, function.handle, ((0,), (ctypes.c_void_p,)), 0)
    tools.call(driver.cuCtxSynchronize)
    return not int(status)


def predicted(card, name: str, function: Loaded, launch: Launch, arch: str) -> bool:
    bound = function.max_threads if "bounds" in KERNELS.get(name, {}) else None
    demand = Demand(
        threads=launch.threads,
        regs=function.regs,
        static_bytes=function.static,
        dynamic_bytes=launch.dynamic,
        cluster=launch.cluster,
        arch=arch,
        max_threads=bound if name == "bounded" else None,
        required_threads=128 if name == "required" else None,
        required_cluster=function.required_cluster or None,
    )
    fit = fits(card.target, demand)
    assert fit.launches is not None
    return fit.launches and {change.kind for change in fit.conditions} <= launch.asked


def samples(function: Loaded, name: str, most: int) -> list[Launch]:
    """Around every limit, with everything asked for and with each thing left out."""
    chosen = random.Random(name)
    edges = [48 * KIB - function.static, most - function.static]
    threads = [32, 33, 96, 128, 160, 256, 257, 288, 512, 768, 800, 992, 1024]
    dynamic = [0, 4096, *(edge + more for edge in edges for more in (-4, 0, 4))]
    clusters = [4, 4, 2, 8] if function.required_cluster > 1 else [1, 1, 2, 8, 9, 16, 17]
    asked = [frozenset(x) for x in ((), (OPT_IN_SHARED,), (OPT_IN_CLUSTER,),
                                    (OPT_IN_SHARED, OPT_IN_CLUSTER))]  # fmt: skip
    every = list(product(threads, [d for d in dynamic if d >= 0], clusters, asked))
    return [Launch(*one) for one in chosen.sample(every, min(SAMPLES, len(every)))]


@pytest.mark.parametrize("name", KERNELS)
def test_what_fits_launches_and_nothing_else_does(card, tools, figure, name):
    arch = card.capability_name
    function = load(tools, card, name, arch, **KERNELS[name])
    shared = card.capability.shared_memory
    wrong, count, launched = [], 0, 0
    for launch in samples(function, name, shared.max_per_block_optin_bytes):
        expected = predicted(card, name, function, launch, arch)
        found = launches(tools, function, launch)
        count, launched = count + 1, launched + found
        if found is not expected:
            wrong.append((launch, f"launches: {found}"))
    figure("launches tried", count)
    figure("of them launched", launched)
    figure("verdicts that differ", len(wrong))
    assert not wrong, wrong[:5]
    assert 0 < launched < count


def test_static_shared_memory_beyond_48_kib(card, tools, figure):
    """Code for the ``a`` target may declare it, if the assembler is that of CUDA 13."""
    arch = f"{card.capability_name}a"
    most = static_shared_limit(arch, card.capability.shared_memory)
    try:
        functions = [load(tools, card, "large", arch, static=most - room) for room in (0, 4096)]
    except tools.CudaError as error:
        pytest.skip(f"this compiler takes less: {str(error)[-100:]}")
    tried = [
        (functions[0], Launch(128, 0, 1, frozenset())),
        (functions[0], Launch(128, 4, 1, frozenset([OPT_IN_SHARED]))),
        (functions[1], Launch(128, 4096, 1, frozenset([OPT_IN_SHARED]))),
        (functions[1], Launch(128, 4096, 1, frozenset())),
    ]
    found = [launches(tools, function, launch) for function, launch in tried]
    figure("launched", found)
    assert found == [predicted(card, "large", function, launch, arch) for function, launch in tried]
    assert found[:3] == [True, False, True]
