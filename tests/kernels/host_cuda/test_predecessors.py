"""The predecessors of many searches from their distances: the kernel against a loop in Python, on the host."""

from itertools import product

import host_device
import numpy as np
import pytest
from host_faults import Fault, assert_seen
from oracle import expected_distances, random_graph

from rapids_bfs import as_graph


def predecessors_by_loop(into, distances):
    found = np.full(distances.shape, -1)
    for row, level in enumerate(distances):
        for vertex in np.flatnonzero(level > 0):
            neighbors = into.targets[into.offsets[vertex] : into.offsets[vertex + 1]]
            found[row, vertex] = neighbors[level[neighbors] == level[vertex] - 1][0]
    return found


def hub():
    """Vertex 0 has 77 in-edges, of which a search from 77 has the last one alone a level up, one from 78 all from the
    21st on, and one from 3 the third."""
    leaves = np.arange(1, 78)
    sources = [leaves, np.full(76, 77), np.full(57, 78)]
    targets = [np.zeros(77, int), leaves[:-1], leaves[20:]]
    return as_graph((np.concatenate(sources), np.concatenate(targets)), directed=True)


def test_kernel():
    cases = [(random_graph(np.random.default_rng(seed), most_vertices=60, most_edges=400), None) for seed in range(6)]
    for (graph, sources), (vertex, offset) in product(
        [*cases, (hub(), [77, 78, 3])], [(np.int32, np.int32), (np.int32, np.int64), (np.int64, np.int64)]
    ):
        n = graph.num_vertices
        sources = np.random.default_rng(n).integers(n, size=3) if sources is None else sources
        distances = np.array([expected_distances(graph, [source], None, None) for source in sources], np.int32)
        into = graph.reverse
        found = np.full(distances.shape, 77, vertex)
        arrays = into.offsets.astype(offset), into.targets.astype(vertex), distances
        host_device.launch(
            "predecessors", "find_predecessors", vertex, offset, distances.size, *arrays, n, distances.size, found
        )
        np.testing.assert_array_equal(found, predecessors_by_loop(into, distances))


FAULTS = {
    "the level itself": Fault(
        "distances[row + source] == distance - 1", "distances[row + source] == distance", test_kernel
    ),
    "of another search": Fault("distances[its_row + source] == above", "distances[source] == above", test_kernel),
    "the last of a warp": Fault(
        "__shfl_sync(ALL, source, __ffs(hits) - 1)", "__shfl_sync(ALL, source, 31 - __clz(hits))", test_kernel
    ),
    "the warp helps nobody": Fault("__ballot_sync(ALL, found < 0 && edge < end)", "0", test_kernel),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_seen(name, monkeypatch):
    assert_seen(monkeypatch, "predecessors", FAULTS, name)
