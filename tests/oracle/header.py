"""NVIDIA's ``cuda_occupancy.h`` as a Python object: the oracle of the driver rule.

The header is found in the unpacked ``nvidia-cuda-runtime`` wheel (``make oracle`` puts it into
``.venv/oracle``; ``PERFKIT_ORACLE_DIR`` names another place), compiled with ``header_oracle.cpp``
into a shared library and called through ctypes. Nothing of it is copied into the repository.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import importlib.util
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from ctypes import POINTER, byref, c_int8, c_int32, c_int64, c_uint8, c_uint32
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from perfkit.arch.types import Capability

ROOT: Final = Path(__file__).resolve().parents[2]
SOURCE: Final = Path(__file__).with_name("header_oracle.cpp")
NO_LIMIT: Final = 2**31 - 1  #: the header's word for "this resource does not limit"
MAX_THREADS: Final = 1024

#: bit of ``limitingFactors`` -> perfkit's name of the resource
FACTORS: Final = {
    0x01: "warps",
    0x02: "registers",
    0x04: "shared_memory",
    0x08: "blocks",
    0x10: "barriers",
    0x20: "virtual_resources",
}
#: what ``batch_limits`` gives, in its order
LIMITS: Final = ("registers", "shared_memory", "warps", "blocks", "barriers")
PARTITIONED: Final = {"off": 0, "on": 1, "strict": 2}


class OracleMissingError(RuntimeError):
    """The wheel is not unpacked or no C++ compiler is here; the message says what to do."""


class Device(ctypes.Structure):
    _fields_ = [
        *((name, c_int32) for name in ("major", "minor", "max_threads_per_block")),
        *((name, c_int32) for name in ("max_threads_per_sm", "registers_per_block")),
        *((name, c_int32) for name in ("registers_per_sm", "warp_size", "sm_count")),
        *((name, c_int64) for name in ("shared_per_block", "shared_per_sm")),
        *((name, c_int64) for name in ("shared_per_block_optin", "reserved_per_block")),
    ]

    @classmethod
    def of(cls, capability: Capability, *, sm_count: int = 1) -> Device:
        limits, registers = capability.limits, capability.registers
        shared = capability.shared_memory
        return cls(
            *capability.compute_capability,
            limits.max_threads_per_block,
            limits.max_threads_per_sm,
            registers.max_per_block,
            registers.per_sm,
            limits.warp_size,
            sm_count,
            shared.max_per_block_bytes,
            shared.per_sm_bytes,
            shared.max_per_block_optin_bytes,
            shared.reserved_per_block_bytes,
        )


class Kernel(ctypes.Structure):
    _fields_ = [
        *((name, c_int32) for name in ("registers", "max_threads", "barriers")),
        *((name, c_int32) for name in ("virtual_resources", "partitioned_caching", "opt_in")),
        *((name, c_int32) for name in ("carveout", "unused")),
        *((name, c_int64) for name in ("static_bytes", "max_dynamic_bytes")),
    ]


class Answer(ctypes.Structure):
    _fields_ = [
        *((name, c_int32) for name in ("status", "blocks")),
        ("factors", c_uint32),
        *((name, c_int32) for name in ("registers", "shared_memory", "warps", "block_slots")),
        *((name, c_int32) for name in ("barriers", "virtual_resources", "allocated_registers")),
        ("allocated_shared_bytes", c_int64),
        *((name, c_int32) for name in ("partitioned_caching", "unused")),
    ]

    @property
    def limited_by(self) -> frozenset[str]:
        return factor_names(self.factors)


def factor_names(bits: int) -> frozenset[str]:
    return frozenset(name for bit, name in FACTORS.items() if bits & bit)


class Header:
    """The header's functions for one device; sizes in bytes, ``carveout`` -1 or 0..100 percent."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self._library = library()

    def kernel(
        self,
        *,
        regs: int = 0,
        static_smem: int = 0,
        carveout: int = -1,
        barriers: int = 1,
        opt_in: bool = True,
        partitioned_caching: str = "off",
        virtual_resources: int = 0,
        max_threads: int = MAX_THREADS,
    ) -> Kernel:
        """Attributes of a kernel that may use all dynamic memory its static memory leaves."""
        limit = self.device.shared_per_block_optin if opt_in else self.device.shared_per_block
        return Kernel(
            registers=regs,
            max_threads=max_threads,
            barriers=barriers,
            virtual_resources=virtual_resources,
            partitioned_caching=PARTITIONED[partitioned_caching],
            opt_in=opt_in,
            carveout=carveout,
            static_bytes=static_smem,
            max_dynamic_bytes=max(0, limit - static_smem),
        )

    def one(self, kernel: Kernel, *, threads: int, dynamic_smem: int = 0) -> Answer:
        answer = Answer()
        self._library.one(byref(self.device), byref(kernel), threads, dynamic_smem, byref(answer))
        return answer

    def batch(
        self,
        kernel: Kernel,
        *,
        threads: NDArray[np.integer],
        regs: NDArray[np.integer],
        dynamic_smem: NDArray[np.integer],
        carveout: NDArray[np.integer] | int = -1,
        barriers: NDArray[np.integer] | int = 1,
    ) -> tuple[NDArray[np.int8], NDArray[np.uint8]]:
        """Blocks per SM (an error is its negated status) and limiting factors of every row."""
        columns = _columns(threads, regs, dynamic_smem, carveout, barriers)
        blocks = np.empty(len(columns[0]), np.int8)
        factors = np.empty(len(columns[0]), np.uint8)
        self._library.batch(
            byref(self.device),
            byref(kernel),
            len(blocks),
            *map(_int32, columns),
            blocks.ctypes.data_as(POINTER(c_int8)),
            factors.ctypes.data_as(POINTER(c_uint8)),
        )
        return blocks, factors

    def batch_limits(
        self,
        kernel: Kernel,
        *,
        threads: NDArray[np.integer],
        regs: NDArray[np.integer],
        dynamic_smem: NDArray[np.integer],
        carveout: NDArray[np.integer] | int = -1,
        barriers: NDArray[np.integer] | int = 1,
    ) -> dict[str, NDArray[np.int32]]:
        """What each resource allows in every row, by its name."""
        columns = _columns(threads, regs, dynamic_smem, carveout, barriers)
        limits = np.empty((len(columns[0]), len(LIMITS)), np.int32)
        self._library.batch_limits(
            byref(self.device),
            byref(kernel),
            len(limits),
            *map(_int32, columns),
            _int32(limits),
        )
        return dict(zip(LIMITS, limits.T, strict=True))

    def mesh(
        self, kernel: Kernel, *, first_thread: int, threads: int, regs: int, steps: int, step: int
    ) -> NDArray[np.int8]:
        """Blocks per SM, shape (threads, regs, steps): registers and shared memory from 0 up."""
        blocks = np.empty((threads, regs, steps), np.int8)
        self._library.mesh(
            byref(self.device),
            byref(kernel),
            first_thread,
            threads,
            regs,
            steps,
            step,
            blocks.ctypes.data_as(POINTER(c_int8)),
        )
        return blocks

    def time_mesh(
        self, kernel: Kernel, *, first_thread: int, threads: int, regs: int, steps: int, step: int
    ) -> int:
        """Walk the mesh with nothing but the header's call; the sum of the answers."""
        return int(
            self._library.time_mesh(
                byref(self.device), byref(kernel), first_thread, threads, regs, steps, step
            )
        )

    def time_rows(
        self,
        kernel: Kernel,
        *,
        threads: NDArray[np.int32],
        regs: NDArray[np.int32],
        dynamic_smem: NDArray[np.int32],
    ) -> int:
        """Walk int32 arrays with nothing but the header's call; the sum of the answers."""
        columns = (threads, regs, dynamic_smem)
        return int(
            self._library.time_rows(
                byref(self.device), byref(kernel), len(threads), *map(_int32, columns)
            )
        )

    def potential_block_size(
        self, kernel: Kernel, *, dynamic_smem: int | Callable[[int], int] = 0
    ) -> tuple[int, int]:
        """``(minimum grid, block size)``."""
        size = dynamic_smem if callable(dynamic_smem) else lambda _: dynamic_smem
        table = (c_int64 * (MAX_THREADS + 1))(*map(size, range(MAX_THREADS + 1)))
        grid, block = c_int32(), c_int32()
        status = self._library.potential_block_size(
            byref(self.device), byref(kernel), table, byref(grid), byref(block)
        )
        assert status == 0, f"cuda_occupancy.h answered status {status}"
        return grid.value, block.value

    def available_dynamic(self, kernel: Kernel, *, blocks: int, threads: int) -> int | None:
        """Dynamic bytes as the header reckons them, without the reserve; None: cannot fit."""
        dynamic = c_int64()
        status = self._library.available_dynamic(
            byref(self.device), byref(kernel), blocks, threads, byref(dynamic)
        )
        return None if status else dynamic.value

    def carveout_bytes(self, percent: int) -> int:
        return int(self._library.carveout_bytes(byref(self.device), percent))


