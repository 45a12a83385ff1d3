"""Compiling ahead."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from programs import run

from rapids_bfs import InputError
from rapids_bfs.cli import commands
from rapids_bfs.kernels.cpu.compiled import _kept
from rapids_bfs.warmup import warmup

PROGRAM = """
import numpy as np
import rapids_bfs
from rapids_bfs.kernels.cpu.disk_cache import Cache
from rapids_bfs.warmup import warmup
asked = []
load = Cache.load_overload
def noted(self, signature, target):
    asked.append((self._impl.filename_base, signature))
    return load(self, signature, target)
Cache.load_overload = noted
names = [name for name, _ in warmup(ONLY)]
assert len(names) > 1 and asked, names
del asked[:]
for directed in (False, True):
    edges = np.random.default_rng(1).integers(0, 9000, (2, 200_000))
    for ids in (2 * edges, np.int32(2 * edges), 10**12 * edges):
        rapids_bfs.as_graph(tuple(ids), directed=directed)
    for graph in (rapids_bfs.as_graph(tuple(edges), directed=directed), rapids_bfs.as_graph(([0, 1], [1, 2]))):
        result = rapids_bfs.bfs(graph, [0, 1], depth_limit=4, target=2, predecessors=False, engine="cpu")
        rapids_bfs.validate(graph, rapids_bfs.bfs(graph, 1, engine="cpu"))
        rapids_bfs.bfs(graph, 1, deterministic=True, engine="cpu")
        for sources in ([0], range(3), [0, 1] * 90, [0] * 700):
            for keep in ("distances", "summary"):
                rapids_bfs.bfs_batch(graph, sources, keep=keep, engine="cpu")
        rapids_bfs.betweenness(graph, [0, 1], engine="cpu")
        rapids_bfs.connected_components(graph)
        even = np.arange(len(graph)) % 2 == 0
        rapids_bfs.bfs_batch(graph, [0], vertices=even, engine="cpu")
        rapids_bfs.bfs(graph, 0, vertices=even, engine="cpu")
        rapids_bfs.connected_components(graph, vertices=even)
        for dtype in ("bool", "float32", "float64", "M8[s]"):
            weighted = graph.replace(edge_data={"weight": np.zeros(graph.num_arcs, dtype)})
            weighted.filter(edges=np.zeros(graph.num_arcs, bool), vertices=even).edge_data["weight"]
        rapids_bfs.shortest_path(graph, 0, 1)
        rapids_bfs.shortest_paths(graph, [0, 1] * 90, [1, 0] * 90)
        list(rapids_bfs.all_shortest_paths(graph, 0, 1))
        rapids_bfs.shortest_path_dag(graph, 0).path_counts
        for direction in ("out", "in", "all"):
            rapids_bfs.ego_graphs(graph, [0, 1], 2, direction=direction)
    rapids_bfs.diameter("karate", engine="cpu")
print(*asked, sep="\\n")
"""
DISTRIBUTED = (
    PROGRAM.partition("for directed")[0]
    + """
for directed in (False, True):
    edges = np.random.default_rng(1).integers(0, 9000, (2, 200_000))
    for sources, targets in (edges, ([0, 1], [1, 2]), edges[:, :6000]):
        graph = rapids_bfs.as_graph((sources, targets), directed=directed, devices="cpu:3")
        first, second = int(sources[0]), int(targets[0])
        part = np.unique(np.concatenate([sources, targets])) != targets[1]
        for vertices in (None, part):
            result = rapids_bfs.bfs(graph, first, vertices=vertices)
            rapids_bfs.validate(graph, result)
            result.to_frame(), result.as_dict(), first in result, result.levels
            rapids_bfs.bfs(graph, first, depth_limit=4, vertices=vertices, predecessors=False, trace=True).to("cpu")
            for many in ([first], [first] * 90, [first] * 700):
                for keep in ("distances", "summary"):
                    rapids_bfs.bfs_batch(graph, many, keep=keep, vertices=vertices)
            rapids_bfs.connected_components(graph, vertices=vertices)
        rapids_bfs.bfs(graph, [first, second])
        rapids_bfs.diameter(graph)
        rapids_bfs.shortest_path(graph, first, second)
        graph.filter(vertices=part).to("cpu")
    for _ in range(2):
        rapids_bfs.bfs(rapids_bfs.load("path:300", devices="cpu:2"), 0)
