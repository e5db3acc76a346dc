"""Several compilers that write whole records in turns: who calls a function is not sure."""

from __future__ import annotations

import random

import pytest

from tests.compiled.logs import frame, kernels, mixed, reading
from tests.compiled.own_kernels import nvrtc12

GMEM = "ptxas info    : 0 bytes gmem"
TIME = "ptxas info    : Compile time = 1.125 ms"


def record(name, own=0, total=None, arch="sm_90"):
    total = own if total is None else total
    return [
        f"ptxas info    : Compiling entry function '{name}' for '{arch}'",
        f"ptxas info    : Function properties for {name}",
        frame(own, 0),
        "ptxas info    : Used 32 registers, used 0 barriers"
        + (f", {total} bytes cumulative stack size" if total else ""),
    ]


def function(name, stack, spills):
    return [f"ptxas info    : Function properties for {name}", frame(stack, spills)]


def spills(*parts):
    """Spills of called functions, by kernel."""
    found = kernels("\n".join(line for part in parts for line in part) + "\n")
    for kernel in found.values():
        if kernel.callee_spill_store_bytes is None:
            assert kernel.unknown["callee_spill_store_bytes"]
    return {name: kernel.callee_spill_store_bytes for name, kernel in found.items()}


def test_one_compiler_after_another():
    first = [GMEM], record("a", 8, 48), [TIME], function("f", 40, 36)
    second = [GMEM], record("b"), [TIME], record("c", 0, 24), [TIME], function("g", 24, 4)
    assert spills(*first, *second) == {"a": 36, "b": None, "c": 4}
    old = [GMEM], record("d", 400), function("h", 0, 36)
    assert spills(*first, *old, *second) == {"a": 36, "b": None, "c": 4, "d": 36}


LIST = {
    "a record within another's": (
        [GMEM], record("a", 16, 56)[:2], [GMEM], record("a", 16, 56)[2:], [TIME],
        function("f", 40, 36), record("b", 48, 48), [TIME],
    ),
    "two targets of one run": (
        [GMEM], record("a", 64, 64, "sm_80"), [TIME], record("b", 64, 64), [TIME],
        function("f", 0, 36),
    ),
    "the functions of one before the other's time": (
        [GMEM], record("a", 64), [GMEM], record("b", 64), [TIME], [TIME], function("f", 0, 36),
    ),
    "a stack without the function that needs it": (
        [GMEM], record("a", 0, 40), [TIME], [GMEM], record("b", 64, 104), [TIME],
        function("f", 40, 36), function("g", 40, 8),
    ),
    "spills without a stack": (
        [GMEM], record("a", 40), [TIME], [GMEM], record("b"), [TIME], function("f", 0, 36),
    ),
}  # fmt: skip


@pytest.mark.parametrize("sign", LIST)
def test_signs_of_several_compilers(sign):
    assert set(spills(*LIST[sign]).values()) == {None}


@pytest.mark.parametrize("stack", [0, 40])
def test_a_kernel_that_may_be_recursive(stack):
    """Of a recursive kernel ptxas states no total: nor of one without any stack."""
    parts = (
        [GMEM], record("r", arch="sm_80"), [TIME], record("a"), [TIME],
        function("f", stack, 0), record("b", 8, 48), [TIME],
    )  # fmt: skip
    found = kernels("\n".join(line for part in parts for line in part) + "\n")
    for name in "ra":
        assert found[name].frame_bytes == 0
        assert found[name].stack_bytes == (None if stack else 0)
        assert found[name].local_bytes == (None if stack else 0)
    if stack:
        assert "may call it, recursively" in found["r"].unknown["stack_bytes"]
    assert found["b"].cumulative_stack_bytes == 48


def test_a_function_without_its_frame():
    """It may be the one that spills."""
    parts = [GMEM], record("a"), [TIME], function("f", 0, 0)[:1], function("g", 0, 0)
    assert spills(*parts) == {"a": None}
    found = kernels("\n".join(line for part in parts for line in part) + "\n")
    assert found["a"].unknown["callee_spill_load_bytes"].startswith("lines of a function")


def test_one_kernel_twice_in_one_run():
    parts = [GMEM], record("a", 64), [TIME], record("a", 64), [TIME], function("f", 0, 36)
    found = reading("\n".join(line for part in parts for line in part) + "\n").kernels
    assert [kernel.callee_spill_store_bytes for kernel in found] == [None, None]


def test_a_lost_line_is_no_sign():
    """What it said is not known, and the rest stays as it was."""
    rest = [GMEM], record("b", 0, 24), [TIME], function("g", 24, 4), [GMEM], record("z")
    gone = [GMEM], record("a", 0, 40), [TIME], function("f", 40, 36)[:1]
    assert spills(*gone, *rest)["b"] == 4
    gone = [GMEM], record("a", 0, 40), function("f", 40, 36)
    assert spills(*gone, *rest) == {"a": 36, "b": 4, "z": None}


def test_turns_rarely_go_unnoticed():
    """Whole records in turns: most are found out, and what is said is then mostly right."""
    said = wrong = 0
    for seed in range(200):
        chance = random.Random(seed)
        logs = []
        for process in range(3):
            log = [GMEM]
            for number in range(chance.randint(1, 5)):
                own, called = chance.choice([(0, None), (16, (24, 40)), (920, (0, 900))])
                total = own + (called[0] if called else 0)
                log += [*record(f"k{process}_{number}", own, total), TIME]
                log += function(f"f{process}_{number}", *called) if called else []
            logs.append(log)
        truth = spills(*logs)
        for name, value in spills(mixed(chance, logs, burst=12)).items():
            said += value is not None
            wrong += value is not None and value != truth[name]
    assert wrong <= 8
    assert said >= 50


@pytest.mark.usefixtures("nvrtc")
@pytest.mark.parametrize("arch", ["sm_52", "sm_80", "sm_120"])
def test_logs_of_one_compiler_show_no_signs(arch):
    """Real ones, with calls and spills of every kind, alone and one after the other."""
    compiler, texts, expected = nvrtc12(), [], {}
    for file, options in [("spills", ("--maxrregcount=32",)), ("calls", ()), ("bounds", ())]:
        text = compiler.compile(file, arch, options).log
        found = {k.name: k.callee_spill_store_bytes for k in kernels(text).values()}
        texts.append(text)
        expected |= found
    assert sum(bool(value) for value in expected.values()) >= 4
    found = kernels("\n".join(texts))
    assert {name: k.callee_spill_store_bytes for name, k in found.items()} == expected
