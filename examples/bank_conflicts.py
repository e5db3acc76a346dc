"""Bank conflicts: 32 banks of 4 bytes; two words of one bank take two turns, one word takes one.

Run it: ``python examples/bank_conflicts.py``. It asserts what it prints.
"""

import perfkit

LANES = range(32)


def show(what: str, words: list[int], expected: int) -> None:
    """Wavefronts of one access to 4-byte words of shared memory."""
    wavefronts = perfkit.wavefronts(4, [4 * word for word in words])
    # the rule by hand: the most distinct words that fall in one bank
    banks = [{word for word in words if word % 32 == bank} for bank in range(32)]
    assert wavefronts == max(map(len, banks)) == expected
    print(f"{what:52} {wavefronts:2} wavefronts")


print("Strides: the greatest common divisor with 32 tells")
for stride, expected in ((1, 1), (2, 2), (3, 1), (4, 4), (8, 8), (16, 16), (32, 32), (33, 1)):
    show(f"s[{stride} * lane]", [stride * lane for lane in LANES], expected)

print("\nThe same word is no conflict, it is sent to all who want it")
show("s[0]", [0] * 32, 1)
show("s[lane * 2 % 32]: often called a two-way conflict", [lane * 2 % 32 for lane in LANES], 1)
show("s[lane / 2]", [lane // 2 for lane in LANES], 1)

print("\nA tile of 32 x 32 floats, written by rows, read by columns")
show("a row", list(LANES), 1)
show("a column", [32 * lane for lane in LANES], 32)
show("a column of rows padded to 33", [33 * lane for lane in LANES], 1)
for column in LANES:  # every column, not only the first
    assert perfkit.wavefronts(4, [4 * (33 * lane + column) for lane in LANES]) == 1
show("a column, swizzled: word (row, column ^ row)", [32 * row + (5 ^ row) for row in LANES], 1)
show("a row, swizzled", [32 * 5 + (column ^ 5) for column in LANES], 1)

# what the padding costs: 128 bytes, and the swizzle nothing
plain, padded = 32 * 32 * 4, 32 * 33 * 4
for size in (plain, padded):
    blocks = perfkit.occupancy("h100", threads=256, regs=32, smem=size).blocks_per_sm
    print(f"a tile of {size} bytes: {blocks} blocks per SM")
    assert blocks == 8

print("\nWide accesses go in groups of lanes, so that they are complete without any conflict")
for width, kind, groups in ((4, "float", 1), (8, "float2", 2), (16, "float4", 4)):
    wavefronts = perfkit.wavefronts(width, [width * lane for lane in LANES])
    print(f"{kind} per lane: {wavefronts} wavefronts for {32 * width} bytes")
    assert wavefronts == groups == 32 * width // 128
