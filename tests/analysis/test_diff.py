"""Two builds: what counts as worse, and in which order it is said."""

from __future__ import annotations

import random

import pytest

from perfkit.analysis.diff import OCCUPANCY, QUANTITIES, diff, occupancy
from perfkit.compiled.log_records import NO_CALLEE
from perfkit.errors import InvalidLaunch, UsageError
from perfkit.kernel import KernelResources


def kernel(name, **given):
    known = {
        "demangled": name,
        "arch": "sm_80",
        "registers_per_thread": 32,
        "static_shared_bytes": 0,
        "stack_bytes": 0,
        "spill_store_bytes": 0,
        "spill_load_bytes": 0,
        "local_bytes": 0,
        "constant_bytes": 360,
        "parameter_bytes": 8,
        "barriers": 0,
        "max_threads": 256,
        "min_blocks": None,
        "required_block": None,
        "required_cluster": None,
        "origin": "test",
    }
    return KernelResources(name=name, **(known | given))


def one(old=None, new=None, **options):
    """The pair of one kernel with these numbers before and now."""
    found = diff([kernel("k", **(old or {}))], [kernel("k", **(new or {}))], **options)
    assert (found.new, found.vanished) == ((), ())
    return found.pairs[0]


def verdicts(pair):
    return {
        change.quantity.name: change.verdict
        for change in pair.changes
        if change.verdict not in {"same", "unknown"}
    }


def test_nothing_in_common_is_an_error():
    with pytest.raises(UsageError, match=r"no kernel in common: a \(sm_80\) before, b \(sm_80\)"):
        diff([kernel("a")], [kernel("b")])
    with pytest.raises(UsageError, match=r"k \(sm_80\) before, k \(sm_86\) now"):
        diff([kernel("k")], [kernel("k", arch="sm_86")])
    with pytest.raises(UsageError, match="1 more"):
        diff([kernel(name) for name in "abcd"], [kernel("k")])
    with pytest.raises(UsageError, match="no kernel in common"):
        diff([], [])


def test_nothing_known_is_an_error():
    names = (
        "registers_per_thread", "static_shared_bytes", "stack_bytes", "spill_store_bytes",
        "spill_load_bytes", "constant_bytes", "barriers", "max_threads",
    )  # fmt: skip
    nothing = dict.fromkeys(names)
    with pytest.raises(UsageError, match="no quantity that both"):
        one(nothing, {})


# --- what is worse --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("spill_store_bytes", "worse"),
        ("spill_load_bytes", "worse"),
        ("static_shared_bytes", "worse"),
        ("stack_bytes", "worse"),
        ("barriers", "worse"),
        ("constant_bytes", "changed"),
    ],
)
def test_more_and_less(name, more):
    less = {"worse": "better"}.get(more, more)
    few, many = {name: 8}, {name: 16}
    for old, new, expected in ((few, many, more), (many, few, less), (few, few, "unchanged")):
        pair = one(old, new)
        assert pair.status == expected
        assert verdicts(pair) == ({} if expected == "unchanged" else {name: expected})


def test_a_stack_that_loses_its_bound_is_worse():
    bounded, endless = {"unbounded_stack": False}, {"unbounded_stack": True, "stack_bytes": None}
    assert verdicts(one(bounded, endless)) == {
        "unbounded_stack": "worse",
        "stack_bytes": "not_comparable",
    }
    assert one(bounded, endless).status == "worse"
    assert verdicts(one(endless, bounded))["unbounded_stack"] == "better"
    assert one(endless, endless).status == "unchanged"


def test_what_the_kernel_calls_counts():
    """As in a log: None where it names nothing that the kernel calls."""
    clean = {"callee_spill_store_bytes": None, "cumulative_stack_bytes": None}
    calls = {"callee_spill_store_bytes": 4612, "cumulative_stack_bytes": 4640}
    assert verdicts(one(clean, calls)) == {"spill_store_bytes": "worse", "stack_bytes": "worse"}
    assert verdicts(one(calls, clean)) == {"spill_store_bytes": "better", "stack_bytes": "better"}
    own = {"spill_store_bytes": 4612, "stack_bytes": 4640}
    assert one(calls, own).status == "unchanged"
    # a cubin knows no spills at all
    assert one(calls, {"spill_store_bytes": None}).status == "not_comparable"


def test_spills_of_what_the_kernel_calls_may_not_be_known():
    """A log with functions beside the kernels does not say who calls them: not 0, but unknown."""
    why = "line 7: a function spills, and who calls it is not in the log"
    names = ("callee_spill_store_bytes", "callee_spill_load_bytes")
    apart = {**dict.fromkeys(names), "unknown": dict.fromkeys(names, why)}
    for old, new in ((apart, {}), ({}, apart)):
        pair = one(old, new)
        assert pair.status == "not_comparable"
        spills = [c for c in pair.changes if c.quantity.name.startswith("spill")]
        assert len(spills) == 2
        assert {c.why_not for c in spills} == {f"of the functions that it calls: {why}"}
    # both unknown are no change, and no evidence of the same
    spills = [c for c in one(apart, apart).changes if c.quantity.name.startswith("spill")]
    assert {c.verdict for c in spills} == {"unknown"}
    # a log of whole records that names no function: the kernel calls none
    none = {**dict.fromkeys(names), "unknown": dict.fromkeys(names, NO_CALLEE)}
    assert one(none, {}).status == "unchanged"


