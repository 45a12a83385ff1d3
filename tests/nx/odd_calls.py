"""Random calls off the beaten path, each made twice: by NetworkX and by the backend. They must end alike.

    python tests/nx/odd_calls.py [--calls 100000 | --minutes 10] [--first SEED]

A call is drawn from its seed alone, graph and arguments included, so that each of the two has its own.
"""

import argparse
import inspect
import math
import random
import time
import traceback
import warnings
from collections import OrderedDict, UserDict
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from functools import cache

import networkx as nx
import numpy as np
from nx_calls import CALLS, VERSION, close, draw_call, in_order, public, random_graph, views

from rapids_bfs.nx.functions import FUNCTIONS
from rapids_bfs.nx.graph import FallBack

CONSUMED_AT_ONCE = 400  # items of an answer that are looked at
LIMITS = [
    *(1e30, 10**20, 10**400, math.inf, math.nan, -math.inf, -1, -0.5, "x", None, True, False, 1.5, 2**31, [], 1j),
    *(Decimal(1), Decimal("1.5"), Decimal("NaN"), Decimal("Infinity"), Fraction(3, 2), Fraction(2)),
    *(np.float64(1.5), np.float64("nan"), np.float32(2), np.int8(1), np.int64(2), np.True_, np.array(1), np.array([1])),
]
FLAGS = [1, 0, 2, -1, "no", "", None, True, False, np.True_, np.False_, 1.0, math.nan, [], [0], np.array(1)]
NOT_COMPARED = ["not compared", "argument must be an integer"]  # the other is what NumPy says of some pairs of numbers
FLAGGED = {"reverse", "center", "undirected", "usebounds", "wf_improved", "normalized", "endpoints", "reflexive"}
FLAGGED.add("return_seen")
TWINS = [bool, float, np.int64, np.float64, Decimal, Fraction, complex, int, np.uint8]


class Named:
    """An object that is told apart by its name alone."""

    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return self.name

    def __eq__(self, other):
        return type(other) is type(self) and other.name == self.name

    def __hash__(self):
        return hash(self.name)


class NoHash(Named):
    def __hash__(self):
        raise RuntimeError("no hash")


class NoEquality(Named):
    """Has the hash of 1, and fails when it is compared with it."""

    def __eq__(self, other):
        raise RuntimeError(NOT_COMPARED[0])

    def __hash__(self):
        return 1


ODD = NoEquality("odd")


class Text(str):
    """Equal to a string, and another class."""

    __slots__ = ()


class Once(Named):
    """An iterator."""

    def __init__(self, items):
        super().__init__("once")
        self.items = iter(items)

    def __iter__(self):
        return self

    def __next__(self):
        return next(self.items)


class Reversed(dict):
    """A dict that is read from its end."""

    def __iter__(self):
        return reversed(list(super().__iter__()))


WAYS = [
    *("neighbors", "successors", "predecessors", "__iter__", "__len__", "__contains__", "__getitem__", "is_directed"),
    *("number_of_nodes", "nbunch_iter", "adj", "nodes", "edges", "adjacency", "colour", "add_node"),
    *("adjlist_inner_dict_factory", "adjlist_outer_dict_factory", "node_dict_factory"),
]


@cache
def odd_class(base, ways, factory):
    """A subclass of NetworkX's class, mostly one that is read in its own way."""

    def backwards(self, node):
        return reversed(list(base.neighbors(self, node)))

    def rows(self):
        return {node: dict(reversed(list(row.items()))) for node, row in base.adjacency(self)}

    values = {
        "neighbors": backwards,
        "successors": backwards,
        "predecessors": backwards,
        "__iter__": lambda self: reversed(list(base.__iter__(self))),
        "__len__": lambda self: base.__len__(self) + 1,
        "__contains__": lambda self, node: node != 1 and base.__contains__(self, node),
        "__getitem__": lambda self, node: dict(reversed(list(base.__getitem__(self, node).items()))),
        "is_directed": lambda self: False,
        "number_of_nodes": lambda self: 3,
        "nbunch_iter": lambda self, bunch=None: iter(list(base.__iter__(self))[:2]),
        "adj": property(rows),
        "nodes": property(lambda self: list(base.__iter__(self))[::-1]),
        "edges": property(lambda self: []),
        "adjacency": lambda self: iter([]),
        "colour": "red",
        "add_node": lambda self, node, **data: base.add_node(self, node, **data),
    }
    return type("Own", (base,), {way: values.get(way, factory) for way in ways})


