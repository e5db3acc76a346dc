"""Which reader a file gets, and what several files make."""

from __future__ import annotations

import gzip
import io
import json
import os
import shutil
import sys
from pathlib import Path

import pytest

from perfkit.errors import InputError
from perfkit.readers.recognise import KNOWN, read_results

DATA = Path(__file__).resolve().parents[1] / "data" / "results"
NCU = DATA.parent / "ncu"

KINDS = {
    "d02.nvbench.json": "nvbench",
    "d04.data.js": "github-action-benchmark",
    "d12.gbench.json": "google-benchmark",
    "google_benchmark.json": "google-benchmark",
    "google_benchmark_both.csv": "google-benchmark",
    "hyperfine.csv": "hyperfine",
    "hyperfine.json": "hyperfine",
    "junit_pytest.xml": "junit",
    "nsys_stats.csv": "nsys",
    "nsys_trace.csv": "nsys",
    "nvbench_first.json": "nvbench",
    "nvbench.csv": "nvbench",
    "plain.csv": "csv",
    "pyperf.json": "pyperf",
    "pytest_benchmark.json": "pytest-benchmark",
    "pytest_benchmark_compare.csv": "pytest-benchmark",
}
TEXT = {name: (DATA / name).read_text("utf-8") for name in KINDS}


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32"])
def test_by_content_in_any_encoding_and_under_any_name(tmp_path, name, encoding):
    path = tmp_path / "results.txt"
    text = TEXT[name]
    if name.endswith(".xml"):  # it names its encoding, and is left to it
        encoding = encoding if encoding in {"utf-8", "utf-8-sig"} else "utf-16"
        text = text.replace('encoding="utf-8"', f'encoding="{encoding.removesuffix("-sig")}"')
    path.write_bytes(text.encode(encoding))
    found = read_results(path)
    assert found.kind == KINDS[name]
    assert [(r.benchmark, r.failure) for r in found.runs] == [
        (r.benchmark, r.failure) for r in read_results(DATA / name).runs
    ]


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_compressed_and_with_other_line_ends(tmp_path, name, newline):
    path = tmp_path / "results"
    path.write_bytes(gzip.compress(TEXT[name].replace("\n", newline).encode()))
    assert read_results(path).kind == KINDS[name]


@pytest.mark.parametrize("name", [name for name in KINDS if name.endswith((".json", ".csv"))])
@pytest.mark.parametrize("talk", ["warming up, please wait\n", "[info] device (0), 5 GB\n\n"])
def test_output_of_the_program_before(tmp_path, name, talk):
    path = tmp_path / "log"
    path.write_text(talk + TEXT[name], "utf-8")
    assert read_results(path).kind == KINDS[name]


def test_output_of_the_program_after(tmp_path):
    path = tmp_path / "log"
    path.write_text(TEXT["d12.gbench.json"] + "\nbye, all {done}\n", "utf-8")
    assert len(read_results(path).runs) == 3


def test_the_standard_input(monkeypatch):
    class Stdin:
        buffer = io.BytesIO(TEXT["plain.csv"].encode())

    monkeypatch.setattr(sys, "stdin", Stdin)
    found = read_results("-")
    assert (found.kind, found.origin) == ("csv", "-")
    assert found.runs[0].source == "-:2"


def test_several_documents_in_one_file_are_runs(tmp_path):
    path = tmp_path / "log"
    path.write_text(TEXT["d12.gbench.json"] + "again\n" + TEXT["d12.gbench.json"], "utf-8")
    found = read_results(path)
    saxpy = [run.run for run in found.runs if "saxpy" in run.benchmark]
    assert saxpy == ["1", "2"]


def test_a_broken_document_beside_a_whole_one_is_said(tmp_path):
    path = tmp_path / "log"
    text = TEXT["d12.gbench.json"]
    path.write_text(text[:900] + "\nkilled\n" + text, "utf-8")
    found = read_results(path)
    assert len(found.runs) == 3
    assert any("broken JSON" in note and "left out" in note for note in found.notes)


def test_files_are_runs(tmp_path):
    paths = []
    for i in range(3):
        paths.append(tmp_path / f"{i}.json")
        shutil.copy(DATA / "d12.gbench.json", paths[-1])
    found = read_results(paths)
    assert found.kind == "google-benchmark"
    assert [r.run for r in found.runs if "saxpy" in r.benchmark] == [str(p) for p in paths]
    assert found.environment["host"] == "ci"


def test_a_file_is_evidence_once():
    path = DATA / "hyperfine.json"
    for again in (path, path.parent / "." / path.name, DATA / ".." / "results" / path.name):
        with pytest.raises(InputError, match="named twice"):
            read_results([path, again])


def test_a_file_without_what_is_asked_for_is_said(tmp_path):
    empty = tmp_path / "empty.json"
    empty.write_text('{"context": {}, "benchmarks": []}')
    found = read_results([DATA / "d12.gbench.json", empty])
    assert f"{empty}: nothing that is asked for" in found.notes


