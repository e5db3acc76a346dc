"""The view of a state against the answers of the commands, and the view as text."""

from __future__ import annotations

import json
import re
import shlex

import pytest

from perfkit.arch import catalog
from perfkit.cli.app import main
from perfkit.explore import paint
from perfkit.explore.help import KEYS, help_lines
from perfkit.explore.search import choices, matching
from perfkit.explore.taken import taken
from perfkit.explore.view import EXPLAINED, view
from perfkit.report.code.kinds import Kind
from perfkit.units import format_bytes
from tests.explore.desk import CUBIN, DESK, ROOT, opened, typed

STATES = {
    "plain": typed(),
    "full": typed(
        smem_static="1K", smem_dynamic="20K", carveout="50%", barriers="4", cluster="2",
        grid="4096", op="gemm:4096", dtype="f16",
    ),
    "both rules": typed(threads="128", smem_dynamic="2K", carveout="10%"),
    "bare capability": typed("8.6", grid="100", op="gemm:4096"),
    "refused": typed(threads="1024", regs="128"),
    "dedicated": typed("gtx-980", carveout="50%"),
    "no GPU": typed(None),
}  # fmt: skip
EACH = pytest.mark.parametrize("state", STATES.values(), ids=STATES)


def result(capsys, line: str) -> dict:
    """The one result of a command line."""
    words = shlex.split(line)
    assert words[0] == "perfkit"
    assert main([*words[1:], "-f", "json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["results"]
    return found


def text(lines) -> str:
    return "\n".join("".join(piece for piece, _ in line) for line in lines)


@pytest.mark.parametrize("name", ["plain", "full", "both rules", "bare capability", "dedicated"])
def test_the_command_line_gives_the_same_answer(name, capsys):
    seen = view(STATES[name], DESK)
    assert seen.troubles == ()
    found = result(capsys, seen.commands[0])
    assert seen.estimate.driver.blocks_per_sm == found["blocks_per_sm"]
    assert seen.estimate.hardware.occupancy.blocks_per_sm == found["hardware"]["blocks_per_sm"]
    assert seen.estimate.hardware.l1_bytes == found["hardware"]["l1_bytes"]
    assert seen.estimate.grid == found["grid"]
    if seen.bound:
        assert seen.bound.bound.time_s == result(capsys, seen.commands[1])["time_s"]


def test_the_command_line_of_a_kernel_names_it(capsys):
    source = ROOT / "examples" / "kernels" / "transpose.cu"
    pytest.importorskip("cuda.bindings")
    for target, kernel in DESK.kernels(str(source), "a100"):
        state = typed("a100", threads="", regs="").having(path=str(source), kernel=kernel)
        seen = view(state, DESK)
        found = result(capsys, seen.commands[0])
        assert (target.label, found["kernel"]) == (found["target"], kernel.demangled)
        assert seen.estimate.driver.blocks_per_sm == found["blocks_per_sm"]


def test_a_cubin_says_its_own_gpu_and_numbers():
    state = opened(CUBIN)
    pairs = DESK.kernels(str(CUBIN), None)
    assert (state.kernel is not None) == (len(pairs) == 1)
    target, kernel = pairs[0]
    seen = view(state.having(gpu=target.label, kernel=kernel, threads="128"), DESK)
    assert seen.present()["regs"] == kernel.registers_per_thread


@EACH
def test_every_table_is_explained_and_nothing_is_lost(state):
    seen = view(state, DESK)
    assert {panel.key for panel in seen.panels} <= set(EXPLAINED)
    wide = text(paint.answer(seen, width=200, explain=True))
    for panel in seen.panels:
        assert panel.title in wide
        assert EXPLAINED[panel.key] in wide.replace("\n", " ")
        assert all(line.label in wide for line in panel.lines)


@EACH
@pytest.mark.parametrize("width", [0, 10, 20, 36, 54, 100, 300])
@pytest.mark.parametrize("explain", [False, True])
def test_text_fits_any_width(state, width, explain):
    seen = view(state, DESK)
    lines = paint.answer(seen, width=width, explain=explain)
    lines += paint.drawn(seen, width=width, explain=explain)
    longest = max((len("".join(piece for piece, _ in line)) for line in lines), default=0)
    assert longest <= max(width, 20) + 8  # a pointer's value may stand out of the narrowest


def test_both_rules_are_shown_where_they_differ():
    shown = text(paint.answer(view(STATES["both rules"], DESK), width=80, explain=False))
    assert "10 blocks, 40 of 64 warps" in shown
    assert "12 blocks, 48 of 64 warps (measured)" in shown
    drawn = text(paint.drawn(view(STATES["both rules"], DESK), width=50, explain=False))
    assert "░" in drawn


@pytest.mark.parametrize("gpu", ["rtx-4090", "h100"])
def test_axes_begin_where_the_curves_do(gpu):
    """So that no launch stands below a larger number than its own."""
    seen = view(typed(gpu, threads="32", smem_dynamic="2K"), DESK)
    drawn = text(paint.drawn(seen, width=46, explain=False)).splitlines()
    most = format_bytes(seen.target.capability.shared_memory.max_per_block_optin_bytes)
    ends = [line.split() for line in drawn if line.startswith("    ") and "▲" not in line]
    assert ends == [["1", "1024"], ["1", "255"], ["0", "B", *most.split()]]
    assert "▲ 2 KiB" in drawn[-1]


@EACH
@pytest.mark.parametrize("width", [20, 48, 60, 100])
def test_values_of_a_table_stand_below_each_other(state, width):
    for panel in view(state, DESK).panels:
        lines = paint._panel(panel, width)
        rows = [line for line in lines if len(line) == 2]
        assert len({len(label) for label, _ in (line[0] for line in rows)}) <= 1
        assert len(rows) >= len(panel.lines)


def test_memory_of_products_is_in_gib():
    products = [one for one in choices() if " SMs, " in one.text]
    assert len(products) > 100
    assert all(re.search(r" SMs, [0-9.]{1,5} GiB, ", one.text) for one in products)
    (found,) = [one for one in products if one.name == "rtx-4090"]
    assert "128 SMs, 24 GiB" in found.text


@pytest.mark.parametrize(
    ("texts", "field", "said"),
    [
        ({"threads": "0"}, "threads", "takes 1 to 1024"),
        ({"threads": "abc"}, "threads", "whole numbers"),
        ({"threads": ""}, None, "how many threads"),
        ({"regs": "40.5"}, "regs", "not a whole number"),
        ({"regs": "999"}, "regs", "0 to 255"),
        ({"smem_dynamic": "lots"}, "smem_dynamic", "not a size"),
        ({"smem_dynamic": "300K"}, "smem_dynamic", "allows 232448"),
        ({"carveout": "50"}, "carveout", "percent or bytes"),
        ({"carveout": "101%"}, "carveout", "0% to 100%"),
        ({"barriers": "17"}, "barriers", "0 to 16"),
        ({"cluster": "17"}, "cluster", "17"),
        ({"grid": "0"}, "grid", "takes 1 to"),
        ({"op": "sort:4"}, "op", "unknown operation"),
        ({"op": "gemm:4", "dtype": "f13"}, "dtype", "unknown data type"),
    ],
)
def test_wrong_numbers_are_troubles_of_their_field(texts, field, said):
    seen = view(typed(**texts), DESK)
    (trouble,) = seen.troubles
    assert trouble.field == field
    assert said in trouble.text
    assert said in text(paint.answer(seen, width=300, explain=False))


def test_a_gpu_that_is_several_is_a_trouble():
    (trouble,) = view(typed("ampere"), DESK).troubles
    assert "the explorer shows one" in trouble.text


def test_what_the_operation_does_not_change_is_kept():
    before = view(STATES["full"], DESK)
    after = view(STATES["full"].having(op="gemm:64"), DESK, before=before)
    assert after.estimate is before.estimate
    assert after == view(STATES["full"].having(op="gemm:64"), DESK)
    assert view(typed(regs="41"), DESK, before=before) == view(typed(regs="41"), DESK)


@EACH
def test_everything_to_take_away_is_text(state):
    found = taken(view(state, DESK))
    if state.gpu is None:
        assert found == {}
        return
    assert set(found) == {"command", *(kind.value for kind in Kind)}
    assert all(found.values())


def test_launch_code_has_the_launch_that_is_shown():
    code = taken(view(typed(smem_dynamic="64K", carveout="50%"), DESK))
    for said in ("threads = 256", "shared_bytes = 65536", "Carveout, 50", "perfkit explore"):
        assert said in code["cuda"]
    refused = taken(view(STATES["refused"], DESK))["cuda"]
    assert refused.startswith("none: ")
    assert taken(view(STATES["full"], DESK))["cupy"].startswith("none: CuPy cannot launch clusters")


def test_gpus_are_found_by_any_part_of_what_they_are():
    known = choices()
    assert len(known) > 100
    assert matching(known, "h100-sxm5")[0].name == "h100-sxm5"
    assert matching(known, "NVIDIA GeForce RTX 4090")[0].name == "rtx-4090"
    assert matching(known, "9.0")[0].name == "9.0"
    hopper = {gpu.key for gpu in catalog.all_gpus() if gpu.compute_capability == (9, 0)}
    assert {"9.0", *hopper} <= {one.name for one in matching(known, "9.0")}
    assert "a100-sxm4-80gb" in {one.name for one in matching(known, "ampere data-center")}
    assert matching(known, "no such thing") == ()
    assert matching(known, "") == known
    for one in known:
        assert DESK.target(one.name).label == one.name


def test_help_names_every_key_field_and_table():
    shown = text(help_lines(76))
    assert all(key in shown for key in KEYS)
    assert all(part.split()[0] in shown for part in EXPLAINED.values())
    assert max(map(len, shown.splitlines())) <= 76
