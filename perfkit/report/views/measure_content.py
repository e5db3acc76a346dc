"""``analysis.measurement`` -> JSON content, samples included."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from perfkit.analysis.diagnose import worth_a_look
from perfkit.analysis.measurement import Verdict
from perfkit.report.views import measure_cards
from perfkit.report.views.measure import flat

if TYPE_CHECKING:
    from perfkit.analysis.measurement import Device, Failed, Measurement, MeasureReport, Run
    from perfkit.analysis.prediction import Prediction


def content(report: MeasureReport) -> dict[str, Any]:
    """Everything, samples included."""
    return {
        "interrupted": report.interrupted,
        "devices": [
            {
                "environment": device.environment.content,
                "basis": device.basis,
                "missing": list(device.missing),
                "failure": _failure(device.failure),
                "measurements": [_content(device, one) for one in device.measurements],
            }
            for device in report.devices
        ],
        **measure_cards.content(report),
    }


def _content(device: Device, one: Measurement) -> dict[str, Any]:
    row = flat(device, one)
    diagnosis = one.diagnosis() if one.verdict is Verdict.BELOW else None
    return {
        "name": one.name,
        "summary": one.summary,
        "sizes": dict(one.sizes),
        "cold": one.cold,
        "rest_s": one.rest_s,
        "median_s": one.median_s,
        "interval_s": list(one.interval_s) if one.interval_s else None,
        "verdict": one.verdict.value,
        "ratio": one.ratio,
        "ratio_expected": one.ratio_expected,
        "share_of_bound": 1 / one.ratio if one.ratio else None,
        "bytes_per_s": one.bytes_per_s,
        "flop_per_s": one.flop_per_s,
        "seconds_per_hop": one.median_s / one.hops if one.median_s and one.hops else None,
        "occupancy": one.occupancy,
        "waves": one.waves,
        "sm_clock_hz": row["sm_clock_hz"],
        "work": _work(one),
        "launch": asdict(one.facts) if one.facts else None,
        "prediction": _prediction(one.prediction),
        "is_checked": one.is_checked,
        "checks": [asdict(check) for check in one.checks],
        "findings": [finding.symptom.value for finding in worth_a_look(diagnosis)]
        if diagnosis
        else [],
        "runs": [_run(run) for run in one.runs],
        "failure": _failure(one.failure),
        "notes": list(one.notes),
    }


_LOAD: Final = (*("name", "kind", "amount", "rate_per_s", "roof", "basis", "clock_hz", "time_s"),)


def _prediction(found: Prediction | None) -> dict[str, Any] | None:
    if found is None:
        return None
    loads = found.bound.loads if found.bound else ()
    return {
        "bound_s": found.bound_s,
        "expected_s": found.expected_s,
        "bound_by": list(found.bound_by),
        "basis": found.basis,
        "missing": list(found.missing),
        "loads": [{key: getattr(load, key) for key in _LOAD} for load in loads],
    }


def _work(one: Measurement) -> dict[str, Any]:
    flow = one.demand.flow
    return {
        "flops": flow.flops if flow else 0,
        "dtype": flow.dtype.value if flow else None,
        "read_bytes": one.demand.read_bytes,
        "write_bytes": one.demand.write_bytes,
        "footprint_bytes": one.footprint_bytes,
    }


def _run(run: Run) -> dict[str, Any]:
    return {
        "median_s": run.median_s,
        "samples_s": list(run.samples_s),
        "sm_clock_hz": run.sm_clock_hz,
        "throttles": list(run.throttles),
        "temperature_c": run.temperature_c,
        "power_w": run.power_w,
        "cycles": run.cycles,
        "stages_s": dict(run.stages_s) if run.stages_s else None,
        "by_host": run.by_host,
    }


def _failure(failure: Failed | None) -> dict[str, Any] | None:
    return None if failure is None else asdict(failure)
