"""``archdb/README.md`` says what every key means, and names no key that does not exist."""

from __future__ import annotations

import re
import textwrap
from typing import Final

import pytest

from perfkit.arch import catalog, load
from perfkit.arch.facts import kinds
from perfkit.arch.types import KINDS
from perfkit.cli.app import main
from tests.arch.broken import CAPABILITY, GPU, SAMPLE

ROOT: Final = load.shipped().parent
TEXT: Final = (load.shipped() / "README.md").read_text("utf-8")
KEY: Final = re.compile(r"^\s*(?:- )?([a-z][a-z0-9_]*):", re.MULTILINE)
#: keys of evidence are explained in prose; rate classes have a table of their own
OTHER: Final = {"id", "facts", "kind", "note", "where", "fact", "chosen", "others", "why", "full"}


def keys(name: str) -> set[str]:
    """The keys at the start of a line; what flow mappings hold is checked below."""
    text = (SAMPLE / name).read_text("utf-8")
    text = re.sub(r"^  (?:\S+\.\S+|tdp_w): .*$", "", text, flags=re.MULTILINE)  # reasons
    return set(KEY.findall(text)) - OTHER


def explained(section: str) -> set[str]:
    """The keys in the first column of the section's first table."""
    part = TEXT.split(f"\n## {section}\n")[1].split("\n## ")[0].split("\n### ")[0]
    rows = [line.split("|")[1] for line in part.splitlines() if line.startswith("| `")]
    assert rows
    return {key for row in rows for key in re.findall(r"`([a-z0-9_]+)`", row)}


@pytest.mark.parametrize(
    ("section", "name", "extra"),
    [
        ("compute_capability/*.yaml", CAPABILITY, {"max_blocks_per_sm"}),
        (
            "gpu/*.yaml",
            GPU,
            {"dtype", "accumulate", "sparsity", "unit", "tflops", "use", "note"},
        ),
    ],
)
def test_every_key_is_explained(section, name, extra):
    found = keys(name)
    assert len(found) > 15
    assert explained(section) == found | extra


@pytest.mark.parametrize(
    ("row", "records"),
    [("compute capabilities", catalog.all_capabilities()), ("products", catalog.all_gpus())],
)
def test_shares_of_the_kinds_of_evidence(row, records):
    """Within two points, so that one more product does not move them."""
    strongest = [kind for record in records for kind in kinds(record).values()]
    assert len(strongest) > 500
    expected = [100 * strongest.count(kind) / len(strongest) for kind in KINDS]
    (line,) = [line for line in TEXT.splitlines() if line.startswith(f"| {row} |")]
    assert f"| | {' | '.join(KINDS)} |" in TEXT
    assert [int(cell) for cell in line.strip("|").split("|")[1:]] == pytest.approx(expected, abs=2)


def test_the_steps_for_a_new_product_work(tmp_path, monkeypatch, capsys):
    """As written, but for the name of the card: somebody may have followed them."""
    contributing = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    (like,) = set(re.findall(r"perfkit gpu new rtx-6090 --like (\S+) -o\s", TEXT + contributing))
    assert re.search(r"^ *own/\n +gpu/rtx-6090\.yaml", TEXT, re.MULTILINE)
    path = tmp_path / "own" / "gpu" / "new-card.yaml"
    path.parent.mkdir(parents=True)
    assert main(["gpu", "new", "new-card", "--like", like, "-o", str(path)]) == 0
    assert main(["arch", "check", str(tmp_path / "own")]) == 1
    assert "TODO" in capsys.readouterr().out
    entry, unknown = re.findall(r"^   ```yaml\n(.*?)^   ```", TEXT, re.MULTILINE | re.DOTALL)[::-1]
    (tmp_path / "own" / "sources.yaml").write_text(textwrap.dedent(entry), "utf-8")
    filled = path.read_text("utf-8").replace("id: TODO", f"id: {entry.split(':')[0].strip()}")
    filled = re.sub(r"^latency:\n(  .*\n)+|^unknown: .*\n", "", filled, flags=re.MULTILINE)
    filled = filled.replace("sources:\n", textwrap.dedent(unknown) + "sources:\n", 1)
    path.write_text(filled, "utf-8")
    assert main(["arch", "check", str(tmp_path / "own")]) == 1
    assert "latency is unknown, and a source is listed for it" in capsys.readouterr().out
    path.write_text(
        re.sub(r"  - id:.*\n.*\n    facts: \[latency\]\n(    .*\n)*", "", filled), "utf-8"
    )
    assert main(["arch", "check", str(tmp_path / "own")]) == 0
    monkeypatch.setenv(load.ENVIRONMENT, str(tmp_path / "own"))
    assert main(["gpu", "show", "new-card"]) == 0
    assert "nobody has measured one" in capsys.readouterr().out


def test_evidence_is_explained():
    rules = TEXT.split("\n## Rules of evidence\n")[1].split("\n## ")[0]
    for word in (*KINDS, "facts", "where", "kind", "note", "fact", "chosen", "others", "why"):
        assert f"`{word}`" in rules, word
