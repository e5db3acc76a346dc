"""Named operations: how many FLOP and how many bytes each needs at least.

``operation("gemm:4096x4096x4096", DType.F16)`` reads the name, the sizes and what follows them.
Sizes are written as everywhere: ``16M`` is 2**24 elements.
Bytes are compulsory traffic: every input read once, every output written once, nothing else. FLOP
that a matrix unit can do are kept apart from the rest, which runs on SIMT cores in f32 (f64 for
f64), whatever type the data have in memory.

The formulas and their sources are those of ``operations_matrix`` and ``operations_vector``.
"""

from __future__ import annotations

import math
import re
from dataclasses import field
from typing import TYPE_CHECKING, Any, Final

from perfkit.arch.nodes import nearest
from perfkit.errors import UsageError
from perfkit.kernel import DType
from perfkit.models.operations_matrix import attention, conv2d, gemm
from perfkit.models.operations_vector import elementwise, layernorm, reduction, softmax, transpose
from perfkit.record import record
from perfkit.units import parse_elements

if TYPE_CHECKING:
    from collections.abc import Callable

    from perfkit.models.work import Work

_MOST: Final = 2**40


@record
class Operation:
    """How an operation is written: ``name:SIZExSIZE,option=value``."""

    count: Callable[..., Work]
    sizes: str  #: as help and messages show them
    #: option -> default; None: it must be given
    options: dict[str, int | None] = field(default_factory=dict)
    #: fewer sizes -> all of them; None: that is not possible
    fill: Callable[[list[int]], list[int]] | None = None


OPERATIONS: Final = {
    "gemm": Operation(
        count=gemm,
        sizes="MxNxK",
        options={"batch": 1, "beta": 0},
        fill=lambda sizes: sizes * 3 if len(sizes) == 1 else sizes,
    ),
    "conv2d": Operation(
        count=conv2d,
        sizes="NxHxWxC",
        options={"k": None, "r": 1, "s": 0, "stride": 1, "pad": 0, "dilation": 1, "groups": 1},
    ),
    "attention": Operation(
        count=attention,
        sizes="BATCHxHEADSxLENGTHxDIM",
        options={"kv": 0, "kvheads": 0, "causal": 0},
    ),
    "elementwise": Operation(
        count=elementwise,
        sizes="N",
        options={"inputs": 1, "outputs": 1, "flops": 1},
        fill=lambda sizes: [math.prod(sizes)],
    ),
    "reduction": Operation(
        count=reduction, sizes="ROWSxCOLUMNS", fill=lambda sizes: [1] * (2 - len(sizes)) + sizes
    ),
    "transpose": Operation(count=transpose, sizes="ROWSxCOLUMNS"),
    "layernorm": Operation(count=layernorm, sizes="ROWSxCOLUMNS"),
    "softmax": Operation(count=softmax, sizes="ROWSxCOLUMNS"),
}

#: options for which 0 means something
_MAY_BE_ZERO: Final = {"beta", "s", "pad", "kv", "kvheads", "causal", "flops"}


def operation(text: str, dtype: DType) -> Work:
    """What an operation needs.

    Args:
        text: ``gemm:4096x4096x4096,batch=8``; ``out=f32`` sets the type of what is written.
        dtype: of the data.

    Raises:
        UsageError: no such operation, or sizes that it does not take.

    >>> work = operation("gemm:4096", DType.F16)
    >>> work.name, work.matrix_flops, work.bytes
    ('gemm 4096x4096x4096', 137438953472, 100663296)
    """
    name, _, rest = text.strip().partition(":")
    found = OPERATIONS.get(name.strip().lower())
    if found is None:
        close = nearest(name.strip().lower(), OPERATIONS)
        those = ", ".join(map(usage, OPERATIONS))
        hint = f"write {usage(close[0])}" if close else f"one of: {those}"
        raise UsageError(f"{text!r}: unknown operation {name!r}", hint=hint)
    sizes_text, *more = rest.split(",")
    sizes = [_size(text, one, "size") for one in re.split("[xX]", sizes_text)]
    wanted = found.sizes.count("x") + 1
    if found.fill is not None:
        sizes = found.fill(sizes)
    if len(sizes) != wanted:
        raise UsageError(f"{text!r}: {len(sizes)} sizes", hint=f"write {usage(name)}")
    return found.count(dtype, *sizes, **_options(text, found, more))


def usage(name: str) -> str:
    """How the operation is written.

    >>> usage("conv2d")
    'conv2d:NxHxWxC,k=K[,r=1,s=R,stride=1,pad=0,dilation=1,groups=1]'
    """
    found = OPERATIONS[name]
    must = "".join(f",{key}={key.upper()}" for key, value in found.options.items() if value is None)
    shown = {"s": "R", "kv": "LENGTH", "kvheads": "HEADS"}
    may = ",".join(
        f"{key}={shown.get(key, value)}"
        for key, value in found.options.items()
        if value is not None
    )
    return f"{name}:{found.sizes}{must}" + (f"[,{may}]" if may else "")


def _options(text: str, found: Operation, given: list[str]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for part in given:
        key, equals, value = (piece.strip().lower() for piece in part.partition("="))
        if not equals or key not in {*found.options, "out"} or key in values:
            name = text.partition(":")[0].strip().lower()
            hint = f"write {usage(name)}; out=TYPE is the type of the result"
            raise UsageError(f"{text!r}: what is {part.strip()!r}?", hint=hint)
        values[key] = DType.parse(value) if key == "out" else _size(text, value, key)
    for key, default in found.options.items():
        if default is None and key not in values:
            raise UsageError(f"{text!r}: {key} is missing", hint=f"write {key}=64")
    return {key: value for key, value in found.options.items() if value is not None} | values


def _size(text: str, value: str, what: str) -> int:
    try:
        number = parse_elements(value)
    except UsageError:
        name = text.partition(":")[0].strip().lower()
        raise UsageError(
            f"{text!r}: {what} {value.strip()!r} is not a whole number", hint=f"write {usage(name)}"
        ) from None
    if number > _MOST or (number == 0 and what not in _MAY_BE_ZERO):
        least = 0 if what in _MAY_BE_ZERO else 1
        raise UsageError(f"{text!r}: {what} {number} is not in {least} to {_MOST}")
    return number
