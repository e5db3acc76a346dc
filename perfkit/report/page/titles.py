"""Keys of JSON as titles of columns, in words."""

from __future__ import annotations

import re
from typing import Final

#: what is no more than its name does not stand here
_TITLES: Final = {
    "about.commit": "commit",
    "about.date": "date",
    "arch": "architecture",
    "attainable_flop_per_s": "attainable rate",
    "baseline_value": "baseline",
    "binding": "limited by",
    "bytes": "bytes moved",
    "bytes_per_s": "bandwidth",
    "candidate_value": "now",
    "capacity_bytes": "shared memory",
    "changes[].first_commit": "changed by",
    "changes[].ratio": "by how much",
    "changes[].worse": "change",
    "commits[].median": "medians, first to last",
    "conflict_way": "ways of conflict",
    "datasheet": "data sheet",
    "demangled": "kernel",
    "driver_blocks_per_sm": "blocks per SM, API",
    "dtype": "type",
    "environment.driver": "driver",
    "environment.gpu": "GPU",
    "environment.toolkit": "toolkit",
    "first": "ran first",
    "first_percent": "carveout from",
    "flop_per_s": "rate",
    "flops": "operations",
    "hardware.blocks_per_sm": "blocks per SM, hardware",
    "hardware.l1_bytes": "L1 left",
    "hardware_blocks_per_sm": "blocks per SM, hardware",
    "ideal_wavefronts": "fewest wavefronts",
    "intensity_flop_per_byte": "intensity",
    "last_percent": "carveout to",
    "median_s": "measured",
    "message": "why",
    "next_step": "what to do",
    "noise.floor": "noise floor",
    "noise.relative": "noise",
    "obstacles[].message": "what is in the way",
    "occupancy.hardware.blocks_per_sm": "blocks per SM, hardware",
    "path_count": "paths",
    "peak_flop_per_s": "peak rate",
    "percent": "carveout from",
    "prediction.bound_by": "bound by",
    "prediction.bound_s": "bound",
    "prediction.expected_s": "expected",
    "ratio": "times the baseline",
    "results[].benchmark": "benchmarks",
    "ridge_flop_per_byte": "ridge point",
    "runs[].value": "runs",
    "sm_count": "SMs",
    "static.arch": "architecture",
    "static.gpu": "GPU",
    "status": "outcome",
    "tiling.cluster": "cluster",
    "tiling.stages": "stages",
    "tiling.tile": "tile",
    "tiling.warp": "tile of a warp",
    "wall_s": "duration",
    "waves.waves": "waves",
}
#: words that are no words
_LETTERS: Final = {
    **{name.lower(): name for name in ("API", "CUDA", "DRAM", "ECC", "FP32", "FP64", "GPU")},
    **{name.lower(): name for name in ("ILP", "L1", "L2", "MIG", "SM", "TDP", "UUID")},
    "gib": "(GiB)",
    "tflops": "TFLOP/s",
}


def title(key: str) -> str:
    """Of the column with that key; cells carry their unit.

    >>> title("tiling.tile"), title("max_warps_per_sm"), title("hardware.l2_bytes")
    ('tile', 'max warps per SM', 'hardware L2')
    >>> title("gb_per_s")
    'gb per s'
    """
    if key in _TITLES:
        return _TITLES[key]
    text = re.sub(r"\[\]|\.|_", " ", key).split()
    words = " ".join(_LETTERS.get(word, word) for word in text)
    return re.sub(r"(?<=\w)(?<!per) (bytes|s|mhz|hz|percent)$", "", words)
