"""The audit: the shipped database passes, and every rule has something that breaks it."""

from __future__ import annotations

from pathlib import Path

import pytest

from perfkit.arch import audit, catalog, load
from perfkit.cli.app import main
from perfkit.errors import ArchDataError
from perfkit.kernel import DType
from tests.arch.broken import CAPABILITY, GPU, SAMPLE, change, copy

UNUSED = "other:\n  title: A\n  publisher: B\n  version: null\n  date: null\n"
F4 = "dtype: f4, accumulate: f32, sparsity: dense, unit: tensor"

#: rule -> what to change in the small database (None: a file to write), and what is then said
BROKEN: dict[str, tuple[str, str | None, str, str]] = {
    "schema": (
        GPU,
        "sm_count: 100",
        "sm_count: 1e2",
        "sm_count: expected a whole number, got '1e2'",
    ),
    "file": (CAPABILITY, "max_warps_per_sm: 64", "max_warps_per_sm: 48", "times warp_size is not"),
    "stray-file": ("gpu/toy-200.yml", None, "", "is not read: name it toy-200.yaml"),
    "file-name": ("gpu/Toy 200.yaml", None, "", "use lower case and hyphens"),
    "source-id": (CAPABILITY, "id: ptx", "id: ptxx", "'ptxx' is not in sources.yaml"),
    "unused-source": ("sources.yaml", "ptx:", UNUSED + "ptx:", "no evidence names 'other'"),
    "capability": (
        GPU,
        'compute_capability: "9.0"',
        'compute_capability: "9.1"',
        "no file for compute capability 9.1",
    ),
    "evidence": (
        CAPABILITY,
        "id: ptx\n    where: Release Notes\n    facts: [",
        "id: ptx\n    where: Release Notes\n    facts: [throughput.dp4a, ",
        "throughput.dp4a is unknown, and a source is listed for it",
    ),
    "rate-class": (
        GPU,
        "rate_class: full",
        "rate_class: half",
        "9.0 has no rate class 'half', only full, none",
    ),
    "peak": (
        GPU,
        "tflops: 614",
        "tflops: 600",
        "f16/f32/dense/tensor: 600.0 TFLOPS are -2.3% off the derived 614.4",
    ),
    "alias": (
        "aliases.yaml",
        "toy: toy-100",
        "toy: toy-200",
        "'toy' leads to 'toy-200', which is no product",
    ),
}


def rules(findings: tuple[audit.Finding, ...]) -> set[str]:
    return {finding.rule for finding in findings}


def test_the_shipped_database_is_sound():
    directory = load.shipped()
    assert audit.audit(directory) == ()
    assert len(audit.audited_files(directory)) >= 2 + 20 + 60


def test_the_small_database_is_sound(tmp_path):
    directory = copy(tmp_path)
    assert audit.audit(directory) == ()
    assert [path.name for path in audit.audited_files(directory)] == [
        "aliases.yaml",
        "sources.yaml",
        "sm_90.yaml",
        "toy-100.yaml",
    ]


@pytest.mark.parametrize("rule", BROKEN)
def test_rule(tmp_path, rule):
    name, old, new, message = BROKEN[rule]
    directory = copy(tmp_path)
    if old is None:
        where = str(directory / name)
        # a copy of a good product: only its file name is wrong
        good = (directory / GPU).read_text("utf-8").replace("Toy 100", "Toy 200")
        Path(where).write_text(good, "utf-8")
    else:
        path, line = change(directory, name, old, new)
        where = f"{path}:{line}"
    found = [finding for finding in audit.audit(directory) if finding.rule == rule]
    assert [(finding.where, message in finding.message) for finding in found] == [(where, True)]


def test_name(tmp_path):
    """Two findings, one for each of the two."""
    directory = copy(tmp_path)
    other = directory / "gpu/toy-200.yaml"
    other.write_text((directory / GPU).read_text("utf-8").replace("Toy 100", "TOY-100"), "utf-8")
    found = [finding for finding in audit.audit(directory) if finding.rule == "name"]
    assert [finding.where for finding in found] == [f"{directory / GPU}:2", f"{other}:2"]


@pytest.mark.parametrize("directory", ["empty", "missing"])
def test_a_check_of_nothing_is_not_green(tmp_path, directory):
    (tmp_path / "empty" / "gpu").mkdir(parents=True)
    findings = audit.audit(tmp_path / directory)
    assert rules(findings) == {"empty"}
    assert audit.audited_files(tmp_path / directory) == ()


