"""cuGraph's graphs and cuDF's frames for `rapids_bfs.cugraph` where there is no GPU: NumPy plays CuPy, pandas cuDF."""

import sys
from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import strategies as st

from rapids_bfs.adapters import cudf, cugraph
from rapids_bfs.cugraph import prepared
from rapids_bfs.testing import graphs

KINDS = ("0..n-1", "gaps", "strings", "two columns")  # of ids


class Graph:
    """As `cugraph.Graph`: it holds a graph of ours, and the names of its vertices if it was renumbered."""

    __module__ = "cugraph.structure.graph_classes"

    def __init__(self, directed=False, *, graph=None, names=None, dtype=np.int32, weights=None):
        self.directed = directed if graph is None else graph.directed
        self.graph, self.names, self.dtype, self.weights = graph, names, np.dtype(dtype), weights
        self._Impl = SimpleNamespace(_plc_graph=graph)

    renumbered = property(lambda self: self.names is not None)

    def is_directed(self):
        return self.directed

    def is_weighted(self):
        return self.weights is not None

    def is_multi_gpu(self):
        return False

    def decompress_to_edgelist(self, return_unrenumbered_edgelist):
        assert not return_unrenumbered_edgelist
        return self.weights

    def from_cudf_edgelist(self, frame, source, destination, edge_attr=None):
        self.edges = frame, source, destination, edge_attr


def places_of(rows, frame):
    """`rapids_bfs.adapters.cudf.places_of`, in an order of its own."""
    found = rows.reset_index(drop=True).reset_index().merge(frame.reset_index(), on=list(frame.columns))
    found = found.iloc[::-1]
    return found["index_x"].to_numpy(), found["index_y"].to_numpy()


@contextmanager
def rapids_on_host():
    """Let the drop-in take such graphs, and SciPy's matrices, and make pandas's frames of NumPy's arrays."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "cudf", pd)
        patch.setitem(sys.modules, "cugraph", SimpleNamespace(Graph=Graph))
        patch.setattr(pd.DataFrame, "to_pandas", pd.DataFrame.copy, raising=False)
        patch.setattr(cudf, "frame_of", pd.DataFrame)
        patch.setattr(cudf, "rows_at", lambda frame, places: frame.take(places).reset_index(drop=True))
        patch.setattr(cudf, "places_of", places_of)
        patch.setattr(cugraph, "internal", lambda graph: (graph.graph, graph.dtype))
        patch.setattr(cugraph, "external_ids", lambda graph: graph.names)
        patch.setattr(prepared, "CUDA", "cpu")
        yield


@st.composite
def cugraph_graphs(draw, **options):
    """A graph of cuGraph's with ids of any of the `KINDS`, and the id of each vertex."""
    graph = draw(graphs(min_vertices=1, **options))
    n = graph.num_vertices
    kind = draw(st.sampled_from(KINDS))
    dtype = draw(st.sampled_from([np.int32, np.int64]))
    if kind in ("0..n-1", "gaps"):
        ids = np.arange(n) * (1 if kind == "0..n-1" else 3)
        given = graph if kind == "0..n-1" else graph.replace(labels=ids)
        return Graph(graph=given, dtype=dtype), ids.tolist()
    strings = [f"v{number}" for number in draw(st.permutations(range(n)))]
    columns = {"0": strings} | ({"1": list(range(100, 100 + n))} if kind == "two columns" else {})
    names = pd.DataFrame(columns)
    ids = strings if kind == "strings" else list(names.itertuples(index=False, name=None))
    return Graph(graph=graph, names=names, dtype=dtype), ids


def ids_in(frame, name):
    """The ids in the column, or the columns, ``name`` of a frame: tuples if there are several."""
    columns = [name] if name in frame else sorted(each for each in frame if each.endswith(f"_{name}"))
    rows = [tuple(row) for row in frame[columns].itertuples(index=False, name=None)]
    return [row[0] if len(row) == 1 else row for row in rows]


def given_as(ids, graph):
    """Ids as the drop-in takes several of them: a frame if they have several columns, else a list."""
    return pd.DataFrame(ids, columns=["a", "b"]) if isinstance(ids[0], tuple) else list(ids)
