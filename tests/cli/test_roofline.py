"""``perfkit roofline``: one product or many, with every refusal."""

from __future__ import annotations

import csv
import json
from io import StringIO

import pytest

from perfkit.arch import catalog
from tests.readers.test_ceilings import WHOLE
from tests.report.schemas import undescribed, validate


def content(done):
    assert done.code == 0, done.err
    found = json.loads(done.out)
    validate("roofline", found)
    assert undescribed("roofline", found) == []
    return found


def results(done):
    return content(done)["results"]


def test_the_promised_figures_as_people_read_them(perfkit):
    done = perfkit("roofline -g h100 --dtype f16 --op gemm:4096")
    assert done.code == 0
    for figure in ("137.4 GFLOP", "989.4 TFLOP/s", "0.139 ms", "f16/f32 dense tensor"):
        assert figure in done.out


def test_by_hand_and_by_name(perfkit):
    (named,) = results(perfkit("roofline -g h100 --dtype f16 --op gemm:4096 -f json"))
    (typed,) = results(
        perfkit("roofline -g h100 --dtype f16 --flops 137438953472 --bytes 96M -f json")
    )
    assert named["operation"] == "gemm 4096x4096x4096"
    assert typed["operation"] is None
    same = set(named) - {"operation"}
    assert {key: named[key] for key in same} == {key: typed[key] for key in same}


@pytest.mark.parametrize(
    ("typed", "moved"),
    [("12GB", 12 * 10**9), ("12GiB", 12 * 2**30), ("12G", 12 * 2**30), ("1.5MB", 1_500_000)],
)
def test_traffic_in_decimal_and_in_binary_units(perfkit, typed, moved):
    line = "roofline -g h100 --dtype f16 --flops 1e12"
    (found,) = results(
        perfkit(f"{line} --bytes {typed} --l2-bytes {typed} --l1-bytes {typed} -f json")
    )
    by_hand = perfkit(f"{line} --bytes {moved} --l2-bytes {moved} --l1-bytes {moved} -f json")
    assert [found] == results(by_hand)
    assert {one["amount"] for one in found["loads"] if one["kind"] == "memory"} == {moved}


def test_a_table_over_many(perfkit):
    done = perfkit("roofline -g a100,h100,rtx-4090 --dtype f16 --op gemm:4096 -f json")
    found = results(done)
    assert [r["target"] for r in found] == ["a100-sxm4-80gb", "h100-sxm5", "rtx-4090"]
    text = perfkit("roofline -g a100,h100,rtx-4090 --dtype f16 --op gemm:4096").out
    assert "What each unit" not in text  # only of a single product
    assert "note: rtx-4090: accumulation in f32" in text


@pytest.mark.parametrize(
    ("dtype", "op", "said"),
    [
        ("f8", "gemm:4096", True),
        ("s8", "gemm:4096", True),
        ("f8", "gemm:4096,out=f8", False),
        ("f8", "gemm:4096,out=f32", False),
        ("f16", "gemm:4096", False),
        ("f8", "softmax:1024x1024", False),
    ],
)
def test_the_type_of_a_result_that_nobody_named_is_said(perfkit, dtype, op, said):
    done = perfkit(f"roofline -g h200 --dtype {dtype} --op {op}")
    assert ("the result is taken to be" in done.out) is said


def test_all_means_all_products_and_what_cannot_answer_is_left_out(perfkit):
    found = content(perfkit("roofline -g all --dtype f8 --op gemm:4096 -f json"))
    answered = {r["target"] for r in found["results"]}
    left = {one["target"]: one["reason"] for one in found["left_out"]}
    assert answered | set(left) == set(catalog.gpu_keys())
    assert not answered & set(left)
    assert left["v100s"] == "has no f8 arithmetic"
    assert len(answered) > 40


def test_a_family_is_its_products(perfkit):
    found = content(perfkit("roofline -g hopper --dtype f8 --op gemm:4096 -f json"))
    assert {r["compute_capability"] for r in found["results"]} == {"9.0"}
    assert {"h100-sxm5", "h200-sxm", "gh200"} <= {r["target"] for r in found["results"]}
    text = perfkit("roofline -g turing --dtype s4 --op gemm:4096").out
    assert "note: left out, has no s4 arithmetic: gtx-1650, " in text


def test_csv_has_a_row_for_each(perfkit):
    done = perfkit("roofline -g a100,h100 --dtype f16 --op gemm:4096 --time 1ms -f csv")
    rows = list(csv.DictReader(StringIO(done.out)))
    expected = results(perfkit("roofline -g a100,h100 --dtype f16 --op gemm:4096 -f json"))
    for row, one in zip(rows, expected, strict=True):
        for key in ("target", "flops", "peak_flop_per_s", "time_s", "bound_by"):
            assert row[key] == str(one[key])
        assert row["limited_by"] == "tensor"
        assert float(row["measured_time_s"]) == 0.001


