"""Caches of Triton and TorchInductor: how a kernel is launched, and what its cubin needs."""

from __future__ import annotations

import json
import shutil

import pytest

from perfkit.compiled.inspect import inspect, read
from perfkit.compiled.triton_cache import Foreign, read_entry
from perfkit.errors import InputError
from perfkit.models.occupancy import occupancy
from tests.compiled.containers import DATA

TRITON = DATA / "triton"
#: what Triton 3.9 writes, as far as it is read
CURRENT = {
    "target": {"backend": "cuda", "arch": 90, "warp_size": 32},
    "num_warps": 4,
    "num_ctas": 1,
    "num_stages": 3,
    "shared": 1024,
    "name": "kernel",
}


@pytest.fixture
def entry(tmp_path):
    """Reads metadata that are written to a file of their own."""

    def write(metadata, name="kernel.json"):
        path = tmp_path / name
        path.write_text(metadata if isinstance(metadata, str) else json.dumps(metadata))
        return read_entry(path)

    return write


@pytest.mark.parametrize(
    ("file", "name", "arch", "threads", "shared"),
    [
        ("d11a", "add_kernel", "sm_75", 128, 0),
        ("d11b", "attn_fwd", "sm_89", 128, 27136),
    ],
)
def test_metadata_alone(file, name, arch, threads, shared):
    """Case d11."""
    (kernel,) = inspect(TRITON / "metadata" / f"{file}.json")
    assert (kernel.name, kernel.demangled, kernel.arch) == (name, name, arch)
    assert kernel.threads == threads
    assert kernel.dynamic_shared_bytes == shared
    assert kernel.static_shared_bytes == 0
    assert kernel.num_stages == 3
    assert kernel.registers_per_thread is None
    assert "the cubin is not beside" in kernel.unknown["registers_per_thread"]


def test_case_d11_shared_memory_limits_to_three_blocks():
    from perfkit.arch.catalog import capability

    (kernel,) = inspect(TRITON / "metadata" / "d11b.json")
    found = occupancy(
        capability("8.9"), threads=kernel.threads, regs=32, smem=kernel.dynamic_shared_bytes
    )
    assert found.limits.shared_memory == 3


@pytest.mark.parametrize(("folder", "arch"), [("sm80", "sm_80"), ("sm90", "sm_90a")])
def test_with_the_cubin(folder, arch):
    path = TRITON / folder
    (kernel,) = inspect(path)
    (code,) = inspect(path / "row_sum.cubin")
    metadata = json.loads((path / "row_sum.json").read_text())
    assert kernel.name == "row_sum"
    assert kernel.arch == code.arch == arch
    assert kernel.registers_per_thread == code.registers_per_thread is not None
    assert kernel.threads == metadata["num_warps"] * 32 == 256
    assert kernel.dynamic_shared_bytes == metadata["shared"] == 32
    assert kernel.num_stages == metadata["num_stages"] == 2
    assert kernel.origin == str(path / "row_sum.cubin")
    assert inspect(path / "row_sum.json") == (kernel,)


def test_a_whole_cache(tmp_path):
    """Nested as TorchInductor nests it; what else lies there does not matter."""
    cache = tmp_path / "torchinductor_user" / "triton" / "0"
    for folder in ("sm80", "sm90"):
        shutil.copytree(TRITON / folder, cache / folder)
        (cache / folder / "row_sum.ttir").write_text("module {}")
        (cache / folder / "row_sum.ptx").write_text(".version 8.8\n.target sm_80\n")
    (tmp_path / "torchinductor_user" / "best_config.json").write_text('{"num_warps": 4}')
    reading = read(tmp_path)
    assert [(kernel.name, kernel.arch) for kernel in reading.kernels] == [
        ("row_sum", "sm_80"),
        ("row_sum", "sm_90a"),
    ]
    assert reading.notes == ()


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"target": ["cuda", 80]}, {"arch": "sm_80", "threads": 128}),
        ({"target": ["cuda", 75, 32]}, {"arch": "sm_75"}),
        ({"target": None, "arch": 80}, {"arch": "sm_80"}),
        ({"target": 86}, {"arch": "sm_86"}),
        ({"target": None, "arch": "sm89"}, {"arch": "sm_89"}),
        ({"target": None, "arch": "sm_100a"}, {"arch": "sm_100a"}),
        ({"target": None, "cc": 70}, {"arch": "sm_70"}),
        ({"target": {"backend": "cuda", "arch": 90, "warp_size": 64}}, {"threads": 256}),
        ({"num_warps": 8, "warp_size": 32}, {"threads": 256}),
        ({"num_warps": None}, {"threads": None}),
        ({"num_warps": -4}, {"threads": None}),
        ({"num_warps": True}, {"threads": None}),
        ({"shared": "much"}, {"dynamic_shared_bytes": None}),
        ({"name": None}, {"name": "kernel"}),
        ({"name": "two\nlines"}, {"name": "kernel"}),
        ({"num_ctas": 2}, {"required_cluster": (2, 1, 1)}),
        ({"num_ctas": 4, "cluster_dims": [2, 2, 1]}, {"required_cluster": (2, 2, 1)}),
        ({"cluster_dims": [1, 1, 1]}, {"required_cluster": None}),
        ({"cluster_dims": "wide"}, {"required_cluster": None}),
    ],
)
def test_generations_of_metadata(change, expected, entry):
    (kernel,) = entry(CURRENT | change).kernels
    assert {name: getattr(kernel, name) for name in expected} == expected


