"""JUnit XML: durations, failures, and files that should not be read."""

from __future__ import annotations

from pathlib import Path

import pytest

from perfkit.errors import InputError
from perfkit.readers.recognise import read_results

DATA = Path(__file__).resolve().parents[1] / "data" / "results"


def test_a_real_file():
    found = read_results(DATA / "junit_pytest.xml")
    assert found.kind == "junit"
    assert found.environment["host"] == "ci"
    assert [(run.benchmark, run.values, run.failure) for run in found.runs] == [
        ("test_kernels::test_sum[256]", (0.006,), None),
        ("test_kernels::test_sum[tile<64, 64>/f16]", (0.005,), None),
        ("test_kernels::test_launch", (), "failed: RuntimeError: too many resources requested"),
        ("test_kernels::test_gpu", (), "skipped: no GPU"),
    ]


def written(folder, body, declaration='<?xml version="1.0"?>', encoding="utf-8"):
    path = folder / "j.xml"
    path.write_text(f"{declaration}\n<testsuite>{body}</testsuite>", encoding)
    return path


def test_times_with_groups(tmp_path):
    """Surefire writes durations for people."""
    body = '<testcase name="a" time="1,234.5"/><testcase name="b" time="0.25"/>'
    a, b = read_results(written(tmp_path, body)).runs
    assert (a.values, b.values) == ((1234.5,), (0.25,))


def test_a_rerun_test_is_said_and_fails_if_one_of_them_did(tmp_path):
    body = (
        '<testcase name="a" time="1"><failure/></testcase><testcase name="a" time="2"/>'
        '<testcase name="b" time="1"/><testcase name="b" time="3"/>'
    )
    found = read_results(written(tmp_path, body))
    a, b = found.runs
    assert (a.values, a.failure) == ((), "failed")
    assert b.values == (1.0, 3.0)
    assert len([note for note in found.notes if "is there 2 times" in note]) == 2


@pytest.mark.parametrize("encoding", ["iso-8859-1", "utf-16", "windows-1252"])
def test_encodings(tmp_path, encoding):
    declaration = f'<?xml version="1.0" encoding="{encoding}"?>'
    path = written(tmp_path, '<testcase name="Größe" time="1"/>', declaration, encoding)
    assert read_results(path).runs[0].benchmark == "Größe"


@pytest.mark.parametrize(
    ("body", "declaration", "message"),
    [
        ("<testcase>", "", "j.xml:2: broken XML: mismatched tag"),
        ("", "", "holds no test"),
        ('<testcase name="a" time="fast"/>', "", "j.xml:2: 'fast' is not a number"),
        ("", '<!DOCTYPE x [<!ENTITY a "aaaa">]>', "entities is refused"),
        ("", '<!DOCTYPE x SYSTEM "file:///etc/passwd">', "entities is refused"),
        ("", '<?xml version="1.0" encoding="klingon"?>', "broken XML: unknown encoding"),
    ],
)
def test_what_is_refused(tmp_path, body, declaration, message):
    with pytest.raises(InputError, match=message):
        read_results(written(tmp_path, body, declaration))


@pytest.mark.parametrize("time", ["", "0", "0.000", "NaN", "-1"])
def test_a_test_without_a_time(tmp_path, time):
    (run,) = read_results(written(tmp_path, f'<testcase name="a" time="{time}"/>')).runs
    assert run.values == ()
    assert run.failure


def test_deep_nesting_costs_no_stack(tmp_path):
    deep = "<properties>" * 50_000 + "</properties>" * 50_000
    body = f'{deep}<testcase name="a" time="1"/>'
    assert len(read_results(written(tmp_path, body)).runs) == 1
