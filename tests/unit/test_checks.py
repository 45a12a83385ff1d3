"""What kernels take for granted of a graph is checked where a graph is made, by every way that leads there."""

import pickle
from collections import Counter

import numpy as np
import pytest
import scipy.sparse
from hypothesis import example, given
from hypothesis import strategies as st
from strategies import edges_of, graphs

import rapids_bfs
from rapids_bfs import Graph, InputError, as_graph, bfs, bfs_batch, compare
from rapids_bfs._core.csr import host as csr
from rapids_bfs.adapters.csr import from_csr
from rapids_bfs.adapters.edges import from_edges

NO_BOOLS = [0, 1, "no", 1.0, np.array([True]), np.int8(0)]
BOOLS = [True, False, np.True_, np.False_]
MAKERS = {
    "a pair of arrays": lambda directed: as_graph(([0, 1], [1, 2]), directed=directed),
    "offsets and targets": lambda directed: as_graph(offsets=[0, 1, 2, 2], targets=[1, 2], directed=directed),
    "a dict": lambda directed: as_graph({0: [1], 1: [2], 2: []}, directed=directed),
    "SciPy": lambda directed: as_graph(scipy.sparse.csr_array(([1, 1], [1, 2], [0, 1, 2, 2])), directed=directed),
    "a graph": lambda directed: as_graph(as_graph(([0, 1], [1, 2])), directed=directed),
    "from_edges": lambda directed: from_edges([0, 1], [1, 2], directed=directed),
    "from_csr": lambda directed: from_csr([0, 1, 2, 2], [1, 2], directed=directed),
}


@pytest.mark.parametrize("maker", [*MAKERS, "a generator", "the constructor"])
@pytest.mark.parametrize("directed", NO_BOOLS, ids=repr)
def test_directed_is_a_bool_or_refused(maker, directed):
    makers = MAKERS | {
        "a generator": lambda directed: rapids_bfs.load("path:3", directed=directed),
        "the constructor": lambda directed: Graph(*int32([0, 1, 2], [1, 0]), directed=directed),
    }
    with pytest.raises(InputError, match="directed must be True, False or None, not "):
        makers[maker](directed)


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("directed", BOOLS, ids=repr)
def test_numpys_bools_are_taken_as_pythons(maker, directed):
    graph = MAKERS[maker](directed)
    assert graph.directed is bool(directed)
    assert edges_of(graph) == ([(0, 1), (1, 2)] if directed else [(0, 1), (1, 0), (1, 2), (2, 1)])


def int32(*lists):
    return [np.array(each, np.int32) for each in lists]


# How an array of integers may lie in memory. Each gives back equal elements.
LAYOUTS = {
    "as it is": lambda array: array,
    "a list": lambda array: array.tolist(),
    "read-only": lambda array: np.frombuffer(array.tobytes(), array.dtype),
    "big-endian": lambda array: array.astype(array.dtype.newbyteorder(">")),
    "strided": lambda array: np.repeat(array, 2)[::2],
    "backwards": lambda array: array[::-1].copy()[::-1],
    "unaligned": lambda array: np.frombuffer(b"x" + array.tobytes(), array.dtype, offset=1),
    "masked nowhere": np.ma.array,
}
TYPES = [np.int8, np.uint8, np.int16, np.int32, np.uint32, np.int64, np.uint64, np.longlong]


@st.composite
def arrays_of_integers(draw, values):
    array = np.array(values, np.int64)
    fitting = [each for each in TYPES if np.array_equal(array.astype(each).astype(object), array)]
    return LAYOUTS[draw(st.sampled_from(list(LAYOUTS)))](array.astype(draw(st.sampled_from(fitting))))


@st.composite
def almost_csr(draw):
    """Offsets and targets of a graph, of which any element may have been changed, or be missing."""
    graph = draw(graphs(min_vertices=1))
    lists = [graph.offsets.tolist(), graph.targets.tolist()]
    for values in lists:
        if values and draw(st.booleans()):
            values[draw(st.integers(0, len(values) - 1))] += draw(st.sampled_from([-300, -1, 0, 1, 2, 2**31, 2**32]))
        if values and draw(st.integers(0, 9)) == 0:
            values.pop()
    return lists


def is_csr(offsets, targets):
    return (
        len(offsets) > 0
        and offsets[0] == 0
        and offsets[-1] == len(targets)
        and offsets == sorted(offsets)
        and all(0 <= target < len(offsets) - 1 for target in targets)
    )


