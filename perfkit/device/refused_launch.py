"""What the driver would refuse with a bare code, told beforehand in words: a launch that cannot be.

The limits are the card's own, as its driver tells them, and those of the compiled kernel.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from perfkit.errors import InvalidLaunch

if TYPE_CHECKING:
    from perfkit.device.backend import Function, LaunchConfig
    from perfkit.device.properties import Device


def refuse_impossible(launch: LaunchConfig, function: Function, device: Device) -> None:
    """Hold a launch against the limits of the kernel and the card.

    Args:
        launch: as it was asked for.
        function: the kernel.
        device: the card.

    Raises:
        InvalidLaunch: too many threads or blocks, too much shared memory, or a cluster that is cut.
    """
    if launch.threads > function.max_threads:
        raise InvalidLaunch(
            f"{function.name}: a block has {launch.threads} threads, "
            f"compiled it takes at most {function.max_threads}",
            hint=f"it uses {function.registers} registers per thread",
        )
    for what, sizes in (("grid", launch.grid), ("block", launch.block)):
        for axis, size in zip("xyz", sizes, strict=True):
            most = device.attributes.get(f"MAX_{what.upper()}_DIM_{axis.upper()}")
            if most is not None and size > most:
                raise InvalidLaunch(
                    f"{function.name}: the {what} is {size:,} in {axis}, "
                    f"{device.name} takes at most {most:,}"
                )
    for axis, blocks, size in zip("xyz", launch.grid, launch.cluster or (1, 1, 1), strict=True):
        if blocks % size:
            raise InvalidLaunch(
                f"{function.name}: the grid is {blocks:,} in {axis}, which clusters of {size} "
                "do not divide"
            )
    static, dynamic = function.static_shared_bytes, launch.dynamic_bytes
    if static + dynamic > device.max_shared_optin_bytes_per_block:
        raise InvalidLaunch(
            f"{function.name}: a block has {static + dynamic:,} bytes of shared memory "
            f"({static:,} of them static), {device.name} gives at most "
            f"{device.max_shared_optin_bytes_per_block:,}"
        )
