"""The shape of the package: who may import whom, and how large a room may be.

Every rule is a function from a file's path and source to complaints, so that it can be fed a
planted violation: a guard that cannot fail guards nothing.
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "perfkit"

#: Each unit may import only units of a lower rank; units of one rank are blind to each other.
RANKS: tuple[tuple[str, ...], ...] = (
    ("errors", "record"),
    ("units",),
    ("files",),
    ("durable",),
    ("kernel", "access"),
    ("arch",),
    ("models",),
    ("readers", "compiled"),
    ("analysis", "gate"),
    ("device", "report"),
    ("explore",),
    ("cli", "api"),
    ("testing",),
    ("__main__", "__init__", "pytest_plugin"),
)
RANK = {unit: rank for rank, units in enumerate(RANKS) for unit in units}

#: the arithmetic of the timing gate, apart from its words and rules
GATE = tuple(
    f"gate/{name}.py"
    for name in (
        *("change", "changepoint", "estimate", "known_noise", "lopsided", "noise_floor"),
        *("ranks", "scatter"),
        "series",
    )
)

#: third-party module -> files and folders that may import it
ALLOWED: dict[str, tuple[str, ...]] = {
    "yaml": ("arch/",),
    "typer": ("cli/",),
    "click": ("cli/",),
    "rich": ("report/terminal.py",),
    "pynvml": ("device/",),
    "cuda": ("access.py", "compiled/nvrtc.py", "device/"),
    "numpy": ("analysis/", "device/", *GATE),
    "pandas": ("analysis/", "device/"),
    "scipy": ("analysis/", "device/", *GATE),
    "pyarrow": ("analysis/", "report/", "gate/history_file.py"),
    "fsspec": ("gate/history_file.py",),
    # a library of widgets, which are classes: it loads with their modules, and those when used
    "textual": ("explore/ui/",),
    "matplotlib": ("report/chart/figure.py", "report/chart/panels.py"),
    "pytest": ("pytest_plugin.py", "testing/"),
}

#: Imported where they are used, never when a module loads: start-up time is a feature.
DEFERRED = {
    *("cuda", "pynvml", "numpy", "pandas", "scipy", "pyarrow", "fsspec", "matplotlib", "rich"),
}

#: what signatures anywhere may speak of, as long as nothing is loaded for it
ARRAYS = {"numpy", "pandas"}

MAX_FILE_LINES = 300
MAX_FUNCTION_LINES = 40  #: signature and docstring not counted


def sources() -> dict[str, str]:
    """Path inside the package -> source text."""
    files = sorted(PACKAGE.rglob("*.py"))
    return {str(file.relative_to(PACKAGE).as_posix()): file.read_text("utf-8") for file in files}


def unit_of(path: str) -> str:
    return path.partition("/")[0].removesuffix(".py")


class Import(NamedTuple):
    module: str
    line: int
    when: str  #: load: with the module; use: in a function; types: never, only checked


def imports(tree: ast.AST, when: str = "load") -> list[Import]:
    """Every import of a module, wherever it stands."""
    found = []
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            found += [Import(alias.name, node.lineno, when) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            found += [Import(name, node.lineno, when) for name in names]
        inner = when
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            inner = "use"
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            inner = "types"
        found += imports(node, inner)
    return found


def rank_complaints(path: str, source: str) -> list[str]:
    unit = unit_of(path)
    if unit not in RANK:
        return [f"{path}: {unit!r} has no rank; give it one in {Path(__file__).name}"]
    complaints = []
    for module, line, _ in imports(ast.parse(source)):
        package, _, inner = module.partition(".")
        target = inner.partition(".")[0]
        # the package itself holds the version; anything else it offers comes from a unit
        if package != "perfkit" or target in {unit, "__version__"}:
            continue
        if RANK.get(target, len(RANKS)) >= RANK[unit]:
            complaints.append(f"{path}:{line}: {unit} may not import {module}")
    return complaints


def third_party_complaints(path: str, source: str) -> list[str]:
    complaints = []
    for module, line, when in imports(ast.parse(source)):
        name = module.partition(".")[0]
        if name == "perfkit" or name in sys.stdlib_module_names:
            continue
        if when == "types" and name in ARRAYS:
            continue
        if not path.startswith(ALLOWED.get(name, ())):
            complaints.append(f"{path}:{line}: {name} may not be imported here")
        elif when == "load" and name in DEFERRED:
            complaints.append(f"{path}:{line}: import {name} inside the function that uses it")
    return complaints


#: what reads or writes files, or takes them apart
INPUT_AND_OUTPUT = {
    *("csv", "gzip", "io", "json", "os", "pathlib", "subprocess", "sys", "tempfile", "zipfile"),
    *("perfkit.files", "perfkit.files.read", "perfkit.durable"),
}


def purity_complaints(path: str, source: str) -> list[str]:
    """A file is read and checked in ``readers`` and ``compiled``; rules get what it says."""
    if not path.startswith(("models/", "analysis/")):
        return []
    return [
        f"{path}:{line}: no input or output here: {module}"
        for module, line, when in imports(ast.parse(source))
        if when != "types"
        and (module.partition(".")[0] in INPUT_AND_OUTPUT or module in INPUT_AND_OUTPUT)
    ]


def size_complaints(path: str, source: str) -> list[str]:
    complaints = []
    if (lines := source.count("\n")) > MAX_FILE_LINES:
        complaints.append(f"{path}: {lines} lines, {MAX_FILE_LINES} are the limit")
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        body = node.body[1:] if ast.get_docstring(node, clean=False) else node.body
        length = body[-1].end_lineno - body[0].lineno + 1 if body else 0
        if length > MAX_FUNCTION_LINES:
            complaints.append(f"{path}:{node.lineno}: {node.name} has {length} lines")
    return complaints


#: the last resort, which says that perfkit has a bug
CATCHES_ALL = {"cli/app.py": 1}


def handler_complaints(path: str, source: str) -> list[str]:
    """``except Exception`` turns a bug into an answer."""
    found = [
        f"{path}:{node.lineno}: name the exceptions"
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.ExceptHandler)
        and (node.type is None or {"Exception", "BaseException"} & set(_names(node.type)))
    ]
    return found[CATCHES_ALL.get(path, 0) :]


def _names(node: ast.expr) -> list[str]:
    return [inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)]


RULES = (
    rank_complaints,
    third_party_complaints,
    purity_complaints,
    size_complaints,
    handler_complaints,
)


def test_the_walk_finds_the_package():
    found = sources()
    assert len(found) >= 20
    assert {"errors.py", "arch/types.py", "models/occupancy.py", "cli/app.py"} <= set(found)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_package_keeps_the_rules(rule):
    complaints = [complaint for path, text in sources().items() for complaint in rule(path, text)]
    assert not complaints, "\n".join(complaints)


LONG = "def f():\n" + "    pass\n" * (MAX_FUNCTION_LINES + 1)


@pytest.mark.parametrize(
    ("rule", "path", "source", "complaint"),
    [
        (rank_complaints, "models/a.py", "from perfkit.cli import app", "perfkit.cli.app"),
        (rank_complaints, "models/a.py", "import perfkit.report.csv", "perfkit.report.csv"),
        (rank_complaints, "models/a.py", "from perfkit import report", "perfkit.report"),
        (rank_complaints, "models/a.py", "from perfkit import gpu", "perfkit.gpu"),
        (rank_complaints, "models/a.py", "def f():\n    import perfkit.cli", "models/a.py:2"),
        (rank_complaints, "compiled/a.py", "import perfkit.readers.ncu", "readers"),
        (rank_complaints, "kernel.py", "from perfkit.access import probe", "access"),
        (rank_complaints, "gate/a.py", "from perfkit.analysis import fits", "analysis"),
        (rank_complaints, "newcomer/a.py", "", "no rank"),
        (third_party_complaints, "models/a.py", "def f():\n    import numpy", "may not"),
        (third_party_complaints, "analysis/a.py", "import numpy as np", "inside the function"),
        (third_party_complaints, "cli/a.py", "from rich.table import Table", "may not"),
        (third_party_complaints, "device/a.py", "from cuda.core import Device", "inside"),
        (third_party_complaints, "cli/a.py", "import leftpad", "may not"),
        (third_party_complaints, "explore/view.py", "from textual.app import App", "may not"),
        (rank_complaints, "explore/a.py", "from perfkit.cli import app", "perfkit.cli.app"),
        (rank_complaints, "report/a.py", "from perfkit.explore import view", "explore.view"),
        (
            third_party_complaints,
            "report/charts/a.py",
            "def f():\n    import matplotlib",
            "may not",
        ),
        (third_party_complaints, "report/chart/figure.py", "import matplotlib", "inside"),
        (third_party_complaints, "cli/a.py", "if TYPE_CHECKING:\n    import cuda", "may not"),
        (purity_complaints, "analysis/a.py", "def f():\n    import json", ":2"),
        (purity_complaints, "models/a.py", "from pathlib import Path", "pathlib"),
        (purity_complaints, "analysis/a.py", "from perfkit import files", "perfkit.files"),
        (size_complaints, "models/a.py", "\n" * (MAX_FILE_LINES + 1), "limit"),
        (size_complaints, "models/a.py", LONG, "f has 41 lines"),
        (handler_complaints, "models/a.py", "try:\n  pass\nexcept Exception:\n  pass", ":3"),
        (handler_complaints, "models/a.py", "try:\n  pass\nexcept:\n  pass", ":3"),
        (
            handler_complaints,
            "models/a.py",
            "try: pass\nexcept (ValueError, Exception): pass",
            ":2",
        ),
    ],
)
def test_a_planted_violation_is_found(rule, path, source, complaint):
    (found,) = rule(path, source)
    assert complaint in found


@pytest.mark.parametrize(
    ("rule", "path", "source"),
    [
        (rank_complaints, "cli/a.py", "from perfkit import __version__\nimport perfkit.models.a"),
        (rank_complaints, "models/a.py", "from perfkit.models.b import c\nimport perfkit.errors"),
        (third_party_complaints, "analysis/a.py", "def f():\n    import numpy"),
        (
            third_party_complaints,
            "analysis/a.py",
            "if TYPE_CHECKING:\n    import numpy as np\nimport json",
        ),
        (third_party_complaints, "explore/ui/a.py", "from textual.app import App"),
        (rank_complaints, "cli/a.py", "def f():\n    import perfkit.explore.ui.app"),
        (third_party_complaints, "report/a.py", "if TYPE_CHECKING:\n    import pandas as pd"),
        (purity_complaints, "readers/a.py", "import json\nfrom perfkit import files"),
        (purity_complaints, "analysis/a.py", "if TYPE_CHECKING:\n    from pathlib import Path"),
        (size_complaints, "models/a.py", 'def f():\n    """' + "\n" * 99 + '"""\n    pass'),
        (handler_complaints, "models/a.py", "try: pass\nexcept (ValueError, KeyError): pass"),
    ],
)
def test_what_is_allowed_passes(rule, path, source):
    assert rule(path, source) == []


def test_contributors_are_told_the_same_ranks():
    text = (PACKAGE.parent / "CONTRIBUTING.md").read_text("utf-8")
    block = text[text.index("    errors") :].partition("\n\n")[0]
    told = tuple(tuple(rank.split(" | ")) for rank in " ".join(block.split()).split(" < "))
    # what the interpreter and pytest load first stands above all
    assert told == RANKS[:-1]
