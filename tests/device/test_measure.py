"""Runs put together, with children that are functions on a made-up card."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from perfkit.analysis.measurement import Verdict
from perfkit.arch import catalog
from perfkit.device import cards as shared
from perfkit.device import measure as module
from perfkit.device import timing
from perfkit.device.backend import LaunchConfig
from perfkit.device.child import End, Failure, Outcome
from perfkit.device.items import of_kernel, of_python, of_workloads
from perfkit.device.measure import Plan, measure
from perfkit.device.nvml import POWER_CAP, Neighbour
from perfkit.device.properties import read_device, read_devices
from perfkit.device.user_kernel import KernelSpec
from perfkit.errors import UsageError
from perfkit.models.roofs import Ceilings
from tests.device.children import Children
from tests.device.fake_card import FakeMonitor, small_l2
from tests.device.fakes import FakeDriver

H200_BYTES_PER_S = 4.8e12


@pytest.fixture(autouse=True)
def no_nvml(monkeypatch):
    monkeypatch.setattr(module, "Monitor", FakeMonitor)


@pytest.fixture
def no_time(monkeypatch):
    """The rests that there were; none takes any time."""
    found = []
    monkeypatch.setattr(timing, "sleep", found.append)
    return found


def small(*names, **sizes):
    """Items of the library, small enough for made-up memory."""
    items, _ = of_workloads(names, sizes, cold=None, devices=[read_device(0, FakeDriver())])
    return items


QUICK = Plan(runs=3, samples=5, most_seconds=0.1, warmup_s=1e-6)
H200 = (read_device(0, small_l2()),)


def costs(time_s):
    """Every launch takes that long, in child ``number`` a little longer."""

    def prepare(card, number):
        card.cost = lambda name, launch: time_s * (1 + 0.001 * number)
        # at full size no made-up kernel does anything
        card.kernels["count_poison"] = lambda *_: None

    return prepare


def add_at(share):
    """The time of a sum of 2**19 floats at that share of the data sheet's bandwidth."""
    return 3 * 4 * 2**19 / (H200_BYTES_PER_S * share)


def test_runs_become_a_median_an_interval_and_a_verdict(card):
    items = small("vector_add", n=2**19)
    children = Children(costs(add_at(0.95)))
    (device,) = measure(items, H200, QUICK, run=children).devices
    (found,) = device.measurements
    assert len(children.requests) == len(found.runs) == 3
    assert [request["check"] for request in children.requests] == [True, False, False]
    assert found.median_s == pytest.approx(add_at(0.95) * 1.001)
    low, high = found.interval_s
    assert low < found.median_s < high
    assert found.ratio == pytest.approx(1.001 / 0.95)
    assert found.verdict is Verdict.NEAR
    assert found.occupancy == 1.0
    assert device.basis == "the data sheet of h200-sxm"


@pytest.mark.parametrize(
    ("share", "verdict"),
    [(0.95, Verdict.NEAR), (0.5, Verdict.BELOW), (1.2, Verdict.FASTER)],
)
def test_verdicts(card, share, verdict):
    items = small("vector_add", n=2**19)
    report = measure(items, H200, QUICK, run=Children(costs(add_at(share))))
    (found,) = report.all
    assert found.verdict is verdict
    assert report.exit_code == 0
    assert found.diagnosis().checked


def test_a_wrong_result_is_the_answer_no(card):
    def prepare(card, number):
        costs(1e-3)(card, number)
        card.kernels["copy"] = lambda launch, a, b, n: b.fill(0)

    report = measure(small("copy", n=2**20), H200, QUICK, run=Children(prepare))
    assert report.all[0].verdict is Verdict.WRONG
    assert report.exit_code == 1


def test_holes_at_full_size_are_a_wrong_result(card):
    def prepare(card, number):
        def leaves_out(launch, data, many, width, byte, found):
            found.view("uint64")[0] += 3 * (int(many) > 10**6)  # both at its check and at full size

        card.kernels["count_poison"] = leaves_out

    report = measure(small("copy", n=2**20), H200, QUICK, run=Children(prepare))
    (found,) = report.all
    assert [check.unwritten for check in found.checks if not check.right] == [3, 3]
    assert found.verdict is Verdict.WRONG


def test_one_that_fails_leaves_the_others_theirs(card):
    def prepare(card, number):
        costs(1e-3)(card, number)
        card.fails.add("triad")

    children = Children(prepare)
    report = measure(small("copy", "triad", "write_only", n=2**20), H200, QUICK, run=children)
    copy, triad, write = report.all
    assert triad.failure is not None
    assert "ILLEGAL_ADDRESS" in triad.failure.message
    assert triad.verdict is Verdict.FAILED
    assert (len(copy.runs), len(triad.runs), len(write.runs)) == (3, 0, 3)
    names = [[item["name"] for item in request["items"]] for request in children.requests]
    assert names == [
        ["copy", "triad", "write_only"],
        ["write_only"],
        ["copy", "write_only"],
        ["copy", "write_only"],
    ]
    assert report.exit_code == 5


