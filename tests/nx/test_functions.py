"""Every function against NetworkX's own: answers, their order, exceptions and their moment, signatures, modules."""

import inspect
import logging
import random

import networkx as nx
import pytest
from nx_calls import CALLS, VERSION, close, draw_call, function, outcome, public, random_graph, views

import rapids_bfs.nx
from rapids_bfs.nx.functions import FUNCTIONS
from rapids_bfs.nx.policy import arguments_of, delegated_argument, is_ours

GRAPHS = 40  # a function
HAVE = sorted(filter(is_ours, FUNCTIONS))
SHORTCUT = ["barycenter", "centroid"]  # NetworkX has a way of its own for trees, and an order
if VERSION < (3, 5):
    SHORTCUT.append("single_target_shortest_path_length")  # a generator
WARNS_FOR_ANOTHER = "global_reaching_centrality"  # before 3.5 it warns that shortest_path will change


@pytest.fixture
def left(caplog):
    """A function that forgets, and returns, what was left to NetworkX."""
    caplog.set_level(logging.DEBUG, logger="rapids_bfs.nx")

    def count():
        records = [record for record in caplog.records if record.name == "rapids_bfs.nx"]
        caplog.clear()
        return len(records)

    return count


def assert_as_networkx(name, graph, args, kwargs, seed):
    """A call ends here as in NetworkX. Returns True if it returned an answer, False if it raised."""
    expected = outcome(public(name), graph, *args, backend="networkx", **kwargs)
    found = outcome(public(name), graph, *args, backend="rapids_bfs", **kwargs)
    if name == WARNS_FOR_ANOTHER:
        expected, found = expected[:2], found[:2]
    assert close(found, expected), f"seed {seed}: {name}({graph}, *{args}, **{kwargs})"
    return expected[0] == "returned"


def test_every_function_is_called_here():
    assert set(CALLS) == set(HAVE)


@pytest.mark.parametrize("name", CALLS)
def test_is_networkx_own_in_order(name, left):
    ran = answered = 0
    for seed in range(GRAPHS):
        rng = random.Random(f"{name} {seed}")
        graph = random_graph(rng)
        args, kwargs = draw_call(name, rng, graph)
        left()
        returned = assert_as_networkx(name, graph, args, kwargs, seed)
        asks_python = delegated_argument(FUNCTIONS[name], graph, kwargs) is not None
        if asks_python and len(graph):
            assert left()
        elif returned and len(graph) and name not in SHORTCUT:
            answered += 1
            ran += not left()
    assert ran == answered, f"{answered - ran} of {answered} calls were left to NetworkX"
    assert answered or name in SHORTCUT


@pytest.mark.parametrize("name", CALLS)
def test_views_are_searched_in_their_order(name):
    for seed in range(6):
        rng = random.Random(f"{name} {seed}")
        for view in views(rng, random_graph(rng)):
            args, kwargs = draw_call(name, rng, view)
            assert_as_networkx(name, view, args, kwargs, seed)


@pytest.mark.parametrize("name", [name for name in CALLS if FUNCTIONS[name].ends])
def test_what_can_be_no_node_is_refused_as_networkx_refuses_it(name):
    for graph in (nx.cycle_graph(4), nx.cycle_graph(4, nx.MultiDiGraph)):
        for end in FUNCTIONS[name].ends:
            for odd in (None, [], {}, float("nan"), object(), (1, [2]), "1", -1, 10**30, b"1", frozenset()):
                ends = (
                    {"source": 0, "target": 1}
                    if name == "all_shortest_paths"
                    else dict.fromkeys(FUNCTIONS[name].ends, 0)
                )
                ends[end] = odd
                expected = outcome(public(name), graph, backend="networkx", **ends)
                assert close(outcome(public(name), graph, backend="rapids_bfs", **ends), expected), ends


@pytest.mark.parametrize("seed", range(40))
def test_ego_graph_of_both_directions_has_networkx_order_of_nodes(seed):
    """Names whose order in a set depends on the order in which they come."""
    graph = nx.gnp_random_graph(40, 0.05, seed=seed, directed=True)
    graph = nx.relabel_nodes(graph, {node: (node * 2**16, seed) for node in graph})
    node = next(iter(graph))
    options = {"radius": 2, "undirected": True}
    expected = outcome(nx.ego_graph, graph, node, backend="networkx", **options)
    assert outcome(nx.ego_graph, graph, node, backend="rapids_bfs", **options) == expected


@pytest.mark.parametrize("name", HAVE)
def test_signature_and_module_are_networkx_own(name):
    original = function(name).orig_func
    theirs = inspect.signature(original).parameters
    ours = inspect.signature(getattr(rapids_bfs.nx, name)).parameters
    assert original.__module__ == f"networkx.{FUNCTIONS[name].module}"
    shared = [parameter for parameter in ours if parameter in theirs]
    assert shared == list(theirs)
    for parameter, described in theirs.items():
        assert ours[parameter].default == described.default, parameter
        assert ours[parameter].kind == described.kind, parameter
    for parameter in ours.keys() - theirs.keys():  # of a later version
        assert ours[parameter].default is None
        assert ours[parameter].kind == inspect.Parameter.KEYWORD_ONLY


