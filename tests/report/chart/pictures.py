"""One picture of every kind of chart, and what two pictures differ in.

Letters are drawn by another library in every version of matplotlib, shapes are not: without its
letters and legends a picture is the same to the pixel. So the shapes are compared closely, as means
over squares of 4 pixels, and the whole, letters included, loosely, over squares of 16.
"""

from __future__ import annotations

import json
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from matplotlib.image import imread, imsave

from perfkit.cli.app import main
from perfkit.report import charts
from perfkit.report.chart import figure
from perfkit.report.chart.model import Chart
from perfkit.report.chart.theme import LIGHT, Theme

GOLDEN = Path(__file__).parents[2] / "golden"
#: name -> command whose first chart is drawn
COMMANDS = {
    "occupancy": "occupancy -g h100 -t 256 -r 40 -s 16K",
    "occupancy-carveout": "occupancy -g h100 -t 64 -r 40 -s 1K --carveout 14%",
    "roofline": "roofline -g h100 --dtype f16 --op gemm:4096 --time 0.2ms",
    "rooflines": "roofline -g a100,h100,b200 --dtype bf16 --op gemm:16x8192x8192",
    "carveout": "carveout -g h100 -t 256 -r 32 -s 20K",
    "gemm": "gemm -g h100 --shape 4096 --dtype f16",
    "banks": "access banks --stride 4",
    "overlap": "overlap --h2d 1G --d2h 1G --kernel-ms 20 --link pcie4x16 --chunks 8",
    "sweep": "sweep -g h100 -t 32:1024:32 -r 32,64,128",
}
#: what no command draws without a card: the golden results
RESULTS = ("measure", "validate", "tuning", "gemm-rank")
SHAPES, WHOLE = 4, 16  #: pixels across


@cache
def every() -> dict[str, Chart]:
    """Name -> chart, of every topic with charts."""
    found: dict[str, Chart] = {}
    for name, command in COMMANDS.items():
        found |= _named(name, result(command))
    for topic in RESULTS:
        found |= _named(topic, json.loads((GOLDEN / f"{topic}.json").read_text("utf-8")))
    overview = charts.overview("occupancy", [result("occupancy -g all -t 256 -r 40")])
    return found | {"occupancy-overview": overview[0]}


def result(command: str) -> dict[str, Any]:
    """The JSON of a command."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "result.json"
        assert main([*command.split(), "-f", "json", "-o", str(path), "-q"]) == 0
        return json.loads(path.read_text("utf-8"))


def _named(name: str, content: dict[str, Any]) -> dict[str, Chart]:
    topic = content["schema"].removeprefix("perfkit.").partition("/")[0]
    drawn = charts.of(topic, content)
    assert drawn, name
    return {name if n == 1 else f"{name}-{n}": chart for n, chart in enumerate(drawn, 1)}


def whole(chart: Chart, theme: Theme = LIGHT) -> np.ndarray:
    """The picture as people see it, coarsely: rows, columns, three colours of 0 to 1."""
    return coarse(_pixels(chart, theme), WHOLE)


def shapes(chart: Chart, theme: Theme = LIGHT) -> np.ndarray:
    """The picture without letters and legends."""

    def nothing(*_: object, **__: object) -> None:
        return None

    with (
        patch("matplotlib.text.Text.draw", nothing),
        patch("matplotlib.text.Annotation.draw", nothing),
        patch("matplotlib.legend.Legend.draw", nothing),
    ):
        return coarse(_pixels(chart, theme), SHAPES)


def _pixels(chart: Chart, theme: Theme) -> np.ndarray:
    return imread(BytesIO(figure.render_png(chart, theme)))[..., :3]


def coarse(pixels: np.ndarray, across: int) -> np.ndarray:
    """Means over squares."""
    rows, columns = (size // across for size in pixels.shape[:2])
    cut = pixels[: rows * across, : columns * across]
    return cut.reshape(rows, across, columns, across, 3).mean(axis=(1, 3))


def stored(path: Path) -> np.ndarray:
    return imread(path)[..., :3]


def store(path: Path, found: np.ndarray) -> None:
    imsave(path, found, metadata={"Software": None})


def far(found: np.ndarray, golden: np.ndarray, limit: float) -> int:
    """Squares whose colour is off by more than ``limit`` of the range; all if the size differs."""
    if found.shape != golden.shape:
        return found.size
    return int((np.abs(found - golden).max(axis=2) > limit).sum())
