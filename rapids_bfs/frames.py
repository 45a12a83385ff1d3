"""Files of results: Arrow tables as Parquet, Arrow, CSV or TSV."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import csv, feather, parquet

from .adapters.files import check_output, replacing
from .errors import InputError

SUFFIXES = (".parquet", ".arrow", ".feather", ".csv", ".tsv")


def check_frame_output(path: Path, force: bool = False) -> None:
    """Raise `InputError` if `save_frame` could not write there."""
    _require_suffix(path)
    check_output(path, force)


def save_frame(table: pa.Table, path: Path, *, force: bool = False) -> None:
    """Write an Arrow table in the format of the suffix, replacing a file that exists only with ``force``."""
    check_frame_output(path, force)
    with replacing(path) as out:
        if path.suffix == ".parquet":
            parquet.write_table(table, out)
        elif path.suffix in (".arrow", ".feather"):
            feather.write_feather(table, out)
        else:
            csv.write_csv(table, out, csv.WriteOptions(delimiter=_delimiter(path)))


def read_frame(path: Path) -> Any:
    """The Arrow table in a file that `save_frame` wrote, or another with such columns."""
    _require_suffix(path)
    if not path.is_file():
        raise InputError(f"{path} does not exist" if not path.exists() else f"{path} is no file")
    try:
        if path.suffix == ".parquet":
            return parquet.read_table(path)
        if path.suffix in (".arrow", ".feather"):
            return feather.read_table(path)
        nulls = csv.ConvertOptions(null_values=[""], strings_can_be_null=True, quoted_strings_can_be_null=False)
        return csv.read_csv(path, parse_options=csv.ParseOptions(delimiter=_delimiter(path)), convert_options=nulls)
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{path} cannot be read: {str(error).splitlines()[0]}") from None


def _require_suffix(path: Path) -> None:
    if path.suffix not in SUFFIXES:
        raise InputError(f"{path}: results are written as {', '.join(SUFFIXES)}, not {path.suffix or 'without suffix'}")


def _delimiter(path: Path) -> str:
    return "\t" if path.suffix == ".tsv" else ","
