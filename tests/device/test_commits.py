"""Commits as CI and git tell them, and their order in a repository."""

from __future__ import annotations

import os
import subprocess

import pytest

from perfkit.device import commits as module
from perfkit.device.commits import commit_here, places


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


@pytest.fixture
def repository(tmp_path):
    """Commits 0 … 4 in a row, all of one second, and a branch off 1 that is merged as 5."""
    path = tmp_path / "repository"
    path.mkdir()

    def git(*words):
        stamp = "2026-11-01T00:00:00Z"
        own = {"GIT_AUTHOR_DATE": stamp, "GIT_COMMITTER_DATE": stamp, "PATH": os.environ["PATH"]}
        named = ["git", "-c", "user.name=x", "-c", "user.email=x@example.com", *words]
        done = subprocess.run(named, cwd=path, env=own, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    def commit(message):
        git("commit", "-q", "--allow-empty", "-m", message)
        return git("rev-parse", "HEAD")

    git("init", "-q", "-b", "main")
    names = [commit(str(number)) for number in range(5)]
    git("checkout", "-q", "-b", "topic", names[1])
    side = commit("side")
    git("checkout", "-q", "main")
    git("merge", "-q", "--no-ff", "-m", "5", "topic")
    git("tag", "v1", names[2])
    return path, [*names, git("rev-parse", "HEAD")], side


def test_parents_come_before_their_children(repository):
    path, names, side = repository
    found = places([side, *names[::-1]], path)
    assert sorted(names, key=found.get) == names
    assert found[names[1]] < found[side] < found[names[5]]


def test_short_names_and_tags_are_commits_and_others_are_not(repository):
    path, names, _ = repository
    odd = ["v2", "0" * 40, "", "two words", "a\nHEAD", "-x", "--all", "HEAD:"]
    found = places([names[3][:10], "v1", names[0], *odd], path)
    assert sorted(found, key=found.get) == [names[0], "v1", names[3][:10]]
    assert places(odd, path) == {}
    assert places([], path) == {}


def test_without_a_repository_there_is_no_order(tmp_path, monkeypatch):
    assert places(["x"], tmp_path) is None
    monkeypatch.setenv("PATH", str(tmp_path))
    assert places(["x"]) is None
