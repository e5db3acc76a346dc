"""What a product refers to in other files: its capability, its rate class there, its sources.

``arch check`` holds every file to this. A product of the user's is held to it whenever it is used,
as nobody has to run the check first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from perfkit.arch import load
from perfkit.arch.types import NO_TENSOR_CORES
from perfkit.errors import ArchDataError

if TYPE_CHECKING:
    from collections.abc import Container, Iterator
    from pathlib import Path

    from perfkit.arch.types import Capability, Gpu

_HINTS: Final = {
    "capability": f"perfkit arch list shows those there are; add {load.CAPABILITIES}/sm_NN.yaml",
    "rate-class": "the class is one of tensor_core.rates of the capability, or none",
    "source-id": f"add it to {load.SOURCES} beside the folder",
}


class Broken(NamedTuple):
    fact: str  #: the path of its field
    rule: str
    message: str


def broken(gpu: Gpu, capability: Capability | None) -> Iterator[Broken]:
    """A product needs its capability (None: there is none), and tensor rates of its class there."""
    if capability is None:
        message = f"no file for compute capability {gpu.compute_capability}"
        yield Broken("compute_capability", "capability", message)
        return
    tensor = capability.tensor_core
    classes = {NO_TENSOR_CORES, *(rate.rate_class for rate in (tensor.rates if tensor else ()))}
    if gpu.rate_class not in classes:
        known = ", ".join(sorted(classes))
        message = f"{gpu.compute_capability} has no rate class {gpu.rate_class!r}, only {known}"
        yield Broken("rate_class", "rate-class", message)


def unknown_sources(record: Capability | Gpu, known: Container[str]) -> Iterator[Broken]:
    """Evidence needs an entry of the bibliography."""
    for i, row in enumerate(record.sources):
        if row.id not in known:
            yield Broken(f"sources[{i}]", "source-id", f"{row.id!r} is not in {load.SOURCES}")


def refuse_broken(path: Path) -> None:
    """Check one product against all that is there.

    A shipped one may have lost its rate class to a capability of the user's; its sources stay.

    Raises:
        ArchDataError: the first reference that leads nowhere; ``where`` is ``file:line``.
    """
    gpu = load.gpu_file(path)
    file = load.files(load.CAPABILITIES).get(gpu.compute_capability.sm)
    found = list(broken(gpu, load.capability_file(file) if file else None))
    if not path.is_relative_to(load.shipped()):
        found += unknown_sources(gpu, load.sources())
    if found:
        from perfkit.arch import schema

        parsed = schema.parse_gpu(path)
        errors = [
            ArchDataError(one.message, where=parsed.where(one.fact), hint=_HINTS[one.rule])
            for one in found
        ]
        errors[0].others = tuple(errors[1:])
        raise errors[0]
