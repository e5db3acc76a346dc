"""The card at hand, read from drivers that need no GPU."""

from __future__ import annotations

import enum
import types

import pytest

from perfkit.arch import catalog
from perfkit.arch.facts import facts
from perfkit.device import properties
from perfkit.device.differences import Verdict, compare
from perfkit.device.properties import (
    _CudaDriver,
    present_target,
    read_device,
    read_devices,
    target_of,
)
from perfkit.errors import DeviceError, NoDevice, Unavailable, UnknownTarget
from tests.device.fakes import FakeDriver, h200_attributes

#: names as drivers print them (nvidia-smi -L, deviceQuery) -> product
DRIVER_NAMES = {
    "NVIDIA H200": "h200-sxm",
    "NVIDIA H200 NVL": "h200-nvl",
    "NVIDIA H100 80GB HBM3": "h100-sxm5",
    "NVIDIA H100 PCIe": "h100-pcie",
    "NVIDIA H100 NVL": "h100-nvl",
    "NVIDIA H800": "h800-sxm5",
    "NVIDIA H20": "h20",
    "NVIDIA GH200 480GB": "gh200",
    "NVIDIA B200": "b200",
    "NVIDIA GB200": "gb200",
    "NVIDIA B300 SXM6 AC": "b300",
    "NVIDIA GB300": "gb300",
    "NVIDIA GB10": "gb10",
    "NVIDIA A100-SXM4-40GB": "a100-sxm4-40gb",
    "NVIDIA A100-SXM4-80GB": "a100-sxm4-80gb",
    "A100-SXM4-40GB": "a100-sxm4-40gb",
    "NVIDIA A100-PCIE-40GB": "a100-pcie-40gb",
    "NVIDIA A100 80GB PCIe": "a100-pcie-80gb",
    "NVIDIA A800-SXM4-80GB": "a800-sxm4-80gb",
    "NVIDIA A800 80GB PCIe": "a800-pcie-80gb",
    "NVIDIA A30": "a30",
    "NVIDIA A10": "a10",
    "NVIDIA A10G": "a10g",
    "NVIDIA A40": "a40",
    "NVIDIA A2": "a2",
    "NVIDIA L4": "l4",
    "NVIDIA L40": "l40",
    "NVIDIA L40S": "l40s",
    "Tesla T4": "t4",
    "Tesla V100-SXM2-16GB": "v100-sxm2-16gb",
    "Tesla V100-SXM2-32GB": "v100-sxm2-32gb",
    "Tesla V100-PCIE-16GB": "v100-pcie-16gb",
    "Tesla V100-PCIE-32GB": "v100-pcie-32gb",
    "Tesla V100S-PCIE-32GB": "v100s",
    "Tesla P100-SXM2-16GB": "tesla-p100-sxm2",
    "Tesla P100-PCIE-16GB": "tesla-p100-pcie",
    "Tesla P40": "tesla-p40",
    "Tesla P4": "tesla-p4",
    "Tesla M60": "tesla-m60",
    "NVIDIA TITAN V": "titan-v",
    "TITAN RTX": "titan-rtx",
    "NVIDIA TITAN Xp": "titan-xp",
    "Quadro RTX 8000": "quadro-rtx-8000",
    "NVIDIA RTX A6000": "rtx-a6000",
    "NVIDIA RTX A2000 12GB": "rtx-a2000-12gb",
    "NVIDIA RTX 6000 Ada Generation": "rtx-6000-ada",
    "NVIDIA RTX 4000 SFF Ada Generation": "rtx-4000-sff-ada",
    "NVIDIA RTX PRO 6000 Blackwell Workstation Edition": "rtx-pro-6000-blackwell-workstation",
    "NVIDIA RTX PRO 6000 Blackwell Server Edition": "rtx-pro-6000-blackwell-server",
    "NVIDIA GeForce GTX 1060 6GB": "gtx-1060-6gb",
    "NVIDIA GeForce GTX 1080 Ti": "gtx-1080-ti",
    "GeForce GTX 1080": "gtx-1080",
    "NVIDIA GeForce GTX 1660 SUPER": "gtx-1660-super",
    "NVIDIA GeForce GTX TITAN X": "titan-x-maxwell",
    "NVIDIA GeForce RTX 2080 Ti": "rtx-2080-ti",
    "NVIDIA GeForce RTX 3060": "rtx-3060",
    "NVIDIA GeForce RTX 3090": "rtx-3090",
    "NVIDIA GeForce RTX 4060 Ti": "rtx-4060-ti",
    "NVIDIA GeForce RTX 4090": "rtx-4090",
    "NVIDIA GeForce RTX 4090 D": "rtx-4090-d",
    "NVIDIA GeForce RTX 5060 Ti": "rtx-5060-ti",
    "NVIDIA GeForce RTX 5090": "rtx-5090",
    "Orin": "jetson-agx-orin-64gb",
    "Xavier": "jetson-agx-xavier",
    "NVIDIA Thor": "jetson-thor-t5000",
    "NVIDIA Tegra X1": "jetson-nano",
    "NVIDIA Tegra X2": "jetson-tx2",
}


