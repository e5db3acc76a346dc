"""The oracle gives the answers that the same header gave elsewhere, so it is the header."""

from __future__ import annotations

import shutil
import subprocess

import numpy as np
import pytest

from perfkit.arch import catalog
from tests.oracle import header
from tests.oracle.rows import rows

GOLDEN = rows("header/occupancy_golden.csv.gz")
FIELDS = {
    "status": "status",
    "active_blocks": "blocks",
    "lim_regs": "registers",
    "lim_smem": "shared_memory",
    "lim_warps": "warps",
    "lim_blocks": "block_slots",
    "alloc_regs_per_block": "allocated_registers",
    "alloc_smem_per_block": "allocated_shared_bytes",
}
NAMES = {"smem": "shared_memory", "regs": "registers"}


@pytest.fixture(scope="module")
def oracles():
    found = {cc: header.require(catalog.capability(cc)) for cc in {row["cc"] for row in GOLDEN}}
    assert len(found) == 19
    return found


def test_every_field_of_the_stored_answers(oracles):
    for row in GOLDEN:
        oracle = oracles[row["cc"]]
        kernel = oracle.kernel(regs=int(row["regs_per_thread"]), carveout=int(row["carveout"]))
        answer = oracle.one(
            kernel, threads=int(row["block_size"]), dynamic_smem=int(row["dyn_smem"])
        )
        for column, field in FIELDS.items():
            assert getattr(answer, field) == int(row[column]), (row, column)
        limiters = {NAMES.get(name, name) for name in row["limiters"].split("+")}
        assert answer.limited_by == limiters, row


def test_batches_and_meshes_repeat_single_answers(oracles):
    oracle = oracles["9.0"]
    mine = [row for row in GOLDEN if row["cc"] == "9.0"]
    threads, regs, smem, carveout, expected = (
        np.array([int(row[name]) for row in mine])
        for name in ("block_size", "regs_per_thread", "dyn_smem", "carveout", "active_blocks")
    )
    blocks, factors = oracle.batch(
        oracle.kernel(), threads=threads, regs=regs, dynamic_smem=smem, carveout=carveout
    )
    np.testing.assert_array_equal(blocks, expected)
    for row, bits in zip(mine, factors.tolist(), strict=True):
        limiters = {NAMES.get(name, name) for name in row["limiters"].split("+")}
        assert header.factor_names(bits) == limiters

    kernel = oracle.kernel(carveout=50)
    shape = {"first_thread": 60, "threads": 10, "regs": 40, "steps": 30, "step": 8192}
    mesh = oracle.mesh(kernel, **shape)
    grid = np.meshgrid(60 + np.arange(10), np.arange(40), np.arange(30) * 8192, indexing="ij")
    flat = [axis.reshape(-1) for axis in grid]
    batch, _ = oracle.batch(
        kernel, threads=flat[0], regs=flat[1], dynamic_smem=flat[2], carveout=50
    )
    np.testing.assert_array_equal(mesh.reshape(-1), batch)
    assert oracle.time_mesh(kernel, **shape) == int(mesh.sum(dtype=np.int64))
    columns = [np.ascontiguousarray(axis, np.int32) for axis in flat]
    timed = oracle.time_rows(kernel, threads=columns[0], regs=columns[1], dynamic_smem=columns[2])
    assert timed == int(mesh.sum(dtype=np.int64))


def test_stored_carveouts(oracles):
    for row in rows("header/carveout_map.csv"):
        bytes_ = oracles[row["cc"]].carveout_bytes(int(row["carveout_percent"]))
        assert bytes_ == int(row["effective_kb"]) * 1024, row


def test_an_input_the_header_refuses_is_negative(oracles):
    oracle = oracles["9.0"]
    blocks, _ = oracle.batch(
        oracle.kernel(),
        threads=np.array([0, 32]),
        regs=np.array([16, 16]),
        dynamic_smem=np.array([0, 0]),
        carveout=np.array([-1, 101]),
    )
    assert blocks.tolist() == [-1, -1]


def test_a_missing_oracle_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setenv("PERFKIT_ORACLE_DIR", str(tmp_path))
    with pytest.raises(header.OracleMissingError, match="make oracle"):
        header.include_dir()
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(header.importlib.util, "find_spec", lambda _: None)
    with pytest.raises(header.OracleMissingError, match="install g"):
        header.compiler()
    monkeypatch.setenv("CXX", "ccache g++ -m64")
    assert header.compiler() == ["ccache", "g++", "-m64"]


def test_the_header_is_not_in_the_repository():
    if shutil.which("git") is None or not (header.ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    names = subprocess.check_output(["git", "ls-files"], cwd=header.ROOT, text=True).splitlines()
    assert "tests/oracle/header_oracle.cpp" in names
    assert not [name for name in names if name.endswith(("cuda_occupancy.h", "arch_traits.h"))]
