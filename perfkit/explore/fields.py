"""The numbers one can change: how each is called, what it means, and what a step of it is."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from perfkit.errors import UsageError
from perfkit.kernel import DType
from perfkit.models.cluster import largest_known
from perfkit.models.launch import MAX_BARRIERS_PER_BLOCK
from perfkit.models.ops import round_up
from perfkit.record import record
from perfkit.units import KIB, format_bytes, parse_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from perfkit.arch.types import Target
    from perfkit.explore.state import State

#: operations to step through; any other can be typed
OPERATIONS: Final = (
    "gemm:4096",
    "gemm:16x8192x8192",
    "attention:8x32x4096x128",
    "conv2d:32x56x56x64,k=64,r=3,pad=1",
    "elementwise:100000000",
    "reduction:100000000",
    "transpose:8192x8192",
    "layernorm:8192x8192",
    "softmax:8192x8192",
)


@record
class Move:
    """One press of a key that changes a number."""

    text: str  #: what stands there
    by: int  #: 1 or -1
    large: bool
    present: int | None  #: what an empty text stands for; None: nothing
    target: Target
    cluster: int  #: blocks per cluster, 1 without


@record
class Field:
    """One number of a launch."""

    name: str  #: of the state, and of the option
    label: str
    help: str
    empty: str  #: what an empty text means where no kernel says more
    moved: Callable[[Move], str]

    @property
    def option(self) -> str:
        return "--" + self.name.replace("_", "-")

    def is_named_by(self, message: str) -> bool:
        """Whether an error is about this number: it names the option, or the model's input."""
        inputs = {self.name, *(["smem"] if self.name == "smem_dynamic" else [])}
        return any(
            re.match(rf"(?:--{re.escape(one.replace('_', '-'))}\b(?!-)|{one} = )", message)
            for one in inputs
        )


def moved(
    state: State,
    name: str,
    by: int,
    *,
    large: bool,
    target: Target,
    present: Mapping[str, int | None],
) -> State:
    """The state after one step of one number; the same where there is no next one.

    Args:
        state: before.
        name: of the field.
        by: 1 or -1.
        large: a large step.
        target: where the launch is.
        present: what the launch has of each field, for those whose text is empty.
    """
    move = Move(
        text=state.text(name).strip(),
        by=by,
        large=large,
        present=present.get(name),
        target=target,
        cluster=present.get("cluster") or 1,
    )
    return state.having(**{name: FIELDS[name].moved(move)})


def _now(move: Move) -> int | None:
    """The number that stands there; of dimensions their product; None: no number."""
    if not move.text:
        return move.present
    parts = re.split(r"[,x]", move.text)
    if all(re.fullmatch(r"\s*[0-9]{1,18}\s*", part) for part in parts):
        product = 1
        for part in parts:
            product *= int(part)
        return product
    try:
        return parse_bytes(move.text)
    except UsageError:
        return None


def _stepped(move: Move, step: int, low: int, high: int) -> str:
    """The next multiple of ``step`` in the direction, inside the bounds."""
    now = _now(move)
    if now is None:
        return move.text or str(low)
    multiple = now // step + 1 if move.by > 0 else -(-now // step) - 1
    return str(min(high, max(low, multiple * step)))


def _threads(move: Move) -> str:
    limits = move.target.capability.limits
    step = limits.warp_size * (4 if move.large else 1)
    return _stepped(move, step, limits.warp_size, limits.max_threads_per_block)


def _registers(move: Move) -> str:
    return _stepped(
        move, 8 if move.large else 1, 1, move.target.capability.registers.max_per_thread
    )


def _shared(move: Move) -> str:
    most = move.target.capability.shared_memory.max_per_block_optin_bytes
    found = _stepped(move, (8 if move.large else 1) * KIB, 0, most)
    return f"{int(found) // KIB}K" if found.isdecimal() and int(found) % KIB == 0 else found


def _barriers(move: Move) -> str:
    return _stepped(move, 4 if move.large else 1, 0, MAX_BARRIERS_PER_BLOCK)


