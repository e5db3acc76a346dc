"""``perfkit ceilings``, on a machine without a card and with measurements put in its place."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from perfkit.device import ceilings as device
from perfkit.device import items
from perfkit.device.experiments.groups import GROUPS
from perfkit.device.properties import read_devices
from perfkit.errors import NoDevice
from tests.device.fakes import FakeDriver
from tests.report.measured import CEILINGS, CEILINGS_OF_TWO
from tests.report.schemas import undescribed, validate


@pytest.fixture
def measured(monkeypatch):
    asked = []

    def use(*reports):
        def measure(devices, **options):
            asked.append(([one.index for one in devices], options))
            for report in reports:
                for one in report.ceilings:
                    options["on_ceiling"](report.environment.index, one.ceiling)
            return reports

        monkeypatch.setattr(device, "measure_ceilings", measure)
        monkeypatch.setattr(items, "read_devices", lambda: read_devices(FakeDriver(devices=2)))
        return asked

    return use


def test_figures_and_what_is_missing(perfkit, measured):
    asked = measured(CEILINGS)
    result = perfkit(["ceilings", "--device", "1", "--only", "dram, tensor", "--quick"])
    assert result.code == 5  # a group failed, the others are there
    assert "4500 GB/s" in result.out
    assert "transfer is not measured: it ran longer than 9 s" in result.err
    (indices, options) = asked[0]
    assert indices == [1]
    assert options["groups"] == ("dram", "tensor")
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


def test_several_cards_stand_beside_each_other(perfkit, measured):
    asked = measured(*CEILINGS_OF_TWO)
    done = perfkit("ceilings --device all")
    assert asked[0][0] == [0, 1]
    assert done.code == 5  # one group of one card
    assert done.out.startswith("2 x NVIDIA Golden (h200-sxm), driver")
    assert "device 1: transfer is not measured: it ran longer than 9 s" in done.err
    row = next(line for line in done.out.splitlines() if line.startswith("dram "))
    assert row.split() == [
        "dram", "read", "4800", "GB/s", "4500", "GB/s", "4275", "GB/s", "5.3%", "device", "1",
    ]  # fmt: skip


def test_the_file_of_several_cards_goes_wherever_that_of_one_does(perfkit, measured, tmp_path):
    measured(*CEILINGS_OF_TWO)
    path = tmp_path / "ours.json"
    perfkit(["ceilings", "--device", "0,1", "--format", "json", "-o", str(path)])
    document = json.loads(path.read_text("utf-8"))
    validate("ceilings", document)
    assert undescribed("ceilings", document) == []
    assert [card["environment"]["index"] for card in document["cards"]] == [0, 1]
    bound = ("roofline", "-g", "h200-sxm", "--dtype", "f32", "--flops", "1", "--bytes", "4.5e12")
    found = json.loads(perfkit([*bound, "--ceilings", str(path), "-f", "json"]).out)
    # that of the better card: a bound must not be beaten
    assert found["results"][0]["time_s"] == pytest.approx(1)
    table = perfkit([*bound, "--ceilings", str(path)]).out
    assert "ours.json, the best of 2 cards\n" in table


def test_interrupted_before_there_is_anything(perfkit, measured):
    cut = replace(CEILINGS.unmeasured[0], message="interrupted", hint=None)
    measured(replace(CEILINGS, ceilings=(), unmeasured=(cut,)))
    assert perfkit(["ceilings"]).code == 130


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
    def none():
        raise NoDevice("the NVIDIA driver finds no device")

    monkeypatch.setattr(items, "read_devices", none)
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
