"""The products of the database against what is printed on data sheets.

Figures typed here come from the source named beside them, not from the database.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from perfkit.arch import catalog, load, peaks
from perfkit.arch.suggest import builds_of
from perfkit.errors import UnknownTarget

if TYPE_CHECKING:
    from perfkit.arch.types import Gpu

#: every capability has a product
CAPABILITIES = [
    *("5.0", "5.2", "5.3", "6.0", "6.1", "6.2", "7.0", "7.2", "7.5", "8.0", "8.6", "8.7", "8.8"),
    *("8.9", "9.0", "10.0", "10.3", "11.0", "12.0", "12.1"),
]
KEYS = catalog.gpu_keys()

#: product, operand, accumulator, sparsity, unit, TFLOPS or TOPS
PRINTED = [
    # Ampere blog, table of P100, V100 and A100
    ("tesla-p100-sxm2", "f64", "f64", "dense", "simt", 5.3),
    ("v100-sxm2-16gb", "f16", "f32", "dense", "tensor", 125),
    ("a100-sxm4-80gb", "f16", "f32", "dense", "tensor", 312),
    ("a100-sxm4-80gb", "tf32", "f32", "dense", "tensor", 156),
    ("a100-sxm4-80gb", "f64", "f64", "dense", "tensor", 19.5),
    ("a100-sxm4-80gb", "f16", "f16", "dense", "simt", 78),
    ("a100-sxm4-80gb", "s8", "s32", "sparse", "tensor", 1248),
    # Tesla P40 product brief: 47 TOPS with dp4a
    ("tesla-p40", "s8", "s32", "dense", "simt", 47),
    # T4 data sheet
    ("t4", "f16", "f32", "dense", "tensor", 65),
    # Turing blog, Table 1: GeForce halves f32 accumulation, Quadro does not
    ("rtx-2080-ti", "f16", "f32", "dense", "tensor", 53.8),
    ("rtx-2080-ti", "f16", "f16", "dense", "tensor", 107.6),
    ("quadro-rtx-6000", "f16", "f32", "dense", "tensor", 130.5),
    # GA102 whitepaper 2
    ("rtx-3090", "bf16", "f32", "dense", "tensor", 71.2),
    ("rtx-3090", "f16", "f16", "dense", "tensor", 142),
    ("rtx-a6000", "f16", "f32", "dense", "tensor", 154.8),
    # Jetson AGX Orin data sheet: of the 275 TOPS the GPU has 170, with sparsity
    ("jetson-agx-orin-64gb", "s8", "s32", "sparse", "tensor", 170),
    # Ada whitepaper 2.1, Appendices A and C
    ("rtx-4090", "f32", "f32", "dense", "simt", 82.6),
    ("rtx-4090", "f16", "f32", "dense", "tensor", 165.2),
    ("rtx-4090", "f16", "f16", "dense", "tensor", 330.3),
    ("rtx-4090", "f8", "f32", "dense", "tensor", 330.3),
    ("rtx-4090", "f8", "f16", "dense", "tensor", 660.6),
    ("l40", "f16", "f32", "dense", "tensor", 181),
    # Ada whitepaper, edition for the professional cards; L4 data sheet, halved
    ("rtx-6000-ada", "f16", "f32", "dense", "tensor", 364.2),
    ("l4", "f8", "f32", "dense", "tensor", 242.5),
    # 24 SMs x 256 multiply-adds x 2.46 GHz, 24 SMs and the clock from TechPowerUp
    ("rtx-4060", "f16", "f32", "dense", "tensor", 30.23),
    # H100 whitepaper 1.04, Table 3
    ("h100-sxm5", "f16", "f32", "dense", "tensor", 989.4),
    ("h100-sxm5", "tf32", "f32", "dense", "tensor", 494.7),
    ("h100-sxm5", "f32", "f32", "dense", "simt", 66.9),
    ("h100-sxm5", "f64", "f64", "dense", "tensor", 66.9),
    ("h100-sxm5", "f16", "f32", "sparse", "tensor", 1978.9),
    ("h100-pcie", "bf16", "f32", "dense", "tensor", 756),
    # what is reported everywhere of H20
    ("h20", "bf16", "f32", "dense", "tensor", 148),
    # Blackwell Technical Brief 2.1, Table 3; Blackwell Ultra data sheet
    ("b200", "f8", "f32", "dense", "tensor", 4500),
    ("b200", "f64", "f64", "dense", "tensor", 37),
    ("b300", "f64", "f64", "dense", "simt", 1.2),
    ("b300", "s8", "s32", "dense", "tensor", 153.5),
    ("b300", "f4", "f32", "dense", "tensor", 14000),
    ("b300", "f4", "f32", "sparse", "tensor", 18000),
    # Jetson Thor page
    ("jetson-thor-t5000", "f4", "f32", "sparse", "tensor", 2070),
    # RTX Blackwell whitepaper 1.1; PRO edition
    ("rtx-5090", "f16", "f32", "dense", "tensor", 209.5),
    ("rtx-5090", "f8", "f16", "dense", "tensor", 838),
    ("rtx-5090", "f4", "f32", "dense", "tensor", 1676),
    ("rtx-5080", "f32", "f32", "dense", "simt", 56.3),
    ("rtx-pro-6000-blackwell-workstation", "f16", "f32", "dense", "tensor", 503.8),
    # DGX Spark hardware overview
    ("gb10", "f4", "f32", "sparse", "tensor", 1000),
]

#: product -> fact, where a widespread table is wrong or two documents disagree
SPOTS = [
    ("l4", "sm_count", 58),  # read from a card; TechPowerUp: 60
    ("a10g", "sm_count", 80),  # read from a card; TechPowerUp: 72
    ("h20", "sm_count", 78),
    ("gb200", "sm_count", 152),
    ("h100-sxm5", "boost_clock_hz", 1_980_000_000),
    ("h100-sxm5", "tensor_clock_hz", 1_830_000_000),
    ("tesla-p100-pcie", "boost_clock_hz", 1_303_000_000),  # 18.7 TFLOPS; TechPowerUp: 1329
    ("titan-x-maxwell", "sm_count", 24),
    ("titan-x-pascal", "sm_count", 28),
    ("gtx-1060-3gb", "sm_count", 9),
    ("rtx-2060-12gb", "sm_count", 34),
    ("rtx-3080-12gb", "sm_count", 70),
    # NVIDIA's page of laptop GPUs, CUDA cores / 128
    ("rtx-4090-laptop", "sm_count", 9728 // 128),
    ("rtx-4060-laptop", "sm_count", 3072 // 128),
    ("l40s", "tdp_w", 350),  # TechPowerUp: 300
    ("h200-sxm", "cluster_sm_groups", (18, 18, 16, 16, 16, 16, 16, 8, 2, 2, 2, 2)),
]
MEMORY = [
    ("a100-pcie-40gb", "HBM2", 40, 1555),  # A100 data sheet
    ("a100-sxm4-80gb", "HBM2e", 80, 2039),
    ("h100-sxm5", "HBM3", 80, 3350),
    ("h200-sxm", "HBM3e", 141, 4800),
    ("b200", "HBM3e", 180, 7700),  # HGX B200 sheet; 8000 is GB200
    ("gb200", "HBM3e", 186, 8000),
    ("rtx-6000-ada", "GDDR6", 48, 960),  # product page; the Blackwell whitepaper says 1008
    ("rtx-a6000", "GDDR6", 48, 768),
    ("rtx-4090", "GDDR6X", 24, 1008),
    ("rtx-5090", "GDDR7", 32, 1792),
    ("rtx-2000-ada", "GDDR6", 16, 224),  # copies of the data sheet; TechPowerUp: 256
    ("rtx-5080", "GDDR7", 16, 960),
    ("gb10", "LPDDR5X", 128, 273),
]
#: what people type, and the driver's own names -> product
TYPED = {
    "h100": "h100-sxm5",
    "H100": "h100-sxm5",
    "NVIDIA H100 80GB HBM3": "h100-sxm5",
    "NVIDIA H200": "h200-sxm",
    "a100": "a100-sxm4-80gb",
    "NVIDIA A100-SXM4-40GB": "a100-sxm4-40gb",
    "NVIDIA A100 80GB PCIe": "a100-pcie-80gb",
    "v100": "v100-sxm2-16gb",
    "Tesla V100-SXM2-32GB": "v100-sxm2-32gb",
    "rtx 4090": "rtx-4090",
    "4090": "rtx-4090",
    "NVIDIA GeForce RTX 4090": "rtx-4090",
    "gtx-980": "gtx-980",
    "p100": "tesla-p100-sxm2",
    "Tesla T4": "t4",
    "a6000": "rtx-a6000",
    "orin": "jetson-agx-orin-64gb",
    "xavier": "jetson-agx-xavier",
    "thor": "jetson-thor-t5000",
    "dgx-spark": "gb10",
    "NVIDIA TITAN X (Pascal)": "titan-x-pascal",
    "NVIDIA GeForce GTX TITAN X": "titan-x-maxwell",
    "NVIDIA GeForce GTX 1060 3GB": "gtx-1060-3gb",
    "NVIDIA GeForce RTX 4090 Laptop GPU": "rtx-4090-laptop",
    "NVIDIA GeForce RTX 3050 6GB Laptop GPU": "rtx-3050-laptop-6gb",
    "Tesla V100-SXM3-32GB": "v100-sxm3-32gb",
    "Quadro GV100": "quadro-gv100",
    "NVIDIA T1000 8GB": "t1000-8gb",
    "NVIDIA L20": "l20",
    "a5500": "rtx-a5500",
    "gt 1030": "gt-1030",
    "RTX 5090 D": "rtx-5090-d",
    "h800": "h800-sxm5",
    "a800": "a800-sxm4-80gb",
}


@pytest.fixture(params=KEYS)
def product(request: pytest.FixtureRequest) -> Gpu:
    return catalog.gpu(request.param)


def shared_names() -> dict[str, set[str]]:
    """Product -> names of it that other builds have, too."""
    found: dict[str, set[str]] = {}
    for name, key in {**{key: key for key in KEYS}, **load.aliases()}.items():
        if {*builds_of(name), key} != {key}:
            found.setdefault(key, set()).add(name)
    return found


def shared_rows() -> list[str]:
    """The rows of the table in ``archdb/README.md``."""
    differing = {
        "SMs": lambda gpu: gpu.sm_count,
        "clock": lambda gpu: gpu.boost_clock_hz,
        "memory": lambda gpu: gpu.memory.size_gib,
        "bandwidth": lambda gpu: gpu.memory.bandwidth_bytes_per_s,
    }
    rows = []
    for key, names in sorted(shared_names().items()):
        others = [catalog.gpu(other) for name in names for other in builds_of(name)]
        facts = [
            fact
            for fact, get in differing.items()
            if any(get(other) != get(catalog.gpu(key)) for other in others)
        ]
        typed = ", ".join(f"`{name}`" for name in sorted(names))
        rows.append(f"| {typed} | `{key}` | {', '.join(facts) or 'none of these'} |")
    return rows


def test_a_shared_name_is_that_of_one_build_only_if_an_sm_is_the_same() -> None:
    found = shared_names()
    assert len(found) > 15
    for key, names in found.items():
        same = catalog.gpu(key)
        for name in names:
            for other in map(catalog.gpu, builds_of(name)):
                assert other.compute_capability == same.compute_capability, name
                assert other.rate_class == same.rate_class, name


def test_what_a_shared_name_stands_for_is_told() -> None:
    text = (load.shipped() / "README.md").read_text("utf-8")
    table = text.split("| name | stands for |")[1].split("\n\n")[0].splitlines()[2:]
    assert table == shared_rows()


@pytest.mark.parametrize(
    ("typed", "builds"),
    [
        ("titan-x", "titan-x-maxwell, titan-x-pascal"),
        ("NVIDIA TITAN X", "titan-x-maxwell, titan-x-pascal"),
        ("gtx 1060", "gtx-1060-3gb, gtx-1060-6gb"),
        ("1060", "gtx-1060-3gb, gtx-1060-6gb"),
        ("rtx-3050-laptop", "rtx-3050-laptop-4gb, rtx-3050-laptop-6gb"),
    ],
)
def test_nothing_is_chosen_where_a_name_is_nobody_s(typed: str, builds: str) -> None:
    for ask in (catalog.gpu, catalog.targets):
        with pytest.raises(UnknownTarget, match="names several products") as caught:
            ask(typed)
        assert caught.value.hint == f"one of: {builds}"


@pytest.mark.parametrize(
    ("chip", "capability", "carrier"),
    [
        ("GA102", "8.6", "rtx-3090"),
        ("gh100", "9.0", "h100-sxm5"),
        ("AD102", "8.9", "rtx-4090"),
        ("GV100", "7.0", "quadro-gv100"),
    ],
)
def test_the_name_of_a_chip(chip: str, capability: str, carrier: str) -> None:
    for ask in (catalog.targets, catalog.gpu, catalog.capability):
        with pytest.raises(UnknownTarget, match=f"'{chip}' is the name of a chip") as caught:
            ask(chip)
        hint = caught.value.hint or ""
        assert ask is catalog.gpu or capability in hint
        assert ask is catalog.capability or carrier in hint


def test_the_products_of_a_chip_are_of_one_capability() -> None:
    """And each product is on one chip."""
    chips = load.chips()
    assert len(chips) > 30
    listed = [key for keys in chips.values() for key in keys]
    assert len(listed) == len(set(listed)) > 100
    for chip, keys in chips.items():
        assert len({catalog.gpu(key).compute_capability for key in keys}) == 1, chip


def test_every_capability_has_a_product() -> None:
    products = catalog.all_gpus()
    assert len(products) >= 75
    assert {str(gpu.compute_capability) for gpu in products} == set(CAPABILITIES)


def test_the_one_product_of_8_8_says_that_it_is_assumed() -> None:
    (gpu,) = [gpu for gpu in catalog.all_gpus() if str(gpu.compute_capability) == "8.8"]
    assert [conflict.fact for conflict in gpu.conflicts] == ["compute_capability"]


def test_published_peaks_are_met_or_explained(product: Gpu) -> None:
    derived = peaks.derived(product, catalog.capability(str(product.compute_capability)))
    for row in product.published:
        key = peaks.PeakKey(row.dtype, row.accumulate, row.sparsity, row.unit)
        computed = derived.get(key)
        if computed is None:
            assert row.use == "published", f"{key} cannot be derived"
        elif row.use is None:
            assert computed == pytest.approx(row.tflops * 1e12, rel=0.01), key
        else:
            # an explanation of what needs none would hide the next mistake
            assert computed != pytest.approx(row.tflops * 1e12, rel=0.01), key


def test_published_accumulators_exist(product: Gpu) -> None:
    for row in product.published:
        if row.unit == "simt" or row.dtype in {"f64", "s8", "s4"}:
            expected = {"s8": "s32", "s4": "s32"}.get(row.dtype, row.dtype)
            assert row.accumulate == expected
        else:
            assert row.accumulate in {"f16", "f32"}


def test_rate_class_exists_where_there_are_tensor_cores(product: Gpu) -> None:
    tensor = catalog.capability(str(product.compute_capability)).tensor_core
    if tensor is None:
        assert product.rate_class == "none"
    else:
        assert product.rate_class in {"none"} | {rate.rate_class for rate in tensor.rates}


def test_geforce_has_half_rate_exactly_where_it_should(product: Gpu) -> None:
    """7.5, 8.6, 8.9 and 12.0; TITAN RTX is a TITAN, GTX 16 has no tensor cores."""
    if product.segment != "geforce" or product.key.startswith("titan"):
        return
    halved = str(product.compute_capability) in {"7.5", "8.6", "8.9", "12.0"}
    expected = "geforce" if halved and not product.key.startswith("gtx") else "none"
    assert product.rate_class == expected


def test_figures_are_plausible(product: Gpu) -> None:
    assert 1 <= product.sm_count <= 192
    assert product.memory.bandwidth_bytes_per_s is None or (
        15e9 <= product.memory.bandwidth_bytes_per_s <= 10e12
    )
    assert product.memory.l2_bytes is None or 2**17 <= product.memory.l2_bytes <= 2**28
    assert product.tdp_w is None or 5 <= product.tdp_w <= 1600


def test_only_nvidia_is_official(product: Gpu) -> None:
    bibliography = load.sources()
    for row in product.sources:
        if bibliography[row.id].publisher != "NVIDIA":
            assert row.kind != "official", row.id


def test_a_simulator_s_profile_is_measured_only_where_a_card_was_read(product: Gpu) -> None:
    """And then the note says by whom."""
    for row in product.sources:
        if row.id == "pantheonsim":
            read = (row.note or "").startswith("pantheongpu read a physical card")
            assert (row.kind == "measured") == read, row


@pytest.mark.parametrize(("key", "dtype", "accumulate", "sparsity", "unit", "tflops"), PRINTED)
def test_peak_is_the_printed_one(
    key: str, dtype: str, accumulate: str, sparsity: str, unit: str, tflops: float
) -> None:
    gpu = catalog.gpu(key)
    found = {
        "/".join(peak.key): peak.flop_per_s
        for peak in peaks.peaks(gpu, catalog.capability(str(gpu.compute_capability)))
    }
    assert found[f"{dtype}/{accumulate}/{sparsity}/{unit}"] == pytest.approx(
        tflops * 1e12, rel=0.01
    )


@pytest.mark.parametrize(("key", "fact", "value"), SPOTS)
def test_fact_is_the_right_one_of_two(key: str, fact: str, value: object) -> None:
    assert getattr(catalog.gpu(key), fact) == value


@pytest.mark.parametrize(("key", "kind", "size_gib", "gb_per_s"), MEMORY)
def test_memory(key: str, kind: str, size_gib: float, gb_per_s: int) -> None:
    memory = catalog.gpu(key).memory
    assert (memory.type, memory.size_gib, memory.bandwidth_bytes_per_s) == (
        kind,
        size_gib,
        gb_per_s * 10**9,
    )


def test_h200_is_what_its_driver_reports() -> None:
    """cuDeviceGetAttribute on one H200, driver 580.159: MULTIPROCESSOR_COUNT and so on."""
    gpu = catalog.gpu("h200")
    assert gpu.sm_count == 132
    assert gpu.boost_clock_hz == 1_980_000 * 1000
    assert gpu.memory.l2_bytes == 62_914_560


def test_aliases_lead_to_products_and_hide_none() -> None:
    aliases = load.aliases()
    assert len(aliases) > 100
    assert set(aliases.values()) <= set(KEYS)
    assert not set(aliases) & set(KEYS)
    by_norm: dict[str, str] = {catalog.normalise(key): key for key in KEYS}
    assert len(by_norm) == len(KEYS)
    for alias, key in aliases.items():
        assert by_norm.setdefault(catalog.normalise(alias), key) == key, alias


def test_no_alias_reads_as_a_capability() -> None:
    """``980`` reads as 98.0, which does not exist; ``90`` would never reach its product."""
    known = {key.replace(".", "") for key in catalog.capability_keys()}
    assert not known & set(load.aliases())


@pytest.mark.parametrize("typed", TYPED)
def test_what_people_type(typed: str) -> None:
    assert catalog.gpu(typed).key == TYPED[typed]


def test_full_names_are_unique() -> None:
    names = [catalog.normalise(gpu.name) for gpu in catalog.all_gpus()]
    assert len(set(names)) == len(names)
