"""The card through the driver API: kernels with a known number of registers, and what they do.

``cuda.bindings`` only, every return code checked. Nothing here touches the card's settings.
"""

from __future__ import annotations

import ctypes
import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
from cuda.bindings import driver, nvrtc

from perfkit.access import require_cuda
from perfkit.device.properties import Device, present_target, read_device
from tests.gpu.kernels import Variant

MAX_SMS = 4096
SPIN_NS = 400_000  #: long enough for every SM to fill before the first block leaves


class CudaError(RuntimeError):
    """A call failed; the message has its name and the driver's code."""


def call(function: Any, *arguments: Any) -> Any:
    """The values a call returns after its status, which must be success."""
    status, *values = function(*arguments)
    if int(status):
        raise CudaError(f"{function.__name__}: {status.name}")
    return values[0] if len(values) == 1 else tuple(values)


@dataclass(kw_only=True)
class Function:
    """A loaded kernel, with what the driver says of it."""

    handle: Any
    variant: Variant
    registers: int
    static_bytes: int
    max_threads: int
    carveout: int = -1

    def set(self, attribute: str, value: int) -> None:
        which = getattr(driver.CUfunction_attribute, f"CU_FUNC_ATTRIBUTE_{attribute}")
        call(driver.cuFuncSetAttribute, self.handle, which, value)

    def prefer(self, percent: int) -> None:
        """Set the carveout preference; -1: none."""
        if percent != self.carveout:
            self.set("PREFERRED_SHARED_MEMORY_CARVEOUT", percent)
            self.carveout = percent

    def allow_dynamic(self, limit_bytes: int) -> None:
        """Let static and dynamic shared memory together take ``limit_bytes``."""
        self.set("MAX_DYNAMIC_SHARED_SIZE_BYTES", limit_bytes - self.static_bytes)

    def blocks(self, threads: int, dynamic_bytes: int) -> int:
        """The driver's own occupancy."""
        ask = driver.cuOccupancyMaxActiveBlocksPerMultiprocessor
        return int(call(ask, self.handle, threads, dynamic_bytes))


class Card:
    """One device, its primary context and the buffers that the kernels use."""

    def __init__(self, index: int = 0) -> None:
        require_cuda()
        self.device: Device = read_device(index)
        self.target = present_target(index)
        self.capability = self.target.capability
        handle = call(driver.cuDeviceGet, index)
        self._context = call(driver.cuDevicePrimaryCtxRetain, handle)
        call(driver.cuCtxSetCurrent, self._context)
        self._counts = call(driver.cuMemAlloc, 2 * MAX_SMS * 4)
        floats = 32 * 256 + 1024
        self._values = call(driver.cuMemAlloc, floats * 4)
        call(driver.cuMemsetD8, self._values, 0, floats * 4)

    def functions(self, variants: list[Variant]) -> list[Function]:
        """Compile and load kernels, in one translation unit."""
        source = "".join(variant.source() for variant in variants)
        module = call(driver.cuModuleLoadData, compile_cubin(source, self.capability_name))
        return [self._function(module, variant) for variant in variants]

    @property
    def capability_name(self) -> str:
        return self.device.compute_capability.sm

    def _function(self, module: Any, variant: Variant) -> Function:
        handle = call(driver.cuModuleGetFunction, module, variant.name.encode())

        def get(attribute: str) -> int:
            which = getattr(driver.CUfunction_attribute, f"CU_FUNC_ATTRIBUTE_{attribute}")
            return int(call(driver.cuFuncGetAttribute, which, handle))

        found = Function(
            handle=handle,
            variant=variant,
            registers=get("NUM_REGS"),
            static_bytes=get("SHARED_SIZE_BYTES"),
            max_threads=get("MAX_THREADS_PER_BLOCK"),
        )
        assert variant.registers in {0, found.registers}, found
        assert found.static_bytes == variant.static_bytes, found
        return found

    def launch(
        self,
        function: Function,
        *,
        grid: int,
        threads: int,
        dynamic_bytes: int,
        ns: int = SPIN_NS,
        cluster: int | None = None,
    ) -> None:
        """Launch and do not wait. The counts are those of all launches since ``clear``."""
        values = (int(self._counts), int(self._counts) + 4 * MAX_SMS, ns, int(self._values), 0)
        types = (ctypes.c_void_p,) * 2 + (ctypes.c_longlong,) + (ctypes.c_void_p,) * 2
        if cluster is None:
            size = (grid, 1, 1, threads, 1, 1, dynamic_bytes)
            call(driver.cuLaunchKernel, function.handle, *size, 0, (values, types), 0)
        else:
            config = cluster_config(grid, threads, dynamic_bytes, cluster)
            call(driver.cuLaunchKernelEx, config, function.handle, (values, types), 0)

    def clear(self) -> None:
        call(driver.cuMemsetD8, self._counts, 0, 2 * MAX_SMS * 4)

    def wait(self) -> None:
        call(driver.cuCtxSynchronize)

    def resident(self, function: Function, **launch: Any) -> np.ndarray:
        """The most blocks that were on each SM at once, for every SM that had any."""
        self.clear()
        self.launch(function, **launch)
        self.wait()
        counts = np.empty(2 * MAX_SMS, np.int32)
        call(driver.cuMemcpyDtoH, counts.ctypes.data, self._counts, counts.nbytes)
        assert not counts[:MAX_SMS].any(), "a block came and never left"
        peak = counts[MAX_SMS:]
        return peak[peak > 0]


def cluster_config(grid: int, threads: int, dynamic_bytes: int, cluster: int) -> Any:
    """A launch in clusters of ``cluster`` blocks along x."""
    attribute = driver.CUlaunchAttribute()
    attribute.id = driver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
    size = attribute.value.clusterDim
    size.x, size.y, size.z = cluster, 1, 1
    config = driver.CUlaunchConfig()
    config.gridDimX, config.gridDimY, config.gridDimZ = grid, 1, 1
    config.blockDimX, config.blockDimY, config.blockDimZ = threads, 1, 1
    config.sharedMemBytes = dynamic_bytes
    config.hStream = driver.CUstream(0)
    config.attrs = [attribute]
    config.numAttrs = 1
    return config


@functools.cache
def compile_cubin(source: str, arch: str) -> bytes:
    """What NVRTC makes of ``source`` for ``sm_90``."""
    program = call(nvrtc.nvrtcCreateProgram, source.encode(), b"spin.cu", 0, [], [])
    (status,) = nvrtc.nvrtcCompileProgram(program, 1, [f"-arch={arch}".encode()])
    if int(status):
        log = b" " * call(nvrtc.nvrtcGetProgramLogSize, program)
        call(nvrtc.nvrtcGetProgramLog, program, log)
        raise CudaError(f"NVRTC: {status.name}\n{log.decode(errors='replace')}")
    cubin = b" " * call(nvrtc.nvrtcGetCUBINSize, program)
    call(nvrtc.nvrtcGetCUBIN, program, cubin)
    return cubin
