"""Coalescing: a warp's access costs as many 32-byte sectors as its lanes touch.

Run it: ``python examples/coalescing.py``. It asserts what it prints.
"""

import perfkit

LANES, SECTOR = range(32), 32


def show(what: str, width: int, offsets: list[int], expected: int) -> None:
    """Sectors of one access, and how much of them the lanes wanted."""
    sectors = perfkit.sectors(width, offsets)
    wanted = len({byte for start in offsets for byte in range(start, start + width)})
    print(f"{what:44} {sectors:3} sectors  {wanted / (sectors * SECTOR):7.1%} of them used")
    assert sectors == expected


print("One float per lane")
show("neighbours: x[i]", 4, [4 * lane for lane in LANES], 4)
show("in reverse: the order does not matter", 4, [4 * (31 - lane) for lane in LANES], 4)
show("one float off: x[i + 1]", 4, [4 * lane + 4 for lane in LANES], 5)
show("one for all: x[0]", 4, [0] * 32, 1)

print("\nStrides: at eight floats every lane has a sector of its own")
for stride, expected in ((1, 4), (2, 8), (4, 16), (8, 32), (16, 32), (1024, 32)):
    show(f"x[{stride} * i]", 4, [4 * stride * lane for lane in LANES], expected)

print("\nWider accesses fetch more per instruction, none of it wasted")
for width, kind, expected in ((4, "float", 4), (8, "float2", 8), (16, "float4", 16)):
    show(f"{kind} per lane", width, [width * lane for lane in LANES], expected)

print("\nParticles of x, y, z: an array of structures, and a structure of arrays")
structures = [[12 * lane + 4 * field for lane in LANES] for field in range(3)]
arrays = [[4096 * field + 4 * lane for lane in LANES] for field in range(3)]
for name, fields, expected in (("structures", structures, 12), ("arrays", arrays, 4)):
    show(f"{name}: reading x", 4, fields[0], expected)
    total = sum(perfkit.sectors(4, offsets) for offsets in fields)
    print(f"{name}: x, y and z take {total} sectors in three accesses")
    assert total == 3 * expected
# L1 may save the structures: their three accesses touch the same twelve sectors
assert len({offset // SECTOR for field in structures for offset in field}) == 12

print("\nA matrix of 1,024 floats per row")
show("a warp along a row", 4, [4 * (7 * 1024 + lane) for lane in LANES], 4)
show("a warp down a column", 4, [4 * (1024 * lane + 7) for lane in LANES], 32)
print("so a transposition goes through shared memory: see bank_conflicts.py")

# what it costs where DRAM is the limit: the bytes that travel, not the bytes that are wanted
good = perfkit.roofline("h100", dtype="f32", bytes=4e9).time_s
bad = perfkit.roofline("h100", dtype="f32", bytes=4e9 * 32 / 4).time_s
print(f"\na billion floats on an H100: {good * 1e3:.2f} ms, strided at least {bad * 1e3:.2f} ms")
assert round(bad / good) == 8
