"""The search of ranks on CPUs by teams of threads, and the bytes that they count, against SciPy and plain sets."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from programs import run
from searched import assert_searched, searches
from strategies import graphs, oracle_distances

from rapids_bfs import bfs, compare, load
from rapids_bfs.distributed import cpu
from rapids_bfs.distributed import level_synchronous as search
from rapids_bfs.distributed.communicators import ThreadCommunicator
from rapids_bfs.distributed.gathered import GATHERED
from rapids_bfs.distributed.graph import from_graph
from rapids_bfs.distributed.launchers import Threads
from rapids_bfs.distributed.partitioning import Partitioning
from rapids_bfs.kernels.cpu import distributed_search as kernels

COUNTERS = 4 * 8  # bytes
NEVER = 1 << 40


@pytest.fixture(scope="module")
def team_for_each_rank():
    """As ranks on workers of a cluster have; even for little work."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ThreadCommunicator, "one_process", False)
        patch.setattr(cpu, "FEW", 0)
        patch.setattr(cpu, "FEW_VERTICES", 0)
        yield


@settings(max_examples=20)
@given(st.data(), graphs(min_vertices=1, max_vertices=40, max_edges=160), st.integers(1, 5))
def test_random_graphs(team_for_each_rank, data, whole, size):
    assert_searched(from_graph(whole, Threads(["cpu"] * size)), whole, data.draw(searches(whole)))


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("alpha", [0, 15, NEVER], ids=["top-down", "both", "bottom-up"])
def test_many_edges(team_for_each_rank, monkeypatch, alpha, dtype):
    monkeypatch.setattr(search, "ALPHA", alpha)
    monkeypatch.setattr(Partitioning, "dtype", np.dtype(dtype))
    whole = load("rmat:12")
    graph = from_graph(whole, Threads(["cpu"] * 2))
    for source in whole.sample_sources(2, 1).tolist():
        options = {"source": [source], "depth_limit": None, "target": None, "predecessors": source % 2 == 0}
        assert_searched(graph, whole, options)


@given(st.lists(st.integers(0, 63) | st.integers(0, 1 << 40), max_size=20))
def test_weights_are_in_the_order_of_degrees(degrees):
    degrees = np.sort(np.array(degrees, np.int64))
    weights = np.empty(len(degrees), np.uint8)
    kernels.weigh(np.concatenate([[0], np.cumsum(degrees)]), weights)
    assert (np.diff(weights.astype(int)) >= 0).all()
    far = (degrees[1:] > 1.13 * degrees[:-1]) & (degrees[1:] < 1 << 32)
    assert (np.diff(weights.astype(int))[far] > 0).all()


def bytes_of_levels(whole, partitioning, sources, directions, width):
    """What each rank has to send in each level, by sets. No level bottom-up is followed by one top-down."""
    numbers = partitioning.global_ids(np.arange(whole.num_vertices))
    owners, others = numbers // partitioning.stride, partitioning.size - 1
    distances = oracle_distances(whole, sources)
    seen = [set() for _ in range(partitioning.size)]
    needed = np.full((len(directions), partitioning.size), COUNTERS * others)
    needed[:1] += COUNTERS * others  # before the first level
    for level, direction in enumerate(directions):
        for rank in range(partitioning.size):
            if direction == "top-down":
                frontier = np.flatnonzero((distances == level) & (owners == rank))
                new = {int(each) for vertex in frontier for each in whole.neighbors(vertex)} - seen[rank]
                seen[rank] |= new
                needed[level, rank] += width * sum(owners[vertex] != rank for vertex in new)
                continue
            found = ((distances == level + 1) & (owners == rank)).any()
            bitmaps = int(found) + (level == 0 or directions[level - 1] == "top-down")
            needed[level, rank] += bitmaps * others * partitioning.stride // 8
    return needed


@settings(max_examples=40)
@given(
    st.data(),
    graphs(min_vertices=1, max_vertices=40, max_edges=160),
    st.integers(1, 4),
    st.sampled_from([(0, 24), (15, NEVER), (NEVER, NEVER)]),
    st.booleans(),
)
def test_bytes_are_those_that_have_to_cross(data, whole, size, when, predecessors):
    sources = data.draw(st.lists(st.integers(0, whole.num_vertices - 1), min_size=1, max_size=3, unique=True))
    graph = from_graph(whole, Threads(["cpu"] * size))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search, "ALPHA", when[0])
        patch.setattr(search, "BETA", when[1])
        trace = bfs(graph, sources, predecessors=predecessors, trace=True).trace
    directions = [level.direction for level in trace]
    width = graph.partitioning.dtype.itemsize * (2 if predecessors else 1)
    needed = bytes_of_levels(whole, graph.partitioning, sources, directions, width)
    assert trace.bytes_needed == needed.tolist()
    heads = (
        kernels.HEAD
        * graph.partitioning.dtype.itemsize
        * (size - 1)
        * np.array([[d == "top-down"] for d in directions])
    )
    assert trace.bytes_sent == (needed + heads).tolist()


def test_one_device_sends_nothing():
    trace = bfs(load("karate"), 0, trace=True).trace
    assert trace.bytes_sent is trace.bytes_needed is None


ASKED = """
import rapids_bfs
from rapids_bfs import engines
from rapids_bfs.kernels.cpu.disk_cache import Cache
asked = []
load = Cache.load_overload
def noted(self, signature, target):
    asked.append(self._impl.filename_base)
    return load(self, signature, target)
for directed in (False, True):
    edges = rapids_bfs.load("karate").vertex_pairs()
    graph = rapids_bfs.as_graph(edges, directed=directed, devices="cpu:2")
    spec, options = engines.resolve("cpu"), engines.Options()
    engines.compile_for(graph, spec, options)
    traversal = engines.prepare(graph, spec)
    Cache.load_overload = noted
    for source in graph.sample_sources(34, 1):
        traversal.search([source], options)
    Cache.load_overload = load
    assert not asked, asked
"""


def test_no_search_that_compare_times_compiles():
    run(ASKED)


def test_compare_times_searches_of_a_graph_that_is_gathered_already():
    graph = load("path:200", devices="cpu:2")
    transports = []

    def noted(done, total, doing):
        if ": source" in doing:
            transports.append(graph.transport)

    compare(graph, engines="cpu", num_sources=3, progress=noted)
    assert set(transports) == {GATHERED}
