"""Figures for the static gate: what each quantity is, who answers for a GPU, what is not known."""

from __future__ import annotations

import pytest

from perfkit.analysis.static_facts import StaticFacts
from perfkit.arch import catalog
from perfkit.gate.quantities import QUANTITIES
from perfkit.gate.static_line import parse_rule
from perfkit.report.views.fits import why
from tests.gate.kernels import kernel

FULL = kernel(
    "full",
    arch="sm_80",
    registers_per_thread=64,
    static_shared_bytes=4096,
    stack_bytes=16,
    frame_bytes=16,
    cumulative_stack_bytes=48,
    spill_store_bytes=8,
    spill_load_bytes=4,
    callee_spill_store_bytes=100,
    callee_spill_load_bytes=200,
    unbounded_stack=True,
    barriers=2,
    max_threads=256,
)


def facts(*kernels, gpu=None, **settings):
    targets = catalog.targets(gpu) if gpu else ()
    return StaticFacts(kernels, targets, explain=why, **settings)


def ask(line):
    return parse_rule(line).checks[0].asked


def value(one, line, place=None, **settings):
    return facts(one, **settings).value(one, ask(line), place)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("registers<=1", 64),
        ("spill_stores<=1", 108),  # with those of the functions that it calls
        ("spill_loads<=1", 204),
        ("spills<=1", 312),
        ("stack<=1", 48),
        ("frame<=1", 16),
        ("unbounded_stack==0", 1),
        ("static_shared<=1", 4096),
        ("barriers<=1", 2),
        # 64 registers: 8 warps take 16,384 of 65,536 registers, so 4 blocks of 256 threads
        ("blocks>=1", 4),
        ("warps>=1", 32),
        ("occupancy>=1", 0.5),
        ("blocks>=1@128 threads", 8),
        # 64 KiB + 1 KiB of 164 KiB
        ("blocks>=1@128 threads 60K smem", 2),
        ("fits", 1),
    ],
)
def test_quantities(line, expected):
    assert value(FULL, line) == (expected, None)


def test_every_quantity_is_computed():
    for name, quantity in QUANTITIES.items():
        end = {"fit": "", "work": "<=1s@gemm:64 f16 on a100"}
        default = f">={'1%' if quantity.unit == 'ratio' else 1}"
        asked = ask(f"{name}{end.get(quantity.scope, default)}")
        known = facts(FULL)
        for place in known.places(FULL, asked):
            assert known.value(FULL, asked, place).value is not None


def test_the_bound_of_work_is_that_of_roofline():
    """2 · 4096³ FLOP at 989.4 TFLOP/s: 138.9 µs; a capability alone has no rate."""
    one = facts(FULL)
    asked = ask("bound<=1ms@gemm:4096 f16 on h100")
    (place,) = one.places(FULL, asked)
    assert one.value(FULL, asked, place).value == pytest.approx(2 * 4096**3 / 989.4e12, rel=1e-3)
    found = value(FULL, "bound<=1ms@gemm:4096 f16")
    assert found.value is None
    assert "is no product" in found.why_not


@pytest.mark.parametrize(
    ("one", "line", "says"),
    [
        (kernel("k", unknown={"spill_store_bytes": "a cubin does not"}), "spills<=0", "a cubin"),
        (
            kernel(
                "k",
                spill_store_bytes=0,
                spill_load_bytes=0,
                unknown={"callee_spill_store_bytes": "line 7: a function spills"},
            ),
            "spills<=0",
            "of the functions that it calls: line 7",
        ),
        (kernel("k"), "registers<=1", "not in the file"),
        (kernel("k", registers_per_thread=8, static_shared_bytes=0), "occupancy>=1", "block size"),
        (kernel("k", static_shared_bytes=0), "occupancy>=1@64 threads", "registers_per_thread"),
        (
            kernel("k", registers_per_thread=8, static_shared_bytes=0, uses_dynamic_shared=True),
            "occupancy>=1@64 threads",
            "dynamic shared memory",
        ),
        (
            kernel("k", registers_per_thread=8, static_shared_bytes=0, uses_dynamic_shared=True),
            "fits@64 threads",
            "dynamic shared memory",
        ),
        (kernel("k", registers_per_thread=8), "fits@64 threads", "static shared bytes"),
        (
            kernel("k", arch="sm_999", registers_per_thread=8, static_shared_bytes=0),
            "occupancy>=1@64 threads",
            "sm_999",
        ),
    ],
)
def test_what_is_not_known_says_why(one, line, says):
    found = value(one, line)
    assert found.value is None
    assert says in found.why_not


