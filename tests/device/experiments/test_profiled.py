"""Checks by Nsight Compute: what it would write, if every prediction were right, and if not."""

from __future__ import annotations

import json
import random
import sys
from collections import Counter
from pathlib import Path

import pytest

import perfkit
from perfkit.access import require_nvrtc
from perfkit.analysis.validation import Status, verdict
from perfkit.compiled.compile_options import CompileOptions
from perfkit.compiled.nvrtc import compile_source
from perfkit.device import profiler
from perfkit.device.experiments import access_counters, shared_capacity
from perfkit.device.experiments.checks import check
from perfkit.device.experiments.patterns import KINDS, LANES, MAX_BYTES, WIDTHS, some
from perfkit.device.program import KERNELS
from perfkit.errors import DeviceError, Unavailable
from perfkit.models.banks import pairing
from perfkit.readers.ncu import Profile, Value
from tests.device.fake_validate import FakeCard, trial

HOPPER = perfkit.capability("9.0")
CONFIG, REGISTERS = "launch__shared_mem_config_size", "launch__registers_per_thread"


def profile(kernel, values, *, threads=32, number=0):
    return Profile(
        number=number,
        kernel=kernel,
        capability="9.0",
        block=(threads, 1, 1),
        grid=(1, 1, 1),
        values=tuple(
            Value(name, "", float(amount), str(amount)) for name, amount in values.items()
        ),
        rules=(),
    )


def of_capacity(launches, change=lambda asked, size: size):
    return tuple(
        profile(
            "resident",
            {CONFIG: change(one, one.predicted(HOPPER)), REGISTERS: one.regs},
            threads=one.threads,
        )
        for one in launches
    )


def of_access(patterns, change=None):
    found = []
    together, base = access_counters.TOGETHER, access_counters.BASE
    for first in range(0, len(patterns), together):
        four = patterns[first : first + together]
        values = dict.fromkeys(access_counters.EXECUTED, sum(base**k for k in range(together)))
        for what, metric in access_counters.COUNTS.items():
            values[metric] = sum(
                access_counters.predicted(one)[what] * base**k for k, one in enumerate(four)
            )
        if change and first == 0:
            values |= {metric: values[metric] + by for metric, by in change.items()}
        found.append(profile(f"access_{four[0].width}(char *, int)", values))
    return tuple(found)


def run(name, profiles, monkeypatch):
    """The check's sums when the profiler gives these launches."""
    asked = []

    def profiled(task, arguments, *, kernels, metrics):
        asked.append((task, arguments, kernels, metrics))
        return profiles

    module = {"shared-capacity": shared_capacity, "access-counters": access_counters}[name]
    monkeypatch.setattr(module, "profiled", profiled)
    (tally,) = check(trial(name, FakeCard()))
    status, _ = verdict(
        compared=tally.compared, differing=tally.differing, nothing=None, failed=None
    )
    ((task, arguments, _, _),) = asked
    assert (task, arguments["name"]) == ("launch", name)
    return status, tally


def launches_of(name):
    module = {"shared-capacity": shared_capacity, "access-counters": access_counters}[name]
    return module.listed(trial(name, FakeCard()))


@pytest.mark.parametrize(
    ("name", "make", "least"),
    [("shared-capacity", of_capacity, 200), ("access-counters", of_access, 400)],
)
def test_right_predictions_pass(name, make, least, monkeypatch):
    status, tally = run(name, make(launches_of(name)), monkeypatch)
    assert (status, tally.differing) == (Status.PASS, 0)
    assert tally.compared >= least


def test_the_full_modes_compare_enough():
    full = {"quick": False}
    capacity = shared_capacity.listed(trial("shared-capacity", FakeCard(), **full))
    assert sum(one.carveout >= 0 for one in capacity) >= 1000
    assert sum(one.carveout < 0 for one in capacity) >= 1000
    assert all(one.predicted(HOPPER) for one in capacity[:100])
    patterns = access_counters.listed(trial("access-counters", FakeCard(), **full))
    assert len(patterns) >= 400
    assert sum(one.width in {8, 16} for one in patterns) >= 400


