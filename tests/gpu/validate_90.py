"""Run the GPU tests on the card at hand and write a dated report: what was compared, what differs.

    python tests/gpu/validate_90.py OUTDIR

writes ``OUTDIR/h200-YYYY-MM-DD.json`` and ``.md`` (by the card's name) and the JUnit file they come
from. Exit code: that of the tests.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import platform
import subprocess
import sys
import xml.etree.ElementTree as ET
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
TESTS = (*("test_attributes.py", "test_driver_occupancy.py", "test_residency.py", "test_fits.py"),)
PACKAGES = (
    *("cuda-bindings", "cuda-core", "cuda-pathfinder", "cuda-python"),
    *("nvidia-cuda-nvrtc", "nvidia-cuda-nvrtc-cu12", "numpy", "pytest"),
)
#: read only; nothing here changes a setting
QUERIES = (
    *("name", "driver_version", "vbios_version", "ecc.mode.current", "mig.mode.current"),
    *("compute_mode", "persistence_mode", "temperature.gpu", "power.draw", "power.limit"),
    *("clocks.sm", "clocks.mem", "clocks.max.sm", "clocks.max.mem"),
    *("clocks_event_reasons.active", "clocks_throttle_reasons.active"),
)


INTRODUCTION = (
    "What perfkit predicts against what the card and its driver say. Written by "
    "`tests/gpu/validate_90.py`; the JSON file beside this has the device's attributes too."
)


def nvidia_smi() -> dict[str, str]:
    """What nvidia-smi says of the first card, field by field: one unknown field spoils a query."""
    found = {}
    for query in QUERIES:
        command = ["nvidia-smi", "-i", "0", f"--query-gpu={query}", "--format=csv,noheader"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=30)
        except (OSError, subprocess.TimeoutExpired) as error:
            return {"nvidia-smi": str(error)}
        if done.returncode == 0 and "not a valid field" not in done.stdout.lower():
            found[query] = done.stdout.strip()
    return found


def packages() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def card() -> dict[str, Any]:
    from perfkit import __version__
    from perfkit.access import require_nvrtc
    from perfkit.device.properties import present_target, read_device

    device = read_device()
    return {
        "device": device.name,
        "product": present_target().label,
        "compute_capability": str(device.compute_capability),
        "sm_count": device.sm_count,
        "memory_bytes": device.memory_bytes,
        "driver_cuda": "{}.{}".format(*device.cuda_version),
        "nvrtc": "{}.{}".format(*require_nvrtc()),
        "perfkit": __version__,
        "attributes": dict(device.attributes),
    }


def run_tests(junit: Path) -> int:
    command = [sys.executable, "-m", "pytest", "-m", "gpu", "-q", "--durations=5"]
    command += ["-p", "no:cacheprovider", "-W", "default", "-o", "junit_family=xunit1"]
    command.append(f"--junitxml={junit}")
    command += [str(Path(__file__).with_name(name)) for name in TESTS]
    # plugins of the environment are none of the test's business
    environment = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    environment["PYTHONPATH"] = os.pathsep.join(
        [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    )
    return subprocess.run(command, check=False, cwd=ROOT, env=environment).returncode


def results(junit: Path) -> list[dict[str, Any]]:
    """One entry per test: outcome, seconds, figures, and what the failure says."""
    found = []
    for case in ET.parse(junit).getroot().iter("testcase"):
        bad = [child for child in case if child.tag in {"failure", "error", "skipped"}]
        found.append(
            {
                "test": case.get("name"),
                "outcome": bad[0].tag if bad else "passed",
                "seconds": float(case.get("time") or 0),
                "figures": {p.get("name"): p.get("value") for p in case.iter("property")},
                "message": (bad[0].get("message") or "")[:4000] if bad else None,
            }
        )
    return found


def markdown(report: dict[str, Any]) -> str:
    about, tests = report["card"], report["tests"]
    driver = report["nvidia_smi_before"].get("driver_version", "unknown")
    passed = sum(test["outcome"] == "passed" for test in tests)
    lines = [f"# {about['device']}, {report['date']}", "", INTRODUCTION, ""]
    lines += [
        f"* {what}: {value}"
        for what, value in (
            ("Card", f"{about['device']}, {about['compute_capability']}, {about['sm_count']} SMs"),
            ("In the database", about["product"]),
            ("Driver", f"{driver}, speaks CUDA {about['driver_cuda']}"),
            ("Compiler", f"NVRTC {about['nvrtc']}"),
            ("perfkit", about["perfkit"]),
            ("Packages", ", ".join(" ".join(pair) for pair in report["packages"].items())),
            ("Before", state(report["nvidia_smi_before"])),
            ("After", state(report["nvidia_smi_after"])),
            ("Outcome", f"{passed} of {len(tests)} tests passed"),
        )
    ]
    for test in tests:
        lines += ["", f"## {test['test']}: {test['outcome']}, {test['seconds']:.1f} s", ""]
        lines += [f"* {name}: {value}" for name, value in test["figures"].items()]
        if test["message"]:
            lines += ["", "```", test["message"], "```"]
    return "\n".join(lines) + "\n"


def state(smi: dict[str, str]) -> str:
    names = ("clocks.sm", "clocks.mem", "temperature.gpu", "power.draw")
    reasons = ("clocks_event_reasons.active", "clocks_throttle_reasons.active")
    reason = next((name for name in reasons if name in smi), reasons[0])
    return ", ".join(f"{name} {smi.get(name, 'unknown')}" for name in (*names, reason))


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("outdir", type=Path)
    outdir = parser.parse_args(arguments).outdir
    outdir.mkdir(parents=True, exist_ok=True)
    sys.path.insert(0, str(ROOT))
    from perfkit.errors import PerfkitError

    try:
        about = card()
    except PerfkitError as error:
        print(f"validate: {error}", file=sys.stderr)
        return error.exit_code
    date = datetime.now(UTC).date().isoformat()
    before = nvidia_smi()
    junit = outdir / "junit.xml"
    code = run_tests(junit)
    report = {
        "date": date,
        "card": about,
        "packages": packages(),
        "nvidia_smi_before": before,
        "nvidia_smi_after": nvidia_smi(),
        "exit_code": code,
        "tests": results(junit) if junit.is_file() else [],
    }
    stem = outdir / f"{about['product'].split('-')[0].split(' ')[0]}-{date}"
    stem.with_name(stem.name + ".json").write_text(json.dumps(report, indent=1) + "\n", "utf-8")
    stem.with_name(stem.name + ".md").write_text(markdown(report), "utf-8")
    print(f"validate: wrote {stem.name}.json and .md to {outdir}")
    return code


if __name__ == "__main__":
    raise SystemExit(main())
