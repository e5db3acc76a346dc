"""A name from a file cannot command a terminal, whichever kind of file it comes from."""

from __future__ import annotations

import json

import pytest

from perfkit.cli.app import main
from perfkit.compiled.inspect import inspect
from tests.compiled.containers import DATA, wheel

CUBIN = (DATA / "cubin/j04.sm_90.cubin").read_bytes()
BAD = "k\x07\x9d0;title"
LOG = f"""ptxas info    : Compiling entry function '{BAD}' for 'sm_90'
ptxas info    : Function properties for {BAD}
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 8 registers, used 0 barriers
"""
REPORT = f"""arch = sm_90
 Function {BAD}:
  REG:8 STACK:0 SHARED:0 LOCAL:0 CONSTANT[0]:360 TEXTURE:0 SURFACE:0 SAMPLER:0
"""


def written(capsys, cubin):
    assert main(["inspect", str(cubin), "-f", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    document["kernels"][0]["name"] = document["kernels"][0]["demangled"] = BAD
    return json.dumps(document).encode()


@pytest.fixture(params=["log", "report", "json", "cubin"])
def file(request, tmp_path, capsys):
    cubin = tmp_path / "whole.cubin"
    cubin.write_bytes(CUBIN)
    (kernel, *_) = inspect(cubin)
    name = kernel.name.encode()
    content = {
        "log": LOG.encode(),
        "report": REPORT.encode(),
        "json": written(capsys, cubin),
        "cubin": CUBIN.replace(name, b"\x07" + name[1:]),
    }
    path = tmp_path / "file"
    path.write_bytes(content[request.param])
    return path


def harmless(text):
    return all(char.isprintable() or char in "\n\t" for char in text)


def test_names(file):
    kernels = inspect(file)
    assert kernels
    assert all(harmless(kernel.name + kernel.demangled) for kernel in kernels)
    assert any("\ufffd" in kernel.name for kernel in kernels)


@pytest.mark.parametrize("more", [[], ["-f", "csv"], ["-f", "markdown"], ["--kernel", "nothing"]])
def test_whatever_is_printed(file, more, capsys):
    main(["inspect", str(file), *more])
    said = capsys.readouterr()
    assert said.out + said.err
    assert harmless(said.out + said.err)


def test_names_of_files(tmp_path, capsys):
    path = tmp_path / "a\n::error::b\x1b[31m\x9d.whl"
    assert main(["inspect", str(path)]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    wheel(path, {"b\x1b[2J.cubin": CUBIN, "c\x07.cubin": CUBIN[:99]})
    assert main(["inspect", str(path)]) == 0
    said = capsys.readouterr()
    assert "not read" in said.out + said.err
    assert harmless(said.out + said.err)
    assert not any(line.startswith("::") for line in (said.out + said.err).splitlines())