@pytest.mark.parametrize("name", HAVE)
def test_declaration_names_arguments_that_exist(name):
    declared = FUNCTIONS[name]
    named = {*declared.ends, *declared.without, *declared.delegated} | ({declared.limit} - {None})
    assert named <= inspect.signature(getattr(rapids_bfs.nx, name)).parameters.keys()


def delegated(name):
    """Those of the declared arguments that the function has in this version of NetworkX."""
    return set(FUNCTIONS[name].delegated) & inspect.signature(function(name).orig_func).parameters.keys()


@pytest.mark.parametrize("name", filter(delegated, HAVE))
def test_what_asks_python_or_has_the_distances_is_left_to_networkx(name, left):
    graph = nx.path_graph(4)
    values = {
        "sp": dict(nx.all_pairs_shortest_path_length(graph)),
        "e": nx.eccentricity(graph),
        "paths": nx.single_source_shortest_path(graph, 1),
        "neighbors": lambda node: graph.neighbors(node),
        "sort_neighbors": sorted,
    }
    given = {argument: values[argument] for argument in delegated(name)}
    ends = (1,) if FUNCTIONS[name].ends and not FUNCTIONS[name].per_vertex else ()
    expected = outcome(public(name), graph, *ends, backend="networkx", **given)
    assert close(outcome(public(name), graph, *ends, backend="rapids_bfs", **given), expected)
    assert left()


@pytest.mark.parametrize("name", [name for name in HAVE if FUNCTIONS[name].without])
def test_weights_decline(name):
    graph = nx.path_graph(4)
    ends = dict.fromkeys(FUNCTIONS[name].ends, 1)
    if name == "all_shortest_paths":
        ends["target"] = 2
    if name.endswith("subset"):
        ends = {"sources": [1], "targets": [2]}
    for argument in FUNCTIONS[name].without:
        if argument not in inspect.signature(function(name).orig_func).parameters:
            continue
        assert rapids_bfs.nx.can_run(name, (graph,), ends) is True
        assert rapids_bfs.nx.can_run(name, (graph,), ends | {argument: "cost"}) == f"{argument} must be None"
        with pytest.raises(NotImplementedError, match="for the given arguments"):
            public(name)(graph, backend="rapids_bfs", **ends, **{argument: "cost"})


def test_a_function_of_the_neighbours_may_leave_some_out():
    graph = nx.gnp_random_graph(40, 0.2, seed=3)
    for options in ({}, {"depth_limit": 2}):
        graph.__networkx_cache__.clear()
        odd = {"sort_neighbors": lambda found: sorted(each for each in found if each % 2), **options}
        expected = list(nx.bfs_edges(graph, 1, backend="networkx", **odd))
        assert list(nx.bfs_edges(graph, 1, backend="rapids_bfs", **odd)) == expected


def test_a_function_of_the_neighbours_fails_when_the_first_edge_is_asked_for():
    graph = nx.Graph([(0, 1), (0, "a")])
    edges = nx.bfs_edges(graph, 0, sort_neighbors=sorted, backend="rapids_bfs")
    with pytest.raises(TypeError, match="'<' not supported"):
        next(edges)


def test_all_pairs_of_more_nodes_than_a_batch():
    graph = nx.gnp_random_graph(150, 0.05, seed=1, directed=True)
    for name in ("all_pairs_shortest_path_length", "all_pairs_shortest_path"):
        found = outcome(public(name), graph, backend="rapids_bfs")
        assert found == outcome(public(name), graph, backend="networkx")


def test_larger_graphs():
    """Where searches go bottom-up, and batches take several words."""
    seed = 5
    rng = random.Random(seed)
    for cls in (nx.Graph, nx.DiGraph):
        graph = nx.gnm_random_graph(120, 500, seed=2, directed=cls is nx.DiGraph)
        for name in CALLS:
            if name in ("all_pairs_all_shortest_paths", "transitive_closure"):
                continue
            args, kwargs = draw_call(name, rng, graph)
            assert_as_networkx(name, graph, args, kwargs, seed)


@pytest.mark.parametrize("name", filter(is_ours, FUNCTIONS))
def test_arguments_are_bound_as_python_binds_them(name):
    signature = inspect.signature(function(name).orig_func)
    assert {each.kind for each in signature.parameters.values()} <= {
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
        inspect.Parameter.KEYWORD_ONLY,
    }
    names = [*signature.parameters]
    for places in range(len(names) + 2):
        for named in ({}, dict.fromkeys(names[places:], 1), dict.fromkeys(names[:1], 1), {"nothing": 1}):
            args = tuple(range(places))
            try:
                expected = signature.bind(*args, **named)
                expected.apply_defaults()
            except TypeError:
                assert arguments_of(name, args, named) is None
            else:
                assert arguments_of(name, args, named) == expected.arguments