def require(capability: Capability, *, sm_count: int = 1) -> Header:
    """The oracle for a test, which is skipped where the oracle is missing.

    ``make test`` sets ``PERFKIT_ORACLE_DIR``; then a missing oracle is a failure, so that CI
    cannot be green without having asked it.
    """
    try:
        return Header(Device.of(capability, sm_count=sm_count))
    except OracleMissingError as error:
        if "PERFKIT_ORACLE_DIR" in os.environ:
            raise
        pytest.skip(str(error))


def _columns(*values: NDArray[np.integer] | int) -> list[NDArray[np.int32]]:
    return [np.ascontiguousarray(column, np.int32) for column in np.broadcast_arrays(*values)]


def _int32(column: NDArray[np.int32]) -> ctypes._Pointer[c_int32]:
    assert column.dtype == np.int32, column.dtype
    assert column.flags.c_contiguous
    return column.ctypes.data_as(POINTER(c_int32))


def oracle_dir() -> Path:
    """The folder into which the Makefile unpacks NVIDIA's wheels."""
    return Path(os.environ.get("PERFKIT_ORACLE_DIR") or ROOT / ".venv" / "oracle")


def include_dir() -> Path:
    """The wheel's include folder.

    Raises:
        OracleMissingError: the wheel is not unpacked.
    """
    include = oracle_dir() / "nvidia" / "cu13" / "include"
    if not (include / "cuda_occupancy.h").is_file():
        raise OracleMissingError(f"no cuda_occupancy.h under {oracle_dir()}: run `make oracle`")
    return include


