"""The fast search of CUDA C++ and its host, run on the host, against SciPy."""

from dataclasses import replace

import numpy as np
import pytest
from host_device import HostDevice
from host_faults import ALONE_AT_THE_BARRIER, Fault, assert_seen
from oracle import random_graph, random_options, with_types
from search_on_host import (
    LONG,
    SHORT,
    assert_right,
    assert_written,
    host,  # noqa: F401 - a fixture
    search_graphs,
    search_of,
    search_small_rows,
    search_within_masks,
)
from tunings import DEEP, TUNINGS

from rapids_bfs import as_graph
from rapids_bfs.engines import Options
from rapids_bfs.engines.gpu import direction_optimizing
from rapids_bfs.engines.gpu.direction_optimizing import DirectionOptimizing
from rapids_bfs.generators import generate

EDITS = (
    ("RECENT = 1 << 11", "RECENT = 4"),
    ("RECENT == 2048", "RECENT == 4"),
    ("done += width;", "done += width; if (done > 16 * 32) __trap();"),
    *ALONE_AT_THE_BARRIER,
)


@pytest.mark.parametrize("name", TUNINGS)
def test_random_graphs(name):
    search_graphs(name, range(16))


@pytest.mark.parametrize("name", TUNINGS)
def test_small_rows(name):
    search_small_rows(name)


@pytest.mark.parametrize("name", TUNINGS)
def test_masks(name):
    search_within_masks(name)


@pytest.mark.parametrize("name", TUNINGS)
def test_wide_types(name):
    """More threads than go on in a block alone, too."""
    search_graphs(name, range(5), (LONG, LONG), threads=160)
    search_small_rows(name, range(4), (LONG, LONG), threads=160)


@pytest.mark.parametrize("name", TUNINGS)
def test_wide_offsets(name):
    search_graphs(name, range(5), (SHORT, LONG))
    search_small_rows(name, range(4), (SHORT, LONG))


def search_many_words(name, vertices=2500, blocks=4):
    """A warp has many words of the bitmaps, and takes the vertices of several tiles together."""
    rng = np.random.default_rng(len(name))
    ends = tuple(rng.integers(0, vertices, (2, 3 * vertices)))
    search = search_of(as_graph(ends, vertices=vertices, directed=False), TUNINGS[name], blocks - 1)
    assert_right(search, [17])


@pytest.mark.parametrize("name", ["top-down", "dense", "to and fro"])
def test_many_words(name):
    search_many_words(name)