for name in ("rmat:11", "rmat:13:8", "urand:12", "rgg:12", "delaunay:12", "road:12", "web:12", "smallworld:12"):
    rapids_bfs.load(name)
    rapids_bfs.bfs(rapids_bfs.load(name, devices="cpu:2"), rapids_bfs.load(name).sample_sources(1, 1)[0])
print(*asked, sep="\\n")
"""
)
NETWORKX = (
    PROGRAM.partition("for directed")[0]
    + """
import random, sys
import networkx as nx
sys.path.append("../nx")
import nx_calls
for size in (8, 70, 400):
    for name in nx_calls.CALLS:
        if size == 400 and name == "all_pairs_all_shortest_paths":
            continue  # of which there are so many that they take 4 s
        for seed in range(6 if size < 100 else 2):
            rng = random.Random(f"{size} {name} {seed}")
            graph = nx_calls.random_graph(rng, most_nodes=size, min_nodes=size // 2)
            args, kwargs = nx_calls.draw_call(name, rng, graph)
            nx_calls.outcome(nx_calls.public(name), graph, *args, backend="rapids_bfs", **kwargs)
for cls in nx_calls.CLASSES:
    for names in (int, str):
        graph = nx.relabel_nodes(nx.path_graph(70, cls), names)
        for view in nx_calls.views(random.Random(1), graph):
            nx_calls.outcome(nx.shortest_path, view, names(0), backend="rapids_bfs")
for cls in (nx.Graph, nx.DiGraph):
    graph = nx.gnm_random_graph(4000, 60_000, seed=1, directed=cls is nx.DiGraph)
    for name in ("bfs_tree", "descendants", "ancestors", "shortest_path", "is_bipartite", "closeness_centrality"):
        for _ in range(2):
            ends = {} if name in ("is_bipartite", "closeness_centrality") else {"source": 0}
            nx_calls.outcome(nx_calls.public(name), graph, backend="rapids_bfs", **ends)
print(*asked, sep="\\n")
"""
)


@pytest.mark.parametrize(
    ("program", "only"), [(PROGRAM, ()), (NETWORKX, "networkx"), (DISTRIBUTED, ("distributed", "generators"))]
)
def test_what_people_ask_is_compiled(program, only):
    """Questions about other graphs find every function that they call, with its types, compiled."""
    done = run(program.replace("ONLY", repr(only)), seconds=1800)  # all kernels, where none is kept yet
    assert done.stdout.strip() == ""


def test_a_part_alone():
    assert [name for name, _ in warmup("bfs")] == ["read and build graphs", "bfs"]
    with pytest.raises(InputError, match="'bfs_tree' is not one of the parts compiled ahead: bfs, validate"):
        next(warmup(["bfs", "bfs_tree"]))


def test_the_command_says_what_and_where():
    command = [sys.executable, "-m", "rapids_bfs", "warmup", "--only", "bfs_batch"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    *rows, where = done.stdout.splitlines()
    assert any("bfs_batch" in row and " s " in row for row in rows)
    assert where.startswith("kept in ")


def test_the_command_keeps_nothing_in_a_file(tmp_path):
    """It said where it had, below a warning that it could not."""
    (tmp_path / "file").write_text("")
    command = [sys.executable, "-m", "rapids_bfs", "warmup", "--only", "bfs"]
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "file")}
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, env=environment)
    assert (done.returncode, "kept in" in done.stdout) == (0, False), done.stderr
    assert "as compiled code cannot be kept" in done.stderr


def test_its_time_is_one_number():
    docs = Path(__file__).parents[2] / "docs" / "guide"
    texts = [(docs / name).read_text() for name in ("command-line.md", "engines.md")]
    for text in (*texts, commands.warmup.__doc__, _kept()):
        assert "in about 110 s on two cores" in " ".join(text.split())
