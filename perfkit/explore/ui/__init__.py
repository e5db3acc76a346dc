"""Widgets and screens. They decide nothing about GPUs."""

import os

# textual draws 60 times a second, and what follows a key may wait for the next time; at 120 it
# waits half as long. It reads this once, when it is imported.
os.environ.setdefault("TEXTUAL_FPS", "120")
