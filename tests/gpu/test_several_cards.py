"""Several cards of one machine: each is the one that is meant, and none is in another's way.

Takes less than two minutes on two H200s, half of them ``perfkit validate --quick``. Anybody may be
on the cards meanwhile: what is compared is what changes.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from perfkit.device.nvml import Monitor
from perfkit.device.properties import Device, read_devices

pytestmark = pytest.mark.gpu

ROOT = Path(__file__).resolve().parents[2]
SHORT = ("--runs", "2", "--samples", "5")
#: of one command; what takes longer hangs
MOST_S = 240
#: until a process that was started is on its card
PATIENCE_S = 40
BOTH = ("--device", "0,1")

Document = dict[str, Any]


@pytest.fixture(scope="module")
def cards() -> tuple[Device, Device]:
    """Two cards."""
    found = read_devices()
    if len(found) < 2:
        pytest.skip(f"needs two cards, there is {len(found)}")
    return found[0], found[1]


def environment(cards: tuple[Device, ...], folder: Path | None = None) -> dict[str, str]:
    """In which CUDA counts these cards from 0, and temporary files lie in ``folder``."""
    found = {**os.environ, "CUDA_VISIBLE_DEVICES": ",".join(card.uuid for card in cards)}
    return found if folder is None else {**found, "TMPDIR": str(folder)}


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "perfkit", *arguments]


def perfkit(cards: tuple[Device, ...], *arguments: str) -> subprocess.CompletedProcess[str]:
    """One that ends well."""
    done = subprocess.run(
        command(*arguments),
        cwd=ROOT,
        env=environment(cards),
        capture_output=True,
        text=True,
        timeout=MOST_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr + done.stdout[-2000:]
    return done


def document(cards: tuple[Device, ...], *arguments: str) -> Document:
    """The JSON of one that ends well."""
    found: Document = json.loads(perfkit(cards, *arguments, "-f", "json").stdout)
    return found


def uuids(found: Document, part: str = "devices") -> list[str]:
    return [one["environment"]["uuid"] for one in found[part]]


def until(what: Callable[[], bool]) -> bool:
    """Whether it came true in time."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        if what():
            return True
        time.sleep(0.1)
    return False


