"""``gemm --measure`` and ``recommend --measure``: the model's best candidates on the card."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from perfkit.analysis.gemm_rank import rank
from perfkit.analysis.tuning import Candidate, Tuning, judged
from perfkit.device.block_size_question import MOST_THREADS, order, request, wish
from perfkit.device.items import of_kernel
from perfkit.device.measure import Item, Plan, measure
from perfkit.device.user_kernel import KernelSpec, case_of
from perfkit.device.workloads.library import cannot_run, library
from perfkit.errors import DeviceError, UsageError
from perfkit.models.gemm_tile import Tiling
from perfkit.record import record

if TYPE_CHECKING:
    from perfkit.analysis.gemm import GemmEstimate, GemmQuestion
    from perfkit.analysis.measurement import Device as Measured
    from perfkit.analysis.measurement import LaunchFacts
    from perfkit.arch.types import Target
    from perfkit.device.properties import Device
    from perfkit.device.workload import Workload
    from perfkit.models.roofs import Ceilings

#: tilings that are looked at for some that the generator builds
_MOST_RANKED: Final = 2000
_WARP: Final = 32

Pair = tuple[Candidate, Item]


@record
class Try:
    """How many candidates are tried, and how thoroughly."""

    most: int
    plan: Plan
    ceilings: Sequence[Ceilings] = ()
    tell: Callable[[str], None] = lambda _: None


def tune_gemm(device: Device, target: Target, question: GemmQuestion, how: Try) -> Tuning:
    """The best-ranked tilings that perfkit's own kernels can have, measured: none shares out k.

    Raises:
        UsageError: none of them can be built: a data type or size that the kernels do not have.
    """
    ranking = rank(target, question, limit=_MOST_RANKED, is_whole=True)
    found: list[Pair] = []
    left_out: dict[str, int] = {}
    for place, estimate in enumerate(ranking.best, 1):
        if len(found) == how.most:
            break
        try:
            found.append(_tiling_item(device, estimate, place))
        except UsageError as error:
            left_out[error.message] = left_out.get(error.message, 0) + 1
    if not found:
        reason = next(iter(left_out), "the ranking is empty")
        raise UsageError(f"none of {len(ranking.best)} tilings can be built: {reason}")
    size = f"{question.m}x{question.n}x{question.k}"
    return _tuned(
        f"gemm {size} in {question.roofs.dtype}",
        device,
        found,
        ranking.launchable,
        [f"{count} tilings: {reason}" for reason, count in left_out.items()],
        how,
    )


def _tiling_item(device: Device, estimate: GemmEstimate, place: int) -> Pair:
    p, t = estimate.problem, estimate.tiling
    is_wgmma = estimate.block.instruction.kind == "wgmma"
    name = f"gemm_{'wgmma' if is_wgmma else 'mma'}_{p.dtype}"
    workload = library().get(name)
    if workload is None:
        raise UsageError(f"perfkit has no kernel {name}")
    if (reason := cannot_run(workload, device.compute_capability)) is not None:
        raise UsageError(f"{name} {reason}")
    names = [one for one in Tiling.__dataclass_fields__ if one in workload.sizes]
    tile = {one: int(getattr(t, one)) for one in names}
    label = f"{t.tile} by {t.warp}, {t.stages} stages"
    if t.cluster_m * t.cluster_n > 1:
        label += f", clusters of {t.cluster}"
    candidate = Candidate(
        key=f"{name} {label}",
        label=f"{'wgmma' if is_wgmma else 'mma.sync'} {label}",
        settings={"kernel": name, **tile},
        place=place,
        expected_s=estimate.schedule.expected_s if estimate.schedule else None,
    )
    # sizes that no tile divides, so that every edge of this very tiling is checked
    odd = {"m": 2 * t.tile_m + 44, "n": 2 * t.tile_n + 8, "k": 5 * t.tile_k, **tile}
    sizes = {"m": p.m, "n": p.n, "k": p.k, **tile}
    return candidate, _item(workload, candidate.key, sizes, [odd])


def _item(
    workload: Workload, key: str, sizes: dict[str, int], checks: list[dict[str, int]]
) -> Item:
    values = dict(workload.with_sizes(sizes))
    case = workload.build(values)
    for check in checks:  # refused here, not in the child
        workload.case(check)
    return Item(
        key=key,
        name=workload.name,
        summary=workload.summary,
        sizes=values,
        cold=workload.cold,
        payload={"kind": "workload", "name": workload.name, "sizes": values, "checks": checks},
        demand=case.demand,
        case=case,
    )


def tune_block_size(
    device: Device, target: Target, what: Workload | KernelSpec, how: Try
) -> Tuning:
    """Block sizes of a kernel in the model's order, measured.

    The kernel's registers and shared memory are those of the usual block size, which is run first.

    Raises:
        UsageError: the kernel takes no other block size, or none that launches.
        DeviceError: it does not run at its usual block size.
    """
    usual, items = _block_sizes(what)
    if len(items) < 2:
        raise UsageError("the kernel takes one block size: there is nothing to choose from")
    first = replace(how.plan, runs=1, samples=3, rest_s=0.0)
    report = measure([items[usual]], [device], first, ceilings=how.ceilings, tell=how.tell)
    facts = _facts(report.devices[0], items[usual])
    asked = request(target, facts, usual=usual, most=max(items))
    cases = [item.case for item in items.values() if item.case is not None]
    favourites = order(asked, wish(cases), items)
    found = [
        (
            Candidate(
                key=items[threads].key,
                label=f"{threads} threads",
                settings={"threads": threads},
                place=place,
            ),
            items[threads],
        )
        for place, threads in enumerate(favourites[: how.most], 1)
    ]
    return _tuned(items[usual].name, device, found, len(favourites), [], how)


def _facts(device: Measured, item: Item) -> LaunchFacts:
    """What driver and compiler said of the kernel, in its first run."""
    (probe,) = device.measurements or (None,)
    if probe is not None and probe.facts is not None:
        return probe.facts
    failure = device.failure or (probe.failure if probe else None)
    if failure is None:
        raise DeviceError(f"{item.name}: interrupted")
    raise DeviceError(f"{item.name}: {failure.message}", hint=failure.hint)


def _block_sizes(what: Workload | KernelSpec) -> tuple[int, dict[int, Item]]:
    """The usual block size, and an item for each that the kernel takes."""
    if isinstance(what, KernelSpec):
        usual = case_of(what).launch.threads
        make = partial(_own_item, what)
    else:
        usual = what.sizes["threads"]
        make = partial(_library_item, what)
    found = {}
    for threads in sorted({usual, *range(_WARP, MOST_THREADS + 1, _WARP)}):
        try:
            found[threads] = make(threads)
        except UsageError:
            if threads == usual:
                raise
    return usual, found


def _own_item(spec: KernelSpec, threads: int) -> Item:
    item = of_kernel(replace(spec, threads=str(threads)), cold=None)
    return replace(item, key=f"{spec.kernel} {threads}")


def _library_item(workload: Workload, threads: int) -> Item:
    checks = [{**sizes, "threads": threads} for sizes in workload.checks]
    return _item(workload, f"{workload.name} {threads}", {"threads": threads}, checks)


def _tuned(
    what: str,
    device: Device,
    found: Sequence[Pair],
    considered: int,
    left_out: Iterable[str],
    how: Try,
) -> Tuning:
    items = [item for _, item in found]
    report = measure(items, [device], how.plan, ceilings=how.ceilings, tell=how.tell)
    (here,) = report.devices
    if here.failure is not None:
        raise DeviceError(here.failure.message, hint=here.failure.hint)
    by_key = {one.key: one for one in here.measurements}
    return Tuning(
        what=what,
        environment=here.environment,
        considered=considered,
        tried=judged([candidate for candidate, _ in found], by_key),
        left_out=tuple(left_out),
        interrupted=report.interrupted,
    )
