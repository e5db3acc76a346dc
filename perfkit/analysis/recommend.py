"""Which launch to use for a kernel on one or several GPUs, and why.

The block size comes from ``analysis.block_sizes``, the carveout from ``analysis.carveout_choice``,
the grid from ``analysis.grids``, the cluster size from ``analysis.cluster_choice``;
``analysis.budgets`` says what other choices would cost. Nothing
here was run: what is best for the occupancy need not be the fastest, and the remarks say when it is
not worth chasing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from perfkit.analysis import block_sizes, budgets, carveout_choice, cluster_choice, grids
from perfkit.analysis.block_sizes import Choice, Place, Request, Wish
from perfkit.analysis.budgets import Budget, RegisterStep
from perfkit.analysis.carveout_choice import CarveoutChoice
from perfkit.analysis.grids import TAIL, Form, Grid
from perfkit.errors import UsageError
from perfkit.models.cluster import check_cluster, is_open
from perfkit.record import record

if TYPE_CHECKING:
    from perfkit.analysis.cluster_choice import ClusterChoice

#: Best Practices Guide 13, Calculating Occupancy: going from 66 to 100 % rarely pays
_ENOUGH: Final = 0.66


class Kind(StrEnum):
    """What there is to say; the first ones are about not chasing occupancy."""

    ENOUGH = "enough"  #: ``value``: the occupancy
    COSTS_REGISTERS = "costs_registers"  #: ``value``: fewer registers, for ``other`` blocks
    GRID_IS_SMALL = "grid_is_small"  #: ``value`` SMs of ``other`` get a block
    NOT_A_WAVE = "not_a_wave"  #: ``value``: the occupancy that the problem reaches at most
    ONE_LARGE_BLOCK = "one_large_block"  #: ``value``: bytes of shared memory of the only block
    TAIL = "tail"  #: ``value``: most of the time in the last wave
    BELOW_THEORY = "below_theory"  #: register-limited blocks of one or two warps
    OPT_IN_SHARED = "opt_in_shared"  #: ``value``: bytes to opt in to
    OPT_IN_CLUSTER = "opt_in_cluster"  #: ``value``: blocks of a cluster
    FEWER_WARPS = "fewer_warps"  #: ``value`` resident warps, ``other`` were possible


@record
class Remark:
    kind: Kind
    value: float
    other: float | None = None


@record
class Advice:
    """The launch on one target."""

    place: Place
    most_warps: int  #: resident warps of what NVIDIA's launch helper would choose
    carveout: CarveoutChoice
    budgets: tuple[Budget, ...]
    step: RegisterStep | None
    grids: tuple[Grid, ...]
    form: Form | None  #: the grid to use; None: the target has no number of SMs
    cluster: ClusterChoice | None  #: None: no clusters there, or no number of SMs
    remarks: tuple[Remark, ...]

    @property
    def spare_registers(self) -> int | None:
        """Registers that a thread may have beyond now without costing a block."""
        row = budgets.present(self.place, self.budgets)
        return None if row is None else row.max_registers - self.place.request.regs

    @property
    def relative(self) -> float:
        """Resident warps over those of the best block size on this target alone."""
        return min(1.0, self.place.warps_per_sm / self.most_warps)

    @property
    def ratio(self) -> float:
        """Resident warps over the SM's warp slots, 0..1."""
        return self.place.warps_per_sm / self.place.occupancy.max_warps_per_sm


@record
class Recommendation:
    """One launch configuration for all targets."""

    wish: Wish
    choice: Choice
    dynamic_bytes: int  #: of a block
    carveout: int | None  #: one preference for all targets, in percent; None: leave the default
    advices: tuple[Advice, ...]  #: in the order of the requests

    @property
    def threads(self) -> int:
        return self.choice.threads


def recommend(requests: Sequence[Request], wish: Wish) -> Recommendation:
    """The launch configuration for a kernel, one for all of ``requests``.

    Args:
        requests: the kernel on each target.
        wish: the problem, and what kind of launch.

    Raises:
        DoesNotFit: no block size launches on all targets.
        InvalidLaunch: a number that no launch can have; clusters where there are none.
        UsageError: no target, or a size of the problem that is none.
    """
    _check(requests, wish)
    choice = block_sizes.choose(requests, wish)
    return Recommendation(
        wish=wish,
        choice=choice,
        dynamic_bytes=max(r.dynamic(choice.threads) for r in requests),
        carveout=carveout_choice.choose_for_all(
            [
                (place.request.target.capability, place.request.launch(choice.threads))
                for place in choice.places
            ]
        ),
        advices=tuple(
            _advice(place, most, wish)
            for place, most in zip(choice.places, choice.most_warps, strict=True)
        ),
    )


