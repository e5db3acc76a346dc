"""The picture in the documentation is what the explorer shows."""

from __future__ import annotations

import asyncio

from docs.explore_picture import PICTURE, picture, words


def test_the_picture_is_of_this_version():
    kept = PICTURE.read_text("utf-8")
    assert "@font-face" not in kept
    assert len(words(kept)) > 100
    assert words(kept) == words(asyncio.run(picture())), "python -m docs.explore_picture"
