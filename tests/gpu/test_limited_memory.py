"""Searches under a limit of CuPy's pool: the right answer, in pieces that fit, or one error that says what to do."""

import numpy as np
import pytest

from rapids_bfs import InputError, as_graph, betweenness, bfs, bfs_batch, iter_neighborhoods, load
from rapids_bfs._core.cuda.arrays import CUDA, LESS_MEMORY, to_host

SOURCES, CENTERS = range(128), range(0, 400, 25)


def searched(graph):
    return bfs(graph, 7).distances


def made(ends):
    import cupy

    return as_graph(tuple(map(cupy.asarray, ends))).targets


def moved(graph):
    return graph.to("cpu").replace().to(CUDA).targets


def batches(graph):
    found = np.zeros((len(SOURCES), 2), np.int64)
    bfs_batch(graph, SOURCES, on_batch=lambda rows, some: found.__setitem__(rows, to_host(some[:, [0, -1]])))
    return found


def distances(graph):
    return bfs_batch(graph, SOURCES).distances[:, ::1000]


def summaries(graph):
    return bfs_batch(graph, SOURCES, keep="summary").total


def scores(graph):
    return betweenness(graph, range(8))


def near(graph):
    return np.concatenate([np.diff(some.offsets) for some in iter_neighborhoods(graph, CENTERS, 2)])


CALLS = [searched, moved, batches, distances, summaries, scores, near]
IN_PIECES = {"made", "searched", "moved", "batches", "summaries", "near"}  # what 2 GiB suffice for


@pytest.fixture(scope="module")
def unlimited():
    """A graph and other edges on the host, and what is right."""
    graph = load("rmat:22")
    ends = np.random.default_rng(0).integers(0, 1 << 22, (2, 1 << 25), np.int32)
    there = graph.to(CUDA)
    right = {call.__name__: to_host(call(there)) for call in CALLS} | {"made": to_host(made(ends))}
    return graph.replace(), ends, right


@pytest.mark.parametrize("limit", [2 << 30, 1 << 30, 300 << 20])
def test_limited_pool(unlimited, limit):
    import cupy

    graph, ends, right = unlimited
    pool, answered = cupy.get_default_memory_pool(), set()

    def check(name, call):
        try:
            found = to_host(call())
        except InputError as error:
            assert LESS_MEMORY in str(error)  # noqa: PT017  # an answer is as good
        else:
            answered.add(name)
            np.testing.assert_allclose(found, right[name], err_msg=name)

    pool.free_all_blocks()
    pool.set_limit(size=limit)
    try:
        check("made", lambda: made(ends))
        for call in CALLS:
            try:
                there = graph.replace().to(CUDA)
            except InputError:
                there = as_graph(graph, device=CUDA, adjacency="pinned")
            check(call.__name__, lambda call=call, there=there: call(there))
            check("searched", lambda there=there: searched(there))
            del there
    finally:
        pool.set_limit(size=0)
    np.testing.assert_array_equal(to_host(searched(graph.replace().to(CUDA))), right["searched"])
    if limit == 2 << 30:
        assert answered >= IN_PIECES
