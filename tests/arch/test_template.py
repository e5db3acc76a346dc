"""The start of a file for a new product."""

from __future__ import annotations

import pytest

from perfkit.arch import audit, catalog, schema, template
from perfkit.errors import UsageError


@pytest.mark.parametrize("like", catalog.gpu_keys())
def test_a_copy_of_any_product_is_read_and_flagged_row_by_row(tmp_path, like):
    path = tmp_path / "new-card.yaml"
    path.write_text(template.product("new-card", like), "utf-8")
    copy, original = schema.read_gpu(path), catalog.gpu(like)
    assert (copy.key, copy.name, copy.conflicts) == ("new-card", "NEW CARD", ())
    assert (copy.memory, copy.published) == (original.memory, original.published)
    assert {row.id for row in copy.sources} == {template.TODO}
    assert [row.where for row in copy.sources] == [row.where for row in original.sources]
    assert all(f"# of {like}: {row.id}" in path.read_text("utf-8") for row in original.sources)


def test_the_check_names_every_row_that_was_copied(tmp_path):
    path = tmp_path / "gpu" / "new-card.yaml"
    path.parent.mkdir()
    path.write_text(template.product("new-card", "rtx-a5000"), "utf-8")
    lines = path.read_text("utf-8").splitlines()
    todo = [i for i, line in enumerate(lines, 1) if "id: TODO" in line]
    assert len(todo) == len(catalog.gpu("rtx-a5000").sources)
    found = audit.audit(tmp_path)
    assert [one.where for one in found] == [f"{path}:{line}" for line in todo]
    assert {one.rule for one in found} == {"source-id"}


@pytest.mark.parametrize("key", ["RTX-6090", "rtx 6090", "../rtx", "-x", "x-", "", "rtx.yaml"])
def test_what_is_no_key(key):
    with pytest.raises(UsageError, match="is no key"):
        template.product(key, "rtx-a5000")


def test_a_product_that_is_there_already():
    with pytest.raises(UsageError, match="'rtx-a6000' is in the database"):
        template.product("rtx-a6000", "rtx-a5000")
