"""The environment of a measurement, read from the driver, NVML and the installed packages."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Final

from perfkit import __version__
from perfkit.access import require_nvrtc
from perfkit.analysis.environment import Environment
from perfkit.device.nvml import CardSetup, Monitor
from perfkit.device.properties import Device, target_of
from perfkit.errors import Unavailable, UnknownTarget

_PACKAGES: Final = (
    *("cuda-bindings", "cuda-core", "nvidia-ml-py"),
    *("nvidia-cuda-nvrtc-cu12", "nvidia-cuda-nvrtc", "numpy", "torch"),
)
_MIB: Final = 2**20


def environment(
    device: Device,
    monitor: Monitor | None = None,
    setup: CardSetup | None = None,
    *,
    index: int | None = None,
) -> Environment:
    """What a measurement on ``device`` is made with; ``notes`` names what may disturb it.

    Args:
        device: the card.
        monitor: NVML's view of it, if there is one already.
        setup: what that said, if it was asked already.
        index: the card's number, if it is one of several.
    """
    monitor = monitor or Monitor(device.uuid)
    setup = setup or monitor.setup()
    product, unknown = _product(device)
    return Environment(
        index=index,
        device=device.name,
        uuid=device.uuid,
        product=product,
        compute_capability=str(device.compute_capability),
        sm_count=device.sm_count,
        driver=setup.driver_version,
        cuda="{}.{}".format(*device.cuda_version),
        toolkit=_toolkit(),
        max_sm_clock_hz=setup.max_sm_clock_hz,
        mig=setup.mig,
        ecc=setup.ecc,
        perfkit=__version__,
        python=platform.python_version(),
        packages=_packages(),
        date=datetime.now(UTC).isoformat(timespec="seconds"),
        notes=(
            *filter(None, (monitor.missing, unknown)),
            *_modes(setup),
            *neighbours(setup).values(),
        ),
    )


def _product(device: Device) -> tuple[str | None, str | None]:
    """Which product of the database a card is; or why it is none."""
    try:
        gpu = target_of(device).gpu
    except UnknownTarget as error:
        return None, error.message
    if gpu is None:
        return None, f"the database has no product {device.name!r}: there is no data sheet"
    return gpu.key, None


def _modes(setup: CardSetup) -> Iterator[str]:
    if setup.mig:
        yield "MIG is on: the figures are those of a slice, peaks those of the whole card"


def neighbours(setup: CardSetup) -> dict[int, str]:
    """Process on the card -> a note about it."""
    return {
        one.pid: f"process {one.pid} is on the card, too"
        + (f", with {one.memory_bytes // _MIB:,} MiB" if one.memory_bytes else "")
        for one in setup.neighbours
    }


def _toolkit() -> str | None:
    try:
        return "{}.{}".format(*require_nvrtc())
    except Unavailable:
        return None


def _packages() -> dict[str, str]:
    found = {}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
