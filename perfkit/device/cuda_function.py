"""A loaded kernel of the real card, its launch and what a driver call's failure becomes."""

from __future__ import annotations

import ctypes
from typing import Any, Final

from perfkit.device.backend import Argument, LaunchConfig
from perfkit.errors import DeviceError, InvalidLaunch

#: what went wrong in the driver's word -> what the user can do
_HINTS: Final = {
    "CUDA_ERROR_OUT_OF_MEMORY": "another process may hold the card's memory: nvidia-smi shows it",
    "CUDA_ERROR_ILLEGAL_ADDRESS": "compute-sanitizer finds the access",
    "CUDA_ERROR_MISALIGNED_ADDRESS": "compute-sanitizer finds the access",
    "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES": "perfkit fits says what the launch lacks",
    "CUDA_ERROR_INVALID_VALUE": "perfkit fits says whether the launch is within the limits",
    "CUDA_ERROR_NO_BINARY_FOR_GPU": "the code was compiled for another GPU",
    "CUDA_ERROR_LAUNCH_TIMEOUT": "a display's watchdog ended the kernel",
}


def check(answer: tuple[Any, ...], what: str) -> Any:
    """The value of a driver call; its failure as ``DeviceError``."""
    result, *values = answer
    if int(result):
        name = result.name
        raise DeviceError(f"{what} fails: {name}", hint=_HINTS.get(name))
    return values[0] if values else None


class driver_errors:  # noqa: N801 - a context manager, used as a function
    """Turn an error of ``cuda.core`` into ``DeviceError``."""

    def __init__(self, what: str) -> None:
        self._what = what

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, RuntimeError) and type(error).__name__.startswith("CUDA"):
            name = str(error).partition(":")[0].strip()
            message = f"{self._what} fails: {name}"
            raise DeviceError(message, hint=_HINTS.get(name)) from error


class CudaFunction:
    """A kernel of ``cuda.core``, with the preferences that it cannot set."""

    def __init__(self, kernel: Any, name: str, device: int) -> None:
        from cuda.bindings import driver

        self.kernel = kernel
        self.name = name
        self._device = device
        self.handle = check(
            driver.cuKernelGetFunction(driver.CUkernel(int(kernel.handle))), f"finding {name}"
        )
        self.registers = self._get("NUM_REGS")
        self.static_shared_bytes = self._get("SHARED_SIZE_BYTES")
        self.local_bytes = self._get("LOCAL_SIZE_BYTES")
        self.max_threads = self._get("MAX_THREADS_PER_BLOCK")

    def _get(self, attribute: str) -> int:
        from cuda.bindings import driver

        which = getattr(driver.CUfunction_attribute, f"CU_FUNC_ATTRIBUTE_{attribute}")
        return int(check(driver.cuFuncGetAttribute(which, self.handle), attribute))

    def _set(self, attribute: str, value: int) -> None:
        from cuda.bindings import driver

        which = getattr(driver.CUfunction_attribute, f"CU_FUNC_ATTRIBUTE_{attribute}")
        check(
            driver.cuFuncSetAttribute(self.handle, which, value),
            f"setting {attribute} of {self.name} to {value}",
        )

    def prefer_carveout(self, percent: int) -> None:
        self._set("PREFERRED_SHARED_MEMORY_CARVEOUT", percent)

    def allow_dynamic(self, dynamic_bytes: int) -> None:
        self._set("MAX_DYNAMIC_SHARED_SIZE_BYTES", dynamic_bytes)

    def allow_any_cluster(self) -> None:
        self._set("NON_PORTABLE_CLUSTER_SIZE_ALLOWED", 1)

    def blocks_per_sm(self, threads: int, dynamic_bytes: int) -> int:
        from cuda.bindings import driver

        ask = driver.cuOccupancyMaxActiveBlocksPerMultiprocessor
        return int(check(ask(self.handle, threads, dynamic_bytes), "asking for the occupancy"))

    def potential_block_size(self, dynamic_bytes: int) -> tuple[int, int]:
        from cuda.bindings import driver

        answer = driver.cuOccupancyMaxPotentialBlockSize(self.handle, None, dynamic_bytes, 0)
        status, grid, block = answer
        check((status,), "asking for a block size")
        return int(grid), int(block)

    def available_dynamic(self, threads: int, blocks: int) -> int | None:
        from cuda.bindings import driver

        ask = driver.cuOccupancyAvailableDynamicSMemPerBlock
        status, found = ask(self.handle, blocks, threads)
        return None if int(status) else int(found)

    def active_clusters(self, launch: LaunchConfig) -> int:
        from cuda.bindings import driver

        config = launch_config(launch, 0)
        answer = driver.cuOccupancyMaxActiveClusters(self.handle, config)
        return int(check(answer, "asking for active clusters"))


def packed(argument: Argument) -> Any:
    """A ctypes object that holds the argument's bytes."""
    if isinstance(argument, bytes):
        # tensor maps have to lie on 64 bytes; the driver copies from wherever the host has them
        return (ctypes.c_char * len(argument)).from_buffer_copy(argument)
    if hasattr(argument, "address"):
        return ctypes.c_void_p(argument.address)
    if isinstance(argument, ctypes._SimpleCData):  # noqa: SLF001 - the only common base
        return argument
    if hasattr(argument, "tobytes") and hasattr(argument, "dtype"):
        data = argument.tobytes()
        return (ctypes.c_char * len(data)).from_buffer_copy(data)
    raise InvalidLaunch(
        f"{argument!r} ({type(argument).__name__}) has no C type",
        hint="pass memory of the card, bytes, or a scalar of NumPy or ctypes",
    )


def launch_config(launch: LaunchConfig, stream: int) -> Any:
    from cuda.bindings import driver

    config = driver.CUlaunchConfig()
    config.gridDimX, config.gridDimY, config.gridDimZ = launch.grid
    config.blockDimX, config.blockDimY, config.blockDimZ = launch.block
    config.sharedMemBytes = launch.dynamic_bytes
    config.hStream = driver.CUstream(stream)
    attributes = []
    if launch.cluster is not None:
        cluster = driver.CUlaunchAttribute()
        cluster.id = driver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
        size = cluster.value.clusterDim
        size.x, size.y, size.z = launch.cluster
        attributes.append(cluster)
    if launch.cooperative:
        cooperative = driver.CUlaunchAttribute()
        cooperative.id = driver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_COOPERATIVE
        cooperative.value.cooperative = 1
        attributes.append(cooperative)
    if attributes:
        config.attrs = attributes
    config.numAttrs = len(attributes)
    return config
