"""The real card, through cuda-python 12.9 or 13.x.

``cuda.core`` brings the device, its streams, events, memory and code; ``cuda.bindings`` what core
lacks: preferences of a kernel, structs passed by value, pinned copies, tensor maps. Nothing here
touches a setting of the card.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from perfkit.access import require_cuda
from perfkit.device.backend import Argument, LaunchConfig, Memory, TensorShape
from perfkit.device.cuda_function import CudaFunction, check, driver_errors, launch_config, packed
from perfkit.device.properties import Device, read_device, target_of
from perfkit.errors import InvalidLaunch
from perfkit.record import record

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from perfkit.arch.types import Target


def open_card(index: int = 0, *, legacy: bool = False) -> CudaCard:
    """Card ``index``, current in this thread.

    Args:
        index: as CUDA counts the cards this process may see.
        legacy: the card's own order of work is the legacy default stream, in which other code
            of the process (torch, cupy, numba) works, too.

    Raises:
        Unavailable: no CUDA package, driver or device.
        DeviceError: the device cannot be used now.
    """
    require_cuda()
    return CudaCard(read_device(index), legacy=legacy)


@record
class _CudaMemory:
    address: int
    size_bytes: int
    pinned: bool = False
    owner: Any = None


class CudaCard:
    """``perfkit.device.backend.Card`` on a device of this machine."""

    def __init__(self, device: Device, *, legacy: bool = False) -> None:
        from cuda.core import LEGACY_DEFAULT_STREAM
        from cuda.core import Device as CoreDevice

        self.device = device
        self._core = CoreDevice(device.index)
        self._core.set_current()
        self._stream = LEGACY_DEFAULT_STREAM if legacy else self._core.create_stream()
        self._owned: dict[int, _CudaMemory] = {}
        self._code: list[Any] = []  # code stays loaded as long as its kernels are used

    @cached_property
    def target(self) -> Target:
        return target_of(self.device)

    def load(self, cubin: bytes, names: Sequence[str]) -> tuple[CudaFunction, ...]:
        from cuda.core import ObjectCode

        code = ObjectCode.from_cubin(cubin)
        self._code.append(code)
        with driver_errors("loading the code"):
            kernels = [code.get_kernel(name) for name in names]
        return tuple(
            CudaFunction(kernel, name, self.device.index)
            for kernel, name in zip(kernels, names, strict=True)
        )

    def allocate(self, size_bytes: int) -> Memory:
        from cuda.bindings import driver

        # the plain allocator: a pool would keep the memory of one experiment from the next
        address = int(check(driver.cuMemAlloc(size_bytes), f"allocating {size_bytes:,} bytes"))
        return self._own(_CudaMemory(address=address, size_bytes=size_bytes))

    def allocate_pinned(self, size_bytes: int) -> Memory:
        from cuda.bindings import driver

        what = f"allocating {size_bytes:,} bytes of pinned host memory"
        address = int(check(driver.cuMemHostAlloc(size_bytes, 0), what))
        return self._own(_CudaMemory(address=address, size_bytes=size_bytes, pinned=True))

    def _own(self, memory: _CudaMemory) -> _CudaMemory:
        self._owned[memory.address] = memory
        return memory

    def free(self, memory: Memory) -> None:
        from cuda.bindings import driver

        owned = self._owned.pop(memory.address)
        release = driver.cuMemFreeHost if owned.pinned else driver.cuMemFree
        check(release(owned.address), "freeing memory")

    def write(self, memory: Memory, data: NDArray[Any]) -> None:
        from cuda.bindings import driver

        view = _host(data)
        check(
            driver.cuMemcpyHtoD(memory.address, view.address, view.size_bytes),
            "copying to the card",
        )

    def read(self, memory: Memory, into: NDArray[Any]) -> None:
        from cuda.bindings import driver

        self.wait()
        view = _host(into)
        check(
            driver.cuMemcpyDtoH(view.address, memory.address, view.size_bytes),
            "copying from the card",
        )

    def copy(self, to: Memory, source: Memory, size_bytes: int, stream: Any = None) -> None:
        from cuda.bindings import driver

        check(
            driver.cuMemcpyAsync(to.address, source.address, size_bytes, self._handle(stream)),
            "starting a copy",
        )

    def fill(self, memory: Memory, byte: int) -> None:
        from cuda.bindings import driver

        check(
            driver.cuMemsetD8Async(memory.address, byte, memory.size_bytes, self._handle(None)),
            "filling memory",
        )

    def launch(
        self,
        function: Any,
        launch: LaunchConfig,
        arguments: Sequence[Argument],
        stream: Any = None,
    ) -> None:
        self.prepare(function, launch, arguments, stream)()

    def prepare(
        self,
        function: Any,
        launch: LaunchConfig,
        arguments: Sequence[Argument],
        stream: Any = None,
    ) -> Callable[[], None]:
        from cuda.bindings import driver

        values = [packed(argument) for argument in arguments]
        pointers = (ctypes.c_void_p * len(values))(*(ctypes.addressof(value) for value in values))
        config = launch_config(launch, self._handle(stream))
        start, handle, where = driver.cuLaunchKernelEx, function.handle, ctypes.addressof(pointers)
        shape = f"grid {launch.grid}, block {launch.block}, {launch.dynamic_bytes} B"
        what = f"launching {function.name} ({shape})"

        def work(_keep: object = (values, pointers)) -> None:
            check(start(config, handle, where, 0), what)

        return work

    def stream(self) -> Any:
        return self._core.create_stream()

    def _handle(self, stream: Any) -> int:
        return int((stream or self._stream).handle)

    def mark(self, stream: Any = None) -> Any:
        from cuda.core import EventOptions

        return (stream or self._stream).record(options=EventOptions(**_timing_options()))

    def follow(self, stream: Any, mark: Any) -> None:
        (stream or self._stream).wait(mark)

    def join(self, mark: Any) -> None:
        self._stream.wait(mark)

    def seconds(self, start: Any, end: Any) -> float:
        with driver_errors("running the kernel"):
            end.sync()
            return float(end - start) / 1000

    def wait(self) -> None:
        from cuda.bindings import driver

        check(driver.cuCtxSynchronize(), "running the kernel")

    def tensor_map(self, memory: Memory, shape: TensorShape) -> bytes:
        from perfkit.device.tensor_map import encode

        return encode(memory.address, shape)

    def close(self) -> None:
        """Give memory back; the context stays, other code of this process may use it."""
        for memory in tuple(self._owned.values()):
            self.free(memory)


def _timing_options() -> dict[str, bool]:
    """``timing_enabled`` of core 1.x, ``enable_timing`` of the first releases."""
    from cuda.core import EventOptions

    names = {field for field in dir(EventOptions) if not field.startswith("_")}
    return {"timing_enabled" if "timing_enabled" in names else "enable_timing": True}


def _host(data: NDArray[Any]) -> _CudaMemory:
    """Where host data lies; it must be contiguous."""
    import numpy as np

    array = np.asarray(data)
    if not array.flags.c_contiguous:
        raise InvalidLaunch("host data must be contiguous", hint="numpy.ascontiguousarray makes it")
    return _CudaMemory(address=array.ctypes.data, size_bytes=array.nbytes)
