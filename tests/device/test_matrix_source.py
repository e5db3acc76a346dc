import re

import pytest

from perfkit.device import gemm_mma, gemm_mma_tma, matrix_roofs
from perfkit.device import matrix_source as source
from perfkit.device.program import KERNELS
from perfkit.errors import UsageError
from perfkit.kernel import DType
from tests.device.matrix_cases import problem, tiling


def test_texts_need_no_headers():
    texts = [gemm_mma.kernel(problem(), tiling("128x128x64", "64x64", 3)).text]
    texts += [gemm_mma_tma.kernel(problem(), tiling("128x128x64", "64x64", 3)).text]
    texts += [roof.text for roof in matrix_roofs.wgmma_roofs((9, 0))]
    assert len(texts) > 5
    assert not [text for text in texts if "#include" in text]


@pytest.mark.parametrize(
    ("module", "file", "least"),
    [
        (gemm_mma, "gemm_mma.cu", 12),
        (gemm_mma, "mma.cuh", 2),
        (gemm_mma_tma, "gemm_mma_tma.cu", 6),
        (gemm_mma_tma, "tma.cuh", 9),
    ],
)
def test_every_macro_that_a_kernel_names_is_set(module, file, least):
    text = module.kernel(problem(), tiling("128x128x64", "64x64", 3)).text
    head = re.search(r"Macros.*?\n\n", (KERNELS / file).read_text("utf-8"), re.DOTALL)[0]
    named = set(re.findall(r"\b[A-Z][A-Z_]{3,}\b", head)) - {"TMA"}
    assert len(named) >= least
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
    with pytest.raises(UsageError, match="k = 200") as caught:
        source.require_multiple("k", 200, 128)
    assert "128 or 256" in str(caught.value.hint)
    with pytest.raises(UsageError, match="k = 100") as caught:
        source.require_multiple("k", 100, 128)
    assert str(caught.value.hint) == "take 128"


@pytest.mark.parametrize(
    ("sizes", "says"),
    [
        ({"k": 1000}, "k = 1000"),
        ({"n": 1004}, "n = 1004: must be a multiple of 8"),
        ({"m": 100}, "m = 100: less than a tile"),
        ({"n": 120}, "n = 120: less than a tile"),
    ],
)
def test_sizes_that_products_cannot_have(sizes, says):
    with pytest.raises(UsageError, match=says):
        source.require_sizes(problem(**sizes), tiling("128x128x64", "64x64", 3))


@pytest.mark.parametrize(
    ("dtype", "tile_k", "stages", "says"),
    [
        ("bf16", 16, 3, "tile_k = 16: products take slices of 32, 64, 128 of bf16"),
        ("s8", 512, 3, "tile_k = 512: products take slices of 64, 128, 256 of s8"),
        ("tf32", 32, 1, "stages = 1: loading ahead needs at least 2"),
    ],
)
def test_slices_that_no_product_loads(dtype, tile_k, stages, says):
    with pytest.raises(UsageError, match=says):
        source.require_slices(DType(dtype), tiling(f"128x128x{tile_k}", "64x64", stages))


def test_the_last_tile_may_overlap_the_one_before():
    t = tiling("128x128x64", "64x64", 3)
    source.require_sizes(problem(m=129, n=136), t)
    assert source.tiles(problem(m=129, n=136), t) == 2 * 2
    assert source.tiles(problem(m=256, n=384), t) == 2 * 3
    # clusters are whole: of 3 rows of tiles there are 4
    assert source.tiles(problem(m=384, n=128), tiling("128x128x64", "16x128", 3, "2x1")) == 4