def test_an_h200_is_read_in_si_units():
    device = read_device(0, FakeDriver())
    assert device.name == "NVIDIA H200"
    assert str(device.compute_capability) == "9.0"
    assert device.sm_count == 132
    assert device.boost_clock_hz == 1_980_000_000  # the driver says 1980000 kHz
    assert device.memory_clock_hz == 3_201_000_000
    assert device.l2_bytes == 60 * 1024**2
    assert device.registers_per_sm == device.max_registers_per_block == 65_536
    assert device.shared_bytes_per_sm == 228 * 1024
    assert device.max_shared_optin_bytes_per_block == 227 * 1024
    assert device.reserved_shared_bytes_per_block == 1024
    assert device.max_warps_per_sm == 64
    assert device.attributes["MEMORY_CLOCK_RATE"] == 3_201_000
    assert device.cuda_version == (13, 0)


def test_a_driver_may_not_know_the_newer_attributes():
    old = h200_attributes()
    for name in ("MAX_BLOCKS_PER_MULTIPROCESSOR", "RESERVED_SHARED_MEMORY_PER_BLOCK"):
        del old[name]
    old["CLOCK_RATE"] = 0  # what some drivers say instead of nothing
    device = read_device(0, FakeDriver(values=old))
    assert device.max_blocks_per_sm is None
    assert device.reserved_shared_bytes_per_block is None
    assert device.boost_clock_hz is None
    verdicts = {row.fact: row.verdict for row in compare(device, target_of(device))}
    assert verdicts["limits.max_blocks_per_sm"] is Verdict.NOT_COMPARED
    assert verdicts["boost_clock_hz"] is Verdict.NOT_COMPARED


def test_a_driver_must_know_the_old_ones():
    values = h200_attributes()
    del values["WARP_SIZE"]
    with pytest.raises(DeviceError, match=r"device 0.*WARP_SIZE"):
        read_device(0, FakeDriver(values=values))


@pytest.mark.parametrize("index", [-1, 1, 99])
def test_no_such_device(index):
    with pytest.raises(NoDevice, match="offers 1"):
        read_device(index, FakeDriver())


def test_every_device_is_read():
    assert [device.index for device in read_devices(FakeDriver(devices=3))] == [0, 1, 2]


def test_without_cuda_the_reason_is_told(monkeypatch):
    def refuse():
        raise NoDevice("the NVIDIA driver finds no device", hint="none here")

    monkeypatch.setattr(properties, "require_cuda", refuse)
    for ask in (read_device, present_target, read_devices):
        with pytest.raises(Unavailable, match="finds no device"):
            ask()


# --- the product --------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "key"), DRIVER_NAMES.items())
def test_driver_names_lead_to_products(name, key):
    target = present_target(0, FakeDriver.of(name, catalog.gpu(key)))
    assert (target.label, target.gpu and target.gpu.key) == (key, key)
    assert target.capability.compute_capability == catalog.gpu(key).compute_capability


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("NVIDIA GeForce RTX 4060 Ti", "rtx-4060-ti-16gb"),
        ("NVIDIA GeForce RTX 5060 Ti", "rtx-5060-ti-8gb"),
        ("NVIDIA RTX A2000 12GB", "rtx-a2000-12gb"),
        ("Orin", "jetson-agx-orin-32gb"),
        ("Orin", "jetson-orin-nx-16gb"),
        ("Orin", "jetson-orin-nano-8gb"),
        ("Orin", "jetson-orin-nano-super"),
        ("Xavier", "jetson-xavier-nx"),
        ("NVIDIA Tegra X1", "jetson-tx1"),
    ],
)
def test_one_name_for_several_products(name, key):
    """The driver's name leads elsewhere; SMs, memory and clock tell them apart."""
    assert present_target(0, FakeDriver.of(name, catalog.gpu(key))).label == key


def test_an_unknown_product_is_its_capability():
    target = present_target(0, FakeDriver(named="NVIDIA H300 Future"))
    assert target.gpu is None
    assert target.label == "9.0 (NVIDIA H300 Future)"
    assert str(target.capability.compute_capability) == "9.0"


def test_a_slice_of_a_card_is_not_that_card():
    h100 = catalog.gpu("h100")
    mig = FakeDriver.of("NVIDIA H100 80GB HBM3", h100, sm_count=16)
    assert present_target(0, mig).gpu is None
    renamed = FakeDriver.of("NVIDIA H100 80GB HBM3 MIG 1g.10gb", h100, sm_count=16)
    assert present_target(0, renamed).gpu is None


def test_a_name_of_another_capability_is_not_believed():
    odd = FakeDriver(named="NVIDIA GeForce RTX 4090")  # with the attributes of an H200
    assert present_target(0, odd).gpu is None


def test_a_capability_the_database_lacks():
    values = h200_attributes() | {"COMPUTE_CAPABILITY_MAJOR": 13, "COMPUTE_CAPABILITY_MINOR": 7}
    with pytest.raises(UnknownTarget, match=r"13\.7.*NVIDIA R100") as caught:
        present_target(0, FakeDriver(named="NVIDIA R100", values=values))
    assert "PERFKIT_ARCHDB" in caught.value.hint


