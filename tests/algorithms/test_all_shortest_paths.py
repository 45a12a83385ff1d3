"""The acyclic graph of all shortest paths, their numbers and the paths themselves, against NetworkX and igraph."""

from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import edges_of, graphs, oracle_distances

from rapids_bfs import InputError, NoPathError, all_shortest_paths, as_graph, load, shortest_path_dag
from rapids_bfs.algorithms import all_shortest_paths as module
from rapids_bfs.generators import generate


@st.composite
def pairs(draw):
    graph = draw(graphs(min_vertices=1, max_vertices=14, max_edges=40))
    vertices = st.integers(0, graph.num_vertices - 1)
    return graph, draw(vertices), draw(vertices)


def networkx_paths(graph, source, target):
    """NetworkX's shortest paths, none along a duplicate arc, as sorted lists."""
    theirs = nx.Graph() if not graph.directed else nx.DiGraph()
    theirs.add_nodes_from(range(graph.num_vertices))
    theirs.add_edges_from(edges_of(graph))
    try:
        return sorted(nx.all_shortest_paths(theirs, source, target, backend="networkx"))
    except nx.NetworkXNoPath:
        return None


def found_paths(graph, source, target):
    try:
        return list(all_shortest_paths(graph, source, target))
    except NoPathError:
        return None


def on_paths(graph, source, target=None):
    """The arcs on shortest paths, sorted, by Dijkstra's distances from the source and, reversed, from the target."""
    there = oracle_distances(graph, [source])
    arcs = [(u, v) for u, v in edges_of(graph) if there[u] >= 0 and there[v] == there[u] + 1]
    if target is None:
        return arcs
    back = oracle_distances(graph.reverse, [target])
    return [(u, v) for u, v in arcs if back[v] >= 0 and there[u] + 1 + back[v] == there[target]]


@given(pair=pairs())
def test_paths_are_those_of_networkx(pair):
    graph, source, target = pair
    found = found_paths(graph.simple, source, target)
    assert (found if found is None else sorted(found)) == networkx_paths(graph.simple, source, target)
    again = found_paths(graph, source, target)
    assert (again if again is None else sorted(set(map(tuple, again)))) == (found and sorted(map(tuple, found)))


@given(pair=pairs())
def test_igraph_finds_as_many_along_duplicate_arcs(pair):
    igraph = pytest.importorskip("igraph")
    graph, source, target = pair
    ends = (column.tolist() for column in graph.vertex_pairs())
    theirs = igraph.Graph(graph.num_vertices, list(zip(*ends, strict=True)), directed=graph.directed)
    expected = sorted(theirs.get_all_shortest_paths(source, target))
    assert sorted(found_paths(graph, source, target) or []) == expected
    assert shortest_path_dag(graph, source).path_counts[target] == len(expected)


@given(pair=pairs())
def test_the_acyclic_graph_has_the_arcs_on_shortest_paths(pair):
    graph, source, target = pair
    dag = shortest_path_dag(graph, source)
    assert dag.graph.directed
    assert edges_of(dag.graph) == on_paths(graph, source)
    np.testing.assert_array_equal(dag.distances, oracle_distances(graph, [source]))
    if dag.distances[target] < 0:
        with pytest.raises(NoPathError):
            shortest_path_dag(graph, source, target)
        return
    to_one = shortest_path_dag(graph, source, target)
    assert edges_of(to_one.graph) == on_paths(graph, source, target)
    assert to_one.path_counts[target] == dag.path_counts[target]
    for vertex in np.flatnonzero(to_one.distances < 0):
        assert to_one.path_counts[vertex] == 0 == to_one.graph.degrees[vertex]


@given(pair=pairs())
def test_operations_on_whole_arrays_find_the_same(pair):
    """Which run on a device."""
    graph, source, _ = pair
    dag = shortest_path_dag(graph, source)
    offsets, targets = module._by_arrays(graph, module._arcs_down(graph, dag.distances))
    np.testing.assert_array_equal(offsets, dag.graph.offsets)
    np.testing.assert_array_equal(targets, dag.graph.targets)
    counts = module._count_by_levels(dag.graph, dag.distances, source)
    np.testing.assert_array_equal(counts, dag.path_counts)


