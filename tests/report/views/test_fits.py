"""The words of ``fits``: every obstacle with both numbers, every change, nothing without words."""

from __future__ import annotations

import pytest

from perfkit.analysis.fits import fits
from perfkit.analysis.obstacles import Remedy, ResourceDemand
from perfkit.arch import catalog
from perfkit.report import csv, markdown, text
from perfkit.report.views import fits as view
from tests.report import builds

KIB = 1024


def verdict(name, **given):
    (target,) = catalog.targets(name)
    numbers = {"threads": 256, "regs": 32, "static_bytes": 0} | given
    return fits(target, ResourceDemand(**numbers), kernel="k")


@pytest.mark.parametrize(
    ("name", "given", "why", "remedy"),
    [
        (
            "8.9",
            {"dynamic_bytes": 232_448},
            "needs 232,448 B of shared memory, a block on sm_89 gets 99 KiB",
            "at most 101,376 B of shared memory (131,072 B less)",
        ),
        (
            "7.0",
            {"threads": 288, "regs": 200},
            "needs 76,800 registers, a block on sm_70 gets 65,536",
            (
                "at most 168 registers per thread (--maxrregcount 168) or "
                "blocks of at most 256 threads"
            ),
        ),
        (
            "9.0",
            {"regs": 300},
            "needs 300 registers per thread, sm_90 has 255",
            "at most 255 registers per thread (--maxrregcount 255)",
        ),
        (
            "9.0",
            {"threads": 2048},
            "a block has 2,048 threads, sm_90 takes 1,024",
            "blocks of at most 1024 threads",
        ),
        (
            "8.0",
            {"cluster": 2},
            "launched in clusters of 2, sm_80 has no clusters",
            "launch without clusters",
        ),
        (
            "11.0",
            {"cluster": 16},
            "a cluster has 16 blocks, sm_110 takes 8",
            "clusters of at most 8 blocks",
        ),
        (
            "9.0",
            {"static_bytes": 64 * KIB},
            "declares 65,536 B of static shared memory, sm_90 takes 48 KiB",
            (
                "make it dynamic (extern __shared__) and opt in to 65,536 B or compile for "
                "sm_90a with CUDA 13"
            ),
        ),
        (
            "9.0",
            {"static_bytes": 228 * KIB},
            (
                "needs 233,472 B of shared memory, a block on sm_90 gets 227 KiB; declares "
                "233,472 B of static shared memory, sm_90 takes 48 KiB"
            ),
            (
                "at most 232,448 B of shared memory (1,024 B less); and at most 49,152 B of static "
                "shared memory (184,320 B less)"
            ),
        ),
        (
            "9.0",
            {"max_threads": 128},
            "a block has 256 threads, the kernel is compiled for at most 128",
            "blocks of at most 128 threads",
        ),
        (
            "9.0",
            {"required_threads": 64},
            "a block has 256 threads, the kernel is compiled for 64",
            "blocks of 64 threads",
        ),
        (
            "9.0",
            {"cluster": 2, "required_cluster": 4},
            "a cluster has 2 blocks, the kernel is compiled for 4",
            "clusters of 4 blocks",
        ),
        (
            "9.0",
            {"cluster": 8, "max_cluster": 4},
            "a cluster has 8 blocks, the kernel's launch bounds allow 4",
            "clusters of at most 4 blocks",
        ),
    ],
)
def test_why_not_and_what_would_help(name, given, why, remedy):
    document = view.document([verdict(name, **given)])
    keys = [column.key for column in document.flat.columns]
    (row,) = (dict(zip(keys, values, strict=True)) for values in document.flat.rows)
    assert (row["launches"], row["why"], row["remedy"]) == (False, why, remedy)
    assert document.summary == "0 of 1 launch"
    shown = text.render(document)
    assert all(f"{reason}; to fit: " in shown for reason in why.split("; "))


def test_a_fit_says_how_many_blocks_and_on_what_condition():
    (result,) = view.content([verdict("9.0", dynamic_bytes=100 * KIB, cluster=16)])["results"]
    # 100 KiB and a reserved one: two blocks in 228 KiB, 16 of 64 warps
    assert (result["launches"], result["blocks_per_sm"], result["occupancy"]) == (True, 2, 0.25)
    assert result["limited_by"] == ["shared_memory"]
    assert [(c["kind"], c["value"]) for c in result["conditions"]] == [
        ("opt_in_shared", 102_400),
        ("opt_in_cluster", 16),
    ]
    notes = view.document([verdict("9.0", dynamic_bytes=100 * KIB, cluster=16)]).notes
    assert any("cudaFuncAttributeMaxDynamicSharedMemorySize" in note for note in notes)
    assert any("cudaFuncAttributeNonPortableClusterSizeAllowed" in note for note in notes)


def test_every_kind_of_change_has_words():
    for kind in view._CHANGES:
        words = view.change_text(Remedy(kind=kind, value=64, target="sm_90a"), 100)
        assert words
        assert "None" not in words


def test_the_fixed_set_shows_every_verdict():
    content = view.content(builds.FITS)
    assert content["counts"] == {"launches": 1, "does_not_launch": 6, "unknown": 2}
    verdicts = [result["launches"] for result in content["results"]]
    assert verdicts == [True, False, False, False, False, None, False, False, None]
    for fit, result in zip(builds.FITS, content["results"], strict=True):
        said = [*result["unknown"], *(one["message"] for one in result["obstacles"])]
        assert bool(said) is not bool(fit.launches)
    document = view.document(builds.FITS)
    assert document.summary == "1 of 9 launch, 2 cannot be told"
    assert csv.render(document).count("\n") == 10
    assert markdown.render(document).startswith("**1 of 9 launch, 2 cannot be told**\n")


def test_what_certainly_fails_comes_before_what_is_unknown():
    table = view.document(builds.FITS).tables[1]
    place = [column.key for column in table.columns].index("why")
    unknown = {reason for fit in builds.FITS if fit.launches is None for reason in fit.unknown}
    last = [row[place] in unknown for row in table.rows]
    assert last == sorted(last)
    assert sum(last) == 2


def test_failures_alone_are_counted_with_everything():
    document = view.document(builds.FITS, failed=True)
    assert document.summary == view.document(builds.FITS).summary
    verdicts = [row[[c.key for c in document.flat.columns].index("launches")]
                for row in document.flat.rows]  # fmt: skip
    assert (verdicts.count(False), verdicts.count(None), verdicts.count(True)) == (6, 2, 0)
    content = view.content(builds.FITS, failed=True)
    assert len(content["results"]) == 8
    assert content["counts"] == view.content(builds.FITS)["counts"]
