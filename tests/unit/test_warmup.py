"""Compiling ahead."""

import os
import subprocess
import sys

from programs import run

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
names = [name for name, _ in warmup()]
assert len(names) > 5 and asked, names
del asked[:]
for directed in (False, True):
    edges = np.random.default_rng(1).integers(0, 9000, (2, 200_000))
    for graph in (rapids_bfs.as_graph(tuple(edges), directed=directed), rapids_bfs.as_graph(([0, 1], [1, 2]))):
        result = rapids_bfs.bfs(graph, [0, 1], depth_limit=4, target=2, predecessors=False, engine="cpu")
        rapids_bfs.validate(graph, rapids_bfs.bfs(graph, 1, engine="cpu"))
        rapids_bfs.bfs(graph, 1, deterministic=True, engine="cpu")
        for sources in ([0], range(3), [0, 1] * 90, [0] * 700):
            for keep in ("distances", "summary"):
                rapids_bfs.bfs_batch(graph, sources, keep=keep, engine="cpu")
        rapids_bfs.betweenness(graph, [0, 1], engine="cpu")
        rapids_bfs.connected_components(graph)
        rapids_bfs.shortest_path(graph, 0, 1)
    rapids_bfs.diameter("karate", engine="cpu")
print(*asked, sep="\\n")
"""


def test_what_people_ask_is_compiled():
    """Questions about other graphs find every function that they call, with its types, compiled."""
    assert run(PROGRAM).stdout.strip() == ""


def test_the_command_says_what_and_where():
    done = subprocess.run(
        [sys.executable, "-m", "rapids_bfs", "warmup"], capture_output=True, text=True, env=os.environ, timeout=600
    )
    assert done.returncode == 0, done.stderr
    *rows, where = done.stdout.splitlines()
    assert any("bfs_batch" in row and " s " in row for row in rows)
    assert where.startswith("kept in ")
