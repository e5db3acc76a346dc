import re

import pytest

from perfkit.device import gemm_mma, matrix_roofs
from perfkit.device import matrix_source as source
from perfkit.device.program import KERNELS
from perfkit.errors import UsageError
from perfkit.kernel import DType
from tests.device.matrix_cases import problem, tiling


def test_texts_need_no_headers():
    texts = [gemm_mma.kernel(problem(), tiling("128x128x64", "64x64", 3)).text]
    texts += [roof.text for roof in matrix_roofs.wgmma_roofs((9, 0))]
    assert len(texts) > 5
    assert not [text for text in texts if "#include" in text]


def test_every_macro_that_a_kernel_names_is_set():
    text = gemm_mma.kernel(problem(), tiling("128x128x64", "64x64", 3)).text
    head = (KERNELS / "gemm_mma.cu").read_text("utf-8").split("\n\n")[0]
    named = set(re.findall(r"\b[A-Z][A-Z_]{3,}\b", head.partition("Macros:")[2]))
    assert len(named) >= 12
    assert {name for name in named if f"#define {name} " not in text} == set()


@pytest.mark.parametrize(("dtype", "out"), [("f64", "f64"), ("s4", "s32"), ("f4", "f32")])
def test_types_that_no_kernel_multiplies(dtype, out):
    with pytest.raises(UsageError, match=f"dtype = {dtype}"):
        source.type_macros(DType(dtype), DType(out))


@pytest.mark.parametrize(("dtype", "out"), [("bf16", "s32"), ("s8", "f32"), ("f16", "tf32")])
def test_results_that_sums_are_not_stored_as(dtype, out):
    with pytest.raises(UsageError, match=f"out = {out}"):
        source.type_macros(DType(dtype), DType(out))


def test_the_hint_names_sizes_nearby():
    with pytest.raises(UsageError, match="m = 200") as caught:
        source.require_multiples({"m": (200, 128)})
    assert "128 or 256" in str(caught.value.hint)
    with pytest.raises(UsageError, match="m = 100") as caught:
        source.require_multiples({"m": (100, 128)})
    assert "take 128," in str(caught.value.hint)
