"""Which configurations of an autotuner launch, told before anything is compiled.

Run it: ``python examples/autotune_fits.py``. It asserts what it prints.
"""

from collections import Counter
from itertools import product

import perfkit

# a tiled matrix product in f16 keeps `stages` tiles of both operands in shared memory
configs = [
    {
        "BLOCK_M": m,
        "BLOCK_N": n,
        "BLOCK_K": k,
        "num_stages": stages,
        "num_warps": warps,
        "shared": stages * (m + n) * k * 2,
    }
    for m, n, k, stages, warps in product(
        (64, 128, 256), (64, 128, 256), (32, 64), (2, 3, 4), (4, 8)
    )
]

for gpu, capability in (("rtx-4090", "8.9"), ("h100", "9.0")):
    launches, reasons = perfkit.fits(gpu, configs, reasons=True)
    why = Counter(reason.value for reason in reasons if reason is not None)
    print(f"{gpu}: {launches.sum()} of {len(configs)} launch, the others: {dict(why)}")

    # the rule in one line: what a block may have of shared memory
    limit = perfkit.capability(capability).shared_memory.max_per_block_optin_bytes
    assert [config["shared"] <= limit for config in configs] == launches.tolist()

    best = [config for config, good in zip(configs, launches, strict=True) if good]
    assert len(best) == launches.sum()
