"""Cubins against cuobjdump, ptxas, the driver and the verified answers of public questions."""

from __future__ import annotations

import dataclasses
import json

import pytest

from perfkit.compiled.inspect import inspect
from tests.compiled.reports import DATA, ptxas, usage

CUBINS = sorted(path.name.removesuffix(".cubin") for path in DATA.glob("*.cubin"))
LINKED = [name for name in CUBINS if "relocatable" not in name]

#: cuobjdump 13 does not take what CUDA 12.1 made for sm_90
REFUSED = {"shared.sm_90.ptxas121"}

#: Kernels whose stack has no bound. The tools print a number for most of them.
UNBOUNDED = {
    "rec",
    "recursive",
    "recursive_with_stack",
    "mutually_recursive",
    "unknown_pointer",
}


def kernels(name):
    return {kernel.name: kernel for kernel in inspect(DATA / f"{name}.cubin")}


def unbounded(name, kernel):
    if name == "zoo.sm_50.nvrtc12" and kernel == "recursive_with_stack":
        return False  # before 7.0 nothing in the file tells: its own 400 bytes are all it states
    # linked code does not say which functions a pointer may mean
    return kernel in UNBOUNDED or (name.endswith("linked") and kernel == "known_pointers")


def declared_shared(shared, arch):
    """From 9.0 on the tools add the 1024 bytes that the system reserves."""
    return shared - 1024 if int(arch.strip("sm_af")) >= 90 and shared >= 1024 else shared


def test_the_data_is_here():
    assert len(CUBINS) >= 15
    assert {"j01.sm_80", "j07.sm_120", "zoo.sm_50.nvrtc12", "zoo.sm_120.nvrtc13"} <= set(CUBINS)


@pytest.mark.parametrize("name", [n for n in LINKED if n not in REFUSED])
def test_cuobjdump_says_the_same(name):
    expected = usage((DATA / f"{name}.usage.txt").read_text())
    found = kernels(name)
    assert found
    for kernel in found.values():
        want = expected[kernel.name]
        assert kernel.registers_per_thread == want.registers
        assert kernel.static_shared_bytes == declared_shared(want.shared, kernel.arch), kernel.name
        assert kernel.constant_bytes == want.constant
        if unbounded(name, kernel.name):
            assert kernel.stack_bytes is None
        else:
            assert kernel.stack_bytes == want.stack, kernel.name


@pytest.mark.parametrize("name", [n for n in LINKED if (DATA / f"{n}.ptxas.txt").exists()])
def test_ptxas_says_the_same(name):
    expected = ptxas((DATA / f"{name}.ptxas.txt").read_text())
    found = kernels(name)
    assert set(expected) == set(found)
    for kernel in found.values():
        want = expected[kernel.name]
        assert kernel.registers_per_thread == want.registers
        assert kernel.barriers == want.barriers, kernel.name
        assert kernel.static_shared_bytes == want.shared
        assert want.constant in {None, kernel.constant_bytes}
        if kernel.frame_bytes is None:  # before 7.0 a file states it only for what calls nothing
            assert name == "zoo.sm_50.nvrtc12"
            assert kernel.name in {"known_pointers", "recursive_with_stack"}
            assert "together" in kernel.unknown["frame_bytes"]
        else:
            assert kernel.frame_bytes == want.frame, kernel.name
        if not unbounded(name, kernel.name):
            assert kernel.stack_bytes == kernel.local_bytes == want.stack
            assert kernel.cumulative_stack_bytes == want.stack


