"""Exports of Nsight Compute: real ones, both pages, and files that are none."""

from __future__ import annotations

import csv
import io
import random
import statistics
from pathlib import Path

import pytest

from perfkit.errors import InputError
from perfkit.readers.ncu import read

DATA = Path(__file__).resolve().parents[1] / "data" / "ncu"
DETAILS = DATA / "details.csv"
COMMA = DATA / "decimal_comma.csv"
HEADER = '"ID","Process ID","Process Name","Host Name","Kernel Name","Block Size","Grid Size","CC"'


def values(profile):
    return {value.name: value.amount for value in profile.values}


def test_the_details_page():
    found = read(DETAILS)
    (one,) = found.profiles
    assert found.notes == ()
    assert one.number == 0
    assert one.kernel == "cutlass3x_sm100_s64x256x32gemm_f8_f8_f32_f16"
    assert one.capability == "10.0"
    assert (one.block, one.grid) == ((384, 1, 1), (9, 32, 1))
    assert len(one.rules) == 3
    figures = values(one)
    assert figures["# SMs"] == 152
    assert figures["Duration"] == pytest.approx(406240e-9)
    assert figures["Registers Per Thread"] == 168
    assert figures["Dynamic Shared Memory Per Block"] == 205696
    assert figures["Driver Shared Memory Per Block"] == 1024
    assert figures["Shared Memory Configuration Size"] == 233472
    limits = [
        figures[f"Block Limit {n}"] for n in ("Barriers", "SM", "Registers", "Shared Mem", "Warps")
    ]
    assert limits == [9, 32, 1, 1, 5]
    assert figures["Theoretical Occupancy"] == pytest.approx(0.1875)
    assert figures["Achieved Occupancy"] == pytest.approx(0.1553)
    assert figures["Waves Per SM"] == 1.89
    assert figures["Cluster Scheduling Policy"] is None


def test_decimal_commas():
    found = read(COMMA)
    assert len(found.profiles) == 3
    assert len({one.kernel for one in found.profiles}) == 2
    gemm = [values(one) for one in found.profiles if "sgemm" in one.kernel]
    (reduce,) = [values(one) for one in found.profiles if "reduce" in one.kernel]
    # 117,344 and 120,416 ns: what the timers saw, and not 0.118 us
    assert statistics.mean(f["gpu__time_duration.sum"] for f in gemm) == pytest.approx(118.88e-6)
    assert statistics.mean(f["dram__bytes.sum"] for f in gemm) == 29207232
    share = "sm__throughput.avg.pct_of_peak_sustained_elapsed"
    assert statistics.mean(f[share] for f in gemm) == pytest.approx(0.657)
    assert reduce["gpu__time_duration.sum"] == pytest.approx(14.912e-6)
    assert reduce["dram__bytes.sum"] == 2348544
    assert reduce[share] == pytest.approx(0.067)
    assert "numbers are read with a decimal comma" in found.notes
    assert any("blocks of 512 threads, the metric 128" in note for note in found.notes)


def export(folder, *lines):
    path = folder / "ncu.csv"
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


def raw(folder, *rows, metrics="gpu__time_duration.sum", units="ns"):
    names = ",".join(f'"{name}"' for name in metrics.split())
    cells = ["", "", "", "", "", "block", "grid", "", *units.split()]
    unit_row = ",".join(f'"{cell}"' for cell in cells)
    return export(folder, "talk", HEADER + "," + names, unit_row, *rows)


def row(number, *figures, kernel="f"):
    cells = [number, 1, "a", "h", kernel, "(32, 1, 1)", "(7, 2, 1)", "9.0", *figures]
    return ",".join(f'"{cell}"' for cell in cells)


def test_the_raw_page(tmp_path):
    path = raw(
        tmp_path, row(0, "1,234.5", "50.5"), "==PROF== said something", row(1, "99", "0.1"),
        metrics="gpu__time_duration.sum sm__throughput", units="us %",
    )  # fmt: skip
    first, second = read(path).profiles
    assert values(first) == {
        "gpu__time_duration.sum": pytest.approx(1234.5e-6),
        "sm__throughput": pytest.approx(0.505),
    }
    assert (first.block, first.grid) == ((32, 1, 1), (7, 2, 1))
    assert second.number == 1