def test_a_log_that_names_no_called_function_is_a_kernel_that_calls_none():
    reason = "the log names no function that the kernel calls"
    one = kernel(
        "k", spill_store_bytes=4, spill_load_bytes=0, unknown={"callee_spill_store_bytes": reason}
    )
    assert value(one, "spill_stores<=0") == (4, None)


def test_dynamic_shared_memory_may_be_said_or_come_with_the_kernel():
    one = kernel(
        "k", arch="sm_80", registers_per_thread=8, static_shared_bytes=0, uses_dynamic_shared=True
    )
    assert value(one, "blocks>=1@64 threads 80K smem").value == 2
    launched = kernel(
        "k",
        arch="sm_80",
        registers_per_thread=8,
        static_shared_bytes=0,
        uses_dynamic_shared=True,
        dynamic_shared_bytes=80 * 1024,
        threads=64,
    )
    assert value(launched, "blocks>=1").value == 2


# --- who answers ----------------------------------------------------------------------------------

OLD, NEW = kernel("k", arch="sm_80"), kernel("k", arch="sm_90")
LONE = kernel("lone", arch="sm_80")


def test_a_kernel_answers_on_the_gpus_that_load_it():
    one = facts(OLD, NEW, LONE, gpu="8.0,8.6,9.0")
    asked = ask("occupancy>=50%@64 threads")
    assert one.places(OLD, asked) == ["8.0", "8.6"]
    assert one.places(NEW, asked) == ["9.0"]
    # that no code of it runs on 9.0 is no matter of occupancy, unless a rule names that GPU
    assert one.places(LONE, asked) == ["8.0", "8.6"]
    asked = ask("occupancy>=50%@64 threads on 9.0")
    assert one.places(LONE, asked) == ["9.0"]
    assert one.value(LONE, asked, "9.0").why_not == "compiled for sm_80, and sm_90 does not run it"
    assert one.places(OLD, ask("registers<=64")) == [None]


def test_a_rule_may_name_other_gpus():
    one = facts(OLD, NEW, gpu="8.0")
    assert one.places(NEW, ask("fits on h100,h200")) == ["h100-sxm5", "h200-sxm"]
    assert one.places(NEW, ask("fits")) == []
    assert facts(OLD).places(OLD, ask("fits")) == [None]


def test_launches_that_fail_say_why():
    large = kernel("k", arch="sm_80", registers_per_thread=8, static_shared_bytes=100 * 1024)
    found = value(large, "fits@64 threads")
    assert found.value == 0
    assert "102,400 B" in found.why_not
    one = facts(LONE)
    asked = ask("fits on 9.0")
    assert one.value(LONE, asked, *one.places(LONE, asked))[0] == 0
    with_ptx = facts(LONE, ptx=("sm_80",))
    assert with_ptx.places(LONE, asked) == ["9.0"]
    assert "PTX" in with_ptx.value(LONE, asked, "9.0").why_not


def test_where_a_kernel_is_looked_for(tmp_path):
    path = tmp_path / "k.cu"
    path.write_text("\n__global__ void k() {}\n")
    assert facts(OLD, paths={id(OLD): path}).source(OLD) == (str(path), 2)
    assert facts(OLD).source(OLD) == (None, None)


def test_no_occupancy_at_all_says_why():
    assert value(FULL, "occupancy>=1@512 threads") == (0, "threads per block: 512 of 256")
