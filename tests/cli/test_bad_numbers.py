"""Numbers that are none, or that nothing can have: exit 2 with the cause, for every option.

``COMMANDS`` holds a command line that works, with an option and a value for each thing that is a
number in it. Each value is then replaced by each of ``BAD``, one at a time. What an option takes
besides (zero, a sign, hexadecimal in an expression) stands in ``TAKES``.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from perfkit.device import properties
from perfkit.errors import NoDevice
from tests.cli.commands import COMMANDS as PROGRAM

DETAILS = Path(__file__).resolve().parents[1] / "data" / "ncu" / "details.csv"

#: negative, none, not finite, overflowing, no number at all
BAD = ("-1", "0", "nan", "inf", "-inf", "1e400", str(10**30), "9" * 400, "", "x", "1/0")

ROOFLINE = "-g h100 --dtype f16 --flops 1G --bytes 1M --l2-bytes 2M --l1-bytes 4M --time 1ms"
ACCESS = "--width 4 --element 4 --offset 1 --active lane<20 --warp 1 --threads 64,2"
COMMANDS = {
    "roofline": [ROOFLINE, f"{ROOFLINE} --clock-mhz 1500", "-g h100 --dtype f16 --op gemm:64"],
    "gemm": [
        ("-g h100 --shape 512 --dtype f16 --tile 128x128x64 --warp 64x64x64 --stages 3 --split-k 2"
        " --swizzle 2 --regs 128 --clock-mhz 1500 --cluster 2"),
        "-g h100 --shape 64 --dtype f16 --rank --top 5",
        "-g h100 --shape 64 --dtype f16 --measure --tries 3 --runs 2 --rest 0.25",
    ],
    "access coalescing": [
        f"--stride 1 {ACCESS} --grid 8 --block-index 3",
        f"--index threadIdx.x {ACCESS}",
    ],
    "access banks": [
        f"--stride 1 {ACCESS} --grid 8 --block-index 3",
        f"--index threadIdx.x {ACCESS}",
        "--tile 32,32 --row lane --column 0",
    ],
    "access divergence": [
        "--condition lane --threads 64 --grid 8 --block-index 3",
        "--switch lane",
        "--trips lane",
    ],
    "latency": [
        "-g h100 --latency-ns 600 --width 16 --ilp 4 --threads 256 --regs 32 --smem 1K",
        "-g h100 --latency-cycles 600 --gb-per-s 3000 --clock-mhz 1500",
    ],
    "overlap": [
        ("--h2d 1G --d2h 1G --kernel-ms 10 --h2d-gb-per-s 20 --d2h-gb-per-s 20 --chunks 4"
        " --streams 2 --copy-engines 1 --duplex 0.9 --copy-overhead-us 1 --launch-overhead-us 1"),
        "--h2d 1G --d2h 1G --kernel-ms 10 --link pcie4x16 --best --max-chunks 8",
    ],
    "recommend": [
        ("-g h100 --regs 40 --smem-static 1K --smem-dynamic 1K --smem-per-thread 4 --barriers 1"
        " --cluster 2 --elements 1000 --per-thread 2"),
        "-g h100 --regs 40 --smem 1K --threads 128",
        "-g h100 --measure copy --tries 3 --runs 2 --rest 0.25",
    ],
}  # fmt: skip

#: no number is asked for
WORDS = {"-g", "--rank", "--best", "--link", "--op", "--measure"}
NONE_OF_IT = {"0"}
TAKES = {
    **dict.fromkeys(
        ("--regs", "--smem", "--smem-static", "--smem-dynamic", "--smem-per-thread", "--barriers",
         "--h2d", "--d2h", "--kernel-ms", "--copy-overhead-us", "--launch-overhead-us",
         "--warp", "--block-index", "--trips", "--row", "--column", "--rest"),
        NONE_OF_IT,
    ),
    # true or false, or which path, or where in an array
    **{key: {"0", "-1"}
       for key in ("--active", "--condition", "--switch", "--index", "--stride", "--offset")},
}  # fmt: skip

#: what the cause is called where that is not the option
CALLED = {
    "--shape": ("m = ",),
    "--time": ("time",),
    "--clock-mhz": ("clock",),
    "--trips": ("a loop",),
    "--stride": ("byte address", "beyond 64 bits"),
    "--offset": ("byte address",),
    "--index": ("byte address",),
    "--row": ("row",),
    "--column": ("column",),
}
EMPTY = "an empty expression"


def replaced():
    for command, lines in COMMANDS.items():
        for number, line in enumerate(lines):
            words = line.split()
            for at, option in enumerate(words[:-1]):
                if not option.startswith("--") or option in WORDS:
                    continue
                for bad in BAD:
                    if bad not in TAKES.get(option, ()):
                        changed = [*words[: at + 1], bad, *words[at + 2 :]]
                        # long numbers make long names
                        name = f"{command}-{number} {option} {bad[:12]!r}"
                        yield pytest.param([*command.split(), *changed], option, bad, id=name)


@pytest.mark.parametrize(
    "line", [f"{name} {line}" for name, lines in COMMANDS.items() for line in lines]
)
def test_the_lines_work_as_they_stand(line, perfkit, monkeypatch):
    def none(*_):
        raise NoDevice("no card")

    monkeypatch.setattr(properties, "read_device", none)
    done = perfkit(line)
    # what measures has taken its numbers where it asks for the card
    assert done.code == (NoDevice.exit_code if "--measure" in line else 0), done.err


def test_every_option_for_a_number_is_tried():
    text = {"--format", "--output", "--gpu", "--ceilings", "--kernel", "--struct", "--addresses",
            "--code", "--accumulate", "--out", "--dtype", "--unit", "--instruction",
            "--level",
            "--include", "--define", "--std", "--instantiate", "--compiler", "--order", "--queue",
            "--quiet", "--maxrregcount", "--block", "--help", "--chart",
            "--chart-theme", *WORDS}  # fmt: skip
    for command, lines in COMMANDS.items():
        options = {
            max(option.opts, key=len)
            for option in PROGRAM[tuple(command.split())].params
            if option.param_type_name == "option" and not option.is_flag
        }
        tried = {word for line in lines for word in line.split() if word.startswith("--")}
        assert options - tried - text == set(), command


@pytest.mark.parametrize(("arguments", "option", "bad"), list(replaced()))
def test_a_bad_number_is_refused_with_its_cause(arguments, option, bad, refused):
    error = refused(arguments)
    assert "internal" not in error
    causes = (f"{option} ", f"{option}:", option[2:] + " ", repr(bad), EMPTY)
    assert any(cause in error for cause in (*causes, *CALLED.get(option, ()))), error


@pytest.mark.parametrize(
    "bad",
    ["gemm:0", "gemm:-1", "gemm:nan", f"gemm:{10**30}", "gemm:1e400", "gemm", "conv2d:1x1x1x1,k=0",
     "softmax:1", "reduction:0x4", "attention:1x1x0x64", "elementwise:1,flops=-1", "", "ge:4"],
)  # fmt: skip
def test_bad_sizes_of_an_operation(bad, refused):
    error = refused(["roofline", "-g", "h100", "--dtype", "f16", "--op", bad])
    assert repr(bad) in error or "unknown operation" in error


@pytest.mark.parametrize(
    "command", ["roofline --flops 1G", "gemm --shape 512", "gemm --rank --shape 64"]
)
@pytest.mark.parametrize(
    ("dtype", "says"),
    [("f64", None), ("f4", "no f4 arithmetic"), ("f6", "no f6 arithmetic"),
     ("f8", "no f8 arithmetic"), ("floaty", "unknown data type"), ("f17", "unknown data type")],
)  # fmt: skip
def test_a_type_that_a_product_lacks(command, dtype, says, perfkit, refused):
    line = f"{command} -g t4 --dtype {dtype}"
    if says is None:
        assert perfkit(line).code == 0
    else:
        assert says in refused(line)


@pytest.mark.parametrize(
    "bad",
    ["threadIdx.w", "threadIdx.x +", "f(1)", "__import__('os')", "threadIdx.x ** 2", "1 << 64",
     "9223372036854775808", "x" * 9000, "(" * 5000, "1 % 0", "a.b", "\N{ARABIC-INDIC DIGIT ONE}"],
)  # fmt: skip
@pytest.mark.parametrize(
    "command",
    ["access coalescing --index", "access banks --index", "access divergence --condition"],
)
def test_unknown_expressions(command, bad, refused):
    assert "internal" not in refused([*command.split(), bad])


@pytest.mark.parametrize("bad", ["-1", "-0.01"])
@pytest.mark.parametrize("measured", ['"1.89"', '"15.53"', '"18.75"', '"406240"', '"21.68"'])
def test_a_profile_with_figures_that_cannot_be(bad, measured, refused, tmp_path):
    text = DETAILS.read_text("utf-8")
    assert measured in text
    path = tmp_path / "profile.csv"
    path.write_text(text.replace(measured, f'"{bad}"'), "utf-8")
    assert "must be finite and not negative" in refused(["diagnose", str(path)])


@pytest.mark.parametrize("bad", ["nan", "inf", "1e400", "", "n/a"])
def test_a_figure_of_a_profile_that_is_none_is_missing(bad, perfkit, tmp_path):
    path = tmp_path / "profile.csv"
    path.write_text(DETAILS.read_text("utf-8").replace('"1.89"', f'"{bad}"'), "utf-8")
    done = perfkit(["diagnose", str(path)])
    assert done.code == 0
    assert "waves" in done.out.partition("not in the file")[2]
