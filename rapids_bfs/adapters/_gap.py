"""GAP's serialized graphs, ``.sg`` (S. Beamer, K. Asanovic, D. Patterson, The GAP Benchmark Suite, 2015).

Little-endian and packed: directed (1 byte), stored edges m and vertices n (int64), offsets (n + 1 int64), targets
(m int32); of a directed graph also offsets and targets of the reverse.
"""

from __future__ import annotations

import struct
from typing import IO

import numpy as np

from .._core.dtypes import INT32_LIMIT
from .._core.memory import require_bytes
from ..errors import InputError
from ..graph import Graph
from ._file import File
from .csr import from_csr

HEADER = struct.Struct("<Bqq")


def expected_bytes(directed: int, edges: int, vertices: int) -> int:
    """Return the size of a file with this header."""
    return HEADER.size + (1 + directed) * (8 * (vertices + 1) + 4 * edges)


def read_serialized(file: File, *, directed: bool | None = None) -> Graph:
    """Return the graph in ``file``; the reverse of a directed one is skipped."""
    with file.open() as stream:
        header = stream.read(HEADER.size)
        if len(header) < HEADER.size:
            raise InputError(f"{file} is cut short: it has {len(header)} bytes, and the header takes {HEADER.size}")
        flag, edges, vertices = HEADER.unpack(header)
        if flag > 1 or edges < 0 or vertices < 0:
            raise InputError(f"{file} is not one of GAP's serialized graphs: its header is invalid")
        expected = expected_bytes(flag, edges, vertices)
        if file.size != expected:
            raise InputError(
                f"{file} has {file.size:,} bytes, where {vertices:,} vertices and {edges:,} edges need {expected:,}"
            )
        require_bytes(expected, f"a graph of {edges:,} edges")
        offsets = np.frombuffer(stream.read(8 * (vertices + 1)), "<i8")
        targets = np.frombuffer(stream.read(4 * edges), "<i4")
    return from_csr(offsets, targets, directed=bool(flag) if directed is None else directed, name=str(file))


def write_serialized(graph: Graph, stream: IO[bytes]) -> None:
    if graph.num_vertices >= INT32_LIMIT:
        raise InputError("GAP's serialized graphs number their vertices in 32 bits")
    stream.write(HEADER.pack(graph.directed, graph.num_arcs, graph.num_vertices))
    for part in (graph, graph.reverse) if graph.directed else (graph,):
        stream.write(part.offsets.astype("<i8").data)
        stream.write(part.targets.astype("<i4", copy=False).data)