def test_one_that_fails_later_keeps_its_runs(card):
    def prepare(card, number):
        costs(1e-3)(card, number)
        if number == 1:
            card.fails.add("copy")

    (found,) = measure(small("copy", n=2**20), H200, QUICK, run=Children(prepare)).all
    assert len(found.runs) == 1
    assert found.failure is not None
    assert found.verdict is not Verdict.FAILED


def test_a_card_that_cannot_be_opened_is_asked_once(card):
    children = Children()
    children.before = lambda number: Failure(
        end=End.ERROR, message="no NVRTC", hint="install it", exit_code=4
    )
    report = measure(small("copy", "triad", n=2**20), H200, QUICK, run=children)
    assert len(children.requests) == 1
    assert report.devices[0].failure.message == "no NVRTC"
    assert report.all == ()
    assert report.exit_code == 4


def test_an_interrupted_child_ends_it_and_keeps_what_is_done(card):
    children = Children(costs(1e-3))
    interrupted = Failure(end=End.INTERRUPTED, message="interrupted", exit_code=130)
    children.before = lambda number: interrupted if number == 2 else None
    report = measure(small("copy", n=2**20), H200, QUICK, run=children)
    assert report.interrupted
    assert report.exit_code == 130
    assert len(report.all[0].runs) == 2


def test_ctrl_c_reaches_every_child(card, monkeypatch):
    """The interrupt arrives in the main thread, while children wait in others."""
    stopped = []

    def child(task, arguments, *, uuid, limits, monitor, on_result, stop):
        while not stop():
            time.sleep(0.005)
        stopped.append(uuid)
        return Outcome(
            results=(),
            failure=Failure(end=End.INTERRUPTED, message="interrupted", exit_code=130),
        )

    def interrupt():
        raise KeyboardInterrupt

    monkeypatch.setattr(shared, "_pause", interrupt)
    devices = read_devices(FakeDriver(devices=2))
    report = measure(small("copy", n=2**20), devices, QUICK, run=child)
    assert report.interrupted
    assert sorted(stopped) == sorted(device.uuid for device in devices)


def test_throttled_runs_are_named_and_left_out(card):
    class Sometimes(FakeMonitor):
        made = 0

        def __init__(self):
            Sometimes.made += 1
            super().__init__(throttles=("power cap",) if Sometimes.made == 2 else ())

    children = Children(costs(1e-3), Sometimes)
    (found,) = measure(small("copy", n=2**20), H200, QUICK, run=children).all
    assert [run.throttles for run in found.runs] == [(), ("power cap",), ()]
    assert len(found.counted) == 2
    assert found.notes[0] == "run 2 of 3 was throttled (power cap): the others count"


def test_if_all_runs_were_throttled_they_count(card):
    children = Children(costs(1e-3), lambda: FakeMonitor(throttles=("heat",)))
    (found,) = measure(small("copy", n=2**20), H200, QUICK, run=children).all
    assert len(found.counted) == 3
    assert "all of them count" in found.notes[0]


def test_several_devices_each_have_their_child(card):
    devices = read_devices(FakeDriver(devices=2))
    children = Children(costs(1e-3))
    report = measure(small("copy", n=2**20), devices, QUICK, run=children)
    assert len(report.devices) == 2
    assert {request["uuid"] for request in children.requests} == {d.uuid for d in devices}
    assert len(report.all) == 2


def test_cards_of_different_products_run_what_each_can(card):
    ampere = FakeDriver.of("NVIDIA A100-SXM4-80GB", catalog.gpu("a100"))
    devices = (H200[0], replace(read_device(0, ampere), index=1, uuid="GPU-1"))
    names = ["gemm_wgmma_bf16", "vector_add"]
    items, left_out = of_workloads(names, {"": 2**12}, cold=None, devices=devices)
    assert left_out == ("device 1: gemm_wgmma_bf16 is left out: uses instructions of 9.0 only",)
    children = Children(costs(1e-3))
    report = measure(items, devices, replace(QUICK, runs=1), run=children)
    asked = {
        request["uuid"]: [item["name"] for item in request["items"]]
        for request in children.requests
    }
    assert asked == {devices[0].uuid: names, "GPU-1": ["vector_add"]}
    assert [device.basis for device in report.devices] == [
        "the data sheet of h200-sxm",
        "the data sheet of a100-sxm4-80gb",
    ]


