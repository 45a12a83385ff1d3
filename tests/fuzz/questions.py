"""Fuzz what filters, masks, edge data, neighbourhoods and shortest paths are given, and the graphs of other libraries.

    python tests/fuzz/questions.py [--minutes 1 | --cases 2000] [--first SEED]

Each case is a small odd graph and one question about it, some of whose arguments are odd. It must be answered as plain
Python answers it, or be refused with one `InputError` of a line. A case depends on its seed alone.
"""

from __future__ import annotations

import argparse
import math
import time
import traceback
import warnings
from collections import Counter, UserList
from collections.abc import Callable
from random import Random
from typing import Any

import igraph
import networkit
import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import rustworkx

import rapids_bfs
from rapids_bfs import Graph, InputError, as_graph

NOTHING = [
    None,
    "",
    "x",
    b"x",
    0,
    1,
    -1,
    2.5,
    math.nan,
    True,
    object(),
    [],
    {},
    set(),
    (),
    np.array(None),
    pa.NA,
]
NUMBERS = [
    *range(4),
    10**30,
    2**31,
    2**63,
    -1,
    1.0,
    1.5,
    math.inf,
    math.nan,
    True,
    np.int8(2),
    np.float64(2),
    "2",
    None,
]
DIRECTIONS = ["out", "in", "all", "OUT", "both", "", None, 0, ["out"]]


class Wrong(AssertionError):
    """An answer that plain Python does not give."""