def test_another_capacity_is_named(monkeypatch):
    def change(asked, size):
        return 100 * 1024 if size == 132 * 1024 and asked.carveout < 0 else size

    status, tally = run(
        "shared-capacity", of_capacity(launches_of("shared-capacity"), change), monkeypatch
    )
    assert status is Status.FAIL
    first = tally.differences[0]
    assert (first.predicted, first.measured) == ("132 KiB", "100 KiB")
    assert "no preference" in first.configuration
    assert tally.figures["without a preference, differ"] == tally.differing


def test_another_count_is_named_with_its_pattern(monkeypatch):
    patterns = launches_of("access-counters")
    what, metric = next(iter(access_counters.COUNTS.items()))
    # one wavefront more in the third pattern of the first launch
    changed = of_access(patterns, {metric: access_counters.BASE**2})
    status, tally = run("access-counters", changed, monkeypatch)
    assert (status, tally.differing) == (Status.FAIL, 1)
    (one,) = tally.differences
    expected = access_counters.predicted(patterns[2])[what]
    assert (one.predicted, one.measured) == (str(expected), str(expected + 1))
    assert str(patterns[2]) in one.configuration


@pytest.mark.parametrize("name", ["shared-capacity", "access-counters"])
def test_other_launches_than_asked_for_are_no_measurement(name, monkeypatch):
    make = {"shared-capacity": of_capacity, "access-counters": of_access}[name]
    profiles = make(launches_of(name))
    for others in (profiles[:-1], profiles[::-1]):
        with pytest.raises(Unavailable, match="ncu saw"):
            run(name, others, monkeypatch)


def test_an_access_that_the_compiler_split_is_no_measurement(monkeypatch):
    profiles = of_access(launches_of("access-counters"), {access_counters.EXECUTED[0]: 1})
    with pytest.raises(Unavailable, match="the compiler changed the code"):
        run("access-counters", profiles, monkeypatch)


def test_a_metric_that_is_not_there():
    with pytest.raises(Unavailable, match="does not collect dram"):
        profiler.value(profile("k", {CONFIG: 1}), "dram")


def test_patterns_cover_what_is_in_question():
    found = some(random.Random(1), 1000, 4)
    assert found == some(random.Random(1), 1000, 4)
    assert {one.width for one in found} == set(WIDTHS)
    assert {one.kind for one in found} == set(KINDS)
    for one in found:
        assert len(one.offsets) == LANES
        assert max(o for o in one.offsets if o is not None) + one.width <= MAX_BYTES
    pairs = Counter((one.width, pairing(one.width, one.offsets)) for one in found)
    assert all(pairs[width, bit] > 20 for width in (8, 16) for bit in (None, 1, 2))
    for first in range(0, len(found), 4):
        assert len({one.width for one in found[first : first + 4]}) == 1


# --- the profiler itself ------------------------------------------------------------------------

EXPORT = (
    '"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size",'
    '"Grid Size","Device","CC","{metric}"\n'
    '"","","","","","","","block","grid","","","byte/block"\n'
    '"0","7","python","host","resident_r24","1","7","(64, 1, 1)","(1, 1, 1)","0","9.0","8,192"\n'
)
STUB = """#!{python}
import json, subprocess, sys
log = sys.argv[sys.argv.index("--log-file") + 1]
open(log, "w").write({said!r})
request = json.load(open(sys.argv[-1]))
open(request["channel"], "w").write({channel!r})
sys.stderr.write({err!r})
"""


def stub(folder: Path, monkeypatch, *, said="", channel='["done", {}]\n', err=""):
    path = folder / "ncu"
    path.write_text(STUB.format(python=sys.executable, said=said, channel=channel, err=err))
    path.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))


