"""The database against CCCL's table of architectures, ``cuda/__device/arch_traits.h``.

The header is read as text from the unpacked ``nvidia-cuda-cccl`` wheel (``tests/oracle/header.py``
says where that is); every field that both have is compared for every capability that both have.
"""

from __future__ import annotations

import functools
import os
import re
from pathlib import Path
from typing import Final

import pytest

from perfkit.arch import catalog
from perfkit.arch.types import Capability
from tests.oracle.header import oracle_dir

HEADER: Final = Path("nvidia/cu13/include/cccl/cuda/__device/arch_traits.h")

Value = int | bool

#: CCCL's field -> the database's value
FIELDS: Final = {
    "max_threads_per_block": lambda cc: cc.limits.max_threads_per_block,
    "max_block_dim_x": lambda cc: cc.limits.max_block_dim[0],
    "max_block_dim_y": lambda cc: cc.limits.max_block_dim[1],
    "max_block_dim_z": lambda cc: cc.limits.max_block_dim[2],
    "max_grid_dim_x": lambda cc: cc.limits.max_grid_dim[0],
    "max_grid_dim_y": lambda cc: cc.limits.max_grid_dim[1],
    "max_grid_dim_z": lambda cc: cc.limits.max_grid_dim[2],
    "max_resident_grids": lambda cc: cc.limits.max_resident_grids,
    "warp_size": lambda cc: cc.limits.warp_size,
    "max_blocks_per_multiprocessor": lambda cc: cc.limits.max_blocks_per_sm,
    "max_threads_per_multiprocessor": lambda cc: cc.limits.max_threads_per_sm,
    "max_warps_per_multiprocessor": lambda cc: cc.limits.max_warps_per_sm,
    "max_registers_per_block": lambda cc: cc.registers.max_per_block,
    "max_registers_per_multiprocessor": lambda cc: cc.registers.per_sm,
    "max_registers_per_thread": lambda cc: cc.registers.max_per_thread,
    "max_shared_memory_per_block": lambda cc: cc.shared_memory.max_per_block_bytes,
    "max_shared_memory_per_block_optin": lambda cc: cc.shared_memory.max_per_block_optin_bytes,
    "max_shared_memory_per_multiprocessor": lambda cc: cc.shared_memory.per_sm_bytes,
    "reserved_shared_memory_per_block": lambda cc: cc.shared_memory.reserved_per_block_bytes,
    "cluster_supported": lambda cc: cc.cluster is not None,
    "compute_capability_major": lambda cc: cc.compute_capability.major,
    "compute_capability_minor": lambda cc: cc.compute_capability.minor,
}

_GUIDE: Final = "Appendix K of the programming guide has a column of its own for it"
#: (capability, field) -> what CCCL says, and why the database says otherwise
KNOWN_CONFLICTS: Final[dict[tuple[str, str], tuple[Value, str]]] = {
    ("5.3", "max_resident_grids"): (32, _GUIDE),
    ("6.1", "max_resident_grids"): (128, f"{_GUIDE}; CCCL keeps the default of all"),
    ("6.2", "max_resident_grids"): (128, f"{_GUIDE}; CCCL keeps the default of all"),
}
#: mistakes of some releases of CCCL only
PASSING_MISTAKES: Final[dict[tuple[str, str], tuple[Value, str]]] = {
    ("10.0", "compute_capability_major"): (9, "sm_100 was copied from sm_90"),
}
#: CCCL has no traits for it
NOT_IN_CCCL: Final = {"7.2"}

_FUNCTION: Final = re.compile(
    r"arch_traits<arch_id::sm_(\d+)>\(\) noexcept\n\{(.*?)\n\}", re.DOTALL
)
_COMMON: Final = re.compile(
    r"__common_arch_traits\(arch_id __arch_id\) noexcept\n\{(.*?)\n\}", re.DOTALL
)
_BASE: Final = re.compile(r"auto __traits\s*= (.*?);", re.DOTALL)
_ASSIGNMENT: Final = re.compile(r"^\s*__traits\.(\w+)\s*=\s*(.*?);", re.DOTALL | re.MULTILINE)
_CHOICE: Final = re.compile(r"\((.*?)\)\s*\?\s*(\S+)\s*:\s*(\S+)")


