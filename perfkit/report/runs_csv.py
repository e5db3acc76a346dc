"""Collected runs -> the plain CSV that ``perfkit gate check`` reads back."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from io import StringIO
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from perfkit.readers.results import Run

_COLUMNS: Final = ("benchmark", "run", "pair", "metric", "value", "unit", "higher_is_better")


def render(runs: Iterable[Run]) -> str:
    """One row for each sample. A run without a value is ``nan``, which no reader takes for one."""
    stream = StringIO()
    rows = csv.writer(stream, lineterminator="\n")
    rows.writerow(_COLUMNS)
    for run in runs:
        better = "" if run.higher_is_better is None else str(run.higher_is_better).lower()
        for value in run.values or (float("nan"),):
            rows.writerow(
                (run.benchmark, run.run, run.pair, run.metric, repr(value), run.unit.value, better)
            )
    return stream.getvalue()
