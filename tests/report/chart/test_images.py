"""The pictures of the documentation, drawn anew: golden images, compared as geometry.

Fonts and renderers differ from one minor version to the next, so the shapes of an SVG are compared
with a tolerance and its words exactly; one PNG is compared loosely, as pixels.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from perfkit.cli.app import main
from tests.report.svg import differences, shapes, texts

FOLDER = Path(__file__).parents[3] / "docs" / "images"
GOLDEN = Path(__file__).parents[2] / "golden"
#: of 504 points across
TOLERANCE = 1.0
COMMANDS = {
    "occupancy": "occupancy -g h100 -t 256 -r 40 -s 16K",
    "roofline": "roofline -g h100 --dtype f16 --op gemm:4096 --time 0.2ms",
    "rooflines": "roofline -g a100,h100,b200 --dtype bf16 --op gemm:16x8192x8192",
    "carveout": "carveout -g h100 -t 256 -r 32 -s 20K",
    "gemm": "gemm -g h100 --shape 4096 --dtype f16",
    "banks": "access banks --stride 4",
    "overlap": "overlap --h2d 1G --d2h 1G --kernel-ms 20 --link pcie4x16 --chunks 8",
    "sweep": "sweep -g h100 -t 32:1024:32 -r 32,64,128",
}


def draw(command: str, path: Path, *more: str) -> Path:
    assert main([*command.split(), "--chart", str(path), *more, "-q"]) == 0
    return path


def test_every_picture_of_the_documentation_is_drawn_here():
    # the explorer's is no chart: tests/explore/test_picture.py
    assert {path.stem for path in FOLDER.glob("*.svg")} == {*COMMANDS, "explore"}


@pytest.mark.parametrize("name", COMMANDS)
def test_pictures(name, tmp_path, request):
    path = draw(COMMANDS[name], tmp_path / "chart.svg", "--chart-theme", "auto")
    golden = FOLDER / f"{name}.svg"
    if request.config.getoption("--update-golden"):
        shutil.copy(path, golden)
    text, expected = path.read_text("utf-8"), golden.read_text("utf-8")
    assert len(shapes(text)) > 10
    assert texts(text) == texts(expected)
    assert differences(text, expected, tolerance=TOLERANCE) == []


def test_the_comparison_sees_a_curve_that_moved():
    text = (FOLDER / "occupancy.svg").read_text("utf-8")
    x = re.search(r'd="M [0-9.]+ [0-9.]+ \nL ([0-9.]+) (?:[^"]*\n){20}', text)[1]
    moved = text.replace(f"L {x} ", f"L {float(x) + 2} ")
    assert moved != text
    assert differences(moved, text, tolerance=TOLERANCE)
    assert differences(moved, text, tolerance=3) == []


def coarse(pixels):
    """Means over squares of ten pixels: how a font is drawn does not matter, bars do."""
    height, width, colours = pixels.shape
    cut = pixels[: height // 10 * 10, : width // 10 * 10]
    return cut.reshape(height // 10, 10, width // 10, 10, colours).mean(axis=(1, 3))


def test_one_picture_as_pixels(tmp_path, request):
    from matplotlib.image import imread

    path = draw(COMMANDS["overlap"], tmp_path / "chart.png")
    golden = GOLDEN / "overlap.png"
    if request.config.getoption("--update-golden"):
        shutil.copy(path, golden)
    ours, expected = (coarse(imread(each)) for each in (path, golden))
    assert ours.shape == expected.shape
    assert float(((ours - expected) ** 2).mean() ** 0.5) < 0.05


@pytest.mark.parametrize("ending", ["svg", "png"])
def test_the_same_again_is_the_same_to_the_byte(ending, tmp_path):
    first, second = (draw(COMMANDS["gemm"], tmp_path / f"{n}.{ending}") for n in (1, 2))
    assert first.read_bytes() == second.read_bytes()
