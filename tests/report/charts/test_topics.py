"""What charts show: every point held against the rule or the content that it comes from."""

from __future__ import annotations

import json
import re
from itertools import pairwise

import pytest

import perfkit
from perfkit.cli.app import main
from perfkit.models.occupancy import occupancy
from perfkit.report import charts, schema
from perfkit.report.chart import figure, terminal
from perfkit.report.chart.model import Plot
from perfkit.report.chart.theme import LIGHT, SLOTS
from perfkit.report.charts import pairs
from perfkit.report.views import tuning as tuning_view
from perfkit.report.views import validate as validate_view
from tests.report import measured
from tests.report.svg import texts


@pytest.fixture
def content(tmp_path):
    def run(command):
        path = tmp_path / "result.json"
        assert main([*command.split(), "-f", "json", "-o", str(path), "-q"]) == 0
        return json.loads(path.read_text("utf-8"))

    return run


def of(found):
    return charts.of(found["schema"].split(".")[1].split("/")[0], found)


def at(series, x):
    return [y for place, y in series.points if place <= x][-1]


def test_every_topic_has_a_schema():
    assert len(charts.TOPICS) >= 7
    assert set(charts.TOPICS) <= set(schema.topics())


@pytest.mark.parametrize("gpu", ["5.2", "8.6", "h100", "12.0"])
@pytest.mark.parametrize("launch", [(256, 40, 16384), (1024, 64, 0), (96, 255, 100), (33, 1, 1)])
def test_occupancy_curves_are_the_rule(content, gpu, launch):
    threads, regs, smem = launch
    found = content(f"occupancy -g {gpu} -t {threads} -r {regs} -s {smem}")
    (chart,) = of(found)
    capability = perfkit.capability(found["results"][0]["compute_capability"])
    top = capability.shared_memory.max_per_block_optin_bytes
    values = (range(1, 1025, 7), range(1, 256, 3), range(0, top + 1, 499))
    names = ("threads", "regs", "smem")
    for panel, name, places in zip(chart.panels, names, values, strict=True):
        for value in places:
            given = dict(zip(names, launch, strict=True)) | {name: value}
            assert at(panel.series[0], value) == occupancy(capability, **given).warps_per_sm
        now = next(mark for mark in panel.marks if mark.kind == "present")
        assert (now.x, now.y) == (launch[names.index(name)], found["results"][0]["warps_per_sm"])


def test_cliffs_are_where_the_curve_steps(content):
    (chart,) = of(content("occupancy -g h100 -t 256 -r 40 -s 16K"))
    registers = chart.panels[1]
    steps = {(mark.kind, mark.x, mark.y) for mark in registers.marks if mark.kind != "present"}
    assert steps == {("cliff", 41, 40), ("gain", 32, 64)}
    assert all(y == at(registers.series[0], x) for _, x, y in steps)


def test_a_curve_ends_where_the_launch_bounds_do(content):
    found = content("occupancy -g h100 -t 256 -r 40")
    found["results"][0]["max_block_threads"] = 512
    (chart,) = of(found)
    assert chart.panels[0].series[0].points[-1][0] == 512


@pytest.mark.parametrize(
    "changes",
    [{"compute_capability": "99.9"}, {"max_warps_per_sm": 128}, {"warps_per_sm": 1},
     {"block_threads": 5000}],
)  # fmt: skip
def test_another_gpu_than_the_database_knows_is_not_drawn(content, changes):
    found = content("occupancy -g h100 -t 256 -r 40")
    found["results"][0].update(changes)
    assert of(found) == ()


def test_what_does_not_launch_is_not_drawn(content):
    assert of(content("occupancy -g t4,h100 -t 256 -r 40 -s 100K"))[0].title.endswith("h100-sxm5")


def test_many_launches_are_shown_at_once(content):
    found = content("occupancy -g all -t 256 -r 40")
    (chart,) = charts.overview("occupancy", [found])
    shares = [y for _, y in chart.panels[0].series[0].points]
    assert shares == sorted(shares)
    assert len(shares) == len(found["results"]) + 1
    assert charts.overview("occupancy", []) == ()
    assert charts.overview("roofline", [found] * 9) == ()


