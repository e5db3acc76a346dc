"""``perfkit inspect -f json`` read back, whole and broken."""

from __future__ import annotations

import json
import re
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

from perfkit.compiled.inspect import inspect
from perfkit.compiled.inspect_json import is_inspect_json, read_inspect_json
from perfkit.errors import InputError
from perfkit.kernel import KernelResources
from perfkit.report import json as report_json
from perfkit.report.views import inspect as view

DATA = Path(__file__).resolve().parents[1] / "data" / "cubin"
CUBINS = sorted(DATA.glob("*.cubin"))


def written(path, kernels):
    path.write_text(report_json.render("inspect", view.content(kernels)))
    return path


def test_there_are_cubins():
    assert len(CUBINS) >= 10


@pytest.mark.parametrize("cubin", CUBINS, ids=lambda path: path.name)
def test_every_kernel_comes_back_as_it_was(cubin, tmp_path):
    kernels = inspect(cubin)
    path = written(tmp_path / "kernels.json", kernels)
    assert read_inspect_json(path).kernels == kernels
    assert inspect(path) == kernels  # recognised by content
    assert kernels[-1] in inspect(path, kernel=re.escape(kernels[-1].demangled))


def test_every_field_comes_back(tmp_path):
    """Each field with a value of its own, so that none can be lost or swapped."""
    values = {}
    for number, one in enumerate(fields(KernelResources)):
        kind = str(one.type)
        values[one.name] = (
            f"text {number}"
            if kind == "str"
            else {"stack_bytes": "why"}
            if kind.startswith("dict")
            else (number, 1, 2)
            if kind.startswith("tuple")
            else True
            if kind.startswith("bool")
            else number
        )
    kernel = KernelResources(**values | {"arch": "sm_103f"})
    assert read_inspect_json(written(tmp_path / "k.json", [kernel])).kernels == (kernel,)


MINIMAL = {"schema": "perfkit.inspect/1", "kernels": [{"name": "k", "arch": "sm_80"}]}


def test_what_an_older_file_lacks_is_unknown_and_what_a_newer_one_adds_is_passed_over(tmp_path):
    path = tmp_path / "k.json"
    path.write_text(json.dumps(MINIMAL | {"more": 1}))
    (kernel,) = read_inspect_json(path).kernels
    assert (kernel.name, kernel.demangled, kernel.arch) == ("k", "k", "sm_80")
    assert kernel.registers_per_thread is None
    assert kernel.unknown["registers_per_thread"] == "the file is older than this quantity"
    newer = {"name": "k", "arch": "sm_80", "registers_per_thread": 8, "unheard_of": [1]}
    path.write_text(json.dumps(MINIMAL | {"kernels": [newer]}))
    assert read_inspect_json(path).kernels[0].registers_per_thread == 8


@pytest.mark.parametrize(
    ("head", "is_one"),
    [
        (b'{"schema": "perfkit.inspect/1", "kernels": []}', True),
        (b'\xef\xbb\xbf{\n "schema":"perfkit.inspect/2"', True),
        (b'{"kernels": [{"arch"', True),  # keys sorted
        (b'{"schema": "perfkit.occupancy/1"', False),
        (b'{"hash": "6a0974e9"', False),  # of Triton
        (b"[]", False),
        (b"", False),
        (b"\x7fELF", False),
    ],
)
def test_recognised_by_how_it_begins(head, is_one):
    assert is_inspect_json(head) is is_one


def changed(**values):
    return MINIMAL | {"kernels": [MINIMAL["kernels"][0] | values]}


@pytest.mark.parametrize(
    ("document", "says"),
    [
        ({"schema": "perfkit.inspect/2", "kernels": []}, "perfkit.inspect/2"),
        ({"schema": "perfkit.occupancy/1", "kernels": []}, "perfkit.occupancy/1"),
        ({"kernels": []}, "schema is None"),
        ([1], "schema is 'list'"),
        (MINIMAL | {"kernels": []}, "holds no kernels"),
        (MINIMAL | {"kernels": {}}, "holds no kernels"),
        (MINIMAL | {"kernels": [1]}, r"kernels\[0\]: is no object"),
        (MINIMAL | {"kernels": [{"name": "k"}]}, r"kernels\[0\]\.arch: is missing"),
        (changed(name=""), r"kernels\[0\]\.name: '' is no text"),
        (changed(name=7), "7 is no text"),
        (MINIMAL | {"unread": -1}, "unread: -1 is no whole number"),
        (MINIMAL | {"unread": None}, "unread: None is no whole number"),
        (changed(arch="gfx942"), r"kernels\[0\]\.arch: 'gfx942' is no architecture"),
        (changed(arch="sm_" + "9" * 5000), "is no architecture"),
        (changed(arch="sm_\u0669\u0660"), "is no architecture"),
        (changed(max_threads=0), r"max_threads: 0 is no size"),
        (changed(threads=0), "0 is no size"),
        (changed(required_cluster=[1, 0, 1]), "0 is no size"),
        (changed(demangled=[]), "is no text"),
        (changed(registers_per_thread="8"), r"registers_per_thread: '8' is no whole number"),
        (changed(registers_per_thread=True), "True is no whole number"),
        (changed(registers_per_thread=8.0), "8.0 is no whole number"),
        (changed(registers_per_thread=-1), "-1 is no whole number"),
        (changed(registers_per_thread=2**70), "is no whole number"),
        (changed(required_block=[1, 2]), "not three numbers"),
        (changed(required_block=[1, 2, "3"]), "'3' is no whole number"),
        (changed(unknown=[]), "is no object"),
        (changed(unknown={"a": 1}), "1 is no text"),
        (changed(unknown={"a": "x" * 999} | {"b": ["y" * 999]}), "…"),
    ],
)
def test_what_is_wrong_and_where(tmp_path, document, says):
    path = tmp_path / "k.json"
    path.write_text(json.dumps(document))
    with pytest.raises(InputError, match=says) as caught:
        read_inspect_json(path)
    assert str(path) in str(caught.value)
    assert len(str(caught.value)) < len(str(path)) + 200


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b'{"schema": NaN', b"\xff\xfe{", b"[" * 100_000, b'{"kernels": ' + b"9" * 9000],
)
def test_what_is_no_json(tmp_path, data):
    path = tmp_path / "k.json"
    path.write_bytes(data)
    with pytest.raises(InputError, match="is no JSON"):
        read_inspect_json(path)


def test_missing_files_and_directories(tmp_path):
    for path in (tmp_path, tmp_path / "none.json"):
        with pytest.raises(InputError):
            read_inspect_json(path)


def test_broken_files_only_raise_what_is_documented(tmp_path):
    """Cut anywhere, and with any byte changed."""
    path = written(tmp_path / "k.json", [replace(inspect(CUBINS[0])[0], unknown={})])
    whole = path.read_bytes()
    random = np.random.default_rng(3)
    broken = [whole[:cut] for cut in range(0, len(whole), 11)]
    for place, value in zip(
        random.integers(0, len(whole), 600), random.integers(0, 256, 600), strict=True
    ):
        broken.append(whole[:place] + bytes([value]) + whole[place + 1 :])
    refused = 0
    for data in broken:
        path.write_bytes(data)
        try:
            assert read_inspect_json(path)
        except InputError:
            refused += 1
    assert 200 < refused < len(broken)
