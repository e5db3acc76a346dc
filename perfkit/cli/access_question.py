"""The accesses that the options mean, and what contradicts itself."""

from __future__ import annotations

import re
from typing import Final, TypeAlias

from perfkit.analysis.access import Access, Banking, indexed, members
from perfkit.analysis.expression import Expression
from perfkit.analysis.layouts import Fix, Tile, check_inside, fixes, row_of_banks
from perfkit.analysis.structs import Struct, parse
from perfkit.analysis.threads import Block
from perfkit.cli import access_options as given
from perfkit.cli import options
from perfkit.cli.talk import note
from perfkit.errors import UsageError
from perfkit.models.lanes import WARP_LANES, WIDTHS
from perfkit.readers import addresses
from perfkit.record import record

#: per warp and lane
Indices: TypeAlias = tuple[tuple[int | None, ...], ...]

_DEFAULT_BYTES: Final = 4
_LARGEST: Final = 2**20  #: bytes of an element, elements of a tile
_WHOLE_LINES: Final = 128  #: elements, of whatever size, of whole lines of 128 bytes


def expression(text: str) -> Expression:
    if not text.strip():
        raise UsageError("an empty expression", hint="write for instance 'threadIdx.x * 4'")
    return Expression(text)


@record
class BlockOptions:
    """The block whose threads are meant, as typed."""

    threads: options.ThreadsOption = None
    grid: options.GridOption = None
    block: given.BlockOption = None
    block_index: given.BlockIndexOption = None

    def read(self) -> Block:
        """The block; one warp if nothing says how large it is."""
        if self.threads is not None and self.block is not None:
            raise UsageError("--threads and --block are the same: give one of them")
        text = self.block if self.threads is None else self.threads
        size = options.dimensions(str(WARP_LANES) if text is None else text, "--threads")
        index = (0, 0, 0)
        if self.block_index is not None:
            typed = options.dimensions(self.block_index, "--block-index")
            count = len(re.split(r"[,x]", self.block_index))
            index = (typed[0], typed[1] if count > 1 else 0, typed[2] if count > 2 else 0)
        return Block(
            size=size,
            index=index,
            grid=None if self.grid is None else options.dimensions(self.grid, "--grid"),
        )


@record
class TileOptions:
    """``--tile``, ``--row`` and ``--column`` as typed."""

    tile: given.TileOption = None
    row: given.RowOption = None
    column: given.ColumnOption = None

    def rows_and_columns(self) -> tuple[int, int] | None:
        if self.tile is None:
            if self.row is not None or self.column is not None:
                raise UsageError(
                    "--row and --column are of a tile: how large is it?", hint="write --tile 32,32"
                )
            return None
        rows, columns, more = options.dimensions(self.tile, "--tile")
        if more != 1 or not 0 < rows * columns <= _LARGEST:
            raise UsageError(
                f"--tile {self.tile}: not a size in shared memory",
                hint="write rows and columns: --tile 32,33",
            )
        return rows, columns

    @property
    def subscripts(self) -> tuple[str, str]:
        return (
            "threadIdx.y" if self.row is None else self.row,
            "threadIdx.x" if self.column is None else self.column,
        )

    @property
    def label(self) -> str:
        row, column = self.subscripts
        return f"tile[{row}][{column}]"

    def indices(self, block: Block, active: Expression | None) -> Indices:
        """Elements of the tile by row and column, which must be inside."""
        size = self.rows_and_columns() or (0, 0)
        found = []
        for name, text, count in zip(("row", "column"), self.subscripts, size, strict=True):
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


NO_TILE: Final = TileOptions()