def test_registers_within_one_step_are_worse_without_occupancy_being_so():
    """33 to 40 registers are one allocation: 1,280 a warp."""
    assert verdicts(one({"registers_per_thread": 33}, {"registers_per_thread": 40})) == {
        "registers_per_thread": "worse"
    }
    assert verdicts(one({"registers_per_thread": 40}, {"registers_per_thread": 41})) == {
        "registers_per_thread": "worse",
        OCCUPANCY: "worse",
    }


def test_better_in_one_and_worse_in_another_is_mixed():
    """j03 on 8.6 with 256 threads: 122 registers and no spills, 80 and 344 bytes of them."""
    pair = one(
        {"registers_per_thread": 122, "arch": "sm_86"},
        {"registers_per_thread": 80, "spill_store_bytes": 344, "arch": "sm_86"},
    )
    assert pair.status == "mixed"
    occupancies = [(c.old, c.new) for c in pair.changes if c.quantity.name == OCCUPANCY]
    assert occupancies == [(16 / 48, 24 / 48)]


def test_unknown_is_never_a_change_of_zero():
    for old, new in (({"stack_bytes": None}, {}), ({}, {"stack_bytes": None})):
        pair = one(old, new)
        assert pair.status == "not_comparable"
        assert verdicts(pair) == {"stack_bytes": "not_comparable"}
        assert all(change.growth == 0 for change in pair.changes)
    both = one({"stack_bytes": None}, {"stack_bytes": None})
    assert both.status == "unchanged"
    # worse in what can be compared is worse
    pair = one({"stack_bytes": None}, {"registers_per_thread": 33})
    assert pair.status == "worse"


def test_reasons_come_from_the_side_that_does_not_know():
    pair = one({}, {"stack_bytes": None, "unknown": {"stack_bytes": "recursion"}})
    (change,) = [c for c in pair.changes if c.quantity.name == "stack_bytes"]
    assert change.why_not == "recursion"


# --- occupancy ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "options", "ratio"),
    [
        ({}, {}, 1.0),  # 256 threads, 32 registers on 8.0
        ({"registers_per_thread": 64}, {}, 0.5),
        ({"registers_per_thread": 64}, {"threads": 1024}, 0),  # above the bound of 256
        ({"registers_per_thread": 64, "max_threads": None}, {"threads": 1024}, 0.5),
        ({"max_threads": 96}, {}, 63 / 64),  # 21 blocks of 3 warps
        ({"required_block": (32, 3, 1)}, {}, 63 / 64),
        ({"threads": 96}, {}, 63 / 64),  # how the file says it is launched
        # 80 KiB and a reserved one: two blocks of 8 warps in 164 KiB
        ({"static_shared_bytes": 80 * 1024}, {}, 0.25),
        ({"static_shared_bytes": 1024}, {"dynamic_bytes": 79 * 1024}, 0.25),
        ({"dynamic_shared_bytes": 80 * 1024}, {}, 0.25),
        ({"dynamic_shared_bytes": 80 * 1024}, {"dynamic_bytes": 0}, 1.0),
        ({"dynamic_shared_bytes": 200 * 1024}, {}, 0),  # does not launch
    ],
)
def test_occupancy_is_that_of_the_launch(given, options, ratio):
    assert occupancy(kernel("k", **given), **options).value == ratio


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"max_threads": None}, "no launch bounds"),
        ({"registers_per_thread": None, "unknown": {"registers_per_thread": "PTX"}}, "PTX"),
        ({"static_shared_bytes": None}, "not in the file"),
        ({"arch": "sm_30"}, "older than what the database holds"),
        ({"arch": "?"}, "unknown compute capability"),
    ],
)
def test_occupancy_that_cannot_be_told(given, why):
    found = occupancy(kernel("k", **given))
    assert found.value is None
    assert why in found.why_not


def test_more_threads_than_any_block():
    with pytest.raises(InvalidLaunch, match="1025"):
        one(threads=1025)


# --- order ----------------------------------------------------------------------------------------


def test_worst_first_whatever_the_order_of_the_files():
    old = [kernel(name) for name in "abcdefg"]
    new = [
        kernel("a", registers_per_thread=24),  # better
        kernel("b"),
        kernel("c", stack_bytes=8),
        kernel("d", registers_per_thread=64),  # half the occupancy
        kernel("e", spill_store_bytes=4),
        kernel("f", spill_store_bytes=400, registers_per_thread=30),  # mixed
        kernel("g", barriers=None),
    ]
    for seed in range(5):
        shuffled = random.Random(seed).sample(old, len(old)), random.Random(seed + 9).sample(new, 7)
        found = diff(*shuffled)
        assert [pair.new.name for pair in found.pairs] == ["d", "e", "c", "f", "g", "a", "b"]


def test_every_compared_quantity_is_a_field_or_derived():
    derived = {"occupancy", "block_threads"}
    fields = set(KernelResources.__dataclass_fields__)
    assert {quantity.name for quantity in QUANTITIES} <= fields | derived
