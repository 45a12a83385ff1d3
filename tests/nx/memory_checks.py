"""What could crash the process: `test_memory.py` runs this in one of its own, under a debug allocator."""

import copy
import gc
import multiprocessing
import pickle
import random
import sys
import threading
import time
import weakref

import networkx as nx
import pytest
from nx_calls import CALLS, CLASSES, close, draw_call, outcome, public, random_graph

from rapids_bfs.nx import _dicts, convert_from_nx
from rapids_bfs.nx.graph import ConvertedGraph, FallBack

BACKEND = "rapids_bfs"
SOME = ["bfs_edges", "descendants", "single_source_shortest_path_length", "connected_components", "eccentricity"]
SOME += ["weakly_connected_components", "strongly_connected_components", "ego_graph", "shortest_path", "bfs_tree"]
SOME += ["betweenness_centrality", "is_bipartite", "closeness_centrality", "bfs_labeled_edges", "ancestors", "girth"]
COPIES = {
    "pickle": lambda graph: pickle.loads(pickle.dumps(graph)),
    "oldest pickle": lambda graph: pickle.loads(pickle.dumps(graph, protocol=0)),
    "deepcopy": copy.deepcopy,
    "copy": copy.copy,
}


@pytest.fixture(params=["directly", "plainly"])
def read(request, monkeypatch):
    """Both ways to read a dict of dicts."""
    monkeypatch.setattr(_dicts, "AVAILABLE", request.param == "directly")


def check(rng, graph, names=SOME):
    """Some calls on the graph, against NetworkX's."""
    for name in rng.sample(names, 3):
        args, kwargs = draw_call(name, rng, graph)
        expected = outcome(public(name), graph, *args, backend="networkx", **kwargs)
        found = outcome(public(name), graph, *args, backend=BACKEND, **kwargs)
        assert close(found, expected), f"{name}({graph}, *{args}, **{kwargs})"


class Node:
    """Equal to others of its number; one that is no other."""

    def __init__(self, number):
        self.number = number

    def __hash__(self):
        return hash(self.number)

    def __eq__(self, other):
        return isinstance(other, Node) and self.number == other.number


class TestCopies:
    @pytest.mark.parametrize("how", COPIES)
    @pytest.mark.parametrize("cls", CLASSES)
    def test_answers_hold_nodes_of_the_copy_alone(self, how, cls, read):
        for kind in (Node, "node number {}".format):
            graph = nx.relabel_nodes(nx.cycle_graph(9, cls), {number: kind(number) for number in range(9)})
            source = next(iter(graph))
            same = how == "copy" or (how == "deepcopy" and kind is not Node)  # a string is its own deep copy
            for searched in (graph, graph.to_directed(as_view=True)):
                nx.single_source_shortest_path_length(searched, source, backend=BACKEND)
                nx.ancestors(searched, source, backend=BACKEND)
                twin = COPIES[how](searched)
                own = set(map(id, twin))
                assert own.isdisjoint(map(id, graph)) != same
                first = next(iter(twin))
                answers = [
                    nx.single_source_shortest_path_length(twin, first, backend=BACKEND),
                    nx.descendants(twin, first, backend=BACKEND),
                    nx.single_source_shortest_path(twin, first, backend=BACKEND),
                    dict(nx.bfs_predecessors(twin, first, backend=BACKEND)),
                ]
                assert all(own.issuperset(map(id, answer)) for answer in answers)

    @pytest.mark.parametrize("how", ["pickle", "deepcopy"])
    def test_a_conversion_alone(self, how):
        held = COPIES[how](ConvertedGraph(nx.path_graph(4)))
        assert not held.is_current
        assert nx.descendants(held, 1) == {0, 2, 3}
        held.origin.remove_node(3)
        assert nx.descendants(held, 1) == {0, 2}

    def test_a_pickle_is_as_small_as_that_of_a_graph_never_searched(self):
        graph = nx.gnm_random_graph(300, 3000, seed=1)
        before = len(pickle.dumps(graph))
        nx.descendants(graph, 0, backend=BACKEND)
        assert len(pickle.dumps(graph)) < before + 300

    def test_another_process(self):
        """With the backend named, preferred, and NetworkX's cache off."""
        graph = nx.relabel_nodes(nx.gnm_random_graph(200, 800, seed=1), "node {}".format)
        source = next(iter(graph))
        expected = nx.single_source_shortest_path_length(graph, source, backend="networkx")
        nx.single_source_shortest_path_length(graph, source, backend=BACKEND)
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            jobs = [(graph, source, kept, named) for kept in (True, False) for named in (True, False)]
            found = pool.map(lengths, jobs)
        assert [list(each.items()) for each in found] == 4 * [list(expected.items())]


