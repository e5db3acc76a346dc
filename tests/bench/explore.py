"""From a key in ``perfkit explore`` to the new picture: every press of a walk over all fields.

A press counts from the moment the key is handed to the program until the last of what follows is
drawn: the number stepped, the answer worked out, every widget laid out and turned into text for a
terminal. The time is that of the processor, so that the neighbours are not measured,
and a frame, for which textual waits at most (a key after a rest waits for none). Goal: every press
below 50 ms; the first press of a field is left out.

    python -m tests.bench.explore [--gpu h100] [--size 120x40]
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import time
from typing import ClassVar

import perfkit.explore.ui  # noqa: F401 - before textual, which it tells how often to draw

# isort: split

from textual import events
from textual._compositor import CompositorUpdate
from textual.constants import MAX_FPS
from textual.screen import Screen

from perfkit.cli.explore_desk import Desk, start
from perfkit.cli.kernel_options import KernelOptions
from perfkit.cli.launch_options import LaunchOptions
from perfkit.explore.fields import FIELDS
from perfkit.explore.ui.app import Explorer
from perfkit.explore.ui.entry import Entry

GOAL_S = 0.050
FRAME_S = 1 / MAX_FPS
PRESSES = 13
QUIET_S = 0.2


class Measured(Explorer):
    """Notes when something is drawn; without a terminal the text for it is made all the same."""

    drawn: ClassVar[list[float]] = []
    spent = 0.0  #: seconds of the processor up to the last drawing

    def _display(self, screen: Screen[object], renderable: object) -> None:
        if isinstance(renderable, CompositorUpdate):
            renderable.render_segments(self.console)
            self.drawn.append(time.perf_counter())
            self.spent = time.process_time()
        super()._display(screen, renderable)


async def walk(gpu: str, size: tuple[int, int]) -> dict[str, list[float]]:
    """Seconds of each press, by field."""
    desk = Desk(KernelOptions())
    options = LaunchOptions(threads="256", regs=40, smem_dynamic="20K", carveout="50%", grid="4096")
    app = Measured(start(desk, None, gpu, options).having(op="gemm:4096", dtype="f16"), desk)
    found: dict[str, list[float]] = {}
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        for name in FIELDS:
            entry = app.main.query_one(f"#{name}", Entry)
            entry.cursor_blink = False
            entry.focus()
            await pilot.pause()
            found[name] = [await _press(app, "down" if i % 2 else "up") for i in range(PRESSES)]
    return found


async def _press(app: Measured, key: str) -> float:
    """Seconds up to the last drawing; that nothing follows is known after a while."""
    before, written = app.main.view, app.drawn
    written.clear()
    began, spent = time.perf_counter(), time.process_time()
    app.post_message(events.Key(key, None))
    while not written or time.perf_counter() - written[-1] < QUIET_S:
        await asyncio.sleep(0.01)
        assert time.perf_counter() - began < 5, f"nothing follows {key}"
    assert app.main.view is not before, key
    return app.spent - spent + FRAME_S


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--gpu", default="h100")
    parser.add_argument("--size", default="120x40", help="of the terminal")
    given = parser.parse_args()
    width, height = map(int, given.size.split("x"))
    found = asyncio.run(walk(given.gpu, (width, height)))
    for name, seconds in found.items():
        print(
            f"{name:13} median {statistics.median(seconds) * 1e3:5.1f} ms, "
            f"slowest {max(seconds[1:]) * 1e3:5.1f} ms"
        )
    every = sorted(one for seconds in found.values() for one in seconds[1:])
    high = every[len(every) * 95 // 100]
    print(
        f"{len(every)} presses: median {statistics.median(every) * 1e3:.1f} ms, 95 % within "
        f"{high * 1e3:.1f} ms, slowest {every[-1] * 1e3:.1f} ms, of each {FRAME_S * 1e3:.1f} ms "
        f"for the next frame; goal {GOAL_S * 1e3:.0f} ms"
    )
    return int(every[-1] > GOAL_S)


if __name__ == "__main__":
    raise SystemExit(main())
