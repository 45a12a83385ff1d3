"""Searches that do not enter masked vertices, or follow masked edges: those of the graph without them."""

import sys
from types import SimpleNamespace

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse.csgraph
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import graphs, oracle_distances

from rapids_bfs import (
    InputError,
    NoPathError,
    as_graph,
    bfs,
    bfs_batch,
    connected_components,
    load,
    shortest_path,
    validate,
)
from rapids_bfs._core.cuda import arrays
from rapids_bfs.engines.cpu import batch, search
from rapids_bfs.graph import checked_mask

ENGINES = ("cpu", "cpu:sequential", "scipy", "networkx")


@pytest.fixture(scope="module", autouse=True)
def the_parallel_kernel():
    """Graphs of any size are searched by the kernel for large ones."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search, "TINY", 0)
        patch.setattr(search, "NEAR", 0)
        patch.setattr(search, "SMALL", 0)
        yield


@st.composite
def masked_graphs(draw):
    """A graph, a mask of its vertices, and some that may be entered."""
    graph = draw(graphs(min_vertices=1))
    n = graph.num_vertices
    mask = np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)), bool)
    if draw(st.booleans()):
        mask[:] = True
    mask[draw(st.integers(0, n - 1))] = True
    chosen = draw(st.lists(st.sampled_from(np.flatnonzero(mask).tolist()), min_size=1, max_size=3, unique=True))
    return graph, mask, chosen


@given(masked_graphs(), st.sampled_from(ENGINES), st.none() | st.integers(0, 3), st.booleans())
def test_a_search_stays_within_the_mask(drawn, engine, depth_limit, predecessors):
    graph, mask, sources = drawn
    for _ in range(2):  # what an earlier search left in the buffers counts for nothing
        found = bfs(graph, sources, vertices=mask, engine=engine, depth_limit=depth_limit, predecessors=predecessors)
        expected = oracle_distances(graph.filter(vertices=mask), sources, depth_limit)
        np.testing.assert_array_equal(found.distances, expected)
        assert validate(graph, found)
        np.testing.assert_array_equal(found.vertices, mask)
        bfs(graph, sources, engine=engine)
    target = int(np.flatnonzero(mask)[-1])
    assert (
        bfs(graph, sources, target=target, vertices=mask, engine=engine).distance_to(target)
        == oracle_distances(graph.filter(vertices=mask), sources)[target]
    )


@given(masked_graphs(), st.none() | st.integers(0, 3), st.sampled_from(["shared", "side by side", "one by one"]))
def test_batches_stay_within_the_mask(drawn, depth_limit, kind):
    graph, mask, sources = drawn
    kept = graph.filter(vertices=mask)
    expected = [oracle_distances(kept, [source], depth_limit) for source in sources]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batch, "SHARING", {"shared": 0, "side by side": np.inf, "one by one": 1.5}[kind])
        options = {"depth_limit": depth_limit, "vertices": mask}
        np.testing.assert_array_equal(bfs_batch(graph, sources, **options).distances, expected)
        np.testing.assert_array_equal(
            bfs_batch(graph, sources, depth_limit=depth_limit).distances.shape, (len(sources), len(mask))
        )
        summary = bfs_batch(graph, sources, keep="summary", **options)
    assert summary.reached.tolist() == [int((row >= 0).sum()) for row in expected]
    assert summary.total.tolist() == [int(row[row >= 0].sum()) for row in expected]
    assert bfs_batch(graph, vertices=mask).sources.tolist() == np.flatnonzero(mask).tolist()


@given(masked_graphs())
def test_paths_and_components_stay_within_the_mask(drawn):
    graph, mask, sources = drawn
    n = graph.num_vertices
    kept = graph.filter(vertices=mask)
    distances = oracle_distances(kept, sources[:1])
    for target in np.flatnonzero(mask).tolist():
        if distances[target] < 0:
            with pytest.raises(NoPathError):
                shortest_path(graph, sources[0], target, vertices=mask)
            continue
        path = shortest_path(graph, sources[0], target, vertices=mask)
        assert len(path) == distances[target] + 1
        assert path == shortest_path(kept, sources[0], target)
        assert len(shortest_path(graph, sources[0], target)) <= len(path)
    labels = connected_components(graph, vertices=mask)
    assert (labels[~mask] == -1).all()
    matrix = scipy.sparse.csr_array((np.ones(kept.num_arcs), kept.targets, kept.offsets), shape=(n, n))
    _, theirs = scipy.sparse.csgraph.connected_components(matrix, directed=False)
    seen = {}
    assert labels[mask].tolist() == [seen.setdefault(label, len(seen)) for label in theirs[mask].tolist()]


@settings(max_examples=30)
@given(masked_graphs(), st.data())
def test_edges_are_followed_as_networkx_restricts_them(drawn, data):
    graph, mask, sources = drawn
    theirs = graph.to("networkx")
    if theirs.is_multigraph():
        graph = graph.simple
        theirs = graph.to("networkx")
    hidden = data.draw(st.lists(st.sampled_from(sorted(theirs.edges)), unique=True) if theirs.edges else st.just([]))
    view = nx.restricted_view(theirs, np.flatnonzero(~mask).tolist(), hidden)
    pairs = {*hidden} if graph.directed else {each for u, v in hidden for each in ((u, v), (v, u))}
    ends = zip(np.repeat(np.arange(len(mask)), graph.degrees).tolist(), graph.targets.tolist(), strict=True)
    edges = np.array([pair not in pairs for pair in ends], bool)
    found = bfs(graph, sources[0], vertices=mask, edges=edges)
    assert found.as_dict() == nx.single_source_shortest_path_length(view, sources[0])
    assert found.graph.num_arcs == edges.sum()


def test_masked_ends_are_refused_by_name():
    graph = as_graph({"a": ["b"], "b": ["c"], "c": []})
    mask = np.array([True, False, True])
    for call in (
        lambda: bfs(graph, "b", vertices=mask),
        lambda: bfs(graph, ["a", "b"], vertices=mask),
        lambda: bfs(graph, "a", target="b", vertices=mask),
        lambda: bfs_batch(graph, ["a", "b"], vertices=mask),
        lambda: shortest_path(graph, "a", "b", vertices=mask),
        lambda: shortest_path(graph, "b", "a", vertices=mask),
    ):
        with pytest.raises(InputError, match="'b' is masked"):
            call()
    nothing = np.zeros(3, bool)
    assert connected_components(graph, vertices=nothing).tolist() == [-1, -1, -1]
    assert len(bfs_batch(graph, vertices=nothing).sources) == 0


@pytest.mark.parametrize("mask", [[True], np.ones(34), "mask", 1, lambda graph: None])
def test_a_bad_mask_is_refused(mask):
    for call in (bfs, bfs_batch, shortest_path, connected_components):
        arguments = {bfs: (1,), bfs_batch: ([1],), shortest_path: (1, 2)}.get(call, ())
        with pytest.raises(InputError, match="karate: a mask of"):
            call("karate", *arguments, vertices=mask)


class Device:
    """One of several, of which the thread has a current one; it notes what is waited for."""

    current, waited = 1, []

    def __init__(self, id):
        self.id = id

    def __eq__(self, other):
        return self.id == other.id

    def __enter__(self):
        self.before, Device.current = Device.current, self.id

    def __exit__(self, *raised):
        Device.current = self.before

    def synchronize(self):
        self.waited.append(self.id)


class OnDevice:
    """CuPy's array: on the device that is current when it is made."""

    def __init__(self, values):
        self.dtype, self.shape, self.device = values.dtype, values.shape, Device(Device.current)


