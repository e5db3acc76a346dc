"""``perfkit schema``: what the JSON output looks like, for programs that read it."""

from __future__ import annotations

from typing import Annotated

import typer

from perfkit.cli import options
from perfkit.cli.emit import write
from perfkit.cli.help import examples, new_app
from perfkit.errors import UsageError
from perfkit.report import schema as schemas

app = new_app()


def _complete(incomplete: str) -> list[str]:
    return [topic for topic in schemas.topics() if topic.startswith(incomplete)]


@app.command(epilog=examples("perfkit schema", "perfkit schema occupancy -o occupancy.schema.json"))
def schema(
    topic: Annotated[
        str | None,
        typer.Argument(autocompletion=_complete, help="What follows 'perfkit.' in \"schema\"."),
    ] = None,
    output: options.OutputOption = None,
) -> None:
    """Show the JSON Schema of an output, or list them.

    Every JSON output names its schema: "schema": "perfkit.occupancy/1". Within version 1 keys are
    only ever added.
    """
    known = schemas.topics()
    if topic is None:
        width = max(map(len, known))
        write("".join(f"{one:{width}}  {schemas.title(one)}\n" for one in known), output)
        return
    wanted = topic.strip().lower().removeprefix("perfkit.").removesuffix("/1")
    if wanted not in known:
        raise _unknown(topic, wanted, known)
    write(schemas.text(wanted), output)


def _unknown(topic: str, wanted: str, known: tuple[str, ...]) -> UsageError:
    from perfkit.arch.nodes import nearest

    near = nearest(wanted, known, 3)
    return UsageError(
        f"no JSON output is called {topic!r}",
        hint=f"nearest: {', '.join(near)}" if near else f"one of: {', '.join(known)}",
    )
