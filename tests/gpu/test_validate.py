"""What ``perfkit validate --quick`` compares, on the card of this machine."""

from __future__ import annotations

import pytest

from perfkit.analysis.validation import QUESTIONS, Status
from perfkit.device.properties import present_target, read_device
from perfkit.device.validate import validate

pytestmark = pytest.mark.gpu


def test_the_card_is_known(figure):
    device, target = read_device(), present_target()
    figure("card", f"{device.name}, {device.compute_capability}: {target.label}")
    assert target.gpu is not None, f"add {device.name!r} to archdb/gpu"


@pytest.mark.parametrize("name", [question.name for question in QUESTIONS])
def test_predictions(name, figure):
    report = validate([read_device()], only=[name], quick=True)
    (check,) = report.checks
    figure("compared", check.compared)
    figure("differ", check.differing)
    for what, value in check.figures.items():
        figure(what, value)
    if check.status is Status.SKIPPED:
        pytest.skip(f"{name}: {check.reason}")
    assert check.differences == (), f"--seed {report.seed}"
    assert check.status is Status.PASS, check.reason
