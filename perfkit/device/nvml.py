"""What NVML says of a card while it works: clocks, what holds them down, who else is there.

Read only: no setting is ever changed. Through ``nvidia-ml-py``; without it, or where the driver
does not tell, the values are None and ``Monitor.missing`` says why.
"""

from __future__ import annotations

import os
from typing import Any, Final

from perfkit.record import record

POWER_CAP: Final = "power cap set by software"  #: the limit of the card, or a lower one

#: bits of NVML's clock event reasons (nvml.h, ``nvmlClocksEventReason…``) -> what to call them; the
#: other bits are no trouble: idle, a limit that someone chose, sync boost, display clocks
THROTTLES: Final = {
    0x4: POWER_CAP,
    0x8: "hardware slowdown",
    0x20: "thermal slowdown by software",
    0x40: "thermal slowdown by hardware",
    0x80: "power brake",
}


@record
class CardState:
    """One reading. Clocks in hertz, power in watts; None: the driver does not tell."""

    sm_clock_hz: float | None = None
    memory_clock_hz: float | None = None
    temperature_c: float | None = None
    power_w: float | None = None
    throttles: tuple[str, ...] = ()  #: what holds the clocks down right now


@record
class Neighbour:
    """Another process on the card."""

    pid: int
    memory_bytes: int | None


@record
class CardSetup:
    """What does not change while a measurement runs."""

    driver_version: str | None = None
    mig: bool | None = None
    ecc: bool | None = None
    max_sm_clock_hz: float | None = None
    neighbours: tuple[Neighbour, ...] = ()


class Monitor:
    """NVML's view of one card, found by the UUID that CUDA gives it."""

    def __init__(self, uuid: str) -> None:
        self.missing: str | None = None  #: why nothing can be read
        self._nvml: Any = None
        self._handle: Any = None
        try:
            import pynvml
        except ModuleNotFoundError:
            self.missing = "nvidia-ml-py is not installed: no clocks, no throttle reasons"
            return
        try:
            pynvml.nvmlInit()
            self._handle = pynvml.nvmlDeviceGetHandleByUUID(uuid.encode())
        except pynvml.NVMLError as error:
            self.missing = f"NVML does not answer for {uuid}: {error}"
            return
        self._nvml = pynvml

    def state(self) -> CardState:
        """A reading; costs well under a millisecond."""
        if self._nvml is None:
            return CardState()
        nvml = self._nvml
        reasons = self._ask("nvmlDeviceGetCurrentClocksEventReasons") or self._ask(
            "nvmlDeviceGetCurrentClocksThrottleReasons"
        )
        return CardState(
            sm_clock_hz=_scaled(self._ask("nvmlDeviceGetClockInfo", nvml.NVML_CLOCK_SM), 1e6),
            memory_clock_hz=_scaled(self._ask("nvmlDeviceGetClockInfo", nvml.NVML_CLOCK_MEM), 1e6),
            temperature_c=_scaled(
                self._ask("nvmlDeviceGetTemperature", nvml.NVML_TEMPERATURE_GPU), 1
            ),
            power_w=_scaled(self._ask("nvmlDeviceGetPowerUsage"), 1e-3),
            throttles=tuple(text for bit, text in THROTTLES.items() if (reasons or 0) & bit),
        )

    def setup(self) -> CardSetup:
        """Driver, modes and who else is on the card."""
        if self._nvml is None:
            return CardSetup()
        nvml = self._nvml
        mig = self._ask("nvmlDeviceGetMigMode")
        ecc = self._ask("nvmlDeviceGetEccMode")
        found = self._ask("nvmlDeviceGetComputeRunningProcesses") or []
        return CardSetup(
            driver_version=str(nvml.nvmlSystemGetDriverVersion()),
            mig=bool(mig[0]) if mig else None,
            ecc=bool(ecc[0]) if ecc else None,
            max_sm_clock_hz=_scaled(
                self._ask("nvmlDeviceGetMaxClockInfo", nvml.NVML_CLOCK_SM), 1e6
            ),
            neighbours=tuple(
                Neighbour(pid=process.pid, memory_bytes=process.usedGpuMemory)
                for process in found
                if process.pid not in {os.getpid(), os.getppid()}
            ),
        )

    def memory_of(self, pid: int) -> int | None:
        """Bytes of the card's memory that process ``pid`` holds."""
        if self._nvml is None:
            return None
        for process in self._ask("nvmlDeviceGetComputeRunningProcesses") or []:
            if process.pid == pid:
                return int(process.usedGpuMemory or 0)
        return None

    def _ask(self, what: str, *arguments: Any) -> Any:
        """A reading, or None: cards and drivers each lack some."""
        nvml = self._nvml
        try:
            return getattr(nvml, what)(self._handle, *arguments)
        except (nvml.NVMLError, AttributeError):
            return None


def _scaled(value: float | None, factor: float) -> float | None:
    return None if value is None else float(value) * factor
