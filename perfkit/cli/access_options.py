"""The options that describe an access of a warp."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

StrideOption = Annotated[
    list[int] | None,
    typer.Option("--stride", metavar="N", help="Lanes are N elements apart; may be repeated."),
]
IndexOption = Annotated[
    list[str] | None,
    typer.Option(
        "--index",
        metavar="EXPR",
        help="Element of each thread: 'threadIdx.x * 4 + threadIdx.y'; may be repeated.",
    ),
]
StructOption = Annotated[
    str | None,
    typer.Option(
        "--struct",
        metavar="MEMBERS",
        help="Compare an array of structs with one array per member: 'float x; half h'.",
    ),
]
AddressesOption = Annotated[
    Path | None,
    typer.Option(
        "--addresses",
        metavar="FILE",
        help="Byte address of each lane, one per line: 128 or 0x80; - for an inactive lane.",
    ),
]
TileOption = Annotated[
    str | None,
    typer.Option("--tile", metavar="ROWS,COLUMNS", help="A tile in shared memory, in elements."),
]
RowOption = Annotated[
    str | None,
    typer.Option("--row", metavar="EXPR", help="Row of the tile; default: threadIdx.y."),
]
ColumnOption = Annotated[
    str | None,
    typer.Option("--column", metavar="EXPR", help="Column of the tile; default: threadIdx.x."),
]
WidthOption = Annotated[
    int | None,
    typer.Option(
        "--width",
        metavar="BYTES",
        help="Bytes each lane moves: 1, 2, 4, 8 or 16 (float4); default: 4.",
    ),
]
ElementOption = Annotated[
    int | None,
    typer.Option("--element", metavar="BYTES", help="Bytes per element; default: the width."),
]
OffsetOption = Annotated[
    int, typer.Option("--offset", metavar="N", help="Elements to add to every index.")
]
ActiveOption = Annotated[
    str | None,
    typer.Option("--active", metavar="EXPR", help="Only where this is not 0: 'lane < 20'."),
]
StoreOption = Annotated[
    bool, typer.Option("--store", help="A store instead of a load: wide stores never pair up.")
]
WarpOption = Annotated[int, typer.Option("--warp", metavar="N", help="Which warp of the block.")]
BlockOption = Annotated[
    str | None, typer.Option("--block", metavar="X[,Y,Z]", hidden=True, help="Same as --threads.")
]
BlockIndexOption = Annotated[
    str | None,
    typer.Option("--block-index", metavar="X[,Y,Z]", help="blockIdx in expressions; default: 0."),
]
