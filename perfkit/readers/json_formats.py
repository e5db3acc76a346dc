"""The kinds of JSON documents that hold results: how each is known, and read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from perfkit.readers import (
    benchmark_action,
    google_benchmark,
    hyperfine,
    nsys,
    nvbench,
    perfkit_measure,
    pyperf,
    pytest_benchmark,
)
from perfkit.readers.content import Content
from perfkit.readers.results import ResultFile

_Reader = Callable[[Any, Content], ResultFile]


class JsonFormat(NamedTuple):
    """A kind of JSON document: how it is known, and read."""

    kind: str
    preferred: tuple[str, ...]
    knows: Callable[[object], bool]
    read: _Reader


def _alone(read: Callable[[Any, str], ResultFile]) -> _Reader:
    """Of a document that says all itself."""
    return lambda found, content: read(found, content.origin)


#: asked in this order
JSON_FORMATS: Final = (
    JsonFormat(
        "nvbench",
        nvbench.PREFERRED,
        nvbench.knows,
        lambda found, content: nvbench.read(found, content.origin, content.folder),
    ),
    JsonFormat(
        "pytest-benchmark",
        pytest_benchmark.PREFERRED,
        pytest_benchmark.knows,
        _alone(pytest_benchmark.read),
    ),
    JsonFormat(
        "google-benchmark",
        google_benchmark.PREFERRED,
        google_benchmark.knows,
        _alone(google_benchmark.read),
    ),
    JsonFormat("hyperfine", hyperfine.PREFERRED, hyperfine.knows, _alone(hyperfine.read)),
    JsonFormat("pyperf", pyperf.PREFERRED, pyperf.knows, _alone(pyperf.read)),
    JsonFormat(
        "perfkit measure -f json",
        perfkit_measure.PREFERRED,
        perfkit_measure.knows,
        _alone(perfkit_measure.read),
    ),
    JsonFormat("nsys stats", nsys.PREFERRED, nsys.knows, _alone(nsys.read_list)),
    JsonFormat(
        "github-action-benchmark",
        benchmark_action.PREFERRED,
        benchmark_action.knows_list,
        _alone(benchmark_action.read_list),
    ),
)