def test_a_measured_time(perfkit):
    asked = "roofline -g rtx-5080 --dtype f32 --op gemm:5120x5120x4096 --time 8.5456ms"
    (found,) = results(perfkit(f"{asked} -f json"))
    assert found["measured"]["share_of_peak"] == pytest.approx(0.446, abs=0.001)
    out = perfkit(asked).out
    assert "25.13 TFLOP/s" in out
    assert "44.65%" in out


def test_above_the_peak_is_told_with_the_clock(perfkit):
    done = perfkit("roofline -g rtx-4060 --dtype f16 --flops 30.84T --time 1s")
    assert "102.02%" in done.out
    assert "the SMs ran at 2510 MHz or more" in done.out
    again = perfkit("roofline -g rtx-4060 --dtype f16 --flops 30.84T --time 1s --clock-mhz 2595")
    assert "96.72%" in again.out
    assert "note: 96" not in again.out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("--dtype f16 --flops 1P --time 1ms --clock-mhz 100", "the clock was higher than that"),
        ("--dtype f16 --bytes 1G --time 1us", "part of the data was in a cache"),
        ("--dtype f16 --bytes 10M", "the data fit into the L2 cache, 50 MiB"),
        ("--dtype f16 --flops 1G", "no bytes were given"),
        ("--dtype f16 --flops 1G --sparse", "counts the zeros of 2:4 sparsity"),
    ],
)
def test_notes(perfkit, arguments, says):
    done = perfkit(f"roofline -g h100 {arguments}")
    assert done.code == 0
    assert says in done.out


def test_a_measured_rate_is_no_ratio_to_one_of_the_data_sheet(perfkit, tmp_path):
    rates = [
        {"dtype": "f8", "accumulate": sums, "sparsity": "dense", "unit": "tensor"}
        | {"flop_per_s": rate}
        for sums, rate in (("f32", 1.6e15), ("f16", 1.76e15))
    ]
    path = tmp_path / "c.json"
    for measured, said in ((rates, "the rate in f16 is 1.1 times"), (rates[:1], None)):
        file = {"schema": "perfkit.ceilings/1", "gpu": "h200-sxm", "compute": measured}
        path.write_text(json.dumps(file))
        done = perfkit(f"roofline -g h200-sxm --dtype f8 --op gemm:4096 --ceilings {path}")
        assert done.code == 0
        assert (said in done.out) if said else ("times as high" not in done.out)


def test_notes_on_other_products(perfkit):
    assert (
        "no bf16 arithmetic here" in perfkit("roofline -g v100 --dtype bf16 --op softmax:9x9").out
    )
    slow = perfkit("roofline -g b300 --dtype f4 --flops 1P --time 1us").out
    assert "the FLOP are counted too high, or the figure is too low" in slow


def test_integers_are_no_floating_point(perfkit):
    out = perfkit("roofline -g h100 --dtype s8 --op gemm:4096").out
    assert "137.4 GOP" in out
    assert "1979 TOP/s" in out
    assert "FLOP/s" not in out


def test_measured_ceilings(perfkit, tmp_path):
    path = tmp_path / "h200.json"
    path.write_text(json.dumps(WHOLE))
    asked = ["roofline", "-g", "h200", "--dtype", "bf16", "--op", "gemm:8192"]
    (found,) = results(perfkit([*asked, "--ceilings", str(path), "-f", "json"]))
    assert (found["basis"], found["peak_flop_per_s"]) == ("measured", 6.88e14)
    assert found["ceilings"] == str(path)
    fast = perfkit([*asked, "--ceilings", str(path), "--time", "1ms"])
    assert "of a measured ceiling: tensor can do more than was measured" in fast.out


def test_what_is_wrong_with_ceilings(refused, tmp_path):
    path = tmp_path / "h200.json"
    path.write_text(json.dumps(WHOLE))
    asked = ["roofline", "--dtype", "bf16", "--flops", "1G", "--ceilings", str(path)]
    assert "those of h200-sxm, which was not asked about" in refused([*asked, "-g", "h100"])
    twice = refused([*asked, "-g", "h200", "--ceilings", str(path)])
    assert "a second file for h200-sxm" in twice
    assert "not both" in refused([*asked, "-g", "h200", "--clock-mhz", "1500"])
    path.write_text("{}")
    assert "the schema is None" in refused([*asked, "-g", "h200"])
    path.unlink()
    assert "cannot be read: No such file" in refused([*asked, "-g", "h200"])
    assert "cannot be read" in refused([*asked[:-1], str(tmp_path), "-g", "h200"])


