"""Ready files for CI: valid YAML, commands that exist with options that exist, and that run."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
import tomllib
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import typer
import yaml

from perfkit.access import require_nvrtc
from perfkit.cli.app import app, main
from perfkit.errors import Unavailable
from perfkit.gate.policy_file import load
from perfkit.gate.static_file import load_static

ROOT = Path(__file__).resolve().parents[1]
CI = ROOT / "examples" / "ci"
HOOKS = ROOT / ".pre-commit-hooks.yaml"


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text("utf-8"))


def scripts(found: Any) -> list[str]:
    """Everything that a job runs, wherever it stands."""
    if isinstance(found, dict):
        own = [found[key] for key in ("run", "script", "before_script") if key in found]
        lines = [line for one in own for line in (one if isinstance(one, list) else [one])]
        return lines + [line for value in found.values() for line in scripts(value)]
    if isinstance(found, list):
        return [line for one in found for line in scripts(one)]
    return []


def commands(path: Path) -> list[list[str]]:
    """The calls of perfkit in a file, as words."""
    lines = [line for script in scripts(read(path)) for line in script.splitlines()]
    return [shlex.split(line)[1:] for line in lines if line.startswith("perfkit ")]


def hook_command() -> list[str]:
    """What pre-commit runs for the example: the hook's entry, then the arguments."""
    (hook,) = read(HOOKS)
    (repo,) = read(CI / "pre-commit-config.yaml")["repos"]
    (used,) = repo["hooks"]
    assert used["id"] == hook["id"]
    return [*shlex.split(hook["entry"])[1:], *used["args"]]


CALLS = [
    *((path.name, call) for path in sorted(CI.glob("*.yml")) for call in commands(path)),
    ("pre-commit-config.yaml", hook_command()),
]


def parsed(call: list[str]) -> dict[str, Any]:
    """The values of the options; raises where the command line would refuse one."""
    command: Any = typer.main.get_command(app)
    context = command.make_context("perfkit", list(call))
    while hasattr(command, "resolve_command"):
        words = [*context._protected_args, *context.args]
        name, command, words = command.resolve_command(context, words)
        context = command.make_context(name, words, parent=context)
    return context.params


def test_there_are_calls_of_every_kind():
    assert {name for name, _ in CALLS} == {
        "github-actions.yml",
        "gitlab-ci.yml",
        "pre-commit-config.yaml",
    }
    assert {tuple(call[:2]) for _, call in CALLS} >= {("gate", "check"), ("gate", "run")}


@pytest.mark.parametrize(("name", "call"), CALLS)
def test_every_command_and_option_exists(name, call):
    assert parsed(call)


@pytest.mark.parametrize(
    "call", [["gate", "chekc"], ["gate", "check", "--nosuch"], ["gate", "check", "-f", "nosuch"]]
)
def test_a_call_that_lies_is_found(call):
    with pytest.raises(typer.exceptions.TyperException):
        parsed(call)


def test_the_hook_installs_what_the_extra_does():
    (hook,) = read(HOOKS)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert hook["additional_dependencies"] == project["optional-dependencies"]["cu12"]
    assert project["scripts"].keys() >= {hook["entry"].split()[0]}
    assert re.search(hook["files"], "kernels/saxpy.cu")


