#!/bin/bash
# Writes the folders of this directory again: a Python with Triton 3.9 as first argument, no GPU.
set -euo pipefail
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/kernel.py" <<'END'
import json
import os
import sys
from pathlib import Path

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def row_sum(rows, sums, columns, BLOCK: tl.constexpr):
    place = tl.arange(0, BLOCK)
    start = rows + tl.program_id(0) * columns
    tl.store(sums + tl.program_id(0), tl.sum(tl.load(start + place, place < columns, 0.0)))


def main() -> None:
    out = Path(sys.argv[1])
    source = ASTSource(
        fn=row_sum,
        signature={"rows": "*fp32", "sums": "*fp32", "columns": "i32", "BLOCK": "constexpr"},
        constexprs={"BLOCK": 1024},
    )
    for capability in (80, 90):
        target = GPUTarget("cuda", capability, 32)
        triton.compile(source, target=target, options={"num_warps": 8, "num_stages": 2})
    for path in Path(os.environ["TRITON_CACHE_DIR"]).glob("*/row_sum.json"):
        metadata = json.loads(path.read_text())
        metadata["extern_libs"] = []  # an absolute path of the machine
        folder = out / f"sm{metadata['target']['arch']}"
        folder.mkdir(exist_ok=True)
        (folder / "row_sum.json").write_text(json.dumps(metadata))
        (folder / "row_sum.cubin").write_bytes(path.with_suffix(".cubin").read_bytes())
        children = {"row_sum.json": "/elsewhere/row_sum.json"}
        (folder / "__grp__row_sum.json").write_text(json.dumps({"child_paths": children}))


if __name__ == "__main__":
    main()
END
# with line information absolute paths would end up in the cubins
TRITON_DISABLE_LINE_INFO=1 TRITON_CACHE_DIR="$work/cache" "$1" "$work/kernel.py" "$PWD"
