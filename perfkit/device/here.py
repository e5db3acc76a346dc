"""This machine, as baselines and histories name it: GPU, driver, toolkit, and perfkit itself."""

from __future__ import annotations

import platform
from datetime import UTC, datetime

from perfkit import __version__
from perfkit.arch.fingerprint import fingerprint
from perfkit.device.environment import environment
from perfkit.device.nvml import Monitor
from perfkit.device.properties import read_devices
from perfkit.errors import DeviceError, Unavailable
from perfkit.record import record


@record
class Here:
    """``environment`` has gpu, compute_capability, driver and toolkit where they are known."""

    environment: dict[str, str]
    about: dict[str, str]  #: date, host, sm_clock_mhz, perfkit, archdb
    monitors: tuple[Monitor, ...] = ()  #: of the cards, where they can be watched
    notes: tuple[str, ...] = ()  #: what is not known, and why


def here() -> Here:
    """Look at this machine; without a GPU there is no environment to name."""
    about = {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "host": platform.node(),
        "perfkit": __version__,
        "archdb": fingerprint(),
    }
    try:
        devices = read_devices()
    except (Unavailable, DeviceError) as error:
        note = f"no GPU, driver or toolkit is recorded, no clocks are watched: {error.message}"
        return Here(environment={}, about=about, notes=(note,))
    monitors = tuple(Monitor(device.uuid) for device in devices)
    found = [environment(*both) for both in zip(devices, monitors, strict=True)]
    told: dict[str, list[str | None]] = {
        "gpu": [one.device for one in found],
        "compute_capability": [one.compute_capability for one in found],
        "driver": [one.driver for one in found],
        "toolkit": [one.toolkit for one in found],
    }
    clocks = [one.max_sm_clock_hz for one in found if one.max_sm_clock_hz]
    if clocks:
        about["sm_clock_mhz"] = f"{max(clocks) / 1e6:g}"
    names = {
        key: " + ".join(dict.fromkeys(value for value in values if value))
        for key, values in told.items()
    }
    return Here(
        environment={key: value for key, value in names.items() if value},
        about=about,
        monitors=tuple(monitor for monitor in monitors if monitor.missing is None),
        notes=tuple(dict.fromkeys(note for one in found for note in one.notes)),
    )