def test_all_findings_at_once(tmp_path):
    directory = copy(tmp_path)
    for rule in ("file", "unused-source", "rate-class", "peak", "alias"):
        name, old, new, _ = BROKEN[rule]
        assert old is not None
        change(directory, name, old, new)
    (directory / "gpu/toy.yml").write_text("")
    # "rate-class" takes away the rate that "peak" compares with
    expected = {"file", "unused-source", "rate-class", "alias", "stray-file"}
    assert rules(audit.audit(directory)) == expected


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("toy-200.yaml", "move it to gpu/toy-200.yaml"),
        ("gpus/toy-200.yaml", "move it to gpu/toy-200.yaml"),
        ("gpu/more/toy-200.yml", "move it to gpu/toy-200.yaml"),
        ("sm_91.yaml", "move it to compute_capability/sm_91.yaml"),
        ("aliases.yml", "move it to aliases.yaml"),
        ("archdb/sources.yaml", "move it to sources.yaml"),
        (".config.yaml", None),
        (".git/toy-200.yaml", None),
        ("notes.txt", None),
    ],
)
def test_a_file_at_a_place_where_nothing_looks(tmp_path, name, advice):
    path = copy(tmp_path) / name
    path.parent.mkdir(exist_ok=True, parents=True)
    path.write_text("")
    found = [(finding.where, finding.message) for finding in audit.audit(tmp_path / "archdb")]
    assert found == ([(str(path), f"is not read: {advice}")] if advice else [])


def test_an_overlay_of_nothing_but_a_misplaced_file(tmp_path):
    (tmp_path / "toy.yaml").write_text("")
    (finding,) = audit.audit(tmp_path)
    assert finding.rule == "stray-file"


def test_everything_wrong_with_a_file_of_which_nothing_can_be_built(tmp_path):
    """But not what only follows: that evidence names a fact that is missing."""
    directory = copy(tmp_path)
    change(directory, GPU, "schema: 1\n", "")
    change(directory, GPU, "segment: data-center", "segement: data-centre")
    change(directory, GPU, "tdp_w: null\n", "")
    change(directory, GPU, "sm_count: 100", "sm_count: 1e2")
    change(directory, GPU, "  l2_mib: 5.5\n", "")
    change(directory, GPU, "  type: HBM3", "  kind: HBM3\n  typ: HBM3")
    change(directory, GPU, "dtype: f16", "dtype: fp16")
    change(directory, GPU, "dtype: f32", "dtype: fp32")
    change(directory, GPU, "where: data sheet\n", "where: data sheet\n    kind: recalled\n")
    path = directory / GPU
    lines = path.read_text("utf-8").splitlines()
    types = f"is not one of {', '.join(DType)}"
    expected = {
        "unknown key 'segement'; missing keys schema, segment, tdp_w (nearest: segment)": "segem",
        "sm_count: expected a whole number, got '1e2'": "sm_count",
        "memory: unknown keys 'kind', 'typ'; missing keys type, l2_kib or l2_mib or l2_gib"
        " (nearest: type)": "  kind: HBM3",
        f"published[0].dtype: 'fp32' {types}": "  - {dtype: fp32",
        f"published[1].dtype: 'fp16' {types}": "  - {dtype: fp16",
        "sources[0].kind: 'recalled' is not one of official, measured, derived, estimated, assumed":
            "    kind: recalled",
    }  # fmt: skip
    places = {
        message: next(i for i, line in enumerate(lines, 1) if line.startswith(start))
        for message, start in expected.items()
    }
    found = {one.message: one.where for one in audit.audit(directory) if one.rule == "schema"}
    assert found == {message: f"{path}:{line}" for message, line in places.items()}


def test_a_broken_file_is_one_finding(tmp_path):
    """Its name is still taken, and what it would use is not called unused."""
    directory = copy(tmp_path)
    change(directory, GPU, "sm_count: 100", "sm_count: 1e2")
    change(directory, CAPABILITY, "id: ptx", "id: guide")
    assert rules(audit.audit(directory)) == {"schema"}


def test_several_breaches_of_one_file(tmp_path):
    directory = copy(tmp_path)
    change(directory, CAPABILITY, "max_warps_per_sm: 64", "max_warps_per_sm: 48")
    change(directory, CAPABILITY, "cluster]", "tensor_core.rates]")
    change(directory, CAPABILITY, "  throughput.dp4a: no table lists it\n", "  {}\n")
    messages = [finding.message for finding in audit.audit(directory)]
    assert "limits.max_warps_per_sm: times warp_size is not max_threads_per_sm" in messages
    assert "cluster.max_portable: no source" in messages
    assert "throughput.dp4a: null without a reason" in messages


