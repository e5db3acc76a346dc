"""Questions about memory accesses that people asked in public, with the verified answers."""

from __future__ import annotations

import pytest

from perfkit.models.banks import shared_access
from perfkit.models.coalescing import global_access
from tests.cases.questions import cases, steps

CASES = cases("access")

#: the pattern in words -> byte address of a lane
PATTERNS = {
    "all lanes same address": lambda lane, width: 0,
    "lane i at 4*i, aligned": lambda lane, width: 4 * lane,
    "misaligned by one float": lambda lane, width: 4 * (lane + 1),
    "stride 2 floats": lambda lane, width: 8 * lane,
    "aligned": lambda lane, width: 4 * lane,
    "stride 32 floats": lambda lane, width: 128 * lane,
    "float4 contiguous": lambda lane, width: 16 * lane,
    "double contiguous": lambda lane, width: 8 * lane,
    "half contiguous": lambda lane, width: 2 * lane,
    "lane i at byte 8*i": lambda lane, width: 8 * lane,
    "lanes 2k and 2k+1 share an address": lambda lane, width: lane // 2 * width,
}


def offsets(given):
    width = given["element_bytes"]
    if "row_pitch_elements" in given:
        assert given["access"] == "column"
        return [lane * given["row_pitch_elements"] * width for lane in range(32)]
    place = PATTERNS[given["pattern"]]
    return [place(lane, width) for lane in range(32)]


ANSWERS = {
    "sectors_per_request": lambda w, o: global_access(w, o).sectors,
    "efficiency_pct": lambda w, o: 100 * global_access(w, o).efficiency,
    "wavefronts": lambda w, o: shared_access(w, o).wavefronts,
    "wavefronts_measured": lambda w, o: shared_access(w, o).wavefronts,
    "ideal": lambda w, o: shared_access(w, o).ideal_wavefronts,
    "conflict_way": lambda w, o: shared_access(w, o).conflict_way,
}


STEPS = list(steps(CASES))


def test_all_are_there():
    assert {case["id"] for case in CASES} == {"g01", "g03", "g05", "g07", "g10"}
    assert len(STEPS) == 18


@pytest.mark.parametrize(("given", "expected"), STEPS)
def test_verified_answer(given, expected):
    if "average_of" in given:  # loads of A and of B, which the steps before compute
        mean = sum(given["average_of"]) / len(given["average_of"])
        assert expected == {"sectors_per_request": mean}
        return
    for key, value in expected.items():
        if key != "acceptable":
            assert ANSWERS[key](given["element_bytes"], offsets(given)) == value, key
