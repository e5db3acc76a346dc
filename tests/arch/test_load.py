"""Finding the database, the user's overlay before it, and reading no more than was asked for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from perfkit.arch import catalog, load, schema
from perfkit.errors import ArchDataError
from tests.arch.broken import CAPABILITY, GPU, SAMPLE, change, copy

REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.fixture
def reads(monkeypatch) -> list[str]:
    """The files that are opened from now on, as paths below a database."""
    opened: list[str] = []
    text = schema.Source._text

    def spy(source: schema.Source) -> str:
        opened.append("/".join(source.path.parts[-2:]))
        return text(source)

    for cache in (load._capability, load._gpu, load._aliases, load._sources):
        cache.cache_clear()
    monkeypatch.setattr(schema.Source, "_text", spy)
    return opened


def test_checkout_has_its_database_beside_the_package():
    assert load.shipped() == REPOSITORY / "archdb"
    assert len(load.files(load.CAPABILITIES)) == 20
    assert len(load.files(load.GPUS)) >= 60


def test_installed_database_is_inside_the_package(tmp_path, monkeypatch):
    module = tmp_path / "perfkit" / "arch" / "load.py"
    inside = tmp_path / "perfkit" / "archdb" / "compute_capability"
    inside.mkdir(parents=True)
    (tmp_path / "archdb" / "compute_capability").mkdir(parents=True)  # must not win
    monkeypatch.setattr(load, "__file__", str(module))
    assert load.shipped() == inside.parent


def test_installation_without_a_database(tmp_path, monkeypatch):
    monkeypatch.setattr(load, "__file__", str(tmp_path / "perfkit" / "arch" / "load.py"))
    with pytest.raises(ArchDataError, match="no database") as caught:
        load.shipped()
    assert caught.value.hint == "reinstall perfkit"


def test_one_product_reads_three_files(reads):
    catalog.targets("h100")
    assert sorted(reads) == [
        "archdb/aliases.yaml",
        "compute_capability/sm_90.yaml",
        "gpu/h100-sxm5.yaml",
    ]


def test_a_key_reads_no_aliases(reads):
    catalog.gpu("h100-sxm5")
    assert reads == ["gpu/h100-sxm5.yaml"]


def test_a_capability_reads_one_file(reads):
    catalog.targets("sm_80")
    assert reads == ["compute_capability/sm_80.yaml"]


def test_keys_read_nothing(reads):
    assert "9.0" in catalog.capability_keys()
    assert "h100-sxm5" in catalog.gpu_keys()
    assert reads == []


def test_an_unchanged_file_is_read_once(tmp_path, monkeypatch, reads):
    directory = copy(tmp_path)
    monkeypatch.setenv(load.ENVIRONMENT, str(directory))
    assert catalog.gpu("toy-100").sm_count == 100
    assert catalog.gpu("toy-100").sm_count == 100
    # what the product refers to is held to the rules, too
    assert sorted(reads) == [
        "archdb/sources.yaml",
        "archdb/sources.yaml",
        CAPABILITY,
        GPU,
    ]
    change(directory, GPU, "sm_count: 100", "sm_count: 1000")  # another size, so another stamp
    assert catalog.gpu("toy-100").sm_count == 1000


# -- overlay ------------------------------------------------------------------------------------


@pytest.fixture
def overlay(tmp_path, monkeypatch) -> Path:
    directory = copy(tmp_path)
    monkeypatch.setenv(load.ENVIRONMENT, str(directory))
    return directory


@pytest.mark.usefixtures("overlay")
def test_overlay_adds():
    assert catalog.gpu("Toy").key == "toy-100"
    assert catalog.gpu("toy-100").sm_count == 100
    assert catalog.gpu("h100").sm_count == 132  # the shipped ones stay
    assert "toy-100" in catalog.gpu_keys()
    assert "toy" in catalog.names()
    assert "guide" in load.sources()


def test_overlay_replaces(overlay):
    change(overlay, CAPABILITY, "max_resident_grids: 128", "max_resident_grids: 127")
    assert catalog.capability("9.0").limits.max_resident_grids == 127
    assert catalog.capability("8.0").limits.max_resident_grids == 128
    assert catalog.capability_keys().count("9.0") == 1


def test_overlay_alias_wins(overlay):
    (overlay / "aliases.yaml").write_text("h100: toy-100\n")
    assert catalog.gpu("h100").key == "toy-100"


def test_overlay_may_be_a_part(tmp_path, monkeypatch):
    (tmp_path / "gpu").mkdir()
    known = b"id: nvidia-product-pages"
    (tmp_path / GPU).write_bytes((SAMPLE / GPU).read_bytes().replace(b"id: guide", known))
    monkeypatch.setenv(load.ENVIRONMENT, str(tmp_path))
    (target,) = catalog.targets("toy-100")
    assert target.capability.compute_capability == (9, 0)


def test_overlay_error_names_its_line(overlay):
    path, line = change(overlay, GPU, "sm_count: 100", "sm_count: 1e2")
    with pytest.raises(ArchDataError) as caught:
        catalog.targets("toy")
    assert caught.value.where == f"{path}:{line}"
    assert str(caught.value) == f"{path}:{line}: sm_count: expected a whole number, got '1e2'"


def test_overlay_alias_without_product(overlay):
    (overlay / "aliases.yaml").write_text("dream: rtx-9090\n")
    with pytest.raises(catalog.UnknownTarget, match="'dream' stands for 'rtx-9090'") as caught:
        catalog.targets("dream")
    assert "aliases.yaml" in (caught.value.hint or "")


def test_missing_overlay_is_an_error(tmp_path, monkeypatch):
    missing = tmp_path / "nowhere"
    monkeypatch.setenv(load.ENVIRONMENT, str(missing))
    with pytest.raises(ArchDataError, match="which is no directory") as caught:
        catalog.targets("h100")
    assert caught.value.where == str(missing)
    assert "unset PERFKIT_ARCHDB" in (caught.value.hint or "")


def test_overlay_that_is_a_file_is_an_error(tmp_path, monkeypatch):
    file = tmp_path / "archdb"
    file.write_text("")
    monkeypatch.setenv(load.ENVIRONMENT, str(file))
    with pytest.raises(ArchDataError, match="which is no directory"):
        catalog.gpu_keys()


@pytest.mark.parametrize("ask", [catalog.gpu_keys, catalog.capability_keys, load.aliases])
def test_a_file_beside_the_folders_is_an_error(overlay, ask):
    """Passing it over in silence would end in "unknown product"."""
    stray = overlay / "rtx-6090.yaml"
    stray.write_text("")
    with pytest.raises(ArchDataError, match="nothing reads a file at this place") as caught:
        ask()
    assert caught.value.where == str(stray)
    assert caught.value.hint == "move it to gpu/rtx-6090.yaml"


def test_the_other_ending_of_yaml_is_an_error(overlay):
    path = (overlay / GPU).rename(overlay / "gpu" / "toy-200.yml")
    with pytest.raises(ArchDataError) as caught:
        catalog.gpu("toy-200")
    assert (caught.value.where, caught.value.hint) == (str(path), "name it toy-200.yaml")


def test_looking_for_such_files_costs_one_listing(overlay, monkeypatch):
    listed: list[str] = []
    scandir = os.scandir

    def spy(path):
        listed.append(str(path))
        return scandir(path)

    load._glance.cache_clear()
    monkeypatch.setattr(os, "scandir", spy)
    catalog.targets("toy")
    catalog.targets("h100")
    assert listed.count(str(overlay)) == 1


def test_empty_variable_is_no_overlay(monkeypatch):
    monkeypatch.setenv(load.ENVIRONMENT, "")
    assert load.overlay() is None
