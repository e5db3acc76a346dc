"""Everything that is known of a state: a pure function, whose answers are those of the commands.

Tables come from the documents of ``perfkit occupancy`` and ``perfkit roofline``, turned on their
side: one line for each column, since a terminal of 80 columns has no room for more.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Final

from perfkit.analysis.curves import Curve, curves
from perfkit.analysis.launch import Launch
from perfkit.analysis.roofline import Roofline, RooflineQuestion, roofline
from perfkit.errors import PerfkitError
from perfkit.explore.commands import DEFAULT_DTYPE, WORK, occupancy_command, roofline_command
from perfkit.explore.fields import FIELDS
from perfkit.explore.state import State
from perfkit.kernel import DType
from perfkit.models.operations import operation
from perfkit.record import record
from perfkit.report.document import printable
from perfkit.report.views import occupancy as occupancy_view
from perfkit.report.views import roofline as roofline_view
from perfkit.units import format_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from perfkit.analysis.occupancy import Estimate
    from perfkit.arch.types import Target
    from perfkit.explore.state import CommandLine
    from perfkit.report.document import Table


@record
class Line:
    """One value with its name."""

    label: str
    value: str
    is_marked: bool = False  #: what binds


@record
class Panel:
    """A table, with what it says."""

    key: str  #: of ``EXPLAINED``
    title: str
    lines: tuple[Line, ...]


@record
class Trouble:
    """Why there is no answer, or not all of it."""

    text: str
    hint: str | None
    field: str | None  #: whose number is wrong; None: none alone


@record
class View:
    """What is shown of a state."""

    state: State
    target: Target | None
    estimate: Estimate | None
    curves: tuple[Curve, ...]
    launch_panels: tuple[Panel, ...]
    launch_notes: tuple[str, ...]
    launch_troubles: tuple[Trouble, ...]
    bound: Roofline | None = None
    work_panels: tuple[Panel, ...] = ()
    work_notes: tuple[str, ...] = ()
    work_troubles: tuple[Trouble, ...] = ()
    #: of everything, the operation included
    panels: tuple[Panel, ...] = ()
    notes: tuple[str, ...] = ()
    troubles: tuple[Trouble, ...] = ()
    commands: tuple[str, ...] = ()  #: that give the same answers

    def present(self) -> dict[str, int | None]:
        """What the launch has of each field; of a state without an answer what the kernel has."""
        found, kernel = self.estimate, self.state.kernel
        own = kernel.static_shared_bytes if kernel else None
        if found is None:
            return {"regs": kernel.registers_per_thread if kernel else None, "smem_static": own}
        return {
            "threads": found.driver.threads,
            "regs": found.driver.regs,
            "smem_static": own or 0,
            "smem_dynamic": (kernel.dynamic_shared_bytes if kernel else None) or 0,
            "barriers": found.driver.barriers,
            "cluster": found.cluster_size,
            "grid": found.grid,
        }


#: table -> what it says, in a sentence or two
EXPLAINED: Final = {
    "answer": "Occupancy is the share of the SM's warp slots that resident warps fill. The API is "
    "what CUDA's occupancy calculator says, the hardware what an SM was measured to hold; they "
    "differ where a carveout preference is set.",
    "limits": "How many blocks each resource would allow if it were the only one. The smallest "
    "binds and is marked; ties bind together.",
    "costs": "How far each number can grow before the next cliff, and the occupancy behind it.",
    "gains": "All that one more block per SM takes, together, since less of one resource gains "
    "nothing where another binds too; and the nearest block size with more warps.",
    "cache": "L1 and shared memory are one array from 7.0 on. What the driver configures as shared "
    "memory for this launch is lost to L1.",
    "whole": "A wave is what the GPU holds at once. The last, partial wave takes up to as long as "
    "a full one; a cluster has to fit into one group of SMs.",
    "bound": "The least time that the operation can take on this GPU: its FLOP at the peak rate "
    "or its bytes at the bandwidth, whichever is longer.",
    "sm": "What one SM has, and what one block may take of it.",
    "curves": "Resident warps per SM over one number, the others as they are. The present launch "
    "is marked. Where the two rules differ, the lighter part is what only one of them allows.",
}

#: the first column that says something -> table
_PANELS: Final = (
    ("limit_", "limits"),
    ("registers_cost", "costs"),
    ("shared_memory_cost", "costs"),
    ("block_size_cost", "costs"),
    ("next_block", "gains"),
    ("block_size_gain", "gains"),
    ("configured_shared_bytes", "cache"),
    ("grid", "whole"),
    ("clusters", "whole"),
    ("peak_flop_per_s", "bound"),
    ("dram_bytes_per_s", "bound"),
)

_OF_LAUNCH: Final = tuple(one.name for one in fields(State) if one.name not in WORK)


def view(state: State, commands: CommandLine, *, before: View | None = None) -> View:
    """Everything that is known of ``state``; wrong inputs are its troubles, nothing is raised.

    Args:
        state: what is asked.
        commands: the command line's part.
        before: the view of another state, of which is kept what does not depend on the difference.
    """
    launch, work = before, before
    if launch is None or _differ(state, launch.state, _OF_LAUNCH):
        launch = _launch_view(state, commands, before)
    if work is None or work.target is not launch.target or _differ(state, work.state, WORK):
        work = _work_view(state, launch)
    sm = (_sm(launch.target),) if launch.target else ()
    return replace(
        launch,
        state=state,
        bound=work.bound,
        work_panels=work.work_panels,
        work_notes=work.work_notes,
        work_troubles=work.work_troubles,
        panels=(*launch.launch_panels, *work.work_panels, *sm),
        notes=(*launch.launch_notes, *work.work_notes),
        troubles=(*launch.launch_troubles, *work.work_troubles),
        commands=tuple(
            line
            for line in (occupancy_command(state, commands.compiling), roofline_command(state))
            if line is not None
        ),
    )


def _differ(one: State, other: State, names: tuple[str, ...]) -> bool:
    return any(getattr(one, name) != getattr(other, name) for name in names)


def _work_view(state: State, launch: View) -> View:
    """With all that does not depend on the launch, but on the operation."""
    bound = trouble = None
    try:
        bound = _bound(state, launch.target) if launch.target else None
    except PerfkitError as error:
        trouble = replace(_trouble(error), field=_work_field(error))
    shown = roofline_view.document([bound], {}) if bound else None
    return replace(
        launch,
        bound=bound,
        work_panels=tuple(_panel(shown.tables[0], ())) if shown else (),
        work_notes=shown.notes if shown else (),
        work_troubles=(trouble,) if trouble else (),
    )


def _launch_view(state: State, commands: CommandLine, before: View | None) -> View:
    """All that does not depend on the operation."""
    target = found = trouble = None
    try:
        if state.gpu is not None:
            # looking a GPU up takes as long as a quarter of the answer
            known = before.target if before and before.state.gpu == state.gpu else None
            target = known or commands.target(state.gpu)
            found = commands.estimate(state, target)
    except PerfkitError as error:
        trouble = _trouble(error)
    shown = occupancy_view.document([found]) if found else None
    # the first table is the answer, which is shown in its own way
    tables = shown.tables[1:] if shown else ()
    binding = found.driver.binding if found else ()
    return View(
        state=state,
        target=target,
        estimate=found,
        curves=curves(found.target.capability, launch_of(found)) if found else (),
        launch_panels=tuple(panel for table in tables for panel in _panel(table, binding)),
        launch_notes=shown.notes if shown else (),
        launch_troubles=(trouble,) if trouble else (),
    )


def launch_of(found: Estimate) -> Launch:
    """The launch that an answer is about."""
    driver = found.driver
    return Launch(
        threads=driver.threads,
        regs=driver.regs,
        smem=driver.smem_bytes,
        carveout=driver.carveout,
        barriers=driver.barriers,
        max_threads=found.kernel.max_threads if found.kernel else None,
        cluster=found.cluster_size,
    )


def _trouble(error: PerfkitError) -> Trouble:
    text = printable(str(error))
    field = next((name for name, field in FIELDS.items() if field.is_named_by(text)), None)
    return Trouble(text=text, hint=error.hint and printable(error.hint), field=field)


def _work_field(error: PerfkitError) -> str:
    return "dtype" if "data type" in str(error) else "op"


def _bound(state: State, target: Target) -> Roofline | None:
    if not state.op.strip() or target.gpu is None:
        return None
    dtype = DType.parse(state.dtype.strip() or DEFAULT_DTYPE)
    return roofline(target, RooflineQuestion(dtype=dtype, work=operation(state.op, dtype)))


def _panel(table: Table, binding: tuple[str, ...]) -> Iterator[Panel]:
    if not table.rows or not table.columns:
        return
    columns = [column.key for column in table.columns]
    key = next(panel for start, panel in _PANELS if any(c.startswith(start) for c in columns))
    yield Panel(
        key=key,
        title=table.title or "",
        lines=tuple(
            Line(
                label=column.title,
                value=text,
                is_marked=column.key.removeprefix("limit_") in binding,
            )
            for column, text in zip(table.columns, table.texts()[0], strict=True)
            if column.key not in {"target", "roof"}
        ),
    )


def _sm(target: Target) -> Panel:
    """The limits that everything above was held against."""
    cc, gpu = target.capability, target.gpu
    limits, registers, shared = cc.limits, cc.registers, cc.shared_memory
    rows = {
        "SMs": None if gpu is None else gpu.sm_count,
        "warps per SM": limits.max_warps_per_sm,
        "blocks per SM": limits.max_blocks_per_sm,
        "threads per block": limits.max_threads_per_block,
        "registers per SM": registers.per_sm,
        "registers per block": registers.max_per_block,
        "registers per thread": registers.max_per_thread,
        "registers are allocated": f"to each warp, in units of {registers.allocation_unit}",
        "shared memory per SM": format_bytes(shared.per_sm_bytes),
        "shared memory per block": f"{format_bytes(shared.max_per_block_bytes)}, "
        f"{format_bytes(shared.max_per_block_optin_bytes)} after opting in",
        "shared memory is allocated": f"in units of {format_bytes(shared.allocation_unit_bytes)}, "
        f"{format_bytes(shared.reserved_per_block_bytes)} of every block reserved",
        "carveouts": ", ".join(map(format_bytes, shared.capacities_bytes)),
        "barriers per SM": limits.block_barriers_per_sm,
        "blocks per cluster": cc.cluster and cc.cluster.max_portable,
    }
    return Panel(
        key="sm",
        title=f"What an SM of {target.label} has ({cc.architecture}, {cc.label})",
        lines=tuple(
            Line(label=label, value=str(value))
            for label, value in rows.items()
            if value is not None
        ),
    )
