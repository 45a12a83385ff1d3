"""Distributed graphs on the CPU: built, searched, validated and gathered, against SciPy on the graph in one piece."""

import copy
import inspect
import pickle
import threading
from contextlib import nullcontext
from queue import SimpleQueue
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pairs import SIZES
from searched import assert_searched, searches
from strategies import edges_of, graphs

import rapids_bfs
from rapids_bfs import InputError, TraversalError, as_graph, bfs, load, validate
from rapids_bfs.distributed import level_synchronous as search
from rapids_bfs.distributed.communicators import ThreadCommunicator
from rapids_bfs.distributed.gathered import GATHERED
from rapids_bfs.distributed.graph import from_graph
from rapids_bfs.distributed.launchers import Threads
from rapids_bfs.distributed.partitioning import Partitioning
from rapids_bfs.testing import assert_valid_bfs


def threads(size):
    return Threads(["cpu"] * size)


@given(st.integers(1, 5000), SIZES)
def test_numbers_are_one_to_one(n, size):
    partitioning = Partitioning.of(n, size)
    numbers = partitioning.global_ids(np.arange(n))
    assert len(set(numbers.tolist())) == n
    assert (numbers % partitioning.stride < np.array(partitioning.counts)[numbers // partitioning.stride]).all()
    np.testing.assert_array_equal(partitioning.ids(numbers), np.arange(n))
    assert (partitioning.global_ids(np.array([-1, n, 2 * n, 1 << 62])) == -1).all()
    unused = np.setdiff1d(np.arange(-1, (size + 1) * partitioning.stride), numbers)
    assert (partitioning.ids(unused) == -1).all()


def test_scrambling_deals_similar_neighbours_to_all_parts():
    """Every fourth vertex, which dealing alone would give to one of four partitions."""
    partitioning = Partitioning.of(1 << 12, 4)
    partitions = partitioning.global_ids(np.arange(0, 1 << 12, 4)) // partitioning.stride
    assert np.bincount(partitions, minlength=4).min() > 200


@settings(max_examples=150)
@given(st.data(), graphs(min_vertices=1, max_vertices=40, max_edges=160), SIZES)
def test_random_graphs(data, whole, size):
    graph = from_graph(whole, threads(size))
    assert (graph.num_vertices, graph.num_edges, graph.directed) == (
        *(whole.num_vertices, whole.num_edges, whole.directed),
    )
    assert edges_of(graph.to("cpu")) == edges_of(whole)
    assert_searched(graph, whole, data.draw(searches(whole)))


@settings(max_examples=40)
@given(st.data(), graphs(min_vertices=1, max_vertices=40, max_edges=160), SIZES)
def test_without_room_a_level_goes_bottom_up(data, whole, size):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search, "CAPACITY_DIVISOR", 1 << 20)
        patch.setattr(search, "MIN_CAPACITY", data.draw(st.integers(0, 3)))
        patch.setattr(search, "ALPHA", data.draw(st.sampled_from([0, 15])))
        assert_searched(from_graph(whole, threads(size)), whole, data.draw(searches(whole)))


@pytest.mark.parametrize("size", [2, 5])
def test_no_level_of_a_uniform_graph_is_expanded_in_vain(monkeypatch, size):
    """A level whose pairs would overflow the buckets goes bottom-up at once."""
    seen = []
    frontier = search.LevelSynchronousSearch._frontier

    def watched(self, communicator):
        seen.append(frontier(self, communicator))
        return seen[-1]

    monkeypatch.setattr(search.LevelSynchronousSearch, "_frontier", watched)
    graph = load("urand:15", devices=f"cpu:{size}")
    for source in range(3):
        assert_valid_bfs(graph, bfs(graph, source))
    assert seen
    assert not any(each.overflown for each in seen)


@settings(max_examples=40)
@given(
    st.data(),
    graphs(min_vertices=1, max_vertices=40, max_edges=160),
    SIZES,
    st.sampled_from([(2, 1), (1 << 20, 1 << 40)]),
)
def test_either_direction(data, whole, size, when):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search, "ALPHA", when[0])
        patch.setattr(search, "BETA", when[1])
        assert_searched(from_graph(whole, threads(size)), whole, data.draw(searches(whole)))


@settings(max_examples=60)
@given(st.data(), graphs(min_vertices=1, max_vertices=40, max_edges=160), SIZES)
def test_rank_0_searches_alone_what_is_deep(data, whole, size):
    graph = from_graph(whole, threads(size))
    graph.prepare()
    graph.note_depth(1 << 30)
    assert_searched(graph, whole, data.draw(searches(whole)))
    assert graph.transport == (GATHERED if size > 1 else "")


