"""Graphs of LDBC Graphalytics: NAME.v holds the id of a vertex on each line, NAME.e an edge, ``source target``, with a
weight that is ignored. NAME.properties, if it is there, says whether edges are directed. Ids are integers.

A. Iosup and others, The LDBC Graphalytics Benchmark, 2020 (arXiv:2011.15028), section 2.2.2.
"""

from __future__ import annotations

import io
import re
from typing import IO

import numpy as np
import pyarrow as pa

from .._core.arguments import quoted
from .._core.memory import require_bytes
from ..errors import InputError
from ..graph import Graph
from ._file import File
from ._tables import to_edge_table, with_vertices, write_rows
from ._text import read_integers

EDGES, VERTICES, PROPERTIES = PARTS = (".e", ".v", ".properties")
DIRECTED = re.compile(rb"^\s*graph\.\S+\.directed\s*[=:]\s*(true|false)\s*$", re.MULTILINE)
ID = re.compile(r"\s*([0-9]{1,19})\s*", re.ASCII)


def read_ldbc(file: File, *, directed: bool | None = None) -> Graph:
    """The graph in ``file`` and those beside it, given any of them."""
    edges, vertices, properties = map(file.beside, PARTS)
    for part in (edges, vertices):
        if not part.exists:
            raise InputError(f"{part} does not exist: LDBC's graphs are in {EDGES} and {VERTICES} files of one name")
        if not part.size:
            raise InputError(f"{part} is empty")
    if directed is None and properties.exists and (said := DIRECTED.search(properties.head())):
        directed = said[1] == b"true"
    ids = _ids(vertices)
    whole = with_vertices(read_integers(edges, directed), ids)
    if whole.num_vertices > len(ids):
        _refuse_edge(edges, vertices, ids)
    return whole


def _ids(file: File) -> np.ndarray:
    """The ids in ``file``, ascending (int64)."""
    require_bytes(24 * file.about_lines(), f"a graph of about {file.about_lines():,} vertices")
    blocks = [np.empty(0, np.int64)]
    try:
        with file.text() as text, text.columns(names=[0, 1]) as frames:
            for frame in frames:
                if frame[0].dtype.kind != "i" or frame[0].min() < 0 or frame[1].notna().any():
                    raise ValueError("a line is no id")
                blocks.append(frame[0].to_numpy(np.int64))
    except ValueError:
        _refuse_id(file)
        raise
    ids = np.sort(np.concatenate(blocks))
    if (again := ids[1:] == ids[:-1]).any():
        twice = int(ids[1:][again][0])
        line = [number for number, text in _lines(file) if text.strip() == str(twice)][1:2]
        raise InputError(f"{file}{f', line {line[0]}' if line else ''}: the vertex {twice} is there twice")
    return ids


def _lines(file: File) -> enumerate[str]:
    return enumerate(io.TextIOWrapper(io.BufferedReader(file.text()), encoding="latin-1"), 1)


def _refuse_id(file: File) -> None:
    """Raise `InputError` naming the first line of ``file`` that is no id, if there is one."""
    for number, line in _lines(file):
        found = ID.fullmatch(line)
        if not line.isspace() and not (found and int(found[1]) < 1 << 63):
            raise InputError(f"{file}, line {number}: {quoted(line.strip())} is not the id of a vertex, an integer")


def _refuse_edge(edges: File, vertices: File, ids: np.ndarray) -> None:
    """Raise `InputError` naming the first edge with an id that is not among ``ids``."""
    known = set(ids.tolist())
    for number, line in _lines(edges):
        for id in line.split()[:2]:
            if int(id) not in known:
                raise InputError(f"{edges}, line {number}: {id} is not a vertex in {vertices.path.name}")
    raise InputError(f"{edges} has ids that are not in {vertices.path.name}")


def write_ldbc(graph: Graph, edges: IO[bytes], vertices: IO[bytes], properties: IO[bytes]) -> None:
    """An undirected edge once, and the ids in ascending order."""
    if graph.has_objects:
        raise InputError("LDBC's ids are integers: rename the vertices first")
    if not graph.num_arcs:
        raise InputError("LDBC's files cannot hold a graph without edges")
    write_rows(to_edge_table(graph), edges, " ")
    write_rows(pa.table([graph.ids_of(np.arange(graph.num_vertices))], ["id"]), vertices)
    said = {
        "vertex-file": f"{graph.name}{VERTICES}",
        "edge-file": f"{graph.name}{EDGES}",
        "meta.vertices": graph.num_vertices,
        "meta.edges": graph.num_edges,
        "directed": str(graph.directed).lower(),
    }
    properties.write("".join(f"graph.{graph.name}.{key} = {value}\n" for key, value in said.items()).encode())
