"""Reading one file: what is accepted becomes exact SI units, the rest is an error at its line."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from perfkit.arch import schema
from perfkit.arch.types import ComputeCapability, TensorRate
from perfkit.errors import ArchDataError
from perfkit.kernel import DType
from tests.arch.broken import CAPABILITY, GPU, SAMPLE, change, copy


def read(path: Path) -> object:
    return schema.read_gpu(path) if path.parent.name == "gpu" else schema.read_capability(path)


def refusal(path: Path) -> ArchDataError:
    with pytest.raises(ArchDataError) as caught:
        read(path)
    return caught.value


def outcome(path: Path) -> str | None:
    """Where it is refused; ``None`` if it is not."""
    try:
        read(path)
    except ArchDataError as error:
        return error.where
    return None


# -- what is read -------------------------------------------------------------------------------


def test_capability_in_si_units():
    cc = schema.read_capability(SAMPLE / CAPABILITY)
    assert cc.compute_capability == ComputeCapability(9, 0)
    assert cc.shared_memory.per_sm_bytes == 228 * 1024
    assert cc.shared_memory.allocation_unit_bytes == 128  # already bytes in the file
    assert cc.shared_memory.capacities_bytes[:3] == (0, 8192, 16384)
    assert cc.limits.virtual_resources_per_sm is None
    assert cc.tensor_core is not None
    assert cc.tensor_core.rates[1] == TensorRate("full", DType.F16, DType.F32, 2048)
    assert cc.tensor_core.input_types == (DType.F64, DType.F16, DType.S8)


def test_gpu_in_si_units_without_rounding():
    gpu = schema.read_gpu(SAMPLE / GPU)
    assert gpu.key == "toy-100"
    assert gpu.boost_clock_hz == 2_000_000_000
    # 86.4 * 1e9 and 5.5 * 2**20 are exact only in decimal
    assert gpu.memory.bandwidth_bytes_per_s == 86_400_000_000
    assert gpu.memory.l2_bytes == 5_767_168
    assert isinstance(gpu.memory.l2_bytes, int)
    assert gpu.memory.size_gib == 80.0
    assert gpu.published[0].use is None


def test_paths_are_those_of_fields_whatever_the_unit():
    gpu = schema.read_gpu(SAMPLE / GPU)
    assert "boost_clock_hz" in gpu.sources[0].facts
    assert gpu.unknown == {"tdp_w": "not published"}


def test_a_unit_of_the_reader_s_choice(tmp_path):
    directory = copy(tmp_path)
    path, _ = change(directory, GPU, "l2_mib: 5.5", "l2_kib: 5632")
    assert schema.read_gpu(path).memory.l2_bytes == 5_767_168


@pytest.mark.parametrize("loader", ["CSafeLoader", "SafeLoader"])
def test_both_loaders_read_the_same(monkeypatch, loader):
    import yaml

    monkeypatch.setattr("perfkit.arch.nodes._LOADER", getattr(yaml, loader))
    assert schema.read_capability(SAMPLE / CAPABILITY).limits.max_warps_per_sm == 64


# -- what is refused, each at its line ----------------------------------------------------------

#: id -> file, text to replace, replacement, what the message says
BREACHES: dict[str, tuple[str, str, str, str]] = {
    # keys
    "unknown key": (
        CAPABILITY,
        "max_warps_per_sm:",
        "max_warp_per_sm:",
        "unknown key 'max_warp_per_sm'",
    ),
    "unknown top key": (GPU, "tdp_w: null", "tpd_w: null", "unknown key 'tpd_w'"),
    "same fact twice": (GPU, "  l2_mib: 5.5", "  l2_mib: 5.5\n  l2_kib: 5632", "the same fact"),
    "merge key": (GPU, "  l2_mib: 5.5", "  l2_mib: 5.5\n  <<: {a: 1}", "unknown key '<<'"),
    "key is a list": (GPU, "tdp_w: null", "? [1, 2]\n: null", "a key must be text, got a list"),
    # types
    "exponent": (CAPABILITY, "per_sm: 65536", "per_sm: 1e9", "expected a whole number, got '1e9'"),
    "octal": (CAPABILITY, "banks: 32", "banks: 010", "got '010'"),
    "hexadecimal": (CAPABILITY, "banks: 32", "banks: 0x20", "got '0x20'"),
    "sexagesimal": (CAPABILITY, "banks: 32", "banks: 48:30", "got '48:30'"),
    "underscore": (CAPABILITY, "banks: 32", "banks: 3_2", "got '3_2'"),
    "negative": (CAPABILITY, "banks: 32", "banks: -32", "got '-32'"),
    "fraction": (CAPABILITY, "banks: 32", "banks: 32.5", "got '32.5'"),
    "not a number": (GPU, "size_gib: 80", "size_gib: .nan", "expected a number, got '.nan'"),
    "infinity": (GPU, "size_gib: 80", "size_gib: .inf", "got '.inf'"),
    "absurdly large": (
        CAPABILITY,
        "banks: 32",
        "banks: 99999999999999999999",
        "99999999999999999999",
    ),
    "beyond 63 bits": (GPU, "86.4", "99999999999999999", "not a whole number in the SI unit"),
    "not whole bytes": (
        GPU,
        "l2_mib: 5.5",
        "l2_mib: 5.0000001",
        "not a whole number in the SI unit",
    ),
    "zero": (CAPABILITY, "banks: 32", "banks: 0", "must be more than 0, got '0'"),
    "quoted number": (CAPABILITY, "banks: 32", 'banks: "32"', "got the text '32'"),
    "boolean as number": (
        CAPABILITY,
        "banks: 32",
        "banks: true",
        "expected a whole number, got 'true'",
    ),
    "number as boolean": (
        CAPABILITY,
        "partitioned_global_caching: false",
        "partitioned_global_caching: 0",
        "expected true or false, got '0'",
    ),
    "off is no boolean": (
        CAPABILITY,
        "partitioned_global_caching: false",
        "partitioned_global_caching: off",
        "expected true or false, got 'off'",
    ),
    "number as text": (GPU, "name: Toy 100", "name: 2080", "expected text, got '2080'"),
    "date as text": (GPU, "name: Toy 100", "name: 2025-01-01", "expected text, got '2025-01-01'"),
    "boolean as text": (GPU, "name: Toy 100", "name: off", "expected text, got 'off'"),
    "empty text": (GPU, "name: Toy 100", 'name: " "', "the text is empty"),
    "own tag": (GPU, "name: Toy 100", "name: !toy 100", "expected text"),
    "python tag": (GPU, "name: Toy 100", "name: !!python/name:os.system ", "expected text"),
    "text as list": (
        CAPABILITY,
        "targets: [sm_90, sm_90a]",
        "targets: sm_90",
        "expected a list, got 'sm_90'",
    ),
    "empty list": (CAPABILITY, "targets: [sm_90, sm_90a]", "targets: []", "the list is empty"),
    "mapping in list": (CAPABILITY, "[1024, 1024, 64]", "[1024, 1024, {a: 1}]", "got a mapping"),
    "list as mapping": (
        CAPABILITY,
        "l1:\n  unified_with_shared_kib: 256\n  dedicated_kib: null",
        "l1: [256]",
        "l1: expected a mapping, got a list",
    ),
    "no value": (CAPABILITY, "banks: 32", "banks:", "banks: no value"),
    "tilde": (CAPABILITY, "dp4a: null", "dp4a: ~", "dp4a: no value"),
    # values
    "float capability": (
        GPU,
        'compute_capability: "9.0"',
        "compute_capability: 9.0",
        "expected text, got '9.0'",
    ),
    "float capability of a file": (
        CAPABILITY,
        'compute_capability: "9.0"',
        "compute_capability: 9.0",
        "expected text, got '9.0'",
    ),
    "capability like 8.10": (
        GPU,
        'compute_capability: "9.0"',
        'compute_capability: "8.10"',
        "'8.10' is not a compute capability",
    ),
    "capability spelled otherwise": (
        GPU,
        'compute_capability: "9.0"',
        "compute_capability: sm_90",
        "should be written '9.0'",
    ),
    "segment": (
        GPU,
        "segment: data-center",
        "segment: datacenter",
        "'datacenter' is not one of data-center",
    ),
    "data type alias": (GPU, "dtype: f32", "dtype: fp32", "'fp32' is not one of f64"),
    "sparsity": (
        GPU,
        "accumulate: f32, sparsity: dense, unit: simt",
        "accumulate: f32, sparsity: full, unit: simt",
        "'full' is not one of dense, sparse",
    ),
    "required null": (CAPABILITY, "banks: 32", "banks: null", "null, but this has to be known"),
    "null without reason": (
        GPU,
        "boost_clock_mhz: 2000",
        "boost_clock_mhz: null",
        "boost_clock_mhz: null without a reason",
    ),
    # schema
    "newer schema": (GPU, "schema: 1", "schema: 2", "version 2 is not supported"),
    "schema as text": (GPU, "schema: 1", "schema: one", "expected a whole number, got 'one'"),
    # tensor rates and peaks
    "rate without accumulator": (
        CAPABILITY,
        "f64/f64: 128",
        "f64: 128",
        "'f64' is not operand/accumulator",
    ),
    "rate of an unknown type": (CAPABILITY, "f64/f64: 128", "f65/f64: 128", "'f65' is not one of"),
    "rate of zero": (CAPABILITY, "f64/f64: 128", "f64/f64: 0", "must be more than 0"),
    "rate class none": (CAPABILITY, "full: {f64", "none: {f64", "'none' cannot name a rate class"),
    "no rates": (
        CAPABILITY,
        "rates:\n    full: {f64/f64: 128, f16/f32: 2048, s8/s32: 4096}",
        "rates: {}",
        "no rate is given",
    ),
    "use without note": (
        GPU,
        "tflops: 51.2",
        "tflops: 51.2, use: derived",
        "use and note go together",
    ),
    "note without use": (
        GPU,
        "tflops: 51.2",
        "tflops: 51.2, note: printed so",
        "use and note go together",
    ),
    # evidence
    "kind": (
        CAPABILITY,
        "kind: derived",
        "kind: guessed",
        "'guessed' is not one of official, measured",
    ),
    "missing reason text": (GPU, "tdp_w: not published", 'tdp_w: ""', "the text is empty"),
    "reason for a known fact": (
        GPU,
        "tdp_w: not published",
        "tdp_w: not published\n  sm_count: why",
        "'sm_count' is not null",
    ),
    "reason for no fact": (
        GPU,
        "tdp_w: not published",
        "tdp_w: not published\n  tdp: why",
        "'tdp' names no fact",
    ),
    "evidence for no fact": (
        CAPABILITY,
        "facts: [compilation]",
        "facts: [compilatoin]",
        "'compilatoin' names no fact",
    ),
    "evidence without facts": (
        CAPABILITY,
        "facts: [compilation]",
        "facts: []",
        "the list is empty",
    ),
    "conflict about no fact": (
        CAPABILITY,
        "fact: registers.max_per_thread",
        "fact: registers.max",
        "'registers.max' names no fact",
    ),
    # YAML
    "anchor": (
        GPU,
        "name: Toy 100",
        "name: &a Toy 100",
        "anchors and aliases are not allowed: 'a'",
    ),
    "alias": (GPU, "name: Toy 100", "name: *a", "anchors and aliases are not allowed: 'a'"),
    "syntax": (GPU, "tdp_w: null", "tdp_w: [null", "not YAML"),
    "tab": (GPU, "  type: HBM3", "\ttype: HBM3", "not YAML"),
    "control character": (GPU, "name: Toy 100", "name: Toy\x07100", "not YAML"),
    "second document": (GPU, "tdp_w: null", "---\ntdp_w: null", "not YAML"),
}
#: breaches that are noticed below the line that is wrong: lines further down
LATER = {
    **dict.fromkeys(("same fact twice", "merge key"), 1),
    **dict.fromkeys(("reason for a known fact", "reason for no fact"), 1),
    "syntax": 1,
}


@pytest.mark.parametrize("case", BREACHES)
def test_breach(tmp_path, case):
    name, old, new, message = BREACHES[case]
    path, line = change(copy(tmp_path), name, old, new)
    error = refusal(path)
    assert message in error.message
    assert error.where == f"{path}:{line + LATER.get(case, 0)}"


def test_duplicate_key_names_the_second(tmp_path):
    path, line = change(copy(tmp_path), CAPABILITY, "  banks: 32", "  banks: 32\n  banks: 16")
    error = refusal(path)
    assert error.message == "shared_memory.banks: duplicate key 'banks'"
    assert error.where == f"{path}:{line + 1}"


def test_missing_key_names_the_mapping(tmp_path):
    path, line = change(copy(tmp_path), GPU, "  bandwidth_gb_per_s: 86.4\n", "")
    error = refusal(path)
    assert error.message == "memory: missing key bandwidth_gb_per_s"
    assert error.where == f"{path}:{line - 2}"  # where memory's entries begin


def test_all_missing_and_all_unknown_keys_in_one_message(tmp_path):
    directory = copy(tmp_path)
    change(directory, GPU, "  type: HBM3\n", "")
    change(directory, GPU, "  size_gib: 80\n", "")
    error = refusal(directory / GPU)
    assert error.message == "memory: missing keys type, size_gib"
    _, line = change(directory, GPU, "  l2_mib: 5.5", "  l2: 5.5\n  colour: red")
    error = refusal(directory / GPU)
    assert error.message == (
        "memory: unknown keys 'l2', 'colour'; "
        "missing keys type, size_gib, l2_kib or l2_mib or l2_gib"
    )
    assert error.where == f"{directory / GPU}:{line}"


def test_a_refusal_carries_the_other_breaches(tmp_path):
    directory = copy(tmp_path)
    change(directory, GPU, "sm_count: 100", "sm_count: 1e2")
    change(directory, GPU, "tflops: 614", "tflops: many")
    error = refusal(directory / GPU)
    assert error.message == "sm_count: expected a whole number, got '1e2'"
    (other,) = error.others
    assert other.message == "published[1].tflops: expected a number, got 'many'"


def test_missing_schema(tmp_path):
    path, _ = change(copy(tmp_path), GPU, "schema: 1\n", "")
    error = refusal(path)
    assert error.message == "missing key schema"
    assert error.where == f"{path}:1"


def test_unknown_key_names_the_nearest(tmp_path):
    path, _ = change(copy(tmp_path), CAPABILITY, "max_warps_per_sm:", "max_warp_per_sm:")
    assert refusal(path).hint == "nearest: max_warps_per_sm"


def test_unsourced_fact(tmp_path):
    path, _ = change(copy(tmp_path), CAPABILITY, "cluster]", "tensor_core.rates]")
    error = refusal(path)
    line = path.read_text("utf-8").splitlines().index("  max_portable: 8") + 1
    assert error.message == "cluster.max_portable: no source"
    assert error.where == f"{path}:{line}"


def test_each_tensor_rate_and_peak_needs_a_source(tmp_path):
    directory = copy(tmp_path)
    parts = ("generation", "per_sm", "input_types", "sparsity", "rates.full.f64/f64")
    named = ", ".join(f"tensor_core.{part}" for part in parts)
    path, _ = change(directory, CAPABILITY, "throughput, tensor_core,", f"throughput, {named},")
    assert refusal(path).message == "tensor_core.rates.full.f16/f32: no source"
    path, line = change(directory, GPU, "published]", "published.f32/f32/dense/simt]")
    error = refusal(path)
    assert error.message == "published.f16/f32/dense/tensor: no source"
    assert error.where == f"{path}:{line - 6}"


def test_a_null_that_has_one_meaning_needs_no_reason(tmp_path):
    path, _ = change(copy(tmp_path), GPU, "tensor_clock_mhz: 1500", "tensor_clock_mhz: null")
    assert schema.read_gpu(path).tensor_clock_hz is None


def test_evidence_without_note(tmp_path):
    path, _ = change(copy(tmp_path), CAPABILITY, "\n    note: from the PTX version", "")
    error = refusal(path)
    line = path.read_text("utf-8").splitlines().index("  - id: ptx") + 1
    assert error.message == "sources[1]: kind 'derived' needs a note"
    assert error.where == f"{path}:{line}"


def test_second_row_for_a_peak(tmp_path):
    row = "  - {dtype: f32, accumulate: f32, sparsity: dense, unit: simt, tflops: 51.2}\n"
    path, line = change(copy(tmp_path), GPU, row, row + row.replace("51.2", "50"))
    error = refusal(path)
    assert "a second row for 'f32/f32/dense/simt'" in error.message
    assert error.where == f"{path}:{line + 1}"


def test_capability_in_the_wrong_file(tmp_path):
    directory = copy(tmp_path)
    path = (directory / CAPABILITY).rename(directory / "compute_capability/sm_80.yaml")
    error = refusal(path)
    assert error.message == "compute_capability: belongs in a file named sm_90.yaml"
    assert error.where == f"{path}:2"


# -- files that are no database at all ----------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "line", "message"),
    [
        (b"", 1, "the file is empty"),
        (b"# only a comment\n", 1, "the file is empty"),
        (b"- a\n- list\n", 1, "expected a mapping, got a list"),
        (b"just text\n", 1, "expected a mapping, got 'just text'"),
        (b"schema: 1\nname: \xff\xfe\n", 2, "not UTF-8: byte 0xff at offset 16"),
        (b"schema: 1\nname: \x00\n", 2, "not YAML"),
        (b"\x7fELF\x02\x01\x01\x00", 1, "not YAML"),
        (b"[" * 20_000, 1, "not YAML"),
        (b"{a: " * 20_000, 1, "not YAML"),
        (b"a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n", 1, "anchors and aliases are not allowed"),
    ],
    ids=["empty", "comment", "list", "text", "utf-8", "nul", "elf", "deep", "deep maps", "bomb"],
)
@pytest.mark.parametrize("loader", ["CSafeLoader", "SafeLoader"])
def test_not_a_database(tmp_path, monkeypatch, data, line, message, loader):
    import yaml

    monkeypatch.setattr("perfkit.arch.nodes._LOADER", getattr(yaml, loader))
    path = tmp_path / "sm_90.yaml"
    path.write_bytes(data)
    error = refusal(path)
    assert message in error.message
    assert error.where == f"{path}:{line}"


def test_truncation_at_every_byte_is_an_error_of_the_file(tmp_path):
    """Only an end within the last value can still be a valid file."""
    data = (SAMPLE / GPU).read_bytes()
    path = tmp_path / "gpu" / "toy-100.yaml"
    path.parent.mkdir()
    whole = len(data.rstrip())
    for length in range(whole):
        path.write_bytes(data[:length])
        error = refusal(path)
        assert error.where is not None
        assert error.where.startswith(f"{path}:")


@pytest.mark.parametrize("name", [CAPABILITY, GPU])
def test_flipped_bits_never_escape(tmp_path, name):
    """A changed byte may still be a valid file; if not, the error is of the file."""
    data = (SAMPLE / name).read_bytes()
    path = copy(tmp_path) / name
    for i in range(0, len(data), 5):
        path.write_bytes(data[:i] + bytes([data[i] ^ (1 << (i % 8))]) + data[i + 1 :])
        where = outcome(path)
        assert where is None or where.startswith(f"{path}:"), where


def test_directory(tmp_path):
    path = tmp_path / "sm_90.yaml"
    path.mkdir()
    error = refusal(path)
    assert (error.where, error.message) == (str(path), "cannot be read: Is a directory")


def test_missing_file(tmp_path):
    assert refusal(tmp_path / "sm_90.yaml").where == str(tmp_path / "sm_90.yaml")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_named_pipe_does_not_hang(tmp_path):
    path = tmp_path / "sm_90.yaml"
    os.mkfifo(path)
    assert refusal(path).message == "is a pipe that nobody writes into"


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every file")
def test_unreadable(tmp_path):
    path = copy(tmp_path) / GPU
    path.chmod(0)
    assert "cannot be read" in refusal(path).message


def test_failing_disk(tmp_path, monkeypatch):
    def fail(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    path = copy(tmp_path) / GPU
    monkeypatch.setattr("builtins.open", fail)
    assert refusal(path).message == "cannot be read: Permission denied"


def test_huge_file(tmp_path):
    path = tmp_path / "sm_90.yaml"
    path.write_bytes(b"# \n" * 400_000)
    error = refusal(path)
    assert error.message == "larger than 1 MiB: not a file of the database"


# -- the two other kinds of file ----------------------------------------------------------------


def test_aliases_have_lines(tmp_path):
    path = tmp_path / "aliases.yaml"
    path.write_text("# names\na: b\n'c': d\n")
    assert schema.read_aliases(path) == {"a": ("b", 2), "c": ("d", 3)}


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("a: b\na: c\n", 2, "duplicate key 'a'"),
        ("a: b\nc: 5\n", 2, "expected text, got '5'"),
        ("a: [b]\n", 1, "expected text, got a list"),
    ],
)
def test_broken_aliases(tmp_path, text, line, message):
    path = tmp_path / "aliases.yaml"
    path.write_text(text)
    with pytest.raises(ArchDataError, match=message) as caught:
        schema.read_aliases(path)
    assert caught.value.where == f"{path}:{line}"


def test_sources(tmp_path):
    entry, line = schema.read_sources(SAMPLE / "sources.yaml")["ptx"]
    assert (entry.title, entry.version, line) == ("Another guide", None, 6)
    path, line = change(copy(tmp_path), "sources.yaml", "title: A guide", "titel: A guide")
    with pytest.raises(ArchDataError, match="unknown key 'titel'") as caught:
        schema.read_sources(path)
    assert caught.value.where == f"{path}:{line}"