def test_the_policies_that_are_shown_are_read(tmp_path):
    page = (ROOT / "docs" / "gates.md").read_text("utf-8")
    blocks = re.findall(r"^```yaml\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    shown = [block for block in blocks if "static:" in block]
    assert shown
    for text in [*shown, (CI / "perfkit.yaml").read_text("utf-8")]:
        path = tmp_path / "perfkit.yaml"
        path.write_text(text)
        assert len(load_static(path).rules) == 2
        assert load(path).threshold == 0.03


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A repository with kernels, their base branch, and the policy of the example."""
    try:
        require_nvrtc()
    except Unavailable as error:
        pytest.skip(error.message)
    for place in ("kernels", "base/kernels"):
        (tmp_path / place).mkdir(parents=True)
        for name in ("saxpy.cu", "tiled_matmul.cu"):
            shutil.copy(ROOT / "examples" / "kernels" / name, tmp_path / place / name)
    shutil.copy(CI / "perfkit.yaml", tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PERFKIT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    for name in ("PERFKIT_GPU", "PERFKIT_FORMAT"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


STATIC = [(name, call) for name, call in CALLS if call[:2] == ["gate", "check"]]


@pytest.mark.parametrize(("name", "call"), STATIC)
def test_the_static_gates_run(name, call, checkout, capsys):
    assert main(call) == 0, capsys.readouterr()
    if "--baseline" in call:  # a kernel that vanished is named
        source = checkout / "kernels" / "saxpy.cu"
        source.write_text(source.read_text().replace("saxpy", "renamed"))
        assert main(call) == 3
        assert "saxpy" in (checkout / "summary.md").read_text()


def test_the_job_of_the_tutorial_passes_with_its_rules(checkout, capsys):
    """It has no baseline: a rule about an increase would leave it red for ever."""
    page = (ROOT / "docs" / "tutorial.md").read_text("utf-8")
    policy, job = re.findall(r"^```yaml\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    (checkout / "perfkit.yaml").write_text(policy)
    (checkout / "job.yml").write_text(job)
    (call,) = commands(checkout / "job.yml")
    at = call.index("kernels/*.cu")
    call[at : at + 1] = [str(path) for path in sorted(Path("kernels").glob("*.cu"))]
    assert main(call) == 0, capsys.readouterr()


def test_the_summary_of_github_is_written(checkout, capsys):
    (call,) = [call for name, call in STATIC if name == "github-actions.yml"]
    assert main(call) == 0, capsys.readouterr()
    assert (checkout / "summary.md").read_text().startswith("### perfkit gate\n\n**PASS: ")
    assert (checkout / "perfkit.sarif").exists()


#: writes one time to the file behind --json: its folder's, a little different each time
BENCH = """#!{python}
import os, sys
value = float(open(os.path.join(os.path.dirname(__file__), "us")).read())
value *= 1 + (os.getpid() % 7 - 3) / 10000
with open(sys.argv[sys.argv.index("--json") + 1], "w") as file:
    file.write("benchmark,value,unit\\n" + (f"axpy,{{value}},us\\n" if value > 0 else "") )
"""
TIMED = [(name, call) for name, call in CALLS if call[:2] == ["gate", "run"]]


@pytest.fixture
def benches(tmp_path, monkeypatch):
    """Programs where the examples have them; sets the time of one of them."""

    def takes(place, us):
        folder = tmp_path / place / "build"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "us").write_text(str(us))
        (folder / "bench").write_text(BENCH.format(python=sys.executable))
        (folder / "bench").chmod(0o755)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    takes("base", 50)
    takes(".", 50)
    words = ["--cmd", "base/build/bench --json {out}", "--runs", "8"]
    assert main(["gate", "record", *words, "-o", "perfkit-baseline.json", "-q"]) == 0
    return takes


def test_both_timing_gates_are_run():
    assert {name for name, _ in TIMED} == {"github-actions.yml", "gitlab-ci.yml"}


@pytest.mark.skipif(os.name != "posix", reason="scripts as programs")
@pytest.mark.parametrize(("us", "code"), [(50, 0), (55, 1), (-1, 3)])
@pytest.mark.parametrize(("name", "call"), TIMED)
def test_the_timing_gates_run(name, call, us, code, benches, tmp_path, capsys):
    """No result at all is never green, though the example lets noise through."""
    benches(".", us)
    assert main(call) == code, capsys.readouterr()
    if "--github" in call:
        said = {0: "**PASS: 1 pass**", 1: "**FAIL: 1 fail**", 3: "**CANNOT TELL: "}[code]
        assert said in (tmp_path / "summary.md").read_text()
    if "--output" in call:
        suite = ET.parse(tmp_path / call[call.index("--output") + 1]).getroot()
        assert (suite.get("failures"), suite.get("errors")) == (
            str(int(code == 1)), str(int(code == 3)),
        )  # fmt: skip
