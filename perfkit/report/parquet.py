"""Data frames -> one Parquet file, piece by piece. Needs the extra ``parquet``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from perfkit.errors import NoExtra

if TYPE_CHECKING:
    import pandas as pd


def write(pieces: Iterator[pd.DataFrame], path: Path) -> None:
    """Write each piece as a row group.

    Raises:
        NoExtra: pyarrow is not installed.
        OSError: the file cannot be written.
    """
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ModuleNotFoundError as error:
        if error.name != "pyarrow":
            raise
        raise NoExtra(
            "Parquet needs pyarrow", hint="pip install 'perfkit[parquet]', or use -f csv"
        ) from None
    writer = None
    try:
        for piece in pieces:
            table = pa.Table.from_pandas(piece, preserve_index=False)
            if writer is None:
                writer = pq.ParquetWriter(path, table.schema)
            writer.write_table(table)
    finally:
        if writer is not None:
            writer.close()
