"""Time grows with the length of a text, whatever is repeated in it: no pattern runs away."""

from __future__ import annotations

import time

import pytest

from perfkit.compiled.declared import declared
from perfkit.compiled.demangle import demangle
from perfkit.compiled.includes import user_files
from perfkit.compiled.inspect import inspect
from perfkit.compiled.ptx import compiler_version, dynamic_shared_users, entries
from perfkit.compiled.warnings import warnings
from perfkit.errors import PerfkitError
from tests.fuzz import pieces

SIZE = 64 * 1024
MOST_SECONDS = 1.0

PTX = {
    "kernels without an end": ".entry k(",
    "functions without an end": ".func a {",
    "functions that return without an end": ".func (",
    "arrays without an end": ".extern .shared ",
    "an array's name": "a",
    "braces": "{",
    "lines": "\n",
    "blanks": " ",
    "names of kernels": ".entry ",
}


def chain():
    """Each function calls the one before it, and the first uses the array."""
    calls = ".func f0 {s} " + " ".join(f".func f{n} {{f{n - 1}}}" for n in range(1, 3000))
    return f"{calls} .entry k {{f2999}}"


def fast(call, *arguments):
    """The answer, within a second of the processor's time."""
    start = time.process_time()
    try:
        return call(*arguments)
    except PerfkitError as error:
        return error
    finally:
        assert time.process_time() - start < MOST_SECONDS


@pytest.mark.parametrize("text", PTX.values(), ids=PTX)
def test_ptx(text, tmp_path):
    whole = f".target sm_80\n.extern .shared .b8 s[];\n{text * (SIZE // len(text))}"
    for call in (entries, dynamic_shared_users, compiler_version):
        fast(call, whole)
        fast(call, f".extern .shared {whole}")
    path = tmp_path / "x.ptx"
    path.write_text(text * (SIZE // len(text)))
    assert isinstance(fast(inspect, path), PerfkitError)


def test_a_long_chain_of_calls():
    text = ".extern .shared .b8 s[];" + chain()
    assert fast(dynamic_shared_users, text) == ("k",)


def test_numbers_that_python_does_not_read():
    assert entries(f".entry k .minnctapersm {'9' * 5000} {{}}") == (("k", None),)
    assert demangle(f"_Z{'9' * 5000}x").name.startswith("_Z")


@pytest.mark.parametrize("text", sorted({*pieces.PTX, *pieces.REPORT, *pieces.JSON, b'{"', b"(: "}))
def test_any_text(text, tmp_path):
    whole = text * (SIZE // len(text) + 1)
    path = tmp_path / "file"
    path.write_bytes(whole)
    fast(inspect, path)
    words = whole.decode("utf-8", "replace")
    fast(declared, words)
    fast(warnings, words, "x")


@pytest.mark.parametrize("text", sorted(pieces.NAME))
@pytest.mark.parametrize("begin", ["_Z", "_Z1fI", "_ZN1aI1bE", "_Z1fIiEvT_"])
def test_names(begin, text):
    found = fast(demangle, begin + text.decode() * (16_000 // len(text)))
    assert len(found.signature) < 2**20


@pytest.mark.parametrize(
    "text", ["/*", "/* ", "#", "#include", "__has_include(", "\\\n", " ", '"', "//"]
)
def test_includes(text, tmp_path):
    whole = text * (SIZE // len(text)) + '\n#include "a.h"'
    fast(user_files, whole.encode(), tmp_path, [tmp_path])
    fast(declared, whole)
