"""Names: what people type stands for one thing, or is refused with the nearest names."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from perfkit.arch import catalog
from perfkit.errors import UnknownTarget, UsageError
from tests.arch.broken import GPU, SAMPLE

ROOT = Path(__file__).resolve().parents[2]
#: of NVIDIA's list "CUDA GPU Compute Capability"
FAMILIES = {
    "maxwell": ["5.0", "5.2", "5.3"],
    "pascal": ["6.0", "6.1", "6.2"],
    "volta": ["7.0", "7.2"],
    "turing": ["7.5"],
    "ampere": ["8.0", "8.6", "8.7", "8.8"],
    "ada": ["8.9"],
    "Ada Lovelace": ["8.9"],
    "hopper": ["9.0"],
    "blackwell": ["10.0", "10.3", "11.0", "12.0", "12.1"],
}


def labels(text: str) -> list[str]:
    return [target.label for target in catalog.targets(text)]


# -- capabilities -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text", ["9.0", "90", "sm_90", "sm_90a", "SM_90", "compute_90", "sm90", " 9.0 ", "hopper"]
)
def test_spellings_of_a_capability(text):
    assert catalog.capability(text).compute_capability == (9, 0)


def test_capabilities_are_numbers_not_text():
    keys = catalog.capability_keys()
    assert keys.index("9.0") < keys.index("10.0") < keys.index("12.1")
    assert [str(cc.compute_capability) for cc in catalog.all_capabilities()] == list(keys)


@pytest.mark.parametrize(
    ("text", "nearest"), [("9.1", "9.0"), ("8.10", "8.0"), ("sm_102a", "10.0"), ("6,1", "6.1")]
)
def test_unknown_capability(text, nearest):
    with pytest.raises(UnknownTarget) as caught:
        catalog.capability(text)
    assert repr(text) in caught.value.message
    assert nearest in (caught.value.hint or "")


def test_an_architecture_of_several_lists_them():
    with pytest.raises(UnknownTarget, match="'ampere' has several capabilities") as caught:
        catalog.capability("ampere")
    assert caught.value.hint == "one of: 8.0, 8.6, 8.7, 8.8"


def test_a_product_is_no_capability():
    with pytest.raises(UnknownTarget, match="'h100' is a product") as caught:
        catalog.capability("h100")
    assert caught.value.hint == "write 9.0"


def test_a_product_stands_for_its_capability_where_that_is_asked_for():
    found, product = catalog.capability_of("h100")
    assert found is catalog.capability("9.0")
    assert product is catalog.gpu("h100")
    assert catalog.capability_of("hopper") == (found, None)
    with pytest.raises(UnknownTarget, match="'ampere' has several capabilities"):
        catalog.capability_of("ampere")


@pytest.mark.parametrize("value", [9.0, 90, None])
def test_capabilities_are_text(value):
    """9.0 could be meant, but 8.10 would be 8.1."""
    for ask in (catalog.capability, catalog.gpu, catalog.targets):
        with pytest.raises(UsageError, match="is not a name"):
            ask(value)


# -- products -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "rtx-4090",
        "RTX 4090",
        "rtx_4090",
        "RTX4090",
        "GeForce RTX 4090",
        "NVIDIA GeForce RTX 4090",
        "nvidia-geforce-rtx-4090",
        "  rtx 4090 ",
    ],
)
def test_spellings_of_a_product(text):
    assert catalog.gpu(text).key == "rtx-4090"
    assert labels(text) == ["rtx-4090"]


def test_an_alias_may_look_like_a_capability():
    """980 reads as 98.0, which the database does not hold."""
    assert labels("980") == ["gtx-980"]


def test_alias_and_full_name():
    assert catalog.gpu("h100").key == "h100-sxm5"
    assert catalog.gpu("H100 SXM5 80GB").key == "h100-sxm5"
    assert "h100" in catalog.aliases_of("h100-sxm5")
    assert catalog.aliases_of("no such key") == ()


@pytest.mark.parametrize("text", ["gtx 4090", "rtx 4099", "h1000", "geforce", "nvidia", "rtx", ""])
def test_nothing_stands_in_for_an_unknown_product(text):
    with pytest.raises(UnknownTarget):
        catalog.gpu(text)


def test_unknown_product_names_the_nearest():
    with pytest.raises(UnknownTarget, match="unknown product 'gtx 4090'") as caught:
        catalog.gpu("gtx 4090")
    assert (caught.value.hint or "").startswith("nearest: rtx-4090")


@pytest.mark.parametrize("text", ["../gpu/h100-sxm5", "/etc/passwd", "h100-sxm5.yaml", "h100\0"])
def test_a_name_is_never_a_path(text):
    with pytest.raises(UnknownTarget):
        catalog.gpu(text)


def test_every_product_answers_to_its_key_and_name():
    products = catalog.all_gpus()
    assert len(products) == len(catalog.gpu_keys()) >= 60
    for product in products:
        assert catalog.gpu(product.key) is product
        assert catalog.gpu(product.name) is product, product.name
        assert catalog.gpu(product.name.removeprefix("NVIDIA ").upper()) is product


# -- lists --------------------------------------------------------------------------------------


def test_several_in_order_without_repetition():
    assert labels("v100,9.0, H100 ,sm_90a,v100") == [
        catalog.gpu("v100").key,
        "9.0",
        "h100-sxm5",
    ]


def test_a_product_comes_with_its_capability():
    (target,) = catalog.targets("a100")
    assert target.gpu is not None
    assert target.capability.compute_capability == target.gpu.compute_capability == (8, 0)
    (bare,) = catalog.targets("8.0")
    assert bare.gpu is None


def test_all_is_every_capability():
    assert labels("all") == labels("ALL") == list(catalog.capability_keys())


@pytest.mark.parametrize("name", FAMILIES)
def test_an_architecture_is_all_of_its_capabilities(name):
    assert labels(name) == FAMILIES[name]


def test_every_capability_is_of_one_architecture():
    named = [label for name in FAMILIES if name != "ada" for label in FAMILIES[name]]
    assert sorted(named) == sorted(catalog.capability_keys())


@pytest.mark.parametrize("text", ["", " ", ",", "h100,", "h100,,a100"])
def test_an_empty_name_is_an_error(text):
    with pytest.raises(UsageError, match="an empty name"):
        catalog.targets(text)


@pytest.mark.parametrize(
    ("text", "nearest"),
    [("amperre", "ampere"), ("h100-sxm4", "h100-sxm5"), ("rtx4080x", "rtx-4080"), ("9.9", "8.9")],
)
def test_unknown_target_names_the_nearest(text, nearest):
    with pytest.raises(UnknownTarget, match="unknown GPU") as caught:
        catalog.targets(f"h100,{text}")
    assert nearest in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("9", "9.0"),
        ("8", "8.0"),
        ("10", "10.0"),  # which also reads as 1.0
        ("12", "12.0"),
        ("h100-p", "h100-pcie"),
    ],
)
def test_names_that_hold_what_was_typed_come_first(text, first):
    with pytest.raises(UnknownTarget) as caught:
        catalog.targets(text)
    assert (caught.value.hint or "").startswith(f"nearest: {first}")


def test_a_product_of_the_user_s_own_by_a_part_of_its_name(tmp_path, monkeypatch):
    (tmp_path / "gpu").mkdir()
    text = (SAMPLE / GPU).read_text("utf-8").replace("id: guide", "id: nvidia-product-pages")
    (tmp_path / "gpu" / "toy-6090-x.yaml").write_text(text, "utf-8")
    monkeypatch.setenv("PERFKIT_ARCHDB", str(tmp_path))
    for ask in (catalog.targets, catalog.gpu):
        with pytest.raises(UnknownTarget) as caught:
            ask("6090-x")
        assert (caught.value.hint or "").startswith("nearest: toy-6090-x")


def test_nothing_near():
    with pytest.raises(UnknownTarget) as caught:
        catalog.targets("zzzzzzzz")
    assert "gpu list" in (caught.value.hint or "")


def test_names_for_completion_are_accepted():
    names = catalog.names()
    assert {"all", "9.0", "h100", "h100-sxm5"} <= set(names)
    for name in names:
        assert catalog.targets(name), name


# -- cost ---------------------------------------------------------------------------------------


def test_import_is_cheap():
    """What an answer about one product must not load."""
    program = (
        "import sys\n"
        "from perfkit.arch import catalog\n"
        "assert 'yaml' not in sys.modules\n"
        "catalog.targets('h100')\n"
        "print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT
    )
    loaded = set(done.stdout.split())
    assert "yaml" in loaded
    assert not loaded & {"numpy", "pandas", "rich", "typer", "difflib", "decimal"}


@pytest.mark.parametrize("text", ["9.0", "sm_90", "8.8"])
def test_a_capability_is_no_product(text):
    with pytest.raises(UnknownTarget, match="is a capability, not a product") as caught:
        catalog.gpu(text)
    assert caught.value.hint.startswith("perfkit arch show")


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("A100 80GB SXM", "a100-sxm4-80gb"),
        ("80GB A100 PCIe", "a100-pcie-80gb"),
        ("NVIDIA Super RTX 4080", "rtx-4080-super"),
        ("laptop rtx-4090", "rtx-4090-laptop"),
        ("HGX H100", "h100-sxm5"),
        ("DGX H200", "h200-sxm"),
    ],
)
def test_the_words_of_a_name_in_another_order(text, key):
    assert catalog.gpu(text).key == key


@pytest.mark.parametrize("text", ["100 h", "80GB", "A100 40GB 80GB", "RTX", "4080 4080 super"])
def test_other_words_are_another_name(text):
    with pytest.raises(UnknownTarget):
        catalog.gpu(text)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("NVIDIA\u00ae GeForce\u00ae RTX\u2122 4090", "rtx-4090"),
        ("NVIDIA(R) GeForce(R) RTX(TM) 4090", "rtx-4090"),
        ("NVIDIA A100\u2011SXM4\u201180GB", "a100-sxm4-80gb"),
        ("GPU 3: NVIDIA H100 80GB HBM3 (UUID: GPU-5d0ff2ae-4f33)", "h100-sxm5"),
        ("65:00.0 VGA compatible controller: NVIDIA Corporation AD102 [GeForce RTX 4090] (rev a1)",
         "rtx-4090"),
        ("H100 (SXM5)", "h100-sxm5"),
        ("L40S-48GB", "l40s"),
        ("Tesla T4 (16 GB)", "t4"),
        ("rtx 3090 24GiB", "rtx-3090"),
    ],
)  # fmt: skip
def test_names_as_they_are_pasted(text, key):
    assert catalog.gpu(text).key == key
    assert [target.label for target in catalog.targets(text)] == [key]


def test_every_product_with_its_memory_and_with_no_other():
    """What the data sheets print behind a name leads to it; another size is another product."""
    for gpu in catalog.all_gpus():
        size = gpu.memory.size_gib
        if size != int(size) or "GB" in gpu.name:
            continue
        assert catalog.gpu(f"{gpu.name} {size:.0f}GB") == gpu
        try:
            other = catalog.gpu(f"{gpu.name} {size + 1:.0f} GB")
        except UnknownTarget:
            continue
        assert other.memory.size_gib == size + 1