@pytest.mark.parametrize("name", [n for n in LINKED if ".sm_90" in n])
def test_the_driver_says_the_same(name):
    """Static shared memory without the reservation, above all."""
    expected = json.loads((DATA / "h200_function_attributes.json").read_text())["files"]
    found = kernels(name)
    assert set(expected[f"{name}.cubin"]) == set(found)
    for kernel in found.values():
        want = expected[f"{name}.cubin"][kernel.name]
        assert kernel.registers_per_thread == want["registers"]
        assert kernel.static_shared_bytes == want["shared_bytes"]
        assert kernel.parameter_bytes == want["parameter_bytes"]
        assert kernel.required_cluster == (tuple(want["cluster"]) if want["cluster"][0] else None)
        if kernel.required_block is None:  # of a required block the driver reports no bound
            assert kernel.max_threads in {None, want["max_threads"]}
        if not unbounded(name, kernel.name):
            assert kernel.local_bytes == want["local_bytes"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        # verified with nvcc 13.0, NVRTC 12.9 and 13.5 (cases j01, j03 … j07)
        (
            "j01.sm_80",
            {
                "axpy<double, 128>": {
                    "registers_per_thread": 12,
                    "static_shared_bytes": 1024,
                    "max_threads": 128,
                },
                "axpy<float, 256>": {
                    "registers_per_thread": 10,
                    "static_shared_bytes": 1024,
                    "max_threads": 256,
                },
            },
        ),
        ("j03.mb3.sm_86", {"tile8": {"registers_per_thread": 80, "stack_bytes": 104}}),
        (
            "j04.sm_90",
            {
                "dsm": {
                    "registers_per_thread": 12,
                    "static_shared_bytes": 512,
                    "required_cluster": (4, 1, 1),
                    "max_threads": 128,
                    "parameter_bytes": 128 + 8,
                }
            },
        ),
        (
            "j04.sm_120",
            {
                "dsm": {
                    "registers_per_thread": 14,
                    "static_shared_bytes": 512,
                    "required_cluster": (4, 1, 1),
                }
            },
        ),
        (
            "j05.sm_80",
            {
                "flat": {"registers_per_thread": 10, "stack_bytes": 0},
                "rec": {"registers_per_thread": 26, "stack_bytes": None},
            },
        ),
        # the kernel's own frame, and with the functions that it calls through pointers
        (
            "j06.sm_80",
            {
                "dispatch": {
                    "registers_per_thread": 24,
                    "frame_bytes": 16,
                    "cumulative_stack_bytes": 24,
                    "stack_bytes": 24,
                }
            },
        ),
        (
            "j07.sm_80",
            {
                "(anonymous namespace)::anon_k": {"registers_per_thread": 110, "stack_bytes": 384},
                "app::detail::first": {"registers_per_thread": 8},
                "app::detail::second": {"registers_per_thread": 10, "static_shared_bytes": 4100},
            },
        ),
        (
            "j07.sm_120",
            {
                "(anonymous namespace)::anon_k": {"registers_per_thread": 254, "stack_bytes": 384},
                "app::detail::first": {"registers_per_thread": 8},
                "app::detail::second": {"registers_per_thread": 10, "static_shared_bytes": 4100},
            },
        ),
    ],
)
def test_public_questions(name, expected):
    found = {kernel.demangled: kernel for kernel in inspect(DATA / f"{name}.cubin")}
    assert set(found) == set(expected)
    for kernel, values in expected.items():
        assert {key: getattr(found[kernel], key) for key in values} == values


def test_launch_bounds_and_clusters():
    found = kernels("zoo.sm_90.nvrtc12")
    assert found["plain"].max_threads is None
    assert found["bounded"].max_threads == found["bounded_cluster"].max_threads == 256
    assert found["bounded"].required_cluster is None
    assert found["clustered"].required_cluster == (2, 1, 1)
    block = found["blocks_of_clusters"]
    assert (block.required_block, block.required_cluster) == ((64, 2, 1), (2, 2, 1))
    assert block.max_threads == 128
    assert found["big_parameters"].parameter_bytes == 3008
    assert found["no_parameters"].parameter_bytes == 0
    assert found["named_barriers"].barriers == 6  # numbers up to 5 are in use


@pytest.mark.parametrize(
    ("name", "arch"),
    [
        ("zoo.sm_50.nvrtc12", "sm_50"),
        ("zoo.sm_90.nvrtc12", "sm_90"),
        ("zoo.sm_90.nvrtc13", "sm_90"),
        ("zoo.sm_120.nvrtc13", "sm_120"),
        ("j04.sm_100", "sm_100"),
    ],
)
def test_both_elf_flavours_tell_the_architecture(name, arch):
    assert {kernel.arch for kernel in kernels(name).values()} == {arch}


def test_recursion_is_said_to_be_recursion():
    for name in (n for n in LINKED if n.startswith("zoo")):
        found = kernels(name)
        for kernel in ("recursive", "mutually_recursive"):
            assert found[kernel].stack_bytes is found[kernel].local_bytes is None
            assert "recurs" in found[kernel].unknown["stack_bytes"]
        assert found["calls_two_deep"].stack_bytes > 200  # not every call is recursion


