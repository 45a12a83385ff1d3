"""The kernels that make and check graphs, called by the modules that users call, run on the host, against NumPy's."""

import sys
from unittest import mock

import host_device
import numpy as np
import pytest
from host_faults import Fault, assert_seen
from oracle import random_graph

from rapids_bfs import InputError, bfs, validation
from rapids_bfs._core.csr import host as host_csr
from rapids_bfs._core.csr import host_filter
from rapids_bfs.generators import DRAWN, drawn

with mock.patch.dict(sys.modules, cupy=np):  # whose arrays are the device's here
    from rapids_bfs._core.csr import device as device_csr
    from rapids_bfs._core.csr import device_components, device_filter


@pytest.fixture(autouse=True)
def host(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", np)
    for module in (device_csr, device_components, device_filter, drawn, validation):
        monkeypatch.setattr(module, "launch", host_device.launch)
    for module in (device_csr, device_components, device_filter):
        monkeypatch.setattr(module, "require", lambda *_: None)
    monkeypatch.setattr(drawn, "require_device_bytes", lambda *_: None)
    monkeypatch.setattr(drawn, "to_device", lambda array: array)
    monkeypatch.setattr(device_csr, "BLOCK", 100)
    monkeypatch.setattr(device_csr, "PIECE", 120)


def edges_of_every_kind():
    """Few vertices, hubs, runs of one vertex, self-loops, parallel edges; none at all."""
    for seed in range(8):
        rng = np.random.default_rng(seed)
        n, m = int(rng.integers(1, 80)), int(rng.choice([0, 7, 400]))
        ends = rng.integers(0, n, (2, m)).astype(rng.choice([np.int32, np.int64]))
        if seed % 2:
            ends[0].sort()
            ends[1, : m // 2] = ends[1, :1]
        yield n, *ends


def assert_same_rows(found, wanted):
    """The offsets are the same, and each row has the same targets in some order."""
    np.testing.assert_array_equal(found[0], wanted[0])
    owners = np.repeat(np.arange(len(wanted[0]) - 1), np.diff(wanted[0]))
    in_order = [targets[np.lexsort((targets, owners))] for _, targets in (found, wanted)]
    np.testing.assert_array_equal(*in_order)


def rows(sources, targets, n):
    order = np.argsort(sources, kind="stable")
    return np.r_[0, np.bincount(sources, minlength=n).cumsum()], targets[order]


@pytest.mark.parametrize(
    "key", [(2764354270295394589, 5847877753169629217), (2441297467758342769, 5540952729885426327)]
)
def test_parallel_edges_back_do_not_cancel_out_another_edge(monkeypatch, key):
    """Keys with which the hash of twice a number was twice its hash, for both directions."""
    numbers = iter(key)
    monkeypatch.setattr(device_csr.secrets, "randbits", lambda bits: next(numbers))
    assert not device_csr.scan([(np.array([0, 1, 1]), np.array([2, 0, 0]))]).symmetric


def pairs(sources, targets):
    return sorted(zip(sources.tolist(), targets.tolist(), strict=True))


def test_edge_lists():
    for n, sources, targets in edges_of_every_kind():
        loops = sources == targets
        both = np.r_[sources, targets[~loops]], np.r_[targets, sources[~loops]]
        given = lambda: [(sources, targets)], n, len(sources)  # noqa: B023 - called here
        assert_same_rows(device_csr.fill(*given), rows(sources, targets, n))
        assert_same_rows(device_csr.fill(*given, mirror=True), rows(*both, n))
        seen = device_csr.scan([(sources, targets)])
        ids = np.r_[sources, targets]
        assert seen[:2] == ((ids.min(), ids.max()) if len(ids) else (device_csr.LARGEST, -1))
        assert seen.symmetric == (pairs(sources, targets) == pairs(targets, sources))
        assert device_csr.scan([both]).symmetric
        present = np.zeros(n, bool)
        device_csr.mark(sources, present)
        assert set(np.flatnonzero(present)) == set(sources)


def test_no_edges_deceive_every_key():
    """With u * KEY + v as the key of (u, v), each of these edges cancels the reverse of another, though none is the
    reverse of any: the sum of their hashes is zero, whatever is computed from that number."""
    u_key = 0x9E3779B97F4A7C15
    once, thrice = -u_key % 2**64, -3 * u_key % 2**64
    ends = np.array([[1, once + 3, thrice], [once, thrice + 1, 3]])
    assert not device_csr.scan([tuple(ends)]).symmetric
    assert device_csr.scan([tuple(ends), tuple(ends[::-1])]).symmetric


def test_ids_are_renamed_as_they_are_placed():
    for n, sources, targets in edges_of_every_kind():
        for vertex in (np.int32, np.int64):
            rank = np.random.default_rng(n).permutation(n).astype(vertex)
            counts = device_csr.count([(sources.astype(np.int64), targets)], n, len(sources))
            found = device_csr.place([(sources.astype(np.int64), targets.astype(np.int64))], counts, rank=rank)
            assert_same_rows(found, rows(sources, rank[targets], n))


@pytest.mark.parametrize("mirror", [False, True])
@pytest.mark.parametrize(
    ("end", "id"),
    [(end, id) for end in (0, 1) for id in (-1, 70, 1 << 30)] + [(0, 5), (0, 0), (1, 0)],
    ids=str,
)
def test_edges_that_change_between_two_passes(end, id, mirror):
    """No kernel leaves its arrays, and the graph is refused. Vertex 0 had no edges, so no rank."""
    rng = np.random.default_rng(1)
    edges = rng.integers(1, 70, (2, 400))
    edges[0, 7], edges[1, 7] = 1, 2
    changed = edges.copy()
    changed[end, 7] = id
    counts = device_csr.count([edges], 70, 400, mirror=mirror)
    present = np.zeros(70, bool)
    device_csr.mark(changed[end], present)
    device_csr.count([changed], 70, 400, mirror=mirror)
    for rank in (None, np.r_[-1, :69]):
        if (end, id, rank is None, mirror) == (1, 0, True, False):
            continue  # another target of n vertices
        for place in (lambda ends, *given, **how: device_csr.place([ends], *given, **how), by_order):
            place(edges, counts, mirror=mirror, rank=rank)
            with pytest.raises(InputError, match="changed while they were read"):
                place(changed, counts, mirror=mirror, rank=rank)


def by_order(ends, counts, *, mirror, rank):
    device_csr.place_in_order(*ends, counts, mirror=mirror, rank=rank)


def test_rows_of_every_size_are_sorted():
    """By a warp, by a block and by keys, at the limits and between; `PIECE` divides the keys."""
    for vertex, bound, piece in ((np.int32, 1 << 20, 1 << 26), (np.int64, 5, 1 << 11)):
        longest = device_csr.BLOCK_BYTES // np.dtype(vertex).itemsize
        limits = [limit + more for limit in (device_csr.WARP_ROW, longest) for more in (-1, 0, 1)]
        rng = np.random.default_rng(5)
        sizes = rng.permutation([0, 1, 2, 3, 31, 32, 33, *limits, *rng.integers(0, 300, 20), longest + 7])
        offsets = np.r_[0, sizes.cumsum()].astype(np.int32)
        given = rng.integers(0, bound, offsets[-1]).astype(vertex)
        wanted = np.concatenate([np.sort(row) for row in np.split(given, offsets[1:-1])])
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(device_csr, "PIECE", piece)
            kept = given.copy()
            np.testing.assert_array_equal(device_csr.ascending(offsets, given, limit=bound)[1], wanted)
            np.testing.assert_array_equal(given, kept)
            device_csr.ascending(offsets, given, limit=bound, result=given)
        np.testing.assert_array_equal(given, wanted)


def test_graphs_are_changed():
    for n, sources, targets in edges_of_every_kind():
        offsets, targets = rows(sources, targets, n)
        sources = np.sort(sources)
        graph = offsets.astype(np.int32), targets
        np.testing.assert_array_equal(device_csr.sources_of(*graph), sources)
        assert_same_rows(device_csr.transpose(*graph), rows(targets, sources, n))
        ascending = device_csr.ascending(*graph)
        np.testing.assert_array_equal(ascending[1], targets[np.lexsort((targets, sources))])
        distinct = sorted({*pairs(sources, targets)})
        assert device_csr.count_repeats(*ascending) == len(targets) - len(distinct)
        found = device_csr.without_repeats_and_loops(*ascending)
        assert pairs(device_csr.sources_of(*found), found[1]) == [(u, v) for u, v in distinct if u != v]


def read_only(*arrays):
    """As those of a graph are: for others Numba would compile the kernels once more."""
    for array in arrays:
        array.flags.writeable = False
    return arrays


def graphs_of_every_kind():
    """Offsets and targets of all types, of a hub and its leaves, of long gaps between rows with arcs, of whole runs."""
    for n, sources, targets in edges_of_every_kind():
        offsets, targets = rows(sources, targets, n)
        yield read_only(offsets.astype(np.int32), targets)
        yield read_only(offsets, targets.astype(np.int64))
    rng = np.random.default_rng(0)
    owners = np.sort(np.r_[np.full(3000, 700), rng.integers(0, 3000, 1096), [2999]])
    for arcs in (2048, 4096, len(owners)):
        offsets, targets = rows(owners[:arcs], rng.integers(0, 3000, arcs), 3000)
        yield read_only(offsets.astype(np.int32), targets.astype(np.int32))


def test_filters():
    for number, (offsets, targets) in enumerate(graphs_of_every_kind()):
        rng = np.random.default_rng(number)
        n, m = len(offsets) - 1, len(targets)
        column = rng.random(m)
        columns = read_only(column, column.astype(np.float32), column.astype(np.float16), column < 0.5)
        for share in (0, 0.5, 1):
            vertices, edges = rng.random(n) < share, rng.random(m) < share
            unaligned = np.r_[False, vertices][1:]
            more = [mask.view(np.uint8) * np.uint8(2) for mask in (edges, vertices)]  # than 1 in a byte
            for masks in ((edges, None), (None, unaligned), more, (None, None)):
                found = device_filter.KeptArcs(offsets, targets, *masks)
                wanted = host_filter.KeptArcs(
                    offsets, targets, *(each if each is None else each != 0 for each in masks)
                )
                assert found.total == wanted.total
                np.testing.assert_array_equal(found.offsets(offsets), wanted.offsets(offsets))
                assert found.offsets(offsets).dtype == offsets.dtype
                for values in (targets, *columns):
                    np.testing.assert_array_equal(found.compacted(values), wanted.compacted(values))


def test_filters_of_rows_apart():
    """The rows of a part of a graph, whose targets are vertices of the whole."""
    rng = np.random.default_rng(1)
    offsets, targets = read_only(*rows(rng.integers(0, 40, 300), rng.integers(0, 200, 300), 40))
    vertices = rng.random(200) < 0.5
    found, wanted = (each.KeptArcs(offsets, targets, None, vertices, 90) for each in (device_filter, host_filter))
    np.testing.assert_array_equal(found.offsets(offsets), wanted.offsets(offsets))
    np.testing.assert_array_equal(found.compacted(targets), wanted.compacted(targets))


def test_symmetry():
    for offsets, targets in graphs_of_every_kind():
        sources = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        symmetric = pairs(sources, targets) == pairs(targets, sources)
        assert device_csr.is_symmetric(offsets, targets) == symmetric
        both = np.r_[sources, targets], np.r_[targets, sources]
        ends, heads = rows(*both, len(offsets) - 1)
        assert device_csr.is_symmetric(ends.astype(offsets.dtype), heads.astype(targets.dtype))


def test_components():
    """Of many small components and of a large one, whose vertices skip their edges; with masks, directed or not."""
    for seed in range(16):
        rng = np.random.default_rng(seed)
        graph = random_graph(rng, most_vertices=3000 if seed % 4 else 60, most_edges=int(rng.choice([60, 1000, 5000])))
        vertex, offset = [(np.int32, np.int32), (np.int32, np.int64), (np.int64, np.int64)][seed % 3]
        rows = read_only(graph.offsets.astype(offset), graph.targets.astype(vertex))
        for share in (None, 0.5, 0.9):
            allowed = None if share is None else rng.random(graph.num_vertices) < share
            found, count = device_components.components(*rows, not graph.directed, allowed)
            expected, number = host_csr.components(*rows, not graph.directed, allowed)
            np.testing.assert_array_equal(found, expected)
            assert (count, found.dtype) == (number, rows[1].dtype)


@pytest.mark.parametrize("kind", ["rmat", "urand"])
def test_random_edges_are_those_of_the_cpu(kind):
    for scale, size in [(0, 3), (5, 150), (11, 700)]:
        for vertex in (np.int32, np.int64):
            drawn = []
            for where in ("cpu", "cuda"):
                drawing = DRAWN[kind](scale, device=where)
                ends = np.empty((2, size), vertex)
                drawing.draw(40, *ends)
                drawn.append(ends)
            np.testing.assert_array_equal(*drawn)


def test_answers_are_checked():
    for seed in range(12):
        rng = np.random.default_rng(seed)
        graph = random_graph(rng, most_vertices=40, most_edges=200)
        n = graph.num_vertices
        result = bfs(graph, 0, engine="scipy", predecessors=seed % 3 != 0)
        if seed % 2:
            result.distances[rng.integers(n, size=3)] = rng.integers(-1, 6, size=3)
        confirmed, *breakers = validation._edge_rules_on_device(graph, result)
        wanted, *their_breakers = validation._edge_rules(graph, result)
        np.testing.assert_array_equal(confirmed, wanted)
        assert breakers == their_breakers


FAULTS = {
    "components": {
        "first edges: those of masked vertices": Fault("(allowed && !allowed[vertex])", "false", test_components),
        "first edges: to masked vertices": Fault(
            "if (!allowed || allowed[target]) join(pointers, static_cast<Vertex>(vertex), target);",
            "join(pointers, static_cast<Vertex>(vertex), target);",
            test_components,
        ),
        "other edges: those of masked vertices": Fault("(!allowed || allowed[mine])", "true", test_components),
        "other edges: not even of the others": Fault(
            "pointer_of(pointers, static_cast<Vertex>(mine)) != largest",
            "pointer_of(pointers, static_cast<Vertex>(mine)) == largest",
            test_components,
        ),
        "other edges: only the first rows of a window": Fault(
            "if (rows.last() >= stop) break;", "break;", test_components
        ),
        "other edges: one lane of a warp": Fault("arc < last", "arc < last && lane_id() == 0", test_components),
    },
    "csr": {
        "summarize: the highest of each other lane": Fault(
            "max(highest, __shfl_xor_sync(ALL, highest, distance))",
            "__shfl_xor_sync(ALL, highest, distance)",
            test_edge_lists,
        ),
        "asymmetry: only the first rows of a window": Fault("if (last >= end) break;", "break;", test_symmetry),
        "mark: the last id": Fault(
            "if (is_index(id, n)) present[id] = true;",
            "if (is_index(id, n) && i + 1 < count) present[id] = true;",
            test_edge_lists,
        ),
        "count: self-loops twice": Fault(
            "inside && u != v && is_index(v, n)", "inside && is_index(v, n)", test_edge_lists
        ),
        "place: one cursor for a whole warp": Fault(
            "__shfl_sync(ALL, place, 0) + lane_id()", "__shfl_sync(ALL, place, 0)", test_edge_lists
        ),
        "place: targets that are not renamed": Fault(
            "known ? rank ? rank[v] : static_cast<Vertex>(v) : -1",
            "known ? static_cast<Vertex>(v) : -1",
            test_ids_are_renamed_as_they_are_placed,
        ),
        "expand: the row before": Fault(
            "sources[place] = static_cast<Vertex>(row);", "sources[place] = row - 1;", test_graphs_are_changed
        ),
        "distinct: loops": Fault("loops || target != row", "true", test_graphs_are_changed),
    },
    "masks": {
        "a byte of a mask that is more than 1": Fault("four |= four >> 1;", ";", test_filters),
        "the end of a mask": Fault("first + i >= length || mask[first + i] != 0", "mask[first + i] != 0", test_filters),
        "the row of an arc": Fault("window.last() >= end", "true", test_filters),
        "the ranks of a run": Fault("upto - __popc(mine)", "upto", test_filters),
        "an offset within a word": Fault("(1u << arc % WARP) - 1", "ALL", test_filters),
        "a column: where a lane writes": Fault("bits[k] & lanes_below()", "bits[k]", test_filters),
    },
    "random_edges": {
        "rmat: the third quadrant": Fault(
            "draw >= to_b && draw < to_c", "draw > to_b && draw > to_c", test_random_edges_are_those_of_the_cpu, "rmat"
        ),
        "uniform: the first edge": Fault(
            "random_bits(stream, 1)", "random_bits(stream, 0)", test_random_edges_are_those_of_the_cpu, "urand"
        ),
    },
    "sort_rows": {
        "a merge: both runs from their begin": Fault("2 * run - 1", "run", test_rows_of_every_size_are_sorted),
        "the last entry of a row": Fault("high < size", "high < size - 1", test_rows_of_every_size_are_sorted),
        "a warp: its longest rows": Fault("size <= WARP_ROW", "size < WARP_ROW", test_rows_of_every_size_are_sorted),
        "a block: its first row": Fault("i < count", "i < gridDim.x", test_rows_of_every_size_are_sorted),
        "pack: one row": Fault("row << bits", "0", test_rows_of_every_size_are_sorted),
        "unpack: the row, too": Fault(
            "keys[key] & ((1ll << bits) - 1)", "keys[key]", test_rows_of_every_size_are_sorted
        ),
    },
    "validation": {
        "an edge over two levels": Fault("below > level + 1", "below > level + 2", test_answers_are_checked),
        "an unreached neighbour": Fault("below < 0 && level < stopped_at", "false", test_answers_are_checked),
    },
}


@pytest.mark.parametrize(("file", "name"), [(file, name) for file, faults in FAULTS.items() for name in faults])
def test_a_fault_is_seen(file, name, monkeypatch):
    assert_seen(monkeypatch, file, FAULTS[file], name)