@given(pair=pairs())
def test_arcs_keep_their_edge_data(pair):
    graph, source, _ = pair
    ends = np.repeat(np.arange(len(graph)), graph.degrees) * 100 + graph.targets
    dag = shortest_path_dag(graph.replace(edge_data={"ends": ends}), source).graph
    expected = np.repeat(np.arange(len(dag)), dag.degrees) * 100 + dag.targets
    np.testing.assert_array_equal(dag.edge_data["ends"], expected)


@pytest.mark.parametrize("spec", ["path:300", "star:99", "complete:40", "tree:255", "grid:20", "rmat:10"])
def test_shapes(spec):
    """With more arcs than one thread takes at a time."""
    graph = generate(spec)
    dag = shortest_path_dag(graph, 0)
    assert edges_of(dag.graph) == on_paths(graph, 0)
    assert (dag.path_counts > 0).tolist() == (dag.distances >= 0).tolist()


def test_paths_are_in_the_order_of_the_arcs():
    graph = as_graph({"a": ["c", "b"], "b": ["e", "d"], "c": ["d", "e"], "d": ["z"], "e": ["z"]})
    assert ["".join(path) for path in all_shortest_paths(graph, "a", "z")] == ["acdz", "acez", "abez", "abdz"]
    assert list(all_shortest_paths(graph, "a", "a")) == [["a"]]
    assert len(list(all_shortest_paths(as_graph(([0, 0, 1, 1, 1], [1, 1, 2, 2, 2])), 0, 2))) == 6


def test_counts_may_be_beyond_any_integer():
    """A chain of diamonds doubles them with each."""

    def chain(diamonds):
        tops = [3 * i for i in range(diamonds) for _ in range(2)] + [3 * i + j for i in range(diamonds) for j in (1, 2)]
        heads = [3 * i + j for i in range(diamonds) for j in (1, 2)] + [
            3 * i + 3 for i in range(diamonds) for _ in range(2)
        ]
        return as_graph((tops, heads))

    for diamonds, kind in ((52, np.int64), (53, np.float64), (1000, np.float64)):
        counts = shortest_path_dag(chain(diamonds), 0).path_counts
        assert (counts.dtype, counts[-1]) == (kind, 2.0**diamonds)
    assert shortest_path_dag(chain(1100), 0).path_counts[-1] == np.inf
    first = next(all_shortest_paths(chain(1100), 0, 3300))  # of 2**1100
    assert (first[0], first[-1], len(first)) == (0, 3300, 2201)


def test_ids_are_the_users():
    dag = shortest_path_dag("moby", "love", "money")
    paths = list(all_shortest_paths("moby", "love", "money"))
    assert ["love", "fancy", "coin", "money"] in paths
    assert len(paths) == dag.path_counts[dag.target]
    for path in paths:
        assert all(head in dag.graph.neighbors(tail) for tail, head in pairwise(path))


@pytest.mark.parametrize("function", [shortest_path_dag, all_shortest_paths])
def test_what_is_wrong_is_said_at_once(function):
    with pytest.raises(NoPathError, match="no path leads from 'c' to 'a' in"):
        function({"a": ["b"], "b": ["c"], "c": []}, "c", "a")
    for odd in (1.5, "0", [0], True, np.array([0]), -1, 34, 1 << 70):
        for pair in ((odd, 0), (0, odd)):
            with pytest.raises(InputError, match="is not a vertex of karate"):
                function("karate", *pair)
    with pytest.raises(InputError, match="None is not a vertex of karate"):
        function("karate", None, 3)
    with pytest.raises(InputError, match="distributed over 2 devices"):
        function(load("karate", devices="cpu:2"), 0, 1)


def test_a_path_has_a_target():
    with pytest.raises(InputError, match="None is not a vertex of karate"):
        all_shortest_paths("karate", 0, None)
