"""Who is compared with whom; nobody is dropped."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from perfkit.analysis.pairing import match
from perfkit.compiled.inspect import inspect
from tests.analysis.test_diff import kernel

DATA = Path(__file__).resolve().parents[1] / "data" / "cubin"


def matched(old, new):
    pairs, vanished, added = match(old, new)
    assert len(old) == len(pairs) + len(vanished)
    assert len(new) == len(pairs) + len(added)
    label = lambda k: f"{k.demangled}@{k.arch}#{k.registers_per_thread}"  # noqa: E731
    return (
        [(label(a), label(b)) for a, b in pairs],
        [label(k) for k in vanished],
        [label(k) for k in added],
    )


def test_by_name_and_architecture():
    old = [kernel("a"), kernel("b"), kernel("b", arch="sm_90")]
    new = [kernel("b", arch="sm_90"), kernel("a"), kernel("a", arch="sm_90a")]
    pairs, vanished, added = matched(old, new)
    assert sorted(pairs) == [("a@sm_80#32",) * 2, ("b@sm_90#32",) * 2]
    assert (vanished, added) == (["b@sm_80#32"], ["a@sm_90a#32"])


def test_several_of_one_name_are_paired_in_order_and_none_is_dropped():
    old = [kernel("k", registers_per_thread=regs) for regs in (255, 128, 64)]
    new = [kernel("k", registers_per_thread=regs) for regs in (250, 120)]
    pairs, vanished, added = matched(old, new)
    assert pairs == [("k@sm_80#255", "k@sm_80#250"), ("k@sm_80#128", "k@sm_80#120")]
    assert (vanished, added) == (["k@sm_80#64"], [])


def named(symbol, shown):
    return replace(kernel(symbol), demangled=shown)


def test_a_symbol_counts_more_than_how_it_is_shown():
    """With an overload in the file both are shown with their parameters."""
    old = [named("_Z1fi", "f")]
    new = [named("_Z1ff", "f(float)"), named("_Z1fi", "f(int)")]
    pairs, _, added = matched(old, new)
    assert pairs == [("f@sm_80#32", "f(int)@sm_80#32")]
    assert added == ["f(float)@sm_80#32"]


def test_another_parameter_is_still_the_same_kernel_template_arguments_are_not():
    old = [named("_Z4axpyIfLi256EEviPf", "axpy<float, 256>")]
    new = [
        named("_Z4axpyIdLi256EEviPd", "axpy<double, 256>"),
        named("_Z4axpyIfLi256EEviPff", "axpy<float, 256>"),
    ]
    pairs, _, added = matched(old, new)
    assert pairs == [("axpy<float, 256>@sm_80#32",) * 2]
    assert added == ["axpy<double, 256>@sm_80#32"]


def test_a_log_with_plain_names_and_a_cubin_with_symbols():
    old = [named("axpy<float, (int)4>(int, float*)", "axpy<float, (int)4>(int, float*)")]
    new = [
        named("axpy<float, (int)4>(int, float*, bool)", "axpy<float, (int)4>(int, float*, bool)")
    ]
    assert len(matched(old, new)[0]) == 1
    cubin = [named("_Z6reducePKfPf", "reduce")]
    log = [named("reduce(float const*, float*)", "reduce(float const*, float*)")]
    assert len(matched(cubin, log)[0]) == 1


def test_the_hash_of_an_anonymous_namespace_changes_with_the_file():
    old = inspect(DATA / "j07.sm_80.cubin")
    new = [replace(k, name=k.name.replace("63925627", "0badcafe")) for k in old]
    assert [k.name for k in new] != [k.name for k in old]
    pairs, vanished, added = match(old, new)
    assert [(a.demangled, b.demangled) for a, b in pairs].count(
        ("(anonymous namespace)::anon_k",) * 2
    ) == 1
    assert (len(pairs), vanished, added) == (3, (), ())


def test_a_log_through_cppfilt_has_the_type_that_a_template_returns():
    old = [named("_ZN2ns4axpyIfLi256EEEviPf", "ns::axpy<float, 256>"), named("_Z1gPf", "g")]
    written = [
        "void ns::axpy<float, 256>(int, float*)",
        "g(float*)",
        "void ns::axpy<float, 2>(int)",
    ]
    pairs, vanished, added = matched(old, [kernel(name) for name in written])
    assert [new.partition("@")[0] for _, new in pairs] == written[:2]
    assert not vanished
    assert len(added) == 1