def search_in_passes(types=(SHORT, SHORT), **changes):
    """Random graphs, some with an odd number of vertices, and an L2 that holds the predecessors of half of them."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        vertices = 200 + seed
        ends = tuple(rng.integers(0, vertices, (2, 800)))
        graph = with_types(as_graph(ends, vertices=vertices, directed=bool(seed % 2)), *types)
        search = search_of(graph, replace(TUNINGS["dense"], **changes), seed)
        search.device.l2_bytes = 103 * graph.targets.itemsize
        search.tune(search.tuning)
        assert search.parameters.passes == 2
        assert_right(search, [int(graph.targets[0])])


@pytest.mark.parametrize(("types", "threads"), [((SHORT, SHORT), 64), ((SHORT, LONG), 64), ((LONG, LONG), 160)])
def test_in_passes(types, threads):
    search_in_passes(types, threads=threads)


def all_pairs(some, others):
    return np.repeat(some, len(others)), np.tile(others, len(some))


def test_when_in_passes(monkeypatch):
    """Where there are more edges than vertices, predecessors to store, and no hubs in the frontier."""
    edits = (("const long long count = (s.n +", "__trap(); const long long count = (s.n +"),)
    monkeypatch.setattr(HostDevice, "edits", {"direction_optimizing": edits})
    hubs, leaves, apart = range(1, 11), range(11, 311), range(311, 411)  # apart: so that it does not go bottom-up
    ends = np.hstack([all_pairs([0], hubs), all_pairs(hubs, leaves), all_pairs(apart, apart)])
    graph = as_graph(tuple(ends), directed=False)  # 301 edges a hub, 10 a leaf, about 60 a vertex
    search = search_of(graph, TUNINGS["dense"])
    search.parameters.passes = 2
    assert_right(search, [0], depth_limit=2)
    assert_right(search, [0], depth_limit=3, predecessors=False)
    with pytest.raises(AssertionError, match="__trap"):
        assert_right(search, [0], depth_limit=3)
    path = search_of(generate("path:70"), TUNINGS["dense"])
    path.parameters.passes = 2
    assert_right(path, [0])


def search_towards_leaves(spec, arcs=288):
    """Eight vertices with seven leaves each are the second frontier: 64 of 408 edges that no level has expanded."""
    middle, leaves = range(1, 9), range(9, 65)
    tree = np.hstack([all_pairs([0], middle), [np.repeat(middle, 7), leaves]])
    other = generate(spec)
    copies = range(arcs // other.num_arcs)
    apart = np.hstack([np.array(other.to("edges")) + 65 + other.num_vertices * copy for copy in copies])
    search = search_of(as_graph(tuple(np.hstack([tree, apart])), directed=False), replace(TUNINGS["top-down"], alpha=8))
    assert_right(search, [0], trace=True)
    return search.steps[1].direction


def test_a_frontier_without_hubs_goes_bottom_up_later():
    """Those eight have twice as many edges as others or many times as many, by what else the graph has."""
    assert search_towards_leaves("complete:9") == "top-down"
    assert search_towards_leaves("path:2") == "bottom-up"


def test_many_tiles():
    search_many_words("bottom-up", 9300, 1)


@pytest.mark.parametrize("spec", ["complete:100", "star:500", "two sides"])
def test_many_edges(spec):
    """Rows of several rounds."""
    both_sides = as_graph((np.repeat(np.arange(80), 80), np.tile(np.arange(80, 160), 80)), directed=False)
    graph = both_sides if spec == "two sides" else generate(spec)
    for name in TUNINGS:
        assert_right(search_of(graph, TUNINGS[name]), [graph.num_vertices - 1])


@pytest.mark.parametrize("name", ["top-down", "bottom-up", "one block", "deep"])
def test_isolated_vertices(name):
    """Most vertices are isolated: a search that begins at one leaves nothing for the next."""
    rng = np.random.default_rng(len(name))
    graph = as_graph(tuple(rng.integers(0, 40, (2, 10))), vertices=40, directed=True)
    search = search_of(graph, TUNINGS[name], 1)
    for sources in [[each] for each in range(12)] + [[30, 31], [32]]:
        assert_right(search, sources)


ROOMY = 2000  # vertices, most of them isolated, so that the grid's queue has room for the chunks that are distributed


def test_blocks_with_unequal_numbers_of_chunks():
    """Chunks are shared out, more than a round for each: a block takes some of the other's, and all are won."""
    children = np.repeat(np.arange(1, 61), np.repeat([3, 1], [40, 20]))
    middle = 61 + np.arange(len(children))
    ends = np.r_[np.zeros(60, int), children, middle], np.r_[1:61, middle, middle + len(children)]
    graph = as_graph(ends, vertices=ROOMY, directed=False)
    for seed in range(4):
        assert_right(search_of(graph, replace(DEEP, capacity=256, meet=1), seed), [0])


def search_ahead(capacity=256, meet=16):
    """Each block has a part of the first level, from which chains with chords lead on, so that each block lowers
    distances that the other gave."""
    for seed in range(8):
        rng = np.random.default_rng(seed)
        first, chain = np.arange(1, 101), np.arange(101, 399)
        chords = rng.integers(101, 400, (2, 60))
        chain = chain[rng.random(len(chain)) < 0.9]
        ends = np.r_[0 * first, first, chain, chords[0]], np.r_[first, rng.choice(chain, 100), chain + 1, chords[1]]
        graph = as_graph(ends, vertices=ROOMY, directed=False)
        search = search_of(graph, replace(DEEP, capacity=capacity, meet=meet), 2 * seed)
        assert_right(search, [0])
        assert_right(search, [0], target=399)


