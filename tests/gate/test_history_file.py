"""Histories on a disk and elsewhere: appended to by many, read whatever lies there."""

from __future__ import annotations

import builtins
import os
import subprocess
import sys
from dataclasses import asdict, fields
from datetime import UTC, datetime, timedelta
from io import BytesIO

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from perfkit.errors import InputError, NoExtra, UsageError
from perfkit.gate.history import Row
from perfkit.gate.history_file import append, load
from tests.bench.gate_record import ROOT
from tests.gate.test_history import START, row, rows

fsspec = pytest.importorskip("fsspec")


@pytest.fixture
def memory():
    """A store of objects that lives in this process."""
    system = fsspec.filesystem("memory")
    system.store.clear()
    system.pseudo_dirs[:] = [""]
    yield system
    system.store.clear()
    system.pseudo_dirs[:] = [""]


@pytest.fixture(params=["path", "file://", "memory://"])
def where(request, tmp_path, memory):
    folder = tmp_path / "history"
    urls = {"path": str(folder), "file://": f"file://{folder}", "memory://": "memory://a/history"}
    return urls[request.param]


def test_what_is_appended_comes_back(where):
    found = rows(5)
    append(where, found[:6])
    append(where, found[6:])
    loaded, notes = load(where)
    assert loaded == found
    assert notes == ()


def test_no_file_is_ever_written_twice(where):
    names = {append(where, [row(0, 1.0)]) for _ in range(5)}
    assert len(names) == 5
    assert len(load(where)[0]) == 5
    assert sorted(name[:31] for name in names) == [
        f"part-{number:08d}-20261101T000000Z-" for number in range(1, 6)
    ]


def test_a_clock_set_back_leaves_the_order(where):
    hours = [5, 3, 4, 1, 2]
    for hour in hours:
        append(where, [row(hour, 1.0)])
    assert [one.commit for one in load(where)[0]] == [f"c{hour:02}" for hour in hours]


def test_parts_without_a_number_come_first_by_their_date(tmp_path):
    """As older versions wrote them."""
    for hour in (2, 1):
        name = append(str(tmp_path), [row(hour, 1.0)])
        (tmp_path / name).rename(tmp_path / name.replace("part-00000001-", "part-"))
    assert append(str(tmp_path), [row(0, 1.0)]).startswith("part-00000001-")
    assert [one.commit for one in load(str(tmp_path))[0]] == ["c01", "c02", "c00"]


def test_writers_at_the_same_time_lose_nothing(tmp_path):
    program = (
        "import sys\n"
        "from perfkit.gate.history_file import append\n"
        "from tests.gate.test_history import row\n"
        "[append(sys.argv[1], [row(i, 1.0, run=sys.argv[2])]) for i in range(3)]\n"
    )
    writers = [
        subprocess.Popen([sys.executable, "-c", program, str(tmp_path / "h"), str(n)], cwd=ROOT)
        for n in range(4)
    ]
    assert [writer.wait(120) for writer in writers] == [0] * 4
    loaded, _ = load(str(tmp_path / "h"))
    assert sorted((r.run, r.commit) for r in loaded) == sorted(
        (str(n), f"c{i:02}") for n in range(4) for i in range(3)
    )


def written(table):
    stream = BytesIO()
    pq.write_table(table, stream)
    return stream.getvalue()


def test_a_single_file_is_read_and_not_written(tmp_path):
    path = tmp_path / "history.parquet"
    days = [datetime(2026, 11, day) for day in (1, 2)]
    path.write_bytes(written(pa.table({"benchmark": ["a", "b"], "value": [1, 2], "date": days})))
    loaded, _ = load(str(path))
    assert [(r.benchmark, r.metric, r.value, r.unit, r.date) for r in loaded] == [
        ("a", "time", 1.0, "s", datetime(2026, 11, 1, tzinfo=UTC)),
        ("b", "time", 2.0, "s", datetime(2026, 11, 2, tzinfo=UTC)),
    ]
    with pytest.raises(UsageError, match="nothing can be added") as caught:
        append(str(path), rows(1))
    assert "folder" in caught.value.hint


