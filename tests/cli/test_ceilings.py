"""``perfkit ceilings``, on a machine without a card and with measurements put in its place."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from perfkit.device import ceilings as device
from perfkit.device.experiments.groups import GROUPS
from perfkit.errors import NoDevice
from tests.report.measured import CEILINGS


@pytest.fixture
def measured(monkeypatch):
    asked = []

    def use(report):
        def measure(index, **options):
            asked.append((index, options))
            for one in report.ceilings:
                options["on_ceiling"](one.ceiling)
            return report

        monkeypatch.setattr(device, "measure_ceilings", measure)
        return asked

    return use


def test_figures_and_what_is_missing(perfkit, measured):
    asked = measured(CEILINGS)
    result = perfkit(["ceilings", "--device", "1", "--only", "dram, tensor", "--quick"])
    assert result.code == 5  # a group failed, the others are there
    assert "4500 GB/s" in result.out
    assert "transfer is not measured: it ran longer than 9 s" in result.err
    (index, options) = asked[0]
    assert index == 1
    assert options["groups"] == ["dram", "tensor"]
    assert options["quick"] is True


def test_a_whole_measurement_is_fine(perfkit, measured):
    measured(replace(CEILINGS, unmeasured=()))
    assert perfkit(["ceilings", "--format", "json"]).code == 0


def test_the_file_goes_into_roofline(perfkit, measured, tmp_path):
    measured(replace(CEILINGS, unmeasured=()))
    path = tmp_path / "own.json"
    assert perfkit(["ceilings", "--format", "json", "-o", str(path)]).code == 0
    bound = ("roofline", "-g", "h200-sxm", "--dtype", "bf16", "--flops", "1e15", "--bytes", "1")
    found = json.loads(perfkit([*bound, "--ceilings", str(path), "-f", "json"]).out)
    (result,) = found["results"]
    assert result["time_s"] == pytest.approx(1e15 / 8.6e14)


def test_interrupted_keeps_what_is_there(perfkit, measured):
    cut = replace(CEILINGS.unmeasured[0], message="interrupted", hint=None)
    measured(replace(CEILINGS, unmeasured=(cut,)))
    result = perfkit(["ceilings"])
    assert result.code == 130
    assert "4500 GB/s" in result.out


def test_nothing_measured_is_no_empty_file(perfkit, measured, tmp_path):
    measured(replace(CEILINGS, ceilings=()))
    path = tmp_path / "own.json"
    result = perfkit(["ceilings", "-o", str(path)])
    assert result.code == 5
    assert "it ran longer than 9 s" in result.err
    assert not path.exists()


def test_no_card(perfkit, monkeypatch):
    def none(index):
        raise NoDevice("the NVIDIA driver finds no device")

    monkeypatch.setattr(device, "read_device", none)
    result = perfkit(["ceilings"])
    assert result.code == 4
    assert "no device" in result.err


def test_an_unknown_group(perfkit):
    result = perfkit(["ceilings", "--only", "dram,foo"])
    assert result.code == 2
    assert "one of: dram, l2" in result.err


def test_the_help_names_every_group(perfkit):
    # written out there: the experiments would have to be loaded for a line of help
    assert f"Of {', '.join(GROUPS)}." in " ".join(perfkit(["ceilings", "--help"]).out.split())
