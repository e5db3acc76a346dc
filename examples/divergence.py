"""Divergence: the lanes of a warp that go another way wait for one another.

Run it: ``python examples/divergence.py``. It asserts what it prints.
"""

from perfkit.models.divergence import branch, loop

WARPS = [range(32 * warp, 32 * warp + 32) for warp in range(8)]  # a block of 256 threads

print("if (condition) a(); else b();  with a and b equally long")
for what, condition, expected in (
    ("threadIdx.x % 2", lambda thread: thread % 2, 2.0),
    ("threadIdx.x / 32 % 2: whole warps agree", lambda thread: thread // 32 % 2, 1.0),
    ("threadIdx.x < 100: one warp of eight is torn", lambda thread: int(thread < 100), 1.125),
    ("threadIdx.x % 4, as a switch", lambda thread: thread % 4, 4.0),
):
    warps = [branch([condition(thread) for thread in warp]) for warp in WARPS]
    factor = sum(warp.serial_factor for warp in warps) / len(warps)
    print(f"  {what:46} {factor:5} times as long")
    assert factor == expected

print("\nThe bounds check of a kernel: n = 1,000 in blocks of 256")
starts = range(0, 1024, 32)
values = [[int(thread < 1000) for thread in range(start, start + 32)] for start in starts]
torn = [warp for warp, lanes in enumerate(values) if branch(lanes).diverges]
print(f"  of 32 warps only {len(torn)} has lanes on both sides, and nothing stands in its else")
assert torn == [1000 // 32]
assert branch(values[31]).idle_share_without_else == 24 / 32

print("\nfor (i = 0; i < trips; ++i): a warp runs as often as its longest lane")
for what, trips, idle in (
    ("17 for every lane", [17] * 32, 0.0),
    ("a triangle: lane + 1", [lane + 1 for lane in range(32)], 1 - 528 / 1024),
    ("one lane with 1,000, the others with 10", [1000] + [10] * 31, 1 - 1310 / 32000),
):
    found = loop(trips)
    print(f"  {what:46} {found.iterations:4} iterations, {found.idle_share:.1%} of the lanes idle")
    assert found.iterations == max(trips)
    assert abs(found.idle_share - idle) < 1e-12

print("\nSorted by length the same rows of a sparse matrix leave far fewer lanes idle")
rows = [row * row % 97 + 1 for row in range(1024)]  # lengths in no order
shares = []
for order in (rows, sorted(rows)):
    warps = [loop(order[start : start + 32]) for start in starts]
    slots = 32 * sum(warp.iterations for warp in warps)
    shares.append(1 - sum(rows) / slots)
    name = "as they come" if order is rows else "sorted"
    print(f"  {name:46} {shares[-1]:.1%} of the lanes idle")
assert shares[0] > 10 * shares[1]

# since 7.0 the paths of a warp may take turns, which ends some deadlocks; it makes nothing faster
