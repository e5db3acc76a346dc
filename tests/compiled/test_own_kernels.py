"""Own kernels of every kind, compiled here: perfkit against NVIDIA's tools, kernel by kernel.

Every source for a few architectures; ``python -m tests.bench.own_kernels`` takes all of them.
"""

from __future__ import annotations

import pytest

from perfkit.compiled.inspect import inspect
from tests.compiled.own_kernels import FILES, SOURCES, compared, nvrtc12, nvrtc13
from tests.compiled.reports import cuobjdump

#: cooperative groups take the compiler longer than all others together
PLAIN = [file for file in FILES if file != "groups"]
#: each flavour of file, with and without names of its own for the compiler's targets
TARGETS_12 = ("sm_50", "sm_70", "sm_90a", "sm_120")
TARGETS_13 = ("sm_75", "sm_90", "sm_103a")


def test_there_are_enough_kernels_and_none_is_left_out():
    assert {path.stem for path in SOURCES.glob("*.cu")} == set(FILES)


def holds(compiler, arch, files, folder):
    names, telling = set(), set()
    for file in files:
        for options in FILES[file]:
            found = compared(compiler.compile(file, arch, options), folder)
            assert found.wrong == []
            names |= found.names
            telling |= set(found.telling)
    return names, telling


@pytest.mark.parametrize("arch", TARGETS_12)
def test_nvrtc_12(arch, tmp_path):
    if (compiler := nvrtc12()) is None:
        pytest.skip("no NVRTC here: pip install 'perfkit[cu12]'")
    if arch not in {*compiler.targets(), "sm_90a"}:
        pytest.skip(f"NVRTC {compiler.version} does not compile for {arch}")
    names, telling = holds(compiler, arch, PLAIN, tmp_path)
    assert len(names) >= 40
    assert {"spill_store_bytes", "static_shared_bytes", "barriers", "frame_bytes"} <= telling
    if cuobjdump() is not None:
        assert {"max_threads", "parameter_bytes"} <= telling
        assert ("required_cluster" in telling) == (arch in {"sm_90a", "sm_120"})


@pytest.mark.parametrize("arch", TARGETS_13)
def test_nvrtc_13(arch, tmp_path):
    if (compiler := nvrtc13()) is None:
        pytest.skip("no NVRTC 13 beside the installed one: make oracle unpacks it")
    names, telling = holds(compiler, arch, PLAIN, tmp_path)
    assert len(names) >= 40
    assert {"spill_store_bytes", "static_shared_bytes", "barriers", "frame_bytes"} <= telling


def test_cooperative_groups(tmp_path):
    if (compiler := nvrtc12()) is None:
        pytest.skip("no NVRTC here: pip install 'perfkit[cu12]'")
    names, _ = holds(compiler, "sm_90", ["groups"], tmp_path)
    assert "meets_the_cluster" in names


#: what the sources declare: most threads, blocks per SM, blocks per cluster, required cluster
BOUNDS = {
    "bounds_none": (None, None, None, None),
    "bounds_one": (256, None, None, None),
    "bounds_two": (512, 4, None, None),
    "bounds_tight": (1024, 2, None, None),
    "bounds_warp": (32, 1, None, None),
    "bounds_three": (256, 2, 4, None),
    "cluster_two": (None, None, None, (2, 1, 1)),
    "cluster_eight": (96, 3, None, (2, 2, 2)),
    "block_of_128": (
        128,
        None,
        None,
        (1, 1, 1),
    ),  # __block_size__ names a cluster, of one by default
    "block_and_cluster": (128, None, None, (4, 1, 1)),
    "gives_registers_away": (384, 1, None, None),
    "axpy<float, 256>": (256, None, None, None),
    "axpy<double, 128>": (128, None, None, None),
    "axpy<long long, 64>": (64, None, None, None),
}
#: static shared memory and bytes of parameters, added up by hand
MEMORY = {
    "no_parameters": (0, 0),
    "big_parameters": (0, 4008 + 8),  # 4001 bytes and a pointer, which is aligned
    "grid_constant": (0, 32 * 4 + 8),
    "huge_parameters": (0, 5000 * 4 + 8),
    "constant_memory": (0, 8 + 4),
    "static_1k": (1024, 8),
    "static_48k": (49152, 8),
    "dynamic_shared": (0, 8),
    "both_shared": (33 * 8 + 8, 8),  # the dynamic part begins at a multiple of 16
    "copies_async": (2048, 16),
}
BARRIERS = {"barriers_named": 6, "barriers_by_register": 16, "barriers_last": 16, "votes": 1}


@pytest.mark.usefixtures("nvrtc")
def test_what_the_sources_declare():
    found = {k.demangled: k for k in inspect(SOURCES / "bounds.cu", arch="sm_90a")}
    for name, expected in BOUNDS.items():
        kernel = found[name]
        assert expected == (
            kernel.max_threads,
            kernel.min_blocks,
            kernel.max_cluster_blocks,
            kernel.required_cluster,
        ), name
    assert found["few_registers"].registers_per_thread <= 32
    assert {"app::detail::first", "app::second"} < set(found)
    found = {k.demangled: k for k in inspect(SOURCES / "memory.cu", arch="sm_90a")}
    for name, (shared, parameters) in MEMORY.items():
        assert found[name].static_shared_bytes == shared, name
        assert found[name].parameter_bytes == parameters, name
    assert {name: found[name].barriers for name in BARRIERS} == BARRIERS
    assert found["local_40k"].frame_bytes >= 40000
    uses = {name for name, kernel in found.items() if kernel.uses_dynamic_shared}
    assert uses == {"dynamic_shared", "both_shared"}
