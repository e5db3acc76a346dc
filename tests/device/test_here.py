"""This machine as baselines name it; GPUs that are not there are made up."""

from __future__ import annotations

import pytest

from perfkit import __version__
from perfkit.device import here as module
from perfkit.device.here import here
from perfkit.device.nvml import CardSetup
from perfkit.device.properties import read_devices
from perfkit.errors import NoDevice
from tests.device.fakes import FakeDriver


class Monitor:
    """NVML's view of a made-up card."""

    missing = None

    def __init__(self, uuid):
        self.uuid = uuid

    def setup(self):
        return CardSetup(driver_version="580.159.04", max_sm_clock_hz=1.98e9)


@pytest.fixture
def cards(monkeypatch):
    def there(count):
        driver = FakeDriver(devices=count)
        monkeypatch.setattr(module, "read_devices", lambda: read_devices(driver))
        monkeypatch.setattr(module, "Monitor", Monitor)

    return there


@pytest.mark.parametrize("count", [1, 2])
def test_what_is_the_same_of_all_cards_is_said_once(cards, count):
    cards(count)
    found = here()
    assert found.environment["gpu"] == "NVIDIA H200"
    assert found.environment["compute_capability"] == "9.0"
    assert found.environment["driver"] == "580.159.04"
    assert found.about["sm_clock_mhz"] == "1980"
    assert len(found.monitors) == count


def test_without_a_gpu_there_is_no_environment(monkeypatch):
    def nothing():
        raise NoDevice("no CUDA device")

    monkeypatch.setattr(module, "read_devices", nothing)
    found = here()
    assert found.environment == {}
    assert found.monitors == ()
    assert "no CUDA device" in found.notes[0]
    assert found.about["perfkit"] == __version__
    assert {"date", "host", "archdb"} <= set(found.about)
