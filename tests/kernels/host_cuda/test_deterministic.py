"""Deterministic searches of CUDA C++ and their host, run on the host, against a sequential queue."""

from collections import deque
from dataclasses import replace
from itertools import pairwise, product

import numpy as np
import pytest
from emulator import emulate
from host_device import HostDevice
from host_faults import ALONE_AT_THE_BARRIER, Fault, assert_seen
from oracle import random_graph, random_options, with_types

from rapids_bfs import as_graph
from rapids_bfs.engines import Options
from rapids_bfs.engines.gpu import cooperative as one_launch
from rapids_bfs.engines.gpu import deterministic, direction_optimizing, first_bitmap
from rapids_bfs.engines.gpu.deterministic import DEFAULT
from rapids_bfs.engines.gpu.direction_optimizing import DirectionOptimizing
from rapids_bfs.generators import generate
from rapids_bfs.kernels.deterministic import MAX_PHASES, PATH_BITS, PHASE_BITS, PHASES

ALWAYS = 1 << 40  # alpha: every level may be wide; wide: none is
SMALL = replace(DEFAULT, threads=64, grid=2, single_block_edges=0)
WIDE = replace(SMALL, wide=0, alpha=ALWAYS, chunk=32, patience=100)
DEEP = replace(SMALL, grid=None, deep=-1, meet=3)
TUNINGS = {
    "ordered": replace(SMALL, wide=ALWAYS),
    "one block": replace(SMALL, single_block_edges=DEFAULT.single_block_edges),
    "wide": WIDE,
    "wide, few first edges": replace(WIDE, share=ALWAYS),
    "wide, all edges first": replace(WIDE, share=1, large=1),
    "wide, up to large siblings": replace(WIDE, share=1, large=6, patience=2),
    "reordered each time": replace(WIDE, patience=1),
    "deep": DEEP,
    "deep, with little room": replace(DEEP, deep_capacity=12, deep_chunks_of_block=12),
    "deep at times": replace(
        DEEP, single_block_edges=6, deep_chunks_of_block=10, wide=60, alpha=ALWAYS, chunk=32, patience=1
    ),
    "to and fro": replace(WIDE, single_block_edges=6, wide=12, alpha=4, patience=2),
}
SHORT, LONG = np.int32, np.int64
BY_DEFAULT = replace(direction_optimizing.DEFAULT, threads=64)


@pytest.fixture(autouse=True)
def host(monkeypatch):
    emulate(monkeypatch, one_launch, direction_optimizing, deterministic, first_bitmap)
    monkeypatch.setattr(direction_optimizing, "PREPARE_THREADS", 64)
    monkeypatch.setattr(one_launch, "SMALL_ARCS", 0)


def search_of(graph, tuning, seed=5):
    """On one to four blocks; on two to four if the tuning leaves the grid open, as those of deep levels do."""
    search = DirectionOptimizing(graph, HostDevice(seed, blocks=4), BY_DEFAULT).deterministic
    search.tune(replace(tuning, grid=1 + seed % 4 if tuning.grid else 2 + seed % 3))
    return search


def by_queue(graph, sources, options):
    """Distances and predecessors of a sequential search, which expands no level after the target's."""
    limit = graph.num_vertices if options.depth_limit is None else options.depth_limit
    distances, predecessors = np.full((2, graph.num_vertices), -1)
    distances[sources] = 0
    rows = [each.tolist() for each in np.split(graph.targets, graph.offsets[1:-1])]
    queue = deque(sources.tolist())
    while queue:
        vertex = queue.popleft()
        if distances[vertex] == limit or (
            options.target is not None and 0 <= distances[options.target] <= distances[vertex]
        ):
            break
        for neighbor in rows[vertex]:
            if distances[neighbor] < 0:
                distances[neighbor], predecessors[neighbor] = distances[vertex] + 1, vertex
                queue.append(neighbor)
    return distances, predecessors


def assert_sequential(search, sources, **options):
    options = Options(**options)
    steps = search.search(sources, options)
    graph = search.graph if options.vertices is None else search.graph.filter(vertices=options.vertices)
    distances, predecessors = by_queue(graph, sources, options)
    np.testing.assert_array_equal(search.distances, distances)
    np.testing.assert_array_equal(search.predecessors, predecessors)
    assert steps is None or len(steps) == search.host.levels