def _carveout(move: Move) -> str:
    """The capacities of the SM, after no preference at all."""
    shared = move.target.capability.shared_memory
    if not shared.configurable:
        return ""
    ladder = ["", *(format_bytes(size).replace(" ", "") for size in shared.capacities_bytes)]
    if move.text in ladder:
        return _next(ladder, ladder.index(move.text), move)
    percent = re.fullmatch(r"([0-9]{1,3})\s*%", move.text)
    now = int(percent[1]) * shared.per_sm_bytes // 100 if percent else _now(move)
    if now is None:
        return ladder[-1] if move.text.lower() == "max" and move.by > 0 else ""
    below = sum(size < now for size in shared.capacities_bytes)
    return ladder[min(below + (1 if move.by > 0 else 0), len(ladder) - 1)]


def _cluster(move: Move) -> str:
    most = largest_known(move.target.capability.cluster)
    sizes = [str(2**n) for n in range(1, most.bit_length())]
    ladder = ["", *sizes]
    now = _now(move)
    place = sum(int(size) <= (now or 1) for size in sizes)
    return _next(ladder, place, move)


def _grid(move: Move) -> str:
    """By one block for each SM, whole clusters; large steps double and halve."""
    gpu = move.target.gpu
    unit: int = round_up(gpu.sm_count if gpu else 1, move.cluster)
    now = _now(move)
    if move.large and now:
        found = now * 2 if move.by > 0 else round_up(now // 2, move.cluster)
        return str(min(2**31 - 1, max(move.cluster, found)))
    return _stepped(move, unit, unit, (2**31 - 1) // unit * unit)


def _dtype(move: Move) -> str:
    return _cycled([*DType], move)


def _op(move: Move) -> str:
    return _cycled(["", *OPERATIONS], move)


def _cycled(values: Sequence[str], move: Move) -> str:
    place = values.index(move.text) if move.text in values else -1 if move.by > 0 else 0
    return values[(place + move.by) % len(values)]


def _next(ladder: Sequence[str], place: int, move: Move) -> str:
    return ladder[min(len(ladder) - 1, max(0, place + move.by * (2 if move.large else 1)))]


def _field(name: str, label: str, text: str, empty: str, step: Callable[[Move], str]) -> Field:
    return Field(name=name, label=label, help=text, empty=empty, moved=step)


FIELDS: Final[dict[str, Field]] = {
    field.name: field
    for field in (
        _field(
            "threads",
            "threads",
            "Threads per block: 256 or 32,8. Up and down: by a warp; page up and down: by four.",
            "needed",
            _threads,
        ),
        _field(
            "regs",
            "registers",
            "Registers per thread, as compiled; 0: they do not limit. Large steps of eight, in "
            "which they are allocated.",
            "needed",
            _registers,
        ),
        _field(
            "smem_static",
            "static",
            "Static shared memory per block: 4096 or 48K. Steps of 1 and 8 KiB.",
            "0",
            _shared,
        ),
        _field(
            "smem_dynamic",
            "dynamic",
            "Dynamic shared memory per block, which the launch adds: 4096 or 48K. Steps of 1 and "
            "8 KiB.",
            "0",
            _shared,
        ),
        _field(
            "carveout",
            "carveout",
            "Preferred shared memory of the SM, the rest is L1: 50%, 64KiB, max; empty: the "
            "driver's default. Steps through the capacities of the SM.",
            "default",
            _carveout,
        ),
        _field(
            "barriers",
            "barriers",
            "Named barriers per block, 0 to 16; 1 for __syncthreads.",
            "1",
            _barriers,
        ),
        _field(
            "cluster",
            "cluster",
            "Blocks per cluster: 4 or 2,2; empty: no clusters. Steps of powers of two.",
            "none",
            _cluster,
        ),
        _field(
            "grid",
            "grid",
            "Blocks in the grid, for waves: 512 or 32,16. Steps of one block for each SM; large "
            "ones double and halve.",
            "not given",
            _grid,
        ),
        _field(
            "op",
            "operation",
            "Work for the roofline bound: gemm:4096, softmax:8192x8192. Steps through examples.",
            "none",
            _op,
        ),
        _field(
            "dtype",
            "type",
            "Type of the operation's operands: f16, bf16, f32.",
            "f32",
            _dtype,
        ),
    )
}