@pytest.mark.parametrize("name", LINKED)
def test_whether_the_stack_has_a_bound(name):
    """Yes, no, or why that cannot be told; where a bound is stated, the stack is known."""
    for kernel in kernels(name).values():
        reason = kernel.unknown.get("unbounded_stack", "")
        if unbounded(name, kernel.name):
            assert kernel.unbounded_stack is True, kernel.name
        elif kernel.arch == "sm_50" and kernel.unbounded_stack is None:
            # zoo.cu: those that call something which is not inlined
            assert kernel.name in {
                "known_pointers", "divides", "prints", "calls_two_deep", "recursive_with_stack",
            }  # fmt: skip
            assert "before 7.0" in reason
        else:
            assert kernel.unbounded_stack is False, kernel.name
            assert kernel.stack_bytes is not None
        assert bool(reason) == (kernel.unbounded_stack is None)


def test_code_that_is_not_linked_yet():
    found = kernels("zoo.sm_90.relocatable")
    # 256 floats and 32 doubles: the reservation comes with linking
    assert found["static_shared"].static_shared_bytes == 1024
    assert found["both_shared"].static_shared_bytes == 256
    assert found["own_stack"].stack_bytes == 400
    assert found["plain"].registers_per_thread == 10
    # the linker raises a kernel's registers to those of what it calls
    assert found["calls_two_deep"].registers_per_thread is None
    assert "not linked" in found["calls_two_deep"].unknown["registers_per_thread"]
    assert found["calls_two_deep"].unbounded_stack is None
    assert "not linked" in found["calls_two_deep"].unknown["unbounded_stack"]
    assert kernels("zoo.sm_90.linked")["calls_two_deep"].registers_per_thread > 24


@pytest.mark.parametrize("name", CUBINS)
def test_what_is_missing_has_a_reason(name):
    for kernel in kernels(name).values():
        values = dataclasses.asdict(kernel)
        missing = {key for key, value in values.items() if value is None}
        # what only other kinds of files tell has a default
        optional = {field.name for field in dataclasses.fields(kernel) if field.default is None}
        assert missing - optional == set(kernel.unknown) - optional
        assert all(kernel.unknown.values())
        assert {"spill_store_bytes", "spill_load_bytes", "min_blocks"} <= missing


def test_device_functions_are_not_kernels():
    assert not any("heavy" in name for name in kernels("j07.sm_80"))
    assert not any("walk" in name for name in kernels("zoo.sm_90.linked"))


def test_kernels_come_in_the_order_of_the_symbols():
    assert list(kernels("j05.sm_80")) == ["flat", "rec"]


@pytest.mark.parametrize("version", ["118", "121", "124"])
def test_older_assemblers_reserve_shared_memory_without_saying_so(version):
    found = kernels(f"shared.sm_90.ptxas{version}")
    assert {name: kernel.static_shared_bytes for name, kernel in found.items()} == {
        "k": 400,
        "k0": 0,
    }


ZOO = sorted(name for name in CUBINS if name.startswith("zoo."))


@pytest.mark.parametrize("name", ZOO)
def test_dynamic_shared_memory(name):
    """``zoo.cu`` has it in two kernels; a cubin shows it where there is no static one beside it."""
    found = kernels(name)
    decoded = "sm_50" not in name and "relocatable" not in name
    assert found["dynamic_shared"].uses_dynamic_shared is (True if decoded else None)
    assert found["both_shared"].uses_dynamic_shared is None
    others = [kernel for kernel in found.values() if not kernel.name.endswith("_shared")]
    assert others
    # the linker makes a section for those that use it, the assembler for all
    expected = False if name.endswith("linked") else None
    assert {kernel.uses_dynamic_shared for kernel in others} == {expected}
    for kernel in found.values():
        assert (kernel.uses_dynamic_shared is None) == ("uses_dynamic_shared" in kernel.unknown)


def test_no_dynamic_shared_memory():
    assert kernels("j05.sm_80")
    assert not any(kernel.uses_dynamic_shared for kernel in kernels("j05.sm_80").values())


def test_most_blocks_of_a_cluster_by_the_launch_bounds():
    """EIATTR_MAX_CLUSTER_RANK, see the README beside the data."""
    path = DATA.parent / "clusters" / "clusters.sm_90.cubin"
    found = {kernel.name: kernel for kernel in inspect(path)}
    assert {name: kernel.max_cluster_blocks for name, kernel in found.items()} == {
        "bounded": 4,
        "required": None,
        "plain": None,
    }
    assert found["required"].required_cluster == (2, 1, 1)
    assert found["bounded"].required_cluster is None