@pytest.mark.parametrize("directed", [False, True])
def test_what_is_deep(directed):
    """A graph whose component of many levels has no vertex of many neighbours."""
    path, star = np.arange(60, 360), np.arange(1, 60)
    ends = np.append(path[:-1], np.zeros_like(star)), np.append(path[1:], star)
    whole = as_graph(ends, directed=directed)
    graph = from_graph(whole, threads(3))
    ways = []
    for source in (0, 60, 60, 0):
        trace = bfs(graph, source, trace=True).trace
        ways.append(trace.engine)
        assert [level[:4] for level in trace] == [level[:4] for level in bfs(whole, source, trace=True).trace]
    assert ways == ["cpu, distributed over 3 devices"] * 2 + [f"cpu, distributed over 3 devices, {GATHERED}"] * 2
    for limit in (None, 40):
        assert_searched(graph, whole, {"source": [0, 99], "depth_limit": limit, "target": None, "predecessors": True})


def deep(size):
    """A graph after its first search, which had many levels."""
    graph = from_graph(load("path:300"), Threads(["cpu"] * size))
    assert bfs(graph, 0).depth == 299
    return graph


def test_one_part_searches_as_before():
    graph = deep(1)
    assert (bfs(graph, 299).depth, graph.transport) == (299, "")


@pytest.mark.parametrize(
    ("where", "what"),
    [
        ("gathered._free_bytes", mock.Mock(return_value=1000.0)),
        ("gathered._allocated", mock.Mock(side_effect=MemoryError)),
        ("gathered.Graph._trusted", mock.Mock(side_effect=MemoryError)),
        ("gathered.resolve", mock.Mock(side_effect=InputError("too little memory"))),
    ],
)
def test_rank_0_has_no_room(monkeypatch, where, what):
    graph = deep(3)
    with monkeypatch.context() as patch:
        patch.setattr(f"rapids_bfs.distributed.{where}", what)
        graph.prepare()
    assert (bfs(graph, 299).depth, graph.transport) == (299, "")


@pytest.mark.parametrize("rank", [0, 2])
@pytest.mark.parametrize("call", [1, 2])
def test_a_rank_that_fails_while_rows_are_gathered(monkeypatch, rank, call):
    graph = deep(3)
    real, calls = ThreadCommunicator.alltoallv_into, []

    def failing(communicator, pieces, into):
        if communicator.rank == rank:
            calls.append(1)
            if len(calls) == call:
                raise MemoryError("no memory")
        return real(communicator, pieces, into)

    with monkeypatch.context() as patch:
        patch.setattr(ThreadCommunicator, "alltoallv_into", failing)
        with pytest.raises(TraversalError, match=rf"partition {rank} of 3 \(cpu\) failed: no memory"):
            bfs(graph, 0)
    assert (bfs(graph, 299).depth, graph.transport) == (299, GATHERED)


@pytest.mark.parametrize("spec", ["rmat:9", "urand:8:3", "rmat:0", "path:30", "karate"])
@pytest.mark.parametrize("size", [1, 3])
def test_named_graphs(spec, size):
    graph, whole = load(spec, devices=f"cpu:{size}"), load(spec)
    assert (graph.name, graph.num_edges) == (whole.name, whole.num_edges)
    assert edges_of(graph.to("cpu")) == edges_of(whole)
    np.testing.assert_array_equal(graph.to("scipy").toarray(), whole.to("scipy").toarray())
    source = int(whole.degrees.argmax())
    id = whole.ids_of(np.array([source])).tolist()[0]
    result = bfs(graph, id, trace=True)
    assert validate(graph, result)
    expected = bfs(whole, id, trace=True)
    np.testing.assert_array_equal(result.to("cpu").distances, expected.distances)
    assert [level[1:4] for level in result.trace][: expected.depth] == [level[1:4] for level in expected.trace][
        : expected.depth
    ]


def test_labels_of_any_kind():
    graph = as_graph({"a": ["b"], "b": ["c"], "z": []}, devices="cpu:3")
    result = bfs(graph, "a", target="b")
    assert result.path_to("b") == ["a", "b"]
    assert result.distance_to("z") == -1
    assert result.to_frame()["vertex"].tolist() == ["a", "b", "z", "c"]
    with pytest.raises(InputError, match="'q' is not a vertex"):
        bfs(graph, "q")
    with pytest.raises(InputError, match="was not reached"):
        result.path_to("z")


