"""The card at hand: what its driver says of it, and which product of the database it is.

Everything comes from ``cuda.bindings.driver``: ``cuda.core`` has neither all attributes by their
driver names, nor the memory's size, nor the driver's version, and one path is easier to trust than
two. Nothing here creates a context, so asking costs the card nothing. Works with cuda-python 12.9
and 13.x.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Protocol

from perfkit.access import require_cuda
from perfkit.arch import catalog
from perfkit.arch.types import ComputeCapability, Target
from perfkit.device.products import product
from perfkit.errors import DeviceError, NoDevice, UnknownTarget
from perfkit.record import record

if TYPE_CHECKING:
    from collections.abc import Mapping

_PREFIX: Final = "CU_DEVICE_ATTRIBUTE_"


class Driver(Protocol):
    """What is asked of a driver; one implementation is the real one, tests bring another."""

    def count(self) -> int: ...
    def cuda_version(self) -> tuple[int, int]: ...
    def name(self, index: int) -> str: ...
    def uuid(self, index: int) -> str: ...
    def memory_bytes(self, index: int) -> int: ...
    def attributes(self, index: int) -> Mapping[str, int]: ...


@record
class Device:
    """One card. Sizes in bytes, clocks in hertz; ``None``: this driver does not tell."""

    index: int  #: among the devices this process may see
    name: str
    uuid: str  #: ``GPU-…``, as nvidia-smi prints it
    compute_capability: ComputeCapability
    cuda_version: tuple[int, int]  #: the newest CUDA that the driver speaks
    sm_count: int
    boost_clock_hz: int | None
    memory_bytes: int
    memory_clock_hz: int | None
    memory_bus_bits: int | None
    l2_bytes: int | None
    warp_size: int
    max_threads_per_block: int
    max_threads_per_sm: int
    max_blocks_per_sm: int | None
    registers_per_sm: int
    max_registers_per_block: int
    shared_bytes_per_sm: int
    max_shared_bytes_per_block: int
    max_shared_optin_bytes_per_block: int
    reserved_shared_bytes_per_block: int | None
    attributes: Mapping[str, int]  #: all the driver has, as ``MULTIPROCESSOR_COUNT``

    @property
    def max_warps_per_sm(self) -> int:
        return self.max_threads_per_sm // self.warp_size


#: field of ``Device`` -> (attribute, factor to the field's unit); the driver counts clocks in kHz
_REQUIRED: Final = {
    "sm_count": ("MULTIPROCESSOR_COUNT", 1),
    "warp_size": ("WARP_SIZE", 1),
    "max_threads_per_block": ("MAX_THREADS_PER_BLOCK", 1),
    "max_threads_per_sm": ("MAX_THREADS_PER_MULTIPROCESSOR", 1),
    "registers_per_sm": ("MAX_REGISTERS_PER_MULTIPROCESSOR", 1),
    "max_registers_per_block": ("MAX_REGISTERS_PER_BLOCK", 1),
    "shared_bytes_per_sm": ("MAX_SHARED_MEMORY_PER_MULTIPROCESSOR", 1),
    "max_shared_bytes_per_block": ("MAX_SHARED_MEMORY_PER_BLOCK", 1),
    "max_shared_optin_bytes_per_block": ("MAX_SHARED_MEMORY_PER_BLOCK_OPTIN", 1),
}
#: the same for what older drivers lack, or report as 0
_OPTIONAL: Final = {
    "boost_clock_hz": ("CLOCK_RATE", 1000),
    "memory_clock_hz": ("MEMORY_CLOCK_RATE", 1000),
    "memory_bus_bits": ("GLOBAL_MEMORY_BUS_WIDTH", 1),
    "l2_bytes": ("L2_CACHE_SIZE", 1),
    "max_blocks_per_sm": ("MAX_BLOCKS_PER_MULTIPROCESSOR", 1),
}


def read_devices(driver: Driver | None = None) -> tuple[Device, ...]:
    """Every device the driver offers.

    Raises:
        Unavailable: no CUDA package, driver or device; see ``perfkit.access``.
        DeviceError: the driver fails to answer.
    """
    driver = driver or cuda_driver()
    return tuple(read_device(index, driver) for index in range(driver.count()))


def read_device(index: int = 0, driver: Driver | None = None) -> Device:
    """What the driver says of device ``index``.

    Raises:
        Unavailable: no CUDA package, driver or device; see ``perfkit.access``.
        NoDevice: fewer devices than that.
        DeviceError: the driver fails to answer.
    """
    driver = driver or cuda_driver()
    count = driver.count()
    if not 0 <= index < count:
        raise NoDevice(
            f"there is no device {index}: the driver offers {count}",
            hint="they count from 0; CUDA_VISIBLE_DEVICES hides devices",
        )
    attributes = driver.attributes(index)

    def required(attribute: str) -> int:
        if attribute not in attributes:
            raise DeviceError(f"the driver does not tell {attribute}", where=f"device {index}")
        return attributes[attribute]

    values: dict[str, Any] = {
        field: required(attribute) * factor for field, (attribute, factor) in _REQUIRED.items()
    }
    for field, (attribute, factor) in _OPTIONAL.items():
        values[field] = attributes.get(attribute, 0) * factor or None
    return Device(
        index=index,
        name=driver.name(index),
        uuid=driver.uuid(index),
        compute_capability=ComputeCapability(
            required("COMPUTE_CAPABILITY_MAJOR"), required("COMPUTE_CAPABILITY_MINOR")
        ),
        cuda_version=driver.cuda_version(),
        memory_bytes=driver.memory_bytes(index),
        # 0 is an answer here: before 8.0 nothing is reserved
        reserved_shared_bytes_per_block=attributes.get("RESERVED_SHARED_MEMORY_PER_BLOCK"),
        attributes=attributes,
        **values,
    )


def present_target(index: int = 0, driver: Driver | None = None) -> Target:
    """The card as something to ask questions about: ``--gpu device``.

    Its product where the database has it; otherwise the bare capability, under a label with the
    name that the driver gives.

    Raises:
        Unavailable, DeviceError: as ``read_device``.
        UnknownTarget: the database lacks the card's compute capability.
    """
    return target_of(read_device(index, driver))


def target_of(device: Device) -> Target:
    """``present_target`` of a device already read."""
    cc = device.compute_capability
    try:
        capability = catalog.capability(str(cc))
    except UnknownTarget:
        raise UnknownTarget(
            f"the database lacks compute capability {cc}, that of {device.name!r}",
            hint=f"add compute_capability/{cc.sm}.yaml in a directory that PERFKIT_ARCHDB names; "
            f"known: {', '.join(catalog.capability_keys())}",
        ) from None
    gpu = product(
        device.name,
        cc,
        sm_count=device.sm_count,
        memory_bytes=device.memory_bytes,
        clock_hz=device.boost_clock_hz,
    )
    label = gpu.key if gpu else f"{cc} ({device.name})"
    return Target(label=label, capability=capability, gpu=gpu)


def cuda_driver() -> Driver:
    """The real driver.

    Raises:
        Unavailable: no CUDA package, driver or device; see ``perfkit.access``.
    """
    count = require_cuda()
    from cuda.bindings import driver

    return _CudaDriver(driver, count)


class _CudaDriver:
    """``cuda.bindings.driver``, initialised."""

    def __init__(self, module: Any, count: int) -> None:
        self._cuda = module
        self._count = count

    def _call(self, what: str, *arguments: Any) -> Any:
        result, *values = getattr(self._cuda, what)(*arguments)
        if int(result):
            raise DeviceError(f"{what} fails: {result.name}", hint="see what nvidia-smi says")
        return values[0] if values else None

    def _handle(self, index: int) -> Any:
        return self._call("cuDeviceGet", index)

    def count(self) -> int:
        return self._count

    def cuda_version(self) -> tuple[int, int]:
        version = self._call("cuDriverGetVersion")
        return version // 1000, version % 1000 // 10

    def name(self, index: int) -> str:
        raw: bytes = self._call("cuDeviceGetName", 256, self._handle(index))
        return raw.partition(b"\0")[0].decode("utf-8", "replace").strip()

    def uuid(self, index: int) -> str:
        digits = bytes(self._call("cuDeviceGetUuid", self._handle(index)).bytes).hex()
        cuts = ((0, 8), (8, 12), (12, 16), (16, 20), (20, 32))
        return "GPU-" + "-".join(digits[start:end] for start, end in cuts)

    def memory_bytes(self, index: int) -> int:
        return int(self._call("cuDeviceTotalMem", self._handle(index)))

    def attributes(self, index: int) -> Mapping[str, int]:
        """All attributes that both the bindings and the driver know, under every name of theirs."""
        handle = self._handle(index)
        found = {}
        for name, attribute in self._cuda.CUdevice_attribute.__members__.items():
            # a driver older or newer than the bindings refuses some of them
            result, value = self._cuda.cuDeviceGetAttribute(attribute, handle)
            if not int(result):
                found[name.removeprefix(_PREFIX)] = int(value)
        return found