def test_other_files_are_left_alone(tmp_path):
    append(str(tmp_path), rows(1))
    for name in (".part.partial", "_metadata", "README.md", "_x.parquet", ".y.parquet"):
        (tmp_path / name).write_text("no Parquet")
    assert len(load(str(tmp_path))[0]) == 3


def test_a_broken_part_is_named_and_the_others_are_read(tmp_path):
    good = append(str(tmp_path), rows(1))
    data = (tmp_path / good).read_bytes()
    for number, part in enumerate((b"", data[:-20], b"PAR1" + b"\xff" * 60 + b"PAR1")):
        (tmp_path / f"broken-{number}.parquet").write_bytes(part)
    loaded, notes = load(str(tmp_path))
    assert len(loaded) == 3
    assert len(notes) == 3
    assert all("broken-" in note and "cannot be read as Parquet" in note for note in notes)


def test_flipped_bytes_are_never_a_traceback(tmp_path):
    import random

    data = (tmp_path / append(str(tmp_path), rows(2))).read_bytes()
    chance = random.Random(1)
    for number in range(300):
        flipped = bytearray(data)
        for _ in range(chance.randint(1, 8)):
            flipped[chance.randrange(len(data))] = chance.randrange(256)
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "a.parquet").write_bytes(bytes(flipped))
        try:
            found, _ = load(str(folder))
        except InputError:
            continue
        assert all(isinstance(one, Row) for one in found)


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("value", None),
        ("value", float("nan")),
        ("value", 0.0),
        ("value", -1.0),
        ("value", 1e300),
        ("value", 1e-300),
        ("benchmark", ""),
        ("benchmark", None),
    ],
)
def test_rows_that_are_no_measurement_are_counted(tmp_path, column, value):
    good = {name: [item] * 2 for name, item in asdict(row(0, 1.0)).items()}
    good[column] = [good[column][0], value]
    (tmp_path / "a.parquet").write_bytes(written(pa.table(good)))
    loaded, notes = load(str(tmp_path))
    assert len(loaded) == 1
    assert "1 rows" in notes[0]


def test_dates_as_text_are_read(tmp_path):
    table = pa.table({"benchmark": ["a", "b"], "value": [1.0, 2.0], "date": ["2026-11-01", "soon"]})
    (tmp_path / "a.parquet").write_bytes(written(table))
    loaded, notes = load(str(tmp_path))
    assert [one.date for one in loaded] == [START]
    assert notes


@pytest.mark.parametrize(
    "dates",
    [
        pa.array([20758], pa.date32()),
        pa.array([20758 * 86400], pa.timestamp("s")),
        pa.array([20758 * 86400 * 10**9 + 1], pa.timestamp("ns", "UTC")),
        pa.array([20758 * 86400], pa.timestamp("s", "America/New_York")),
        pa.array(["2026-11-01T00:00:00Z"]),
    ],
    ids=lambda one: str(one.type),
)
def test_dates_of_every_type_are_read(tmp_path, dates):
    table = pa.table({"benchmark": ["a"], "value": [1.0], "date": dates})
    (tmp_path / "a.parquet").write_bytes(written(table))
    (found,), notes = load(str(tmp_path))
    assert (abs(found.date - START) < timedelta(seconds=1), notes) == (True, ())


