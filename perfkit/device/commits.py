"""What git and CI systems tell of commits: which one is measured, and which comes before which."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Final

#: what continuous integration calls the commit and the branch, the most usual first
_COMMIT: Final = ("GITHUB_SHA", "CI_COMMIT_SHA", "GIT_COMMIT", "BUILDKITE_COMMIT")
_BRANCH: Final = (
    "GITHUB_HEAD_REF", "GITHUB_REF_NAME", "CI_COMMIT_REF_NAME", "GIT_BRANCH", "BUILDKITE_BRANCH",
)  # fmt: skip
_GIT_S: Final = 60.0  #: a history of a million commits takes ten


def commit_here(folder: Path | None = None) -> dict[str, str]:
    """Commit and branch, as the CI system or else git tells them; what is not known is left out."""
    told = {
        "commit": next((os.environ[name] for name in _COMMIT if os.environ.get(name)), None),
        "branch": next((os.environ[name] for name in _BRANCH if os.environ.get(name)), None),
    }
    if told["commit"] is None:
        told = {
            "commit": _git(folder, "rev-parse", "HEAD"),
            "branch": told["branch"] or _git(folder, "symbolic-ref", "--short", "HEAD"),
        }
    return {key: value for key, value in told.items() if value}


def places(names: Iterable[str], folder: Path | None = None) -> dict[str, int] | None:
    """Of commits in a repository: parents come before their children.

    Args:
        names: hashes, whole or cut short, or tags. Those that are no commit there have no place.
        folder: of the repository; None: this one.

    Returns:
        None: there is no repository, or no git.
    """
    if _git(folder, "rev-parse", "--git-dir") is None:
        return None
    # a name with a blank or a line break would be several questions
    asked = [name for name in dict.fromkeys(names) if name.isprintable() and " " not in name]
    lines = "".join(f"{name}^{{commit}}\n" for name in asked)
    told = (_git(folder, "cat-file", "--batch-check", lines=lines) or "").splitlines()
    found = {
        name: line.split()[0]
        for name, line in zip(asked, told, strict=False)
        if line.split()[1:2] == ["commit"]
    }
    if not found:
        return {}
    order = _git(
        folder, "rev-list", "--topo-order", "--reverse", "--stdin",
        lines="".join(f"{one}\n" for one in dict.fromkeys(found.values())),
    )  # fmt: skip
    place = {one: number for number, one in enumerate((order or "").splitlines())}
    return {name: place[one] for name, one in found.items() if one in place}


def _git(folder: Path | None, *arguments: str, lines: str = "") -> str | None:
    """What git answers; None: it does not, or there is none."""
    try:
        done = subprocess.run(  # noqa: S603 - fixed words
            ["git", *arguments],  # noqa: S607 - wherever the user has it
            cwd=folder,
            input=lines.encode("utf-8", "surrogateescape"),
            capture_output=True,
            timeout=_GIT_S,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.decode("utf-8", "replace").strip() or None
