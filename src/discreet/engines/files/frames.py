"""A Parquet file in memory as a frame of the caller's library: Arrow, pandas or polars.

The libraries are imported only where such a frame was asked for. Cells are what the file holds, in its order;
nothing is rounded to fit a library's usual types.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import TYPE_CHECKING

from discreet.errors import InputError

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow


def arrow_of(parquet: bytes) -> pyarrow.Table:
    """The file as an Arrow table; ``InputError`` where pyarrow is missing."""
    with _installed("an Arrow table"):
        import pyarrow.parquet
    return pyarrow.parquet.read_table(BytesIO(parquet))


def pandas_of(parquet: bytes) -> pandas.DataFrame:
    """The file as a pandas frame, its index 0, 1, …; ``InputError`` where pandas or pyarrow is missing.

    Whole numbers and booleans with NULLs take pandas' nullable types, since floats would round them.
    """
    with _installed("a pandas frame"):
        import pandas
        import pyarrow
    table = arrow_of(parquet)
    frame: pandas.DataFrame = table.to_pandas()
    exact = {pyarrow.bool_(): pandas.BooleanDtype()}
    for bits in (8, 16, 32, 64):
        exact[getattr(pyarrow, f"int{bits}")()] = getattr(pandas, f"Int{bits}Dtype")()
        exact[getattr(pyarrow, f"uint{bits}")()] = getattr(pandas, f"UInt{bits}Dtype")()
    for place, column in enumerate(table.columns):
        if column.null_count and column.type in exact:
            frame.isetitem(place, column.to_pandas(types_mapper=exact.get))
    return frame


def polars_of(parquet: bytes) -> polars.DataFrame:
    """The file as a polars frame; ``InputError`` where polars is missing."""
    with _installed("a polars frame"):
        import polars
    return polars.read_parquet(BytesIO(parquet))


@contextmanager
def _installed(what: str) -> Iterator[None]:
    """Say what to install where an import fails."""
    try:
        yield
    except ModuleNotFoundError as error:
        package = str(error.name).partition(".")[0]
        raise InputError(
            f"{what} needs the package {package}, which is not installed",
            advice=f"Install it: pip install {package}.",
        ) from None
