"""Rooflines of products: which roofs and levels are asked, and what cannot be."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from perfkit.analysis.products import product, products
from perfkit.analysis.roofline import RooflineQuestion, roofline
from perfkit.arch import catalog
from perfkit.errors import UnknownTarget, UsageError
from perfkit.kernel import DType
from perfkit.models.operations import operation
from perfkit.models.roofs import roofs
from perfkit.readers.ceilings import parse
from tests.readers.test_ceilings import WHOLE


def target(name):
    (found,) = catalog.targets(name)
    return found


def answer(name, dtype, op=None, **more):
    kind = DType(dtype)
    work = operation(op, kind) if op else None
    return roofline(target(name), RooflineQuestion(dtype=kind, work=work, **more))


def loads(found):
    return {load.name: load for load in found.bound.loads}


def test_the_promised_figures():
    """4096 cubed in f16 on H100: 137.4 GFLOP, 989.4 TFLOPS, 0.139 ms."""
    found = answer("h100", "f16", "gemm:4096")
    assert found.bound.flops == pytest.approx(137.4e9, rel=1e-3)
    assert found.bound.peak_flop_per_s == pytest.approx(989.4e12, rel=1e-3)
    assert found.bound.time_s == pytest.approx(0.139e-3, rel=1e-2)
    assert found.bound.bound_by == "compute"


def test_flop_and_bytes_by_hand_are_the_operation():
    by_name = answer("h100", "f16", "gemm:4096")
    by_hand = answer("h100", "f16", flops=2 * 4096**3, bytes=3 * 2 * 4096**2)
    assert by_hand.bound == by_name.bound


def test_every_byte_of_dram_passes_the_caches():
    found = loads(answer("h100", "f16", bytes=1e9))
    assert {name: load.amount for name, load in found.items()} == {
        "dram": 1e9, "l2": 1e9, "l1": 1e9,
    }  # fmt: skip
    more = loads(answer("h100", "f16", bytes=1e9, l1_bytes=5e10))
    assert more["l1"].amount == 5e10
    # 132 SMs x 128 bytes x 1980 MHz
    assert more["l1"].time_s == pytest.approx(5e10 / (132 * 128 * 1.98e9))


def test_shared_memory_alone_can_limit():
    found = answer("h100", "f16", flops=1e9, l1_bytes=1e12)
    assert found.bound.limited_by == ("l1",)
    assert found.bound.bound_by == "memory"


def test_tensor_and_simt_at_once():
    found = answer("h100", "bf16", "attention:1x32x4096x64")
    work = found.question.work
    assert loads(found)["tensor"].amount == work.matrix_flops
    assert loads(found)["simt"].amount == work.vector_flops
    assert loads(found)["simt"].roof == "f32/f32 dense simt"
    # 4 FLOP per dim on one unit, 5 and a bit per pair on the other: tensor cores win at dim 64
    assert found.bound.limited_by == ("tensor",)
    assert answer("h100", "bf16", "attention:1x32x4096x8").bound.limited_by == ("simt",)


def test_two_shares_on_the_same_cores_add_up():
    found = answer("h100", "f32", "attention:1x8x512x64")
    assert set(loads(found)) == {"simt", "dram", "l2", "l1"}
    assert loads(found)["simt"].amount == found.question.work.flops


def test_two_types_on_the_same_cores_have_two_names():
    found = loads(answer("tesla-p100-sxm2", "f16", "attention:1x8x512x64"))
    assert found["simt"].roof == "f16/f16 dense simt"
    assert found["simt f32"].roof == "f32/f32 dense simt"


def test_what_a_product_can_only_store():
    found = answer("v100", "bf16", "softmax:1000x1000")
    assert found.stored_only
    assert found.roof.label == "f32/f32 dense simt"
    assert not answer("a100", "bf16", "softmax:1000x1000").stored_only


def test_a_transposition_has_no_compute_roof():
    found = answer("h100", "f32", "transpose:4096x4096")
    assert found.roof is None
    assert found.options == ()
    assert found.bound.time_s == pytest.approx(2 * 4 * 4096**2 / 3350e9)


def test_vector_operations_in_another_type():
    assert answer("h100", "f16", "softmax:64x64", accumulate=DType.F16).roof.dtype is DType.F16
    assert answer("h100", "f64", "softmax:64x64").roof.dtype is DType.F64


def test_the_other_roofs_of_the_type():
    found = answer("rtx-4090", "f16", "gemm:4096")
    options = {option.roof.label: option for option in found.options}
    assert len(options) == 5
    assert [label for label, option in options.items() if option.is_used] == [
        "f16/f32 dense tensor"
    ]
    half = options["f16/f16 dense tensor"]
    assert half.time_s == pytest.approx(options["f16/f32 dense tensor"].time_s / 2)
    assert half.ridge == pytest.approx(330.3e12 / 1008e9, rel=1e-3)


def test_another_clock():
    """RTX 4060: rated 30.228 TFLOPS at 2460 MHz, measured 30.84 at 2595 MHz."""
    rated = answer("rtx-4060", "f16", flops=30.84e12, time_s=1.0)
    actual = answer("rtx-4060", "f16", flops=30.84e12, time_s=1.0, clock_mhz=2595)
    assert rated.bound.peak_flop_per_s == pytest.approx(30.228e12, rel=1e-3)
    assert rated.bound.measured.share_of_peak == pytest.approx(1.020, abs=0.002)
    assert actual.bound.measured.share_of_peak == pytest.approx(0.967, abs=0.002)


def test_measured_ceilings():
    ceilings = (parse(json.dumps(WHOLE), "c.json"),)
    found = answer("h200", "bf16", flops=6.88e14, bytes=4.369e11, ceilings=ceilings)
    assert found.ceilings is ceilings[0]
    assert found.roof.basis == "measured"
    assert found.bound.time_s == pytest.approx(1)
    assert loads(found)["dram"].time_s == pytest.approx(0.1)
    # another product keeps its data sheet
    assert answer("h100", "bf16", flops=1e9, ceilings=ceilings).ceilings is None


def test_clock_and_ceilings_exclude_each_other():
    ceilings = (parse(json.dumps(WHOLE), "c.json"),)
    with pytest.raises(UsageError, match="measured ceilings hold as they are"):
        answer("h200", "bf16", flops=1e9, ceilings=ceilings, clock_mhz=1500)


@pytest.mark.parametrize("name", ["9.0", "sm_90a", "8.9", "11.0"])
def test_a_capability_is_no_product(name):
    with pytest.raises(UnknownTarget, match="belong to a product") as error:
        answer(name, "f16", flops=1e9)
    assert error.value.hint


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"flops": 0}, "flops = 0"),
        ({"flops": -1}, "flops = -1"),
        ({"flops": float("nan")}, "flops = nan"),
        ({"flops": 1e9, "bytes": 0}, "bytes = 0"),
        ({"flops": 1e9, "l2_bytes": float("inf")}, "l2_bytes = too large"),
        ({"flops": 1e9, "l1_bytes": -5}, "l1_bytes = -5"),
        ({"flops": 1e9, "time_s": 0}, "time_s = 0"),
        ({"flops": 1e9, "clock_mhz": 0}, "clock_mhz = 0"),
        ({"flops": 1e9, "clock_mhz": float("nan")}, "clock_mhz = nan"),
        ({"flops": 1e9, "clock_mhz": 1.8e9}, "no GPU runs at that clock"),
        ({"flops": 1e9, "sparsity": "thin"}, "no 'thin' f16"),
        ({"flops": 1e9, "unit": "npu"}, "on its npu units"),
        ({"op": "gemm:4", "flops": 1e9}, "knows its FLOP"),
        ({"op": "softmax:4x4", "sparsity": "sparse"}, "runs on SIMT cores"),
        ({"op": "softmax:4x4", "unit": "tensor"}, "runs on SIMT cores"),
        ({}, "nothing to do"),
        ({"l2_bytes": 5}, "no rate is known"),
    ],
)
def test_what_cannot_be_asked(more, says):
    with pytest.raises(UsageError) as error:
        answer("h100", "f16", **more)
    assert says in error.value.message


def test_a_published_figure_has_no_clock():
    assert answer("b300", "f4", "gemm:4096").roof.basis == "published"
    with pytest.raises(UsageError, match="known as a published figure only"):
        answer("b300", "f4", "gemm:4096", clock_mhz=1800)


def test_every_product_answers_in_every_type_it_has_and_refuses_the_others():
    answered = refused = 0
    for gpu in catalog.all_gpus():
        one = target(gpu.key)
        for dtype in DType:
            question = RooflineQuestion(dtype=dtype, work=operation("gemm:1024", dtype))
            has = {roof.dtype for roof in roofs(gpu, one.capability)}
            if dtype not in has:
                with pytest.raises(UsageError, match=r"no .* arithmetic|no peak rate"):
                    roofline(one, question)
                refused += 1
                continue
            found = roofline(one, question)
            assert 0 < found.bound.time_s < 1
            assert found.roof.dtype is dtype
            answered += 1
    assert answered > 700
    assert refused > 400


# --- products -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "expected", "is_named"),
    [("h100", {"h100-sxm5"}, True), ("volta", {"titan-v", "v100s", "jetson-agx-xavier"}, False)],
)
def test_names_of_products(name, expected, is_named):
    found, named = products(name, catalog.targets(name))
    assert expected <= {one.label for one in found}
    assert named is is_named


def test_all_is_all_products():
    found, named = products("all", catalog.targets("all"))
    assert {one.label for one in found} == set(catalog.gpu_keys())
    assert not named
    assert all(product(one).key == one.label for one in found)


def test_the_card_of_this_machine_may_be_no_product():
    bare = replace(target("9.0"), label="device: Custom H900")
    with pytest.raises(UnknownTarget, match="Custom H900"):
        products("device", [bare])
    assert products("device", [target("h200")]) == ((target("h200"),), True)


@pytest.mark.parametrize("name", ["9.0", "90", "sm_90a", "compute_90"])
def test_a_number_is_no_family(name):
    with pytest.raises(UnknownTarget, match="belong to a product"):
        products(name, catalog.targets(name))


@pytest.mark.parametrize("name", ["hopper", "Hopper", "volta", "ada", "ada lovelace", "blackwell"])
def test_families(name):
    found, named = products(name, catalog.targets(name))
    assert len(found) > 3
    assert not named


def test_a_capability_without_products_says_so():
    lonely = replace(target("9.0"), label="9.9")
    cc = replace(
        lonely.capability, compute_capability=type(lonely.capability.compute_capability)(9, 9)
    )
    with pytest.raises(UnknownTarget) as error:
        product(replace(lonely, capability=cc))
    assert error.value.hint == "the database has no product of it"
