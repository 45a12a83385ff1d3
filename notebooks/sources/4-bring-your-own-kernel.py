# %% [markdown]
# # Bring your own kernel
#
# A new engine takes thirty lines. The package provides the rest: graphs from any format, validation, a trace of each
# level, a fair comparison.
#
# This engine **pulls**: every unvisited vertex looks for an in-neighbour in the frontier, and stops at the first. It
# needs no queue and no atomics: a thread writes only to its own vertex and to `found`, where all of them store the
# same.

# %%
import os

from rapids_bfs.engines import gpus

on_gpu = bool(gpus())
if not on_gpu:
    os.environ["NUMBA_ENABLE_CUDASIM"] = "1"  # before Numba is imported: kernels then run in its simulator

from time import perf_counter

import numpy as np
from numba import cuda

import rapids_bfs
from rapids_bfs.engines import Engine, Traversal, register
from rapids_bfs.testing import assert_same_distances, assert_valid_bfs
from rapids_bfs.trace import Step

# %% [markdown]
# ## The kernel
#
# `offsets` and `origins` are the reversed edges in CSR: the in-neighbours of each vertex.
#
# Is there a race? A neighbour's distance may be written while it is read. But it changes from -1 to `level`, and the
# kernel only tests whether it is `level - 1`: the result is the same before and after the write.


# %%
@cuda.jit
def pull(offsets, origins, level, distances, predecessors, found):
    vertex = cuda.grid(1)
    if vertex < distances.size and distances[vertex] < 0:
        for edge in range(offsets[vertex], offsets[vertex + 1]):
            if distances[origins[edge]] == level - 1:
                distances[vertex] = level
                predecessors[vertex] = origins[edge]
                found[0] = level
                break


# %% [markdown]
# ## The engine
#
# A `Traversal` is the preparation for one graph. `search` is timed; `answer` returns distances and predecessors, with -1
# for none. A trace shows `steps`. An engine is never asked for what it does not declare in `supports`.


# %%
class Pulling(Traversal):
    traces = True

    def __init__(self, graph):
        super().__init__(graph)
        self.edges = cuda.to_device(graph.reverse.offsets), cuda.to_device(graph.reverse.targets)
        self.n = graph.num_vertices
        self.blocks = -(-self.n // 128)

    def search(self, sources, options):
        start = np.full(self.n, -1, np.int32)
        self.tree, self.found = cuda.to_device(start), cuda.to_device(np.zeros(1, np.int32))
        start[sources] = 0
        self.distances = cuda.to_device(start)
        self.steps = []
        last = self.n if options.depth_limit is None else options.depth_limit
        for level in range(1, last + 1):
            began = perf_counter()
            pull[self.blocks, 128](*self.edges, level, self.distances, self.tree, self.found)
            more = self.found.copy_to_host()[0] == level
            self.steps.append(Step("bottom-up", 1e3 * (perf_counter() - began)))
            if not more or (options.target is not None and self.distances.copy_to_host()[options.target] >= 0):
                break

    def answer(self, found):
        return self.distances.copy_to_host(), self.tree.copy_to_host()


class Pull(Engine):
    name = "pull"
    algorithms = ("pull",)
    supports = ("depth_limit", "target", "several sources")

    def prepare(self, graph, algorithm):
        return Pulling(graph)


register(Pull())

# %% [markdown]
# In your own package, use an entry point instead of the last line. Then `rapids-bfs compare` finds the engine too:
#
# ```toml
# [project.entry-points."rapids_bfs.engines"]
# pull = "my_package:Pull"
# ```
#
# ## Is it right?

# %%
for name in ("karate", "star:50", "path:12", "tree:31"):
    graph = rapids_bfs.as_graph(name)
    result = rapids_bfs.bfs(graph, 0, engine="pull")
    assert_valid_bfs(graph, result)
    assert_same_distances(result, rapids_bfs.bfs(graph, 0, engine="scipy"))
    print(result)

# %% [markdown]
# Any input of `as_graph` works, with its own vertex ids:

# %%
friends = [("ann", "bob"), ("bob", "cid"), ("ann", "dot"), ("dot", "eve"), ("cid", "eve"), ("eve", "fay")]
result = rapids_bfs.bfs(rapids_bfs.as_graph(friends, directed=False), "ann", engine="pull")
print(" - ".join(result.path_to("fay")))
rapids_bfs.plot_levels(result.graph, result)

# %% [markdown]
# ## What does it do?
#
# Every unvisited vertex pulls at every level. So on a GPU the first levels cost the most: hardly any vertex finds a
# neighbour in the frontier, and each reads its whole row. Without a GPU the times are those of Numba's simulator and
# mean nothing, here and in the comparison below.

# %%
graph = rapids_bfs.as_graph("rmat:20" if on_gpu else "rmat:6")
source = int(np.argmax(graph.degrees == 3))
rapids_bfs.bfs(graph, source, engine="pull", trace=True).trace.plot()

# %% [markdown]
# ## Is it fast?
#
# All engines search from the same sources, and each answer is validated. On a GPU an engine that always pulls is about
# as fast as `frontier-mask`; `cupy` pulls only when that pays. The first notebook explains both.

# %%
others = ["numba-cuda:frontier-mask", "numba-cuda:block-queue"] + ["cupy"] * on_gpu
comparison = rapids_bfs.compare(graph, num_sources=4, engines=["pull", *others], baseline="numba-cuda:block-queue")
print(comparison)
comparison.plot()
