"""Which code runs where, and the assembler's limits as the assembler itself states them."""

from __future__ import annotations

import pytest

from perfkit.arch import catalog
from perfkit.arch.types import ComputeCapability
from perfkit.errors import UsageError
from perfkit.models.compatibility import is_exact, runs_on, static_shared_limit

#: From the message "uses too much shared data (… bytes, 0xc000 max)" of NVRTC 13.5 for a kernel
#: with one array that is four bytes too large; every target of the database that it compiles for.
PLAIN = 0xC000
MAX_BY_PTXAS = {
    "sm_75": PLAIN, "sm_80": PLAIN, "sm_86": PLAIN, "sm_87": PLAIN, "sm_88": PLAIN, "sm_89": PLAIN,
    "sm_90": PLAIN, "sm_90a": 0x38C00,
    "sm_100": PLAIN, "sm_100a": 0x38C00, "sm_100f": PLAIN,
    "sm_103": PLAIN, "sm_103a": 0x38C00, "sm_103f": PLAIN,
    "sm_110": PLAIN, "sm_110a": 0x38C00, "sm_110f": PLAIN,
    "sm_120": PLAIN, "sm_120a": 0x18C00, "sm_120f": PLAIN,
    "sm_121": PLAIN, "sm_121a": 0x18C00, "sm_121f": PLAIN,
}  # fmt: skip


@pytest.mark.parametrize(
    ("arch", "capability", "runs"),
    [
        ("sm_80", (8, 0), True),
        ("sm_80", (8, 6), True),
        ("sm_86", (8, 0), False),  # a lower minor
        ("sm_80", (9, 0), False),  # another major
        ("sm_90", (9, 0), True),
        ("sm_90a", (9, 0), True),
        ("sm_100", (10, 3), True),
        ("sm_100f", (10, 3), True),  # the family
        ("sm_100a", (10, 3), False),  # that chip alone
        ("sm_103f", (10, 0), False),
        ("sm_120f", (12, 1), True),
        ("sm_10", (10, 0), False),  # 1.0, not 10.0
    ],
)
def test_machine_code_runs_on(arch, capability, runs):
    assert runs_on(arch, ComputeCapability(*capability)) is runs


def test_what_is_no_architecture():
    with pytest.raises(UsageError, match="gfx90a"):
        runs_on("gfx90a", ComputeCapability(9, 0))


def test_the_assembler_states_the_limit():
    targets = {
        target: capability.shared_memory
        for capability in catalog.all_capabilities()
        for target in capability.compilation.targets
    }
    assert MAX_BY_PTXAS.keys() <= targets.keys()
    assert {t for t in targets if is_exact(t)} <= MAX_BY_PTXAS.keys()
    found = {target: static_shared_limit(target, targets[target]) for target in MAX_BY_PTXAS}
    assert found == MAX_BY_PTXAS
