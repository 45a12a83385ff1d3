"""What is fuzzed: a file is read, and the outcome is a right graph or exactly one `InputError`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
from tarballs import ESCAPED
from valid import VERTICES

import rapids_bfs
from rapids_bfs import Graph, InputError
from rapids_bfs._core import memory
from rapids_bfs._core.dtypes import index_dtype
from rapids_bfs.adapters.result_files import read_table
from rapids_bfs.result import from_frame

AVAILABLE = 1 << 28  # bytes that `rapids_bfs` believes are free: taking more means that it did not check first

VERTEX_FILE = ".v", "".join(f"{id}\n" for id in VERTICES)  # beside an edge file of LDBC's
EDGE_FILE = ".e", "0 1\n3 8\n"

RESULTS_OF = {  # graphs that files of results may belong to, by the name of the file
    "strings": rapids_bfs.as_graph([("a", "b"), ("b", "c")]),
    "result": rapids_bfs.as_graph(([0, 1, 2], [1, 2, 5])),
}


def prepare() -> None:
    memory.available_bytes = lambda: AVAILABLE


def read(path: Path) -> str:
    """Read a graph, or a result if the file is named so: "graph", "result" or "refused"; raises if it is not right."""
    graph = next((graph for word, graph in RESULTS_OF.items() if path.name.startswith(word)), None)
    try:
        return _read(path, graph)
    finally:
        assert not path.parent.with_name(ESCAPED).exists(), "a member of an archive was written outside"


def _read(path: Path, graph: Graph | None) -> str:
    try:
        if graph is not None and path.name.endswith(("-BFS", "-WCC")):
            rapids_bfs.validate(graph, path)
            return "result"
        if graph is not None:
            return check_frame(graph, read_table(path, graph), path)
        if other := {".e": VERTEX_FILE, ".v": EDGE_FILE}.get(path.suffix):
            path.with_suffix(other[0]).write_text(other[1])
        there = {*path.parent.iterdir()}
        made = rapids_bfs.read(path)
        assert {*path.parent.iterdir()} == there, "reading has left a file"
    except InputError as error:
        check_message(str(error), path)
        return "refused"
    check_graph(made)
    for column in ("weight", "note"):
        check_edge_data(path, column)
    return "graph"


def check_edge_data(path: Path, column: str) -> None:
    """Read the file again, with a column that its edges may carry."""
    try:
        made = rapids_bfs.read(path, edge_data=[column])
    except InputError as error:
        return check_message(str(error), path)
    check_graph(made)
    assert len(made.edge_data[column]) == made.num_arcs
    made.filter(edges=np.zeros(made.num_arcs, bool))


def check_message(message: str, path: Path) -> None:
    assert path.name in message, f"the message does not name the file: {message[:300]}"
    assert len(message.splitlines()) <= 2, f"the message has several lines: {message[:300]}"
    assert len(message) < 1000, f"the message has {len(message):,} characters: {message[:300]}"


def check_frame(graph: Graph, table: pa.Table, path: Path) -> str:
    table.validate(full=True)
    try:
        rapids_bfs.validate(graph, from_frame(graph, table, str(path)))
    except InputError:  # it may name the graph rather than the file
        return "refused"
    return "result"


def check_graph(graph: Graph) -> None:
    """Check everything that the rest of the package relies on in a graph, and run one search."""
    offsets, targets, n = graph.offsets, graph.targets, graph.num_vertices
    assert offsets.ndim == targets.ndim == 1
    assert offsets.dtype == index_dtype(len(targets))
    assert targets.dtype == index_dtype(n)
    assert offsets[0] == 0
    assert offsets[-1] == len(targets)
    assert (np.diff(offsets) >= 0).all()
    assert not len(targets) or 0 <= targets.min() <= targets.max() < n
    assert type(graph.directed) is bool
    assert len(graph.columns) == 2
    assert all(isinstance(column, str) for column in graph.columns)
    check_labels(graph)
    if not graph.directed:
        sources = np.repeat(np.arange(n), np.diff(offsets))
        assert np.array_equal(np.sort(sources * n + targets), np.sort(targets.astype(np.int64) * n + sources))
    if n:
        result = rapids_bfs.bfs(graph, graph.ids_of(np.zeros(1, np.int64))[0])
        verdict = rapids_bfs.validate(graph, result)
        assert verdict, str(verdict)


def check_labels(graph: Graph) -> None:
    labels = graph.labels
    if labels is None:
        return
    assert labels.shape == (graph.num_vertices,)
    if labels.dtype == object:
        assert len(set(labels)) == len(labels)
        assert not any(label is None or label != label for label in labels)
    else:
        assert labels.dtype == np.int64
        assert not len(labels) or labels[0] >= 0
        assert (np.diff(labels) > 0).all()
