"""One fixed set of results for every format.

The capabilities are the small one of ``tests/data/archdb`` and two derived from it, so that a
change of the shipped database moves no golden file.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from perfkit.access import State, Status
from perfkit.analysis import carveout
from perfkit.analysis.launch import Launch
from perfkit.analysis.occupancy import estimate
from perfkit.arch import load
from perfkit.arch.audit import Finding
from perfkit.arch.types import ComputeCapability, Target
from perfkit.kernel import KernelResources

DATABASE = Path(__file__).resolve().parents[1] / "data" / "archdb"
HOPPER = load.capability_file(DATABASE / "compute_capability" / "sm_90.yaml")
TOY = load.gpu_file(DATABASE / "gpu" / "toy-100.yaml")

#: shared memory apart from L1, as on 6.1, without tensor cores, clusters or barriers that limit
DEDICATED = replace(
    HOPPER,
    compute_capability=ComputeCapability(6, 1),
    architecture="Pascal",
    limits=replace(HOPPER.limits, block_barriers_per_sm=None),
    shared_memory=replace(
        HOPPER.shared_memory,
        per_sm_bytes=98304,
        max_per_block_optin_bytes=49152,
        reserved_per_block_bytes=0,
        allocation_unit_bytes=256,
        capacities_bytes=(98304,),
        carveout_evidence=None,
    ),
    l1=replace(HOPPER.l1, unified_with_shared_bytes=None, dedicated_bytes=49152),
    tensor_core=None,
    cluster=None,
    features=(),
    conflicts=(),
)
#: no GPC layout is known: what is said of clusters is an upper bound
NO_GROUPS = replace(TOY, key="toy-50", name="Toy 50", sm_count=50, cluster_sm_groups=None)
#: the hardware's carveout rule is only assumed there
ASSUMED = replace(
    HOPPER,
    compute_capability=ComputeCapability(10, 0),
    architecture="Blackwell",
    shared_memory=replace(HOPPER.shared_memory, carveout_evidence="assumed"),
)

TARGETS = (
    Target(label="toy-100", capability=HOPPER, gpu=TOY),
    Target(label="toy-50", capability=ASSUMED, gpu=NO_GROUPS),
    Target(label="6.1", capability=DEDICATED, gpu=None),
)


def kernel(name: str, arch: str, **given) -> KernelResources:
    known = {
        "registers_per_thread": 40,
        "static_shared_bytes": 8192,
        "stack_bytes": 0,
        "spill_store_bytes": None,
        "spill_load_bytes": None,
        "local_bytes": 0,
        "constant_bytes": 556,
        "parameter_bytes": 28,
        "barriers": 1,
        "max_threads": None,
        "min_blocks": None,
        "required_block": None,
        "required_cluster": None,
        "unknown": {"spill_store_bytes": "no compiler log", "required_block": "declares none"},
    }
    return KernelResources(
        **{"name": "_Z" + name, "demangled": name, "arch": arch, "origin": "a.cubin"}
        | known
        | given
    )


AXPY = kernel("void axpy<float, 4>(float*, float const*, int)", "sm_90", max_threads=256)
#: what Markdown and a terminal could read as markup
STRANGE = kernel(
    "reduce[bold]|*a_b*",
    "sm_90a",
    registers_per_thread=None,
    stack_bytes=48,
    required_block=(32, 8, 1),
    required_cluster=(2, 1, 1),
    unknown={"registers_per_thread": "a device function calls itself"},
)

#: one where the occupancy API and the hardware differ
LAUNCH = Launch(threads=64, regs=40, smem=1024, carveout=14)
#: the same launch on every target
SAME = tuple(
    estimate(target, LAUNCH, grid=1000, cluster=2 if target.capability.cluster else None)
    for target in TARGETS
)
#: two kernels on one target; the second cannot launch
KERNELS = (
    estimate(TARGETS[0], Launch(threads=256, regs=40, smem=8192), kernel=AXPY),
    estimate(TARGETS[0], Launch(threads=1024, regs=65, smem=0, barriers=0), kernel=STRANGE),
)
SETTINGS = (
    *carveout.table(TARGETS[0], threads=256, regs=40, smem=8192),
    *carveout.table(TARGETS[2], threads=256, regs=40, smem=8192),
)
OUTCOMES = (
    carveout.outcome(TARGETS[0], threads=256, regs=40, smem=8192),
    carveout.outcome(TARGETS[2], threads=256, regs=40, smem=8192),
)
SWEEP = (
    {
        "target": "toy-100",
        "block_threads": 256,
        "registers_per_thread": 40,
        "shared_bytes_per_block": 8192,
        "carveout_percent": -1,
        "barriers_per_block": 1,
        "blocks_per_sm": 6,
        "warps_per_sm": 48,
        "occupancy": 0.75,
    },
    {
        "target": "toy-100",
        "block_threads": 256,
        "registers_per_thread": 40,
        "shared_bytes_per_block": 8500,
        "carveout_percent": 10,
        "barriers_per_block": 1,
        "blocks_per_sm": 3,
        "warps_per_sm": 24,
        "occupancy": 0.375,
    },
)
FINDINGS = (Finding(where="gpu/toy.yaml:3", rule="peak", message="51.2 is not 50.0"),)
CHECKS = (
    Status(what="Python", state=State.OK, detail="3.11.7"),
    Status(what="NVRTC", state=State.MISSING, detail="not installed", hint="pip install it"),
    Status(what="driver", state=State.BROKEN, detail="refuses", hint="install it anew"),
)
