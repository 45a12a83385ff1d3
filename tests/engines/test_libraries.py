"""The engines that are other libraries for the CPU; `test_every_engine` has more of them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import graphs, oracle_distances

from rapids_bfs import InputError, bfs, bfs_batch
from rapids_bfs.engines import Options, resolve
from rapids_bfs.engines.libraries import graphblas as ours
from rapids_bfs.generators import generate
from rapids_bfs.testing import assert_valid_bfs

PEERS = ["graphblas", "igraph", "networkit", "rustworkx"]


@pytest.fixture(params=PEERS, scope="module")
def peer(request):
    pytest.importorskip(request.param)
    return request.param


@settings(max_examples=100)
@given(data=st.data())
def test_any_search_is_right_or_declined(peer, data):
    graph = data.draw(graphs(min_vertices=1))
    vertices = st.integers(0, graph.num_vertices - 1)
    sources = data.draw(st.lists(vertices, min_size=1, max_size=3, unique=True))
    options = Options(
        depth_limit=data.draw(st.none() | st.integers(0, 4)),
        target=data.draw(st.none() | vertices),
        predecessors=data.draw(st.booleans()),
        deterministic=data.draw(st.sampled_from([False, False, False, True])),
    )
    choice = resolve(peer)
    if choice.engine.unsupported(graph, choice.algorithm, options, len(sources)):
        assert options.deterministic or len(sources) > 1
        return
    result = choice.traversal(graph).run(np.array(sources), options)
    whole = oracle_distances(graph, sources, options.depth_limit)
    if options.target is not None and whole[options.target] >= 0:
        whole = np.where(whole > whole[options.target], -1, whole)
    np.testing.assert_array_equal(result.distances, whole)
    assert (result.predecessors is not None) == options.predecessors
    assert_valid_bfs(graph, result)


@settings(max_examples=50)
@given(data=st.data())
@pytest.mark.parametrize(("alpha", "beta"), [(1 << 40, 1), (1 << 40, 1 << 40), (0, 1)], ids=["turns", "pull", "push"])
def test_graphblas_pushes_and_pulls(alpha, beta, data):
    pytest.importorskip("graphblas")
    graph = data.draw(graphs(min_vertices=1))
    source = data.draw(st.integers(0, graph.num_vertices - 1))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ours, "ALPHA", alpha)
        patch.setattr(ours, "BETA", beta)
        result = bfs(graph, source, engine="graphblas")
    np.testing.assert_array_equal(result.distances, oracle_distances(graph, [source]))
    assert_valid_bfs(graph, result)


def test_larger_graphs(peer):
    graph = generate("rmat:12")
    for source in np.flatnonzero(graph.degrees)[:3]:
        result = bfs(graph, int(source), engine=peer)
        np.testing.assert_array_equal(result.distances, oracle_distances(graph, [source]))
        assert_valid_bfs(graph, result)


def test_many_sources_take_turns(peer):
    graph = generate("grid:6")
    expected = [oracle_distances(graph, [source]) for source in range(graph.num_vertices)]
    np.testing.assert_array_equal(bfs_batch(graph, engine=peer).distances, expected)


@pytest.mark.parametrize("peer", PEERS)
def test_what_is_missing_is_named(peer, monkeypatch):
    monkeypatch.setattr("rapids_bfs.engines.libraries.base.find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"not installed: pip install 'rapids-bfs\[peers\]'"):
        bfs("karate", 0, engine=peer)
