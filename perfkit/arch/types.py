"""The database as Python sees it: frozen dataclasses, SI units, no behaviour beyond naming.

A field's YAML key is the field's name with the data sheet's unit in place of the SI one
(``boost_clock_mhz`` in the file, ``boost_clock_hz`` here; ``units.KEY_UNITS`` lists the pairs).
``None`` means "not known or not applicable". ``unknown`` says why, under the field's path, unless
the field is one of ``schema.ABSENT``, where ``null`` has one fixed meaning. Paths in ``unknown``,
``Evidence.facts`` and ``Conflict.fact`` are those of fields (``memory.l2_bytes``), whatever unit
the file uses.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from perfkit.arch.latencies import MemoryLatency, SmLatency
from perfkit.errors import UsageError
from perfkit.kernel import DType
from perfkit.record import record

_CAPABILITY: Final = re.compile(
    r"(?:(?:sm|compute)_?)?(?:(\d{1,2})\.(\d)|(\d{1,2})(\d))[af]?", re.IGNORECASE | re.ASCII
)

#: how a fact can be known, the strongest first
KINDS: Final = ("official", "measured", "derived", "estimated", "assumed")

#: the rate class of a product without tensor cores, whatever its capability has
NO_TENSOR_CORES: Final = "none"


class ComputeCapability(NamedTuple):
    """Major and minor; compares as numbers, so 9.0 < 11.0."""

    major: int
    minor: int

    @classmethod
    def parse(cls, text: str) -> ComputeCapability:
        """Read ``9.0``, ``90``, ``sm_90``, ``sm_90a`` or ``compute_90``.

        Raises:
            UsageError: not a compute capability.

        >>> ComputeCapability.parse("sm_120f") > ComputeCapability.parse("9.0")
        True
        """
        match = _CAPABILITY.fullmatch(text.strip())
        if match is None:
            raise UsageError(f"{text!r} is not a compute capability", hint="write 9.0 or sm_90")
        major, minor = match.group(1, 2) if match.group(1) else match.group(3, 4)
        return cls(int(major), int(minor))

    @property
    def sm(self) -> str:
        return f"sm_{self.major}{self.minor}"

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}"


@record
class Bibliography:
    """One entry of ``sources.yaml``: a document or a program that evidence points into."""

    title: str
    publisher: str
    version: str | None  #: None: it carries none
    date: str | None  #: None: it carries none


@record
class Evidence:
    """One source of one or more facts. ``kind`` other than ``official`` carries a note."""

    id: str
    where: str
    facts: tuple[str, ...]  #: ``limits.max_warps_per_sm``; ``limits`` covers all in it
    kind: str = "official"
    note: str | None = None


@record
class Conflict:
    """Sources that disagree: what they say, what was chosen, and why."""

    fact: str
    chosen: str
    others: tuple[str, ...]
    why: str


@record
class SmLimits:
    """What one SM and one launch may have."""

    warp_size: int
    max_threads_per_block: int
    max_threads_per_sm: int
    max_warps_per_sm: int
    max_blocks_per_sm: int
    max_block_dim: tuple[int, ...]
    max_grid_dim: tuple[int, ...]
    max_resident_grids: int
    block_barriers_per_sm: int | None  #: None: named barriers are not an occupancy limit
    virtual_resources_per_sm: int | None  #: None: the resource does not exist
    partitioned_global_caching: bool  #: a block may be confined to half an SM


@record
class RegisterFile:
    """32-bit registers. Allocated per warp, within one of ``sub_partitions`` equal parts."""

    per_sm: int
    max_per_block: int
    max_per_thread: int
    allocation_unit: int
    sub_partitions: int
    compatibility_sub_partitions: int | None  #: a block must also fit an SM divided this often


@record
class SharedMemory:
    """Shared memory of an SM, and how a block gets it."""

    per_sm_bytes: int
    max_per_block_bytes: int  #: without opting in
    max_per_block_optin_bytes: int
    reserved_per_block_bytes: int
    allocation_unit_bytes: int
    capacities_bytes: tuple[int, ...]  #: carveout sizes; one entry: dedicated, not configurable
    carveout_evidence: str | None  #: hardware rule of models.carveout: measured | assumed
    banks: int

    @property
    def configurable(self) -> bool:
        return len(self.capacities_bytes) > 1


@record
class L1Cache:
    """Exactly one of the two is set."""

    unified_with_shared_bytes: int | None  #: L1 is what the carveout leaves of this
    dedicated_bytes: int | None


@record
class Throughput:
    """Results per clock per SM outside the tensor cores; a fused multiply-add is one result."""

    f64: int | None
    f32: int | None
    f16: int | None
    bf16: int | None
    int32_add: int | None
    int32_multiply: int | None  #: None also where a multiply takes several instructions
    dp4a: int | None
    special_function: int | None


class TensorRate(NamedTuple):
    """Dense fused multiply-adds per clock per SM, for products of one rate class."""

    rate_class: str
    dtype: DType
    accumulate: DType
    fma_per_clock_per_sm: int


@record
class TensorCore:
    """Tensor cores of an SM; the rates differ between classes of products."""

    generation: int
    per_sm: int | None
    input_types: tuple[DType, ...]
    sparsity: bool  #: 2:4 structured sparsity doubles the rate
    rates: tuple[TensorRate, ...]


@record
class ClusterLimits:
    """Blocks that may form a cluster."""

    max_portable: int
    max_nonportable: int | None
    max_blocks_per_sm: int | None = None  #: of a launch in clusters, where it differs


@record
class Compilation:
    """How the capability is compiled for, and by which toolkits."""

    targets: tuple[str, ...]  #: names for ``-arch``: sm_90, sm_90a
    first_cuda: str
    last_cuda: str | None  #: None: current toolkits still compile it

    @property
    def gencode(self) -> tuple[str, ...]:
        """One ``nvcc`` option per target: ``-gencode=arch=compute_90a,code=sm_90a``."""
        return tuple(
            f"-gencode=arch={target.replace('sm_', 'compute_')},code={target}"
            for target in self.targets
        )


def _cite(sources: tuple[Evidence, ...], fact: str) -> str | None:
    for source in sources:
        if any(fact == path or fact.startswith(f"{path}.") for path in source.facts):
            return f"{fact}: {source.id}, {source.where}"
    return None


@record
class Capability:
    """One file of ``archdb/compute_capability``."""

    compute_capability: ComputeCapability
    architecture: str
    limits: SmLimits
    registers: RegisterFile
    shared_memory: SharedMemory
    l1: L1Cache
    throughput: Throughput
    tensor_core: TensorCore | None
    cluster: ClusterLimits | None
    latency: SmLatency | None = None
    compilation: Compilation
    features: tuple[str, ...]  #: what appears first with this capability
    unknown: dict[str, str]
    sources: tuple[Evidence, ...]
    conflicts: tuple[Conflict, ...]

    @property
    def label(self) -> str:
        return f"compute capability {self.compute_capability}"

    def cite(self, fact: str) -> str | None:
        """Where the fact comes from, for a message: ``source id, place``."""
        return _cite(self.sources, fact)


@record
class PublishedPeak:
    """A peak as the vendor prints it; ``use`` and ``note`` where it is not the derived one."""

    dtype: DType
    accumulate: DType
    sparsity: str  #: dense | sparse
    unit: str  #: simt | tensor
    tflops: float
    use: str | None = None  #: derived | published: which one counts; None: they agree within 1 %
    note: str | None = None  #: why they differ; given exactly where ``use`` is


@record
class Memory:
    """DRAM and the second-level cache of a product."""

    type: str
    size_gib: float
    bandwidth_bytes_per_s: int | None
    l2_bytes: int | None
    l2_read_bytes_per_clock: int | None = None  #: of the whole GPU


@record
class Gpu:
    """One file of ``archdb/gpu``: what the capability does not decide."""

    key: str  #: the file's name
    name: str
    compute_capability: ComputeCapability
    segment: str  #: data-center | workstation | geforce | embedded
    rate_class: str  #: which tensor rates of the capability apply
    sm_count: int
    boost_clock_hz: int | None
    tensor_clock_hz: int | None  #: of tensor work other than f64; None: the boost clock
    memory: Memory
    latency: MemoryLatency | None = None
    tdp_w: int | None
    published: tuple[PublishedPeak, ...]
    cluster_sm_groups: tuple[int, ...] | None = None  #: SMs that can share a cluster, if measured
    unknown: dict[str, str]
    sources: tuple[Evidence, ...]
    conflicts: tuple[Conflict, ...]

    def cite(self, fact: str) -> str | None:
        """As ``Capability.cite``."""
        return _cite(self.sources, fact)


@record
class Target:
    """What a question is asked about: a product, or a capability on its own."""

    label: str  #: the product's key, or the capability as ``9.0``
    capability: Capability
    gpu: Gpu | None
