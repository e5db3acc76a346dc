"""The text of options: what it means, and what is said of text that means nothing."""

from __future__ import annotations

import pytest

from perfkit.arch import catalog
from perfkit.cli import options
from perfkit.errors import InvalidLaunch, UnknownTarget, UsageError

HOPPER = catalog.capability("9.0")
TURING = catalog.capability("7.5")
PASCAL = catalog.capability("6.1")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("256", (256, 1, 1)),
        ("32,8", (32, 8, 1)),
        ("32, 8 ,4", (32, 8, 4)),
        ("8x8x4", (8, 8, 4)),
        (" 64 ", (64, 1, 1)),
        ("0", (0, 1, 1)),
    ],
)
def test_dimensions(text, expected):
    assert options.dimensions(text, "--threads") == expected
    assert options.volume(expected) == expected[0] * expected[1] * expected[2]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(256, 1, 1)", (256, 1, 1)),  # as Nsight Compute prints it
        ("dim3(16, 8)", (16, 8, 1)),
        ("16\u00d78", (16, 8, 1)),
        ("1e6", (1_000_000, 1, 1)),
        ("1_000,2K", (1000, 2048, 1)),
    ],
)
def test_dimensions_as_they_are_pasted(text, expected):
    assert options.dimensions(text, "--grid") == expected


@pytest.mark.parametrize(
    "text", ["", ",", "1,", "1,2,3,4", "a", "-1", "1.5", "1e-3", "(1", "٣", "9" * 19]
)
def test_what_is_no_size_names_the_option(text):
    with pytest.raises(UsageError, match=r"^--cluster ") as error:
        options.dimensions(text, "--cluster")
    assert "--cluster 256" in error.value.hint


@pytest.mark.parametrize("text", ["1,1,65", "2,2,100"])
def test_a_block_within_1024_threads_may_still_be_too_long_on_one_axis(text):
    with pytest.raises(
        InvalidLaunch, match=r"(?m)^--threads: z is \d+, .* takes 1 to 64$"
    ) as error:
        options.block_threads(HOPPER, text)
    assert error.value.hint.startswith("limits.max_block_dim: ")


def test_the_number_of_threads_is_left_to_the_models():
    assert options.block_threads(HOPPER, "0,1") == 0
    assert options.block_threads(HOPPER, "2000,1,65") == 2000 * 65


@pytest.mark.parametrize("text", ["0", "1,0", "2147483648", "1,65536", "1,1,65536"])
def test_a_grid_beyond_its_limits(text):
    with pytest.raises(InvalidLaunch, match=r"^--grid: [xyz] is ") as error:
        options.grid_blocks(HOPPER, text)
    assert error.value.hint.startswith("limits.max_grid_dim: ")


def test_the_largest_grid():
    assert options.grid_blocks(HOPPER, "2147483647,65535,65535") == (2**31 - 1) * 65535**2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (None, None),
        ("default", None),
        (" Default ", None),
        ("max", 100),
        ("MAX", 100),
        ("0%", 0),
        ("50%", 50),
        ("50 %", 50),
        ("100%", 100),
        ("0", 0),
        # the largest percentage that still leads to the capacity: 64 of 228 KiB are 28.07 %
        ("64KiB", 28),
        ("65536", 28),
        ("228K", 100),
    ],
)
def test_carveout(text, expected):
    assert options.carveout_percent(HOPPER, text) == expected


def test_every_capacity_leads_to_itself_on_every_capability():
    from perfkit.models.carveout import carveout_bytes

    seen = 0
    for capability in catalog.all_capabilities():
        shared = capability.shared_memory
        for capacity in shared.capacities_bytes if shared.configurable else ():
            percent = options.carveout_percent(capability, str(capacity))
            assert carveout_bytes(shared, percent) == capacity
            # one percent more is another capacity
            assert percent == 100 or carveout_bytes(shared, percent + 1) > capacity
            seen += 1
    assert seen > 50


