"""docs/compiled.md says what each kind of source can tell: held against files of each kind."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest

from perfkit.compiled import tools
from perfkit.compiled.inspect import read
from perfkit.errors import Unavailable
from perfkit.kernel import KernelResources
from tests.compiled.containers import CONTAINERS, DATA, no_tools

__all__ = ["no_tools"]  # a fixture

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "compiled.md").read_text("utf-8")

#: column of the page -> files of that kind
SOURCES = {
    "cubin": ["cubin/*sm_*.cubin", "clusters/*.cubin"],
    "source, PTX": ["cubin/zoo.cu", "cubin/j0[134].cu", "clusters/clusters.cu"],
    "log": [
        "ptxas/b02.log",
        "ptxas/b09.log",
        "ptxas/whole.*.log",
        "ptxas/rdc.*.log",
        "cubin/zoo.*.ptxas.txt",
    ],
    "linker": ["ptxas/linked.*.log", "ptxas/link_only.*.log"],
    "report": ["ptxas/c0*.txt", "ptxas/*.usage.txt", "cubin/*sm_*.usage.txt"],
    "Triton": ["triton/sm80", "triton/sm90"],
    "Triton, no cubin": ["triton/metadata/*.json"],
}
EVERYWHERE = {"name", "demangled", "arch", "origin", "unknown"}


def table():
    """Field -> column -> yes, some or -."""
    rows = [line.strip("| ").split(" | ") for line in PAGE.splitlines() if line.startswith("| ")]
    start = next(i for i, row in enumerate(rows) if row[0] == "field")
    found = {}
    for row in rows[start + 1 :]:
        if not row[0].startswith("`"):
            break
        cells = dict(zip(rows[start][2:], row[2:], strict=True))
        for name in re.findall(r"`(\w+)`", row[0]):
            found[name] = cells
    return found


TABLE = table()


def kernels(patterns):
    paths = [path for pattern in patterns for path in sorted(DATA.glob(pattern))]
    assert len(paths) >= 2
    # code that is not linked yet knows less; the page says so
    paths = [path for path in paths if "relocatable" not in path.name]
    return [kernel for path in paths for kernel in read(path, arch="sm_90").kernels]


def test_every_field_is_there():
    assert set(TABLE) | EVERYWHERE == {one.name for one in fields(KernelResources)}


@pytest.mark.parametrize("source", SOURCES)
def test_what_a_source_can_tell(source):
    try:
        found = kernels(SOURCES[source])
    except Unavailable as error:
        pytest.skip(error.message)
    assert len(found) >= 2
    said = {name: cells[source] for name, cells in TABLE.items()}
    assert said == {name: known(found, name) for name in TABLE}


def known(found, name):
    values = [getattr(kernel, name) is not None for kernel in found]
    return "yes" if all(values) else "some" if any(values) else "-"


def test_what_the_page_says_of_a_missing_tool(no_tools):
    with pytest.raises(Unavailable) as caught:
        read(CONTAINERS / "shared.so")
    assert caught.value.exit_code == 4
    assert f"error: {caught.value.message}\n" in PAGE
    assert f"hint: {caught.value.hint}\n" in PAGE
    assert caught.value.hint == tools.CUOBJDUMP.hint