def odd_graph(rng):
    """A graph, seldom of an odd class, or odd itself, or a view; and the graph that changes when it changes."""
    graph = random_graph(rng, most_nodes=8)
    kind = rng.random()
    if kind < 0.15:
        ways, factory = tuple(rng.sample(WAYS, rng.randint(1, 2))), rng.choice([OrderedDict, Reversed, UserDict])
        own = odd_class(type(graph), ways, factory)()
        own.add_nodes_from(list(graph))
        own.add_edges_from(list(graph.edges))
        # The iterator of an OrderedDict does not see a change after its last key.
        return own, own if factory is not OrderedDict else None
    if kind < 0.2:
        graph.neighbors = lambda node: reversed(list(graph._adj[node]))
    elif kind < 0.25 and 1 not in graph:
        graph.add_edge(next(iter(graph), 2), ODD)
    elif kind < 0.3 and len(graph) and not isinstance(next(iter(graph)), tuple):
        nodes = list(graph)
        for _ in range(3):
            with suppress(TypeError):  # NumPy cannot compare these two
                graph.add_edge(twin(rng, rng.choice(nodes)), twin(rng, rng.choice(nodes)))
    elif kind < 0.4:
        view = rng.choice(list(views(rng, graph)))
        return rng.choice([view, *views(rng, view)]) if rng.random() < 0.4 else view, graph
    return graph, graph


def one_way_graph(rng):
    """A directed graph whose successors can be converted and whose predecessors cannot: one of these is another object
    than the node, another node, or missing."""
    graph = random_graph(rng, rng.choice([nx.DiGraph, nx.MultiDiGraph]), min_nodes=2)
    nodes = list(graph)
    if not graph.size():
        graph.add_edge(*nodes[:2])
    tail, head = rng.choice(list(graph.edges()))
    data = graph._pred[head].pop(tail)
    equal = tail if isinstance(tail, tuple) else twin(rng, tail)  # tuples are told apart by their own type alone
    instead = rng.choice([equal, equal, rng.choice(nodes), None])
    if instead is not None:
        graph._pred[head][instead] = data
    return graph


def twin(rng, node):
    """An object that is equal to the node, often of another class."""
    if isinstance(node, str):
        return Text(node)
    if isinstance(node, tuple):
        return tuple(twin(rng, each) for each in node)
    for cls in rng.sample(TWINS, len(TWINS)):
        try:
            if cls(node) == node:
                return cls(node)
        except Exception:
            continue
    return node


def odd_node(rng, node):
    """What stands in place of a node."""
    if rng.random() < 0.6:
        return twin(rng, node) if rng.random() < 0.8 else node
    return rng.choice(
        [
            *(None, [], [node], {}, (), {node}, frozenset([node]), (1, [2]), math.nan, "1", b"1", -1, 10**30, True),
            *(np.array(1), Once([node]), Named("other"), NoHash("unhashable"), ODD),
        ]
    )


def odd_bunch(rng, nodes):
    """Several nodes in anything that can hold them, or none."""
    some = [twin(rng, each) if rng.random() < 0.3 else each for each in rng.choices(nodes, k=rng.randint(0, 4))]
    if rng.random() < 0.15:
        some.append(odd_node(rng, rng.choice(nodes)))
    try:
        return rng.choice([list, tuple, set, frozenset, dict.fromkeys, Once])(some)
    except Exception:  # no set of these
        return some


def sorter(rng):
    def fails(neighbors):
        raise ValueError("not sorted")

    state = random.Random(rng.random())
    return rng.choice(
        [
            *(None, sorted, fails, list, iter, lambda found: None, lambda found: [*found, "missing"], lambda found: 5),
            *(lambda found: 2 * list(found), lambda found: (each for each in reversed(list(found)))),
            *(lambda found: state.sample(found := list(found), len(found)), lambda found: list(found)[:1], "x"),
        ]
    )


def odd_arguments(rng, name, graph):
    """The arguments of an ordinary call, by name, some of them replaced by odd ones."""
    args, kwargs = draw_call(name, rng, graph)
    arguments = dict(inspect.signature(public(name)).bind(graph, *args, **kwargs).arguments)
    arguments.pop("G")
    arguments |= arguments.pop("backend_kwargs", {})
    nodes = list(graph._node) or [0]
    parameters = inspect.signature(public(name)).parameters
    for argument in parameters:
        if argument in ("source", "target", "u", "n", "v"):
            odd = odd_node(rng, rng.choice(nodes))
        elif argument in ("sources", "targets", "nbunch", "top_nodes"):
            odd = odd_bunch(rng, nodes)
        elif argument in ("depth_limit", "cutoff", "radius", "distance") and argument not in FUNCTIONS[name].without:
            odd = rng.choice(LIMITS)
        elif argument == "sort_neighbors":
            odd = sorter(rng)
        elif argument in FLAGGED:
            odd = rng.choice(FLAGS)
        elif argument == "k":
            odd = rng.choice([0, 1, True, -1, 1.0, "x", 10**30, len(graph._node), np.int64(1)])
        else:
            continue
        if rng.random() < (0.5 if argument in arguments or parameters[argument].default is inspect._empty else 0.2):
            arguments[argument] = odd
    if "sources" in arguments and VERSION < (3, 5) and name == "bfs_layers":
        arguments["sources"] = rng.choice([0, nodes])  # that version forgets what it has seen of an iterator
    return arguments