def in_order(graph, rng, how):
    """The graph with each adjacency ascending, or shuffled."""
    owners = np.repeat(np.arange(graph.num_vertices), graph.degrees)
    keys = graph.targets if how == "ascending" else rng.random(graph.num_arcs)
    return graph.replace(targets=graph.targets[np.lexsort((keys, owners))])


def search_graphs(name, orders=("ascending", "shuffled"), seeds=range(10), types=(SHORT, SHORT), **changes):
    """Directed or not, with isolated vertices, self-loops and parallel arcs, one search over what the last one left."""
    for seed, how in product(seeds, orders):
        rng = np.random.default_rng([seed, len(name), len(how)])
        graph = in_order(random_graph(rng, most_vertices=80, most_edges=250), rng, how)
        search = search_of(with_types(graph, *types), replace(TUNINGS[name], **changes), seed)
        search.parameters.alike = seed % 2
        for _ in range(3):
            sources, options = random_options(rng, graph.num_vertices)
            mask = rng.random(graph.num_vertices) < 0.7
            mask[[*sources, options.get("target", sources[0])]] = True
            options |= {"predecessors": True, "vertices": mask if rng.integers(3) == 0 else None}
            assert_sequential(search, rng.permutation(sources), **options)


@pytest.mark.parametrize("name", TUNINGS)
def test_random_graphs(name):
    search_graphs(name)


@pytest.mark.parametrize("name", TUNINGS)
def test_wide_types(name):
    search_graphs(name, seeds=range(4), types=(LONG, LONG))


@pytest.mark.parametrize("name", ["ordered", "wide", "deep at times"])
def test_wide_offsets(name):
    search_graphs(name, seeds=range(4), types=(SHORT, LONG))


@pytest.mark.parametrize("name", TUNINGS)
def test_many_edges(name):
    """Rows of many edges and of vertices found together, many sources, and a trace."""
    graph = generate("complete:24")
    search = search_of(graph, TUNINGS[name])
    notes = np.zeros(MAX_PHASES, np.uint64)
    search.parameters.phases = notes.ctypes.data
    assert_sequential(search, np.array([graph.num_vertices - 1]), trace=True)
    search.parameters.phases = None
    noted = {PHASES[note % (1 << PHASE_BITS)] for note in notes[notes > 0].tolist()}
    assert len(noted) > 1
    assert_sequential(search, np.arange(graph.num_vertices)[::-3])
    assert_sequential(search_of(generate("star:140"), TUNINGS[name]), np.array([100]))


def test_long_rows():
    """Rows that take several steps, with no first edges."""
    search = search_of(generate("complete:80"), replace(WIDE, share=ALWAYS, chunk=0))
    for search.parameters.alike in (0, 1):
        assert_sequential(search, np.array([79]))


def search_in_passes(types=(SHORT, SHORT), seeds=range(4)):
    """First edges are expanded in passes over the targets."""
    for seed in seeds:
        edges = np.random.default_rng(seed).integers(0, 70, (2, 600))
        graph = with_types(as_graph(tuple(edges), vertices=70, directed=False), *types)
        search = search_of(graph, TUNINGS["wide, all edges first"], seed)
        assert search.parameters.alike
        search.parameters.passes = 2
        assert_sequential(search, np.array([9, 0, 35, 20, 40, 50, 60]))


@pytest.mark.parametrize("types", [(SHORT, SHORT), (LONG, LONG)])
def test_in_passes(types):
    search_in_passes(types)


EDITS = (
    *ALONE_AT_THE_BARRIER,
    (
        "if (slot < DISTINCT) return static_cast<int>(slot);",
        "return static_cast<int>(min(min(slot, 3 + slot / 4), LAST_SIBLINGS));",
    ),
    ("constexpr int DISTINCT = 128;", "constexpr int DISTINCT = 4;"),
    ("constexpr int STEPS = 4;", "constexpr int STEPS = 1;"),
)


@pytest.fixture
def edited(monkeypatch):
    """The kernels with `EDITS`, and so with few sibling groups."""
    monkeypatch.setattr(HostDevice, "edits", {"deterministic": EDITS})