def test_wide_numbers():
    """Numbers of 64 bits, as more than 2**31 vertices have."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Partitioning, "dtype", np.dtype(np.int64))
        assert_searched(
            load("rmat:8", devices="cpu:3"),
            load("rmat:8"),
            {"source": [1, 9], "depth_limit": None, "target": None, "predecessors": True},
        )


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda graph: bfs(graph, 0).distances, "result.to\\('cpu'\\)"),
        (lambda graph: bfs(graph, 0).predecessors, "result.to_frame\\(\\)"),
        (lambda graph: bfs(graph, 0, deterministic=True), "deterministically"),
        (lambda graph: bfs(graph, 0, check=True), "check"),
        (lambda graph: bfs(graph, 0, engine="scipy"), "'cpu' searches, not 'scipy'"),
        (lambda graph: bfs(graph, 0, depth_limit=-1), "depth limit"),
        (lambda graph: bfs(graph, 30), "30 is not a vertex"),
        (lambda graph: bfs(graph, 0, target="x"), "'x' is not a vertex"),
        (lambda graph: bfs(graph, []), "at least one source"),
        (lambda graph: bfs(graph, 0, predecessors=False).path_to(1), "kept no predecessors"),
        (lambda graph: rapids_bfs.betweenness(graph, [0]), "over 3 devices, which do not compute betweenness"),
        (lambda graph: as_graph(graph, devices="cpu:2"), "distributed already"),
        (lambda graph: validate(load("path:3", devices="cpu:2"), bfs(graph, 0)), "another graph"),
    ],
)
def test_errors(call, says):
    with pytest.raises(InputError, match=says):
        call(load("path:30", devices="cpu:3"))


@pytest.mark.parametrize(
    "devices",
    ["cpu:0", "cpu:x", "cpu:257", "cpu:" + "9" * 5000, "cpus", [], 0, 2.5, -1, [0, "1"], 99, 10**30, [99], True],
)
def test_devices_that_there_are_not(devices):
    with pytest.raises(InputError, match=r"device|GPU|partitions"):
        load("path:3", devices=devices)


def test_a_graph_without_vertices():
    graph = from_graph(as_graph(([], []), vertices=0), threads(3))
    assert (graph.num_vertices, graph.num_edges) == (0, 0)
    assert graph.to("cpu").num_vertices == 0
    with pytest.raises(InputError, match="0 is not a vertex"):
        bfs(graph, 0)


@pytest.mark.parametrize("device", [{}, {"device": "cpu"}, {"device": "cuda"}])
@pytest.mark.parametrize("adjacency", [{}, {"adjacency": "device"}, {"adjacency": "pinned"}])
@pytest.mark.parametrize("devices", ["cpu:2", 2, "auto"])
def test_devices_and_where_a_graph_in_one_piece_lives(device, adjacency, devices):
    if device or adjacency == {"adjacency": "pinned"}:
        for call, graph in ((load, "path:3"), (as_graph, "path:3"), (as_graph, ([0], [1]))):
            with pytest.raises(InputError, match="either devices=, or device= and adjacency="):
                call(graph, devices=devices, **device, **adjacency)
    elif devices == "cpu:2":
        assert load("path:3", devices=devices, **adjacency).devices == ("cpu", "cpu")


@pytest.mark.parametrize(
    ("given", "options", "says"),
    [
        (load("path:3"), {"offsets": [0], "targets": []}, "either a graph, or both offsets= and targets="),
        (None, {"targets": []}, "either a graph, or both offsets= and targets="),
        (load("path:3"), {"vertices": 9}, "vertices= does not go with Graph"),
        (load("path:3"), {"source": "a"}, "source= does not go with Graph"),
        (load("path:3", devices="cpu:2"), {}, "is distributed already"),
        ("rmat:3", {"vertices": 9}, "has no number of vertices to choose"),
    ],
)
def test_no_option_is_dropped_beside_devices(given, options, says):
    with pytest.raises(InputError, match=says):
        as_graph(given, devices="cpu:2", **options)


@pytest.mark.parametrize("devices", [{}, {"devices": "cpu:2"}, {"devices": "auto"}])
def test_a_random_graph_of_no_possible_size_is_refused(devices):
    with pytest.raises(InputError, match="rmat: the scale must be at least 0, not -1"):
        load("rmat:-1", **devices)


def test_a_graph_distributed_takes_no_options():
    graph = load("path:3", devices="cpu:2")
    assert as_graph(graph) is graph
    with pytest.raises(InputError, match="name= does not go with DistributedGraph"):
        as_graph(graph, name="another")


def change(answer, partition):
    """Ways to spoil an answer, each with the rule that it breaks; each needs a partition with such a vertex."""
    distances, predecessors = answer.distances, answer.predecessors
    deep = np.flatnonzero(distances == distances.max())[:1]
    return {
        "distance-range": (distances, deep, partition.partitioning.n),
        "predecessor-range": (predecessors, deep, partition.partitioning.stride - 1),
        "source": (distances, np.flatnonzero(distances == 0), 1),
        "root": (distances, deep, 0),
        "reached": (predecessors, deep, -1),
        "tree-level": (distances, deep, distances.max() + 1),
    }


@pytest.mark.parametrize("rule", ["distance-range", "predecessor-range", "source", "root", "reached", "tree-level"])
def test_a_spoilt_answer_is_refused(rule):
    graph = load("path:30", devices="cpu:3")
    result = bfs(graph, 15)
    assert validate(graph, result)
    rank = 15 and int(graph.vertex_of(15)) // graph.partitioning.stride
    array, places, value = change(result.answers[rank], graph.partitions[rank])[rule]
    assert len(places)
    array[places] = value
    assert validate(graph, result).rule == rule


@pytest.mark.parametrize("predecessors", [True, False])
def test_edges_that_contradict_an_answer(predecessors):
    graph = load("path:30", devices="cpu:3")
    other = as_graph((np.append(np.arange(29), 0), np.append(np.arange(1, 30), 20)), vertices=30, directed=False)
    spoilt = from_graph(other, graph.launcher)
    result = bfs(graph, 0, predecessors=predecessors)
    object.__setattr__(result, "graph", spoilt)  # the same vertices, one edge more
    assert validate(spoilt, result).rule == "edge-level"
    assert "at distance 0" in validate(spoilt, result).message
    fewer = as_graph((np.arange(28), np.arange(1, 29)), vertices=30, directed=False)
    result = bfs(from_graph(fewer, graph.launcher), 0, predecessors=predecessors)
    object.__setattr__(result, "graph", graph)
    assert validate(graph, result).rule == "edge-reach"
    result = bfs(graph, 0, predecessors=predecessors)
    less = from_graph(fewer, graph.launcher)
    object.__setattr__(result, "graph", less)
    assert validate(less, result).rule == ("tree-edge" if predecessors else "tree-level")


def test_graphs_on_gpus_are_searched_one_after_the_other(monkeypatch):
    """The kernels of two searches on the same GPUs could wait for each other's."""
    monkeypatch.setattr(Threads, "_current", lambda launcher, rank: nullcontext())
    entered, go = SimpleQueue(), threading.Event()

    def first(communicator):
        entered.put("first")
        go.wait(600)

    def second(communicator):
        entered.put("second")

    calls = [
        threading.Thread(target=Threads([f"cuda:{at}"]).collect, args=(each,)) for at, each in ((0, first), (1, second))
    ]
    calls[0].start()
    assert entered.get(timeout=600) == "first"
    calls[1].start()
    calls[1].join(0.2)
    assert entered.empty()
    go.set()
    for call in calls:
        call.join(600)
    assert entered.get(timeout=600) == "second"