@pytest.mark.parametrize(("capacity", "meet"), [(256, 16), (256, 2), (56, 16)])
def test_blocks_that_go_ahead(capacity, meet):
    search_ahead(capacity, meet)


def test_some_threads_of_each_block(monkeypatch):
    """Those that take no part wait for the others."""
    edits = (("FirstThreads<256>", "FirstThreads<64>"),)
    monkeypatch.setattr(HostDevice, "edits", {"direction_optimizing": edits})
    search_graphs("deep", range(4), threads=160)
    search_small_rows("deep, after one block", range(4), threads=160)


@pytest.mark.parametrize(("spec", "expected"), [("path:70", [False, True, True]), ("star:70", [False] * 3)])
def test_after_a_deep_search(spec, expected):
    search = search_of(generate(spec), replace(DEEP, deep=10))
    for deep in expected:
        assert_right(search, [0])
        assert (search.parameters.deep_chunks > 0) == deep


def test_no_other_block_expands_what_one_block_begins(monkeypatch):
    """The path makes the next search deep, with room in the queue for fewer chunks than one block expands. Block 0 is
    late to write the source, and no barrier holds the others before its first level."""
    begins = "if (w.thread == 0) {\n        state->target_level"
    late = f"for (int i = 0; w.thread == 0 && i < 5000; ++i) __threadfence();\n    {begins}"
    monkeypatch.setattr(HostDevice, "edits", {"direction_optimizing": ((begins, late),)})
    ends = np.r_[:69, np.full(300, 70)], np.r_[1:70, 71 + np.arange(300) % 30]
    tuning = replace(DEEP, deep=10, single_block_chunks=128, capacity=128)
    search = search_of(as_graph(ends, directed=True), tuning)
    assert search.room < 1 + 300 // 4 <= search.parameters.single_block_chunks <= search.deep_chunks
    assert_right(search, [0])
    assert_right(search, [70])


@pytest.mark.parametrize("grid", [1, 3])
def test_blocks_that_are_too_few_or_too_many_do_not_go_ahead(grid, monkeypatch):
    monkeypatch.setattr(direction_optimizing, "MOST_BLOCKS", 2)
    search = DirectionOptimizing(generate("path:70"), HostDevice(blocks=4), replace(DEEP, grid=grid))
    assert_right(search, [0])
    assert search.parameters.deep_chunks == 0


def search_ahead_in_vain():
    """100 chains of 20 vertices, half of which soon branch: a block that has no room for these, or meets the target,
    stops the others, which have gone further."""
    places = np.arange(1, 2001).reshape(20, 100)  # by level
    chains = np.r_[np.zeros(100, int), places[:-1].ravel()], np.r_[places[0], places[1:].ravel()]
    branching, branches = np.repeat(places[1, :50], 3), np.arange(2001, 2151)
    ends = np.r_[chains[0], branching, branches], np.r_[chains[1], branches, branches + 150]
    for seed in range(4):
        search = search_of(as_graph(ends, directed=True), replace(DEEP, capacity=100, meet=16), seed)
        assert_right(search, [0])
        search.tune(replace(search.tuning, capacity=256))
        assert_written(search, [0], Options(target=int(places[4, 50])), cleared=True)


def test_blocks_that_stop_others():
    search_ahead_in_vain()


