"""Answers of every kind, for tests in which another thread, a forked child or an interrupted process gives them."""

import os
import pickle
import traceback

import networkx as nx
import numpy as np

from rapids_bfs import as_graph, betweenness, bfs, bfs_batch, validate
from rapids_bfs.generators import generate

GRID = np.array([(v, v + w) for v in range(900) for w in (1, 30) if v + w < 900 and (w == 30 or v % 30 < 29)])


def of_searches(graph):
    """Of each kind of search of a graph on the CPU."""
    found = bfs(graph, 1, engine="cpu")
    ordered = bfs(graph, 1, engine="cpu", deterministic=True)
    return {
        "distances": found.distances,
        "validated": str(validate(graph, found)),
        "tree": ordered.predecessors,
        "batch": bfs_batch(graph, range(70), engine="cpu").distances,
        "summary": bfs_batch(graph, range(70), keep="summary", engine="cpu").harmonic,
        "betweenness": betweenness(graph, range(9), engine="cpu"),
    }


def of_networkx(graph):
    """Of NetworkX's functions by the backend."""
    ours = {"backend": "rapids_bfs"}
    return {
        "edges": np.array(list(nx.bfs_edges(graph, 0, **ours))),
        "lengths": np.array(sorted(nx.single_source_shortest_path_length(graph, 0, **ours).items())),
        "components": nx.number_connected_components(graph, **ours),
        "efficiency": nx.local_efficiency(graph, **ours),
    }


def of_everything():
    """Graphs made, searched and checked: one for threads, one for levels by the dozen, one for NetworkX."""
    wide, deep = generate("rmat:12"), as_graph((GRID[:, 0], GRID[:, 1]), directed=True)
    found = {"arcs": wide.num_arcs, "reversed": deep.reverse.targets}
    for name, graph in ("wide", wide), ("deep", deep):
        found |= {f"{name} {key}": answer for key, answer in of_searches(graph).items()}
    return found | of_networkx(nx.karate_club_graph())


def same(one, other):
    """Are they equal, sums of floats up to rounding?"""
    if one.keys() != other.keys():
        return False
    return all(
        np.allclose(one[key], other[key])
        if np.asarray(one[key]).dtype.kind == "f"
        else np.array_equal(one[key], other[key])
        for key in one
    )


def in_child(answer):
    """What ``answer()`` is in a forked child of this process, by bare `os.fork`; None if the child fails."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        try:
            with os.fdopen(writing, "wb") as pipe:
                pickle.dump(answer(), pipe)
            os._exit(0)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(1)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        sent = pipe.read()
    return pickle.loads(sent) if os.waitpid(child, 0)[1] == 0 else None
