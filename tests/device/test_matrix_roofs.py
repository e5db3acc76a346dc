import pytest

from perfkit.device import matrix_roofs
from perfkit.kernel import DType
from tests.device.matrix_cases import compiled


def which(roofs):
    return {(str(roof.operand), str(roof.sums), roof.shape) for roof in roofs}


def test_each_capability_has_its_instructions():
    ampere, ada, hopper = (which(matrix_roofs.mma_roofs(cc)) for cc in ((8, 0), (8, 9), (9, 0)))
    assert ampere < ada < hopper
    assert ("bf16", "f32", "m16n8k16") in ampere
    assert {operand for operand, _, _ in ada - ampere} == {"f8"}
    assert hopper - ada == {("f64", "f64", "m16n8k16")}
    assert not matrix_roofs.mma_roofs((7, 5))


@pytest.mark.parametrize("capability", [(8, 0), (8, 9), (10, 0), (12, 0)])
def test_wgmma_is_for_hopper_only(capability):
    assert matrix_roofs.wgmma_roofs(capability) == ()
    assert len(matrix_roofs.wgmma_roofs((9, 0))) == 7


def test_counts():
    (roof,) = (r for r in matrix_roofs.mma_roofs((8, 0)) if r.operand == DType.BF16)
    # 8 warps, 4 x 4 products of 16 x 8 x 16 each
    assert roof.flops_per_block == 8 * 16 * 2 * 16 * 8 * 16
    # four fragments of A of 16 x 16 and of B of 16 x 8 for each warp, 2 bytes each
    assert roof.data_bytes == 8 * 4 * (16 * 16 + 16 * 8) * 2
    assert roof.out_bytes_per_block == 256 * 4
    (roof,) = (r for r in matrix_roofs.wgmma_roofs((9, 0)) if r.operand == DType.BF16)
    # two groups with 64 rows each, 256 columns, 4 slices of 64
    assert roof.flops_per_block == 2 * (2 * 64) * 256 * (4 * 64)
    assert roof.data_bytes == roof.dynamic_bytes == (2 * 64 + 256) * (4 * 64) * 2
    assert roof.dynamic_bytes <= 227 * 1024


@pytest.mark.parametrize(
    ("arch", "capability", "operand", "sums"),
    [
        ("sm_80", (8, 0), "f64", "f64"),
        ("sm_89", (8, 9), "f8", "f16"),
        ("sm_90a", (9, 0), "f16", "f16"),
    ],
)
def test_compiles_without_spills(tmp_path, arch, capability, operand, sums):
    roofs = matrix_roofs.wgmma_roofs if arch.endswith("a") else matrix_roofs.mma_roofs
    (roof,) = (r for r in roofs(capability) if (r.operand, r.sums) == (operand, sums))
    found = compiled(tmp_path, roof.text, arch)
    assert found.spill_store_bytes == found.spill_load_bytes == 0
    assert found.name == roof.name
