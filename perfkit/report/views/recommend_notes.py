"""What to say beside a recommended launch: why, what ties, and when not to chase occupancy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from perfkit.analysis.block_sizes import Restriction
from perfkit.analysis.cluster_choice import ClusterChoice, Why
from perfkit.analysis.recommend import Advice, Kind, Recommendation, Remark
from perfkit.units import format_bytes, format_ratio

_RESTRICTIONS: Final = {
    Restriction.FIXED: "the block size is given",
    Restriction.POWER_OF_TWO: "the number of warps has to be a power of two",
    Restriction.CLUSTER: "an SM holds fewer blocks of a launch in clusters",
    Restriction.SMALL_PROBLEM: "the problem does not fill the GPU: smaller blocks spread it evenly",
    Restriction.SEVERAL_TARGETS: "it is the best compromise between the GPUs",
}

_REMARKS: Final[dict[Kind, Callable[[Remark], str]]] = {
    Kind.ENOUGH: lambda r: (
        f"{format_ratio(r.value)} occupancy is enough for most kernels: from two thirds on, more "
        "of it rarely pays"
    ),
    Kind.COSTS_REGISTERS: lambda r: (
        f"{r.other:.0f} blocks would need {r.value:.0f} registers per thread fewer: the compiler "
        "may have to spill them, which costs more than occupancy gains unless the kernel only "
        "waits; compile and look at the spills"
    ),
    Kind.GRID_IS_SMALL: lambda r: (
        f"the problem has {r.value:.0f} blocks for {r.other:.0f} SMs: occupancy is beside the "
        "point, more parallelism is what helps"
    ),
    Kind.NOT_A_WAVE: lambda r: (
        f"the problem is less than one wave: it reaches {format_ratio(r.value)} occupancy on "
        "average, whatever is possible"
    ),
    Kind.ONE_LARGE_BLOCK: lambda r: (
        f"one block takes {format_bytes(int(r.value))} of shared memory: such a kernel hides "
        "latency by copies in flight, not by warps"
    ),
    Kind.TAIL: lambda r: (
        f"the last wave may take {format_ratio(r.value)} of the time while most of the GPU is "
        "idle: blocks of fewer elements make it shorter"
    ),
    Kind.BELOW_THEORY: lambda _: "register-limited blocks of one or two warps may stay below this",
    Kind.OPT_IN_SHARED: lambda r: (
        f"the host must opt in to {r.value:.0f} B of dynamic shared memory "
        "(cudaFuncAttributeMaxDynamicSharedMemorySize)"
    ),
    Kind.OPT_IN_CLUSTER: lambda r: (
        f"a cluster of {r.value:.0f} is not portable: the host must opt in "
        "(cudaFuncAttributeNonPortableClusterSizeAllowed)"
    ),
    Kind.FEWER_WARPS: lambda r: (
        f"{r.value:.0f} resident warps, another block size has {r.other:.0f}"
    ),
}


_USES: Final = "distributed shared memory, TMA multicast, a barrier of the cluster"
_TOO_LARGE: Final = "clusters of two blocks or more leave SMs without work"
_NO_GROUPS: Final = (
    "which sizes leave no SM without work depends on how the SMs are grouped, and that was not "
    "measured for this product"
)


def notes(found: Recommendation) -> list[str]:
    """A sentence each; what holds for every target is said once."""
    said = [_tied(found), *_restricted(found)]
    several = len(found.advices) > 1
    for advice in found.advices:
        label = advice.place.request.target.label
        texts = [*(_REMARKS[r.kind](r) for r in advice.remarks), *_carveout(advice)]
        said += [f"{label}: {text}" if several else text for text in texts]
    said += [*_clusters(found), *_common_carveout(found)]
    said += _no_grid(found)
    return list(dict.fromkeys(text for text in said if text))


def _tied(found: Recommendation) -> str:
    others = [str(t) for t in found.choice.tied if t != found.threads]
    if not others:
        return ""
    return f"blocks of {', '.join(others)} threads are as good by these measures"


def _restricted(found: Recommendation) -> list[str]:
    why = found.choice.restrictions
    # a block size that is given is no compromise, however many GPUs it is for
    given = Restriction.FIXED in why
    reasons = [
        _RESTRICTIONS[one] for one in why if not (given and one is Restriction.SEVERAL_TARGETS)
    ]
    if not reasons:
        return []
    return [f"not the most resident warps, because {' and '.join(reasons)}"]


def _carveout(advice: Advice) -> list[str]:
    choice = advice.carveout
    if choice.percent is None:
        return []
    gain = format_bytes(choice.l1_bytes - choice.default_l1_bytes)
    known = "" if choice.evidence == "measured" else ", assumed from measurements on 9.0"
    span = f"{choice.percent}%"
    if choice.last_percent != choice.percent:
        span += f" to {choice.last_percent}%"
    return [
        f"a carveout of {span} leaves L1 {gain} more than the default and costs no block{known}"
    ]


def _clusters(found: Recommendation) -> list[str]:
    """What holds for several GPUs is said once, of them all."""
    said: dict[str, list[str]] = {}
    for advice in found.advices:
        if advice.cluster is not None:
            said.setdefault(_cluster(advice.cluster), []).append(advice.place.request.target.label)
    if len(found.advices) == 1:
        return list(said)
    return [f"{', '.join(labels)}: {text}" for text, labels in said.items()]


def _cluster(choice: ClusterChoice) -> str:
    if choice.why is Why.ASKED:
        return (
            f"clusters of {choice.size}: the size asked for, by --cluster or by the kernel's "
            "__cluster_dims__"
        )
    most = choice.largest_on_every_sm
    room = _NO_GROUPS if most is None else _TOO_LARGE
    if most is not None and most > 1:
        room = f"up to {most} blocks per cluster every SM keeps work"
    return f"no cluster, unless the kernel uses one ({_USES}); {room}"


def _common_carveout(found: Recommendation) -> list[str]:
    own = {advice.carveout.percent for advice in found.advices}
    if len(own) < 2:
        return []
    if found.carveout is None:
        return ["no one carveout is better than the default on all of these GPUs"]
    return [f"a carveout of {found.carveout}% costs no block on any of these GPUs"]


def _no_grid(found: Recommendation) -> list[str]:
    bare = [
        a.place.request.target.label for a in found.advices if a.place.request.target.gpu is None
    ]
    if not bare:
        return []
    return [f"the number of blocks needs a product: {', '.join(bare)} alone has no number of SMs"]
