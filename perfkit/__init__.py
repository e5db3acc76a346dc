"""NVIDIA GPU occupancy and performance analysis, with no GPU needed."""

from __future__ import annotations

__version__ = "0.1.0"
