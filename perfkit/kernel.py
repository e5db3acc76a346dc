"""What every layer speaks of: data types, and what a compiled kernel needs."""

from __future__ import annotations

import re
from dataclasses import field
from enum import StrEnum
from math import prod
from typing import Final

from perfkit.errors import UsageError
from perfkit.record import record


class DType(StrEnum):
    """Operand and accumulator types, named as PTX names them."""

    F64 = "f64"
    F32 = "f32"
    TF32 = "tf32"
    BF16 = "bf16"
    F16 = "f16"
    F8 = "f8"
    F6 = "f6"
    F4 = "f4"
    S32 = "s32"
    S8 = "s8"
    S4 = "s4"

    @classmethod
    def parse(cls, text: str) -> DType:
        """Read a type name, the usual aliases included.

        >>> DType.parse("fp16"), DType.parse("torch.float16"), DType.parse("float8_e4m3fn")
        (<DType.F16: 'f16'>, <DType.F16: 'f16'>, <DType.F8: 'f8'>)
        """
        name = _LIBRARY.sub("", text.strip().lower())
        small = _SMALL.fullmatch(name)
        if small is not None:
            return cls(f"f{small[1] or _SMALL_BITS[small[2]]}")
        try:
            return cls(_DTYPE_ALIASES.get(name, name))
        except ValueError:
            known = ", ".join(cls)
            raise UsageError(f"unknown data type {text!r}", hint=f"one of: {known}") from None

    @property
    def bits(self) -> int:
        """Of one value in memory: tf32 is stored as f32, f6 and f4 are packed.

        >>> DType.TF32.bits, DType.F4.bits
        (32, 4)
        """
        return _BITS[self]


_BITS: Final = {
    DType.F64: 64,
    DType.F32: 32,
    DType.TF32: 32,
    DType.BF16: 16,
    DType.F16: 16,
    DType.F8: 8,
    DType.F6: 6,
    DType.F4: 4,
    DType.S32: 32,
    DType.S8: 8,
    DType.S4: 4,
}
_DTYPE_ALIASES: Final = {
    "fp64": "f64",
    "double": "f64",
    "float64": "f64",
    "fp32": "f32",
    "float": "f32",
    "float32": "f32",
    "bfloat16": "bf16",
    "fp16": "f16",
    "half": "f16",
    "float16": "f16",
    "tfloat32": "tf32",
    **{f"{word}{bits}": f"s{bits}" for word in ("i", "int") for bits in (32, 8, 4)},
}
#: in front of a type's name in programs
_LIBRARY: Final = re.compile(r"^(?:torch|jnp|np|numpy|tl|cutlass|ml_dtypes)[.:]+|^__nv_|_t$")
#: eight bits and less, by their number or by exponent and mantissa: float8_e4m3fn, mxfp4, e5m2
_SMALL: Final = re.compile(
    r"(?:mx|nv)?(?:fp|float|f)([864])(?:_?e\d(?:m\d)?[a-z0-9]{0,8}(?:_x2)?)?"
    r"|(?:float_)?(e4m3|e5m2|e3m2|e2m3|e2m1)(?:fn|fnuz)?"
)
_SMALL_BITS: Final = {"e4m3": 8, "e5m2": 8, "e3m2": 6, "e2m3": 6, "e2m1": 4}


@record
class KernelResources:
    """What one compiled kernel needs on one architecture.

    ``None`` means "cannot be told from this source"; ``unknown`` then holds the reason under the
    field's name. Shared memory is what the user declared, without the driver's reservation.
    """

    name: str  #: the symbol, mangled as in the file
    demangled: str  #: for people; equals ``name`` when it does not demangle
    arch: str  #: ``sm_90``, ``sm_90a``, …
    registers_per_thread: int | None
    static_shared_bytes: int | None
    #: as the source states it: of a log ``frame_bytes``, elsewhere ``cumulative_stack_bytes``
    stack_bytes: int | None
    spill_store_bytes: int | None
    spill_load_bytes: int | None
    #: spills of the functions that the kernel calls, added up; only a compiler's log has them
    callee_spill_store_bytes: int | None = None
    callee_spill_load_bytes: int | None = None
    frame_bytes: int | None = None  #: the kernel's own stack, without what it calls
    cumulative_stack_bytes: int | None = None  #: with everything that the kernel calls
    #: True: recursion, or calls of functions that the source does not know; False: it has a bound
    unbounded_stack: bool | None = None
    local_bytes: int | None
    constant_bytes: int | None  #: constant bank 0: parameters and driver constants
    parameter_bytes: int | None
    barriers: int | None  #: named block barriers the kernel uses
    max_threads: int | None  #: from ``__launch_bounds__``: most threads per block
    min_blocks: int | None  #: from ``__launch_bounds__``: blocks per SM asked for
    required_block: tuple[int, int, int] | None  #: ``__block_size__`` / ``.reqntid``
    required_cluster: tuple[int, int, int] | None
    #: third number of ``__launch_bounds__``: most blocks per cluster; None also where it has none
    max_cluster_blocks: int | None = None
    threads: int | None = None  #: per block, where the file says how the kernel is launched
    dynamic_shared_bytes: int | None = None  #: of that launch
    #: ``extern __shared__``: how much of it is only known where the kernel is launched
    uses_dynamic_shared: bool | None = None
    num_stages: int | None = None  #: of the software pipeline that the compiler made
    origin: str  #: where it was read: the file, and the compiler if one ran
    unknown: dict[str, str] = field(default_factory=dict)

    @property
    def required_threads(self) -> int | None:
        """Per block, where it launches with one block size only."""
        return None if self.required_block is None else prod(self.required_block)

    @property
    def required_cluster_blocks(self) -> int | None:
        return None if self.required_cluster is None else prod(self.required_cluster)

    @property
    def usual_threads(self) -> int | None:
        """Per block, where nobody says otherwise: as required, as launched, or as bounded."""
        sizes = (self.required_threads, self.threads, self.max_threads)
        return next((size for size in sizes if size is not None), None)
