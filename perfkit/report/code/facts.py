"""What a launcher has to say and do, whatever the language."""

from __future__ import annotations

import re

from perfkit.analysis.grids import Form
from perfkit.analysis.recommend import Recommendation
from perfkit.record import record


@record
class Facts:
    """A recommended launch, as far as code needs it."""

    comments: tuple[str, ...]  #: what the numbers rest on; no line breaks
    threads: int
    per_block: int  #: elements of a block
    dynamic_bytes: int
    carveout: int | None
    cluster: int | None
    opts_in: bool  #: a block has more shared memory than it gets without asking
    nonportable: bool  #: the cluster needs opting in to
    steps: bool  #: the grid is at most one wave, with a loop inside
    bounds: tuple[tuple[str, int], ...]  #: ``__CUDA_ARCH__`` and blocks per SM, once each
    most_registers: int | None  #: per thread, without costing a block anywhere; None: any number

    @property
    def least_blocks(self) -> int:
        """Blocks per SM, where only one number can be given."""
        return min(blocks for _, blocks in self.bounds)


def facts(found: Recommendation, by: str) -> Facts:
    """``by``: which command the launch is from."""
    places = [advice.place for advice in found.advices]
    caps = [
        a.place.request.regs + a.spare_registers
        for a in found.advices
        if a.spare_registers is not None
    ]
    clusters = (place.request.target.capability.cluster for place in places)
    size = found.wish.cluster
    return Facts(
        comments=tuple(map(_one_line, _comments(found, by))),
        threads=found.threads,
        per_block=found.threads * found.wish.per_thread,
        dynamic_bytes=found.dynamic_bytes,
        carveout=found.carveout,
        cluster=size,
        opts_in=any(
            p.occupancy.smem_bytes > p.request.target.capability.shared_memory.max_per_block_bytes
            for p in places
        ),
        nonportable=size is not None and any(c and size > c.max_portable for c in clusters),
        steps=any(advice.form is not Form.ONE_TO_ONE for advice in found.advices),
        bounds=tuple(
            dict.fromkeys(
                (_arch(*p.request.target.capability.compute_capability), p.blocks_per_sm)
                for p in places
            )
        ),
        most_registers=min(caps, default=None),
    )


def _arch(major: int, minor: int) -> str:
    return f"{major}{minor}0"


def _comments(found: Recommendation, by: str) -> list[str]:
    kernel = found.advices[0].place.request.kernel
    lines = [f"{kernel or 'kernel'}: launch configuration by {by}"]
    for advice in found.advices:
        place = advice.place
        lines.append(
            f"  {place.request.target.label}: {place.request.regs} registers, "
            f"{place.blocks_per_sm} blocks per SM, {place.warps_per_sm} of "
            f"{place.occupancy.max_warps_per_sm} warps"
        )
    return lines


def _one_line(text: str) -> str:
    """A name from a file must not end a comment, nor continue it on the next line."""
    return re.sub(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\\]+", " ", text).rstrip()
