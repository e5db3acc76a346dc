"""Drivers that need no GPU."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

DATA = Path(__file__).resolve().parents[1] / "data" / "h200" / "h200_device_attributes.json"
PREFIX = "CU_DEVICE_ATTRIBUTE_"


def h200_attributes() -> dict[str, int]:
    """What one H200's driver said, under the names without their prefix."""
    return {k.removeprefix(PREFIX): v for k, v in json.loads(DATA.read_text()).items()}


@dataclass
class FakeDriver:
    """An H200, unless told otherwise."""

    named: str = "NVIDIA H200"
    memory: int = 143_771 * 1024**2
    values: dict[str, int] = field(default_factory=h200_attributes)
    devices: int = 1

    def count(self) -> int:
        return self.devices

    def cuda_version(self) -> tuple[int, int]:
        return 13, 0

    def name(self, index: int) -> str:
        return self.named

    def uuid(self, index: int) -> str:
        return f"GPU-{index:08x}-0000-0000-0000-000000000000"

    def memory_bytes(self, index: int) -> int:
        return self.memory

    def attributes(self, index: int) -> dict[str, int]:
        return dict(self.values)

    @classmethod
    def of(cls, name: str, gpu, *, sm_count: int | None = None) -> FakeDriver:
        """A card with that name, otherwise as the database has the product."""
        cc = gpu.compute_capability
        changed = {
            "COMPUTE_CAPABILITY_MAJOR": cc.major,
            "COMPUTE_CAPABILITY_MINOR": cc.minor,
            "MULTIPROCESSOR_COUNT": sm_count or gpu.sm_count,
            "CLOCK_RATE": (gpu.boost_clock_hz or 0) // 1000,
        }
        memory = int(gpu.memory.size_gib * 0.97 * 1024**3)
        return cls(named=name, memory=memory, values=h200_attributes() | changed)
