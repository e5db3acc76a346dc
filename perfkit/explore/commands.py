"""What one takes away: the command line that gives the present state, and code that launches so."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from perfkit.analysis.block_sizes import Request, Wish
from perfkit.analysis.recommend import recommend
from perfkit.explore.fields import FIELDS
from perfkit.report.code.kinds import Kind, render
from perfkit.units import parse_bytes

if TYPE_CHECKING:
    from perfkit.analysis.occupancy import Estimate
    from perfkit.explore.state import State

#: the fields that are not of the launch, but of the work it does
WORK: Final = ("op", "dtype")
#: where no type was typed
DEFAULT_DTYPE: Final = "f32"


def occupancy_command(state: State, compiling: tuple[str, ...]) -> str | None:
    """``perfkit occupancy`` with everything that was told; None: no GPU yet.

    Args:
        state: the present one.
        compiling: options with which a source is compiled.
    """
    if state.gpu is None:
        return None
    words = ["perfkit", "occupancy"]
    if state.path is not None:
        words.append(state.path)
    words += ["-g", state.gpu]
    if state.path is not None:
        words += compiling
    if state.kernel is not None:
        words += ["--kernel", f"^{re.escape(state.kernel.demangled)}$"]
    for name, field in FIELDS.items():
        if name not in WORK and state.text(name).strip():
            words += [field.option, state.text(name).strip()]
    return shlex.join(words)


def roofline_command(state: State) -> str | None:
    """``perfkit roofline`` for the operation, if there is one."""
    if state.gpu is None or not state.op.strip():
        return None
    dtype = state.dtype.strip() or DEFAULT_DTYPE
    return shlex.join(
        ["perfkit", "roofline", "-g", state.gpu, "--dtype", dtype, "--op", state.op.strip()]
    )


def launch_code(state: State, found: Estimate, kind: Kind) -> str:
    """Code that launches as the state says, for any kernel.

    Raises:
        UsageError: nothing launches so, or the kind cannot express it.
    """
    kernel, launch = state.kernel, found.driver
    own = kernel.static_shared_bytes if kernel else None
    static = parse_bytes(state.smem_static) if state.smem_static.strip() else own or 0
    request = Request(
        target=found.target,
        kernel=kernel.demangled if kernel else None,
        regs=launch.regs,
        static_bytes=static,
        dynamic_bytes=launch.smem_bytes - static,
        barriers=launch.barriers,
        max_threads=kernel.max_threads if kernel else None,
        exact_threads=launch.threads,
        only_threads=kernel.required_threads if kernel else None,
    )
    advised = recommend([request], Wish(cluster=found.cluster_size))
    # the preference is the one that was chosen here, not the one that would be advised
    return render(replace(advised, carveout=launch.carveout), kind, by="perfkit explore")
