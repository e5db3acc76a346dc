"""The accesses that the options mean, and what contradicts itself."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final, TypeAlias

from perfkit.analysis.access import Access, Banking, indexed, members, read_addresses
from perfkit.analysis.expression import Expression
from perfkit.analysis.layouts import Fix, Tile, check_inside, fixes, row_of_banks
from perfkit.analysis.structs import Struct, parse
from perfkit.analysis.threads import Block
from perfkit.cli import options
from perfkit.errors import InputError, UsageError
from perfkit.models.lanes import WARP_LANES, WIDTHS
from perfkit.record import record

#: per warp and lane
Indices: TypeAlias = tuple[tuple[int | None, ...], ...]

_DEFAULT_BYTES: Final = 4
_LARGEST: Final = 2**20  #: bytes of an element, elements of a tile
_LARGEST_FILE: Final = 64 * 1024


def expression(text: str) -> Expression:
    if not text.strip():
        raise UsageError("an empty expression", hint="write for instance 'threadIdx.x * 4'")
    return Expression(text)


def block(
    threads: str | None, alias: str | None, grid: str | None, block_index: str | None
) -> Block:
    """The block of ``--threads``, one warp by default."""
    if threads is not None and alias is not None:
        raise UsageError("--threads and --block are the same: give one of them")
    size = options.dimensions(threads or alias or str(WARP_LANES), "--threads")
    index = (0, 0, 0)
    if block_index is not None:
        typed = options.dimensions(block_index, "--block-index")
        count = len(re.split(r"[,x]", block_index))
        index = (typed[0], typed[1] if count > 1 else 0, typed[2] if count > 2 else 0)
    return Block(
        size=size,
        index=index,
        grid=None if grid is None else options.dimensions(grid, "--grid"),
    )


@record
class TileOptions:
    """``--tile``, ``--row`` and ``--column`` as typed."""

    size: str | None = None
    row: str | None = None
    column: str | None = None

    def rows_and_columns(self) -> tuple[int, int] | None:
        if self.size is None:
            if self.row is not None or self.column is not None:
                raise UsageError(
                    "--row and --column are of a tile: how large is it?", hint="write --tile 32,32"
                )
            return None
        rows, columns, more = options.dimensions(self.size, "--tile")
        if more != 1 or not 0 < rows * columns <= _LARGEST:
            raise UsageError(
                f"--tile {self.size}: not a size in shared memory",
                hint="write rows and columns: --tile 32,33",
            )
        return rows, columns

    @property
    def label(self) -> str:
        return f"tile[{self.row or 'threadIdx.y'}][{self.column or 'threadIdx.x'}]"

    def indices(self, block: Block, active: Expression | None) -> Indices:
        """Elements of the tile by row and column, which must be inside."""
        size = self.rows_and_columns() or (0, 0)
        found = []
        for name, text, count in (
            ("row", self.row or "threadIdx.y", size[0]),
            ("column", self.column or "threadIdx.x", size[1]),
        ):
            values = block.values(expression(text), active)
            for warp, lanes in enumerate(values):
                for lane, value in enumerate(lanes):
                    if value is not None and not 0 <= value < count:
                        raise UsageError(
                            f"--{name} {text}: {value} in warp {warp}, lane {lane}; "
                            f"the tile has {count}, from 0"
                        )
            found.append(values)
        return tuple(
            tuple(
                None if r is None or c is None else r * size[1] + c
                for r, c in zip(*pair, strict=True)
            )
            for pair in zip(*found, strict=True)
        )


@record
class Question:
    """An access as typed; at most one of the fields for where the lanes go may be given."""

    block: Block
    warp: int
    strides: list[int] | None
    indices: list[str] | None
    struct: str | None
    addresses: Path | None
    tile: TileOptions = TileOptions()
    width: int | None
    element: int | None
    offset: int
    active: str | None

    def layout(self) -> Struct | None:
        return None if self.struct is None else parse(self.struct)

    def sizes(self) -> tuple[int, int]:
        """Bytes per lane and per element."""
        element = self.element if self.element is not None else self.width
        element = _DEFAULT_BYTES if element is None else element
        width = element if self.width is None else self.width
        if width not in WIDTHS:
            option = "--element" if self.width is None else "--width"
            raise UsageError(
                f"{option} {width}: no instruction moves that many bytes per lane",
                hint="--width is 1, 2, 4, 8 or 16; an --element of another size needs a --width",
            )
        if not 1 <= element <= _LARGEST:
            raise UsageError(f"--element {element}: not a size of an element in bytes")
        return width, element

    def accesses(self) -> tuple[Access, ...]:
        """What was asked about.

        Raises:
            UsageError: contradictory options, or what cannot be computed.
            InputError: a file that holds no addresses.
        """
        self._check_one()
        width, element = self.sizes()
        if self.addresses is not None:
            lanes = read_addresses(_text(self.addresses), str(self.addresses))
            return (Access(label=self.addresses.name, width_bytes=width, warps=(lanes,)),)
        self.block.check_warp(self.warp)
        struct = self.layout()
        return tuple(
            access
            for label, values in self._values()
            for access in (
                members(struct, values, offset=self.offset)
                if struct is not None
                else (indexed(label, values, width=width, element=element, offset=self.offset),)
            )
        )

    def fixes(self, found: Banking) -> tuple[Fix, ...]:
        """Layouts with fewer wavefronts."""
        width, element = self.sizes()
        size = self.tile.rows_and_columns()
        indices = tuple(
            tuple(None if a is None else a // element for a in lanes)
            for lanes in found.access.warps
        )
        if size is not None:
            check_inside(indices, *size)
        tile = Tile(
            indices=indices,
            width_bytes=width,
            element_bytes=element,
            pitch=row_of_banks(element) if size is None else size[1],
            rows=None if size is None else size[0],
            store=found.store,
        )
        return fixes(tile, found.block_ideal_wavefronts)

    def _values(self) -> list[tuple[str, Indices]]:
        """Label and element numbers of each access."""
        active = None if self.active is None else expression(self.active)
        typed = [(f"stride {n}", f"thread * {n}") for n in self.strides or ()]
        typed += [(text.strip(), text) for text in self.indices or ()]
        if not typed and self.tile.size is not None:
            return [(self.tile.label, self.tile.indices(self.block, active))]
        return [
            (label, self.block.values(expression(text), active))
            for label, text in typed or [("stride 1", "thread")]
        ]

    def _check_one(self) -> None:
        """The options contradict one another if two say where the lanes go."""
        places = {
            "--stride": self.strides,
            "--index": self.indices,
            "--addresses": self.addresses,
            "--row and --column": self.tile.row or self.tile.column,
        }
        given = [name for name, value in places.items() if value]
        if len(given) > 1:
            raise UsageError(f"{' and '.join(given)}: one of them says where the lanes go")
        if self.addresses is not None:
            others = ("struct", "tile", "element", "active", "warp", "offset")
            self._refuse("--addresses", "which says where each lane of one warp goes", others)
        if self.struct is not None:
            self._refuse("--struct", "whose members have sizes", ("width", "element", "tile"))
            if len([*(self.strides or ()), *(self.indices or ())]) > 1:
                raise UsageError("--struct takes one --stride or --index, of whole structs")

    def _refuse(self, option: str, reason: str, others: tuple[str, ...]) -> None:
        for name in others:
            value = getattr(self, name)
            if value not in {None, 0, TileOptions()}:
                raise UsageError(f"--{name} does not go with {option}, {reason}")


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(_LARGEST_FILE + 1)
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise InputError(f"cannot be read: {reason}", where=str(path)) from None
    if len(data) > _LARGEST_FILE:
        raise InputError("too large for the addresses of one warp", where=str(path))
    return data.decode("utf-8", errors="replace")
