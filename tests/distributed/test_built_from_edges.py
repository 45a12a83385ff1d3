"""Distributed graphs built from edges, a share of them on each rank, against the graph in one piece."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pairs import SIZES
from strategies import edge_lists, edges_of

from rapids_bfs import InputError, as_graph, bfs, validate
from rapids_bfs.distributed import build as building
from rapids_bfs.distributed.build import Plan, build
from rapids_bfs.distributed.graph import DistributedGraph
from rapids_bfs.distributed.launchers import Threads
from rapids_bfs.distributed.sources import LocalEdges


def in_blocks(edges, cuts):
    """A `LocalEdges` for each rank: the edges cut up, in blocks of seven."""
    sources, targets = edges

    def source(first, last):
        def blocks():
            for begin in range(first, last, 7):
                step = slice(begin, min(begin + 7, last))
                yield sources[step], targets[step]

        return LocalEdges(blocks)

    ends = [0, *cuts, len(sources)]
    return [source(first, last) for first, last in pairwise(ends)]


@settings(max_examples=100)
@given(
    st.data(),
    edge_lists(min_vertices=1, max_vertices=30, max_edges=120),
    SIZES,
    st.sampled_from([(1, 0), (1, 5), (3, 0), (10**15, 7)]),
    st.sampled_from([None, True, False]),
    st.booleans(),
    st.sampled_from([0, 2, 1 << 40]),
)
def test_edges_distributed_make_the_graph_that_they_make_in_one_piece(
    data, drawn, size, spacing, directed, given_n, max_global_ids
):
    """Ids with gaps, small and large; each rank with any share of the edges, or none; with and without ``vertices``."""
    factor, summand = spacing
    n, *ends = drawn
    edges = [factor * each + summand for each in ends]
    vertices = n + summand if given_n and factor == 1 else None
    cuts = sorted(data.draw(st.integers(0, len(edges[0]))) for _ in range(size - 1))
    whole = as_graph(tuple(edges), vertices=vertices, directed=directed)
    launcher = Threads(["cpu"] * size)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(building, "MAX_GLOBAL_IDS", max_global_ids)
        partitions = launcher.map(build, Plan(vertices=vertices, directed=directed), each=[in_blocks(edges, cuts)])
    graph = DistributedGraph(partitions, launcher)
    assert (graph.num_vertices, graph.num_edges, graph.directed) == (
        *(whole.num_vertices, whole.num_edges, whole.directed),
    )
    brought = graph.to("cpu")
    brought.check()
    assert edges_of(brought) == edges_of(whole)
    labels = np.arange(whole.num_vertices) if whole.labels is None else whole.labels
    np.testing.assert_array_equal(brought.ids_of(np.arange(whole.num_vertices)), labels)
    if len(labels):
        source = labels[data.draw(st.integers(0, len(labels) - 1))].item()
        result = bfs(graph, source)
        assert validate(graph, result)
        np.testing.assert_array_equal(result.to("cpu").distances, bfs(whole, source).distances)
        assert result.to_frame().equals(result.to("cpu").to_frame())
        assert labels[-1].item() + 1 not in graph


def test_a_bad_id_is_named():
    ends = np.array([0, 1, 2]), np.array([1, -2, 0])
    launcher = Threads(["cpu"] * 2)
    with pytest.raises(InputError, match=r"'target', row 1 \(from 0\): -2 is negative"):
        launcher.map(build, Plan(), each=[in_blocks(ends, [3])])


@pytest.mark.parametrize("spacing", [1, 5])
def test_edges_that_change_while_they_are_read(spacing):
    reads = iter(range(99))

    def blocks():
        rng = np.random.default_rng(next(reads))
        yield spacing * np.append(np.arange(40), rng.integers(0, 40, 400)), spacing * rng.integers(0, 40, 440)

    launcher = Threads(["cpu"])
    with pytest.raises(InputError, match="changed while they were read"):
        launcher.map(build, Plan(directed=True), each=[[LocalEdges(blocks)]])


@pytest.mark.parametrize("new", [-1, 41, 10**17])
def test_an_id_that_was_not_there_when_edges_were_counted(new):
    reads = iter([0, *[new] * 99])

    def blocks():
        yield np.arange(41), np.append(np.arange(40)[::-1], next(reads))

    launcher = Threads(["cpu"])
    with pytest.raises(InputError, match="changed while they were read"):
        launcher.map(build, Plan(), each=[[LocalEdges(blocks)]])


@pytest.mark.parametrize("new", [1, 10**17])
def test_an_id_that_was_not_there_when_ids_were_numbered(new):
    """Between the others, or beyond the last."""
    reads = iter([0, 0, *[new] * 99])

    def blocks():
        ids = 10**15 * np.arange(40)
        ids[7] += next(reads)
        yield ids, np.roll(ids, 1)

    launcher = Threads(["cpu"])
    with pytest.raises(InputError, match="changed while they were read"):
        launcher.map(build, Plan("cpu"), each=[[LocalEdges(blocks)]])
