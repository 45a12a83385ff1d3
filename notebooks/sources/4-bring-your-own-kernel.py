# %% [markdown]
# # Bring your own kernel
#
# Thirty lines for a new idea, and everything else comes with the package: graphs from any format, validation, a trace
# of each level, a fair comparison.
#
# The idea is to **pull**: every vertex that has no distance yet looks among its in-neighbours for one of the last
# level, and stops at the first. There are no queue and no atomics, since a vertex writes only to itself.

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
# kernel only tests whether it is `level - 1`: the answer is the same before and after.


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
# A `Traversal` is the preparation for one graph. `search` is timed; `answer` gives distances and predecessors, -1 where
# there is none. A trace shows `steps`. What an engine does not declare in `supports` it is never asked for.


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
# In a package of your own, use an entry point instead of the last line. Then `rapids-bfs compare` knows the engine too:
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
# Any graph that `as_graph` takes will do, with its own vertex ids:

# %%
friends = [("ann", "bob"), ("bob", "cid"), ("ann", "dot"), ("dot", "eve"), ("cid", "eve"), ("eve", "fay")]
result = rapids_bfs.bfs(rapids_bfs.as_graph(friends, directed=False), "ann", engine="pull")
print(" - ".join(result.path_to("fay")))
rapids_bfs.plot_levels(result.graph, result)

# %% [markdown]
# ## What does it do?
#
# Level by level. Every unvisited vertex pulls, so the first levels cost the most: hardly any vertex finds a neighbour
# of the last level.

# %%
graph = rapids_bfs.as_graph("rmat:20" if on_gpu else "rmat:7")
source = int(np.argmax(graph.degrees == 3))
rapids_bfs.bfs(graph, source, engine="pull", trace=True).trace.plot()

# %% [markdown]
# ## Is it fast?
#
# Compared with the others from the same sources, with each answer validated. On a GPU the engines that pull only when
# it pays are faster; see the first notebook.

# %%
others = ["numba-cuda:frontier-mask", "numba-cuda:block-queue"] + ["cupy"] * on_gpu
comparison = rapids_bfs.compare(graph, 4, engines=["pull", *others], baseline="numba-cuda:block-queue")
print(comparison)
comparison.plot()