@pytest.mark.parametrize(
    ("unit", "kind", "factor"),
    [
        ("ns", "s", 1e-9),
        ("usecond", "s", 1e-6),
        ("msecond", "s", 1e-3),
        ("second", "s", 1),
        ("Ghz", "hz", 1e9),
        ("cycle/nsecond", "hz", 1e9),
        ("Kbyte/block", "byte", 1e3),
        ("Gbyte/second", "byte/s", 1e9),
        ("%", "ratio", 0.01),
        ("inst/cycle", "", 1),
        ("", "", 1),
    ],
)
def test_units(tmp_path, unit, kind, factor):
    path = raw(tmp_path, row(0, "1.25"), units=unit or "-")
    (value,) = read(path).profiles[0].values
    assert value.kind == kind
    assert value.amount == pytest.approx(1.25 * factor)


def test_several_runs_in_one_file(tmp_path):
    content = DETAILS.read_text("utf-8")
    path = tmp_path / "twice.csv"
    path.write_text(content + content.replace('"371693"', '"371694"'), "utf-8")
    assert len(read(path).profiles) == 2


def test_utf_16_as_powershell_writes_it(tmp_path):
    path = tmp_path / "utf16.csv"
    path.write_bytes(DETAILS.read_text("utf-8").encode("utf-16"))
    assert read(path).profiles == read(DETAILS).profiles


def test_numbers_that_can_be_read_in_two_ways(tmp_path):
    path = raw(tmp_path, row(0, "117.344"))
    with pytest.raises(InputError, match=r"'117\.344' can be read in two ways") as caught:
        read(path)
    assert "--decimal" in caught.value.hint
    assert values(read(path, mark=",").profiles[0])["gpu__time_duration.sum"] == pytest.approx(
        117344e-9
    )
    assert values(read(path, mark=".").profiles[0])["gpu__time_duration.sum"] == pytest.approx(
        117.344e-9
    )


def test_numbers_in_two_notations(tmp_path):
    with pytest.raises(InputError, match="two notations"):
        read(raw(tmp_path, row(0, "65.77"), row(1, "6,70")))


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "no CSV export"),
        (b"hello\nworld\n", "no CSV export"),
        (b"\x00\xff" * 500, "no CSV export"),
        (b"NVR\x00" + b"\x01" * 50, "a report, not its CSV"),
        (HEADER.encode(), "holds no launch"),
        (HEADER.encode() + b'\n"0","1","a\n', "broken CSV"),
        (HEADER.encode() + b"\n" + b'"' + b"x" * 200_000 + b'"', "broken CSV"),
    ],
)
def test_what_is_no_export(tmp_path, content, says):
    path = tmp_path / "file.csv"
    path.write_bytes(content)
    with pytest.raises(InputError, match=says) as caught:
        read(path)
    assert str(path) in str(caught.value)


def test_what_is_no_file(tmp_path):
    with pytest.raises(InputError, match="No such file"):
        read(tmp_path / "nothing.csv")
    with pytest.raises(InputError, match="directory"):
        read(tmp_path)


def test_damaged_files_are_refused_or_read(tmp_path):
    """Cut off anywhere, or with bits flipped: never anything but an answer or an InputError."""
    chance = random.Random(1)
    whole = DETAILS.read_bytes()
    path = tmp_path / "damaged.csv"
    outcomes = set()
    for _ in range(150):
        content = bytearray(whole[: chance.randrange(len(whole))])
        for _ in range(chance.choice([0, 0, 5])):
            if content:
                content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
        path.write_bytes(content)
        try:
            outcomes.add(bool(read(path).profiles))
        except InputError:
            outcomes.add("refused")
    assert outcomes == {True, "refused"}


@pytest.mark.parametrize(
    ("gap", "encoding"), [("\u202f", "utf-8"), ("\u00a0", "cp1252"), ("\u00a0", "cp850")]
)
def test_times_are_not_lost_where_spaces_group_digits(tmp_path, gap, encoding):
    path = tmp_path / "f.csv"
    rows = [("gpu__time_duration.sum", "ns", f"117{gap}344"), ("sm__throughput", "%", "65,77")]
    lines = ['"ID","Process ID","Kernel Name","Metric Name","Metric Unit","Metric Value"']
    lines += [f'"0","1","k","{name}","{unit}","{text}"' for name, unit, text in rows]
    path.write_bytes("\n".join(lines).encode(encoding))
    (profile,) = read(path).profiles
    assert [value.amount for value in profile.values] == [117.344e-6, 0.6577]


