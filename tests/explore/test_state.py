"""Fields, states and what they become; nothing here knows a terminal."""

from __future__ import annotations

import pytest

from perfkit.explore.fields import FIELDS, OPERATIONS, moved
from perfkit.explore.state import State
from perfkit.kernel import DType
from perfkit.models.operations import OPERATIONS as ALL_OPERATIONS
from perfkit.models.operations import operation
from tests.explore.desk import CUBIN, DESK, opened, typed

H100 = DESK.target("h100")
T4 = DESK.target("t4")
MAXWELL = DESK.target("5.2")


def step(name, text, by=1, *, large=False, target=H100, present=None):
    state = typed().having(**{name: text})
    return moved(state, name, by, large=large, target=target, present=present or {}).text(name)


@pytest.mark.parametrize(
    ("name", "text", "by", "large", "expected"),
    [
        ("threads", "256", 1, False, "288"),
        ("threads", "256", -1, True, "128"),
        ("threads", "250", 1, False, "256"),
        ("threads", "250", -1, False, "224"),
        ("threads", "32,8", 1, False, "288"),
        ("threads", "1024", 1, False, "1024"),
        ("threads", "32", -1, False, "32"),
        ("regs", "40", 1, False, "41"),
        ("regs", "41", 1, True, "48"),
        ("regs", "255", 1, True, "255"),
        ("regs", "1", -1, True, "1"),
        ("smem_dynamic", "20K", 1, False, "21K"),
        ("smem_dynamic", "20481", -1, False, "20K"),
        ("smem_dynamic", "227K", 1, True, "227K"),
        ("smem_static", "0", -1, False, "0K"),
        ("barriers", "1", 1, False, "2"),
        ("barriers", "16", 1, True, "16"),
        ("carveout", "", 1, False, "0B"),
        ("carveout", "0B", 1, False, "8KiB"),
        ("carveout", "8KiB", -1, True, ""),
        ("carveout", "50%", 1, False, "132KiB"),
        ("carveout", "50%", -1, False, "100KiB"),
        ("carveout", "228KiB", 1, False, "228KiB"),
        ("cluster", "", 1, False, "2"),
        ("cluster", "2", -1, False, ""),
        ("cluster", "16", 1, False, "16"),
        ("grid", "132", 1, False, "264"),
        ("grid", "100", 1, True, "200"),
        ("grid", "1", -1, True, "1"),
        ("dtype", "f64", 1, False, "f32"),
        ("op", "", 1, False, OPERATIONS[0]),
        ("op", OPERATIONS[0], -1, False, ""),
    ],
)
def test_steps_stay_inside_the_hardware(name, text, by, large, expected):
    assert step(name, text, by, large=large) == expected


def test_an_empty_field_steps_from_what_it_stands_for():
    assert step("regs", "", present={"regs": 80}) == "81"
    assert step("grid", "", present={"cluster": 8}) == "136"  # 132 SMs, whole clusters
    assert step("grid", "") == "132"


@pytest.mark.parametrize("name", FIELDS)
@pytest.mark.parametrize("text", ["x", "-1", "99999999999999999999999", "50%%", "٣", " "])
@pytest.mark.parametrize("target", [H100, T4, MAXWELL], ids=lambda target: target.label)
def test_no_text_breaks_a_step(name, text, target):
    for by in (1, -1):
        for large in (False, True):
            assert isinstance(step(name, text, by, large=large, target=target), str)


def test_shared_memory_that_is_dedicated_has_no_carveout():
    assert step("carveout", "", target=MAXWELL) == ""
    assert step("cluster", "", target=T4) == ""


def test_the_examples_are_operations_of_every_kind():
    assert {text.partition(":")[0] for text in OPERATIONS} == set(ALL_OPERATIONS)
    assert all(operation(text, DType.F16).bytes for text in OPERATIONS)


def test_a_state_without_a_file_keeps_the_numbers_of_its_kernel():
    state = opened(CUBIN)
    kernel = state.kernel or next(k for _, k in DESK.kernels(str(CUBIN), None))
    state = state.having(kernel=kernel, gpu="9.0")
    free = state.without_file()
    assert (free.path, free.kernel) == (None, None)
    assert free.regs == str(kernel.registers_per_thread)
    assert free.smem_static == str(kernel.static_shared_bytes)


def test_a_state_starts_with_numbers_in_sight():
    assert (State().completed().threads, State().completed().regs) == ("256", "32")
    assert State(threads="64").completed().threads == "64"


@pytest.mark.parametrize(
    ("message", "name"),
    [
        ("--threads 'x': not one to three whole numbers", "threads"),
        ("threads = 2000: compute capability 9.0 takes 1 to 1024", "threads"),
        ("--smem-dynamic 'x' is not a size", "smem_dynamic"),
        ("--smem-static 'x' is not a size", "smem_static"),
        ("--smem 300K: 1 bytes", "smem_dynamic"),
        ("the kernel", None),
    ],
)
def test_an_error_belongs_to_the_field_that_it_names(message, name):
    found = [key for key, field in FIELDS.items() if field.is_named_by(message)]
    assert found == ([name] if name else [])
