"""The pictures of the documentation, drawn anew: golden images, compared as geometry.

Fonts and renderers differ from one minor version to the next, so the shapes of an SVG are compared
with a tolerance and its words exactly. Pixels are compared by test_pixels.py.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from perfkit.cli.app import main
from tests.report.chart.pictures import COMMANDS as DRAWN
from tests.report.svg import differences, shapes, texts

FOLDER = Path(__file__).parents[3] / "docs" / "images"
#: of 504 points across
TOLERANCE = 1.0
COMMANDS = {name: command for name, command in DRAWN.items() if name != "occupancy-carveout"}


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


@pytest.mark.parametrize("ending", ["svg", "png"])
def test_the_same_again_is_the_same_to_the_byte(ending, tmp_path):
    first, second = (draw(COMMANDS["gemm"], tmp_path / f"{n}.{ending}") for n in (1, 2))
    assert first.read_bytes() == second.read_bytes()
