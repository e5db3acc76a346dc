"""What a launch tells of a kernel whose block size is free."""

from __future__ import annotations

import pytest

from perfkit.analysis.measurement import LaunchFacts
from perfkit.arch import catalog
from perfkit.arch.types import Target
from perfkit.device.block_size_question import request, wish
from perfkit.device.workloads.library import library

H200 = Target(label="h200-sxm", capability=catalog.capability("9.0"), gpu=catalog.gpu("h200-sxm"))


@pytest.mark.parametrize(
    ("dynamic", "fixed", "per_thread"),
    [(0, 0, 0), (4096, 0, 16), (4097, 4097, 0)],  # of a block of 256 threads
)
def test_shared_memory_that_the_block_divides_grows_with_it(dynamic, fixed, per_thread):
    facts = LaunchFacts(
        registers=40,
        static_shared_bytes=8,
        dynamic_shared_bytes=dynamic,
        local_bytes=0,
        blocks=1,
        threads=256,
        blocks_per_sm=1,
    )
    found = request(H200, facts, usual=256, most=512)
    assert (found.regs, found.static_bytes, found.max_threads) == (40, 8, 512)
    assert (found.dynamic_bytes, found.bytes_per_thread) == (fixed, per_thread)
    assert found.dynamic(256) == dynamic


def test_one_thread_for_each_element_is_a_problem_of_so_many():
    softmax = library()["softmax"]  # a block for each row, whatever its size
    strided = library()["strided"]
    cases = {w.name: [w.case({"threads": t}) for t in (128, 256)] for w in (softmax, strided)}
    for name, two in cases.items():
        totals = {case.launch.blocks * case.launch.threads for case in two}
        expected = max(totals) if max(totals) - min(totals) <= 1024 else None
        assert wish(two).elements == expected, name
    assert wish(cases["softmax"]).elements is None
