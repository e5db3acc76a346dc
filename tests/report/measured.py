"""Measured figures for the golden files: made up, except for their order of magnitude."""

from __future__ import annotations

from dataclasses import replace

from perfkit.analysis.environment import Environment
from perfkit.analysis.measured_ceilings import Ceiling, CeilingsReport, Compared, Unmeasured
from perfkit.analysis.measurement import Failed, Measurement, Run
from perfkit.analysis.prediction import Demand, Flow
from perfkit.analysis.tuning import Candidate, Tuning, judged
from perfkit.analysis.validation import CardReport, Check, Mismatch, Pair, Status, ValidationReport
from perfkit.kernel import DType

ENVIRONMENT = Environment(
    device="NVIDIA Golden",
    uuid="GPU-00000000-0000-0000-0000-000000000000",
    product="h200-sxm",
    compute_capability="9.0",
    sm_count=132,
    driver="580.1",
    cuda="13.0",
    toolkit="12.9",
    max_sm_clock_hz=2e9,
    mig=False,
    ecc=True,
    perfkit="0.1.0",
    python="3.11.7",
    packages={"numpy": "2.0"},
    date="2026-11-30T12:00:00+00:00",
    notes=("process 4321 is on the card, too, with 512 MiB",),
)


def ceiling(group: str, name: str, value: float, unit: str, **others: object) -> Ceiling:
    usual = {"how": "256 threads, 8 blocks per SM", "tried": 12, "median_of": 25}
    return Ceiling(group=group, name=name, value=value, unit=unit, **{**usual, **others})


CEILINGS = CeilingsReport(
    environment=ENVIRONMENT,
    ceilings=(
        Compared(
            ceiling=ceiling("dram", "read", 4.5e12, "bytes_per_s", sm_clock_hz=1.98e9),
            datasheet=4.8e12,
            share=0.9375,
            share_at_clock=None,
        ),
        Compared(
            ceiling=ceiling("shared", "read", 33e12, "bytes_per_s", sm_clock_hz=1.98e9),
            datasheet=33.45e12,
            share=33 / 33.45,
            share_at_clock=33 / 33.45,
        ),
        Compared(
            ceiling=ceiling(
                "tensor",
                "bf16/f32 wgmma m64n256k16",
                8.6e14,
                "flop_per_s",
                sm_clock_hz=1.7e9,
                throttles=("power cap set by software",),
                dtype="bf16",
                accumulate="f32",
                compute_unit="tensor",
            ),
            datasheet=9.9e14,
            share=0.8687,
            share_at_clock=0.935,
        ),
        Compared(
            ceiling=ceiling("latency", "dram", 6.8e-7, "s"),
            datasheet=None,
            share=None,
            share_at_clock=None,
        ),
        Compared(
            ceiling=ceiling("latency", "f32 FMA", 4.1, "cycles"),
            datasheet=None,
            share=None,
            share_at_clock=None,
        ),
    ),
    unmeasured=(Unmeasured(group="transfer", message="it ran longer than 9 s", hint="allow more"),),
)


def _slower(found: Compared, share: float) -> Compared:
    return replace(found, ceiling=replace(found.ceiling, value=found.ceiling.value * share))


#: the second has 5 % less DRAM bandwidth and could not copy; nothing else is to be told apart
CEILINGS_OF_TWO = (
    replace(CEILINGS, environment=replace(ENVIRONMENT, index=0, uuid="GPU-0"), unmeasured=()),
    replace(
        CEILINGS,
        environment=replace(ENVIRONMENT, index=1, uuid="GPU-1", notes=()),
        ceilings=tuple(
            _slower(one, 0.95 if one.ceiling.group == "dram" else 1.001)
            for one in CEILINGS.ceilings[:4]
        ),
    ),
)


