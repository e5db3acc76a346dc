"""Measured figures for the golden files: made up, except for their order of magnitude."""

from __future__ import annotations

from perfkit.analysis.environment import Environment
from perfkit.analysis.measured_ceilings import Ceiling, CeilingsReport, Compared, Unmeasured

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