@pytest.mark.parametrize("ending", ["table", "json", "csv", "markdown"])
@pytest.mark.parametrize(
    "work",
    ["--op transpose:100x99", "--flops 1G", "--bytes 1M", "--op conv2d:1x8x8x8,k=8 --time 1s"],
)
def test_every_format(perfkit, ending, work):
    done = perfkit(f"roofline -g h100,t4 --dtype f16 {work} -f {ending}")
    assert done.code == 0, done.err
    assert "nan" not in done.out.lower()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("", "no GPU given"),
        ("-g h100", "no data type given"),
        ("-g h100 --dtype f16", "no work given"),
        ("-g h101 --dtype f16 --flops 1G", "unknown GPU 'h101'"),
        ("-g h100, --dtype f16 --flops 1G", "empty name"),
        ("-g 9.0 --dtype f16 --flops 1G", "9.0 is a compute capability"),
        ("-g sm_90a --dtype f16 --flops 1G", "is a compute capability"),
        ("-g h100,8.9 --dtype f16 --flops 1G", "8.9 is a compute capability"),
        ("-g h100 --dtype f17 --flops 1G", "--dtype: unknown data type 'f17'"),
        ("-g h100 --dtype f16 --accumulate x --flops 1G", "--accumulate: unknown data type 'x'"),
        ("-g v100 --dtype bf16 --flops 1G", "v100-sxm2-16gb has no bf16 arithmetic"),
        ("-g h100,v100 --dtype bf16 --flops 1G", "v100-sxm2-16gb has no bf16 arithmetic"),
        ("-g volta --dtype bf16 --flops 1G", "has no bf16 arithmetic"),
        ("-g t239 --dtype f16 --flops 1G", "no peak rate is known"),
        ("-g h100 --dtype f16 --flops 0", "--flops 0: must be greater than 0"),
        ("-g h100 --dtype f16 --flops -1", "--flops '-1' is not a number"),
        ("-g h100 --dtype f16 --flops nan", "--flops 'nan' is not a number"),
        ("-g h100 --dtype f16 --flops inf", "--flops 'inf' is not a number"),
        ("-g h100 --dtype f16 --flops 1e999", "--flops 1e999: must be greater than 0 and finite"),
        ("-g h100 --dtype f16 --flops 1e40", "too large"),
        (f"-g h100 --dtype f16 --flops {10**30}", "too large"),
        ("-g h100 --dtype f16 --bytes 0", "--bytes 0: must be greater than 0"),
        ("-g h100 --dtype f16 --bytes -5", "--bytes '-5' is not a size"),
        ("-g h100 --dtype f16 --bytes 99999999999999999999", "--bytes '99999999999999999999'"),
        ("-g h100 --dtype f16 --l1-bytes x", "--l1-bytes 'x' is not a size"),
        ("-g h100 --dtype f16 --l2-bytes 1G", "no rate is known"),
        ("-g h100 --dtype f16 --flops 1G --time 0s", "--time 0s: must be greater than 0"),
        ("-g h100 --dtype f16 --flops 1G --time 5", "--time '5' is not a time"),
        ("-g h100 --dtype f16 --flops 1G --time 5min", "--time '5min' is not a time"),
        ("-g h100 --dtype f16 --flops 1G --clock-mhz nan", "--clock-mhz nan"),
        ("-g h100 --dtype f16 --flops 1G --clock-mhz 0", "--clock-mhz 0"),
        ("-g h100 --dtype f16 --flops 1G --clock-mhz 1980000", "no GPU runs at that clock"),
        ("-g h100 --dtype f16 --flops 1G --op gemm:4", "--op knows its FLOP and bytes"),
        ("-g h100 --dtype f16 --op gem:4", "--op 'gem:4': unknown operation 'gem'"),
        ("-g h100 --dtype f16 --op gemm:0x4x4", "size 0 is not in 1 to"),
        ("-g h100 --dtype f16 --op gemm:4x4", "2 sizes"),
        ("-g h100 --dtype f16 --op softmax:4x4 --sparse", "runs on SIMT cores"),
        ("-g h100 --dtype f16 --flops 1G --unit npu", "--unit"),
    ],
)
def test_what_is_refused_and_how(refused, arguments, says):
    assert says in refused(f"roofline {arguments}")


def test_completion_offers_products_and_families(perfkit):
    from perfkit.cli.bound_options import _complete_product

    offered = _complete_product("a100,h10")
    assert "a100,h100" in offered
    assert all(name.startswith("a100,h10") for name in offered)
    assert "9.0" not in _complete_product("")
    assert "all" in _complete_product("a")


def test_operations_on_integers_that_compute_in_floats_are_flop(perfkit):
    # 1024 rows of 7 * 1024 + 2 by the count of layernorm, in f32 on SIMT cores
    out = perfkit("roofline -g h100 --dtype s8 --op layernorm:1024x1024").out
    assert "7.342 MFLOP" in out
    assert "66.91 TFLOP/s" in out
    assert "TOP/s" not in out
    # products of s8 on tensor cores beside a softmax in f32: either counts its own
    rows = perfkit("roofline -g h100 --dtype s8 --op attention:1x1x4096x128").out.splitlines()
    tensor, simt = (next(r for r in rows if r.startswith(unit)) for unit in ("tensor", "simt"))
    assert "1979 TOP/s" in tensor
    assert "66.91 TFLOP/s" in simt
