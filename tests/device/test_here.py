"""This machine as baselines name it; GPUs that are not there are made up."""

from __future__ import annotations

import subprocess

import pytest

from perfkit import __version__
from perfkit.device import here as module
from perfkit.device.here import commit_here, here
from perfkit.device.nvml import CardSetup
from perfkit.device.properties import read_devices
from perfkit.errors import NoDevice
from tests.device.fakes import FakeDriver


class Monitor:
    """NVML's view of a made-up card."""

    missing = None

    def __init__(self, uuid):
        self.uuid = uuid

    def setup(self):
        return CardSetup(driver_version="580.159.04", max_sm_clock_hz=1.98e9)


@pytest.fixture
def cards(monkeypatch):
    def there(count):
        driver = FakeDriver(devices=count)
        monkeypatch.setattr(module, "read_devices", lambda: read_devices(driver))
        monkeypatch.setattr(module, "Monitor", Monitor)

    return there


@pytest.mark.parametrize("count", [1, 2])
def test_what_is_the_same_of_all_cards_is_said_once(cards, count):
    cards(count)
    found = here()
    assert found.environment["gpu"] == "NVIDIA H200"
    assert found.environment["compute_capability"] == "9.0"
    assert found.environment["driver"] == "580.159.04"
    assert found.about["sm_clock_mhz"] == "1980"
    assert len(found.monitors) == count


def test_without_a_gpu_there_is_no_environment(monkeypatch):
    def nothing():
        raise NoDevice("no CUDA device")

    monkeypatch.setattr(module, "read_devices", nothing)
    found = here()
    assert found.environment == {}
    assert found.monitors == ()
    assert "no CUDA device" in found.notes[0]
    assert found.about["perfkit"] == __version__
    assert {"date", "host", "archdb"} <= set(found.about)


@pytest.fixture
def _no_ci(monkeypatch):
    for name in (*module._COMMIT, *module._BRANCH):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.usefixtures("_no_ci")
@pytest.mark.parametrize(
    ("variables", "told"),
    [
        ({"GITHUB_SHA": "a", "GITHUB_REF_NAME": "main"}, {"commit": "a", "branch": "main"}),
        ({"GITHUB_SHA": "a", "GITHUB_HEAD_REF": "topic", "GITHUB_REF_NAME": "1/merge"},
         {"commit": "a", "branch": "topic"}),
        ({"CI_COMMIT_SHA": "b", "CI_COMMIT_REF_NAME": "x"}, {"commit": "b", "branch": "x"}),
        ({"GIT_COMMIT": "c"}, {"commit": "c"}),
    ],
)  # fmt: skip
def test_ci_tells_the_commit(monkeypatch, variables, told):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert commit_here() == told


@pytest.mark.usefixtures("_no_ci")
def test_git_tells_it_elsewhere(tmp_path):
    assert commit_here(tmp_path) == {}
    git = ["git", "-c", "user.name=x", "-c", "user.email=x@example.com"]
    subprocess.run([*git, "init", "-q", "-b", "topic"], check=True, cwd=tmp_path)
    assert commit_here(tmp_path) == {"branch": "topic"}  # and no commit yet
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "x"], check=True, cwd=tmp_path)
    found = commit_here(tmp_path)
    assert found["branch"] == "topic"
    assert len(found["commit"]) == 40


@pytest.mark.usefixtures("_no_ci")
def test_without_git_nothing_is_known(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert commit_here(tmp_path) == {}
