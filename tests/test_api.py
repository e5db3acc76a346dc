"""``import perfkit``: the names that are promised, what they take, and what they load."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
import traceback
from pathlib import Path

import numpy as np
import pytest

import perfkit
from perfkit import api
from perfkit.arch import catalog
from perfkit.arch.types import Target
from perfkit.errors import (
    DoesNotFit,
    InputError,
    InvalidLaunch,
    PerfkitError,
    UnknownTarget,
    UsageError,
)

ROOT = Path(__file__).resolve().parents[1]
CUBIN = ROOT / "tests" / "data" / "cubin" / "j04.sm_90.cubin"

#: name -> parameters that may be relied on, with their defaults; ``...``: none
PROMISED = {
    "capability": {"text": ...},
    "gpu": {"text": ...},
    "occupancy": {
        "target": ..., "threads": ..., "regs": ..., "smem": 0, "carveout": None, "barriers": 1,
        "rule": "driver",
    },
    "blocks_per_sm": {
        "target": ..., "threads": ..., "regs": ..., "smem": ..., "carveout": -1, "barriers": 1,
        "rule": "driver",
    },
    "sweep": {
        "targets": ..., "threads": ..., "regs": ..., "smem": 0, "carveout": -1, "barriers": 1,
        "rule": "driver",
    },
    "carveout_bytes": {"target": ..., "percent": ...},
    "configured_shared_bytes": {
        "target": ..., "threads": ..., "regs": ..., "smem": ..., "carveout": -1,
    },
    "available_smem": {
        "target": ..., "threads": ..., "regs": ..., "blocks": ..., "static_smem": 0,
        "carveout": None,
    },
    "inspect": {"path": ...},
    "roofline": {
        "target": ..., "dtype": ..., "flops": None, "bytes": None, "op": None, "accumulate": None,
        "sparsity": "dense", "unit": None, "clock_mhz": None, "ceilings": None, "time_s": None,
    },
    "gemm": {
        "target": ..., "m": ..., "n": ..., "k": ..., "dtype": ..., "tile": None, "warp": None,
        "stages": None, "instruction": None, "cluster": (1, 1), "split_k": 1, "regs": None,
    },
}  # fmt: skip


@pytest.mark.parametrize("name", PROMISED)
def test_the_signature_is_what_was_promised(name):
    parameters = inspect.signature(getattr(perfkit, name)).parameters
    for parameter, default in PROMISED[name].items():
        found = parameters[parameter].default
        assert found is inspect.Parameter.empty if default is ... else found == default


def test_the_list_of_names_is_what_the_module_offers():
    assert set(PROMISED) <= set(perfkit.__all__)
    assert sorted(perfkit.__all__) == perfkit.__all__ == dir(perfkit)
    for name in perfkit.__all__:
        assert getattr(perfkit, name) is not None
    functions = {name for name, value in vars(api).items() if inspect.isfunction(value)}
    assert functions == FUNCTIONS


FUNCTIONS = set(perfkit.__all__) - {"PerfkitError", "__version__", "errors", "gate"}


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_every_function_says_what_it_takes_and_gives(name):
    function = getattr(perfkit, name)
    text = inspect.getdoc(function)
    for parameter in inspect.signature(function).parameters.values():
        assert parameter.kind not in {parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL}
        if "Args:" in text:
            assert f"\n    {parameter.name}: " in text, parameter.name
    assert "see ``perfkit." not in text


@pytest.mark.parametrize("module", ["arrays", "kernels", "launches"])
def test_every_own_function_describes_its_arguments_and_errors(module):
    own = [value for value in vars(api).values() if inspect.isfunction(value)]
    own = [one for one in own if one.__module__ == f"perfkit.api.{module}"]
    assert own
    for function in own:
        assert "\nArgs:\n" in inspect.getdoc(function)
        assert "\nRaises:\n" in inspect.getdoc(function)


def test_errors_are_at_hand():
    assert perfkit.PerfkitError is PerfkitError
    assert perfkit.errors.UnknownTarget is UnknownTarget
    with pytest.raises(perfkit.errors.PerfkitError):
        perfkit.occupancy("h1001", threads=256, regs=40)


def test_a_traceback_shows_the_hint_and_the_text_stays_short():
    with pytest.raises(UnknownTarget) as error:
        perfkit.occupancy("h1001", threads=256, regs=40)
    assert str(error.value) == error.value.message
    shown = traceback.format_exception(error.value)
    assert shown[-1] == f"hint: {error.value.hint}\n"
    assert traceback.format_exception(PerfkitError("no hint"))[-1].endswith("no hint\n")


def test_a_name_that_does_not_exist():
    with pytest.raises(AttributeError, match="'perfkit' has no attribute 'ocupancy'"):
        perfkit.ocupancy  # noqa: B018


def test_importing_costs_nothing():
    program = (
        "import sys; before = set(sys.modules); import perfkit; dir(perfkit); "
        "print(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT
    )
    loaded = {name for name in done.stdout.split() if name.split(".")[0] == "perfkit"}
    assert loaded == {"perfkit"}
    others = {name.split(".")[0] for name in done.stdout.split()} - {"perfkit"}
    assert others <= set(sys.stdlib_module_names)


# --- targets ------------------------------------------------------------------------------------

HOPPER = perfkit.capability("9.0")
H100 = perfkit.gpu("h100")


@pytest.mark.parametrize(
    "target",
    [
        "9.0",
        "sm_90a",
        "hopper",
        "h100",
        "NVIDIA H100 80GB HBM3",
        HOPPER,
        H100,
        Target(label="mine", capability=HOPPER, gpu=None),
        *catalog.targets("h200"),
    ],
    ids=str,
)
def test_a_target_may_be_named_or_held(target):
    # 40 x 32 registers a warp: 12 warps in each of four partitions, 6 blocks of 8
    assert perfkit.occupancy(target, threads=256, regs=40).blocks_per_sm == 6
    assert perfkit.blocks_per_sm(target, [256], 40, 0).tolist() == [6]
    assert perfkit.sweep(target, threads=256, regs=40)["blocks_per_sm"].tolist() == [6]
    assert perfkit.carveout_bytes(target, 50) == 132 * 1024
    assert perfkit.configured_shared_bytes(target, 256, 40, 48 * 1024) > 0
    assert perfkit.available_smem(target, threads=128, regs=32, blocks=2) == 115_712


@pytest.mark.parametrize("target", ["h101", "9.1", "rtx-5099", "", "h100,a100", "all", "ampere"])
def test_an_unknown_or_ambiguous_target(target):
    with pytest.raises(UsageError) as error:
        perfkit.occupancy(target, threads=256, regs=40)
    assert error.value.hint
    if "," in target or target in {"all", "ampere"}:
        assert "several" in error.value.message
        assert len(perfkit.sweep(target, threads=256, regs=40)) > 1


@pytest.mark.parametrize("target", [9.0, 90, None, (9, 0)])
def test_a_target_that_is_no_name(target):
    with pytest.raises(UsageError, match="is not a name"):
        perfkit.occupancy(target, threads=256, regs=40)


def test_unknown_names_are_the_same_error_everywhere():
    for ask in (perfkit.capability, perfkit.gpu, lambda name: perfkit.carveout_bytes(name, 0)):
        with pytest.raises(UnknownTarget, match="unknown"):
            ask("h1001")


def test_several_targets_in_one_sweep():
    found = perfkit.sweep(["h100", HOPPER, H100, "ada"], threads=256, regs=40)
    assert found["target"].tolist() == ["h100-sxm5", "9.0", "8.9"]


# --- values -------------------------------------------------------------------------------------


def test_occupancy_has_the_promised_fields():
    found = perfkit.occupancy("8.0", threads=224, regs=92, smem=1000, carveout=50, barriers=2)
    assert (found.blocks_per_sm, found.warps_per_sm, found.ratio) == (2, 14, 14 / 64)
    assert found.limited_by == ("registers",)
    assert found.limits.registers == 2
    # 92 x 32 = 2,944 registers a warp come as 3,072; 1,000 B and the reserve come as 2,048 B
    assert found.allocated_registers_per_block == 7 * 3072
    assert found.allocated_shared_bytes_per_block == 2048


def test_the_hardware_s_rule():
    ask = {"threads": 64, "regs": 16, "smem": 1024, "carveout": 14}
    assert perfkit.occupancy("9.0", **ask).blocks_per_sm == 16
    assert perfkit.occupancy("9.0", **ask, rule="hardware").blocks_per_sm == 32
    arrays = [np.array([value]) for value in ask.values()]
    assert perfkit.blocks_per_sm("9.0", *arrays, rule="hardware").tolist() == [32]


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda: perfkit.occupancy("9.0", threads=0, regs=32), InvalidLaunch, "threads = 0"),
        (lambda: perfkit.occupancy("9.0", threads=64, regs=256), InvalidLaunch, "regs = 256"),
        (lambda: perfkit.occupancy("9.0", threads=64.0, regs=32), InvalidLaunch, "threads"),
        (lambda: perfkit.occupancy("9.0", threads=64, regs=32, smem=-1), InvalidLaunch, "smem"),
        (lambda: perfkit.occupancy("9.0", threads=64, regs=32, rule="x"), UsageError, "'x'"),
        (lambda: perfkit.blocks_per_sm("9.0", 64, 32, 0, rule="x"), UsageError, "'x'"),
        (lambda: perfkit.sweep("9.0", threads=64, regs=32, rule="x"), UsageError, "'x'"),
        (lambda: perfkit.sweep([], threads=64, regs=32), UsageError, "no target"),
        (lambda: perfkit.sweep("9.0", threads=[], regs=32), UsageError, "threads is empty"),
        (lambda: perfkit.blocks_per_sm("9.0", [1.5], 32, 0), UsageError, "threads"),
        (lambda: perfkit.carveout_bytes("9.0", 101), UsageError, "carveout = 101"),
        (lambda: perfkit.carveout_bytes("9.0", -2), UsageError, "carveout = -2"),
        (
            lambda: perfkit.carveout_bytes("9.0", 0.5),
            UsageError,
            "carveout must be an integer, not 0.5",
        ),
        (lambda: perfkit.configured_shared_bytes("9.0", 0, 32, 0), UsageError, "threads"),
        (
            lambda: perfkit.available_smem("9.0", threads=1024, regs=32, blocks=3),
            DoesNotFit,
            "3 blocks do not fit",
        ),
        (lambda: perfkit.inspect("missing.cubin"), InputError, "missing.cubin"),
        (lambda: perfkit.inspect(CUBIN, kernel="("), UsageError, "regular expression"),
    ],
)
def test_bad_values_are_errors_of_perfkit(call, error, says):
    with pytest.raises(error, match=says) as found:
        call()
    assert isinstance(found.value, PerfkitError)


@pytest.mark.parametrize("name", ["occupancy", "sweep", "available_smem"])
def test_a_misspelt_argument_names_the_function_that_was_called(name):
    with pytest.raises(TypeError, match=rf"^{name}\(\) got an unexpected keyword"):
        getattr(perfkit, name)("9.0", threads=64, regs=32, smen=0)


def test_inspect():
    (kernel,) = perfkit.inspect(str(CUBIN))
    assert (kernel.name, kernel.arch, kernel.registers_per_thread) == ("dsm", "sm_90", 12)
    assert perfkit.inspect(CUBIN, kernel="^d") == [kernel]
    assert perfkit.inspect(CUBIN, target="h100") == [kernel]


SOURCE = ROOT / "examples" / "kernels" / "saxpy.cu"
LOG = b"ptxas info    : Function properties for k\nptxas info    : Used 8 registers\n"


@pytest.mark.parametrize(
    ("target", "arch"),
    [
        ("h100", "sm_90"), ("9.0", "sm_90"), ("sm_90a", "sm_90a"), ("ada", "sm_89"),
        (HOPPER, "sm_90"), (H100, "sm_90"), (HOPPER.compute_capability, "sm_90"),
        (catalog.targets("rtx-4090")[0], "sm_89"),
    ],
    ids=str,
)  # fmt: skip
def test_inspect_takes_every_kind_of_target(tmp_path, target, arch):
    path = tmp_path / "build.log"
    path.write_bytes(LOG)
    for name in ("target", "arch"):
        (kernel,) = perfkit.inspect(path, **{name: target})
        assert kernel.arch == arch


@pytest.mark.parametrize(
    ("path", "options", "says"),
    [
        (SOURCE, {}, "has to be compiled for some GPU"),
        (SOURCE, {"target": 9.0}, "9.0 is not a name"),
        (SOURCE, {"arch": 5}, "5 is not a name"),
        (SOURCE, {"target": "h1001"}, "unknown GPU"),
        (SOURCE, {"target": "h100,a100"}, "several targets"),
        (SOURCE, {"target": "h100", "arch": "h100"}, "two names of one thing"),
        (SOURCE, {"target": "h100", "defines": 5}, "defines = 5"),
        (SOURCE, {"target": "h100", "defines": ["A", None]}, "defines"),
        (SOURCE, {"target": "h100", "defines": "1A"}, "write NAME"),
        (SOURCE, {"target": "h100", "include_dirs": "nowhere"}, "nowhere: there is no such"),
        (SOURCE, {"target": "h100", "max_registers": "40"}, "max_registers must be an integer"),
        (SOURCE, {"target": "h100", "std": 17}, "std = 17"),
        (SOURCE, {"target": "h100", "compiler": "gcc"}, "gcc"),
        (CUBIN, {"kernel": 5}, "kernel = 5"),
        (CUBIN, {"defines": ["A"]}, "defines is for sources, and"),
        (CUBIN, {"fast_math": True}, "fast_math is for sources"),
        (CUBIN, {"max_registers": 40}, "max_registers is for sources"),
        (None, {}, "path = None"),
    ],
)
def test_what_inspect_refuses(path, options, says):
    with pytest.raises(UsageError, match=re.escape(says)):
        perfkit.inspect(path, **options)


def test_one_text_is_one_value(tmp_path):
    pytest.importorskip("cuda.bindings.nvrtc", exc_type=ImportError)
    (tmp_path / "width.h").write_text("#define WIDTH 8\n")
    source = tmp_path / "k.cu"
    source.write_text(
        "#include <width.h>\n__global__ void k(int *x) { __shared__ int s[WIDTH * TIMES]; "
        "s[threadIdx.x] = *x; __syncthreads(); x[1] = s[threadIdx.y]; }"
    )
    (tmp_path / "elsewhere").mkdir()
    source = source.rename(tmp_path / "elsewhere" / "k.cu")
    (found,) = perfkit.inspect(source, target="h100", defines="TIMES=4", include_dirs=str(tmp_path))
    assert found.static_shared_bytes == 8 * 4 * 4


# --- values of NumPy, text and dimensions --------------------------------------------------------


@pytest.mark.parametrize("kind", [int, np.int64, np.uint8, np.int16, np.array])
def test_integers_of_any_kind(kind):
    asked = {"threads": kind(128), "regs": kind(40), "smem": kind(100)}
    found = perfkit.occupancy("9.0", **asked, carveout=kind(50), barriers=kind(2))
    assert found == perfkit.occupancy(
        "9.0", threads=128, regs=40, smem=100, carveout=50, barriers=2
    )
    assert type(found.blocks_per_sm) is int
    assert perfkit.carveout_bytes("9.0", kind(50)) == 132 * 1024
    free = perfkit.available_smem("9.0", threads=kind(128), regs=kind(32), blocks=kind(2))
    assert (free, type(free)) == (115_712, int)
    configured = perfkit.configured_shared_bytes("9.0", *asked.values(), kind(50))
    assert configured == perfkit.configured_shared_bytes("9.0", 128, 40, 100, 50)
    assert type(configured) is int
    assert perfkit.max_registers("8.6", threads=kind(128), blocks=kind(6)) == 80
    assert perfkit.recommend("h100", regs=kind(40)).threads == 256


@pytest.mark.parametrize("value", [True, np.True_, 64.0, "64x", None, [1.5], (), (8, 8, 8, 8)])
def test_what_is_no_number_of_threads(value):
    with pytest.raises(InvalidLaunch, match="threads"):
        perfkit.occupancy("9.0", threads=value, regs=32)


def test_sizes_as_text_and_blocks_with_dimensions():
    found = perfkit.occupancy("9.0", threads=(16, 16), regs=40, smem="20K")
    assert found == perfkit.occupancy("9.0", threads=256, regs=40, smem=20_480)
    assert perfkit.occupancy("9.0", threads=[32, np.int8(4), 2], regs=40).threads == 256
    with pytest.raises(InvalidLaunch, match=r"threads = \(1, 1, 128\): z is 128, .* takes 1 to 64"):
        perfkit.occupancy("9.0", threads=(1, 1, 128), regs=40)
    with pytest.raises(InvalidLaunch, match="smem = 'much' is not a size"):
        perfkit.occupancy("9.0", threads=256, regs=40, smem="much")


def test_the_questions_asked_backwards():
    assert perfkit.max_registers("8.6", threads=256, blocks=3) == 80
    assert perfkit.block_sizes_reaching("9.0", ratio=1, regs=32, smem=lambda t: 4 * t)[-1] == 1024
    # 48 warps of 40 registers: two blocks of 24 on each of 132 SMs
    assert perfkit.max_potential_block_size("h100", regs=40) == (264, 768)
    assert perfkit.max_potential_block_size("9.0", regs=40, sm_count=1) == (2, 768)
    for ask in (
        lambda: perfkit.max_potential_block_size("9.0", regs=40),
        lambda: perfkit.max_potential_block_size("h100", regs=40, max_threads=0),
        lambda: perfkit.block_sizes_reaching("9.0", ratio=75, regs=40),
        lambda: perfkit.max_registers("9.0", threads=256, blocks=0),
        lambda: perfkit.sweep(9.0, threads=256, regs=40),
    ):
        with pytest.raises(UsageError):
            ask()


def test_one_line_for_people():
    found = perfkit.occupancy("h100", threads=256, regs=40)
    assert str(found) == "9.0: 6 blocks and 48 of 64 warps per SM (75%), limited by registers"


def test_an_empty_path_is_not_this_directory():
    with pytest.raises(UsageError, match="path is empty"):
        perfkit.inspect("")


@pytest.mark.parametrize("target", ["9.0", "8.6", "7.5", "6.1"])
def test_no_preference_as_cuda_writes_it(target):
    """cudaSharedmemCarveoutDefault is -1."""
    same = {"threads": 256, "regs": 40, "smem": 5000}
    assert perfkit.occupancy(target, **same, carveout=-1) == perfkit.occupancy(target, **same)
    assert perfkit.blocks_per_sm(target, **same, carveout=-1) == perfkit.blocks_per_sm(
        target, **same
    )
    free = {"threads": 256, "regs": 40, "blocks": 2}
    assert perfkit.available_smem(target, **free, carveout=-1) == perfkit.available_smem(
        target, **free
    )
    for wrong in (-2, 101):
        with pytest.raises(perfkit.PerfkitError):
            perfkit.occupancy(target, **same, carveout=wrong)