def test_roofs_meet_at_the_ridge_point(content):
    found = content("roofline -g h100,a100 --dtype f16 --op gemm:4096 --time 0.5ms")
    (chart,) = of(found)
    (panel,) = chart.panels
    for one, line in zip(found["results"], panel.series, strict=True):
        (x, y), ridge, end = line.points
        assert y == pytest.approx(x * one["dram_bytes_per_s"])
        assert ridge == (pytest.approx(one["ridge_flop_per_byte"]), one["peak_flop_per_s"])
        assert end[1] == one["peak_flop_per_s"]
    measured = [mark for mark in panel.marks if mark.kind == "measured"]
    assert {mark.y for mark in measured} == {2 * 4096**3 / 0.5e-3}
    assert {mark.x for mark in measured} == {2 * 4096**3 / (3 * 2 * 4096**2)}


def test_one_gpu_has_all_roofs_of_the_type(content):
    found = content("roofline -g h100 --dtype f16 --op gemm:4096")
    (chart,) = of(found)
    rates = {line.points[-1][1] for line in chart.panels[0].series}
    assert rates == {roof["flop_per_s"] for roof in found["results"][0]["roofs"]}


def test_work_without_bytes_or_flop_is_not_drawn(content):
    assert of(content("roofline -g h100 --dtype f16 --flops 1e12")) == ()
    assert of(content("roofline -g h100 --dtype f16 --bytes 1000000")) == ()


def test_carveouts_lead_to_what_the_header_says(content):
    (chart,) = of(content("carveout -g h100 -t 256 -r 32 -s 20K"))
    asked = chart.panels[0].series[0]
    for percent in range(101):
        assert at(asked, percent) == perfkit.carveout_bytes("h100", percent)
    assert of(content("carveout -g gtx-980")) == ()


def test_no_preference_stands_apart_from_all_percentages(content):
    (chart,) = of(content("carveout -g h100 -t 256 -r 32 -s 20K"))
    capacities, blocks = chart.panels
    (mark,) = capacities.marks
    ticks = {tick.text: tick.at for tick in capacities.x.ticks}
    assert 100 == ticks["100"] < mark.x == ticks["default"] < capacities.x.high
    assert "without a preference" in mark.text
    assert blocks.x.high == 100
    (chart,) = of(content("carveout -g h100"))
    assert not [tick for tick in chart.panels[0].x.ticks if tick.text == "default"]


def test_many_products_have_a_line_each_and_a_title_that_is_whole(content):
    (chart,) = of(content("roofline -g a100,h100,rtx-4090 --dtype f16 --op gemm:4096"))
    said = texts(figure.render_svg(chart, figure.THEMES["light"]))
    assert said.count("…") == 0
    for name in ("a100-sxm4-80gb", "h100-sxm5", "rtx-4090"):
        assert f"{name}: bound by compute at 1365 FLOP per byte" in said
    found = content("roofline -g all --dtype f16 --op gemm:4096")
    (chart,) = of(found)
    assert chart.title.endswith(f" {SLOTS} GPUs")
    (panel,) = chart.panels
    drawn = [one["target"] for one in found["results"] if one["peak_flop_per_s"]][:SLOTS]
    assert [line.name for line in panel.series] == drawn
    assert len({line.style for line in panel.series}) == SLOTS
    said = texts(figure.render_svg(chart, figure.THEMES["light"]))
    (told,) = re.findall(rf"the first {SLOTS} of (\d+) GPUs are drawn", "\n".join(said))
    assert int(told) > 100


def test_a_long_summary_says_how_much_is_left_out():
    parts = [f"product {n}: {'x' * 80}" for n in range(9)]
    lines = figure._lines("; ".join(parts))
    assert lines == [*parts[:5], "and 4 more"]


def test_waves_and_their_tail(content):
    found = content("gemm -g t4 --shape 4096 --dtype f16 --tile 128x128x32 --warp 64x64x32")
    (chart,) = of(found)
    waves = found["results"][0]["waves"]
    by_name = {line.name: line for line in chart.panels[0].series}
    assert by_name["full waves"].points[-1] == (waves["full_waves"], waves["blocks_per_wave"])
    assert by_name["tail"].points[0] == (waves["full_waves"], waves["partial_wave_blocks"])
    assert by_name["idle"].base == waves["partial_wave_blocks"]


def test_waves_of_clusters_are_of_blocks_as_the_answer_says(content):
    found = content("gemm -g h100 --shape 8192 --dtype bf16")
    (one,) = found["results"]
    assert one["cluster"]["size"] > 1
    (chart,) = of(found)
    waves = one["waves"]
    assert chart.summary.startswith(
        f"{one['schedule']['blocks']} blocks, {waves['blocks_per_wave']} at a time: "
    )
    by_name = {line.name: line for line in chart.panels[0].series}
    assert by_name["tail"].points[0] == (waves["full_waves"], waves["partial_wave_blocks"])