def asarray(array, order="K"):
    here = isinstance(array, OnDevice) and array.device.id == Device.current
    return array if here else OnDevice(array)


@pytest.mark.parametrize("given_on", [None, 0, 1])
def test_a_mask_goes_to_the_graphs_device_though_another_is_current(given_on, monkeypatch):
    """What may still write it on another device is waited for."""
    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(asarray=asarray, ndarray=OnDevice))
    monkeypatch.setattr(arrays, "require_device", lambda: None)
    monkeypatch.setattr(Device, "waited", [])
    mask = np.ones(3, bool)
    with Device(0):
        graph = SimpleNamespace(name="graph", answers_on="cuda", targets=OnDevice(np.arange(4)))
    if given_on is not None:
        with Device(given_on):
            mask = OnDevice(mask)
    found = checked_mask(mask, graph, 3, "vertices")
    assert (found.device.id, Device.current) == (0, 1)
    assert (found is mask) == (given_on == 0)
    assert Device.waited == ([1] if given_on == 1 else [])


def test_engines_without_masks_refuse_them():
    with pytest.raises(InputError, match="does not support vertices"):
        bfs("karate", 1, vertices=np.ones(34, bool), engine="igraph")


def test_a_distributed_graph_refuses_a_mask_of_arcs():
    graph, mask = load("karate", devices="cpu:2"), np.ones(34, bool)
    for call in (lambda: bfs(graph, 1, edges=mask), lambda: graph.filter(edges=mask)):
        with pytest.raises(InputError, match="its arcs have no order for a mask of them"):
            call()


def test_results_keep_the_mask_that_they_were_given():
    """It may be changed for the next search."""
    graph = load("path:5")
    mask = np.array([True, True, True, False, True])
    found, batch = bfs(graph, 0, vertices=mask), bfs_batch(graph, [0], vertices=mask)
    mask[:] = False
    assert validate(graph, found)
    assert found.vertices.tolist() == batch.vertices.tolist() == [True, True, True, False, True]


def test_the_verdict_names_a_masked_vertex_that_was_reached():
    graph = load("path:5")
    found = bfs(graph, 0, vertices=np.array([True, True, True, False, True]))
    assert found.distances.tolist() == [0, 1, 2, -1, -1]
    assert validate(graph, found)
    found.distances[3] = 3
    verdict = validate(graph, found)
    assert verdict.rule == "masked"
    assert "vertex 3 is masked" in str(verdict)


def test_a_column_of_pandas_is_read_by_place():
    """Its index was ignored without a word: pandas would have found another value for each id."""
    graph = as_graph([("a", "b"), ("b", "c")])
    assert bfs(graph, "a", vertices=pd.Series([True, True, False])).as_dict() == {"a": 0, "b": 1}
    assert graph.filter(edges=lambda _: pd.Series([True, False], index=[0, 1])).num_edges == 1
    for index in (["c", "b", "a"], [2, 1, 0], pd.date_range("2026", periods=3), [("x", 1)] * 3):
        with pytest.raises(InputError, match=r"index of this Series is not 0\.\.2 in order, .* the graph's vertices"):
            bfs(graph, "a", vertices=pd.Series([True, True, False], index=index))
    with pytest.raises(InputError, match=r"index of this Series is not 0\.\.1 in order, .* the graph's arcs"):
        graph.filter(edges=pd.Series([True, False], index=[1, 0]))
