"""Names against c++filt, and names that no compiler made."""

from __future__ import annotations

import random
import time

import pytest

from perfkit.compiled.demangle import demangle, short_name
from tests.compiled.reports import DATA

NAMES = [line.split("\t") for line in (DATA / "names.tsv").read_text().splitlines()]

INTERNAL = "36_INTERNAL_63925627_6_j07_cu_c4023422"


def test_the_short_way_gives_the_same_name():
    chance = random.Random(4)
    for symbol, _ in NAMES:
        for _ in range(20):
            at = chance.randrange(len(symbol))
            broken = symbol[:at] + chance.choice("_SIE0vKP") + symbol[at + chance.randrange(3) :]
            for name in (symbol, broken, symbol[:at]):
                assert short_name(name) == demangle(name).name


def squeezed(text):
    return text.replace(" ", "")


def test_there_are_names():
    assert len(NAMES) >= 45


@pytest.mark.parametrize(("symbol", "expected"), NAMES, ids=range(len(NAMES)))
def test_cxxfilt_says_the_same(symbol, expected):
    """But for spaces, the return type of templates, and ``const`` of member functions."""
    found = demangle(symbol)
    assert found.name != symbol
    assert squeezed(expected).removesuffix("const").endswith(squeezed(found.signature))
    assert found.signature.startswith(found.name)


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("saxpy", "saxpy"),
        ("_Z5saxpyifPKfPf", "saxpy"),
        ("_Z4axpyIdLi128EEviT_PKS0_PS0_", "axpy<double, 128>"),
        ("_Z1kILb1ELj4ELc97EEvv", "k<true, 4u, (char)97>"),
        ("_ZN3app6detail6secondEPf", "app::detail::second"),
        # nvcc names the anonymous namespace after the file
        (
            "_ZN38_GLOBAL__N__63925627_6_j07_cu_c40234226anon_kEPdi",
            "(anonymous namespace)::anon_k",
        ),
        # … and puts internal linkage into a namespace of its own
        (
            f"_ZN{INTERNAL}38_GLOBAL__N__63925627_6_j07_cu_c40234225heavyEPdi",
            "(anonymous namespace)::heavy",
        ),
        # a clone that the linker numbers
        ("_Z4walkPKii$8", "walk"),
        ("_ZZ4mainENKUlvE_clEv", "main::{lambda()#1}::operator()"),
        ("_Z5applyIZ4mainEUlfE0_EvT_Pf", "apply<main::{lambda(float)#2}>"),
    ],
)
def test_names_as_cuda_makes_them(symbol, name):
    assert demangle(symbol).name == name


@pytest.mark.parametrize(
    "symbol", ["", "_Z", "_Zfoo", "_ZN", "_Z99999999999k", "_ZN3appE3", "_Z1kIXfooEEvv", "_ZTV1k"]
)
def test_what_is_not_understood_stays_as_it_is(symbol):
    assert demangle(symbol).signature == symbol


def test_mutated_names():
    chance = random.Random(3)
    letters = "NSTIEJXLDPRKFAMZUBCvijfd0123456789_.$s"
    for _ in range(10_000):
        text = list(chance.choice(NAMES)[0])
        for _ in range(chance.randint(1, 3)):
            at = chance.randrange(2, len(text) - 1)
            if chance.random() < 0.5:
                text[at] = chance.choice(letters)
            else:
                text[at:at] = text[max(2, at - 20) : at]
        assert demangle("".join(text)).name


@pytest.mark.parametrize(
    "symbol",
    [
        "_Z" + "N" * 8000,
        "_Z1f" + "P" * 8000 + "i",
        "_Z1fI" + "J" * 8000,
        "_Z1fILX" + "pl" * 4000,
        "_ZZ" * 5000,
        "_Z1f" + "F" * 8000,
        "_Z" + "9" * 8000,
        "_Z1k" + "Dp" * 4000,
    ],
)
def test_deep_names_are_given_up(symbol):
    assert demangle(symbol).signature == symbol


def test_a_name_that_doubles_at_every_step():
    """Each type holds the one before twice: 40 steps would make 2^40 characters."""
    digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    steps = ["1AIiiE"]
    for number in range(40):
        last = "S0_" if number == 0 else f"S{digits[min(1 + number, 35)]}_"
        steps.append(f"S_I{last * 2}E")
    began = time.process_time()
    demangle(f"_Z1f{''.join(steps)}")
    assert time.process_time() - began < 1


@pytest.mark.parametrize(
    "symbol", ["_ZC1v", "_ZC3cub6detail", "_ZD0Ev", "_ZL", "_ZNE", "_ZZE", "_ZSt"]
)
def test_no_symbol_has_an_empty_name(symbol):
    found = demangle(symbol)
    assert found.name
    assert short_name(symbol) == found.name