def evaluate(expression: str, sm: int, traits: dict[str, Value]) -> Value | None:
    """The value of one right-hand side; ``None`` for what is no number (identifiers)."""
    text = re.sub(
        r"::cuda::std::numeric_limits<::cuda::std::int32_t>::max\(\)", str(2**31 - 1), expression
    )
    text = re.sub(r"__cc\.major_cap\(\)", str(sm // 10), text)
    text = re.sub(r"__cc\.minor_cap\(\)", str(sm % 10), text)
    text = re.sub(r"\b__cc\b", str(sm), text)
    text = re.sub(r"compute_capability\{(\d+)\}", r"\1", text)
    text = re.sub(r"__traits\.(\w+)", lambda match: str(int(traits[match.group(1)])), text)
    text = re.sub(r"\btrue\b", "True", re.sub(r"\bfalse\b", "False", text))
    text = _CHOICE.sub(r"(\2 if (\1) else \3)", text).replace("/", "//")
    if re.search(r"[A-Za-z_]", re.sub(r"\b(?:if|else|True|False)\b", "", text)):
        return None
    value = eval(text, {"__builtins__": {}})  # numbers and operators only, by the line above
    assert isinstance(value, int)
    return value


@functools.cache
def source() -> str:
    path = oracle_dir() / HEADER
    if not path.is_file():
        if "PERFKIT_ORACLE_DIR" in os.environ:
            pytest.fail(f"{path} is missing")
        pytest.skip(f"{path} is missing: make oracle unpacks it")
    return path.read_text("utf-8")


def assign(body: str, sm: int, traits: dict[str, Value]) -> dict[str, Value]:
    for name, expression in _ASSIGNMENT.findall(body):
        value = evaluate(expression, sm, traits)
        if value is not None:
            traits[name] = value
    return traits


def cccl(sm: int) -> dict[str, Value]:
    """All traits of one architecture that are numbers."""
    bodies = {int(name): body for name, body in _FUNCTION.findall(source())}
    base = _BASE.search(bodies[sm])
    assert base is not None
    inherited = re.fullmatch(r"::cuda::arch_traits<arch_id::sm_(\d+)>\(\)", base.group(1).strip())
    if inherited:
        traits = cccl(int(inherited.group(1)))
    else:
        common = _COMMON.search(source())
        assert common is not None
        named = re.fullmatch(
            r"::cuda::__common_arch_traits\(arch_id::sm_(\d+)\)", base.group(1).strip()
        )
        assert named is not None, base.group(1)
        traits = assign(common.group(1), int(named.group(1)), {})
    return assign(bodies[sm], sm, traits)


def architectures() -> set[int]:
    return {int(name) for name, _ in _FUNCTION.findall(source())}


def number(cc: Capability) -> int:
    return cc.compute_capability.major * 10 + cc.compute_capability.minor


EACH = pytest.mark.parametrize(
    "cc",
    [cc for cc in catalog.all_capabilities() if str(cc.compute_capability) not in NOT_IN_CCCL],
    ids=lambda cc: cc.compute_capability.sm,
)


def test_the_header_is_understood():
    """The parser finds every field of every architecture, or the comparison would say nothing."""
    assert len(architectures()) >= 19
    for sm in architectures():
        missing = set(FIELDS) - set(cccl(sm))
        assert not missing, (sm, missing)
    assert cccl(90)["max_shared_memory_per_block_optin"] == 232_448  # an expression of fields
    assert cccl(88)["max_blocks_per_multiprocessor"] == cccl(86)["max_blocks_per_multiprocessor"]


def test_every_capability_of_the_database_is_compared():
    ours = {number(cc) for cc in catalog.all_capabilities()}
    assert len(ours) >= 20
    assert ours - architectures() == {72}


@EACH
@pytest.mark.parametrize("field", FIELDS)
def test_field(cc, field):
    key = (str(cc.compute_capability), field)
    ours, theirs = FIELDS[field](cc), cccl(number(cc))[field]
    if key in KNOWN_CONFLICTS:
        assert theirs == KNOWN_CONFLICTS[key][0], "the conflict is settled: remove it here"
        assert ours != theirs, "the conflict is settled: remove it here"
    elif key in PASSING_MISTAKES and theirs == PASSING_MISTAKES[key][0]:
        assert ours != theirs
    else:
        assert ours == theirs


@pytest.mark.parametrize("key", KNOWN_CONFLICTS, ids=" ".join)
def test_known_conflicts_stand_in_the_database(key):
    name, _ = key
    conflicts = catalog.capability(name).conflicts
    (conflict,) = [one for one in conflicts if one.fact == "limits.max_resident_grids"]
    assert any("cccl" in other for other in conflict.others)
