"""Ceilings beside what PyTorch reaches on the same card in the same minutes.

    python tests/gpu/ceilings_against_torch.py FOLDER

runs ``perfkit ceilings`` and then PyTorch's own copies, fills, sums and matrix products on random
data, and writes ``ceilings.json`` (the file that ``--ceilings`` reads), and both beside one another
as ``torch.json`` and ``ceilings.md``. Exits 1 where PyTorch is faster than a ceiling: then it is
none.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
SIZE = 8192
ELEMENTS = 2**30
REPEATS = 20
#: products run into the power limit: these rest as the loops of the ceilings do
RESTED, REST_S = 9, 0.1


def median_s(work: Callable[[], object], repeats: int = REPEATS, rest_s: float = 0.0) -> float:
    """Median over repetitions, each between two events and perhaps after a rest."""
    import torch

    for _ in range(5):
        work()
    found = []
    for _ in range(repeats):
        if rest_s:
            torch.cuda.synchronize()
            time.sleep(rest_s)
            work()
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        work()
        end.record()
        end.synchronize()
        found.append(start.elapsed_time(end) / 1e3)
    return statistics.median(found)


def streams() -> dict[str, float]:
    """Bytes per second through DRAM, as PyTorch moves them."""
    import torch

    x = torch.rand(ELEMENTS, device="cuda")
    y = torch.empty_like(x)
    return {
        "dram read": 4 * ELEMENTS / median_s(x.sum),
        "dram write": 4 * ELEMENTS / median_s(lambda: y.fill_(1.5)),
        "dram copy": 8 * ELEMENTS / median_s(lambda: y.copy_(x)),
        "dram triad": 12 * ELEMENTS / median_s(lambda: torch.add(x, y, out=y)),
    }


def products() -> dict[str, float]:
    """FLOP per second of matrix products, by operand and sums."""
    import torch

    torch.backends.cuda.matmul.allow_tf32 = True
    flops = 2 * SIZE**3
    found = {}
    for name, dtype in (
        ("bf16/f32", torch.bfloat16),
        ("f16/f32", torch.float16),
        ("tf32/f32", torch.float32),
    ):
        a, b = (torch.randn(SIZE, SIZE, device="cuda", dtype=dtype) for _ in range(2))
        found[name] = flops / median_s(lambda a=a, b=b: a @ b, RESTED, REST_S)
    a, b = (torch.randn(SIZE, SIZE, device="cuda").to(torch.float8_e4m3fn) for _ in range(2))
    one = torch.ones((), device="cuda")
    found["f8/f32"] = flops / median_s(
        lambda: torch._scaled_mm(a, b.t(), one, one, out_dtype=torch.bfloat16), RESTED, REST_S
    )
    a, b = (
        torch.randint(-128, 128, (SIZE, SIZE), device="cuda", dtype=torch.int8) for _ in range(2)
    )
    found["s8/s32"] = flops / median_s(lambda: torch._int_mm(a, b.t()), RESTED, REST_S)
    return found


def ceilings(document: dict[str, Any]) -> dict[str, float]:
    """The best figure of each kind, under the names used above."""
    found: dict[str, float] = {}
    for one in document["memory"]:
        found[one["what"]] = max(found.get(one["what"], 0), one["bytes_per_s"])
    for one in document["compute"]:
        if one["unit"] == "tensor":
            name = f"{one['dtype']}/{one['accumulate']}"
            found[name] = max(found.get(name, 0), one["flop_per_s"])
    return found


def main(folder: Path) -> int:
    path = folder / "ceilings.json"
    command = [sys.executable, "-m", "perfkit", "ceilings", "-f", "json", "-o", path.name]
    seen = os.environ | {"PYTHONPATH": str(ROOT)}
    subprocess.run(command, check=True, cwd=folder, env=seen)
    document = json.loads(path.read_text())
    best = ceilings(document)
    about = document["environment"]
    figures = [
        {"what": what, "ceiling": best[what], "torch": value, "share": value / best[what]}
        for what, value in {**streams(), **products()}.items()
    ]
    (folder / "torch.json").write_text(json.dumps({"figures": figures}, indent=1) + "\n")
    rows = [
        f"| {one['what']} | {one['ceiling'] / 1e12:,.2f} | {one['torch'] / 1e12:,.2f} | "
        f"{one['share']:.1%} |"
        for one in figures
    ]
    versions = (
        f"Driver {about['driver']}, CUDA {about['cuda']}, NVRTC {about['toolkit']}, "
        f"PyTorch {about['packages'].get('torch')}, {SIZE}³ products of random data, each after "
        f"{REST_S:g} s of rest; written by `tests/gpu/ceilings_against_torch.py`. TB/s and "
        "TFLOP/s, medians."
    )
    lines = [
        f"# Ceilings of {about['device']} beside PyTorch, {about['date'][:10]}",
        "",
        versions,
        "",
        "| | ceiling | PyTorch | of it |",
        "|---|---:|---:|---:|",
        *rows,
    ]
    (folder / "ceilings.md").write_text("\n".join(lines) + "\n")
    print("\n".join(lines))
    return 1 if any(one["share"] > 1 for one in figures) else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