def rewritten(*, quoting=csv.QUOTE_ALL, delimiter=",", end="\n"):
    """The export with decimal commas as a program that knows CSV writes it again."""
    text = COMMA.read_text("utf-8")
    rows = csv.reader(line for line in text.splitlines() if line.startswith('"'))
    out = io.StringIO()
    csv.writer(out, quoting=quoting, delimiter=delimiter, lineterminator=end).writerows(rows)
    return out.getvalue()


def each(text, before):
    return "".join(f"{before(n)}{line}\n" for n, line in enumerate(text.splitlines()))


FORMS = {
    "spreadsheet": rewritten(quoting=csv.QUOTE_MINIMAL, end="\r\n"),
    "spreadsheet with semicolons": rewritten(quoting=csv.QUOTE_MINIMAL, delimiter=";", end="\r\n"),
    "tabs": rewritten(quoting=csv.QUOTE_MINIMAL, delimiter="\t"),
    "semicolons and quotes": rewritten(delimiter=";"),
    "log of a job": each(rewritten(), lambda n: f"2024-03-05T10:11:0{n % 10}.{n}Z "),
    "log of a container": each(rewritten(), lambda n: f"#14 {n}.3 "),
    "coloured": each(rewritten(), lambda _: "\x1b[0m"),
    "indented": each(rewritten(), lambda _: "    "),
    "frame with an index": each(
        rewritten(quoting=csv.QUOTE_MINIMAL), lambda n: f"{n - 1}," if n else ","
    ),
    "talk between": rewritten(quoting=csv.QUOTE_MINIMAL).replace(
        "\n", "\n==PROF== 12 passes\n2208, 2048 done\n"
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_forms(tmp_path, form):
    path = tmp_path / "f.csv"
    path.write_text(FORMS[form], "utf-8", newline="")
    assert read(path).profiles == read(COMMA).profiles


def test_a_summary_of_launches():
    found = read(DATA / "summary.csv").profiles
    assert [(p.number, p.grid, p.block, p.capability) for p in found] == [
        (0, (4096, 1, 1), (256, 1, 1), "11.0"),
        (1, (1048576, 1, 1), (1, 1, 1), "11.0"),
    ]
    averages = {"Duration": 13.25e-6, "Theoretical Occupancy": 1.0, "Achieved Occupancy": 0.7492}
    assert values(found[0]) == averages
    assert values(found[1]) == {"Duration": 1.55e-3}


def test_what_it_prints_for_people():
    first, second = read(DATA / "details.txt").profiles
    assert (first.number, first.process, first.grid, first.block, first.capability) == (
        0, "828", (32, 16, 1), (32, 8, 1), "9.0",
    )  # fmt: skip
    assert first.kernel == "sgemm(int, int, float, const float *, float *)"
    found = values(first)
    assert found["Duration"] == 96.32e-3
    assert found["Elapsed Cycles"] == 56_344_784
    assert found["Memory Throughput"] == 0.4923
    assert found["DRAM Frequency"] == 5e9
    assert found["Dynamic Shared Memory Per Block"] == 16380
    assert found["Waves Per SM"] == 0.48
    assert (second.number, second.kernel) == (1, "void fill<float>(T1 *, T1)")
    assert values(second)["L2 Hit Rate"] is None
    assert values(second)["Achieved Occupancy"] == 0.0621


def test_what_it_printed_in_2020():
    (profile,) = read(DATA / "details_2020.txt").profiles
    assert (profile.kernel, profile.grid) == ("cuda_compute_step_factor", None)
    found = values(profile)
    assert found["Duration"] == 9.12e-6
    assert (found["Memory [%]"], found["SM [%]"]) == (0.7589, 0.1157)
    assert (found["Block Size"], found["Grid Size"]) == (192, 2000)


@pytest.mark.parametrize("indent", ["", "    ", "\t"])
def test_a_text_that_was_pasted(tmp_path, indent):
    lines = (DATA / "details.txt").read_text("utf-8").splitlines()
    path = tmp_path / "issue.md"
    path.write_text("```\n" + "\n".join(f"{indent}{line}" for line in lines) + "\n```\n", "utf-8")
    assert read(path).profiles == read(DATA / "details.txt").profiles


def test_the_table_of_a_launch_that_was_left_out(tmp_path):
    text = (DATA / "details.txt").read_text("utf-8")
    path = tmp_path / "part.txt"
    path.write_text(text[text.index("    Section: Launch") : text.index("  void fill")], "utf-8")
    (profile,) = read(path).profiles
    assert (profile.kernel, values(profile)["Grid Size"]) == ("", 512)
