"""The card at hand as something to predict for, whether the database knows it or not."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from perfkit.analysis.prediction import Machine
from perfkit.arch import catalog
from perfkit.device.properties import Device, target_of
from perfkit.errors import UsageError
from perfkit.readers.ceilings import of_one_product

if TYPE_CHECKING:
    from collections.abc import Sequence

    from perfkit.arch.types import Gpu
    from perfkit.models.roofs import Ceilings


def machine_of(device: Device, ceilings: Ceilings | None = None) -> Machine:
    """What bounds on ``device`` are made of.

    A card that is no product of the database is what its driver tells: SMs, clock, memory.

    Raises:
        UnknownTarget: the database lacks its compute capability.
        UsageError: the ceilings are those of another product.
    """
    target = target_of(device)
    gpu = target.gpu
    missing: tuple[str, ...] = ()
    if gpu is None:
        gpu, missing = _as_told(device), _lacks(device)
    if ceilings is not None and ceilings.gpu != gpu.key:
        raise UsageError(
            f"{ceilings.origin} holds ceilings of {ceilings.gpu}, this is {gpu.key}",
            hint="perfkit ceilings -f json -o FILE measures those of this card",
        )
    return Machine(
        gpu=gpu,
        capability=target.capability,
        ceilings=ceilings,
        l2_bytes=device.l2_bytes,
        missing=missing,
    )


def ceilings_of(device: Device, known: Sequence[Ceilings]) -> Ceilings | None:
    """What bounds a card: its own ceilings, else the best of the cards of its product.

    Args:
        device: the card.
        known: those of each card of a file; of another product alone they are given all the same,
            for ``machine_of`` to refuse.
    """
    own = [one for one in known if one.uuid == device.uuid]
    gpu = None if own or not known else target_of(device).gpu
    alike = own or [one for one in known if gpu and one.gpu == gpu.key] or list(known[:1])
    return of_one_product(alike) if alike else None


def _as_told(device: Device) -> Gpu:
    """A product made of the driver's answers; any product of the database lends its shape."""
    like = catalog.all_gpus()[0]
    clock, bus = device.memory_clock_hz, device.memory_bus_bits
    memory = replace(
        like.memory,
        type="DRAM",
        size_gib=device.memory_bytes / 2**30,
        # two transfers per clock, however the driver's clock is that of the chips
        bandwidth_bytes_per_s=2 * clock * bus // 8 if clock and bus else None,
        l2_bytes=device.l2_bytes,
        **{name: None for name in _OF_PRODUCTS if hasattr(like.memory, name)},
    )
    return replace(
        like,
        key=f"{device.compute_capability} ({device.name})",
        name=device.name,
        compute_capability=device.compute_capability,
        segment="",
        rate_class="",  # no tensor rate belongs to it
        sm_count=device.sm_count,
        boost_clock_hz=device.boost_clock_hz,
        tensor_clock_hz=None,
        memory=memory,
        tdp_w=None,
        published=(),
        cluster_sm_groups=None,
        latency=None,
        unknown={"memory.bandwidth_bytes_per_s": "the driver does not tell it"},
        sources=(),
        conflicts=(),
    )


#: facts of memory that only a data sheet or a measurement of one product gives
_OF_PRODUCTS = ("l2_read_bytes_per_clock",)


def _lacks(device: Device) -> tuple[str, ...]:
    lacking = [
        f"the database has no product {device.name!r}: bounds follow from what its driver tells",
        "tensor rates are not known of it: work on tensor cores has no compute bound",
    ]
    if device.memory_clock_hz is None or device.memory_bus_bits is None:
        lacking.append("the driver tells no memory clock: there is no bound by DRAM")
    if device.boost_clock_hz is None:
        lacking.append("the driver tells no clock: there is no bound by arithmetic")
    return tuple(lacking)
