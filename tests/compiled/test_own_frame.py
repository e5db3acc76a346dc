"""A kernel's own frame where it calls functions that have one too; against ``ptxas -v``."""

from __future__ import annotations

from dataclasses import replace

import pytest

from perfkit.compiled.cubin import read_cubin
from perfkit.compiled.elf import read_elf
from perfkit.compiled.inspect import inspect
from perfkit.compiled.nv_info import read_function_table
from perfkit.compiled.own_frame import OwnFrames
from tests.compiled.reports import DATA

J06 = DATA / "j06.sm_80.cubin"


def test_the_frame_is_without_what_is_called():
    """``bytes stack frame`` says 16, ``cumulative stack size`` and cuobjdump say 24."""
    (kernel,) = inspect(J06)
    assert (kernel.frame_bytes, kernel.cumulative_stack_bytes, kernel.stack_bytes) == (16, 24, 24)


def test_the_frame_of_a_recursive_kernel_is_known():
    found = {kernel.name: kernel for kernel in inspect(DATA / "zoo.sm_90.nvrtc13.cubin")}
    frames = {
        name: (kernel.frame_bytes, kernel.cumulative_stack_bytes) for name, kernel in found.items()
    }
    assert frames["recursive_with_stack"] == (400, None)
    assert frames["recursive"] == (0, None)
    assert frames["known_pointers"] == (0, 8)
    assert "recursive" in found["recursive"].unknown["cumulative_stack_bytes"]


@pytest.mark.parametrize("name", ["zoo.sm_90.linked", "zoo.sm_90.relocatable"])
def test_code_compiled_on_its_own(name):
    found = {kernel.name: kernel for kernel in inspect(DATA / f"{name}.cubin")}
    frames = {key: found[key].frame_bytes for key in ("calls_two_deep", "own_stack", "prints")}
    assert frames == {"calls_two_deep": 0, "own_stack": 400, "prints": 8}
    if name.endswith("linked"):
        assert found["calls_two_deep"].cumulative_stack_bytes == 208 + 88


def test_without_the_section_it_is_not_known():
    data = J06.read_bytes().replace(b".debug_frame\0", b".debug_fraud\0")
    (kernel,) = read_cubin(data, origin="x")
    assert (kernel.frame_bytes, kernel.cumulative_stack_bytes) == (None, 24)
    assert "together with the functions" in kernel.unknown["frame_bytes"]


def test_every_byte_of_the_section_may_be_wrong():
    data = J06.read_bytes()
    elf = read_elf(data, origin="x")
    functions = read_function_table(elf)
    (kernel,) = [function for function in elf.functions if function.is_kernel]
    (section,) = [s for s in elf.sections.values() if s.name == ".debug_frame"]
    seen = set()
    for at in range(section.offset, section.offset + section.size):
        for byte in (0x00, 0x3F, 0x80, 0xFF):
            broken = replace(elf, data=data[:at] + bytes([byte]) + data[at + 1 :])
            size, why = OwnFrames(broken, functions).of(kernel)
            assert (size is None) == bool(why)
            assert size is None or 0 <= size <= 24
            seen.add(size)
    assert {16, None} <= seen