@pytest.mark.parametrize("most", [0, 2])
def test_few_deep_runs_that_gain_little(monkeypatch, most):
    """Each of 40 vertices in a row has leaves for whose chunks there is no room, so the whole grid expands them."""
    enters = "if (!p.labeled) unlabel<MASKED>"
    edits = (
        ("MOST_SMALL_RUNS = 8", f"MOST_SMALL_RUNS = {most}"),
        (enters, f"if (p.small_runs >= {most}) __trap(); {enters}"),
    )
    monkeypatch.setattr(HostDevice, "edits", {"direction_optimizing": edits})
    row = np.arange(40)
    ends = np.r_[row[:-1], np.repeat(row, 30)], np.r_[row[1:], 40 + np.arange(1200)]
    assert_right(search_of(as_graph(ends, directed=False), TUNINGS["deep, without room"]), [0])


@pytest.fixture
def edited(monkeypatch):
    """The kernels with `EDITS`."""
    monkeypatch.setattr(HostDevice, "edits", {"direction_optimizing": EDITS})


def test_a_full_memory(edited):
    """Blocks forget vertices that they visited, and visit them again."""
    search_small_rows("deep", range(4))


def search_long_rows():
    """Vertices that 4,000 others lead to, of which no search reaches more than the last."""
    others, source, last = np.arange(4000), 4000, 4001
    found, lost, after = 4002, 4003, 4004
    ends = np.r_[others, others, others[:9]], np.repeat([found, lost, after], [4000, 4000, 9])
    path = [source, last, found], [last, found, after]
    graph = as_graph(tuple(np.r_[one, other] for one, other in zip(ends, path, strict=True)), directed=True)
    for seed in range(2):
        assert_right(search_of(graph, TUNINGS["bottom-up"], seed), [source])


def test_a_long_row_is_not_left_to_one_warp(edited):
    """After 16 rounds, of 32 groups each, the whole grid probes it."""
    search_long_rows()


@pytest.mark.parametrize("types", [(SHORT, SHORT), (LONG, LONG)])
def test_every_row_is_long(monkeypatch, types):
    edits = (("MAX_GROUPS = 512", "MAX_GROUPS = 0"),)
    monkeypatch.setattr(HostDevice, "edits", {"direction_optimizing": edits})
    search_graphs("bottom-up", range(10), types)
    search_graphs("to and fro", range(10), types)
    search_within_masks("bottom-up", range(6), types)


@pytest.mark.parametrize("name", TUNINGS)
def test_arrays_that_nobody_wrote(name):
    """A search writes every element of the arrays of its result, and what it is to say where it found nothing."""
    rng = np.random.default_rng(len(name))
    for most_edges in (20, 60, 100):
        graph = random_graph(rng, most_vertices=60, most_edges=most_edges)
        n = graph.num_vertices
        search = search_of(graph, TUNINGS[name])
        sources, options = random_options(rng, n)
        options = Options(**options | {"predecessors": True})
        for cleared in (False, True, False):
            assert_written(search, sources, options, cleared)
        assert_right(search, sources)


@pytest.mark.parametrize("name", ["dense", "to and fro", "one block"])
def test_one_block_waits_for_no_others(name, edited):
    """Its launch is an ordinary one."""
    search_graphs(name, [0, 4])