@given(st.data(), almost_csr(), st.sampled_from([True, False, None]))
@example(None, ([0, 2, 3, 3], [2, 1, 1]), None)
def test_an_adjacency_is_taken_as_it_is_or_refused(data, lists, directed):
    offsets, targets = lists
    given = lists if data is None else [data.draw(arrays_of_integers(values)) for values in lists]
    if not is_csr(offsets, targets):
        with pytest.raises(InputError, match="csr: "):
            as_graph(offsets=given[0], targets=given[1], directed=directed)
        return
    graph = as_graph(offsets=given[0], targets=given[1], directed=directed)
    n = len(offsets) - 1
    there = scipy.sparse.csr_array((np.ones(len(targets)), targets, offsets), (n, n)).tocoo()
    counts = Counter(zip(there.row.tolist(), there.col.tolist(), strict=True))
    symmetric = all(counts[v, u] == count for (u, v), count in counts.items())
    if directed is False and not symmetric:
        counts.update({(v, u): count for (u, v), count in counts.items() if u != v})
    assert Counter(edges_of(graph)) == counts
    assert graph.directed == (not symmetric if directed is None else directed)
    assert graph.offsets.dtype == graph.targets.dtype == np.dtype(np.int32)
    assert graph.offsets.flags.c_contiguous
    assert graph.targets.flags.aligned
    Graph(graph.offsets, graph.targets, directed=graph.directed)  # which checks it all


NO_ADJACENCIES = {
    "no arrays": (None, "three"),
    "two dimensions": ([[0, 1, 2]], [1, 0]),
    "numbers": (3, 4),
    "floats": (np.array([0.0, 1, 2]), [1, 0]),
    "float targets": ([0, 1, 2], [1.0, 0.0]),
    "bools": ([0, 1, 2], [True, False]),
    "strings": ([0, 1, 2], ["1", "0"]),
    "beyond 64 bits": ([0, 1, 2], [1, 10**30]),
    "ragged": ([0, [1]], [0]),
    "objects": (np.array([0, 1, 2], object), [1, 0]),
    "complex": ([0, 1, 2], [1j, 0]),
    "masked": ([0, 1, 2], np.ma.array([1, 0], mask=[False, True])),
    "masked offsets": (np.ma.array([0, 1, 2], mask=[False, True, False]), [1, 0]),
    "no offsets at all": ([], []),
    "a set": ([0, 1, 2], {0, 1}),
}


@pytest.mark.parametrize("case", NO_ADJACENCIES)
def test_what_is_no_adjacency_is_refused(case):
    offsets, targets = NO_ADJACENCIES[case]
    with pytest.raises(InputError):
        as_graph(offsets=offsets, targets=targets)


def test_a_memory_mapped_adjacency(tmp_path):
    np.save(tmp_path / "offsets.npy", np.array([0, 1, 2], np.int32))
    np.save(tmp_path / "targets.npy", np.array([1, 0], np.int32))
    offsets, targets = (np.load(tmp_path / f"{name}.npy", mmap_mode="r") for name in ("offsets", "targets"))
    assert bfs(as_graph(offsets=offsets, targets=targets), 0).distances.tolist() == [0, 1]
    assert bfs(Graph(offsets, targets), 0).distances.tolist() == [0, 1]