def test_more_data_than_the_card_has(card):
    (found,) = measure(small("copy", n=2**36), H200, QUICK, run=Children()).all
    assert "its data take 512.0 GiB, the card has 140.4 GiB" in found.failure.message


def test_more_data_than_the_memory_limit_is_refused_before_anything_is_allocated(card):
    children = Children(costs(1e-3))
    plan = replace(QUICK, memory_limit_bytes=2**30)
    large, small_one = small("copy", n=2**28), small("triad", n=2**20)
    report = measure((*large, *small_one), H200, plan, run=children)
    found = {one.name: one.failure for one in report.all}
    assert found["copy"].message == "its data take 2.0 GiB, --memory-limit is 1.0 GiB"
    assert found["copy"].exit_code == report.exit_code == 2
    assert found["triad"] is None


def test_a_card_that_no_data_sheet_knows(card):
    unknown = read_device(0, replace(small_l2(), named="NVIDIA H9999"))
    items = small("vector_add", n=2**22)
    report = measure(items, (unknown,), QUICK, run=Children(costs(1e-3)))
    (device,) = report.devices
    assert device.basis == "the driver's answers"
    assert any("no product 'NVIDIA H9999'" in text for text in device.missing)
    (found,) = device.measurements
    # two transfers per clock of the driver's memory clock and width: the H200's bandwidth
    moved = 3 * 4 * 2**22
    assert found.prediction.bound_s == pytest.approx(moved / 4.9e12, rel=0.03)


def test_a_capability_that_nobody_knows_is_still_timed(card):
    from tests.device.fakes import h200_attributes

    future = FakeDriver(values=h200_attributes() | {"COMPUTE_CAPABILITY_MAJOR": 99})
    report = measure(
        small("copy", n=2**20), (read_device(0, future),), QUICK, run=Children(costs(1e-3))
    )
    (found,) = report.all
    assert found.verdict is Verdict.NO_BOUND
    assert "99.0" in report.devices[0].missing[0]


def test_ceilings_of_this_card_take_the_place_of_the_data_sheet(card):
    ceilings = Ceilings(
        gpu="h200-sxm",
        compute={},
        memory={"dram": 4e12},
        clock_hz=None,
        origin="here.json",
        mixes={"read": 4e12, "copy": 3e12, "write": 4e12},
    )
    items = small("vector_add", n=2**19)
    report = measure(items, H200, QUICK, ceilings=[ceilings], run=Children(costs(1e-4)))
    (found,) = report.all
    moved = 3 * 4 * 2**19
    assert found.prediction.bound_s == pytest.approx(moved / 4e12)
    # a third is written: two thirds of the way from reads alone to a copy
    assert found.prediction.expected_s == pytest.approx(moved * (1 / 3 / 4e12 + 2 / 3 / 3e12))


def test_each_of_several_cards_has_its_own_ceilings(card):
    devices = read_devices(replace(small_l2(), devices=2))
    ceilings = [
        Ceilings(
            gpu="h200-sxm",
            compute={},
            memory={"dram": rate},
            clock_hz=None,
            origin="ours.json",
            uuid=device.uuid,
        )
        for device, rate in zip(devices, (4e12, 4.4e12), strict=True)
    ]
    items = small("vector_add", n=2**19)
    report = measure(items, devices, QUICK, ceilings=ceilings, run=Children(costs(1e-4)))
    moved = 3 * 4 * 2**19
    assert [one.prediction.bound_s for one in report.all] == [moved / 4e12, moved / 4.4e12]


def test_ceilings_of_another_card(card):
    ceilings = Ceilings(gpu="a100", compute={}, memory={}, clock_hz=None, origin="a.json")
    with pytest.raises(UsageError, match="ceilings of a100, this is h200-sxm"):
        measure(small("copy"), H200, QUICK, ceilings=[ceilings], run=Children())


def test_progress_names_what_is_next(card):
    told = []
    measure(
        small("copy", "triad", n=2**20),
        H200,
        replace(QUICK, runs=1),
        run=Children(costs(1e-3)),
        tell=told.append,
    )
    assert told == ["triad, run 1 of 1"]


def test_progress_of_several_cards_names_the_card(card):
    told = []
    devices = read_devices(FakeDriver(devices=2))
    plan, children = replace(QUICK, runs=1), Children(costs(1e-3))
    measure(small("copy", "triad", n=2**20), devices, plan, run=children, tell=told.append)
    assert sorted(told) == ["device 0: triad, run 1 of 1", "device 1: triad, run 1 of 1"]


