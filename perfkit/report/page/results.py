"""JSON files that perfkit wrote, recognised by their ``"schema"``."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isinf
from pathlib import Path, PurePath
from typing import Any, Final, NoReturn

from perfkit.errors import InputError
from perfkit.files import read, shown
from perfkit.record import record
from perfkit.report import schema
from perfkit.report.conformance import breach

#: 1,000 results with everything in them are a tenth of it
_MOST_BYTES: Final = 256 * 2**20
_SCHEMA: Final = re.compile(r"perfkit\.([a-z-]+)/([0-9]{1,6})")
_VERSION: Final = 1
_MOST_DIGITS: Final = 300


@record
class Result:
    """What one file holds."""

    name: str  #: of the file, as typed
    topic: str
    content: Mapping[str, Any]

    @property
    def command(self) -> str | None:
        """The command line that wrote it; None: it does not say."""
        found: str | None = self.content.get("made_by", {}).get("command")
        return found

    @property
    def perfkit(self) -> str | None:
        """The version that wrote it; None: it does not say."""
        found: str | None = self.content.get("made_by", {}).get("perfkit")
        return found


def load(path: Path) -> Result:
    """Read one file.

    Raises:
        InputError: no JSON, no result of perfkit, one of a newer perfkit, or one that was changed.
    """
    import json

    name = shown(path)
    data = read(path, _MOST_BYTES, "a result of perfkit")
    if not data.strip():
        raise InputError("is empty", where=name, hint=_HINT)
    try:
        content = json.loads(
            data, parse_constant=_no_constant, parse_float=_finite, parse_int=_small
        )
    except (ValueError, RecursionError) as error:
        raise InputError(f"is no JSON: {error}", where=name, hint=_HINT) from None
    topic = _topic(content, name)
    if (found := breach(topic, content)) is not None:
        raise InputError(
            f"is no perfkit.{topic}/{_VERSION}: {found}",
            where=name,
            hint=f"'perfkit schema {topic}' shows what it should be; write the file anew",
        )
    return Result(name=name, topic=topic, content=content)


def shortened(found: Sequence[Result]) -> list[Result]:
    """Named from the folder that all of them share: the rest says nothing on a page."""
    folders = {PurePath(one.name).parent.as_posix() for one in found}
    try:
        common = os.path.commonpath(folders)
    except ValueError:  # absolute and relative, or on several drives
        return list(found)
    return [replace(one, name=os.path.relpath(one.name, common or ".")) for one in found]


_HINT: Final = "perfkit writes its results with --format json --output FILE"


def _no_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a number of JSON")


def _finite(text: str) -> float:
    value = float(text)
    if isinf(value):
        raise ValueError(f"{text[:20]} is larger than any number here")
    return value


def _small(text: str) -> int:
    """Whatever is made of an integer has to hold it: a float does up to 308 digits."""
    if len(text) > _MOST_DIGITS:
        raise ValueError(f"{text[:20]}… is larger than any number here")
    return int(text)


def _topic(content: Any, name: str) -> str:
    written = content.get("schema") if isinstance(content, dict) else None
    if not isinstance(written, str) or not written.startswith("perfkit."):
        raise InputError("is no result of perfkit: it names no schema", where=name, hint=_HINT)
    match = _SCHEMA.fullmatch(written)
    topic, version = (match[1], int(match[2])) if match else (written, 0)
    if topic not in schema.topics():
        raise InputError(
            f"holds {written[:80]!r}, which this perfkit does not know",
            where=name,
            hint="'perfkit schema' lists what it knows; a newer perfkit may know more",
        )
    if version != _VERSION:
        raise InputError(
            f"holds version {version} of perfkit.{topic}, this perfkit reads version {_VERSION}",
            where=name,
            hint="update perfkit, or write the file with this one",
        )
    return topic
