"""Every view in every format: the layout stays what it is."""

from __future__ import annotations

import json as stdlib_json

import pytest

from perfkit.report import csv, github, json, junit, markdown, sarif, terminal, text
from perfkit.report.views import (
    arch,
    banks,
    baseline,
    carveout,
    ceilings_cards,
    coalescing,
    diagnose,
    diff,
    divergence,
    doctor,
    fits,
    gate,
    gate_history,
    gate_run,
    gemm,
    gemm_content,
    gemm_rank,
    gpu,
    inspect,
    latency,
    measure,
    measure_content,
    occupancy,
    overlap,
    recommend,
    roofline,
    sweep,
    tuning,
)
from perfkit.report.views import validate as validate_view
from tests.report import (
    accesses,
    bounds,
    builds,
    gated,
    launches,
    measured,
    results,
    timed,
    verdicts,
)
from tests.report.schemas import undescribed, validate

#: file name -> (JSON topic, document, content)
VIEWS = {
    "measure": (
        "measure",
        lambda: measure.document(timed.MEASURED),
        lambda: measure_content.content(timed.MEASURED),
    ),
    "measure-several-cards": (
        "measure",
        lambda: measure.document(timed.SEVERAL_CARDS),
        lambda: measure_content.content(timed.SEVERAL_CARDS),
    ),
    "measure-list": (
        "measure-list",
        lambda: measure.list_document(timed.LISTED),
        lambda: measure.list_content(timed.LISTED),
    ),
    "tuning": (
        "tuning",
        lambda: tuning.document(measured.TUNING),
        lambda: tuning.content(measured.TUNING),
    ),
    "ceilings": (
        "ceilings",
        lambda: ceilings_cards.document([measured.CEILINGS]),
        lambda: ceilings_cards.content([measured.CEILINGS]),
    ),
    "ceilings-two-cards": (
        "ceilings",
        lambda: ceilings_cards.document(measured.CEILINGS_OF_TWO),
        lambda: ceilings_cards.content(measured.CEILINGS_OF_TWO),
    ),
    "validate": (
        "validate",
        lambda: validate_view.document(measured.VALIDATION),
        lambda: validate_view.content(measured.VALIDATION),
    ),
    "validate-two-cards": (
        "validate",
        lambda: validate_view.document(measured.TWO_CARDS),
        lambda: validate_view.content(measured.TWO_CARDS),
    ),
    "occupancy": (
        "occupancy",
        lambda: occupancy.document(results.SAME),
        lambda: occupancy.content(results.SAME),
    ),
    "occupancy-kernels": (
        "occupancy",
        lambda: occupancy.document(results.KERNELS),
        lambda: occupancy.content(results.KERNELS),
    ),
    "sweep": (
        "sweep",
        lambda: sweep.document(results.SWEEP),
        lambda: sweep.content(results.SWEEP),
    ),
    "carveout": (
        "carveout",
        lambda: carveout.document(results.SETTINGS, results.OUTCOMES),
        lambda: carveout.content(results.SETTINGS, results.OUTCOMES),
    ),
    "inspect": (
        "inspect",
        lambda: inspect.document([results.AXPY, results.STRANGE]),
        lambda: inspect.content([results.AXPY, results.STRANGE]),
    ),
    "latency": (
        "latency",
        lambda: latency.document(launches.HIDING),
        lambda: latency.content(launches.HIDING),
    ),
    "latency-issue": (
        "latency",
        lambda: latency.document(launches.ISSUE),
        lambda: latency.content(launches.ISSUE),
    ),
    "overlap": (
        "overlap",
        lambda: overlap.document(launches.PIPELINE),
        lambda: overlap.content(launches.PIPELINE),
    ),
    "recommend": (
        "recommend",
        lambda: recommend.document(launches.RECOMMENDED),
        lambda: {**recommend.content(launches.RECOMMENDED), "code": None},
    ),
    "diagnose": (
        "diagnose",
        lambda: diagnose.document(launches.DIAGNOSED),
        lambda: diagnose.content(launches.DIAGNOSED),
    ),
    "fits": ("fits", lambda: fits.document(builds.FITS), lambda: fits.content(builds.FITS)),
    "gate": (
        "gate",
        lambda: gate.document(verdicts.MIXED),
        lambda: gate.content(verdicts.MIXED),
    ),
    "gate-many": (
        "gate",
        lambda: gate.document(verdicts.MANY),
        lambda: gate.content(verdicts.MANY),
    ),
    "gate-run": (
        "gate-run",
        lambda: gate_run.document(gated.OUTCOME, gated.RUN),
        lambda: gate_run.content(gated.OUTCOME, gated.RUN),
    ),
    "gate-history": (
        "gate-history",
        lambda: gate_history.document(gated.HISTORY, commits=True),
        lambda: gate_history.content(gated.HISTORY),
    ),
    "baseline": (
        "baseline",
        lambda: baseline.document(gated.ENTRIES, None),
        lambda: baseline.content(gated.ENTRIES),
    ),
    "diff": ("diff", lambda: diff.document(builds.DIFF), lambda: diff.content(builds.DIFF)),
    "access-coalescing": (
        "access-coalescing",
        lambda: coalescing.document(accesses.MISALIGNED),
        lambda: coalescing.content(accesses.MISALIGNED),
    ),
    "access-struct": (
        "access-coalescing",
        lambda: coalescing.document(accesses.MEMBERS, accesses.STRUCT),
        lambda: coalescing.content(accesses.MEMBERS, accesses.STRUCT),
    ),
    "access-banks": (
        "access-banks",
        lambda: banks.document(accesses.CONFLICTS, accesses.FIXES),
        lambda: banks.content(accesses.CONFLICTS, accesses.FIXES),
    ),
    "access-condition": (
        "access-divergence",
        lambda: divergence.document(accesses.CONDITION),
        lambda: divergence.content(accesses.CONDITION),
    ),
    "access-switch": (
        "access-divergence",
        lambda: divergence.document(accesses.SWITCH),
        lambda: divergence.content(accesses.SWITCH),
    ),
    "access-trips": (
        "access-divergence",
        lambda: divergence.document(accesses.TRIPS),
        lambda: divergence.content(accesses.TRIPS),
    ),
    "arch-list": (
        "arch-list",
        lambda: arch.listing([results.HOPPER, results.DEDICATED]),
        lambda: arch.listing_content([results.HOPPER, results.DEDICATED]),
    ),
    "arch": (
        "arch",
        lambda: arch.facts_document(results.HOPPER, with_sources=True),
        lambda: arch.capability_content(results.HOPPER),
    ),
    "arch-compare": (
        "arch-compare",
        lambda: arch.comparison([results.DEDICATED, results.HOPPER], everything=False),
        lambda: arch.comparison_content([results.DEDICATED, results.HOPPER], everything=False),
    ),
    "arch-check": (
        "arch-check",
        lambda: arch.audit_document(3, results.FINDINGS),
        lambda: arch.audit_content(3, results.FINDINGS),
    ),
    "gpu": (
        "gpu",
        lambda: gpu.document(results.TOY, results.HOPPER, with_sources=False),
        lambda: gpu.content(results.TOY, results.HOPPER),
    ),
    "gpu-list": (
        "gpu-list",
        lambda: gpu.listing([results.TOY, results.NO_GROUPS]),
        lambda: gpu.listing_content([results.TOY, results.NO_GROUPS]),
    ),
    "roofline": (
        "roofline",
        lambda: roofline.document(bounds.ONE, {}),
        lambda: roofline.content(bounds.ONE, {}),
    ),
    "roofline-many": (
        "roofline",
        lambda: roofline.document(bounds.MANY, bounds.LEFT_OUT),
        lambda: roofline.content(bounds.MANY, bounds.LEFT_OUT),
    ),
    "gemm": (
        "gemm",
        lambda: gemm.document(bounds.GEMM, {}),
        lambda: gemm_content.content(bounds.GEMM, {}),
    ),
    "gemm-many": (
        "gemm",
        lambda: gemm.document(bounds.GEMMS, bounds.LEFT_OUT),
        lambda: gemm_content.content(bounds.GEMMS, bounds.LEFT_OUT),
    ),
    "gemm-rank": (
        "gemm-rank",
        lambda: gemm_rank.document(bounds.RANKED, {}),
        lambda: gemm_rank.content(bounds.RANKED, {}),
    ),
    "doctor": (
        "doctor",
        lambda: doctor.document(results.CHECKS),
        lambda: doctor.content(results.CHECKS),
    ),
}
FORMATS = {
    "txt": text.render,
    "md": markdown.render,
    "csv": csv.render,
    "ansi": lambda document: terminal.render(document, width=80),
}


