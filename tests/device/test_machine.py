"""What bounds on a card are made of, whether the database knows it or not."""

from __future__ import annotations

import pytest

from perfkit.device.machine import ceilings_of, machine_of
from perfkit.device.properties import read_device
from perfkit.errors import UnknownTarget, UsageError
from perfkit.models.roofs import Ceilings
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


def measured(uuid, dram, gpu="h200-sxm"):
    return Ceilings(
        gpu=gpu, compute={}, memory={"dram": dram}, clock_hz=None, origin="c.json", uuid=uuid
    )


def test_a_card_is_bounded_by_its_own_ceilings():
    card = device()
    other = measured("GPU-of-another", 5e12)
    assert ceilings_of(card, [other, measured(card.uuid, 4e12)]).memory == {"dram": 4e12}


def test_one_that_is_not_in_the_file_by_the_best_of_its_product():
    known = [measured("x", 4e12), measured("y", 5e12), measured("z", 6e12, gpu="a100-sxm4-80gb")]
    assert ceilings_of(device(), known).memory == {"dram": 5e12}
    assert ceilings_of(device(), ()) is None


def test_a_file_without_its_product_is_refused():
    found = ceilings_of(device(), [measured("z", 6e12, gpu="a100-sxm4-80gb")])
    with pytest.raises(UsageError, match="ceilings of a100-sxm4-80gb, this is h200-sxm"):
        machine_of(device(), found)
