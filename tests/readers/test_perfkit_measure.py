"""What ``perfkit measure -f json`` writes, as results."""

from __future__ import annotations

import json

import pytest

from perfkit.errors import InputError
from perfkit.readers.recognise import read_results
from perfkit.readers.results import Unit

RUNS = [
    {"samples_s": [1e-5, 1.1e-5], "sm_clock_hz": 1.98e9},
    {"samples_s": [1.2e-5], "sm_clock_hz": None},
]
SCALE = {"name": "scale", "sizes": {"n": 1024, "m": 2}, "runs": RUNS, "checks": [], "failure": None}
ABOUT = {
    "device": "NVIDIA H200", "compute_capability": "9.0", "driver": "580.1", "toolkit": "12.9",
    "date": "2026-11-30T12:00:00+00:00",
}  # fmt: skip


def document(*measurements, cards=1):
    device = {"environment": ABOUT, "measurements": list(measurements)}
    return {"schema": "perfkit.measure/1", "devices": [device] * cards}


@pytest.fixture
def read(tmp_path):
    def run(found):
        path = tmp_path / "m.json"
        path.write_text(json.dumps(found))
        return read_results(path)

    return run


def test_a_process_is_a_run(read):
    found = read(document(SCALE))
    first, second = found.runs
    assert (first.benchmark, first.values, first.unit) == (
        "scale[n=1024, m=2]", (1e-5, 1.1e-5), Unit.SECONDS,
    )  # fmt: skip
    assert (first.run, first.clock_hz) == ("1", 1.98e9)
    assert (second.run, second.clock_hz) == ("2", None)
    assert found.environment["gpu"] == "NVIDIA H200"
    assert found.environment["driver"] == "580.1"


def test_bursts_are_a_benchmark_of_their_own(read):
    """Against launches in a row they would be compared as if the code were faster."""
    (run, _) = read(document({**SCALE, "rest_s": 0.25})).runs
    assert run.benchmark == "scale[n=1024, m=2, rest=0.25 s]"
    assert read(document({**SCALE, "rest_s": 0.0})).runs[0].benchmark == "scale[n=1024, m=2]"
    with pytest.raises(InputError, match="rest_s"):
        read(document({**SCALE, "rest_s": "long"}))


def test_of_two_cards_the_names_differ(read):
    assert [run.benchmark for run in read(document({**SCALE, "sizes": {}}, cards=2)).runs] == [
        "GPU 0: scale", "GPU 0: scale", "GPU 1: scale", "GPU 1: scale",
    ]  # fmt: skip


def test_cards_have_their_own_numbers(read):
    found = document({**SCALE, "sizes": {}}, cards=2)
    found["devices"] = [
        {**one, "environment": {**ABOUT, "index": index}}
        for one, index in zip(found["devices"], (3, 1), strict=True)
    ]
    assert [run.benchmark for run in read(found).runs] == [
        "GPU 3: scale", "GPU 3: scale", "GPU 1: scale", "GPU 1: scale",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("change", "failure"),
    [
        ({"failure": {"message": "it ran longer than 60 s"}}, "longer than 60 s"),
        ({"checks": [{"output": "y", "right": False}]}, "result is wrong: y"),
        ({"checks": [{"output": "y"}]}, "result is wrong: y"),
        ({"runs": []}, "no run"),
        ({"runs": [{"samples_s": []}]}, "no value"),
        ({"runs": [{"samples_s": [0.0]}]}, "no possible measurement"),
    ],
)
def test_what_failed_or_is_wrong_has_no_value(read, change, failure):
    (run,) = read(document({**SCALE, **change})).runs
    assert run.values == ()
    assert failure in run.failure


@pytest.mark.parametrize(
    "change", [{"sizes": 3}, {"name": None}, {"runs": {"a": 1}}, {"runs": [1]}, {"failure": "x"}]
)
def test_what_is_of_the_wrong_kind_is_named(read, change):
    with pytest.raises(InputError) as caught:
        read(document({**SCALE, **change}))
    assert "devices[0].measurements[0]" in caught.value.where
