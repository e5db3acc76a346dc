"""What bounds on a card are made of, whether the database knows it or not."""

from __future__ import annotations

import pytest

from perfkit.device.machine import machine_of
from perfkit.device.properties import read_device
from perfkit.errors import UnknownTarget
from tests.device.fakes import FakeDriver, h200_attributes


def device(name="NVIDIA H200", **changed):
    return read_device(0, FakeDriver(named=name, values=h200_attributes() | changed))


def test_a_product():
    found = machine_of(device())
    assert (found.gpu.key, found.missing, found.l2_bytes) == ("h200-sxm", (), 60 * 2**20)


def test_an_unknown_card_is_what_its_driver_tells():
    found = machine_of(device("NVIDIA H9999", MULTIPROCESSOR_COUNT=100, CLOCK_RATE=1_500_000))
    assert found.gpu.sm_count == 100
    assert found.gpu.boost_clock_hz == 1.5e9
    # two transfers a clock of 3201 MHz, 6016 bits wide
    assert found.gpu.memory.bandwidth_bytes_per_s == 2 * 3201e6 * 6016 / 8
    assert len(found.missing) == 2
    assert found.gpu.published == ()


def test_a_driver_that_tells_little():
    found = machine_of(device("NVIDIA H9999", MEMORY_CLOCK_RATE=0, CLOCK_RATE=0))
    assert found.gpu.memory.bandwidth_bytes_per_s is None
    assert len(found.missing) == 4


def test_an_unknown_capability():
    with pytest.raises(UnknownTarget, match=r"99\.0"):
        machine_of(device(COMPUTE_CAPABILITY_MAJOR=99))