def _check(requests: Sequence[Request], wish: Wish) -> None:
    if not requests:
        raise UsageError("no target given")
    for name, value in (("elements", wish.elements), ("per-thread", wish.per_thread)):
        if value is not None and not 1 <= value < 2**63:
            raise UsageError(f"{name} = {value}: must be 1 to 2^63 - 1")
    for request in requests:
        for name in ("static_bytes", "dynamic_bytes", "bytes_per_thread"):
            if getattr(request, name) < 0:
                raise UsageError(f"{name.replace('_', ' ')} must not be negative")
        if wish.cluster is not None:
            _check_cluster(request, wish.cluster)


def _check_cluster(request: Request, size: int) -> None:
    capability = request.target.capability
    if is_open(check_cluster(capability, size), size):
        raise UsageError(
            f"cluster = {size}: no source says whether {capability.label} takes it",
            hint="what may not launch is not recommended",
        )


def _advice(place: Place, most_warps: int, wish: Wish) -> Advice:
    capability = place.request.target.capability
    rows = budgets.budgets(place)
    step = budgets.next_step(place, rows)
    found = grids.grids(place, wish)
    return Advice(
        place=place,
        most_warps=most_warps,
        carveout=carveout_choice.choose(capability, place.request.launch(place.threads)),
        budgets=rows,
        step=step,
        grids=found,
        form=grids.recommended(found),
        cluster=cluster_choice.choose(place, wish),
        remarks=tuple(_remarks(place, most_warps, step, found, wish)),
    )


def _remarks(
    place: Place,
    most_warps: int,
    step: RegisterStep | None,
    found: tuple[Grid, ...],
    wish: Wish,
) -> Iterator[Remark]:
    capability, occupancy = place.request.target.capability, place.occupancy
    warps, ratio = place.warps_per_sm, place.warps_per_sm / occupancy.max_warps_per_sm
    if warps < most_warps:
        yield Remark(kind=Kind.FEWER_WARPS, value=warps, other=most_warps)
    if _ENOUGH <= ratio < 1:
        yield Remark(kind=Kind.ENOUGH, value=ratio)
    elif step is not None:
        yield Remark(kind=Kind.COSTS_REGISTERS, value=step.fewer, other=step.blocks_per_sm)
    if place.blocks_per_sm == 1 and "shared_memory" in place.limited_by:
        yield Remark(kind=Kind.ONE_LARGE_BLOCK, value=occupancy.smem_bytes)
    yield from _about_the_grid(place, found)
    small = place.threads <= 2 * capability.limits.warp_size
    if small and "registers" in place.limited_by:
        yield Remark(kind=Kind.BELOW_THEORY, value=warps)
    if occupancy.smem_bytes > capability.shared_memory.max_per_block_bytes:
        yield Remark(kind=Kind.OPT_IN_SHARED, value=place.request.dynamic(place.threads))
    limits = capability.cluster
    if wish.cluster is not None and limits is not None and wish.cluster > limits.max_portable:
        yield Remark(kind=Kind.OPT_IN_CLUSTER, value=wish.cluster)


def _about_the_grid(place: Place, found: tuple[Grid, ...]) -> Iterator[Remark]:
    gpu = place.request.target.gpu
    grid = found[0] if found else None
    ratio = place.warps_per_sm / place.occupancy.max_warps_per_sm
    if gpu is None or grid is None or grid.form is not Form.ONE_TO_ONE or grid.waves is None:
        return
    if grid.blocks < gpu.sm_count:
        yield Remark(kind=Kind.GRID_IS_SMALL, value=grid.blocks, other=gpu.sm_count)
    elif grid.waves.waves < 1:
        yield Remark(kind=Kind.NOT_A_WAVE, value=grid.waves.waves * ratio)
    elif grid.waves.tail_share_max >= TAIL:
        yield Remark(kind=Kind.TAIL, value=grid.waves.tail_share_max)
