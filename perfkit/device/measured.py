"""Results of children, put together: the runs of an item, its checks and what was predicted."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING, Any, Final

from perfkit.analysis.measurement import Checked, Failed, LaunchFacts, Measurement, Run
from perfkit.analysis.prediction import Machine, Prediction, predict
from perfkit.device.nvml import POWER_CAP

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from perfkit.device.measure import Item
    from perfkit.device.properties import Device
    from perfkit.device.workload import Case

#: products that draw an H200's 700 W keep their clock with it
_REST_S: Final = 0.25


def measurement(
    item: Item,
    results: Sequence[Mapping[str, Any]],
    failure: Failed | None,
    device: Device,
    machine: Machine | None,
    *,
    rest_s: float = 0.0,
) -> Measurement:
    """Everything about one item.

    Args:
        item: what was measured.
        results: of each run, as ``measure_task`` gives them.
        failure: why there are fewer runs, or none.
        device: where.
        machine: to predict for; None: its capability is not known.
        rest_s: before each burst.
    """
    runs = tuple(_run(result["timing"]) for result in results)
    first: Mapping[str, Any] = results[0] if results else {}
    case = item.case
    facts = first.get("facts")
    return Measurement(
        key=item.key,
        name=item.name,
        summary=item.summary,
        sizes=item.sizes,
        cold=item.cold,
        rest_s=rest_s,
        runs=runs,
        checks=tuple(Checked(**check) for check in first.get("checks", ()))
        + _unwritten(first.get("timing", {})),
        is_checked=case is not None and case.reference is not None,
        facts=LaunchFacts(**facts) if facts else None,
        demand=item.demand,
        footprint_bytes=case.footprint_bytes if case else None,
        prediction=_prediction(item, runs, machine, facts),
        hops=case.chain.hops if case and case.chain else None,
        failure=failure,
        sm_count=device.sm_count,
        max_warps_per_sm=device.max_warps_per_sm,
        notes=tuple(_notes(item, runs, device, rest_s)),
    )


def _run(timing: Mapping[str, Any]) -> Run:
    after = timing["after"]
    return Run(
        samples_s=tuple(timing["samples_s"]),
        sm_clock_hz=timing["sm_clock_hz"],
        throttles=tuple(timing["throttles"]),
        temperature_c=after["temperature_c"],
        power_w=after["power_w"],
        cycles=timing.get("cycles"),
        stages_s=timing.get("stages_s") or None,
        by_host=timing.get("by_host", False),
    )


def _unwritten(timing: Mapping[str, Any]) -> tuple[Checked, ...]:
    """Outputs that the timed launch, at its full size, left with holes."""
    return tuple(
        Checked(output=name, right=False, error=0, worst=0, tolerance=0, at=None, unwritten=count)
        for name, count in timing.get("unwritten", {}).items()
    )


def _prediction(
    item: Item, runs: Sequence[Run], machine: Machine | None, facts: Mapping[str, Any] | None
) -> Prediction | None:
    case = item.case
    if case is not None and case.staged is not None:
        return _staged(case, runs)
    if machine is None:
        return None
    return predict(
        machine,
        item.demand,
        chain=case.chain if case else None,
        cold=item.cold,
        footprint_bytes=case.footprint_bytes if case else None,
        blocks_per_sm=facts["blocks_per_sm"] if facts else None,
    )


def _staged(case: Case, runs: Sequence[Run]) -> Prediction | None:
    """From the stages as they were measured alone: none of them can be hidden from itself."""
    alone = [run.stages_s for run in runs if run.stages_s]
    if case.staged is None or not alone:
        return None
    times = {name: median(one[name] for one in alone) for name in alone[0]}
    bound = case.staged.least(times)
    return Prediction(
        bound=None,
        bound_s=bound,
        expected_s=case.staged.predict(times),
        bound_by=("overlap",),
        basis="measured",
        missing=(),
    )


def _throttled(runs: Sequence[Run], rest_s: float) -> Iterator[str]:
    """Which runs were, why, and what would help."""
    throttled = [number + 1 for number, run in enumerate(runs) if run.throttles]
    if not throttled:
        return
    why = list(dict.fromkeys(text for run in runs for text in run.throttles))
    shown = ", ".join(map(str, throttled))
    what = "all of them count" if len(throttled) == len(runs) else "the others count"
    rests = f"; --rest {_REST_S} times bursts" if POWER_CAP in why and not rest_s else ""
    yield f"run {shown} of {len(runs)} was throttled ({', '.join(why)}): {what}{rests}"


def _notes(item: Item, runs: Sequence[Run], device: Device, rest_s: float) -> list[str]:
    notes = list(_throttled(runs, rest_s))
    if any(run.by_host for run in runs):
        notes.append(
            "timed by the host's clock: the work did not stay in the default stream, or waited"
        )
    case, l2 = item.case, device.l2_bytes
    if case is not None and l2 and not item.cold and case.footprint_bytes < 4 * l2:
        if case.footprint_bytes <= l2 and item.demand.bytes:
            notes.append("its data fit in L2, where they stay from launch to launch: no DRAM bound")
        elif item.demand.bytes and case.footprint_bytes > l2:
            notes.append("a part of its data may stay in L2 from launch to launch")
    return notes
