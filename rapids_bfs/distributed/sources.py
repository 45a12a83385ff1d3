"""Sources of edges for a distributed build. Each rank reads some of the edges, as often as needed."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._core.csr import csr_on
from .._core.csr.building import Pairs
from .._core.csr.host import edge_blocks
from .._core.cuda.arrays import CUDA, to_device
from ..adapters._columnar import joined, name_of, parquet_table
from ..adapters._file import File, file_errors, unchanged
from ..adapters._tables import is_number
from ..adapters.files import files_matching
from ..generators import DRAWN, SEED, Drawing, parsed
from ..graph import Graph
from .communicators import Communicator
from .ids import StringIds

MAX_GROUPS = 1 << 31  # more row groups than a Parquet file can have: their indices have 16 bits


class EdgeSource(ABC):
    """Edges that the ranks of a build read. ``columns`` names the ends of an edge in messages."""

    columns: tuple[str, str] = ("source", "target")

    @abstractmethod
    def blocks(self, rank: int, size: int) -> Iterable[Pairs]:
        """The edges that rank ``rank`` of ``size`` reads: pairs of arrays of ids, on the device of the build."""

    def numbered(self, communicator: Communicator) -> tuple[EdgeSource, StringIds | None]:
        """The same edges between global ids, and these ids; (self, None) if ids are integers. A collective."""
        return self, None


@dataclass(frozen=True)
class LocalEdges(EdgeSource):
    """Edges that a rank already has: ``read`` returns all of its blocks. Each rank has its own source."""

    read: Callable[[], Iterable[Pairs]]
    columns: tuple[str, str] = EdgeSource.columns

    def blocks(self, rank: int, size: int) -> Iterable[Pairs]:
        return self.read()


@dataclass(frozen=True)
class StringEdges(EdgeSource):
    """Edges between strings that a rank already has: ``read`` yields tables of two columns, dictionaries of strings."""

    read: Callable[[], Iterable[Any]]
    columns: tuple[str, str] = EdgeSource.columns

    def blocks(self, rank: int, size: int) -> Iterator[Pairs]:
        raise TypeError("strings are numbered first")

    def numbered(self, communicator: Communicator) -> tuple[EdgeSource, StringIds]:
        import pyarrow as pa
        import pyarrow.compute as pc

        distinct = pa.array([], pa.large_string())
        for table in self.read():
            words = [distinct, *(chunk.dictionary for column in table.columns for chunk in column.chunks)]
            distinct = pa.chunked_array(words).unique()
        ids = StringIds.of(distinct, communicator)

        def global_ids(column: Any) -> np.ndarray:
            pieces = [np.empty(0, ids.of_given.dtype)]
            for chunk in column.chunks:
                numbers = pc.index_in(chunk.dictionary, distinct).to_numpy(zero_copy_only=False)
                pieces.append(ids.of_given[numbers][chunk.indices.to_numpy(zero_copy_only=False)])
            return np.concatenate(pieces)

        def blocks() -> Iterator[Pairs]:
            for table in self.read():
                yield global_ids(table.column(0)), global_ids(table.column(1))

        return LocalEdges(blocks, self.columns), ids


@dataclass(frozen=True)
class GraphEdges(EdgeSource):
    """The edges of a `Graph` on the host; each rank reads a range of rows."""

    graph: Graph

    def blocks(self, rank: int, size: int) -> Iterator[Pairs]:
        offsets, targets = self.graph.offsets, self.graph.targets
        n = self.graph.num_vertices
        first, last = n * rank // size, n * (rank + 1) // size
        return edge_blocks(offsets, targets, int(offsets[first]), int(offsets[last]))


@dataclass(frozen=True)
class RandomEdges(EdgeSource):
    """The edges of a random graph; each rank draws a range of them."""

    spec: str
    device: str
    seed: int = SEED

    @property
    def drawing(self) -> Drawing:
        kind, sizes = parsed(self.spec)
        return DRAWN[kind](*sizes, seed=self.seed, device=self.device, checked=False)

    def blocks(self, rank: int, size: int) -> Iterator[Pairs]:
        drawing = self.drawing
        first, last = drawing.m * rank // size, drawing.m * (rank + 1) // size
        step = csr_on(self.device).EXCHANGE_BLOCK
        for begin in range(first, last, step):
            yield drawing.edges(begin, min(begin + step, last))


@dataclass(frozen=True)
class ParquetEdges(EdgeSource):
    """The edges in one or more Parquet files; each rank reads every ``size``-th row group."""

    name: str
    files: tuple[File, ...]
    device: str
    columns: tuple[str, str] = EdgeSource.columns

    @classmethod
    def matching(
        cls, path: str | os.PathLike[str], device: str, source: Any = None, target: Any = None
    ) -> ParquetEdges | None:
        """The edges in the files that a pattern matches. None if ``path`` is not a pattern or ids are not numbers: then
        the graph must be read in one piece."""
        if not (files := files_matching(path)):
            return None
        table = joined(os.fsdecode(path), files, source, target)
        if not all(map(is_number, table.plain_types)):
            return None
        return cls(name_of(os.fsdecode(path)), tuple(files), device, table.columns)

    def blocks(self, rank: int, size: int) -> Iterator[Pairs]:
        for index, file in enumerate(self.files):
            with file_errors(file, "Parquet"), unchanged(file):
                groups = range((rank - index) % size, MAX_GROUPS, size)
                for source, target in parquet_table(file, *self.columns, groups.__contains__).numbers():
                    yield (to_device(source), to_device(target)) if self.device == CUDA else (source, target)
