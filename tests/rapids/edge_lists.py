"""Random cuDF edge lists of every kind of id, and the rules that a tree must keep."""

import cudf
import numpy as np

KINDS = ("int32", "int64", "far apart", "strings")


def random_pairs(rng, most_vertices=30, most_edges=90):
    """Sources and targets below a random n, with self-loops and duplicates, at least one edge."""
    n = int(rng.integers(1, most_vertices + 1))
    return rng.integers(0, n, (2, int(rng.integers(1, most_edges + 1))))


def ids_of(vertices, kind):
    """The vertices as ids of this kind, in a `cudf.Series`."""
    if kind == "strings":
        return cudf.Series([f"v{vertex}" for vertex in vertices.tolist()])
    if kind == "far apart":
        return cudf.Series(vertices * 1_000_003 + 7)
    return cudf.Series(vertices.astype(kind))


def frame_of_edges(pairs, kind):
    return cudf.DataFrame({name: ids_of(ids, kind) for name, ids in zip(("src", "dst"), pairs, strict=True)})


def rows_of(frame):
    """A result as a dict: vertex -> (distance, predecessor); nulls as -1."""
    table = frame.to_pandas()
    columns = (table[name].tolist() for name in ("vertex", "distance", "predecessor"))
    return {vertex: (distance, before) for vertex, distance, before in zip(*columns, strict=True)}


def assert_tree(rows, pairs, kind, directed, starts):
    """Each predecessor is one level up and an edge leads from it; where there is none it is -1."""
    sources, targets = (ids_of(ids, kind).to_pandas().tolist() for ids in pairs)
    edges = set(zip(sources, targets, strict=True))
    if not directed:
        edges |= {(target, source) for source, target in edges}
    unreached = np.iinfo(np.int64 if kind in ("int64", "far apart") else np.int32).max
    none = "-1" if kind == "strings" else -1
    for vertex, (distance, before) in rows.items():
        if vertex in starts or distance == unreached:
            assert before == none
            assert distance == (0 if vertex in starts else unreached)
        else:
            assert (before, vertex) in edges
            assert rows[before][0] == distance - 1
