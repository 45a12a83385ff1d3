"""`validate`: the check of a result, or of a file that holds one."""

from __future__ import annotations

import os
from collections.abc import Hashable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from .._core.arguments import file_path, quoted
from .._core.cuda.arrays import to_host
from ..adapters import RESULT_COLUMNS
from ..adapters.result_files import COMPONENT, read_table
from ..errors import InputError
from ..graph import Graph
from ..loading import as_graph
from ..result import Distances, from_frame, require_column, vertices_in
from ..validation import Verdict, verdict_of
from .components import connected_components


def validate(graph: Any, result: Any) -> Verdict:
    """Check a result by these rules, in this order. The verdict names the first broken rule and its first vertex.

    ``graph`` is the graph that was searched: a `Graph`, or anything that `as_graph` takes.

    ===================  ==========================================================================================
    masked               a masked vertex was not reached
    distance-range       a distance is -1 or in 0..n-1
    limit                none is beyond the depth limit, or beyond the target at which the search stopped
    predecessor-range    a predecessor is -1 or a vertex
    source               a source has distance 0 and no predecessor
    root                 nothing else has distance 0
    reached              a vertex is reached exactly if it is a source or has a predecessor
    tree-level           a reached vertex is one level below its predecessor (below some in-neighbour, if
                         predecessors were not kept)
    tree-edge            an edge leads from a vertex's predecessor to it
    edge-level           an edge from u to v means distance(v) <= distance(u) + 1; undirected, both ways
    edge-reach           no edge leads from a reached vertex to one that is not, unless the search stopped there
    ===================  ==========================================================================================

    The check runs where the result is, on one device or over several. On the host every edge of an undirected graph is
    checked in both directions, in case its arrays have changed. If predecessors were not kept, the message says that
    they were not checked.

    ``result`` may also be the path of a file: a table as ``rapids-bfs run --out`` writes it, or a reference output of
    LDBC Graphalytics, whose name ends in ``-BFS`` or ``-WCC``. Distances that break no rule are the only right ones
    from the vertices at distance 0. Components are compared with those of the graph; their labels may be any (rule
    component).

    Raises `InputError` if the result's arrays do not fit the graph, or the file cannot be read.
    """
    if isinstance(result, str | os.PathLike):
        return verdict_of_file(as_graph(graph).whole, result)[0]
    return verdict_of(as_graph(graph) if isinstance(result, Distances) else graph, result)


def verdict_of_file(
    graph: Graph, path: str | os.PathLike[str], depth_limit: int | None = None, target: Hashable | None = None
) -> tuple[Verdict, list[str]]:
    """The verdict of a file's result, and the names of its columns that were not checked.

    ``depth_limit`` and the vertex id ``target`` are those of the search, if it had any.
    """
    path = file_path(path)
    table = read_table(Path(path), graph)
    if COMPONENT in table.column_names:
        if depth_limit is not None or target is not None:
            raise InputError(f"{path} holds components, which have neither a depth limit nor a target")
        for column in ("vertex", COMPONENT):
            require_column(table, column, str(path))
        labels = np.empty(graph.num_vertices, np.int64)
        labels[vertices_in(table, graph, str(path))] = table[COMPONENT].to_numpy()
        return _verdict_of_components(graph, labels), []
    answer = from_frame(graph, table, str(path), depth_limit)
    if target is not None:
        answer = replace(answer, target=graph.vertex_of(target))
    return verdict_of(graph, answer), [name for name in table.column_names if name not in RESULT_COLUMNS]


def _verdict_of_components(graph: Graph, labels: np.ndarray) -> Verdict:
    """Do ``labels`` tell the components of a graph apart, and nothing else?"""
    components = to_host(connected_components(graph))
    for one, other, says in (
        (components, labels, "is connected to vertex {}, but has another label"),
        (labels, components, "has the label of vertex {}, to which it is not connected"),
    ):
        _, first, inverse = np.unique(one, return_index=True, return_inverse=True)
        expected = first[inverse]  # of each vertex, the first that `one` puts together with it
        if (wrong := other != other[expected]).any():
            vertex = int(wrong.argmax())
            id, other_id = graph.ids_of(np.array([vertex, expected[vertex]])).tolist()
            return Verdict.broken("component", vertex, id, says.format(quoted(other_id)))
    return Verdict(message="valid components")
