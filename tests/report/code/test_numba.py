"""What ``--code numba`` writes, compiled by Numba and run in its simulator: without a GPU.

Numba is no dependency of the tests: ``pip install "numba-cuda[cu13]"`` to run them.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys

import pytest

from perfkit.analysis.block_sizes import Request, Wish
from perfkit.analysis.recommend import recommend
from perfkit.arch import catalog
from perfkit.report.code.kinds import Kind, render

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("numba_cuda") is None, reason="numba-cuda is not installed"
)

COMPILED = """
import json
from numba import cuda, types

def saxpy(n, a, x, y):
    for i in range(cuda.grid(1), n, cuda.gridsize(1)):
        y[i] += a * x[i]

bounds = KERNEL_OPTIONS["launch_bounds"]
array = types.float32[::1]
signature = types.void(types.int64, types.float32, array, array)
ptx, _ = cuda.compile(
    saxpy, signature, cc=(9, 0), device=False, abi="numba", launch_bounds=bounds
)
taken = cuda.jit(**KERNEL_OPTIONS)(saxpy).targetoptions
print(json.dumps({"ptx": ptx, "taken": {name: taken.get(name) for name in KERNEL_OPTIONS}}))
"""

#: the simulator knows no launch bounds and no number of SMs; each thread is one of Python's
SIMULATED = """
import json
import numpy as np
from numba import cuda

del KERNEL_OPTIONS["launch_bounds"]
type(cuda.get_current_device()).MULTIPROCESSOR_COUNT = 1
seen = []

@cuda.jit(**KERNEL_OPTIONS)
def saxpy(n, a, x, y):
    if cuda.grid(1) == 0:
        seen.append([cuda.gridDim.x, cuda.blockDim.x])
    for i in range(cuda.grid(1), n, cuda.gridsize(1)):
        y[i] += a * x[i]

x = cuda.to_device(np.arange(ELEMENTS, dtype=np.float32))
y = cuda.to_device(np.ones(ELEMENTS, dtype=np.float32))
launch_kernel(saxpy, ELEMENTS, 0, ELEMENTS, np.float32(3), x, y)
right = bool((y.copy_to_host() == 3 * np.arange(ELEMENTS) + 1).all())
print(json.dumps({"right": right, "seen": seen}))
"""


def advise(wish=None, **values):
    request = Request(**({"target": catalog.targets("h100")[0], "regs": 40} | values))
    return recommend([request], wish or Wish())


def run(found, program, **environment):
    code = "ELEMENTS = 2000\n" + render(found, Kind.NUMBA) + program
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | environment,
        timeout=120,
    )
    if "DynamicLibNotFoundError" in done.stderr or "NvvmSupportError" in done.stderr:
        pytest.skip(done.stderr.splitlines()[-1])
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_options_are_those_of_the_decorator_and_reach_the_code():
    found = advise(static_bytes=4096, exact_threads=256)
    done = run(found, COMPILED)
    assert done["taken"] == {
        "launch_bounds": [256, 6],
        "shared_memory_carveout": found.carveout,
    }
    assert found.carveout is not None
    lines = [" ".join(line.split()) for line in done["ptx"].splitlines()]
    assert ".target sm_90" in lines
    assert any(line.startswith(".maxntid 256") for line in lines)
    assert ".minnctapersm 6" in lines


@pytest.mark.parametrize(
    ("wish", "blocks"),
    [
        (Wish(), 6),  # the one SM holds 6 of the 8 blocks that the elements are
        (Wish(elements=2000), 8),
        (Wish(elements=2000, per_thread=4), 2),
    ],
)
def test_the_launch_computes_what_it_should(wish, blocks):
    found = advise(wish, static_bytes=4096, exact_threads=256)
    done = run(found, SIMULATED, NUMBA_ENABLE_CUDASIM="1")
    assert done == {"right": True, "seen": [[blocks, 256]]}
