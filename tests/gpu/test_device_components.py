"""Connected components on a device, beside those of the host and of SciPy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components as scipy_components
from strategies import graphs

from rapids_bfs import Graph, as_graph, connected_components
from rapids_bfs._core.cuda.arrays import on_device, to_host
from rapids_bfs.generators import generate

cupy = pytest.importorskip("cupy", reason="CuPy is not installed: pip install 'rapids-bfs[cuda13]'")


def found_on_device(graph, **options):
    labels = connected_components(graph._with().to("cuda"), **options)
    assert on_device(labels)
    assert labels.dtype == graph.targets.dtype
    return to_host(labels)


@settings(max_examples=60)
@given(graphs(max_vertices=90, max_edges=200), st.sampled_from([None, 0, 0.5, 0.9, 1]), st.booleans())
def test_components_of_any_graph(graph, share, wide):
    if wide:
        graph = Graph(graph.offsets.astype(np.int64), graph.targets.astype(np.int64), directed=graph.directed)
    mask = None if share is None else np.random.default_rng(graph.num_arcs).random(graph.num_vertices) < share
    expected = connected_components(graph, vertices=mask)
    np.testing.assert_array_equal(found_on_device(graph, vertices=mask), expected)
    on_gpu = None if mask is None else cupy.asarray(mask)
    np.testing.assert_array_equal(found_on_device(graph, vertices=on_gpu), expected)


def two_stars_and_paths(leaves=300_000):
    """Hubs in components that are not the largest, whose rows take many warps; ids in random order."""
    star, second = np.full(leaves, 0), np.full(leaves // 2, leaves + 1)
    path = np.arange(2 * leaves, 4 * leaves)
    sources = np.r_[star, second, path]
    targets = np.r_[1 + np.arange(leaves), leaves + 2 + np.arange(leaves // 2), path + 1]
    order = np.random.default_rng(1).permutation(int(targets.max()) + 1)
    return as_graph((order[sources], order[targets]), directed=False)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("make", ["rmat:18", "grid:700", "path:300000", "urand:17", two_stars_and_paths])
def test_components_of_large_graphs(make, directed):
    graph = make() if callable(make) else generate(make)
    graph = graph._with(directed=directed)
    count, expected = scipy_components(graph.to("scipy"), directed=False)
    labels = found_on_device(graph)
    assert labels.max() + 1 == count
    _, firsts = np.unique(labels, return_index=True)
    assert (np.diff(firsts) > 0).all()  # numbered in the order of their first vertices
    np.testing.assert_array_equal(expected[firsts][labels], expected)  # and as many as SciPy's, so they are the same


def test_no_vertices():
    assert len(found_on_device(as_graph(([], []), vertices=0))) == 0