@pytest.mark.parametrize(
    ("capability", "text", "says"),
    [
        (HOPPER, "101%", "0% to 100%"),
        (HOPPER, "50", "percent or bytes"),
        (HOPPER, "1", "percent or bytes"),
        (HOPPER, "100", "percent or bytes"),
        (HOPPER, "33K", "takes 0 B, 8 KiB"),
        (TURING, "48KiB", "takes 32 KiB, 64 KiB"),
        (HOPPER, "abc", "not a size"),
        (HOPPER, "-2", "not a size"),
        (HOPPER, "-1%", "not a size"),
        (HOPPER, "", "not a size"),
        (HOPPER, "5.5%", "not a size"),
    ],
)
def test_what_is_no_carveout_names_the_option(capability, text, says):
    with pytest.raises(UsageError, match=f"^--carveout .*{says}") as error:
        options.carveout_percent(capability, text)
    assert error.value.hint or "percentage" in error.value.message


@pytest.mark.parametrize("text", ["48KiB", "97K", "3M", "0", "999999999999G"])
def test_dedicated_shared_memory_has_one_size(text):
    with pytest.raises(UsageError, match=rf"(?m)^--carveout {text}: .* takes 96 KiB$"):
        options.carveout_percent(PASCAL, text)
    assert options.carveout_percent(PASCAL, "96KiB") == 100


@pytest.mark.parametrize(
    ("text", "expected"),
    [(None, None), ("default", None), ("MAX", None), ("28%", None), ("64KiB", 65536), ("0", 0)],
)
def test_a_carveout_by_its_size(text, expected):
    assert options.carveout_bytes(text) == expected


def labels(text):
    return [target.label for target in options.targets(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("h100,h100", ["h100-sxm5"]),
        (" h100 , H100-SXM5,9.0 ", ["h100-sxm5", "9.0"]),
        ("sm_90a,9.0,sm_90a,sm_90", ["9.0a", "9.0"]),
        ("hopper", ["9.0"]),
        ("9.0,hopper,h100", ["9.0", "h100-sxm5"]),
    ],
)
def test_targets_come_once_and_in_order(text, expected):
    assert labels(text) == expected


def test_all_is_every_capability():
    assert labels("all") == list(catalog.capability_keys())


@pytest.mark.parametrize(
    ("text", "arch"),
    [
        ("h100", "sm_90"),
        ("9.0", "sm_90"),
        ("sm_90a", "sm_90a"),
        ("9.0A", "sm_90a"),
        ("compute_100f", "sm_100f"),
        ("ada", "sm_89"),
        ("volta", "sm_70"),
    ],
)
def test_what_to_compile_for(text, arch):
    assert options.architectures(text)[0][0] == arch


@pytest.mark.parametrize("text", [None, "", "  "])
def test_no_gpu_is_ever_guessed(text):
    with pytest.raises(UsageError, match="no GPU given") as error:
        options.targets(text)
    assert all(way in error.value.hint for way in ("h100", "9.0", "hopper", "all", "device"))


@pytest.mark.parametrize("text", [",", "h100,", ",h100", "h100,,a100"])
def test_an_empty_name(text):
    with pytest.raises(UsageError, match=r"--gpu '.*' holds an empty name"):
        options.targets(text)


@pytest.mark.parametrize(
    ("text", "nearest"), [("h1000", "h100"), ("rtx4091", "rtx-4090"), ("9.1", "9.0")]
)
def test_an_unknown_gpu_names_the_nearest_and_nothing_stands_in(text, nearest):
    with pytest.raises(UnknownTarget) as error:
        options.targets(f"a100,{text}")
    assert nearest in error.value.hint


def test_an_unknown_gpu_of_the_environment_says_where_it_is_from(monkeypatch, perfkit):
    monkeypatch.setenv("PERFKIT_GPU", "h1000")
    done = perfkit("occupancy -t 256 -r 40")
    assert done.code == 2
    assert done.err.startswith("perfkit: error: PERFKIT_GPU: unknown GPU 'h1000'")