def test_an_overlay_may_lean_on_the_shipped_database(tmp_path):
    """Its product may use a shipped capability and shipped sources."""
    mine = tmp_path / "mine"
    path = mine / GPU
    path.parent.mkdir(parents=True)
    text = (copy(tmp_path) / GPU).read_text("utf-8")
    path.write_text(text.replace("id: guide", "id: cuda-programming-guide-13.0"), "utf-8")
    assert audit.audit(mine) == ()
    path.write_text(text, "utf-8")
    assert rules(audit.audit(mine)) == {"source-id"}


def test_a_peak_that_says_why_is_no_finding(tmp_path):
    directory = copy(tmp_path)
    change(directory, GPU, "tflops: 614}", "tflops: 600, use: derived, note: printed rounded}")
    assert audit.audit(directory) == ()


def test_an_excuse_that_is_not_needed(tmp_path):
    """It would hide the next mistake."""
    directory = copy(tmp_path)
    change(directory, GPU, "tflops: 614}", "tflops: 614, use: derived, note: printed rounded}")
    (finding,) = audit.audit(directory)
    assert "agrees with the derived" in finding.message


def test_use_derived_needs_something_derived(tmp_path):
    directory = copy(tmp_path)
    row = f"  - {{{F4}, tflops: 9, use: derived, note: why}}"
    change(directory, GPU, "tflops: 614}", f"tflops: 614}}\n{row}")
    (finding,) = audit.audit(directory)
    assert "nothing can be derived" in finding.message


@pytest.mark.parametrize(
    ("alias", "message"),
    [
        ("new: toy-100", None),
        # the small database does not hold an H100, but the shipped does
        ("h100: toy-100", "also means 'h100-sxm5', by its alias"),
        ("H_100: toy-100", "also means 'h100-sxm5', by its alias"),
        ("hopper: toy-100", "also means an architecture"),
        ("ada: toy-100", "also means an architecture"),
        ("all: toy-100", "also means every capability"),
        ("device: toy-100", "also means the card at hand"),
        ("h100-sxm5: toy-100", "also means 'h100-sxm5'"),
        ("'90': toy-100", "is a compute capability already"),
    ],
)
def test_an_alias_means_one_thing(tmp_path, alias, message):
    directory = copy(tmp_path)
    change(directory, "aliases.yaml", "toy: toy-100", alias)
    messages = [finding.message for finding in audit.audit(directory)]
    assert (len(messages), bool(message)) in {(0, False), (1, True)}
    assert not message or message in messages[0]


def test_broken_aliases_and_sources_are_findings(tmp_path):
    directory = copy(tmp_path)
    (directory / "aliases.yaml").write_text("- a list\n")
    (directory / "sources.yaml").write_text("guide: 5\n")
    found = {Path(finding.where.rpartition(":")[0]).name for finding in audit.audit(directory)}
    assert {"aliases.yaml", "sources.yaml"} <= found


def overlay(folder: Path, key: str, name: str = "Own card") -> Path:
    """An overlay with one product that leans on the shipped database."""
    path = folder / "gpu" / f"{key}.yaml"
    path.parent.mkdir()
    text = (SAMPLE / GPU).read_text("utf-8")
    text = text.replace("id: guide", "id: nvidia-product-pages").replace("Toy 100", name)
    path.write_text(text, "utf-8")
    return path


@pytest.mark.parametrize(
    ("key", "rule", "message"),
    [
        ("all", "key", "'all' leads to 'all', but also means every capability"),
        ("device", "key", "also means the card at hand"),
        ("hopper", "key", "also means an architecture"),
        ("ada", "key", "also means an architecture"),
        ("own,card", "file-name", "use lower case and hyphens"),
        ("own card", "file-name", "use lower case and hyphens"),
        ("own_card", "file-name", "use lower case and hyphens"),
        ("-own", "file-name", "use lower case and hyphens"),
        ("sm_90", "key", "'sm_90' is a compute capability already"),
        ("9.0", "key", "'9.0' is a compute capability already"),
        ("90", "key", "'90' is a compute capability already"),
        ("h-100", "key", "'h-100' leads to 'h-100', but also means 'h100-sxm5', by its alias"),
        ("h100", "key", "also means 'h100-sxm5', by its alias"),
        ("l-40", "key", "also means 'l40'"),
        ("l40-", "key", "also means 'l40'"),
        ("h100-sxm5-80gb", "key", "also means 'h100-sxm5', by its"),
        ("rtx-a-6000", "key", "also means 'rtx-a6000'"),
    ],
)
def test_a_key_that_is_hidden_or_hides(tmp_path, key, rule, message):
    path = overlay(tmp_path, key)
    found = {one.rule: one for one in audit.audit(tmp_path)}
    assert found[rule].where == str(path)
    assert message in found[rule].message
    assert set(found) <= {"key", "file-name"}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("H100 NVL", "'H100 NVL' leads to 'own-card', but also means 'h100-nvl'"),
        ("NVIDIA A100 SXM4 80GB", "also means 'a100-sxm4-80gb'"),
        ("RTX 4090", "also means 'rtx-4090'"),
        ("H100", "also means 'h100-sxm5', by its alias"),
        ("Hopper", "also means an architecture"),
        ("sm_90", "is a compute capability already"),
    ],
)
def test_a_name_that_is_another_product_s(tmp_path, name, message):
    path = overlay(tmp_path, "own-card", name)
    (finding,) = audit.audit(tmp_path)
    assert (finding.where, finding.rule) == (f"{path}:2", "name")
    assert message in finding.message