def compiler() -> list[str]:
    """The command of the first C++ compiler: ``$CXX``, the usual names, then the ziglang wheel.

    Raises:
        OracleMissingError: there is none.
    """
    if os.environ.get("CXX"):
        return shlex.split(os.environ["CXX"])
    for name in ("c++", "g++", "clang++"):
        if found := shutil.which(name):
            return [found]
    if importlib.util.find_spec("ziglang") is not None:
        return [sys.executable, "-m", "ziglang", "c++"]
    raise OracleMissingError("no C++ compiler: install g++, set CXX, or pip install ziglang")


@functools.cache
def library() -> ctypes.CDLL:
    """The compiled oracle, built once per content of source, header and compiler.

    Raises:
        OracleMissingError: header or compiler are not here, or the compiler failed.
    """
    include, command = include_dir(), compiler()
    flags = ["-O2", "-std=c++17", "-shared", "-fPIC"]
    recipe = hashlib.sha256(repr((command, flags)).encode())
    for file in (SOURCE, include / "cuda_occupancy.h"):
        recipe.update(file.read_bytes())
    target = _cache_dir() / f"header_oracle-{recipe.hexdigest()[:16]}.so"
    if not target.is_file():
        # under another name first: two test runs may build it at once
        with tempfile.TemporaryDirectory(dir=target.parent) as folder:
            built = Path(folder) / target.name
            _compile([*command, *flags, f"-I{include}", str(SOURCE), "-o", str(built)])
            built.replace(target)
    return _declared(ctypes.CDLL(str(target)))


def _declared(loaded: ctypes.CDLL) -> ctypes.CDLL:
    """Argument and result types, so that ctypes checks every call."""
    case = [POINTER(Device), POINTER(Kernel)]
    column, count = POINTER(c_int32), POINTER(c_int32)
    mesh = [*case, c_int32, c_int32, c_int32, c_int32, c_int32]
    signatures = {
        "one": (None, [*case, c_int32, c_int64, POINTER(Answer)]),
        "batch": (None, [*case, c_int64, *[column] * 5, POINTER(c_int8), POINTER(c_uint8)]),
        "batch_limits": (None, [*case, c_int64, *[column] * 6]),
        "mesh": (None, [*mesh, POINTER(c_int8)]),
        "time_mesh": (c_int64, mesh),
        "time_rows": (c_int64, [*case, c_int64, column, column, column]),
        "potential_block_size": (c_int32, [*case, POINTER(c_int64), count, count]),
        "available_dynamic": (c_int32, [*case, c_int32, c_int32, POINTER(c_int64)]),
        "carveout_bytes": (c_int64, [POINTER(Device), c_int32]),
    }
    for name, (result, arguments) in signatures.items():
        function = getattr(loaded, name)
        function.restype, function.argtypes = result, arguments
    return loaded


def _cache_dir() -> Path:
    folder = oracle_dir() / "build"
    try:
        folder.mkdir(exist_ok=True)
    except OSError:  # a read-only oracle folder: build once per process
        return Path(tempfile.mkdtemp(prefix="perfkit-oracle-"))
    return folder


def _compile(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise OracleMissingError(f"{shlex.join(command)} failed:\n{done.stderr}")