def test_banks_serve_every_lane_once_a_word(content):
    found = content("access banks --stride 3 --element 8 --width 8")
    (chart,) = of(found)
    (panel,) = chart.panels
    assert len(panel.rows) == found["results"][0]["wavefronts"]
    served = [int(cell.text) for row in panel.cells for cell in row if cell.text]
    assert sorted(served) == sorted([*range(32)] * 2)  # two words each
    for row in panel.cells:
        for bank, cell in enumerate(row):
            if cell.text:
                word = int(cell.text) * 6
                assert bank in {word % 32, (word + 1) % 32}


def test_lanes_that_share_a_word_are_marked(content):
    (chart,) = of(content("access banks --stride 0"))
    texts = [cell.text for row in chart.panels[0].cells for cell in row if cell.text]
    assert texts == ["0+"]


def test_timelines_hold_every_operation(content):
    found = content("overlap --h2d 1G --kernel-ms 20 --link pcie4x16 --chunks 4")
    (chart,) = of(found)
    (panel,) = chart.panels
    assert len(panel.spans) == 8
    assert max(span.end for span in panel.spans) == pytest.approx(found["makespan_s"] * 1e3)
    for lane in range(len(panel.lanes)):
        spans = sorted((s.start, s.end) for s in panel.spans if s.lane == lane)
        assert all(a[1] <= b[0] + 1e-9 for a, b in pairwise(spans))
    assert of(content("overlap --h2d 1G --kernel-ms 20 --link pcie4x16 --chunks 4000")) == ()


def test_a_sweep_has_a_line_for_each_of_the_others(content):
    found = content("sweep -g h100 -t 64:256:64 -r 32,64")
    (chart,) = of(found)
    assert [len(line.points) for line in chart.panels[0].series] == [4, 4]
    assert of(content("sweep -g h100 -t 64 -r 32")) == ()


MEASURED = {
    "devices": [
        {
            "environment": {"device": "Card"},
            "measurements": [
                {
                    "name": name,
                    "median_s": median,
                    "flop_per_s": flops / median if flops else None,
                    "prediction": bound
                    and {
                        "bound_s": bound,
                        "expected_s": None,
                        "loads": [
                            {"kind": "compute", "name": "simt", "amount": flops,
                             "rate_per_s": 1e12, "roof": "f32/f32 dense simt"},
                            {"kind": "memory", "name": "dram", "amount": 1e9,
                             "rate_per_s": 1e11, "roof": "HBM"},
                        ],
                    },
                }
                for name, median, flops, bound in (
                    ("near", 1.05e-2, 1e9, 1e-2), ("far", 3e-2, 1e9, 1e-2), ("none", 1.0, 0, None))
            ],
        }
    ]
}  # fmt: skip


def test_measured_kernels_stand_against_their_predictions():
    scatter, roofline = charts.of("measure", MEASURED)
    assert scatter.summary.startswith("1 of 2 kernels within 10 %")
    (panel,) = scatter.panels
    assert isinstance(panel, Plot)
    assert [(mark.x, mark.y) for mark in panel.marks] == [(1e-2, 1.05e-2), (1e-2, 3e-2)]
    (under,) = roofline.panels
    assert {mark.x for mark in under.marks if mark.kind == "measured"} == {1.0}


def test_nothing_measured_is_nothing_to_draw():
    assert charts.of("measure", {"devices": []}) == ()
    assert charts.of("doctor", {}) == ()


def test_every_number_of_a_validation_is_drawn_over_its_prediction():
    agrees, differs = charts.of("validate", validate_view.content(measured.VALIDATION))
    first, second = agrees.panels
    assert [line.points for line in first.series if line.draw == "points"] == [
        ((1, 1), (2, 2), (7, 7), (32, 32))
    ]
    assert second.title == "small blocks per SM: at most as predicted"
    assert second.series[-1].points == ((32, 24),)
    assert differs.summary == "21,000 compared, 12 differ; 5 more are not drawn"
    (mark,) = differs.panels[0].marks
    assert (mark.x, mark.y, mark.label) == (9e-3, 2e-2, "sum")
    assert mark.text == "sum: 9 ms predicted, 20 ms measured"
    for panel in (first, second, *differs.panels):
        guide = next(line for line in panel.series if line.draw == "guide")
        assert all(x == y for x, y in guide.points)
        assert (panel.x.low, panel.x.high) == (panel.y.low, panel.y.high)