def lengths(job):
    graph, source, kept, named = job
    with nx.config(cache_converted_graphs=kept, backend_priority=[] if named else [BACKEND]):
        return nx.single_source_shortest_path_length(graph, source, **({"backend": BACKEND} if named else {}))


class TestChanges:
    """A graph, its views and copies, changed and searched in turn."""

    @pytest.mark.parametrize("seed", range(25))
    def test_every_answer_is_that_of_the_graph_as_it_is(self, seed, read):
        rng = random.Random(seed)
        graphs = [random_graph(rng, min_nodes=2)]
        if rng.random() < 0.2:
            graphs[0].__networkx_cache__ = None
        held = convert_from_nx(graphs[0])
        with nx.config(cache_converted_graphs=rng.random() < 0.8):
            for _ in range(12):
                graph = rng.choice(graphs)
                rng.choice(self.STEPS)(rng, graph, graphs)
                check(rng, graph)
                node = next(iter(held.origin), None)
                expected = outcome(nx.descendants, held.origin, node, backend="networkx")
                assert outcome(nx.descendants, held, node) == expected

    def add(rng, graph, graphs):
        if not nx.is_frozen(graph):
            graph.add_edges_from(rng.choices([*graph, "new", 77], k=2) for _ in range(rng.randint(1, 3)))

    def remove(rng, graph, graphs):
        if not nx.is_frozen(graph) and len(graph) > 2:
            graph.remove_nodes_from(rng.sample(list(graph), 1))

    def cut(rng, graph, graphs):
        if not nx.is_frozen(graph) and graph.number_of_edges():
            graph.remove_edge(*rng.choice(list(graph.edges()))[:2])

    def twin(rng, graph, graphs):
        how = rng.choice(list(COPIES))
        graphs.append(graph.copy() if nx.is_frozen(graph) and "pickle" in how else COPIES[how](graph))

    def view(rng, graph, graphs):
        shown = set(rng.sample(list(graph), len(graph) // 2))
        graphs.append(
            rng.choice(
                [
                    graph.subgraph(shown),
                    graph.to_directed(as_view=True),
                    nx.subgraph_view(graph, filter_node=lambda node: node not in shown),
                ]
            )
        )

    def search_all(rng, graph, graphs):
        for each in graphs:
            check(rng, each)

    STEPS = (add, add, remove, cut, twin, view, search_all)


def one_way(graph):
    """An undirected graph that shows half of each edge."""
    place = {node: i for i, node in enumerate(graph)}
    return nx.subgraph_view(graph, filter_edge=lambda u, v, *key: place[u] <= place[v])


def edited(graph):
    first, *_, last = graph
    graph._adj[first].pop(last, None)
    graph._adj[last][first] = graph._adj[first].get(first, {}) or ({0: {}} if graph.is_multigraph() else {})
    return graph


def edited_into(graph):
    """Directed: in-edges that are no edges, and the other way round."""
    first, *_, last = graph
    if graph.is_directed():
        graph._pred[last].clear()
        graph._pred[first].update((each, {0: {}} if graph.is_multigraph() else {}) for each in graph)
    return graph


def to_nowhere(graph):
    """Neighbours that are no nodes."""
    *_, last = graph
    for other in (len(graph), 10**30, -1, "nobody"):
        graph._adj[last][other] = {}
    return graph


RELY_ON_IT = ["connected_components", "edge_betweenness_centrality", "harmonic_centrality", "closeness_centrality"]
RELY_ON_IT += ["number_connected_components", "is_strongly_connected", "number_strongly_connected_components"]


class Boundless(dict):
    """A row that has more than it says."""

    def __len__(self):
        return 1


def boundless(graph):
    for node in graph:
        graph._adj[node] = Boundless(graph._adj[node])
    return graph


def nameless(graph):
    """A row of a node that is none."""
    graph._adj["nobody"] = {}
    return graph


@pytest.mark.parametrize("lie", [one_way, edited, edited_into, to_nowhere, boundless, nameless])
@pytest.mark.parametrize("cls", CLASSES)
@pytest.mark.parametrize("named", [False, True])
def test_a_graph_that_is_not_what_it_says_is_networkx_to_answer(lie, cls, named, read):
    for seed in range(2):
        rng = random.Random(f"{lie.__name__} {seed}")
        graph = nx.gnm_random_graph(24, 60, seed=seed, directed=True)
        graph = lie(cls(nx.relabel_nodes(graph, "n {}".format) if named else graph))
        for name in (*RELY_ON_IT, *rng.sample(sorted(CALLS), 4)):
            if lie in (to_nowhere, nameless) and name.startswith(("edge_between", "transitive", "girth")):
                continue  # fail at whatever a set or dict has first
            args, kwargs = draw_call(name, rng, nx.empty_graph(graph._node))
            if "source" in kwargs or "target" in kwargs:
                kwargs.pop("method", None)
            expected = outcome(public(name), graph, *args, backend="networkx", **kwargs)
            found = outcome(public(name), graph, *args, backend=BACKEND, **kwargs)
            assert close(found, expected), f"{seed}: {name}(*{args}, **{kwargs})"


def test_half_of_a_large_graph(read):
    graph = nx.gnm_random_graph(3000, 9000, seed=1)
    for shown in (graph, nx.subgraph_view(graph, filter_edge=lambda u, v: u <= v)):
        for name, args in {"connected_components": (), "is_connected": (), "bfs_edges": (0,)}.items():
            expected = outcome(public(name), shown, *args, backend="networkx")
            assert outcome(public(name), shown, *args, backend=BACKEND) == expected


def test_a_graph_that_cannot_be_read_is_not_read_again_before_it_changes(monkeypatch):
    graph = edited(nx.path_graph(9))
    with pytest.raises(FallBack):
        ConvertedGraph(graph)
    expected = nx.descendants(graph, 4, backend="networkx")
    assert nx.descendants(graph, 4, backend=BACKEND) == expected
    monkeypatch.setattr(ConvertedGraph, "__init__", None)
    assert nx.descendants(graph, 4, backend=BACKEND) == expected
    monkeypatch.undo()
    graph.add_edge(0, 8)
    assert ConvertedGraph(graph).is_current


class Moody(Node):
    """Does ``mood`` when it is hashed or compared, once it is awake. It is no int or str, but may be equal to one."""

    awake = False
    depth = 0

    @staticmethod
    def mood():
        pass

    def __hash__(self):
        self.act()
        return hash(self.number)

    def __eq__(self, other):
        self.act()
        return self.number == getattr(other, "number", other)

    @classmethod
    def act(cls):
        if cls.awake and cls.depth < 2:
            cls.depth += 1
            try:
                cls.mood()
            finally:
                cls.depth -= 1


def fail():
    raise ZeroDivisionError("in a bad mood")


@pytest.mark.parametrize("name", ["bfs_edges", "descendants", "connected_components", "shortest_path", "eccentricity"])
@pytest.mark.parametrize("mood", ["fails", "fails later", "searches", "changes", "changes back"])
@pytest.mark.parametrize("cls", [nx.Graph, nx.MultiGraph])
def test_nodes_whose_methods_do_as_they_like(name, mood, cls):
    def outcome_of(backend):
        Moody.awake = False
        graph = nx.relabel_nodes(nx.cycle_graph(12, cls), {i: Moody(i) for i in range(0, 12, 2)})
        moods, turn = iter(range(10**9)), iter(range(10**9))

        def later():
            if next(moods) > 40:
                fail()

        def change():
            graph.add_edge("new", f"{next(turn) % 50}")

        def change_back():
            graph.add_edge(1, 5)
            graph.remove_edge(1, 5)

        def search():
            nx.descendants(graph, 3, backend=backend)

        nx.descendants(graph, 3, backend=backend)
        graph.add_edge(3, 7)
        Moody.mood = staticmethod(
            {"fails": fail, "fails later": later, "searches": search, "changes": change, "changes back": change_back}[
                mood
            ]
        )
        sources = {"connected_components": (), "shortest_path": (1, 7)}.get(name, (3,))
        Moody.awake = True
        try:
            result = outcome(public(name), graph, *sources, backend=backend)
        finally:
            Moody.awake = False
        return result

    expected, found = outcome_of("networkx"), outcome_of(BACKEND)
    if mood in ("fails later", "changes"):  # what comes of it depends on the number of calls before
        assert found[0] == "returned" or found[1] in (ZeroDivisionError, RuntimeError, nx.NetworkXError)
    else:
        assert found == expected


class TestThreads:
    """Other threads change the graph while it is converted and searched."""

    SECONDS = 0.1

    @pytest.mark.parametrize("cls", [nx.Graph, nx.MultiDiGraph])
    @pytest.mark.parametrize("named", [False, True])
    @pytest.mark.parametrize("shown", ["itself", "as a view"])
    def test_an_answer_is_that_of_some_state_or_an_error(self, cls, named, shown, read, caplog):
        """An edge and a node come and go: an answer has both, one or none of them.

        A graph that changed at each attempt to read it is left to NetworkX, which may mix the states itself.
        """
        name = "node {}".format if named else int
        graph = cls([(name(i), name(i + 1)) for i in range(300)])
        searched = graph.subgraph(list(graph)) if shown == "as a view" else graph
        leaf, hub, far = name(400), name(0), name(300)

        def shortcut():
            graph.add_edge(hub, far)
            graph.remove_edge(hub, far)

        def node():
            graph.add_edge(hub, leaf)
            graph.remove_node(leaf)

        allowed = []
        for edges in ([], [(hub, far)], [(hub, leaf)], [(hub, far), (hub, leaf)]):
            state = graph.copy()
            state.add_edges_from(edges)
            allowed.append(nx.single_source_shortest_path_length(state, hub, backend="networkx"))

        def search():
            caplog.clear()
            lengths = nx.single_source_shortest_path_length(searched, hub, backend=BACKEND)
            return lengths, any("left to NetworkX" in message for message in caplog.messages)

        with caplog.at_level("DEBUG", logger="rapids_bfs.nx"):
            answers, errors = self.hammer([shortcut, node], search)
        assert answers or errors
        assert all(lengths in allowed for lengths, left in answers if not left)
        assert errors <= {RuntimeError, KeyError}  # as NetworkX itself raises them

    @pytest.mark.parametrize("name", SOME)
    def test_no_call_fails_but_as_networkx_does(self, name):
        graph = nx.gnm_random_graph(60, 200, seed=1, directed=name.startswith(("weakly", "strongly", "anc")))
        rng = random.Random(name)

        def change():
            u, v = rng.randrange(60), rng.randrange(90)
            graph.add_edges_from([(u, v), (v, u + 1)])
            graph.remove_node(v if v >= 60 else u)
            graph.add_node(u)

        def call():
            args, kwargs = draw_call(name, rng, nx.empty_graph(60))
            return outcome(public(name), graph, *args, backend=BACKEND, **kwargs)

        answers, errors = self.hammer([change], call)
        assert not errors
        kinds = {str(answer[1]) for answer in answers if answer[0] == "raised"}
        assert "SystemError" not in " ".join(kinds)

    def hammer(self, changes, call):
        """Answers and types of exceptions of a call that is repeated while each of the changes is too."""
        done, before = threading.Event(), sys.getswitchinterval()

        def repeat(change):
            while not done.is_set():
                change()

        threads = [threading.Thread(target=repeat, args=[change]) for change in changes]
        answers, errors = [], set()
        sys.setswitchinterval(1e-6)
        try:
            for thread in threads:
                thread.start()
            end = time.monotonic() + self.SECONDS
            while time.monotonic() < end:
                try:
                    answers.append(call())
                except Exception as error:
                    errors.add(type(error))
        finally:
            done.set()
            for thread in threads:
                thread.join()
            sys.setswitchinterval(before)
        return answers, errors


@pytest.mark.parametrize("cls", CLASSES)
def test_a_searched_graph_and_its_nodes_die(cls, read):
    graph = nx.relabel_nodes(nx.path_graph(5, cls), {i: Node(i) for i in range(5)})
    view = graph.subgraph(list(graph))
    for each in (graph, view):
        nx.eccentricity(nx.Graph(each), backend=BACKEND)
        nx.ancestors(each, Node(1), backend=BACKEND)
    graph.add_edge(Node(0), Node(4))
    nx.descendants(graph, Node(1), backend=BACKEND)
    alive = [weakref.ref(each) for each in (graph, view, *graph)]
    del graph, view, each
    gc.collect()
    assert not any(each() for each in alive)