def edges_among(graph, nodes):
    return [edge for edge in graph.edges() if all(any(end is node for node in nodes) for end in edge)]


CHANGES = (
    lambda rng, graph, nodes: graph.add_edge(rng.choice(nodes), rng.choice(nodes)),
    lambda rng, graph, nodes: graph.add_edge(rng.choice(nodes), "a new one"),
    lambda rng, graph, nodes: graph.add_node("another new one"),
    lambda rng, graph, nodes: graph.add_node(rng.choice(nodes), colour="blue"),
    lambda rng, graph, nodes: graph.nodes[rng.choice(nodes)].update(colour="green"),
    lambda rng, graph, nodes: graph.remove_node(rng.choice(nodes)),
    lambda rng, graph, nodes: graph.remove_edge(*rng.choice(edges_among(graph, nodes))),
    lambda rng, graph, nodes: graph.add_edge(*rng.choice(edges_among(graph, nodes)), weight=3),
    lambda rng, graph, nodes: graph.clear_edges(),
    lambda rng, graph, nodes: graph.clear(),
)


def change(rng, graph):
    """Change the graph, or try to."""
    try:
        # One that fails half way, as one of that node would, is not told by NetworkX's own cache either.
        rng.choice(CHANGES)(rng, graph, [node for node in graph._node if node is not ODD])
    except Exception:
        return False
    return True


def ending(call, consume):
    """How a call ends: with a value, and what is in it; or with an exception, and after which items."""
    items = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            value = call()
            kind = "generator" if inspect.isgenerator(value) else type(value)
            if not hasattr(value, "__next__"):
                return kind, in_order(value)
            consume(value, items)
            return kind, items
        except Exception as error:
            ours = any(isinstance(each, FallBack) for each in chain_of(error))
            return type(error), str(error), items, ours


def chain_of(error):
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def made(seed, backend):
    """Draw a call and make it. Returns how it ends, and what it was."""
    rng = random.Random(seed)
    name = rng.choice(sorted(CALLS))
    graph, whole = odd_graph(rng)
    arguments = odd_arguments(rng, name, graph)
    again = random.Random(seed + 1)  # so that what the call does to the first one is of no account
    changes_at = again.choice([None, None, 0, 1, 2, 5]) if whole is graph else None
    times = again.choice([1, 1, 3])

    def consume(value, items):
        changes = 0
        for _ in range(CONSUMED_AT_ONCE):
            if changes_at is not None and changes_at <= len(items) and changes < times:
                changes += change(again, whole)
            try:
                items.append(in_order(next(value)))
            except StopIteration:
                return

    if again.random() < 0.5 and backend != "networkx":  # there is a conversion already
        ending(lambda: public("is_bipartite")(graph, backend=backend), None)
    if again.random() < 0.3 and backend != "networkx":  # as it comes, or because it is asked for
        with nx.config(backend_priority=[backend]), nx.config.backends.rapids_bfs(min_edges=0):
            found = ending(lambda: public(name)(graph, **arguments), consume)
    else:
        found = ending(lambda: public(name)(graph, backend=backend, **arguments), consume)
    described = f"seed {seed}: {name}({type(graph).__name__} {list(graph._node)}, {arguments}), changed at {changes_at}"
    return found, described


def difference(seed):
    """None if the two agree on the call of this seed, or what is different."""
    expected, described = made(seed, "networkx")
    found, _ = made(seed, "rapids_bfs")
    if expected[1] in NOT_COMPARED:
        return None  # we may have had no need to compare it
    if not close(found, expected, strict=True):
        return f"{described}\n  NetworkX: {expected}\n  found:    {found}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--calls", type=int, default=10**9)
    parser.add_argument("--minutes", type=float, default=math.inf)
    parser.add_argument("--first", type=int, default=0)
    arguments = parser.parse_args()
    ends = time.monotonic() + 60 * arguments.minutes
    made_calls, failed = 0, 0
    for seed in range(arguments.first, arguments.first + arguments.calls):
        if time.monotonic() > ends:
            break
        made_calls += 1
        try:
            different = difference(seed)
        except Exception:
            different = f"seed {seed}: {traceback.format_exc()}"
        if different:
            failed += 1
            print(different, flush=True)
    print(f"NetworkX {nx.__version__}: {made_calls:,} calls, {failed} of them different")
    raise SystemExit(bool(failed))


if __name__ == "__main__":
    main()
