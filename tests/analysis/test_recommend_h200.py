"""Block sizes against what the driver of an H200 suggests for the same kernels."""

from __future__ import annotations

import perfkit
from perfkit.analysis.block_sizes import Request, Wish, choose
from perfkit.arch import catalog
from tests.oracle.rows import rows

FILE = "h200/h200_potential_block_size.csv.gz"
SMS = 132


def test_never_fewer_resident_threads_than_the_driver_suggests():
    (h200,) = catalog.targets("h200")
    compared = same = 0
    for row in rows(FILE):
        regs, smem = int(row["num_regs"]), int(row["dyn_smem"])
        if int(row["carveout"]) != -1 or int(row["err"]):
            continue
        block, grid = int(row["block"]), int(row["min_grid"])
        found = choose([Request(target=h200, regs=regs, dynamic_bytes=smem)], Wish())
        (place,) = found.places
        assert place.resident_threads == block * grid // SMS, row
        # what the driver takes, the largest block, is among those that tie
        assert block in found.tied, row
        compared += 1
        same += block == found.threads
    assert compared > 100
    assert same < compared  # smaller blocks are preferred where they are as good


def test_the_cards_own_answer_is_what_the_database_says():
    assert perfkit.gpu("h200").sm_count == SMS