def _lift(label: str, indices: Indices, offset: int) -> int:
    """Elements to add where some are before the array's start, and a note of it.

    So many of any size are whole lines and whole rows of banks, which change no count.
    """
    lowest = min((i for lanes in indices for i in lanes if i is not None), default=0) + offset
    if lowest >= 0:
        return 0
    more = -(lowest // _WHOLE_LINES) * _WHOLE_LINES
    note(
        f"{label}: the lowest element is {lowest}, before the start of the array; addresses are "
        f"shown {more} elements higher, which changes no count (--offset {offset - lowest} makes "
        "it the first)"
    )
    return more


@record
class Question:
    """An access as typed; at most one of the fields for where the lanes go may be given."""

    stride: given.StrideOption = None
    index: given.IndexOption = None
    struct: given.StructOption = None
    addresses: given.AddressesOption = None
    width: given.WidthOption = None
    element: given.ElementOption = None
    offset: given.OffsetOption = 0
    active: given.ActiveOption = None
    warp: given.WarpOption = 0

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

    def accesses(self, block: Block, tile: TileOptions = NO_TILE) -> tuple[Access, ...]:
        """What was asked about.

        Raises:
            UsageError: contradictory options, or what cannot be computed.
            InputError: a file that holds no addresses.
        """
        self._check_one(tile)
        width, element = self.sizes()
        if self.addresses is not None:
            lanes = addresses.read(self.addresses)
            return (Access(label=self.addresses.name, width_bytes=width, warps=(lanes,)),)
        block.check_warp(self.warp)
        struct = self.layout()
        return tuple(
            access
            for label, values in self._values(block, tile)
            for offset in (self.offset + _lift(label, values, self.offset),)
            for access in (
                members(struct, values, offset=offset)
                if struct is not None
                else (indexed(label, values, width=width, element=element, offset=offset),)
            )
        )

    def fixes(self, found: Banking, tile: TileOptions) -> tuple[Fix, ...]:
        """Layouts with fewer wavefronts."""
        width, element = self.sizes()
        size = tile.rows_and_columns()
        indices = tuple(
            tuple(None if a is None else a // element for a in lanes)
            for lanes in found.access.warps
        )
        if size is not None:
            check_inside(indices, *size)
        access = Tile(
            indices=indices,
            width_bytes=width,
            element_bytes=element,
            pitch=row_of_banks(element) if size is None else size[1],
            rows=None if size is None else size[0],
            store=found.store,
        )
        return fixes(access, found.block_ideal_wavefronts)

    def _values(self, block: Block, tile: TileOptions) -> list[tuple[str, Indices]]:
        """Label and element numbers of each access."""
        active = None if self.active is None else expression(self.active)
        typed = [(f"stride {n}", f"thread * {n}") for n in self.stride or ()]
        typed += [(text.strip(), text) for text in self.index or ()]
        if not typed and tile.tile is not None:
            return [(tile.label, tile.indices(block, active))]
        return [
            (label, block.values(expression(text), active))
            for label, text in typed or [("stride 1", "thread")]
        ]

    def _check_one(self, tile: TileOptions) -> None:
        """The options contradict one another if two say where the lanes go."""
        places = {
            "--stride": self.stride,
            "--index": self.index,
            "--addresses": self.addresses,
            "--row and --column": tile.row or tile.column,
        }
        given = [name for name, value in places.items() if value]
        if len(given) > 1:
            raise UsageError(f"{' and '.join(given)}: one of them says where the lanes go")
        if self.addresses is not None:
            others = ("struct", "element", "active", "warp", "offset")
            reason = "which says where each lane of one warp goes"
            self._refuse("--addresses", reason, others, tile)
        if self.struct is not None:
            self._refuse("--struct", "whose members have sizes", ("width", "element"), tile)
            if len([*(self.stride or ()), *(self.index or ())]) > 1:
                raise UsageError("--struct takes one --stride or --index, of whole structs")

    def _refuse(self, option: str, reason: str, others: tuple[str, ...], tile: TileOptions) -> None:
        values = {name: getattr(self, name) for name in others} | {"tile": tile.tile}
        for name, value in values.items():
            if value not in {None, 0}:
                raise UsageError(f"--{name} does not go with {option}, {reason}")