@pytest.mark.parametrize(
    ("target", "backend"),
    [
        ({"backend": "hip", "arch": "gfx942", "warp_size": 64}, "hip"),
        (["hip", "gfx90a"], "hip"),
        ({"backend": "xpu", "arch": {}}, "xpu"),
        ("gfx1100", "hip"),
    ],
)
def test_other_devices(target, backend, entry, tmp_path):
    assert entry(CURRENT | {"target": target}) == Foreign(backend=backend)
    with pytest.raises(InputError, match=rf"for other devices \({backend}\)"):
        inspect(tmp_path / "kernel.json")
    shutil.copytree(TRITON / "sm80", tmp_path / "sm80")
    reading = read(tmp_path)
    assert len(reading.kernels) == 1
    assert reading.notes == (f"1 kernel of Triton for other devices ({backend}) left out",)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[" * 100_000 + '"num_warps"',
        '{"num_warps": 4}',
        '["num_warps", "shared"]',
        json.dumps(CURRENT | {"target": {"backend": "cuda", "arch": "newest"}}),
        json.dumps(CURRENT | {"target": {"backend": "cuda"}}),
        json.dumps(CURRENT) + " " * 2**20,
    ],
)
def test_what_is_no_metadata(text, entry):
    assert entry(text) is None


def test_lists_of_files_are_no_kernels(entry):
    assert entry(CURRENT, name="__grp__kernel.json") is None


@pytest.mark.parametrize("content", [b"", b"\x7fELF", b"cut"])
def test_a_broken_cubin_leaves_the_launch(content, tmp_path):
    shutil.copy(TRITON / "sm90" / "row_sum.json", tmp_path)
    (tmp_path / "row_sum.cubin").write_bytes(content)
    reading = read(tmp_path)
    (kernel,) = reading.kernels
    assert kernel.threads == 256
    assert kernel.registers_per_thread is None
    assert "cannot be read" in kernel.unknown["registers_per_thread"]
    (note,) = reading.notes
    assert note.startswith(f"{tmp_path / 'row_sum.json'}: row_sum.cubin cannot be read: ")


def test_the_cubin_knows_of_warps_that_were_added(tmp_path):
    """Specialised warps are in the block that the code requires, whatever the metadata say."""
    shutil.copytree(TRITON / "sm90", tmp_path, dirs_exist_ok=True)
    path = tmp_path / "row_sum.json"
    path.write_text(path.read_text().replace('"num_warps": 8', '"num_warps": 4'))
    (kernel,) = inspect(tmp_path)
    assert kernel.threads == 256


def test_no_warps_are_not_a_block_of_none(tmp_path):
    path = tmp_path / "k.json"
    path.write_text('{"name": "k", "num_warps": 0, "shared": 0, "target": ["cuda", 80, 32]}')
    (kernel,) = read_entry(path).kernels
    assert kernel.threads is None
    assert "Triton's metadata" in kernel.unknown["threads"]
    assert kernel.dynamic_shared_bytes == 0  # said, so that it needs no reason
    assert "dynamic_shared_bytes" not in kernel.unknown