REFUSED_BY_THE_CONSTRUCTOR = {
    "lists": (([0, 1, 2], [1, 0]), {}, "must be an array, not list"),
    "offsets that end early": (int32([0, 1, 1], [1, 0]), {}, "end with 2"),
    "offsets that begin late": (int32([1, 1, 2], [1, 0]), {}, "start with 0"),
    "offsets that fall": (int32([0, 2, 1, 2], [1, 0]), {}, "fall after vertex 1"),
    "a target out of range": (int32([0, 1, 2], [1, 2]), {}, "target 2 of edge 1"),
    "a negative target": (int32([0, 1, 2], [-1, 0]), {}, "target -1 of edge 0"),
    "other integers": ((np.array([0, 1, 2]), np.array([1, 0], np.uint32)), {}, "of int32 or int64, not uint32"),
    "strides": ((np.array([0, 1, 2]), np.array([1, 9, 0, 9])[::2]), {}, "contiguous"),
    "big-endian": ((np.array([0, 1, 2], ">i4"), np.array([1, 0])), {}, "of int32 or int64, not >i4"),
    "masks": ((np.array([0, 1, 2]), np.ma.array([1, 0])), {}, "must be an array, not MaskedArray"),
    "one way alone": (int32([0, 1, 1], [1]), {"directed": False}, "edges of vertex 0 are not there in both"),
    "another edge back": (int32([0, 1, 2, 3], [1, 2, 0]), {"directed": False}, "said to be undirected"),
    "not equally often": (int32([0, 2, 3], [1, 1, 0]), {"directed": False}, "equally often"),
    "None for directed": (int32([0, 1, 2], [1, 0]), {"directed": None}, "directed must be True or False"),
    "too few labels": (int32([0, 1, 2], [1, 0]), {"labels": np.array([5])}, "1 labels for 2 vertices"),
    "labels that fall": (int32([0, 1, 2], [1, 0]), {"labels": np.array([5, 4])}, "must be in ascending order"),
    "labels that repeat": (int32([0, 1, 2], [1, 0]), {"labels": np.array([5, 5])}, "must be in ascending order"),
    "objects that repeat": (int32([0, 1, 2], [1, 0]), {"labels": np.array(["a", "a"], object)}, "must be distinct"),
    "labels of floats": (int32([0, 1, 2], [1, 0]), {"labels": np.array([0.5, 1.5])}, "labels"),
}


@pytest.mark.parametrize("case", REFUSED_BY_THE_CONSTRUCTOR)
def test_the_constructor_refuses(case):
    arrays, options, message = REFUSED_BY_THE_CONSTRUCTOR[case]
    with pytest.raises(InputError, match=message):
        Graph(*arrays, **options)


@given(graphs())
def test_undirected_is_a_promise_that_is_checked(graph):
    edges = Counter(edges_of(graph))
    if all(edges[v, u] == count for (u, v), count in edges.items()):
        assert not Graph(graph.offsets, graph.targets, directed=False).directed
        return
    with pytest.raises(InputError, match=r"edges of vertex \d+ are not there in both directions") as refused:
        Graph(graph.offsets, graph.targets, directed=False)
    vertex = int(str(refused.value).partition("edges of vertex ")[2].partition(" ")[0])
    assert any(edges[vertex, v] != edges[v, vertex] for v in range(graph.num_vertices))


@pytest.mark.parametrize("vertex", [1, 2, 9])
def test_parallel_edges_back_do_not_cancel_out_another_edge(vertex):
    """With any of many keys: the hash of twice a number must not be twice its hash."""
    keys = np.random.default_rng(5).integers(0, 2**64, (2000, 2), dtype=np.uint64) | np.uint64(1)
    edges = np.array([[0, vertex, vertex], [2 * vertex, 0, 0]])
    assert all(csr.asymmetry_of_edges(*edges, key) for key in keys)


def test_hashes_that_cancel_out_in_one_process_do_not_in_another():
    """Nobody can prepare edges that pass for symmetric."""
    import subprocess
    import sys

    code = "from rapids_bfs._core.csr.building import KEY; print(KEY.tolist())"
    keys = {subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout for _ in range(2)}
    assert len(keys) == 2


def test_neither_replace_nor_a_pickle_leads_past_the_checks():
    graph = as_graph(([0, 1], [1, 2]))
    with pytest.raises(InputError, match="said to be undirected"):
        graph.replace(directed=False)
    with pytest.raises(InputError, match="target 3 of edge 0"):
        graph.replace(targets=np.array([3, 3], np.int32))
    lie = as_graph(([0, 1], [1, 2]))
    vars(lie)["directed"] = False
    with pytest.raises(InputError, match="said to be undirected"):
        pickle.loads(pickle.dumps(lie))
    vars(lie)["directed"] = 0
    with pytest.raises(InputError, match="directed must be True, False or None, not 0"):
        pickle.loads(pickle.dumps(lie))


def test_an_array_that_was_written_to_is_seen():
    """They are taken without a copy: writing to them is against the contract, and `check` and `compare` tell."""
    offsets, targets = int32([0, 1, 3, 4], [1, 0, 2, 1])
    graph = as_graph(offsets=offsets, targets=targets)
    graph.check()
    targets[0] = 2
    for look in (graph.check, lambda: compare(graph, num_sources=1, engines="cpu")):
        with pytest.raises(InputError, match="edges of vertex 1 are not there in both directions"):
            look()
    targets[0] = 10**6
    for look in (graph.check, lambda: compare(graph, num_sources=1, engines="cpu")):
        with pytest.raises(InputError, match="target 1000000 of edge 0"):
            look()