def test_a_zone_that_nobody_knows_is_named(tmp_path):
    dates = pa.array([0], pa.timestamp("s", "No/Where"))
    table = pa.table({"benchmark": ["a"], "value": [1.0], "date": dates})
    (tmp_path / "a.parquet").write_bytes(written(table))
    with pytest.raises(InputError, match="no history") as caught:
        load(str(tmp_path))
    assert "a.parquet is left out" in caught.value.hint


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux")
def test_no_thread_is_left_to_abort_the_program_at_its_end(tmp_path):
    """pyarrow's, still starting when everything was said, made one end in forty exit code 134."""
    append(str(tmp_path / "h"), rows(20))
    program = (
        "import os, pyarrow.parquet, numpy\n"
        "from perfkit.gate.history_file import append, load\n"
        "from tests.gate.test_history import rows\n"
        "before = len(os.listdir('/proc/self/task'))\n"
        "load('h'); append('h', rows(3)); load('h')\n"
        "print(len(os.listdir('/proc/self/task')) - before)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.stdout == "0\n"


def test_units_of_one_benchmark_are_one_series(tmp_path):
    table = pa.table(
        {
            "benchmark": ["a"] * 4,
            "value": [2.0, 2000.0, 3.0, 1e308],
            "unit": ["s", "ms", "parsecs", "TB"],
            "date": ["2026-11-01"] * 4,
        }
    )
    (tmp_path / "a.parquet").write_bytes(written(table))
    loaded, notes = load(str(tmp_path))
    assert [(one.value, one.unit) for one in loaded] == [(2.0, "s"), (2.0, "s"), (3.0, "parsecs")]
    assert "1 rows" in notes[0]  # 1e308 TB are no number of bytes


def test_what_is_no_history_is_named(tmp_path):
    with pytest.raises(InputError, match="cannot be read: No such file"):
        load(str(tmp_path / "missing"))
    with pytest.raises(InputError, match="no history") as caught:
        load(str(tmp_path))
    assert "--history" in caught.value.hint
    (tmp_path / "a.parquet").write_bytes(written(pa.table({"benchmark": ["a"]})))
    with pytest.raises(InputError, match="no column 'value'"):
        load(str(tmp_path))


def test_what_is_not_there_remotely_is_named(memory):
    with pytest.raises(InputError, match="no history"):
        load("memory://nowhere")


def test_an_unknown_kind_of_url_is_named():
    with pytest.raises(UsageError, match="Protocol not known"):
        load("nonsense://x")


def missing(monkeypatch, *names):
    """As if packages were not installed."""
    real = builtins.__import__

    def refuse(name, *arguments, **others):
        if name.partition(".")[0] in names:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name.partition(".")[0])
        return real(name, *arguments, **others)

    monkeypatch.setattr(builtins, "__import__", refuse)


def test_a_missing_extra_has_its_pip_line(monkeypatch, tmp_path):
    missing(monkeypatch, "pyarrow")
    with pytest.raises(NoExtra) as caught:
        load(str(tmp_path))
    assert caught.value.exit_code == 4
    assert caught.value.hint == "pip install 'perfkit[parquet]'"


def test_a_missing_file_system_has_its_pip_line(monkeypatch):
    missing(monkeypatch, "fsspec")
    with pytest.raises(NoExtra) as caught:
        load("s3://bucket/history")
    assert "perfkit[remote]" in caught.value.hint


@pytest.mark.skipif("s3fs" in sys.modules, reason="s3fs is installed")
def test_a_missing_implementation_is_named():
    try:
        import s3fs  # noqa: F401
    except ModuleNotFoundError:
        with pytest.raises(NoExtra, match="s3fs"):
            load("s3://bucket/history")


def test_a_store_that_refuses_is_bad_input(memory, monkeypatch):
    append("memory://a", rows(1))

    def refuse(*_, **__):
        raise PermissionError(13, "Access Denied")

    monkeypatch.setattr(type(memory), "cat_file", refuse)
    with pytest.raises(InputError, match=r"cannot be read: .*Access Denied"):
        load("memory://a")


def test_every_field_has_its_column(tmp_path):
    name = append(str(tmp_path), rows(1))
    assert pq.read_table(tmp_path / name).column_names == [field.name for field in fields(Row)]