# --- against the database -----------------------------------------------------------------------


def test_the_h200_of_the_data_agrees_with_the_database():
    device = read_device(0, FakeDriver())
    rows = compare(device, target_of(device))
    assert [row for row in rows if row.verdict is Verdict.DIFFERS] == []
    assert sum(row.verdict is Verdict.AGREES for row in rows) >= 20


def test_every_fact_has_one_row():
    device = read_device(0, FakeDriver())
    target = target_of(device)
    found = [row.fact for row in compare(device, target)]
    assert set(found) >= set(facts(target.capability)) | set(facts(target.gpu))
    assert len(found) == len(set(found))
    bare = catalog.targets("9.0")[0]
    assert set(facts(target.gpu)) - set(facts(bare.capability)) <= set(found) - {
        row.fact for row in compare(device, bare)
    }
    assert all(row.note for row in compare(device, target) if row.verdict is Verdict.NOT_COMPARED)


@pytest.mark.parametrize(
    ("attribute", "value", "fact"),
    [
        ("MAX_BLOCKS_PER_MULTIPROCESSOR", 24, "limits.max_blocks_per_sm"),
        ("MAX_THREADS_PER_MULTIPROCESSOR", 1536, "limits.max_warps_per_sm"),
        ("MAX_SHARED_MEMORY_PER_MULTIPROCESSOR", 102400, "shared_memory.per_sm_bytes"),
        ("RESERVED_SHARED_MEMORY_PER_BLOCK", 0, "shared_memory.reserved_per_block_bytes"),
        ("MAX_BLOCK_DIM_Z", 65, "limits.max_block_dim"),
        ("CLOCK_RATE", 1_830_000, "boost_clock_hz"),
        ("L2_CACHE_SIZE", 50 * 1024**2, "memory.l2_bytes"),
        ("GLOBAL_MEMORY_BUS_WIDTH", 5120, "memory.bandwidth_bytes_per_s"),
        ("CLUSTER_LAUNCH", 0, "cluster"),
        ("SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO", 64, "throughput.f32 / throughput.f64"),
    ],
)
def test_a_difference_is_seen(attribute, value, fact):
    target = target_of(read_device(0, FakeDriver()))
    device = read_device(0, FakeDriver(values=h200_attributes() | {attribute: value}))
    differing = {row.fact for row in compare(device, target) if row.verdict is Verdict.DIFFERS}
    assert fact in differing


# --- the real driver's calls, through bindings made up here -------------------------------------


class Result(enum.IntEnum):
    CUDA_SUCCESS = 0
    CUDA_ERROR_INVALID_VALUE = 1
    CUDA_ERROR_UNKNOWN = 999


class Attribute(enum.IntEnum):
    CU_DEVICE_ATTRIBUTE_WARP_SIZE = 10
    CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK = 8
    CU_DEVICE_ATTRIBUTE_SHARED_MEMORY_PER_BLOCK = 8  # its old name
    CU_DEVICE_ATTRIBUTE_FROM_THE_FUTURE = 999


def bindings(**changed):
    known = {10: 32, 8: 49_152}
    calls = {
        "CUdevice_attribute": Attribute,
        "cuDeviceGet": lambda index: (Result.CUDA_SUCCESS, index),
        "cuDriverGetVersion": lambda: (Result.CUDA_SUCCESS, 12_090),
        "cuDeviceGetName": lambda size, _: (Result.CUDA_SUCCESS, b"Tesla T4".ljust(size, b"\0")),
        "cuDeviceGetUuid": lambda _: (
            Result.CUDA_SUCCESS,
            types.SimpleNamespace(bytes=bytes(range(16))),
        ),
        "cuDeviceTotalMem": lambda _: (Result.CUDA_SUCCESS, 15 * 1024**3),
        "cuDeviceGetAttribute": lambda which, _: (
            (Result.CUDA_SUCCESS, known[which])
            if which in known
            else (Result.CUDA_ERROR_INVALID_VALUE, 0)
        ),
    }
    return types.SimpleNamespace(**calls | changed)


def test_what_the_bindings_return_is_unwrapped():
    driver = _CudaDriver(bindings(), 1)
    assert driver.name(0) == "Tesla T4"
    assert driver.uuid(0) == "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f"
    assert driver.cuda_version() == (12, 9)
    assert driver.memory_bytes(0) == 15 * 1024**3
    assert driver.attributes(0) == {
        "WARP_SIZE": 32,
        "MAX_SHARED_MEMORY_PER_BLOCK": 49_152,
        "SHARED_MEMORY_PER_BLOCK": 49_152,
    }


def test_a_failing_call_names_itself():
    driver = _CudaDriver(bindings(cuDeviceTotalMem=lambda _: (Result.CUDA_ERROR_UNKNOWN, 0)), 1)
    with pytest.raises(DeviceError, match="cuDeviceTotalMem fails: CUDA_ERROR_UNKNOWN"):
        driver.memory_bytes(0)