def check(name: str, status: Status, **others: object) -> Check:
    """A check of ``perfkit validate`` with this outcome."""
    usual = {
        "predicted": 'resident blocks by rule="hardware"',
        "measured": "blocks counted on every SM at once",
        "scope": "measured",
        "compared": 0 if status is Status.SKIPPED else 21_000,
        "differing": 0,
        "differences": (),
        "pairs": (),
        "pairs_left_out": 0,
        "figures": {"kernels": 52, "least share of theory there": 0.906},
        "reason": None,
        "hint": None,
        "seconds": 9.25,
        "sm_clock_hz": 1.98e9,
        "throttles": (),
    }
    return Check(name=name, status=status, **{**usual, **OUTCOMES[status], **others})


OUTCOMES: dict[Status, dict[str, object]] = {
    Status.PASS: {
        "pairs": (
            *(Pair(what="blocks per SM", predicted=n, measured=n, count=9) for n in (1, 2, 7, 32)),
            Pair(what="small blocks per SM", predicted=32, measured=24, relation="at most"),
        ),
    },
    Status.FAIL: {
        "pairs": (
            Pair(what="time", predicted=9e-6, measured=9.3e-6, unit="s", label="axpy"),
            Pair(what="time", predicted=9e-3, measured=2e-2, unit="s", label="sum", agrees=False),
        ),
        "pairs_left_out": 5,
        "differing": 12,
        "differences": (
            Mismatch(
                configuration="64 threads, 24 registers, 0 + 4096 B shared, carveout 50%",
                predicted="16",
                measured="15 to 16",
            ),
        ),
        "throttles": ("power cap set by software",),
    },
    Status.SKIPPED: {
        "reason": "this user may not read the GPU's counters (ERR_NVGPUCTRPERM)",
        "hint": "an administrator can allow it",
        "figures": {},
        "sm_clock_hz": None,
    },
    Status.UNFINISHED: {"reason": "it ran longer than 120 s and was ended", "scope": "assumed"},
}


def validation(*outcomes: Status, interrupted: bool = False) -> ValidationReport:
    """A report whose checks have these outcomes, called check-1, check-2, …."""
    checks = tuple(check(f"check-{n}", status) for n, status in enumerate(outcomes, 1))
    card = CardReport(environment=ENVIRONMENT, checks=checks, interrupted=interrupted)
    return ValidationReport(seed=7, quick=True, cards=(card,))


VALIDATION = validation(*Status)
TWO_CARDS = ValidationReport(
    seed=7,
    quick=False,
    cards=tuple(
        CardReport(
            environment=replace(ENVIRONMENT, index=n, uuid=f"GPU-{n}"),
            checks=VALIDATION.checks[: 2 - n],
        )
        for n in range(2)
    ),
)


def _measurement(key: str, *medians: float, failure: Failed | None = None) -> Measurement:
    return Measurement(
        name="gemm_wgmma_bf16",
        key=key,
        summary="matrix product",
        sizes={"m": 4096, "n": 4096, "k": 4096},
        cold=False,
        runs=tuple(Run(samples_s=(one,), sm_clock_hz=1.98e9, throttles=()) for one in medians),
        checks=(),
        is_checked=True,
        facts=None,
        demand=Demand(flow=Flow(flops=2 * 4096**3, dtype=DType.BF16, unit="tensor")),
        footprint_bytes=None,
        prediction=None,
        failure=failure,
    )


_CANDIDATES = [
    Candidate(
        key=f"c{place}",
        label=label,
        settings={"stages": place},
        place=place,
        expected_s=(175e-6, 180e-6, 185e-6)[place - 1],
    )
    for place, label in enumerate(("128x256x32, 8 stages", "128x256x64, 4 stages", "64x64x64"), 1)
]
TUNING = Tuning(
    what="gemm 4096x4096x4096 in bf16",
    environment=ENVIRONMENT,
    considered=12555,
    tried=judged(
        _CANDIDATES,
        {
            "c1": _measurement("c1", 190e-6, 190.1e-6, 189.9e-6),
            "c2": _measurement("c2", 187e-6, 187.1e-6, 186.9e-6),
            "c3": _measurement(
                "c3", failure=Failed(message="it hung and was ended", hint=None, exit_code=5)
            ),
        },
    ),
    left_out=("3 tilings: perfkit's kernels do not share out k among blocks",),
)