# What may be wrong with a sparse matrix that somebody has changed by hand.
DAMAGES = {
    "indices out of range": ("csr", "indices", lambda indices: indices + 10**6),
    "negative indices": ("csr", "indices", lambda indices: indices - 10**6),
    "indices missing": ("csr", "indices", lambda indices: indices[:-1]),
    "float indices": ("csr", "indices", lambda indices: indices + 0.5),
    "indptr too short": ("csr", "indptr", lambda indptr: indptr[:-1]),
    "indptr falls": ("csr", "indptr", lambda indptr: indptr[[0, 2, 1, 3]]),
    "indptr begins late": ("csr", "indptr", lambda indptr: np.maximum(indptr, 1)),
    "indptr ends beyond": ("csr", "indptr", lambda indptr: indptr * 1000),
    "indptr ends negative": ("csr", "indptr", lambda indptr: -indptr),
    "csc out of range": ("csc", "indices", lambda indices: indices + 10**6),
    "csc ends beyond": ("csc", "indptr", lambda indptr: indptr * 1000),
    "coo out of range": ("coo", "coords", lambda coords: (coords[0] + 10**6, coords[1])),
    "negative coo": ("coo", "coords", lambda coords: (coords[0] - 10**6, coords[1])),
    "coo of two lengths": ("coo", "coords", lambda coords: (coords[0][:-1], coords[1])),
    "lil out of range": ("lil", "rows", lambda rows: np.array([[10**6]] * 3 + [None], object)[:3]),
    "lil of other lengths": ("lil", "rows", lambda rows: np.array([[0, 1, 2]] * 3 + [None], object)[:3]),
    "lil without a row": ("lil", "rows", lambda rows: np.array([None, [0], [1]], object)),
    "lil of no numbers": ("lil", "rows", lambda rows: np.array([["x"]] * 3 + [None], object)[:3]),
    "bsr out of range": ("bsr", "indices", lambda indices: indices + 10**6),
    "dia of too few offsets": ("dia", "offsets", lambda offsets: offsets[:-1]),
}


@pytest.mark.parametrize("case", DAMAGES)
def test_a_damaged_matrix_is_refused(case):
    format, attribute, damage = DAMAGES[case]
    matrix = scipy.sparse.csr_array(np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])).asformat(format)
    setattr(matrix, attribute, damage(getattr(matrix, attribute)))
    with pytest.raises(InputError):
        as_graph(matrix)


@pytest.mark.parametrize("format", ["csr", "csc", "coo", "lil", "dok", "dia", "bsr"])
@given(st.data())
def test_every_format_holds_the_same_edges(format, data):
    graph = data.draw(graphs(min_vertices=1)).simple
    matrix = graph.to("scipy").asformat(format)
    assert edges_of(as_graph(matrix)) == edges_of(graph)


def test_blocks_hold_no_edges_where_they_hold_zeros():
    matrix = scipy.sparse.bsr_array(
        np.array([[0, 1, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 1, 0]]), blocksize=(2, 2)
    )
    assert edges_of(as_graph(matrix)) == [(0, 1), (3, 2)]


def test_a_matrix_with_room_to_spare():
    """SciPy's arrays may be longer than what the matrix holds."""
    matrix = scipy.sparse.csr_array(([1, 1], [1, 0], [0, 1, 2]))
    matrix.indices = np.append(matrix.indices, [77, -5]).astype(np.int32)
    assert edges_of(as_graph(matrix)) == [(0, 1), (1, 0)]


@pytest.mark.parametrize("make", [lambda: scipy.sparse.coo_array([0, 1, 1]), lambda: scipy.sparse.csr_array([0, 1])])
def test_a_sparse_array_of_one_dimension_is_no_graph(make):
    with pytest.raises(InputError, match="must be square"):
        as_graph(make())


@given(graphs(min_vertices=1))
def test_a_batch_of_what_the_constructor_takes(graph):
    """The searches from many sources rest on the promise most: of a lie they wrote past the end."""
    made = Graph(graph.offsets, graph.targets, directed=graph.directed)
    np.testing.assert_array_equal(bfs_batch(made).distances, bfs_batch(graph).distances)
