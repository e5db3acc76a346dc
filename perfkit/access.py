"""Is CUDA here, and if not, why: package missing, library missing, or no device.

Importing proves nothing: ``import cuda.bindings`` succeeds without a driver and without NVRTC, so
every answer here comes from a call. Works with cuda-python 12.9 and 13.x. Modules of ``cuda`` are
imported inside functions only; a prediction never loads one.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Final

from perfkit.errors import NoCudaLibrary, NoCudaPackage, NoDevice, Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: The extras that hold NVRTC and its headers, and what each compiles.
EXTRAS: Final = "pip install 'perfkit[cu12]' compiles sm_50 … sm_121; 'perfkit[cu13]' from sm_75 on"
_WITHOUT: Final = "compiled files (cubins, libraries) and typed numbers need neither"
_DRIVER_HINT: Final = "install the NVIDIA driver, or run this on a machine with a GPU"
_DEVICE_HINT: Final = "nvidia-smi shows what the driver sees; predictions need no GPU"

#: What perfkit calls, by the names of their packages; ``cuda-python`` only requires them.
_USED: Final = ("cuda-bindings", "cuda-core")

#: What CUDA's headers are found by: pathfinder's name -> a header that kernels include.
HEADERS: Final = {"cudart": "cuda_fp16.h", "cccl": "cuda/std/cstdint", "nvcc": "crt/mma.h"}


class State(StrEnum):
    OK = "ok"
    MISSING = "missing"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """One line of ``perfkit doctor``."""

    what: str
    state: State
    detail: str
    hint: str | None = None


class _BrokenLibrary(NoCudaLibrary):
    """It is here and does not work: reinstalling helps, installing does not."""


class _RefusingDriver(NoDevice):
    """The driver is here and says no."""


@contextmanager
def _cuda_package() -> Iterator[None]:
    """Turn a missing ``cuda`` module, and nothing else, into ``NoCudaPackage``."""
    try:
        yield
    except ModuleNotFoundError as error:
        if not (error.name or "").startswith("cuda"):
            raise
        raise NoCudaPackage(
            "NVIDIA's cuda-python is not installed", hint=f"{EXTRAS}; {_WITHOUT}"
        ) from error


@contextmanager
def _library(name: str, hint: str) -> Iterator[None]:
    """Turn a library that cannot be loaded into ``NoCudaLibrary``."""
    with _cuda_package():
        from cuda.pathfinder import DynamicLibNotFoundError
    try:
        yield
    except DynamicLibNotFoundError as error:
        raise NoCudaLibrary(f"{name} is not installed", hint=hint) from error
    except (RuntimeError, OSError) as error:  # found, but it does not load or lacks a function
        first_line = str(error).strip().partition("\n")[0]
        raise _BrokenLibrary(f"{name} cannot be loaded: {first_line}", hint=hint) from error


def require_nvrtc() -> tuple[int, int]:
    """The version of NVRTC, found by asking it.

    Raises:
        NoCudaPackage: cuda-python is not installed.
        NoCudaLibrary: it is, but there is no NVRTC that loads.
    """
    with _cuda_package():
        from cuda.bindings import nvrtc
    with _library("NVRTC, CUDA's run-time compiler,", EXTRAS):
        result, major, minor = nvrtc.nvrtcVersion()
    if int(result):
        raise _BrokenLibrary(f"NVRTC does not tell its version: {result.name}", hint=EXTRAS)
    return major, minor


def nvrtc_targets() -> tuple[int, ...]:
    """The SM numbers that the installed NVRTC compiles for: 50 … 121, ascending.

    Raises:
        Unavailable: as ``require_nvrtc``.
    """
    require_nvrtc()
    from cuda.bindings import nvrtc

    _, count = nvrtc.nvrtcGetNumSupportedArchs()
    _, targets = nvrtc.nvrtcGetSupportedArchs()
    return tuple(sorted(targets[:count]))


def require_cuda() -> int:
    """How many CUDA devices the driver offers: one or more.

    Raises:
        NoCudaPackage: cuda-python is not installed.
        NoCudaLibrary: there is no driver library.
        NoDevice: the driver refuses, or there is no device.
    """
    with _cuda_package():
        from cuda.bindings import driver
    with _library("the NVIDIA driver", _DRIVER_HINT):
        (result,) = driver.cuInit(0)
        count = 0
        if not int(result):
            result, count = driver.cuDeviceGetCount()
    if int(result) == int(driver.CUresult.CUDA_ERROR_NO_DEVICE) or (not int(result) and not count):
        raise NoDevice("the NVIDIA driver finds no device", hint=_DEVICE_HINT)
    if int(result):
        raise _RefusingDriver(f"the NVIDIA driver refuses: {result.name}", hint=_DEVICE_HINT)
    return int(count)


def header_directories() -> dict[str, str]:
    """Where CUDA's headers are, by pathfinder's name; what is not found is left out.

    The third directory is only looked for where the first lacks it: the CUDA 13 wheels share one,
    and a toolkit of another version must not be mixed in.

    Raises:
        NoCudaPackage: cuda-python is not installed.
    """
    from pathlib import Path

    with _cuda_package():
        from cuda.pathfinder import find_nvidia_header_directory
    found: dict[str, str] = {}
    for name, header in HEADERS.items():
        if any(Path(directory, header).is_file() for directory in found.values()):
            continue
        directory = find_nvidia_header_directory(name)
        if directory is not None and Path(directory, header).is_file():
            found[name] = directory
    return found


def status() -> tuple[Status, ...]:
    """What of CUDA is here, for ``perfkit doctor``. Nothing raises."""
    return (
        _row("cuda-python", _package_detail),
        _row("NVRTC", _nvrtc_detail),
        _row("CUDA headers", _headers_detail),
        _row("CUDA device", lambda: f"{require_cuda()} found"),
    )


def _row(what: str, ask: Callable[[], str]) -> Status:
    try:
        return Status(what=what, state=State.OK, detail=ask())
    except Unavailable as error:
        broken = isinstance(error, _BrokenLibrary | _RefusingDriver)
        state = State.BROKEN if broken else State.MISSING
        return Status(what=what, state=state, detail=error.message, hint=error.hint)
    except ImportError as error:  # a package that is there and does not import
        return Status(what=what, state=State.BROKEN, detail=str(error), hint=EXTRAS)


def _package_detail() -> str:
    found, lacking = [], []
    for name in _USED:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            lacking.append(name)
    if lacking:
        beside = f", beside {found[0]}" if found else ""
        verb = "is" if found else "are"
        raise NoCudaPackage(f"{' and '.join(lacking)} {verb} not installed{beside}", hint=EXTRAS)
    return ", ".join(found)


def _nvrtc_detail() -> str:
    major, minor = require_nvrtc()
    targets = nvrtc_targets()
    return f"{major}.{minor}, compiles sm_{targets[0]} … sm_{targets[-1]}"


def _headers_detail() -> str:
    found = header_directories()
    if "cudart" not in found:
        raise NoCudaLibrary("cuda_fp16.h and its companions are not found", hint=EXTRAS)
    from os.path import commonpath

    names = ", ".join(HEADERS[name] for name in found)
    try:
        return f"{names} in {commonpath(found.values())}"
    except ValueError:  # on several drives
        return names