@pytest.mark.parametrize("name", ["simple", "save", "offsets", "targets"])
def test_what_only_a_graph_in_one_piece_has(name):
    graph = from_graph(load("karate"), Threads(["cpu"] * 2))
    with pytest.raises(
        AttributeError, match=rf"^karate is distributed and has no {name}: use graph.to\('cpu'\).{name}$"
    ):
        getattr(graph, name)
    with pytest.raises(AttributeError, match="'DistributedGraph' object has no attribute 'revers'"):
        graph.revers  # noqa: B018
    assert not hasattr(graph, name)


@pytest.mark.parametrize("error", [InputError, AttributeError])
@pytest.mark.parametrize("name", ["distances", "predecessors"])
def test_what_only_a_result_in_one_piece_has(name, error):
    result = bfs(load("karate", devices="cpu:2"), 1)
    with pytest.raises(error, match=rf"^the {name} of karate are distributed over 2 devices: ask for result.to\('cpu'"):
        getattr(result, name)
    assert not hasattr(result, name)


def test_inspecting_a_result():
    result = bfs(load("karate", devices="cpu:2"), 1)
    members = dict(inspect.getmembers(result))
    assert members["num_reached"] == 34
    assert {"distances", "predecessors"} <= set(dir(result)) - set(members)
    assert mock.create_autospec(result).num_reached


def test_a_directed_graph_has_none_that_is_undirected():
    graph = as_graph(([0, 1], [1, 2]), directed=True, devices="cpu:2")
    with pytest.raises(InputError, match="give directed=False where it is made"):
        graph.undirected  # noqa: B018
    assert not hasattr(graph, "undirected")


def test_a_copy_and_a_pickle_of_a_graph_are_the_graph():
    graph = from_graph(load("karate"), Threads(["cpu"] * 2))
    for other in copy.copy(graph), copy.deepcopy(graph), pickle.loads(pickle.dumps(graph)):
        assert edges_of(other.to("cpu")) == edges_of(graph.to("cpu"))
        assert bfs(other, 0).depth == 3
