"""Fixed measurements, made up: near its bound, wrong, failed, throttled, a chain, Python code."""

from __future__ import annotations

from dataclasses import replace

from perfkit.analysis.measurement import (
    Checked,
    Device,
    Failed,
    LaunchFacts,
    Listed,
    Measurement,
    MeasureReport,
    Run,
)
from perfkit.analysis.prediction import Chain, Demand, Flow, Machine, predict
from perfkit.kernel import DType
from tests.report.measured import ENVIRONMENT
from tests.report.results import HOPPER, TOY

MACHINE = Machine(gpu=TOY, capability=HOPPER, l2_bytes=2**20)
FACTS = LaunchFacts(
    registers=32,
    static_shared_bytes=0,
    dynamic_shared_bytes=1024,
    local_bytes=0,
    blocks=4096,
    threads=256,
    blocks_per_sm=8,
)


def run(median_s, *throttles, **values):
    """A run of three samples."""
    return Run(
        samples_s=(median_s * 0.99, median_s, median_s * 1.2),
        sm_clock_hz=1.98e9,
        throttles=throttles,
        temperature_c=45.0,
        power_w=412.5,
        **values,
    )


def measurement(name, demand, *runs, **values):
    """One row."""
    chain = values.pop("chain", None)
    return Measurement(
        **{
            "name": name,
            "summary": "made up",
            "sizes": {"n": 1048576, "threads": 256},
            "cold": False,
            "runs": runs,
            "checks": (),
            "is_checked": True,
            "facts": FACTS,
            "demand": demand,
            "footprint_bytes": 2**30,
            "prediction": predict(MACHINE, demand, chain=chain, footprint_bytes=2**30),
            "hops": chain.hops if chain else None,
            "sm_count": 100,
            "max_warps_per_sm": 64,
            **values,
        }
    )


def check(**values):
    """A right one, unless told otherwise."""
    return Checked(
        **{
            "output": "y",
            "right": True,
            "error": 1e-8,
            "worst": 1e-7,
            "tolerance": 1e-6,
            "at": None,
            "unwritten": 0,
            **values,
        }
    )


STREAM = Demand(read_bytes=2e9, write_bytes=1e9, flow=Flow(flops=5e8))
LEAST_S = predict(MACHINE, STREAM).bound_s
MATRIX = Demand(
    read_bytes=1e8,
    write_bytes=1e8,
    flow=Flow(flops=2e12, dtype=DType.F16, unit="tensor", accumulate=DType.F32),
)
FAILED = Failed(
    message="it ran longer than 60 s and was ended",
    hint="a kernel may hang",
    exit_code=5,
    log="the last line",
)

MEASURED = MeasureReport(
    devices=(
        Device(
            environment=ENVIRONMENT,
            basis="the data sheet of toy-100",
            measurements=(
                measurement(
                    "near",
                    STREAM,
                    *(run(LEAST_S * one) for one in (1.05, 1.052, 1.049)),
                    checks=(check(),),
                ),
                measurement(
                    "below",
                    STREAM,
                    run(LEAST_S * 2),
                    run(LEAST_S * 3, "power cap set by software"),
                    notes=("run 2 of 2 was throttled (power cap set by software): it is left out",),
                ),
                measurement("faster", STREAM, run(LEAST_S / 2)),
                measurement(
                    "wrong",
                    STREAM,
                    run(LEAST_S),
                    checks=(check(right=False, error=0.5, at=17), check(right=False, unwritten=9)),
                ),
                measurement("tensor", MATRIX, run(0.01), run(0.011)),
                measurement(
                    "chain",
                    Demand(),
                    run(1e-3, cycles=1980000),
                    chain=Chain(hops=4096, level="dram"),
                ),
                measurement("hang", STREAM, failure=FAILED),
                measurement(
                    "module:function",
                    Demand(),
                    run(0.02, by_host=True),
                    facts=None,
                    footprint_bytes=None,
                    sizes={},
                    prediction=predict(MACHINE, Demand()),
                ),
            ),
        ),
    ),
    interrupted=True,
)


def of_card(number, *, slower):
    """What a card took that is so much slower than the first; one failed on it."""
    notes = () if number else ENVIRONMENT.notes
    took = {"copy": (1.05, 1.052, 1.049), "sum": (1.1, 1.3, 1.5)}
    return Device(
        environment=replace(ENVIRONMENT, index=number, uuid=f"GPU-{number}", notes=notes),
        basis="the data sheet of toy-100",
        measurements=(
            *(
                measurement(name, STREAM, *(run(LEAST_S * slower * share) for share in shares))
                for name, shares in took.items()
            ),
            measurement("hang", STREAM, failure=FAILED),
        ),
    )


SEVERAL_CARDS = MeasureReport(
    devices=(
        of_card(0, slower=1),
        of_card(1, slower=1.04),
        # it could not be opened
        replace(of_card(3, slower=1), measurements=(), failure=FAILED),
    ),
    interrupted=False,
)
LISTED = (
    Listed(name="copy", group="streaming", summary="b = a, f32", sizes={"n": 1024, "threads": 256}),
    Listed(name="chase_l1", group="latency", summary="a ring in L1", sizes={"nodes": 64}),
)