def test_files_that_tell_runs_apart_keep_them(tmp_path):
    paths = [tmp_path / name for name in ("x.json", "y.json")]
    for path in paths:
        shutil.copy(DATA / "hyperfine.json", path)
    runs = [r.run for r in read_results(paths).runs if r.benchmark.startswith("./bench")]
    assert runs == [f"{path}:{i}" for path in paths for i in (1, 2, 3)]


def test_a_folder_is_its_files(tmp_path):
    for name in ("d02.nvbench.json", "d02.bin", "d02.freqs"):
        copy = shutil.copytree if (DATA / name).is_dir() else shutil.copy
        copy(DATA / name, tmp_path / name)
    (tmp_path / "notes.txt").write_text("nothing\n")
    (tmp_path / ".hidden.json").write_text("{")
    (tmp_path / "picture.png").write_bytes(bytes(range(256)))
    found = read_results(tmp_path)
    assert found.kind == "nvbench"
    assert len(found.runs[0].values) == 3
    left = [note for note in found.notes if note.endswith("no file of results; left out")]
    assert len(left) == 2


def test_a_broken_result_in_a_folder_is_an_error(tmp_path):
    shutil.copy(DATA / "d12.gbench.json", tmp_path / "a.json")
    (tmp_path / "b.json").write_text(TEXT["d12.gbench.json"][:-20])
    with pytest.raises(InputError, match=r"b.json:\d+: broken JSON"):
        read_results(tmp_path)


def test_environments_that_differ_are_kept_and_said(tmp_path):
    for name, gpu in (("a.json", "A"), ("b.json", "B")):
        document = json.loads(TEXT["nvbench_first.json"])
        document["devices"] = [{"id": 0, "name": gpu, "sm_version": 900}]
        (tmp_path / name).write_text(json.dumps(document))
    found = read_results(tmp_path)
    assert found.environment["gpu"] == "A | B"
    assert found.environment["compute_capability"] == "9.0"
    assert "gpu differs between the files: A, B" in found.notes


def test_no_metric_matches():
    with pytest.raises(InputError, match="no metric matches") as caught:
        read_results(DATA / "nvbench_first.json", metric="bandwidth")
    assert caught.value.hint == "metrics are gpu_time"
    with pytest.raises(InputError, match="no regular expression"):
        read_results(DATA / "nvbench_first.json", metric="(")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"\n\n", "is empty"),
        (b"hello", "no known kind of results"),
        (b"{}", "no results that are known"),
        (b"[]", "no results that are known"),
        (b"null", "no known kind of results"),
        (b'{"a": 1', "broken JSON"),
        (b"<html><testsuite></html>", "no known kind of results"),
        (b"\x7fELF\x02\x01\x01", "no known kind of results"),
        (b"NVR\0\1\2", "not its CSV export"),
        (b"SQLite format 3\0" + b"\1" * 90, "not its CSV export"),
        (b"\x1f\x8b\x08", "gzip archive ends early"),
        (b"\x1f\x8bxxxxxxxxxxxx", "broken gzip archive"),
        (b"benchmark,value,unit\n\xff,1,s\n", "is not utf-8 text: .* at byte 21"),
        (b'{"results": [{"command": "\xff", "times": [1]}]}', "is not utf-8 text"),
        (b"[" * 200_000, "nested too deeply"),
        (b'{"a":' * 100_000, "nested too deeply"),
        (b'{"results": [{"command": "x", "times": [1e999]}]}', None),
        (b'{"results": [{"command": "x", "times": [' + b"9" * 5000 + b"]}]}", "broken JSON"),
        (b'{"results": [{"command": "x", "times": [' + b"9" * 400 + b"]}]}", "not a number"),
    ],
)
def test_what_is_no_result(tmp_path, content, message):
    path = tmp_path / "x"
    path.write_bytes(content)
    if message is None:
        assert all(run.failure for run in read_results(path).runs)
        return
    with pytest.raises(InputError, match=message) as caught:
        read_results(path)
    assert str(path) in str(caught.value)


def test_the_known_kinds_are_listed(tmp_path):
    path = tmp_path / "x"
    path.write_text("hello")
    with pytest.raises(InputError) as caught:
        read_results(path)
    assert all(kind in caught.value.hint for kind in KNOWN)


@pytest.mark.parametrize("path", ["/nowhere", "/dev/zero", "a\0b", "/dev/null"])
def test_what_cannot_be_read(path):
    with pytest.raises(InputError):
        read_results(path)
    with pytest.raises(InputError):
        read_results([])


def test_a_bomb_stops_at_the_limit(tmp_path, monkeypatch):
    monkeypatch.setattr("perfkit.readers.content._MOST_BYTES", 2**20)
    path = tmp_path / "bomb.gz"
    path.write_bytes(gzip.compress(bytes(2**24)))
    with pytest.raises(InputError, match="larger than 1 MiB"):
        read_results(path)


@pytest.mark.skipif(not Path("/dev/fd").is_dir(), reason="no such names here")
def test_a_pipe_as_shells_name_it():
    reader, writer = os.pipe()
    os.write(writer, TEXT["plain.csv"].encode())
    os.close(writer)
    try:
        assert read_results(f"/dev/fd/{reader}").kind == "csv"
    finally:
        os.close(reader)