def ask():
    return profiler.profiled("launch", {"name": "x"}, kernels="resident", metrics=[CONFIG])


def test_what_the_profiler_writes_is_read(tmp_path, monkeypatch):
    stub(tmp_path, monkeypatch, said="==PROF== Connected\n" + EXPORT.format(metric=CONFIG))
    (found,) = ask()
    assert (found.kernel, found.block) == ("resident_r24", (64, 1, 1))
    assert profiler.value(found, CONFIG) == 8192


@pytest.mark.parametrize(
    ("said", "message", "hint"),
    [
        (
            "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access …\n",
            "may not read the GPU's counters (ERR_NVGPUCTRPERM)",
            "NVreg_RestrictProfilingToAdminUsers",
        ),
        ("==ERROR== LibraryNotLoaded\n", "ncu: LibraryNotLoaded", "MIG"),
        ("nothing at all\n", "no CSV export", "last word"),
    ],
)
def test_why_the_profiler_does_not_work(tmp_path, monkeypatch, said, message, hint):
    stub(tmp_path, monkeypatch, said=said, err="first\nlast word\n")
    with pytest.raises(Unavailable) as error:
        ask()
    assert message in error.value.message
    assert hint in error.value.hint


@pytest.mark.parametrize(
    ("channel", "message"),
    [
        (
            json.dumps(["error", {"message": "bad", "where": None, "hint": None, "exit_code": 5}])
            + "\n",
            "bad",
        ),
        ("", "did not come to its end"),
    ],
)
def test_a_task_that_fails_under_the_profiler(tmp_path, monkeypatch, channel, message):
    stub(tmp_path, monkeypatch, said=EXPORT.format(metric=CONFIG), channel=channel)
    with pytest.raises(DeviceError, match=message):
        ask()


def test_without_a_profiler(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(profiler, "_PLACES", (f"{tmp_path}/nsight-*",))
    with pytest.raises(Unavailable, match="not installed"):
        profiler.find_ncu()
    for version in ("1", "2"):
        (tmp_path / f"nsight-{version}").mkdir()
        (tmp_path / f"nsight-{version}" / "ncu").touch()
    assert profiler.find_ncu() == str(tmp_path / "nsight-2" / "ncu")


# --- sources ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "kernels"),
    [
        ("access.cu", {*(f"access_{w}" for w in WIDTHS), *(f"timed_{w}" for w in (4, 8, 16))}),
        ("underway.cu", {f"read_{w}_{n}" for w in (4, 16) for n in (1, 2, 4, 8)}),
        ("fits.cu", {"plain", "own_shared", "bounded", "registers", "many_registers"}),
    ],
)
def test_kernels_compile(source, kernels):
    try:
        require_nvrtc()
    except Unavailable as error:
        pytest.skip(str(error))
    options = CompileOptions(compiler="nvrtc")
    found = compile_source(KERNELS / source, arch="sm_90", options=options)
    assert {symbol for symbol, _ in found.entries} == kernels


def test_kernels_have_the_registers_that_they_name(tmp_path):
    try:
        require_nvrtc()
    except Unavailable as error:
        pytest.skip(str(error))
    from perfkit.device.experiments.resident_kernels import Variant, source

    variants = [
        Variant(registers=24),
        Variant(registers=77, static_bytes=4096),
        Variant(registers=255),
        Variant(launch_bound=100),
    ]
    path = tmp_path / "k.cu"
    path.write_text(source(variants))
    found = compile_source(path, arch="sm_90", options=CompileOptions(compiler="nvrtc"))
    (tmp_path / "k.cubin").write_bytes(found.cubin)
    kernels = {one.name: one for one in perfkit.inspect(tmp_path / "k.cubin")}
    assert len(kernels) == len(variants)
    for variant in variants:
        kernel = kernels[variant.name]
        assert variant.registers in {0, kernel.registers_per_thread}
        assert kernel.static_shared_bytes == variant.static_bytes