PUBLISH = "all[rank] = {min(filled, limit + 1), local.stops_before};"
EXPAND_DENSE = "reached = expand_dense_top_down(s, w, p, upcoming, begin);"
FAULTS = {
    "prepare: another vertex in a row of `heavy`": Fault(
        "if (place >= 0 && place < GROUP) heavy[vertex * GROUP + place] = candidate[0];",
        "if (place >= 0 && place < GROUP) heavy[vertex * GROUP + place] = candidate[0] ^ (candidate[0] > 0);",
        *(search_graphs, "bottom-up"),
    ),
    "prepare: that there are more than four": Fault(
        "small_rows && round == GROUP && max_degree >= 0", "false", search_small_rows, "deep"
    ),
    "top-down: two in one place of the queue": Fault(
        "place += packed(1, degree[k], s.edge_bits);", ";", search_graphs, "top-down"
    ),
    "top-down: the wrong level": Fault(
        "if (!DENSE) s.distances[neighbor[k]] = level;",
        "if (!DENSE) s.distances[neighbor[k]] = level - 1;",
        *(search_graphs, "top-down"),
    ),
    "top-down: the last edge of a run": Fault(
        "batch + lane < end", "batch + lane < end - 1", search_graphs, "top-down"
    ),
    "top-down: as late without hubs": Fault(
        "hubs ? s.alpha : (s.alpha + 1) / 2", "s.alpha", test_a_frontier_without_hubs_goes_bottom_up_later
    ),
    "dense: no barrier before the copy of a bitmap is changed": Fault(
        f"end_phase(s.state, p.phase++, s.edge_bits, w.result);\n        {EXPAND_DENSE}",
        EXPAND_DENSE,
        *(search_many_words, "dense"),
    ),
    "dense: the last target of a pass": Fault("vertex - first < count", "vertex - first < count - 1", search_in_passes),
    "dense: a bitmap too many in the ring": Fault(
        "newest - oldest == BITMAPS - 2", "newest - oldest == BITMAPS", search_small_rows, "dense"
    ),
    "bottom-up: edges of the row before": Fault(
        "place + i >= first[k] && place + i < last[k]", "place + i < last[k]", search_graphs, "bottom-up"
    ),
    "bottom-up: the end of a row": Fault(
        "place + (width - part) * GROUP < last[k]", "false", test_many_edges, "star:500"
    ),
    "bottom-up: a vertex takes a parent of its own level": Fault(
        "word[k][i] = u.visited[word_of(group[k][i])];",
        "word[k][i] = u.visited[word_of(group[k][i])] | u.words[0];",
        test_many_tiles,
    ),
    "bottom-up: the bitmap's last word": Fault(
        "write(word, lane < tile && word < words, hits + i * TILE + lane);",
        "write(word, lane < tile && word + 1 < words, hits + i * TILE + lane);",
        *(search_graphs, "bottom-up"),
    ),
    "bottom-up: long rows that nobody probes": Fault(
        "if (dense && result.explored) expand_long_rows<MASKED>(s, w, p, ring);", ";", search_long_rows
    ),
    "bottom-up: long rows are settled without a bit": Fault(
        "!test_and_set(upcoming, vertex)", "!test(upcoming, vertex)", search_long_rows
    ),
    "bottom-up: the end of a run of long rows": Fault(
        "min((warp + 1) * run, rows.edges)", "min((warp + 1) * run, rows.edges) - 1", search_long_rows
    ),
    "bottom-up: past the end of the lists of tiles": Fault(
        "tiles < TILES && u.listed <= LIST - TILE * WARP", "u.listed <= LIST", test_many_tiles
    ),
    "distances: past the end of the predecessors": Fault(
        "if (none && vertex + i < s.n) s.predecessors[vertex + i] = -1;",
        "if (none) s.predecessors[vertex + i] = -1;",
        *(test_arrays_that_nobody_wrote, "bottom-up"),
    ),
    "distances: predecessors of what was not reached": Fault(
        "lacks == bitmaps", "false", test_arrays_that_nobody_wrote, "bottom-up"
    ),
    "distances: predecessors of isolated vertices": Fault(
        "clear_isolated && lacks == BITMAPS", "false", test_arrays_that_nobody_wrote, "bottom-up"
    ),
    "back to the queue: without the edges before": Fault("bits & ~before[word]", "bits", search_graphs, "to and fro"),
    "masks: barred vertices lead on, bottom-up": Fault(
        "__ldcg(visited + word) & ~__ldcg(s.barred + word)",
        "__ldcg(visited + word)",
        *(search_within_masks, "bottom-up"),
    ),
    "masks: what a barred vertex was before": Fault(
        "MASKED ? s.barred : s.isolated", "s.isolated", search_within_masks, "top-down"
    ),
    "the next search: a bitmap that is not reset": Fault(
        "reset_for_next_search(s, w.warp, w.warps);", ";", search_graphs, "top-down"
    ),
    "the next search: a source without edges": Fault(
        "*stale = s.fresh ? was_stale : one_source && test(s.isolated, s.source);",
        "*stale = 0;",
        *(test_isolated_vertices, "top-down"),
    ),
    "grid: a target that is not seen": Fault(
        "if (vertex == s.target) s.state->target_level = level;", ";", search_graphs, "top-down"
    ),
    "one block: no barrier between levels": Fault(
        "Few::barrier();\n        ++level;", "++level;", search_graphs, "one block"
    ),
    "one block: the last chunk of a vertex": Fault(
        "done < chunk[k].rest", "done + CHUNK < chunk[k].rest", search_graphs, "one block"
    ),
    "one block: a frontier that grows is not copied back": Fault(
        "if (queue[i].rest > 0) append_vertex(queue[i]);", ";", search_graphs, "to and fro"
    ),
    "one block, without room: nothing goes to the grid's queue": Fault(
        "if (won[k]) append_vertex(next[k]);",
        ";",
        *(search_graphs, "one block, without room"),
    ),
    "without room: rubbish at the end of the queue": Fault(
        "for (int i = start + lane_id(); i < capacity; i += WARP) queue[i].rest = 0;",
        ";",
        *(search_graphs, "one block, without room"),
    ),
    "deep: only the blocks themselves meet": Fault(
        f"{PUBLISH}\n                grid_barrier(&state->arrived);",
        PUBLISH,
        test_blocks_with_unequal_numbers_of_chunks,
    ),
    "deep: the others are not told to stop": Fault(
        "met.stop = min(met.stop, __ldcg(&all[i].stops_before));", ";", search_graphs, "deep, without room"
    ),
    "deep: chunks are read before all have copied theirs": Fault(
        "if (threadIdx.x == 0) grid_barrier(&state->arrived);", ";", test_blocks_with_unequal_numbers_of_chunks
    ),
    "deep: chunks of two blocks in one place": Fault(
        "met.before += i < rank ? chunks : 0;", ";", test_blocks_with_unequal_numbers_of_chunks
    ),
    "deep: a chunk that no block takes": Fault(
        "min(first + Queues::even_share(), local.met.total)",
        "min(first + Queues::even_share(), local.met.total) - 1",
        test_blocks_with_unequal_numbers_of_chunks,
    ),
    "deep: a vertex is not expanded again where its distance is lowered": Fault(
        "won[k] = before[k] > level + 1;", "won[k] = before[k] == UNLABELED;", search_ahead
    ),
    "deep: a single edge of a directed graph leads on": Fault(
        "next.rest > (s.in_offsets == s.offsets)", "next.rest > 1", search_graphs, "deep"
    ),
    "labels: those of later levels stay": Fault(
        "if (!reached && distance != UNLABELED) forget(s, vertex[0]);", ";", search_ahead_in_vain
    ),
    "labels: noted parents of vertices not reached": Fault(
        "if (s.predecessors) s.predecessors[vertex] = -1;", ";", search_ahead_in_vain
    ),
    "labels: barred vertices have one": Fault(
        "if (MASKED && no_way >> lane & 1) s.distances[vertex] = -1;", ";", search_within_masks, "deep"
    ),
    "labels: a parent of another level": Fault(
        "if (theirs[i] == distance) parent = group[i];",
        "if (theirs[i] <= distance + 1) parent = group[i];",
        *(search_small_rows, "deep"),
    ),
    "labels: a parent beyond the first in-neighbours": Fault(
        "if (lane_id() == which) parent = found;", ";", test_many_edges, "two sides"
    ),
    "labels: the last level is not appended": Fault("distance == last", "false", search_graphs, "deep, without room"),
    "deep: another vertex counts as seen": Fault(
        "exchange(recent + place_in_table<LENGTH>(vertex), vertex) != vertex",
        "exchange(recent + place_in_table<LENGTH>(vertex) / 64, vertex) == -1",
        search_small_rows,
        "deep",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_seen(name, monkeypatch):
    assert_seen(monkeypatch, "direction_optimizing", FAULTS, name)
