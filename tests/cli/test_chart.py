"""``--chart``: where it goes, what it takes the place of, and what is refused."""

from __future__ import annotations

import json
import sys

import pytest

OCCUPANCY = "occupancy -g h100 -t 256 -r 40"
DRAWN = {
    "occupancy": OCCUPANCY,
    "sweep": "sweep -g h100 -t 64:256:64 -r 32",
    "carveout": "carveout -g h100",
    "roofline": "roofline -g h100 --dtype f16 --op gemm:4096",
    "gemm": "gemm -g t4 --shape 512 --dtype f16 --tile 64x64x32 --warp 32x32x32",
    "access banks": "access banks --stride 2",
    "overlap": "overlap --h2d 1G --link pcie4x16 --chunks 4",
}


@pytest.mark.parametrize("name", DRAWN)
def test_every_command_with_charts_draws(perfkit, name, tmp_path):
    code, out, err = perfkit(f"{DRAWN[name]} --chart")
    assert (code, err) == (0, "")
    assert max(map(len, out.splitlines())) <= 80
    assert "\x1b" not in out
    path = tmp_path / "chart.svg"
    code, table, err = perfkit(f"{DRAWN[name]} --chart {path}")
    assert code == 0
    assert table.splitlines()[0] != out.splitlines()[0]
    assert f"perfkit: note: chart: {path}\n" in err
    assert path.read_text("utf-8").startswith("<svg")


def test_a_chart_takes_the_place_of_the_tables(perfkit):
    plain, drawn = perfkit(OCCUPANCY).out, perfkit(f"{OCCUPANCY} --chart -").out
    assert "limited by" in plain
    assert "limited by" not in drawn
    assert drawn.startswith("Occupancy: h100-sxm5\n")


@pytest.mark.parametrize("arguments", ["--chart", "--chart -", "--chart=-", "--chart -q"])
def test_without_a_file_it_is_drawn_here(perfkit, arguments):
    assert perfkit(f"{OCCUPANCY} {arguments}").out.startswith("Occupancy: h100-sxm5\n")
    assert perfkit(f"occupancy {arguments} -g h100 -t 256 -r 40").out.startswith("Occupancy: h100")


def test_several_charts_are_numbered_files(perfkit, tmp_path):
    done = perfkit(f"occupancy -g h100,a100 -t 256 -r 40 --chart {tmp_path}/c.svg")
    assert done.code == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c-1.svg", "c-2.svg"]
    assert done.err.count("note: chart") == 2


def test_themes(perfkit, tmp_path):
    path = tmp_path / "c.svg"
    for theme, colour in (("light", "#ffffff"), ("dark", "#0d1117"), ("auto", "var(--paper")):
        assert perfkit(f"{OCCUPANCY} --chart {path} --chart-theme {theme}").code == 0
        assert colour in path.read_text("utf-8")


def test_a_table_in_a_file_leaves_the_terminal_to_the_chart(perfkit, tmp_path):
    path = tmp_path / "out.json"
    done = perfkit(f"{OCCUPANCY} -f json -o {path} --chart -")
    assert done.out.startswith("Occupancy: h100-sxm5\n")
    assert json.loads(path.read_text("utf-8"))["schema"] == "perfkit.occupancy/1"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (f"{OCCUPANCY} --chart kernel.cu", "neither .svg nor .png"),
        (f"{OCCUPANCY} --chart c.pdf", "write --chart chart.svg, or --chart -"),
        (f"{OCCUPANCY} --chart ''", "neither .svg nor .png"),
        (f"{OCCUPANCY} --chart - -f json", "both go to stdout"),
        (f"{OCCUPANCY} --chart /nowhere/at/all.svg", "--chart /nowhere/at/all.svg: No such file"),
        (f"{OCCUPANCY} --chart c.svg --chart-theme pink", "pink"),
        ("carveout -g gtx-980 --chart", "nothing in this result can be drawn"),
        ("sweep -g h100 -t 32 -f csv --chart", "--chart goes with a table"),
        ("validate --chart c.pdf", "neither .svg nor .png"),
        ("validate --chart - -f html", "both go to stdout"),
        ("gemm -g h100 --shape 64 --dtype f16 --measure --chart c", "neither .svg nor .png"),
    ],
)
def test_what_cannot_be_drawn_is_refused(refused, arguments, words):
    assert words in refused(arguments)


def test_without_matplotlib_files_are_refused_and_the_terminal_is_not(
    refused, perfkit, monkeypatch, tmp_path
):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    path = tmp_path / "c.svg"
    assert "pip install 'perfkit[plot]'" in refused(f"{OCCUPANCY} --chart {path}", 4)
    assert not path.exists()
    assert perfkit(f"{OCCUPANCY} --chart").code == 0


def test_an_ascii_terminal_gets_ascii(perfkit, monkeypatch):
    monkeypatch.setenv("TERM", "dumb")
    assert perfkit(f"{OCCUPANCY} --chart").out.isascii()


def test_json_says_which_command_wrote_it(perfkit, monkeypatch, tmp_path):
    path = tmp_path / "out.json"
    perfkit(["occupancy", "-g", "h100", "-t", "256", "-r", "40", "--kernel", "a b", "-f", "json",
             "-o", str(path)])  # fmt: skip
    command = json.loads(perfkit(f"{OCCUPANCY} -f json").out)["made_by"]["command"]
    assert command == f"perfkit {OCCUPANCY} -f json"
    monkeypatch.setenv("PERFKIT_GPU", "h100")
    found = json.loads(perfkit(f"occupancy -t 256 -r 40 -f json --output={path}").out or "{}")
    assert found == {}
    found = json.loads(path.read_text("utf-8"))["made_by"]
    assert found["command"] == "PERFKIT_GPU=h100 perfkit occupancy -t 256 -r 40 -f json"