def search_in_levels(tuning):
    """Between random levels, whose vertices tie in their sibling groups; rows of several rounds."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        levels = np.split(rng.permutation(100), [1, 9, 20, 34, 49])
        edges = [rng.choice(level, 150) for pair in pairwise(levels) for level in pair]
        ends = np.concatenate(edges[::2]), np.concatenate(edges[1::2])
        for directed in (True, False):
            graph = in_order(as_graph(ends, vertices=100, directed=directed), rng, "ascending")
            search = search_of(graph, tuning, seed)
            for search.parameters.alike in (0, 1):
                assert_sequential(search, levels[0])


@pytest.mark.parametrize("patience", [2, 100])
def test_sibling_groups_of_several_slots(patience, edited):
    """Few sibling groups, so that vertices of several predecessors share one, are compared by ancestors of any age."""
    search_in_levels(replace(WIDE, share=ALWAYS, chunk=0, patience=patience))


@pytest.mark.parametrize("name", ["ordered", "wide", "reordered each time"])
def test_many_words(name):
    """A warp has many words of the bitmaps, and takes the vertices of several tiles together."""
    rng = np.random.default_rng(8)
    graph = as_graph(tuple(rng.integers(0, 2500, (2, 5000))), vertices=2500, directed=False)
    assert_sequential(search_of(graph, TUNINGS[name]), np.array([2499, 0]))


def search_deep(specs=("grid:12", "path:70", "tree:200"), seeds=range(3), **changes):
    """Blocks go several levels ahead, in rows in any order, until the frontier is too large for them."""
    for spec, seed, how in product(specs, seeds, ("ascending", "shuffled")):
        rng = np.random.default_rng([seed, len(how)])
        graph = in_order(generate(spec), rng, how)
        search = search_of(graph, replace(DEEP, **{"meet": 1 + 5 * seed, **changes}), seed)
        middle = graph.num_vertices // 2
        assert_sequential(search, np.array([middle]), trace=True)
        assert_sequential(search, rng.permutation(graph.num_vertices)[:3], target=middle)
        assert_sequential(search, np.array([0]), depth_limit=9)


def test_deep_levels():
    search_deep()


@pytest.mark.parametrize("capacity", [8, 20])
def test_deep_levels_without_room(capacity):
    """Blocks go back to where they last met."""
    search_deep(deep_capacity=capacity, deep_chunks_of_block=capacity // 2)


def test_wide_levels_after_deep_ones():
    search_deep(deep_chunks_of_block=12, wide=0, alpha=ALWAYS, chunk=32, patience=2)


def test_more_deep_levels_than_keys_can_number(monkeypatch):
    """Before they run out of numbers, here of 4 bits, blocks stop and begin again."""
    of_four_bits = (("constexpr int PATH_BITS = 44;", "constexpr int PATH_BITS = 60;"), ("PATH_BITS == 44", "true"))
    monkeypatch.setattr(HostDevice, "edits", {"deterministic": of_four_bits})
    search_deep()


def test_deep_levels_of_few_steps():
    """Where rows are long, keys have bits for the places of few levels."""
    search = search_of(generate("star:70"), replace(DEEP, deep_chunks=1 << 10, meet=16))
    assert search.parameters.meet == (PATH_BITS - 10) // 7
    assert_sequential(search, np.array([9]))


@pytest.mark.parametrize("name", ["ordered", "one block", "to and fro"])
def test_one_block_waits_for_no_others(name, edited):
    """Its launch is an ordinary one."""
    search_graphs(name, seeds=[0, 4])


FAULTS = {
    "ordered: a number that other edges have": Fault(
        "BY_SLOT ? slot[k] : edge + k * WARP + lane_id()",
        "BY_SLOT ? slot[k] : edge + lane_id()",
        *(test_many_edges, "ordered"),
    ),
    "ordered: marks of the level before": Fault("s.marks[word] = 0;", ";", search_graphs, "ordered"),
    "ordered: the slot before": Fault(
        "prefix[k] <= edge[k] ? slot[k] : end[k]", "prefix[k] < edge[k] ? slot[k] : end[k]", search_graphs, "ordered"
    ),
    "ordered: no barrier before the claims are read": Fault(
        "end_phase(s, CLAIM, at.phase, block);", ";", test_many_words, "ordered"
    ),
    "ordered: the counts of one warp too few": Fault(
        "for (int warp = first; warp < last; ++warp) mine += __ldcg(counts + warp);",
        "for (int warp = first; warp + 1 < last; ++warp) mine += __ldcg(counts + warp);",
        *(search_graphs, "ordered"),
    ),
    "one block: two in one place of the queue": Fault(
        "queue.vertices[before.vertices] = neighbor[k];",
        "queue.vertices[before.vertices / 2 * 2] = neighbor[k];",
        *(search_graphs, "one block"),
    ),
    "one block: the queue is not flushed": Fault("s.queued[begin + i] = vertex;", ";", search_graphs, "to and fro"),
    "wide: any sibling group wins": Fault(
        "best[k] = min(best[k], other[k]);",
        "best[k] = max(best[k], other[k]);",
        search_graphs,
        "wide, few first edges",
    ),
    "wide: of few neighbours the last": Fault(
        "best[k] = min(best[k], static_cast<Probe>(siblings[k][i] << PLACE_BITS | (place + i)));",
        "best[k] = min(best[k], static_cast<Probe>(siblings[k][i] << PLACE_BITS | (place + GROUP - 1 - i)));",
        *(search_graphs, "wide, few first edges"),
    ),
    "wide: the end of a row": Fault("hits || at[k] + (width - part) * GROUP >= rows.degree[k]", "true", test_long_rows),
    "wide: past the end of a row": Fault(
        "at[k] + i < rows.degree[k] ? group[k][i] : sentinel", "group[k][i]", search_graphs, "wide, few first edges"
    ),
    "wide: ties are for the one with the larger number": Fault(
        "s.positions ? position(s, parent, one) < position(s, parent, other) : one < other",
        "s.positions ? position(s, parent, one) > position(s, parent, other) : one > other",
        *(search_graphs, "wide"),
    ),
    "wide, first edges: claims stay for the next level": Fault(
        "if (claims) s.fresh[next * tile + lane_id()] = 0;", ";", search_graphs, "wide, all edges first"
    ),
    "wide, first edges: the last target of a pass": Fault(
        "vertex - first < count", "vertex - first < count - 1", search_in_passes
    ),
    "reorder: the wrong place of an edge": Fault(
        "s.queue[at.begin + slot].prefix + position(s, parent, vertex)",
        "s.queue[at.begin + slot].prefix",
        *(search_graphs, "reordered each time"),
    ),
    "reorder: an ancestor is left out": Fault(
        "!test_and_set(s.fresh, vertex) && --level > base",
        "!test_and_set(s.fresh, vertex) && --level > base + 1",
        search_graphs,
        "wide, up to large siblings",
    ),
    "deep: slots that other blocks have": Fault("first_slot = local.met.before;", "first_slot = 0;", search_deep),
    "deep: the last edge of a row first": Fault("static_cast<Key>(rest - 1 - k)", "static_cast<Key>(k)", search_deep),
    "deep: what was asked for, not what was in a queue, is remembered": Fault(
        "won[k] = won[k] && valid && !remembers(neighbor[k]);",
        "won[k] = won[k] && valid && !remembers(neighbor[k]); if (won[k]) remember(neighbor[k]);",
        search_deep,
    ),
    "deep: the first key of a vertex stays": Fault(
        "before[k] = atomicMin(s.keys + neighbor[k], key[k]);",
        "before[k] = atomicCAS(s.keys + neighbor[k], NO_KEY, key[k]);",
        search_deep,
    ),
    "deep: the first block's share for all": Fault("shared[first_slot + i]", "shared[i]", search_deep),
    "deep: without room, none go back": Fault(
        "last < b.level && last == b.met_level",
        "false",
        *(test_deep_levels_without_room, 8),
    ),
    "deep: chunks whose vertex has a smaller key join the frontier": Fault(
        "chunk.rest > 0 && s.keys[chunk.vertex] == chunk.key", "chunk.rest > 0", test_wide_levels_after_deep_ones
    ),
    "deep: predecessors of any level": Fault(
        "level_of(theirs) == level && theirs < best", "theirs < best", search_graphs, "deep"
    ),
    "the next search: ranks of the last": Fault(
        "set_all(s.rank, s.n, thread, threads);", ";", search_graphs, "ordered"
    ),
    "the end: what is unreached": Fault("s.distances[vertex] = -1;", ";", search_graphs, "ordered"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_seen(name, monkeypatch):
    assert_seen(monkeypatch, "deterministic", FAULTS, name)
