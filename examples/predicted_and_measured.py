"""What a GPU of this machine makes of the bounds: coalescing, bank conflicts, divergence, copies.

Run it: ``python examples/predicted_and_measured.py``. It asserts what it prints; without a GPU it
says so and ends.
"""

import json
import subprocess
import sys

PAIRS = {  # a kernel, and the same work done the wrong way
    "copy": "strided",
    "struct_of_arrays": "array_of_structs",
    "transpose_padded": "transpose_naive",
}
NO_GPU = 4  # exit code: something is missing here

names = [*PAIRS, *PAIRS.values()]
done = subprocess.run(
    [sys.executable, "-m", "perfkit", "measure", *names, "--runs", "2", "-f", "json"],
    capture_output=True,
    text=True,
    check=False,
)
if done.returncode == NO_GPU:
    print(f"skipped, nothing can be launched here: {done.stderr.splitlines()[0]}")
    sys.exit()
assert done.returncode == 0, done.stderr

found = {}
for device in json.loads(done.stdout)["devices"]:
    print(device["environment"]["device"])
    for one in device["measurements"]:
        found[one["name"]] = one
        print(
            f"  {one['name']:17} {one['median_s'] * 1e3:7.3f} ms, {one['share_of_bound']:6.1%} of "
            f"the bound, {one['bytes_per_s'] / 1e9:6.0f} GB/s of useful bytes: {one['verdict']}"
        )
        # results are checked before anything is timed, and no time is better than the bound
        assert one["is_checked"]
        assert one["verdict"] not in {"wrong result", "failed", "faster than the bound"}

for right, wrong in PAIRS.items():
    gain = found[right]["bytes_per_s"] / found[wrong]["bytes_per_s"]
    print(f"{right} moves its bytes {gain:.1f} times as fast as {wrong}")
    assert gain > 1
