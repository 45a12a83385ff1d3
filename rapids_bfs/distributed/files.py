"""Parquet files as a source of distributed edges: each rank reads some of the row groups."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .._core.csr.host import CHANGED, Pairs
from .._core.cuda.arrays import CUDA, to_device
from ..adapters._columnar import parquet_table
from ..adapters._file import File, State, file_errors
from ..adapters._several_files import joined, name_of
from ..adapters._tables import is_number
from ..adapters.files import files_matching
from ..errors import InputError

MAX_GROUPS = 1 << 31  # more than a file can have: their numbers are of 16 bits


@dataclass(frozen=True)
class ParquetEdges:
    """The edges in one or more Parquet files, of which each rank reads its share."""

    name: str
    files: tuple[File, ...]
    states: tuple[State, ...]  # of the files
    columns: tuple[str, str]
    device: str

    def of_rank(self, rank: int, size: int) -> Iterator[Pairs]:
        for place, (file, state) in enumerate(zip(self.files, self.states, strict=True)):
            with file_errors(file, "Parquet"):
                table = parquet_table(file, *self.columns, range((rank - place) % size, MAX_GROUPS, size).__contains__)
                for source, target in table.numbers():
                    yield (to_device(source), to_device(target)) if self.device == CUDA else (source, target)
                if file.state != state:
                    raise InputError(CHANGED)


def edges_of(path: str | os.PathLike[str], device: str, source: Any = None, target: Any = None) -> ParquetEdges | None:
    """The edges in the files that match a pattern. None if ``path`` is not a pattern or ids are not numbers: then the
    graph must be read in one piece."""
    if not (files := files_matching(path)):
        return None
    pattern, states = os.fsdecode(path), tuple(file.state for file in files)
    table = joined(pattern, files, source, target)
    if not all(map(is_number, table.plain_types)):
        return None
    return ParquetEdges(name_of(pattern), tuple(files), states, table.columns, device)
