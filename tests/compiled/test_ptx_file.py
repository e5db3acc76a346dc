"""PTX text: compiled for the GPUs asked about, cached, and refused with reasons."""

from __future__ import annotations

import subprocess

import pytest

from perfkit.compiled import tools
from perfkit.compiled.inspect import inspect
from perfkit.errors import CompileError, InputError, Unavailable, UsageError
from tests.compiled.containers import DATA, needs_sh, no_tools, program, temporary
from tests.compiled.reports import ptxas

__all__ = ["no_tools", "temporary"]  # fixtures

SHARED = DATA / "cubin" / "shared.ptx"

BOUNDS = """
.version 7.8
.target sm_70
.address_size 64
.visible .entry second(.param .u64 p) .maxntid 128, 1, 1 .minnctapersm 4 { ret; }
.visible .entry first(.param .u64 p) { ret; }
"""
EXTERN = """
.version 7.8
.target sm_80
.address_size 64
.extern .func (.reg .b32 r) other();
.visible .entry calls() { .reg .b32 a; call (a), other; ret; }
"""


@pytest.fixture
def assembler(monkeypatch, temporary):
    for name in ("PTXAS", "CUDA_HOME", "CUDA_PATH"):
        monkeypatch.delenv(name, raising=False)
    try:
        return tools.find(tools.PTXAS)
    except Unavailable as error:
        pytest.skip(error.message)