def test_a_file_of_the_same_name_replaces_the_shipped_one(tmp_path):
    """Its aliases still lead to it, and its old name is free."""
    overlay(tmp_path, "h100-nvl", catalog.gpu("h100-nvl").name)
    assert audit.audit(tmp_path) == ()
    (tmp_path / "aliases.yaml").write_text("h100-nvl-94gb: h100-nvl\n")
    assert audit.audit(tmp_path) == ()


def test_two_keys_that_are_one_name(tmp_path):
    overlay(tmp_path, "own-card")
    second = tmp_path / "gpu" / "own-c-ard.yaml"
    second.write_bytes((tmp_path / "gpu" / "own-card.yaml").read_bytes().replace(b"Own", b"My"))
    assert [one.rule for one in audit.audit(tmp_path)].count("key") == 2


def test_a_chip_lists_products(tmp_path):
    (tmp_path / "chips.yaml").write_text("xy100: [h100-sxm5, own-card]\n")
    (finding,) = audit.audit(tmp_path)
    assert (finding.where, finding.rule) == (f"{tmp_path / 'chips.yaml'}:1", "chip")
    assert "'own-card', which is no product" in finding.message
    (tmp_path / "chips.yaml").write_text("xy100: h100-sxm5\n")
    assert rules(audit.audit(tmp_path)) == {"schema"}


# -- what a product refers to, when it is used --------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"9.0"', '"9.9"', "no file for compute capability 9.9"),
        ("rate_class: full", "rate_class: half", "9.0 has no rate class 'half'"),
        ("id: nvidia-product-pages", "id: nowhere", "'nowhere' is not in sources.yaml"),
    ],
)
def test_a_reference_that_leads_nowhere_is_named_when_it_is_used(
    tmp_path, monkeypatch, old, new, message
):
    path = overlay(tmp_path, "own-card")
    _, line = change(tmp_path, "gpu/own-card.yaml", old, new)
    monkeypatch.setenv(load.ENVIRONMENT, str(tmp_path))
    asked = (
        lambda: catalog.gpu("own-card"),
        lambda: catalog.targets("own card"),
        lambda: catalog.capability_of("own-card"),
        catalog.all_gpus,
    )
    for ask in asked:
        with pytest.raises(ArchDataError, match=message) as caught:
            ask()
        assert caught.value.where == f"{path}:{line}"
        assert caught.value.hint
    assert catalog.gpu("h100").key == "h100-sxm5"  # which needs nothing of it


def test_a_capability_of_the_user_s_may_take_the_rate_class_of_a_shipped_product(
    tmp_path, monkeypatch
):
    """The small 9.0 has none of the class of H20."""
    path = tmp_path / CAPABILITY
    path.parent.mkdir()
    path.write_bytes((SAMPLE / CAPABILITY).read_bytes())
    monkeypatch.setenv(load.ENVIRONMENT, str(tmp_path))
    with pytest.raises(ArchDataError, match=r"9\.0 has no rate class 'h20'") as caught:
        catalog.gpu("h20")
    assert (caught.value.where or "").startswith(str(load.shipped() / "gpu" / "h20.yaml:"))


def test_the_doctor_does_not_call_such_a_database_ok(tmp_path, monkeypatch, capsys):
    path = overlay(tmp_path, "own-card")
    change(tmp_path, "gpu/own-card.yaml", "rate_class: full", "rate_class: half")
    monkeypatch.setenv(load.ENVIRONMENT, str(tmp_path))
    assert main(["doctor"]) == 1
    assert "has no rate class 'half'" in " ".join(capsys.readouterr().out.split())
    assert path.exists()
