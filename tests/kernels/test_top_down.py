"""A level top-down by threads finds what it should, however few chunks there are, and whoever comes."""

import numpy as np
import pytest
from scipy import sparse
from team_jobs import module as team_module
from team_jobs import start

from rapids_bfs.kernels.cpu import top_down
from rapids_bfs.kernels.cpu.bits import words
from rapids_bfs.kernels.cpu.direction_optimizing import Search

TEAM = start(3)


def bitmap(vertices, n):
    bits = np.zeros(words(n) * 64, np.uint8)
    bits[vertices] = 1
    return np.packbits(bits, bitorder="little").view(np.uint64)


def vertices_in(bits, n):
    return np.flatnonzero(np.unpackbits(bits.view(np.uint8), bitorder="little")[:n])


@pytest.mark.parametrize("called", [1, 2, 4, -4], ids=str)
@pytest.mark.parametrize("edges", [0, 1 << 30], ids=["at once", "sorted"])
@pytest.mark.parametrize("chunks", ["enough chunks", "no chunks"])
@pytest.mark.parametrize(("n", "degree"), [(70, 3), (1_000, 40), (50_000, 8), (300_000, 3)])
def test_a_level(n, degree, chunks, edges, called):
    rng = np.random.default_rng(n + called)
    matrix = sparse.random_array((n, n), density=degree / n, format="csr", rng=rng)
    frontier = rng.permutation(n)[: n // 5].astype(np.int32)
    visited = np.union1d(frontier, rng.integers(0, n, n // 4))
    pool, bins = top_down.pool_and_bins(0 if chunks == "no chunks" else matrix.nnz, 4, np.dtype(np.int32))
    empty = np.empty(0, np.int32)
    search = Search(
        matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), n, empty, empty, empty,
        bitmap(visited, n), bitmap([], n), bitmap([], n), np.full(n, -1, np.int32), np.full(n, -1, np.int32),
        np.concatenate([frontier, np.full(n - len(frontier), -1, np.int32)]), pool, bins,
        np.zeros(top_down.COUNTERS, np.int64),
    )  # fmt: skip
    at_rest = bins.copy()
    for without_tree in False, True:  # the second finds nothing more
        TEAM[team_module.RESTED] = 0
        s = search._replace(predecessors=search.predecessors[:0]) if without_tree else search
        beyond = top_down.expand_by_threads(s, 0, len(frontier), edges, 7, TEAM, abs(called), called)
        found = search.queue[len(frontier) : search.counters[top_down.TAIL]]
        if without_tree:
            assert len(found) == beyond == 0
            assert np.array_equal(bins, at_rest)
            break
        expected = np.setdiff1d(matrix[frontier].indices, visited)
        assert np.array_equal(np.sort(found), expected)
        assert beyond == np.diff(matrix.indptr)[expected].sum()
        assert np.array_equal(vertices_in(search.visited, n), np.union1d(visited, expected))
        assert np.array_equal(np.flatnonzero(search.distances == 7), expected)
        assert np.array_equal(np.flatnonzero(search.predecessors >= 0), expected)
        assert np.isin(search.predecessors[expected], frontier).all()
        assert (np.asarray(matrix[search.predecessors[expected], expected]) != 0).all()
        assert np.array_equal(bins, at_rest)
