"""Connected components, against SciPy's."""

import numpy as np
import pytest
from answers import in_child
from hypothesis import given
from scipy.sparse.csgraph import connected_components as scipy_components
from strategies import graphs

from rapids_bfs import InputError, as_graph, connected_components
from rapids_bfs.adapters.scipy import to_scipy
from rapids_bfs.generators import generate
from rapids_bfs.kernels.cpu import afforest


def assert_right(graph):
    """SciPy numbers components as we do, in the order of their first vertices."""
    labels = connected_components(graph)
    assert labels.dtype == graph.targets.dtype
    expected = scipy_components(to_scipy(graph, np.int8), directed=graph.directed, connection="weak")[1]
    np.testing.assert_array_equal(labels, expected)


@given(graph=graphs(max_vertices=30, max_edges=50))
def test_random_graphs(graph):
    assert_right(graph)


@pytest.mark.parametrize("spec", ["path:300", "star:99", "complete:40", "tree:255", "grid:40", "rmat:12", "urand:12"])
@pytest.mark.parametrize("directed", [False, True])
def test_shapes(spec, directed):
    assert_right(generate(spec).replace(directed=directed))


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("directed", [False, True])
def test_more_vertices_than_a_sample_with_many_components(seed, directed):
    """From hardly any edges to just enough for one large component, which is skipped where edges go both ways."""
    rng = np.random.default_rng(seed)
    n = 3 * afforest.SAMPLE
    ends = rng.integers(0, n, (2, seed * n // 6))
    assert_right(as_graph(tuple(ends), vertices=n, directed=directed))


@pytest.mark.parametrize("n", [afforest.CACHED // 16, afforest.CACHED + 1])
@pytest.mark.parametrize("ascending", [False, True])
def test_neighbours_in_any_order(n, ascending):
    """Vertices of one large component, of others and of none, with labels that fit a cache and with more."""
    rng = np.random.default_rng(n)
    ends = np.concatenate([rng.integers(n // 3, n, (2, n)), rng.integers(0, n // 3, (2, n // 10))], axis=1)
    graph = as_graph(tuple(ends), vertices=n, directed=False)
    if ascending:
        graph = graph.replace(
            targets=np.concatenate([np.sort(row) for row in np.split(graph.targets, graph.offsets[1:-1])])
        )
    assert_right(graph)


def test_a_directed_path_against_the_order_of_its_vertices():
    n = 5000
    assert not connected_components(as_graph((np.arange(1, n), np.arange(n - 1)))).any()


def test_wide_types():
    graph = as_graph((np.array([0, 3, 1]), np.array([2, 4, 1])), vertices=6, directed=False)
    wide = graph.replace(targets=graph.targets.astype(np.int64), offsets=graph.offsets.astype(np.int64))
    assert connected_components(wide).dtype == np.int64
    assert connected_components(wide).tolist() == [0, 1, 0, 2, 2, 3]


def test_a_graph_without_vertices_or_edges():
    assert connected_components(as_graph(([], []))).tolist() == []
    assert connected_components(as_graph(([], []), vertices=3)).tolist() == [0, 1, 2]


def test_ids_do_not_matter():
    assert connected_components([(10, 70), (30, 50), (70, 20)]).tolist() == [0, 0, 1, 1, 0]


@pytest.mark.parametrize("odd", [None, 3, "no such graph", [(0, 1, 2)]])
def test_no_graph(odd):
    with pytest.raises(InputError):
        connected_components(odd)


def test_the_callers_array_is_their_own():
    graph = generate("grid:5")
    connected_components(graph)[:] = 7
    assert not connected_components(graph).any()


def test_a_child_finds_the_same():
    graph = generate("rmat:10")
    np.testing.assert_array_equal(in_child(lambda: connected_components(graph)), connected_components(graph))