def test_a_validation_of_an_earlier_perfkit_has_no_numbers():
    found = validate_view.content(measured.VALIDATION)
    for check in found["cards"][0]["checks"]:
        del check["pairs"], check["pairs_left_out"]
    assert charts.of("validate", found) == ()


@pytest.mark.parametrize("numbers", [(0, 0), (0, 5), (3, 3), (1e-9, 1e9), (-2, 2), (1e-280, 1e280)])
def test_any_two_numbers_have_axes(numbers):
    predicted, found = numbers
    for unit in ("", "s"):
        one = {"what": "x", "predicted": predicted, "measured": found, "unit": unit,
               "agrees": False, "count": 2, "label": None}  # fmt: skip
        panel = pairs.panel([one], title="x")
        for axis in (panel.x, panel.y):
            assert axis.low <= min(numbers)
            assert max(numbers) <= axis.high
            assert axis.low < axis.high
            assert 2 <= len(axis.ticks) <= 12
        assert panel.marks[0].text.endswith("2 times")


def test_tried_candidates_stand_in_the_order_of_their_times():
    found = tuning_view.content(measured.TUNING)
    ranked, order, scatter = charts.of("tuning", found)
    points = {point for line in scatter.panels[0].series for point in line.points}
    assert {(175e-6, 190e-6), (180e-6, 187e-6)} <= points
    assert scatter.summary == "1.04 to 1.09 times as long as expected"
    assert [bar.text for bar in ranked.panels[0].bars] == ["187 µs", "190 µs"]
    assert [bar.style for bar in ranked.panels[0].bars] == [0, 1]
    points = {point for line in order.panels[0].series for point in line.points}
    assert points == {(1.0, 190e-6), (2.0, 187e-6)}
    assert order.panels[0].marks[0].x == 2
    found["results"] = found["results"][:1]
    assert len(charts.of("tuning", found)) == 2
    found["results"][0]["expected_s"] = None
    assert len(charts.of("tuning", found)) == 1
    found["results"] = []
    assert charts.of("tuning", found) == ()


def test_ranked_tilings_have_bars_and_the_parts_of_their_times(content):
    found = content("gemm -g h100,t4 --shape 4096 --dtype f16 --rank --top 30")
    for ranking, (ranked, parts) in zip(
        found["rankings"], zip(*[iter(of(found))] * 2, strict=True), strict=True
    ):
        best = ranking["best"]
        bars = ranked.panels[0].bars
        assert len(bars) == min(24, len(best))
        assert [bar.value for bar in bars] == pytest.approx(
            [one["expected_s"] * (1e6 if bars[0].text.endswith("µs") else 1e3)
             for one in best[: len(bars)]])  # fmt: skip
        highest = {}
        for line in parts.panels[0].series:
            for x, y in line.points if line.name != "expected" else ():
                highest[x] = max(y, highest.get(x, 0))
        assert list(highest.values()) == pytest.approx([one["time_s"] for one in best])


#: what nobody measures, but somebody can write into a file: path -> value
ODD = [
    ("access banks --stride 4", ("results", 0, "passes", 0, "wavefronts"), 10**15),
    ("access banks --stride 4", ("results", 0, "width_bytes"), 10**15),
    ("access banks --stride 4", ("results", 0, "addresses"), []),
    ("carveout -g h100 -t 256 -r 32 -s 20K", ("results", 0, "blocks_per_sm"), 10**15),
    ("overlap --h2d 1G --kernel-ms 20 --link pcie4x16", ("spans", 0, "end_s"), 1e300),
    ("overlap --h2d 1G --kernel-ms 20 --link pcie4x16", ("engines",), []),
    ("sweep -g h100 -t 64:256:64 -r 32", ("results", 0, "block_threads"), 10**15),
    ("roofline -g h100 --dtype f16 --op gemm:64", ("results", 0, "dram_bytes_per_s"), 1e-300),
    ("gemm -g h100 --shape 64 --dtype f16 --rank", ("rankings", 0, "best", 0, "loads"), []),
]


@pytest.mark.parametrize(("command", "path", "value"), ODD, ids=str)
def test_odd_numbers_in_a_file_end_no_report(content, command, path, value):
    found = content(command)
    node = found
    for step in path[:-1]:
        node = node[step]
    node[path[-1]] = value
    for chart in of(found):
        for look in (terminal.Look(), terminal.Look(width=40, is_ascii=True)):
            assert terminal.render(chart, look)
        assert figure.render_svg(chart, LIGHT)
