"""Writes docs/images/explore.svg, the explorer as it starts: ``python -m docs.explore_picture``.

The picture is textual's own, without the fonts that it would load from the network.
"""

from __future__ import annotations

import asyncio
import html
import re
import sys
from pathlib import Path
from typing import Final

from perfkit.cli.explore_desk import Desk, start
from perfkit.cli.kernel_options import KernelOptions
from perfkit.cli.launch_options import LaunchOptions
from perfkit.explore.ui.app import Explorer

PICTURE: Final = Path(__file__).parent / "images" / "explore.svg"
_FONTS: Final = re.compile(r"\s*@font-face \{.*?\}", re.DOTALL)
_TEXT: Final = re.compile(r"<text\b[^>]*>(.*?)</text>", re.DOTALL)
_LAUNCH: Final = LaunchOptions(
    threads="128", regs=40, smem_dynamic="2K", carveout="10%", grid="4096"
)


async def picture() -> str:
    """The screen of a terminal with 124 columns and 38 lines."""
    desk = Desk(KernelOptions())
    state = start(desk, None, "h100", _LAUNCH).having(op="gemm:4096", dtype="f16")
    app = Explorer(state, desk)
    async with app.run_test(size=(124, 38)) as pilot:
        await pilot.pause()
        return _FONTS.sub("", app.export_screenshot())


def words(svg: str) -> list[str]:
    """What can be read in it."""
    return html.unescape(" ".join(_TEXT.findall(svg))).split()


if __name__ == "__main__":
    PICTURE.write_text(asyncio.run(picture()), encoding="utf-8")
    sys.stdout.write(f"{PICTURE}\n")