@pytest.fixture(autouse=True)
def _colours(monkeypatch):
    monkeypatch.setenv("TERM", "xterm-256color")
    for name in ("NO_COLOR", "COLORTERM", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("ending", FORMATS)
@pytest.mark.parametrize("name", VIEWS)
def test_layout(name, ending, golden):
    _, document, _ = VIEWS[name]
    golden(f"{name}.{ending}", FORMATS[ending](document()))


def test_findings(golden):
    """JUnit, SARIF, and what GitHub is told; the version of perfkit may change."""
    found = gate.findings(verdicts.MIXED, {"static": "3", "timing": "3"})
    golden("gate.junit.xml", junit.render(found))
    log = stdlib_json.loads(sarif.render(found, exit_code=1))
    log["runs"][0]["tool"]["driver"]["semanticVersion"] = "0.0.0"
    golden("gate.sarif", stdlib_json.dumps(log, indent=1) + "\n")
    golden("gate.github", "\n".join(github.workflow_commands(found)) + "\n")


@pytest.mark.parametrize("name", VIEWS)
def test_json(name, golden):
    topic, _, content = VIEWS[name]
    rendered = json.render(topic, content())
    golden(f"{name}.json", rendered)
    read = stdlib_json.loads(rendered)
    validate(topic, read)
    assert undescribed(topic, read) == []