def test_limits_reach_the_child(card):
    plan = replace(QUICK, runs=1, time_limit_s=7, memory_limit_bytes=2**30)
    children = Children(costs(1e-3))
    measure(small("copy", "triad", n=2**20), H200, plan, run=children)
    limits = children.requests[0]["limits"]
    assert limits.silent_seconds == 7
    assert limits.seconds == 60 + 2 * 7
    assert (limits.host_bytes, limits.device_bytes) == (2**30, 2**30)


def test_rests_reach_the_child_and_do_not_count_as_a_kernel_that_hangs(card, no_time):
    plan = replace(QUICK, runs=1, samples=4, time_limit_s=7, rest_s=0.5)
    children = Children(costs(1e-3))
    (found,) = measure(small("copy", n=2**20), H200, plan, run=children).all
    assert no_time == [0.5]
    assert found.rest_s == 0.5
    request = children.requests[0]
    assert request["sampling"]["rest_s"] == 0.5
    most = 7 + 4 * (0.5 + 0.2)  # and waking
    assert request["limits"].silent_seconds == pytest.approx(most)
    assert request["limits"].seconds == pytest.approx(60 + most)


def test_every_stage_of_a_pipeline_rests_and_so_may_python_code_twice(card):
    plan = replace(QUICK, samples=4, time_limit_s=7, rest_s=0.5)
    (staged,) = small("overlap", n=2**20)
    count = 1 + len(staged.case.staged.stages)
    assert count > 2
    assert plan.limit_s(staged) == pytest.approx(7 + count * 4 * 0.7)
    python = of_python("a:b", flow=None, moved_bytes=None, cold=None)
    assert plan.limit_s(python) == pytest.approx(7 + 2 * 4 * 0.7)


@pytest.mark.parametrize(
    ("why", "rest_s", "named"),
    [(POWER_CAP, 0.0, True), (POWER_CAP, 0.1, False), ("thermal slowdown", 0.0, False)],
)
def test_under_a_power_limit_rests_are_named_unless_there_were_some(
    card, no_time, why, rest_s, named
):
    children = Children(costs(1e-3), lambda: FakeMonitor(throttles=(why,)))
    plan = replace(QUICK, rest_s=rest_s)
    (found,) = measure(small("copy", n=2**20), H200, plan, run=children).all
    assert why in found.notes[0]
    assert ("--rest 0.25" in found.notes[0]) == named


SOURCE = """
__global__ void twice(int n, float a, const float* x, float* y) {}
"""


def test_a_kernel_of_the_users_own(card, tmp_path):
    path = tmp_path / "twice.cu"
    path.write_text(SOURCE)
    (tmp_path / "ref.py").write_text("def right(x, n, a):\n    return {'y': a * x}\n")
    spec = KernelSpec(
        path=str(path),
        kernel="twice",
        grid="(n + threads - 1) / threads",
        threads="128",
        arguments=("n:i32=1<<12", "a:f32=2", "x:f32[n]", "out y:f32[n]"),
        flops="n",
        reference=f"{tmp_path / 'ref.py'}:right",
    )

    def prepare(card, number):
        def twice(launch: LaunchConfig, n, a, x, y):
            assert launch.grid == (32, 1, 1)
            y.view("float32")[:] = a * x.view("float32")

        card.kernels["twice"] = twice

    (found,) = measure([of_kernel(spec, cold=None)], H200, QUICK, run=Children(prepare)).all
    assert [check.right for check in found.checks] == [True]
    assert found.demand.bytes == 2 * 4 * 4096
    assert found.facts.threads == 128


def test_python_code(card, tmp_path, monkeypatch):
    (tmp_path / "work_here.py").write_text("def run():\n    return None\n")
    monkeypatch.chdir(tmp_path)
    item = of_python("work_here:run", flow=None, moved_bytes=4.8e9, cold=None)
    (found,) = measure([item], H200, QUICK, run=Children()).all
    assert found.facts is None
    assert found.prediction.bound_s == pytest.approx(1e-3)
    assert found.verdict is Verdict.FASTER


def test_processes_that_come_onto_the_card_meanwhile_are_told(card, monkeypatch):
    class Busy(FakeMonitor):
        """One process is there at first, another comes after the first run and stays."""

        asked = 0

        def setup(self):
            Busy.asked += 1
            pids = (7,) if Busy.asked < 2 else (7, 8)
            there = tuple(Neighbour(pid=pid, memory_bytes=Busy.asked << 20) for pid in pids)
            return replace(super().setup(), neighbours=there)

    monkeypatch.setattr(module, "Monitor", Busy)
    report = measure(small("copy", n=2**19), H200, QUICK, run=Children(costs(1e-6)))
    assert report.devices[0].environment.notes == (
        "process 7 is on the card, too, with 1 MiB",
        "process 8 is on the card, too, with 2 MiB",
    )
