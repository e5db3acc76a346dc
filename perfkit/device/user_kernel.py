"""A kernel of the user's own: what it is called with, from a command line or a YAML file.

An argument is ``[in|out|inout] NAME:TYPE[COUNT][=FILL]`` for an array, ``NAME:TYPE=VALUE`` for a
scalar:

    n:i32=1<<24            a scalar; other expressions may use it
    x:f32[n]               an input, random
    k:i32[n]=random(100)   whole numbers from 0 to 99
    b:f16[64]=0.5          all the same; also zero, iota (0, 1, 2, ...) and a file: b.npy
    out y:f32[n]           poisoned before each check, so that what stays unwritten is found
    inout acc:f64[1]=zero  read and written

Grid, threads, shared memory, FLOP, bytes and counts are expressions over the whole-number scalars;
the grid also knows ``threads`` (of a block).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NoReturn

from perfkit.analysis.expression import Expression
from perfkit.analysis.prediction import Demand, Flow
from perfkit.device.backend import Dim3, LaunchConfig
from perfkit.device.elements import ELEMENTS, element
from perfkit.device.workload import Array, Case, Code, Fill, Reference, Role, Scalar
from perfkit.errors import UsageError
from perfkit.kernel import DType
from perfkit.record import record
from perfkit.units import parse_bytes, parse_traffic

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ARRAY: Final = re.compile(
    r"\s*(?:(in|out|inout)\s+)?([A-Za-z_]\w*)\s*:\s*(\w+)\s*\[(.+?)\]\s*(?:=\s*(.+?)\s*)?",
    re.DOTALL,
)
_SCALAR: Final = re.compile(r"\s*([A-Za-z_]\w*)\s*:\s*(\w+)\s*=\s*(.+?)\s*", re.DOTALL)
_SPAN: Final = re.compile(r"random\s*\((.+)\)")
_WORDS: Final = {"random": Fill.RANDOM, "zero": Fill.ZERO, "iota": Fill.IOTA}
_HINT: Final = "write x:f32[1<<24]=random, out y:f32[n], n:i32=1<<24 or a:f32=1.5"
_NO_OPT_IN_BYTES: Final = 48 * 1024  #: of shared memory, that every launch may have
_MOST_COUNT: Final = 2**40


@record
class KernelSpec:
    """Everything as it was typed; JSON can hold it."""

    path: str
    kernel: str
    grid: str
    threads: str
    smem_dynamic: str = "0"
    arguments: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()
    cluster: str | None = None
    flops: str | None = None
    bytes: str | None = None  #: None: each input once and each output once
    dtype: str = "f32"  #: of the arithmetic
    unit: str | None = None  #: simt | tensor; None: the faster one
    reference: str | None = None  #: module:function
    tolerance: float = 1e-5


def case_of(spec: KernelSpec) -> Case:
    """The kernel with all sizes.

    Raises:
        UsageError: an argument, expression or size that cannot be.
    """
    scalars, raw_arrays = _split(spec.arguments)
    values = {name: int(one.value) for name, one in scalars.items() if _is_whole(one)}
    arrays = {name: _array(match, values) for name, match in raw_arrays.items()}
    block = _dimensions(spec.threads, values, "--threads")
    threads = block[0] * block[1] * block[2]
    names = {**values, "threads": threads}
    names |= {f"blockDim.{axis}": size for axis, size in zip("xyz", block, strict=True)}
    dynamic = _size(spec.smem_dynamic, names, "--smem-dynamic")
    order = [_name_of(text) for text in spec.arguments]
    return Case(
        code=Code(kernel=spec.kernel, path=spec.path, defines=spec.defines),
        launch=LaunchConfig(
            grid=_dimensions(spec.grid, names, "--grid"),
            block=block,
            dynamic_bytes=dynamic,
            cluster=_dimensions(spec.cluster, names, "--cluster") if spec.cluster else None,
        ),
        arrays=tuple(arrays.values()),
        arguments=tuple(scalars.get(name, name) for name in order),
        demand=demand_of(spec, tuple(arrays.values()), values),
        reference=_reference(spec.reference, scalars) if spec.reference else None,
        tolerance=spec.tolerance,
        dynamic_optin=dynamic > _NO_OPT_IN_BYTES,
    )


def demand_of(spec: KernelSpec, arrays: Sequence[Array], values: Mapping[str, int]) -> Demand:
    """Bytes as given, shared out as the arrays are read and written; FLOP as given."""
    read = sum(a.size_bytes for a in arrays if a.role is not Role.OUT)
    written = sum(a.size_bytes for a in arrays if a.role is not Role.IN)
    if spec.bytes is not None:
        given = _size(spec.bytes, values, "--bytes", parse_traffic)
        total = max(1, read + written)
        read, written = given * read // total, given * written // total
    flow = None
    if spec.flops is not None:
        flops = _whole(spec.flops, values, "--flops", least=0)
        flow = Flow(flops=flops, dtype=DType.parse(spec.dtype), unit=spec.unit)
    return Demand(read_bytes=read, write_bytes=written, flow=flow)


def _split(texts: Sequence[str]) -> tuple[dict[str, Scalar], dict[str, re.Match[str]]]:
    """Scalars, in order so that later ones may use earlier ones, and what arrays there are."""
    scalars: dict[str, Scalar] = {}
    arrays: dict[str, re.Match[str]] = {}
    for text in texts:
        name = _name_of(text)
        if name in scalars or name in arrays:
            raise UsageError(f"--arg {text!r}: there are two arguments {name!r}")
        if match := _ARRAY.fullmatch(text):
            arrays[name] = match
            continue
        match = _SCALAR.fullmatch(text)
        if match is None:
            raise UsageError(f"--arg {text!r}: neither an array nor a scalar", hint=_HINT)
        scalars[name] = _scalar(match[2], match[3], scalars, text)
    return scalars, arrays


def _name_of(text: str) -> str:
    match = _ARRAY.fullmatch(text)
    if match is not None:
        return match[2]
    match = _SCALAR.fullmatch(text)
    if match is None:
        raise UsageError(f"--arg {text!r}: neither an array nor a scalar", hint=_HINT)
    return match[1]


def _size(
    text: str, names: Mapping[str, int], option: str, read: Callable[[str], int] = parse_bytes
) -> int:
    """``48K``, or an expression in bytes."""
    try:
        return read(text)
    except UsageError:
        return _whole(text, names, option, least=0)


def _is_whole(scalar: Scalar) -> bool:
    return not ELEMENTS[scalar.dtype].is_real


def _scalar(dtype: str, text: str, known: Mapping[str, Scalar], whole: str) -> Scalar:
    try:
        name, kind = element(dtype)
    except UsageError as error:
        raise UsageError(f"--arg {whole!r}: {error.message}", hint=error.hint) from None
    if not kind.is_real:
        values = {key: int(one.value) for key, one in known.items() if _is_whole(one)}
        return Scalar(dtype=name, value=_value(text, values, f"--arg {whole!r}"))
    return Scalar(dtype=name, value=_number(text, whole))


def _number(text: str, whole: str) -> float:
    try:
        value = float(text.removesuffix("f"))
    except ValueError:
        raise UsageError(f"--arg {whole!r}: {text!r} is no number") from None
    return value


def _array(match: re.Match[str], values: Mapping[str, int]) -> Array:
    role, name, dtype, count, fill = match.groups()
    whole = f"--arg {match[0].strip()!r}"
    try:
        proper, _ = element(dtype)
    except UsageError as error:
        raise UsageError(f"{whole}: {error.message}", hint=error.hint) from None
    found = Array(
        name=name,
        dtype=proper,
        count=_whole(count, values, whole, least=1),
        role=Role(role or "in"),
        **_fill(fill or "random", proper, values, whole),
    )
    if found.role is Role.OUT and fill is not None:
        raise UsageError(
            f"{whole}: an output has no data before the kernel writes them", hint="write inout"
        )
    return found


def _fill(text: str, dtype: str, values: Mapping[str, int], whole: str) -> dict[str, Any]:
    if text in _WORDS:
        return {"fill": _WORDS[text]}
    if text.endswith(".npy"):
        return {"fill": Fill.FILE, "file": text}
    if span := _SPAN.fullmatch(text):
        if ELEMENTS[dtype].is_real:
            raise UsageError(f"{whole}: random numbers of {dtype} lie between -1 and 1")
        return {"fill": Fill.RANDOM, "span": _whole(span[1], values, whole, least=1)}
    if dtype in {"bf16", "f8"}:
        raise UsageError(f"{whole}: {dtype} can be random, zero or a file")
    return {"fill": Fill.VALUE, "value": _number(text, whole)}


def _value(text: str, values: Mapping[str, int], whole: str) -> int:
    try:
        expression = Expression(text)
        if not expression.names <= set(values):
            return _unknown(min(expression.names - set(values)), values)
        return expression.value(values)
    except UsageError as error:
        raise UsageError(f"{whole}: {error.message}", hint=error.hint) from None


def _unknown(name: str, values: Mapping[str, int]) -> NoReturn:
    raise UsageError(
        f"{name!r} is no whole-number scalar among the arguments",
        hint=f"known here: {', '.join(values) or 'none'}",
    )


def _whole(text: str, values: Mapping[str, int], whole: str, *, least: int) -> int:
    found = _value(_plain(text), values, whole)
    if not least <= found <= _MOST_COUNT * 2**20:
        raise UsageError(f"{whole}: {found} must be {least} to {_MOST_COUNT * 2**20}")
    return found


def _plain(text: str) -> str:
    """``137.4G`` and ``1e12`` are numbers, too."""
    from perfkit.units import parse_count

    if re.fullmatch(r"\s*[0-9.]+(e\+?[0-9]+)?\s*[kmgtpe]?\s*", text, re.IGNORECASE):
        return str(round(parse_count(text)))
    return text


def _dimensions(text: str, values: Mapping[str, int], option: str) -> Dim3:
    """One to three expressions; commas within parentheses belong to them."""
    parts = re.split(r",(?![^(]*\))", text)
    if not 1 <= len(parts) <= 3:
        raise UsageError(f"{option} {text!r}: not one to three numbers")
    x, y, z = [_whole(part, values, f"{option} {text}", least=1) for part in parts] + [1] * (
        3 - len(parts)
    )
    return x, y, z


def _reference(name: str, scalars: Mapping[str, Scalar]) -> Reference:
    """The user's function, called with the arrays before the launch and the scalars by name."""
    from perfkit.device.user_code import load

    def reference(given: Mapping[str, NDArray[Any]]) -> Mapping[str, NDArray[Any]]:
        function = load(name, "--reference")
        numbers = {key: int(s.value) if _is_whole(s) else s.value for key, s in scalars.items()}
        found = function(**given, **numbers)
        if not isinstance(found, dict):
            raise UsageError(
                f"--reference {name}: gives {type(found).__name__}, not a dict of arrays",
                hint='return {"y": a * x}',
            )
        return found

    return reference