def odd_graph(rng: Random) -> Graph:
    """With loops, repeated edges, isolated vertices, ids of all kinds, and edge data; or with next to nothing."""
    n = rng.choice([0, 1, 2, 5, 9])
    m = rng.choice([0, 1, n, 3 * n]) if n else 0
    ends = np.array([[rng.randrange(n) for _ in range(m)] for _ in range(2)], np.int64).reshape(2, m)
    if n and rng.random() < 0.3:
        ends[1, : m // 2] = ends[0, : m // 2]
    columns = {name: column(rng, m, whole=True) for name in rng.sample(["time", "kind", "é", ""], rng.randint(0, 2))}
    directed = rng.random() < 0.5
    graph = as_graph(tuple(ends), vertices=n, directed=directed, edge_data=columns or None)
    labels = rng.choice([None, None, [f"v{i}" for i in range(n)], [10**6 * (i + 1) for i in range(n)]])
    if labels is None or not n:
        return graph
    return graph.replace(labels=np.array(labels, object if isinstance(labels[0], str) else np.int64))


def column(rng: Random, m: int, *, whole: bool = False) -> Any:
    """What m edges may carry; if not ``whole``, often something else."""
    numbers = np.array([rng.randrange(-3, 4) for _ in range(m)], np.int64)
    good = [
        numbers,
        numbers.astype(rng.choice([np.int8, np.float32, np.float64, np.uint16, bool])),
        numbers.astype("M8[D]"),
        numbers.astype(str).astype(object),
        [f"{number}" for number in numbers],
        numbers.tolist(),
        pd.Series(numbers, index=range(m, 0, -1)),
        np.repeat(numbers, 2)[::2],
    ]
    odd = [
        *NOTHING,
        numbers[:-1],
        numbers.reshape(-1, 1),
        numbers.astype(complex),
        numbers.astype("m8[s]"),
        np.array([None, *numbers[1:]], object),
        np.ma.masked_array(numbers, numbers > 0),
        pd.Series([None, *numbers[1:]], dtype="Int64"),
        pl.Series(numbers, dtype=pl.Int64),
        pa.array(numbers),
        np.zeros(m, [("a", "i4")]),
        [[1]] * m,
        (number for number in numbers),
    ]
    return rng.choice(good if whole or rng.random() < 0.5 else odd)


def odd_mask(rng: Random, length: int, bits: list[bool]) -> tuple[Any, bool]:
    """A mask in some form, and whether it is one that must be taken."""
    array = np.array(bits, bool)
    good = [array, array.copy(), list(bits), pd.Series(array), np.repeat(array, 2)[::2], lambda graph: array]
    odd = [
        *NOTHING,
        array[:-1],
        np.append(array, True),
        array.astype(np.int8),
        array.astype(object),
        array.reshape(1, -1),
        np.flatnonzero(array),
        np.ma.masked_array(array, array),
        lambda graph: None,
        lambda graph: graph,
        lambda graph: array[1:],
        set(bits),
        iter(bits),
        {"mask": array},
        UserList(bits),
        pa.array(bits),
        pd.Series([*bits[:-1], None], dtype="boolean"),
        as_graph("karate"),
    ]
    return (rng.choice(good), True) if rng.random() < 0.7 else (rng.choice(odd), False)


def arcs_of(graph: Graph) -> list[tuple[int, int]]:
    return list(zip(np.repeat(np.arange(len(graph)), graph.degrees).tolist(), graph.targets.tolist(), strict=True))


def distances(n: int, arcs: list[tuple[int, int]], source: int) -> list[int]:
    found, level = {source: 0}, [source]
    while level:
        level = list(dict.fromkeys(v for u, v in arcs if u in level and v not in found))
        found |= dict.fromkeys(level, max(found.values()) + 1)
    return [found.get(vertex, -1) for vertex in range(n)]


def bits_of_edges(rng: Random, graph: Graph) -> list[bool]:
    """One for each arc, mostly alike for both arcs of an undirected edge."""
    arcs, share = arcs_of(graph), rng.choice([0, 0.3, 0.7, 1])
    of_edge = {(min(arc), max(arc)): rng.random() < share for arc in arcs}
    if not graph.directed and rng.random() < 0.9:
        return [of_edge[min(arc), max(arc)] for arc in arcs]
    return [rng.random() < share for _ in arcs]


def drawn_id(rng: Random, graph: Graph) -> Any:
    ids = list(graph)
    return rng.choice(ids) if ids and rng.random() < 0.95 else rng.choice([*NOTHING, *NUMBERS])


def check(right: bool, found: Any) -> None:
    if not right:
        raise Wrong(found)


def ask_filter(rng: Random, graph: Graph) -> None:
    arcs, n = arcs_of(graph), len(graph)
    bits, shown = bits_of_edges(rng, graph), [rng.random() < 0.6 for _ in range(n)]
    edges, vertices = (odd_mask(rng, len(each), each)[0] if rng.random() < 0.7 else None for each in (bits, shown))
    bits, shown = ([True] * len(each) if mask is None else each for mask, each in ((edges, bits), (vertices, shown)))
    filtered = graph.filter(edges=edges, vertices=vertices)
    kept = [i for i, (u, v) in enumerate(arcs) if bits[i] and shown[u] and shown[v]]
    check(arcs_of(filtered) == [arcs[i] for i in kept], filtered)
    check(list(filtered) == list(graph) and filtered.directed == graph.directed, filtered)
    for name, values in graph.edge_data.items():
        check(np.array_equal(np.asarray(filtered.edge_data[name]), np.asarray(values)[kept]), name)


def ask_mask(rng: Random, graph: Graph) -> None:
    source, shown = drawn_id(rng, graph), [rng.random() < 0.7 for _ in range(len(graph))]
    vertices, taken = odd_mask(rng, len(graph), shown)
    engine = rng.choice(["auto", "cpu", "cpu:sequential", "scipy", "networkx"])
    result = rapids_bfs.bfs(graph, source, vertices=vertices, engine=engine)
    if not taken and vertices is None:
        shown = [True] * len(graph)
    arcs = [(u, v) for u, v in arcs_of(graph) if shown[u] and shown[v]]
    expected = distances(len(graph), arcs, graph.vertex_of(source))
    check(result.distances.tolist() == expected, result)
    check(bool(rapids_bfs.validate(graph, result)), result)
    batch = rapids_bfs.bfs_batch(graph, [source], vertices=vertices)
    check(batch.distances.tolist() == [expected], batch)
    labels = rapids_bfs.connected_components(graph, vertices=vertices)
    check(((np.asarray(labels) >= 0) == np.array(shown, bool)).all(), labels)
    target = drawn_id(rng, graph)
    path = rapids_bfs.shortest_path(graph, source, target, vertices=vertices)
    check(len(path) == expected[graph.vertex_of(target)] + 1, path)
    pairs = rng.choice([[source, source], (target, source), np.array([target, source], object), rng.choice(NOTHING)])
    many = rapids_bfs.shortest_paths(graph, [source] * 2, pairs, vertices=vertices)
    check(many.lengths.tolist() == [expected[graph.vertex_of(id)] for id in pairs], many)


def ask_once(rng: Random, graph: Graph) -> None:
    bits, source = bits_of_edges(rng, graph), drawn_id(rng, graph)
    edges, _ = odd_mask(rng, len(bits), bits)
    result = rapids_bfs.bfs(graph, source, edges=edges)
    arcs = [arc for arc, bit in zip(arcs_of(graph), bits, strict=True) if bit or edges is None]
    check(result.distances.tolist() == distances(len(graph), arcs, graph.vertex_of(source)), result)


def ask_edge_data(rng: Random, graph: Graph) -> None:
    m = rng.choice([0, 1, 4])
    ends = np.array([[rng.randrange(5) for _ in range(m)] for _ in range(2)], np.int64).reshape(2, m)
    values = column(rng, m)
    columns = rng.choice([{"a": values}, {"a": values, "b": column(rng, m)}, {1: values}, values])
    kind = rng.choice(["arrays", "frame", "polars", "networkx"])
    if kind == "networkx":
        theirs = nx.MultiDiGraph(list(zip(*ends.tolist(), strict=True)))
        for number, (_, _, data) in enumerate(theirs.edges(data=True)):
            data["a"] = rng.choice([number, "x", None, 1.5, 2**70, [1], np.float32(2)])
        made = as_graph(theirs, edge_data=rng.choice([["a"], ["missing"], "a", ["a", "a"], [None], columns]))
    elif kind == "arrays":
        made = as_graph(tuple(ends), edge_data=columns)
    else:
        frame = pd.DataFrame({"source": ends[0], "target": ends[1], "a": column(rng, m, whole=True)})
        frame = pl.from_pandas(frame) if kind == "polars" else frame
        made = as_graph(
            frame, edge_data=rng.choice([["a"], ("a",), ["source"], ["b"], "a", ["a", "a"], [0], 5, columns])
        )
    check(all(len(each) == made.num_arcs for each in made.edge_data.values()), made)
    again = as_graph(made.to("arrow"), edge_data=list(made.edge_data), directed=True)
    check(again.num_arcs == made.num_edges if not made.directed else again.num_arcs == made.num_arcs, again)


def ask_neighborhoods(rng: Random, graph: Graph) -> None:
    centers = [drawn_id(rng, graph) for _ in range(rng.randint(0, 3))]
    centers = rng.choice([centers, centers, tuple(centers), np.array(centers, object), None, rng.choice(NOTHING)])
    hops, direction = rng.choice(NUMBERS), rng.choice(DIRECTIONS) if rng.random() < 0.5 else "out"
    ego = rapids_bfs.ego_graphs(graph, centers, hops, direction=direction)
    near = rapids_bfs.neighborhoods(graph, centers, hops, direction=direction)
    arcs = arcs_of(graph)
    followed = {"out": arcs, "in": [arc[::-1] for arc in arcs], "all": arcs + [arc[::-1] for arc in arcs]}[direction]
    for place, center in enumerate(near.centers.tolist()):
        piece = slice(*near.offsets[place : place + 2].tolist())
        found = dict(zip(near.vertices[piece].tolist(), near.distances[piece].tolist(), strict=True))
        expected = {v: d for v, d in enumerate(distances(len(graph), followed, center)) if 0 <= d <= hops}
        check(found == expected, near)
        piece = slice(*ego.offsets[place : place + 2].tolist())
        inside = list(zip(ego.sources[piece].tolist(), ego.targets[piece].tolist(), strict=True))
        check(sorted(inside) == sorted((u, v) for u, v in arcs if u in found and v in found), ego)
    check(len(near.to_frame()) == len(near.vertices), near)


def ask_paths(rng: Random, graph: Graph) -> None:
    source, target = drawn_id(rng, graph), drawn_id(rng, graph)
    dag = rapids_bfs.shortest_path_dag(graph, source, target)
    paths = list(rapids_bfs.all_shortest_paths(graph, source, target)) if target is not None else None
    there = distances(len(graph), arcs_of(graph), dag.source)
    if paths is not None and dag.target is not None:
        check(len(paths) == dag.path_counts[dag.target], dag)
        check({len(path) for path in paths} == {there[dag.target] + 1}, paths)
    for u, v in arcs_of(dag.graph):
        check(there[v] == there[u] + 1 and there[u] >= 0, dag)
    check(all(len(each) == dag.graph.num_arcs for each in dag.graph.edge_data.values()), dag)


def ask_importer(rng: Random, graph: Graph) -> None:
    n, m = rng.choice([(0, 0), (1, 0), (5, 4), (6, 15)])
    ends = [(rng.randrange(n), rng.randrange(n)) for _ in range(m)]
    gone = rng.sample(range(n), rng.randint(0, n // 2))
    kept = [(u, v) for u, v in ends if u not in gone and v not in gone]
    directed, kind = rng.random() < 0.5, rng.choice(["igraph", "names", "networkit", "rustworkx"])
    nodes = [node for node in range(n) if node not in gone]
    if kind in ("igraph", "names"):
        theirs = igraph.Graph(n, ends, directed=directed)
        if kind == "names":
            theirs.vs["name"] = rng.choice(
                [[f"{i}" for i in range(n)], [7 * i for i in range(n)], ["x"] * n, [None] * n]
            )
        theirs.delete_vertices(gone)
        nodes = theirs.vs["name"] if kind == "names" and n - len(gone) else list(range(n - len(gone)))
        names = dict(enumerate(nodes))
        kept = [(names[u], names[v]) for u, v in theirs.get_edgelist()]
    elif kind == "networkit":
        theirs = networkit.Graph(n, directed=directed)
        for edge in ends:
            theirs.addEdge(*edge)
        for node in gone:
            theirs.removeNode(node)
    else:
        theirs = (rustworkx.PyDiGraph if directed else rustworkx.PyGraph)()
        theirs.add_nodes_from(rng.choices([None, "x", [1]], k=n))
        theirs.add_edges_from_no_data(ends)
        theirs.remove_nodes_from(gone)
    made = as_graph(theirs)
    check(list(made) == sorted(nodes) if kind != "names" else set(made) == set(nodes), made)
    found = Counter((u, v) for u in made for v in made.neighbors(u))
    expected = Counter(kept) + (Counter() if directed else Counter((v, u) for u, v in kept if u != v))
    check(found == expected, made)


ASK: dict[str, Callable[[Random, Graph], None]] = {
    "filter": ask_filter,
    "mask": ask_mask,
    "bfs, edges": ask_once,
    "edge_data": ask_edge_data,
    "neighborhoods": ask_neighborhoods,
    "all_shortest_paths": ask_paths,
    "importer": ask_importer,
}


def outcome(seed: int) -> tuple[str, str | None]:
    """What was asked with "answered" or "refused"; and if it ended otherwise, how."""
    rng = Random(seed)
    name = rng.choice(list(ASK))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            ASK[name](rng, odd_graph(rng))
    except InputError as error:
        message = str(error)
        whole = 0 < len(message) < 1000 and len(message.splitlines()) == 1
        return f"{name} refused", None if whole else f"not one line: {message}"
    except Exception:
        return f"{name} failed", traceback.format_exc()
    return f"{name} answered", None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--first", type=int, default=0)
    given = parser.parse_args()
    counts: Counter[str] = Counter()
    end, seed, findings = time.monotonic() + 60 * (given.minutes or math.inf), given.first, 0
    while time.monotonic() < end and (given.minutes or seed < given.first + given.cases):
        what, wrong = outcome(seed)
        counts[what] += 1
        if wrong:
            findings += 1
            print(f"seed {seed}: {what}\n{wrong}")
        seed += 1
    print(*(f"{count:,} {what}" for what, count in sorted(counts.items())), sep="\n")
    print(f"{sum(counts.values()):,} cases, {findings} findings")
    return int(findings > 0)


if __name__ == "__main__":
    raise SystemExit(main())
