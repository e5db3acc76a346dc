"""Machine code and the SMs it runs on, and how much static shared memory it may declare.

Code for a plain target or a family (``f``) runs on the same major number with the same or a higher
minor one; code for an ``a`` target on exactly that capability. PTX can be compiled for every later
capability; that of an ``a`` target for that very one, that of an ``f`` target within its family.

Formula:
    runs        : sm_XY, sm_XYf on X.Z with Z >= Y; sm_XYa on X.Y only
    static limit = what a block gets without opting in; of an a target, with it

Units: capabilities; bytes of static shared memory per block.

Source: CUDA Programming Guide, binary compatibility and architecture-specific features; PTX ISA,
``.target``. The limit on static shared memory is the assembler's, not the SM's: ``ptxas`` of CUDA
13 was asked for every target of the database (tests/models/test_compatibility.py).

Valid: every capability of the database; ``ptxas`` of CUDA 12.9 stops at 48 KiB for ``a`` targets
too.

>>> import perfkit
>>> from perfkit.models.compatibility import runs_on
>>> ada, hopper = (perfkit.capability(one).compute_capability for one in ("8.9", "9.0"))
>>> runs_on("sm_80", ada), runs_on("sm_80", hopper), runs_on("sm_90a", hopper)
(True, False, True)
"""

from __future__ import annotations

from perfkit.arch.types import ComputeCapability, SharedMemory


def runs_on(arch: str, capability: ComputeCapability) -> bool:
    """Whether machine code for ``arch`` runs on an SM of ``capability``.

    Code for a plain target or a family (``f``) runs on the same major with the same or a higher
    minor, code for an ``a`` target on exactly that capability.

    Raises:
        UsageError: ``arch`` is not an architecture.

    >>> from perfkit.arch.types import ComputeCapability
    >>> runs_on("sm_80", ComputeCapability(8, 9)), runs_on("sm_90a", ComputeCapability(9, 0))
    (True, True)
    >>> runs_on("sm_89", ComputeCapability(8, 6)), runs_on("sm_80", ComputeCapability(9, 0))
    (False, False)
    """
    built = ComputeCapability.parse(arch)
    if is_exact(arch):
        return built == capability
    return built.major == capability.major and built.minor <= capability.minor


def ptx_compiles_for(target: str, capability: ComputeCapability) -> bool:
    """Whether PTX whose ``.target`` is ``target`` can be compiled for ``capability``.

    PTX ISA, ``.target``: for a plain target, any later one; for an ``a`` target that very one; for
    an ``f`` target later ones of its family, which is the major number.

    Raises:
        UsageError: ``target`` is not an architecture.

    >>> from perfkit.arch.types import ComputeCapability
    >>> ptx_compiles_for("sm_80", ComputeCapability(9, 0))
    True
    >>> ptx_compiles_for("sm_90a", ComputeCapability(10, 0))
    False
    """
    written = ComputeCapability.parse(target)
    if is_exact(target):
        return written == capability
    if target.strip().lower().endswith("f"):
        return written.major == capability.major and written <= capability
    return written <= capability


def is_exact(arch: str) -> bool:
    """Whether ``arch`` is one whose code runs on that very capability only: ``sm_90a``."""
    return arch.strip().lower().endswith("a")


def static_shared_limit(arch: str, shared: SharedMemory) -> int:
    """Most static shared memory, in bytes per block, that the assembler lets a kernel declare.

    What a block gets without opting in; for ``a`` targets what it gets with it.
    """
    return shared.max_per_block_optin_bytes if is_exact(arch) else shared.max_per_block_bytes