@contextmanager
def started(
    cards: tuple[Device, ...], folder: Path, *arguments: str
) -> Iterator[subprocess.Popen[str]]:
    """One that runs meanwhile, and is interrupted in the end."""
    running = subprocess.Popen(
        command(*arguments),
        cwd=ROOT,
        env=environment(cards, folder),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        yield running
    finally:
        if running.poll() is None:
            running.send_signal(signal.SIGINT)
        try:
            running.communicate(timeout=PATIENCE_S)
        except subprocess.TimeoutExpired:
            running.kill()
            running.communicate()


def left_over(folder: Path) -> list[str]:
    """Processes whose temporary files lie there, where the system tells their environment."""
    mark, found = f"TMPDIR={folder}".encode(), []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if mark in path.read_bytes().split(b"\0"):
                found.append(path.parent.name)
        except OSError:  # it has ended, or is somebody else's
            continue
    return found


def test_both_are_measured_each_by_itself(cards, figure):
    found = document(cards, "measure", "copy", "vector_add", *BOTH, *SHORT)
    assert uuids(found) == [card.uuid for card in cards]
    assert len(set(uuids(found))) == 2
    for device in found["devices"]:
        assert [one["name"] for one in device["measurements"]] == ["copy", "vector_add"]
        assert all(len(one["runs"]) == 2 for one in device["measurements"])
        assert all(check["right"] for one in device["measurements"] for check in one["checks"])
    for row in found["side_by_side"]:
        assert all(row["median_s"])
        figure(f"{row['name']}, apart", f"{row['apart']:.2%}")


@pytest.mark.parametrize("order", [(1,), (1, 0)], ids=["the second alone", "turned round"])
def test_cards_are_those_that_cuda_counts(cards, order):
    those = tuple(cards[place] for place in order)
    found = document(those, "measure", "copy", "--device", "all", "--runs", "1", "--samples", "5")
    assert uuids(found) == [card.uuid for card in those]
    indices = [one["environment"].get("index") for one in found["devices"]]
    assert indices == ([None] if len(order) == 1 else [0, 1])


def test_who_is_on_a_card_is_named_for_that_card_alone(cards, tmp_path):
    def there(card: Device) -> set[int]:
        return {one.pid for one in Monitor(card.uuid).setup().neighbours}

    before = [there(card) for card in cards]
    with started((cards[1],), tmp_path, "measure", "all", "--runs", "50"):
        if not until(lambda: bool(there(cards[1]) - before[1])):
            pytest.skip("NVML does not show the processes on a card here")
        found = document(cards, "measure", "copy", *BOTH, *SHORT)
    first, second = (one["environment"]["notes"] for one in found["devices"])
    known = {f"process {pid} " for those in before for pid in those}
    new = [
        [
            note
            for note in notes
            if "is on the card, too" in note and not note.startswith(tuple(known))
        ]
        for notes in (first, second)
    ]
    assert new[0] == []
    assert new[1]


def test_ctrl_c_keeps_what_both_have_done_and_leaves_nothing(cards, tmp_path):
    file, folder = tmp_path / "cut.json", tmp_path / "temporary"
    folder.mkdir()

    def both_have_some() -> bool:
        # each child writes its results there, one a line, after a line that it is ready
        lines = [path.read_bytes().count(b"\n") for path in folder.glob("*/results.jsonl")]
        return len(lines) == 2 and min(lines) > 3

    arguments = ("measure", "all", "--runs", "1", *BOTH, "-f", "json", "-o", str(file))
    with started(cards, folder, *arguments) as running:
        assert until(both_have_some), "nothing was measured"
        running.send_signal(signal.SIGINT)
        _, told = running.communicate(timeout=PATIENCE_S)
    assert running.returncode == 130, told
    found = json.loads(file.read_text("utf-8"))
    assert found["interrupted"]
    assert uuids(found) == [card.uuid for card in cards]
    assert all(len(one["measurements"]) >= 3 for one in found["devices"])
    assert until(lambda: not left_over(folder))


def test_predictions_are_checked_on_both_at_the_same_time(cards, figure):
    began = time.monotonic()
    done = perfkit(cards, "validate", "--quick", *BOTH, "-f", "json")
    took_s = time.monotonic() - began
    found: Document = json.loads(done.stdout)
    assert uuids(found, "cards") == [card.uuid for card in cards]
    spent_s = sum(check["seconds"] for card in found["cards"] for check in card["checks"])
    figure("seconds, of checks", f"{took_s:.0f}, {spent_s:.0f}")
    for card in found["cards"]:
        outcomes = Counter(check["status"] for check in card["checks"])
        assert set(outcomes) <= {"pass", "skipped"}, f"--seed {found['seed']}: {outcomes}"
        assert outcomes["pass"]
        figure(f"device {card['environment']['index']}", dict(outcomes))
        line = f"device {card['environment']['index']}: attributes: pass"
        assert line in done.stderr
    assert took_s < spent_s


def test_each_has_its_own_ceilings(cards, tmp_path, figure):
    file = tmp_path / "ours.json"
    groups = ("--only", "dram,transfer,launch", "--quick")
    perfkit(cards, "ceilings", *BOTH, *groups, "-f", "json", "-o", str(file))
    ours = json.loads(file.read_text("utf-8"))
    assert uuids(ours, "cards") == [card.uuid for card in cards]
    best = []
    for card in ours["cards"]:
        assert card["unmeasured"] == []
        assert {one["group"] for one in card["others"]} == {"transfer", "launch"}
        best.append(max(one["bytes_per_s"] for one in card["memory"]))
        figure(f"device {card['environment']['index']}", f"{best[-1] / 1e12:.3f} TB/s of DRAM")
    found = document(cards, "measure", "copy", *BOTH, *SHORT, "--ceilings", str(file))
    assert all(one["basis"].startswith("measured ceilings") for one in found["devices"])
    bounds = [one["measurements"][0]["prediction"]["bound_s"] for one in found["devices"]]
    if cards[0].name == cards[1].name:
        assert bounds[0] / bounds[1] == pytest.approx(best[1] / best[0])
