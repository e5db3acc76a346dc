"""``perfkit gate record``: baselines and histories from results and from programs."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from perfkit.errors import UsageError
from perfkit.gate.baseline import load
from perfkit.gate.history_file import load as load_history
from tests.report.schemas import undescribed, validate

DATA = Path(__file__).resolve().parents[1] / "data"
ROOT = DATA.parents[1]
CSV = "benchmark,run,value,unit\n" + "".join(f"axpy,{i},{50 + i % 3},us\n" for i in range(8))
#: prints one time, a little different each time
BENCH = "import os; print('time:', 5 + os.getpid() % 7 / 100, 'ms')"


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("GITHUB_SHA", "CI_COMMIT_SHA", "GIT_COMMIT", "BUILDKITE_COMMIT"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "bench.py").write_text(BENCH)
    (tmp_path / "r.csv").write_text(CSV)


CMD = ["--cmd", f"{sys.executable} bench.py", "--metric", "time: ([0-9.]+)"]


def test_results_become_a_baseline(perfkit, tmp_path):
    done = perfkit("gate record r.csv -o base.json --commit abc")
    assert done.code == 0, done.err
    assert "Recorded 1 benchmark in base.json" in done.out
    assert "no GPU is named" in done.out
    (entry,) = load("base.json")
    assert len(entry.runs) == 8
    assert entry.about["commit"] == "abc"
    assert len(entry.about["archdb"]) == 12
    assert "host" not in entry.about  # it may be another machine
    document = json.loads((tmp_path / "base.json").read_text())
    validate("baseline", document)
    assert undescribed("baseline", document) == []


def test_results_of_this_machine_say_which_it_is(perfkit):
    done = perfkit("gate record r.csv --here -o base.json")
    assert done.code == 0, done.err
    (entry,) = load("base.json")
    assert entry.about["host"]


def test_the_json_is_what_the_file_has(perfkit):
    done = perfkit("gate record r.csv -o base.json -f json -q")
    shown = json.loads(done.out)
    assert shown.pop("made_by")["command"].startswith("perfkit gate record")
    assert shown == json.loads(Path("base.json").read_text())
    assert perfkit("gate record r.csv -o base.json -f csv -q").out.startswith("benchmark,metric,")


FAILING = ["nvbench_1.0.0.json", "hyperfine.json", "google_benchmark.json"]


@pytest.mark.parametrize("name", ["pytest_benchmark.json", *FAILING])
def test_results_of_any_reader_are_recorded(perfkit, name):
    place = str(DATA / "results" / name)
    done = perfkit(["gate", "record", place, "-o", "base.json", "--skip-failed"])
    assert done.code == 0, done.err
    assert load("base.json")
    assert ("left out: " in done.err) is (name in FAILING)


@pytest.mark.parametrize("name", FAILING)
def test_results_with_a_failure_are_not_recorded(refused, name):
    err = refused(["gate", "record", str(DATA / "results" / name), "-o", "base.json"])
    assert "holds only what was measured" in err
    assert not Path("base.json").exists()


def test_a_file_of_failures_alone_has_nothing_to_record(refused):
    Path("bad.csv").write_text("benchmark,value,unit\naxpy,0,s\n")
    assert "every benchmark" in refused("gate record bad.csv -o base.json --skip-failed")


def test_a_program_is_run(perfkit):
    done = perfkit(["gate", "record", *CMD, "--runs", "5", "-o", "base.json"])
    assert done.code == 0, done.err
    (entry,) = load("base.json")
    assert (entry.benchmark, entry.metric, len(entry.runs)) == ("bench.py", "time", 5)
    assert all(0.005 <= run.values[0] <= 0.0051 for run in entry.runs)
    assert entry.about["command"].endswith("bench.py")
    assert entry.about["host"]


NOISY = CSV + "".join(f"wild,{i},{v},us\n" for i, v in enumerate((1, 900, 3, 80, 2, 700, 9, 40)))


def test_what_no_threshold_suits_is_left_out_and_said(perfkit):
    Path("noisy.csv").write_text(NOISY)
    done = perfkit("gate record noisy.csv -o base.json --history h")
    assert done.code == 3
    assert "left out: wild, time: its noise floor is" in done.err
    assert "--keep-noisy" in done.err
    assert "Recorded 1 benchmark in" in done.out
    assert [entry.benchmark for entry in load("base.json")] == ["axpy"]
    # a history promises nothing: it has all runs
    assert {row.benchmark for row in load_history("h")[0]} == {"axpy", "wild"}


def test_it_is_kept_if_asked_for(perfkit):
    Path("noisy.csv").write_text(NOISY)
    done = perfkit("gate record noisy.csv -o base.json --keep-noisy")
    assert done.code == 0
    assert {entry.benchmark for entry in load("base.json")} == {"axpy", "wild"}
    assert "wild: no threshold suits such a noise floor" in " ".join(done.out.split())


def test_what_is_left_out_does_not_touch_what_was_recorded(perfkit):
    perfkit("gate record r.csv -o base.json")
    before = Path("base.json").read_bytes()
    Path("wild.csv").write_text(NOISY.replace(CSV, "benchmark,run,value,unit\n"))
    done = perfkit("gate record wild.csv -o base.json -f json")
    assert done.code == 3
    assert json.loads(done.out)["entries"] == []
    validate("baseline", json.loads(done.out))
    assert Path("base.json").read_bytes() == before
    assert perfkit("gate record wild.csv -o other.json").code == 3
    assert not Path("other.json").exists()
    assert perfkit("gate record wild.csv --history h").code == 0


@pytest.mark.parametrize("broken", ["baseline", "history"])
def test_what_one_place_does_not_take_the_other_one_gets(refused, monkeypatch, broken):
    """As of a disk that is full, or a store that is away, once a program has run for hours."""
    from perfkit.gate import baseline, history_file

    def refuse(*_):
        raise UsageError("cannot be written: No space left on device")

    if broken == "baseline":
        monkeypatch.setattr(baseline, "ready", lambda _: None)
        monkeypatch.setattr(baseline, "update", refuse)
    else:
        monkeypatch.setattr(history_file, "append", refuse)
    assert "No space left" in refused("gate record r.csv -o base.json --history h")
    assert Path("base.json").exists() is (broken == "history")
    assert (len(list(Path("h").glob("*.parquet"))) == 1) is (broken == "baseline")


def test_many_noisy_benchmarks_are_not_listed_one_by_one(perfkit):
    rows = NOISY.replace(CSV, "").splitlines()
    more = "".join(f"{row}\n".replace("wild", f"wild{i}") for i in range(9) for row in rows)
    Path("wild.csv").write_text("benchmark,run,value,unit\n" + more)
    err = perfkit("gate record wild.csv -o base.json").err
    assert err.count("its noise floor is") == 5
    assert "left out: 4 more" in err


def test_a_baseline_that_is_recorded_is_checked_against(perfkit):
    assert perfkit("gate record r.csv -o base.json -q").code == 0
    assert perfkit("gate check r.csv --baseline base.json").code == 0
    slower = CSV.replace(",5", ",6")
    Path("slow.csv").write_text(slower)
    assert perfkit("gate check slow.csv --baseline base.json").code == 1
    done = perfkit("gate check r.csv --baseline base.json --threshold 0.1%")
    assert done.code == 2
    assert "noise floor" in done.err


def test_the_history_grows(perfkit):
    for commit in ("one", "two"):
        done = perfkit(f"gate record r.csv --history h --commit {commit} --branch main")
        assert done.code == 0, done.err
        assert "8 runs added to h" in done.err
    rows, _ = load_history("h")
    assert len(rows) == 16
    assert {(r.commit, r.branch) for r in rows} == {("one", "main"), ("two", "main")}


def test_the_commit_is_what_ci_says_or_git(perfkit, monkeypatch, tmp_path):
    git = ["git", "-c", "user.name=x", "-c", "user.email=x@example.com"]
    subprocess.run([*git, "init", "-q", "-b", "topic"], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "x"], check=True)
    head = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=True)
    perfkit("gate record r.csv --history h")
    monkeypatch.setenv("GITHUB_SHA", "f" * 40)
    monkeypatch.setenv("GITHUB_REF_NAME", "main")
    perfkit("gate record r.csv --history h")
    assert {(r.commit, r.branch) for r in load_history("h")[0]} == {
        (head.stdout.strip(), "topic"), ("f" * 40, "main"),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ("gate record r.csv", 2, "nowhere to record to"),
        ("gate record -o base.json", 2, "nothing to record"),
        ("gate record missing.csv -o base.json", 2, "missing.csv"),
        ("gate record r.csv --cmd true -o base.json", 2, "one of them"),
        ("gate record --cmd true --measure x -o base.json", 2, "one of them"),
        ("gate record r.csv --unit ms -o base.json", 2, "--unit"),
        ("gate record --cmd true --metric wall --unit ms -o base.json", 2, "--unit"),
        ("gate record --cmd true --metric a(b)(c) -o base.json", 2, "2 groups"),
        (
            "gate record --cmd ./missing --metric wall -o base.json",
            5,
            "warm-up: cannot be started: ./missing",
        ),
        ("gate record --cmd false --metric wall -o base.json", 5, "exit code 1"),
        ("gate record --cmd true -o base.json", 5, "--metric wall"),
        ("gate record --cmd true --metric wall --dir nowhere -o base.json", 2, "no folder"),
        ("gate record r.csv -o missing/base.json", 2, "cannot be written"),
        ("gate record r.csv -o .", 2, "Is a directory"),
        ("gate record r.csv --history nonsense://x", 2, "Protocol not known"),
    ],
)
def test_what_cannot_be_recorded_is_named(refused, arguments, code, message):
    assert message in refused(arguments, code)
    assert not Path("base.json").exists()


@pytest.mark.parametrize(
    ("place", "code"),
    [
        ("-o missing/base.json", 2),
        ("-o r.csv", 2),
        ("-o .", 2),
        ("--history r.csv", 2),
        ("--history nonsense://x", 2),
    ],
)
def test_where_it_cannot_be_recorded_nothing_is_run(refused, place, code):
    refused(f"gate record --cmd 'touch ran' --shell --metric wall {place}", code)
    assert not Path("ran").exists()
    assert not Path("base.json").exists()


def test_a_program_that_fails_later_records_nothing(refused, perfkit):
    perfkit("gate record r.csv -o base.json")
    before = Path("base.json").read_bytes()
    Path("flaky.py").write_text(
        "import pathlib, sys\np = pathlib.Path('count')\n"
        "n = int(p.read_text()) if p.exists() else 0\np.write_text(str(n + 1))\n"
        "print('time: 1 ms') if n < 3 else sys.exit('out of luck')\n"
    )
    command = f"{sys.executable} flaky.py"
    err = refused(["gate", "record", "--cmd", command, "--metric", r": (\d)", "-o", "base.json"], 5)
    assert "run 3" in err
    assert "out of luck" in err
    assert Path("base.json").read_bytes() == before


def test_an_empty_file_is_recorded_into(perfkit, refused):
    """As ``mktemp`` makes it."""
    Path("base.json").touch()
    assert perfkit("gate record r.csv -o base.json").code == 0
    assert len(load("base.json")) == 1
    if Path("/dev/null").exists():
        assert "not a regular file" in refused("gate record r.csv -o /dev/null")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"schema": "perfkit.baseline/9", "entries": []}', "newer perfkit"),
        ('{"schema": "perfkit.baseline/1", "ent', "broken JSON"),
        ("not JSON at all", "broken JSON"),
        ("[]", "not a baseline"),
    ],
)
def test_what_is_no_baseline_is_left_alone(refused, text, message):
    Path("base.json").write_text(text)
    assert message in refused("gate record r.csv -o base.json")
    assert Path("base.json").read_text() == text


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize("request_to_end", ["SIGINT", "SIGTERM"])
def test_an_interrupt_records_nothing_and_leaves_no_process(request_to_end):
    Path("slow.py").write_text(
        "import os, time; open('pid', 'w').write(str(os.getpid())); time.sleep(60)"
    )
    command = [
        sys.executable,
        "-m",
        "perfkit",
        "gate",
        "record",
        "--cmd",
        f"{sys.executable} slow.py",
    ]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        [*command, "--metric", "wall", "-o", "base.json"], env=environment, stderr=subprocess.PIPE
    ) as program:
        pid = Path("pid")
        for _ in range(500):
            if pid.exists() and pid.read_text():
                break
            time.sleep(0.02)
        program.send_signal(signal.Signals[request_to_end])
        _, err = program.communicate(timeout=20)
    assert program.returncode == 130
    assert b"nothing is recorded" in err
    assert b"Traceback" not in err
    assert not Path("base.json").exists()
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)
