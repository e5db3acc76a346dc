"""Streams: copies and kernels at the same time, in chunks; when it pays and when it does not.

Run it: ``python examples/overlap_copies.py``. It asserts what it prints.
"""

from perfkit.models.engines import Plan, Times
from perfkit.models.links import link
from perfkit.models.overlap import Work, best, schedule

GIB = 1024**3

pcie = link("pcie4x16")
there, back = GIB / pcie.h2d_bytes_per_s, GIB / pcie.d2h_bytes_per_s
kernel = 0.040
print(f"1 GiB there {there * 1e3:.1f} ms, kernel {kernel * 1e3:.0f} ms, back {back * 1e3:.1f} ms")
whole = there + kernel + back

print("\nAn ideal machine: nothing beside the work itself")
ideal = Work(whole_s=Times(there, kernel, back))
for chunks in (1, 2, 4, 16, 64):
    found = schedule(ideal, Plan(chunks=chunks))
    print(
        f"  {chunks:2} chunks: {found.makespan_s * 1e3:6.1f} ms, {found.speedup:.2f} times as fast"
    )
    # the first chunk passes all engines, the others follow at the pace of the slowest
    stages = (there, kernel, back)
    by_hand = sum(stages) / chunks + (chunks - 1) * max(stages) / chunks
    assert abs(found.makespan_s - by_hand) < 1e-9
limit = whole / max(there, kernel, back)
assert found.speedup < limit
print(f"  never more than {limit:.2f} times: the slowest engine has all its work to do")

print("\nA real one: every copy and launch takes some microseconds, both directions share the link")
real = Work(
    whole_s=Times(there, kernel, back),
    copy_overhead_s=10e-6,
    launch_overhead_s=5e-6,
    duplex_share=pcie.duplex_share,
)
found, enough = best(real, Plan(chunks=1))
print(
    f"  best {found.plan.chunks} chunks, {found.speedup:.2f} times as fast; {enough} are within 1 %"
)
assert found.makespan_s > max(there, kernel, back)
assert enough <= found.plan.chunks

print("\nWhat spoils it, at 8 chunks")
plan = Plan(chunks=8)
good = schedule(real, plan).makespan_s
for what, other, work in (
    ("one stream for all", Plan(chunks=8, streams=1), real),
    ("one copy engine", Plan(chunks=8, copy_engines=1), real),
    ("memory that is not page-locked", Plan(chunks=8, pinned=False), real),
):
    bad = schedule(work, other).makespan_s
    print(f"  {what:31} {bad * 1e3:6.1f} ms instead of {good * 1e3:.1f}")
    assert bad > good

# with a kernel that takes longest the copies hide completely, and the link no longer matters
long = Work(whole_s=Times(there, 0.5, back))
hidden = schedule(long, Plan(chunks=64)).makespan_s
print(f"\na kernel of 500 ms: {hidden * 1e3:.0f} ms with both copies")
assert hidden < 0.5 * 1.01
