"""The start of a file for a new product: that of a similar one, marked where it has to change."""

from __future__ import annotations

import re
from typing import Final

from perfkit.arch import load
from perfkit.arch.catalog import gpu_keys
from perfkit.arch.naming import KEY
from perfkit.errors import UsageError

#: a source that no bibliography may hold, so that ``arch check`` names every row that was copied
TODO: Final = "TODO"

_SOURCE: Final = re.compile(r"^( *- id:) *(\S+)(.*)$", re.MULTILINE)
_NAME: Final = re.compile(r"^name:.*$", re.MULTILINE)
_CONFLICTS: Final = re.compile(r"^conflicts:.*", re.MULTILINE | re.DOTALL)


def product(key: str, like: str) -> str:
    """The text of ``gpu/<key>.yaml``: that of the product ``like``, with its evidence unlearned.

    The figures stay, so that their places and units can be seen. The sources say where each stood
    on the other product's data sheet; their ids are ``TODO``, which ``arch check`` refuses.

    Args:
        key: of the new product, lower case with hyphens.
        like: key of a product of the database.

    Raises:
        UsageError: no key, or one that the database holds.
    """
    if not KEY.fullmatch(key):
        raise UsageError(f"{key!r} is no key", hint="lower case with hyphens: rtx-6090")
    if key in gpu_keys():
        raise UsageError(f"{key!r} is in the database", hint=f"perfkit gpu show {key}")
    text = load.files(load.GPUS)[like].read_text("utf-8")
    name = key.upper().replace("-", " ")
    text = _NAME.sub(f'name: "{name}"  # as on the data sheet', text, count=1)
    head, mark, sources = text.partition("\nsources:")
    sources = _SOURCE.sub(rf"\1 {TODO}  # of {like}: \2\3", sources)
    sources = _CONFLICTS.sub("conflicts: []\n", sources)
    return (
        f"# A copy of {like}: replace every figure, and each {TODO} by the source that has it.\n"
        "# 'perfkit arch check' names what is left; these two lines go then.\n"
        f"{head}{mark}{sources}"
    )