@pytest.fixture
def written(tmp_path):
    def write(text, name="kernel.ptx"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


@pytest.mark.parametrize("arch", ["sm_80", "sm_86", "9.0", "sm_90a", "sm_120"])
def test_ptxas_says_the_same(arch, assembler, tmp_path):
    target = {"9.0": "sm_90"}.get(arch, arch)
    command = [assembler, "-v", f"-arch={target}", SHARED, "-o", tmp_path / "out.cubin"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    expected = ptxas(done.stdout + done.stderr)
    found = inspect(SHARED, arch=arch)
    assert [kernel.name for kernel in found] == ["k", "k0"]
    for kernel in found:
        want = expected[kernel.name]
        assert kernel.arch == target
        assert kernel.registers_per_thread == want.registers
        assert kernel.static_shared_bytes == want.shared
        assert kernel.barriers == want.barriers
        assert (kernel.spill_store_bytes, kernel.spill_load_bytes) == (0, 0)
    assert {kernel.static_shared_bytes for kernel in found} == {0, 400}
    assert found[0].origin.startswith(f"{SHARED}, ptxas 1")


def test_bounds_and_order_are_those_of_the_text(assembler, written):
    second, first = inspect(written(BOUNDS), arch="sm_80")
    assert (second.name, second.max_threads, second.min_blocks) == ("second", 128, 4)
    assert (first.name, first.max_threads, first.min_blocks) == ("first", None, None)


def test_by_content_and_with_a_zero_at_the_end(assembler, written):
    assert inspect(written(BOUNDS, "kernel.txt"), arch="sm_80")
    assert inspect(written(BOUNDS + "\0"), arch="sm_80")


@pytest.mark.parametrize(
    ("target", "arch", "compiled"),
    [
        ("sm_80", "sm_90", "sm_90"),
        ("sm_90a", "9.0", "sm_90a"),
        ("sm_90a", "sm_90a", "sm_90a"),
        ("sm_100f", "10.3", "sm_103f"),
        ("sm_90", "sm_100a", "sm_100a"),
    ],
)
def test_targets(target, arch, compiled, assembler, written):
    text = SHARED.read_text().replace(".target sm_80", f".target {target}")
    kernels = inspect(written(text.replace(".version 7.8", ".version 8.8")), arch=arch)
    assert {kernel.arch for kernel in kernels} == {compiled}


@pytest.mark.parametrize(
    ("target", "arch", "why"),
    [
        ("sm_90", "sm_80", "9.0 and later"),
        ("sm_90a", "sm_100", "9.0 only"),
        ("sm_100f", "sm_120", "10.0 and later ones of its family"),
    ],
)
def test_targets_that_it_is_not_for(target, arch, why, no_tools, written):
    text = SHARED.read_text().replace(".target sm_80", f".target {target}")
    with pytest.raises(CompileError, match=f"does not compile for {arch}") as caught:
        inspect(written(text), arch=arch)
    assert caught.value.log == f"error: the .target of the PTX is {target}: it is for {why}"


def test_most_registers(assembler, written):
    values = [f"v{n}" for n in range(60)]
    lines = [f"ld.global.u32 {v}, [q+{4 * n}];" for n, v in enumerate(values)]
    lines += ["bar.sync 0;", *(f"st.global.u32 [q+{8 * n}], {v};" for n, v in enumerate(values))]
    body = f".reg .b64 q; .reg .b32 {', '.join(values)}; ld.param.u64 q, [p]; {' '.join(lines)}"
    head, _, _ = BOUNDS.partition(".visible")
    path = written(f"{head} .visible .entry greedy(.param .u64 p) {{ {body} ret; }}")
    (free,), (capped,) = (inspect(path, arch="sm_80", max_registers=n) for n in (None, 32))
    assert free.registers_per_thread > 60
    assert capped.registers_per_thread <= 32
    assert capped.spill_store_bytes > 0


def test_calls_into_other_files(assembler, written):
    (kernel,) = inspect(written(EXTERN), arch="sm_90")
    assert kernel.registers_per_thread is None
    assert "not linked" in kernel.unknown["registers_per_thread"]


def test_the_second_time_nothing_is_compiled(assembler, written, monkeypatch):
    path = written(BOUNDS.replace("first", "cached"))
    compiled = inspect(path, arch="sm_80")
    monkeypatch.setattr(tools, "run", None)
    assert inspect(path, arch="sm_80") == compiled
    with pytest.raises(TypeError):
        inspect(path, arch="sm_86")


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        (".version 8.0\n", InputError, r"no \.target"),
        (".version 8.0\n.target sm_80\n.address_size 64\n", InputError, "the PTX has no kernel"),
        ("", InputError, r"no \.target"),
        (BOUNDS.replace("ret;", "retreat;"), CompileError, "does not compile for sm_80"),
        (BOUNDS.replace("7.8", "99.9"), Unavailable, r"does not compile .*Unsupported \.version"),
    ],
)
def test_what_does_not_compile(text, error, message, assembler, written):
    with pytest.raises(error, match=message) as caught:
        inspect(written(text), arch="sm_80")
    if error is CompileError:
        assert "kernel.ptx" in caught.value.log
        assert "retreat" in caught.value.log


def test_it_has_to_be_compiled_for_some_gpu(no_tools):
    with pytest.raises(UsageError, match="is PTX for sm_80: it has to be compiled") as caught:
        inspect(SHARED)
    assert "--gpu sm_80" in caught.value.hint


def test_there_is_no_compiler(no_tools, written):
    with pytest.raises(Unavailable, match="NVIDIA's ptxas") as caught:
        inspect(written(BOUNDS.replace("first", "never_compiled")), arch="sm_80")
    assert "pip install 'perfkit" in caught.value.hint


@needs_sh
@pytest.mark.parametrize(
    ("script", "log"),
    [
        ("kill -SEGV $$", "ptxas crashed"),
        ("sleep 60", "ptxas did not finish"),
        ("exit 0", ""),
        ("echo 'input.ptx, line 3; error : no' >&2; exit 255", "kernel.ptx, line 3; error : no"),
    ],
)
def test_a_compiler_that_fails(script, log, monkeypatch, tmp_path, temporary, written):
    monkeypatch.setenv("PTXAS", str(program(tmp_path / "ptxas", script)))
    monkeypatch.setattr(tools, "TIME_LIMIT", 0.3)
    with pytest.raises(CompileError, match="does not compile for sm_80") as caught:
        inspect(written(BOUNDS), arch="sm_80")
    assert log in caught.value.log
