"""``perfkit diagnose``: from the symptoms in a profile to causes, and what to look at."""

from __future__ import annotations

import re
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from perfkit.analysis.diagnose import diagnose as answer
from perfkit.analysis.metrics import of_profile
from perfkit.cli import options
from perfkit.cli.emit import emit
from perfkit.cli.help import examples, new_app
from perfkit.errors import UsageError
from perfkit.readers import ncu

if TYPE_CHECKING:
    from perfkit.readers.ncu import Profile
    from perfkit.readers.numerals import Mark

app = new_app()


class Decimal(StrEnum):
    POINT = "point"
    COMMA = "comma"


@app.command(
    epilog=examples(
        "perfkit diagnose profile.csv",
        "perfkit diagnose profile.csv --kernel gemm -f json",
    )
)
def diagnose(
    path: Annotated[
        Path,
        typer.Argument(
            help="CSV of Nsight Compute: ncu --set full --csv ..., either page; or what it prints."
        ),
    ],
    kernel: options.KernelOption = None,
    decimal: Annotated[
        Decimal | None,
        typer.Option("--decimal", help="The decimal mark, where the file does not show it."),
    ] = None,
    format: options.FormatOption = options.Format.TABLE,  # noqa: A002
    output: options.OutputOption = None,
) -> None:
    """Diagnose a profile: symptom, likely cause, what to check.

    By the thresholds of Nsight Compute's own rules, most important first, with what could not be
    looked at for want of figures.
    """
    mark: Mark | None = None if decimal is None else "." if decimal is Decimal.POINT else ","
    file = ncu.read(path, mark=mark)
    found = [answer(of_profile(one)) for one in _wanted(path, file.profiles, kernel)]
    from perfkit.report.views import diagnose as view

    emit(
        "diagnose",
        document=lambda: view.document(found, file.notes),
        content=lambda: view.content(found, file.notes),
        format=format,
        output=output,
    )


def _wanted(path: Path, profiles: tuple[Profile, ...], kernel: str | None) -> list[Profile]:
    if kernel is None:
        return list(profiles)
    try:
        pattern = re.compile(kernel)
    except re.error as error:
        raise UsageError(f"--kernel {kernel!r} is not a regular expression: {error}") from None
    found = [one for one in profiles if pattern.search(one.kernel)]
    if not found:
        names = ", ".join(dict.fromkeys(one.kernel for one in profiles))
        raise UsageError(f"--kernel {kernel!r} matches none of {names}", where=str(path))
    return found
