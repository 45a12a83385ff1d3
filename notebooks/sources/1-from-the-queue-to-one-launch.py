# %% [markdown]
# # How GPU BFS got fast, step by step
#
# Breadth-first search visits a graph level by level: first the neighbours of the source, then their neighbours, and
# so on. This notebook reads the GPU kernels of this package in the order in which they were invented, runs them on
# graphs small enough to draw, and measures them on a big one.
#
# The code shown is the code that ships. The steps come from Harish and Narayanan's paper of 2007 and a lecture that
# teaches it (Caltech's CS 179, lecture 10), the Rodinia benchmarks, Luo, Wong and Hwu, and Beamer. Without a GPU the
# kernels search the small graphs in Numba's simulator: the same code and answers, but no meaningful times.

# %%
import inspect
import os
import re
from importlib.resources import files
from pathlib import Path
from tempfile import mkdtemp
from timeit import repeat

from rapids_bfs.engines import gpus

on_gpu = bool(gpus())
if not on_gpu:
    os.environ["NUMBA_ENABLE_CUDASIM"] = "1"  # before Numba is imported

import matplotlib.pyplot as plt
import numpy as np
import scipy.io
import scipy.sparse
from IPython.display import Markdown, display
from numba import cuda

import rapids_bfs
from rapids_bfs.engines.gpu.published import FrontierMask
from rapids_bfs.kernels.numba_cuda import frontier_mask, two_kernel

print(*gpus() or ["no GPU: the kernels run in the simulator"])


# %%
def cuda_code(path, *names, since=""):
    """The functions or structures of these names in a file of kernels/cuda, or one of them from a line on."""
    text = files("rapids_bfs.kernels.cuda").joinpath(path).read_text()
    pattern = r"^(?:template[^\n]*\n)?(?:__global__|__device__|struct)[^\n]*\b{}\b.*?^\}};?$"
    found = [re.search(pattern.format(name), text, re.MULTILINE | re.DOTALL)[0] for name in names]
    shown = "\n\n".join(code[code.rfind("\n", 0, code.index(since)) + 1 :] for code in found)
    return Markdown(f"```cpp\n// kernels/cuda/{path}\n{shown}\n```")


def python_code(function):
    return Markdown(f"```python\n{inspect.getsource(function)}```")


# %% [markdown]
# ## The compact adjacency list
#
# An adjacency matrix of *n* vertices has *n²* entries, nearly all of them zero. A list for each vertex is small but
# scattered in memory. The compact adjacency list, also called CSR, puts all lists one after another into one array,
# `targets` (E in the paper). A second array, `offsets` (V), says where each begins: the neighbours of vertex *v* are
# `targets[offsets[v]:offsets[v + 1]]`. Two arrays are easy to copy to a GPU, and a thread finds a row by two reads.

# %%
tiny = rapids_bfs.as_graph([(0, 1), (0, 2), (1, 2), (2, 3), (3, 4)], directed=False)
where = np.array([(0, 1), (0, 0), (1, 0.5), (2, 0.5), (3, 0.5)])
figure, (left, right) = plt.subplots(1, 2, figsize=(8.4, 2.2), width_ratios=(1, 2), layout="constrained")
for edge in zip(*tiny.vertex_pairs(), strict=True):
    left.plot(*where[list(edge)].T, color="#8C8C8C", zorder=1)
left.scatter(*where.T, s=320, color="white", edgecolor="#333333", zorder=2)
for vertex, place in enumerate(where):
    left.text(*place, vertex, ha="center", va="center")
for row, name in ((1, "offsets"), (0, "targets")):
    right.text(-0.7, row, name, ha="right", va="center")
    for place, value in enumerate(getattr(tiny, name)):
        right.text(place, row, value, ha="center", va="center", bbox={"fc": "white", "ec": "#333333", "pad": 5})
for vertex in range(tiny.num_vertices):
    arrow = {"arrowstyle": "->", "color": "#0072B2", "shrinkA": 9, "shrinkB": 9}
    right.annotate("", (tiny.offsets[vertex], 0), (vertex, 1), arrowprops=arrow)
right.set(xlim=(-2.6, tiny.num_arcs), ylim=(-0.5, 1.5))
left.margins(0.15)
for axes in (left, right):
    axes.axis("off")

# %% [markdown]
# ## The frontier
#
# Textbook BFS takes one vertex at a time from a queue. But the vertices of one level, the *frontier*, are
# independent, so a GPU can expand them all at once. This is Zachary's karate club: 34 members, 78 friendships, the
# source in the middle. Each ring is a frontier, and thick lines are the search tree.

# %%
karate = rapids_bfs.load("karate")
rapids_bfs.plot_levels(karate, rapids_bfs.bfs(karate, 0, engine="cpu", deterministic=True))

# %% [markdown]
# ## Frontier mask: a thread for each vertex
#
# Harish and Narayanan (2007) replace the queue by arrays over all vertices: a frontier mask F, a visited mask X and a
# cost C, the level. Each level is a launch with one thread for each vertex; the threads of vertices in F expand them.
#
# The published kernels exist in CUDA C++ and in Numba-CUDA, with the same names and arguments:

# %%
display(cuda_code("published/frontier_mask.cu", "expand"))
display(python_code(frontier_mask.expand))

# %% [markdown]
# Every vertex has a thread at every level. In the karate club 34 threads start, of which 1, 16, 9 and 8 have work.
#
# ## The mask race
#
# This kernel has two frontier masks, F and `upcoming`. The paper has only F, and the cost of a neighbour is that of
# the vertex plus one. CUDA does not say which thread runs first. So a thread may find a flag that another thread of
# the *same* launch set a moment ago; it then expands its vertex a level early, and hands on a cost that may be too
# high.
#
# The next cell runs the paper's threads one after another, an order that CUDA allows, on a ring of eight vertices.
# The search ends after one launch, with three costs too high.

# %%
ring = rapids_bfs.as_graph([(vertex, (vertex + 1) % 8) for vertex in range(8)], directed=False)


def thread_of_2007(vertex, graph, frontier, visited, cost):
    if frontier[vertex]:
        frontier[vertex], visited[vertex] = False, True
        for neighbor in graph.targets[graph.offsets[vertex] : graph.offsets[vertex + 1]]:
            if not visited[neighbor]:
                cost[neighbor] = cost[vertex] + 1
                frontier[neighbor] = True


frontier, visited, cost = np.arange(8) == 0, np.zeros(8, bool), np.where(np.arange(8) == 0, 0, -1)
while frontier.any():
    for vertex in range(8):  # one launch
        thread_of_2007(vertex, ring, frontier, visited, cost)

print("one mask:      ", cost)
print("frontier-mask: ", rapids_bfs.bfs(ring, 0, engine="numba-cuda:frontier-mask").distances)

# %% [markdown]
# With a second mask and the level's number as the cost, the order of threads no longer matters. The race that is left
# is harmless: threads that find the same unvisited neighbour store the same flag and cost, and different
# predecessors, any of which is right.
#
# ## A stop flag in pinned memory
#
# The host launches levels until one reaches nothing, and must learn this after each. The usual way is a flag on the
# GPU that is copied back after each level. Here the flag, `status`, lies in pinned memory of the host that kernels
# can write (*mapped* memory), so the host only waits and looks. A store across the bus is slow, so one thread of all
# makes it:

# %%
display(cuda_code("published/levels.cuh", "announce"))
display(python_code(FrontierMask.advance))

# %% [markdown]
# On a GPU, this cell times both ways for a kernel that does nothing but set the flag:

# %%
if on_gpu:
    import cupy
    import cupyx

    text = 'extern "C" __global__ void set_flag(volatile int* flag) { *flag = 1; }'
    set_flag = cupy.RawKernel(text, "set_flag")
    on_device, on_host, pinned = cupy.zeros(1, np.int32), np.zeros(1, np.int32), cupyx.zeros_pinned(1, np.int32)

    def by_copy():
        set_flag((1,), (1,), (on_device,))
        return on_device.get(out=on_host)

    def by_mapping():
        set_flag((1,), (1,), (np.uintp(pinned.ctypes.data),))
        cupy.cuda.get_current_stream().synchronize()
        return pinned

    for read in (by_copy, by_mapping):
        assert read()[0] == 1
        print(f"{read.__name__:12}{1e6 * min(repeat(read, number=1000)) / 1000:6.1f} µs")

# %% [markdown]
# ## The texture path
#
# On the GPUs of 2007 reads of global memory were not cached, but reads of textures were. So the lecture pairs this
# search with texture memory. `frontier-mask-texture` differs from `frontier-mask` only in what its `targets[edge]`
# does:

# %%
display(cuda_code("published/frontier_mask.cu", "InMemory"))
display(cuda_code("published/frontier_mask_texture.cu", "InTexture"))

# %% [markdown]
# Today all reads are cached, and `__ldg` asks for the read-only cache. The profile below shows what texture reads are
# worth now.
#
# ## Two kernels
#
# Rodinia (2009) avoids the mask race in another way: `expand` only notes what it reaches, in a mask of its own, and a
# second kernel, `commit`, makes that the frontier. The end of a launch stands between the two, so whether a vertex is
# visited cannot change while others look. The price is a second launch and a second pass over all *n* vertices at
# every level.

# %%
display(python_code(two_kernel.expand))
display(python_code(two_kernel.commit))

# %% [markdown]
# ## Block queue: a block for each vertex of the frontier
#
# Luo, Wong and Hwu (2010) return to a queue, so that a level costs only its frontier and its edges. Appending to one
# queue by one atomic counter would be a bottleneck. So each block gathers what it finds in shared memory, and takes
# room in the queue for all of it at once. The threads of a block share the edges of one vertex, so a hub keeps a
# block busy and not a single thread. `atomicCAS` lets one thread win each vertex: nothing is queued twice.

# %%
cuda_code("published/block_queue.cu", "spill", "expand")

# %% [markdown]
# ## Is a level right?
#
# A wrong kernel is found fastest at its first wrong level. With `check=True` the host compares the distances and the
# frontier after every level: each vertex that the level reached is in the frontier once, and no other. `validate`
# checks the final answer by Graph500's rules. It also finds the mask race:

# %%
for name in ("frontier-mask", "two-kernel", "block-queue"):
    checked = rapids_bfs.bfs(karate, 0, engine=f"numba-cuda:{name}", check=True)
    print(f"{name:14}", rapids_bfs.validate(karate, checked))

raced = rapids_bfs.bfs(ring, 0, engine="cpu").copy()
raced.distances[:] = cost
print("one mask      ", rapids_bfs.validate(ring, raced))

# %% [markdown]
# ## A matrix of 317 x 317, searched by a block for each vertex
#
# A symmetric sparse matrix is an undirected graph: an entry in row *i* and column *j* is an edge. The projects of the
# course GPU 101 at Politecnico di Milano search the file cavity02.mtx, a matrix of this size, with a block for each
# vertex of the frontier and a thread for each of its edges. The file here is made at random: entries near the
# diagonal, then rows and columns shuffled alike.

# %%
random = np.random.default_rng(1)
place = random.permutation(317)
near = np.abs(place[:, None] - place) <= 20
values = random.random(near.shape) * (near & (random.random(near.shape) < 0.2))
symmetric = scipy.sparse.coo_array(values + values.T)

path = Path(mkdtemp()) / "random.mtx"
scipy.io.mmwrite(path, symmetric, symmetry="symmetric")
print(*path.read_text().splitlines()[:4], "...", sep="\n")
matrix = rapids_bfs.as_graph(path)
matrix

# %% [markdown]
# The kernel takes eight lines. It uses no shared memory: each winner appends its vertex by an atomic of its own.


# %%
@cuda.jit
def block_per_vertex(offsets, targets, level, queue, begin, tail, distances):
    vertex = queue[begin + cuda.blockIdx.x]
    edge = offsets[vertex] + cuda.threadIdx.x
    while edge < offsets[vertex + 1]:
        neighbor = targets[edge]
        if cuda.atomic.cas(distances, neighbor, np.int32(-1), level) < 0:
            queue[cuda.atomic.add(tail, 0, 1)] = neighbor
        edge += cuda.blockDim.x


def levels_of(graph, source, threads):
    """Search, and yield each level with the frontier that it reached."""
    distances = np.where(np.arange(graph.num_vertices) == source, 0, -1).astype(np.int32)
    queue = np.full(graph.num_vertices, source, np.int32)
    arrays = graph.offsets, graph.targets, queue, np.ones(1, np.int32), distances
    offsets, targets, queue, tail, distances = map(cuda.to_device, arrays)
    begin, end, level = 0, 1, 0
    while begin < end:
        level += 1
        block_per_vertex[end - begin, threads](offsets, targets, np.int32(level), queue, begin, tail, distances)
        begin, end = end, int(tail.copy_to_host()[0])
        yield level, queue.copy_to_host()[begin:end]


# %% [markdown]
# Each frontier is compared with the vertices that the CPU finds at the same distance:

# %%
expected = rapids_bfs.bfs(matrix, 0, engine="cpu").distances
for level, reached in levels_of(matrix, 0, threads=32 if on_gpu else 4):
    assert np.array_equal(np.sort(reached), np.flatnonzero(expected == level)), f"level {level} is wrong"
    print(f"level {level:2}: {len(reached):2} vertices, as on the CPU")

# %% [markdown]
# Sorted by level, the matrix shows what BFS guarantees: an edge never skips a level, so entries lie in blocks along
# the diagonal. Orderings that reduce the bandwidth of a matrix, such as Cuthill and McKee's, begin with this search.

# %%
order = np.argsort(expected, kind="stable")
figure, (left, right) = plt.subplots(1, 2, figsize=(7.6, 3.9), layout="constrained")
sorted_matrix = symmetric.tocsr()[order][:, order]
for axes, shown, title in ((left, symmetric, "as in the file"), (right, sorted_matrix, "rows and columns by level")):
    axes.spy(shown, markersize=0.8, color="#333333")
    axes.set_title(title, y=1.08)
for border in np.cumsum(np.bincount(expected))[:-1] - 0.5:
    right.axvline(border, color="#0072B2", linewidth=0.4)
    right.axhline(border, color="#0072B2", linewidth=0.4)
plt.show()

# %% [markdown]
# ## A profile
#
# Graph500's R-MAT graphs resemble social networks: a few hubs, many leaves, about six levels. A trace is a simple
# profile: the time of each level, for the published kernels from its launch until the host knows that it is done.
# NVIDIA's profilers show more, for example `nsys profile rapids-bfs run rmat:20 --source 0 --engine
# cupy:block-queue`. Without a GPU the plot shows the CPU engine, since times of the simulator mean nothing.

# %%
big = rapids_bfs.as_graph("rmat:20" if on_gpu else "rmat:14")
source = int(np.argmax(big.degrees == 3))  # someone with three friends
published = ["frontier-mask", "frontier-mask-texture", "two-kernel", "block-queue"]
kernels = [*(f"cupy:{name}" for name in published), "cupy"] if on_gpu else ["cpu"]


def traced(kernel):
    rapids_bfs.bfs(big, source, engine=kernel)  # compiles it
    return rapids_bfs.bfs(big, source, engine=kernel, trace=True).trace


traces = {kernel: traced(kernel) for kernel in kernels}
figure, axes = plt.subplots(figsize=(7.2, 3.8), layout="constrained")
for (kernel, trace), style in zip(traces.items(), ("o-", "v:", "s--", "^-.", "D-"), strict=False):
    axes.plot([level.level for level in trace], [1e3 * level.milliseconds for level in trace], style, label=kernel)
axes.set(yscale="log", xlabel="level", ylabel="time of the level (µs)")
axes.set_xticks(range(1, max(map(len, traces.values())) + 1))
axes.legend()
plt.show()
big

# %% [markdown]
# On a GPU the plot shows two costs. In a small level the published kernels spend most of the time on the launch and
# the wait. In the widest levels the three mask kernels take milliseconds, since one thread reads the long row of a
# hub while the rest of its warp waits. `two-kernel` is no faster than `frontier-mask`: it removes a race, not this
# wait. The texture gains nothing over cached reads. `block-queue` shares the row of a hub among a block. But it also
# gives a whole block to a vertex of few edges, so a level of many such vertices can take longer than with a mask.
#
# ## Changing direction
#
# Two levels have nearly all the edges, and most of these lead to visited vertices. Beamer's idea (2012) is to go
# bottom-up: each *unvisited* vertex looks for a neighbour in the frontier, and stops at the first. This pays when the
# frontier has more than about 1/15 of the unexplored edges. The last engine of the profile searches in this way:

# %%
direction_optimizing = traces[kernels[-1]]
display(direction_optimizing)
direction_optimizing.plot()

# %% [markdown]
# ## The search in one launch
#
# A launch and a wait for each level are left. The default algorithm of `cupy` and `numba-cuda` runs the whole search
# in one cooperative launch: all blocks stay, and a barrier of the whole grid, in `end_phase`, separates levels. This
# is its loop over levels. Every thread follows it with variables of its own, and the GPU chooses at each level:
#
# - `small`: the frontier is so small that one block expands it and those after it alone, without barriers of the grid,
#   or all blocks expand several levels between two barriers;
# - `bottom_up`, by the rule above;
# - `dense`: the level has so many edges that it writes a bitmap of the vertices that it reaches, and no queue.

# %%
cuda_code("direction_optimizing/search.cu", "search", since="for (;;)")

# %% [markdown]
# [How the fast kernel works](https://rapids-bfs.github.io/rapids_bfs/how-it-works.html) explains the steps.
#
# ## Which is faster?
#
# Every engine searches from the same sources, and every answer is validated by Graph500's rules.

# %%
engines = [*kernels, "cpu", "scipy"] if on_gpu else ["cpu", "cpu:sequential", "scipy"]
comparison = rapids_bfs.compare("rmat:20" if on_gpu else "rmat:14", num_sources=8, engines=engines)
comparison.plot()

# %% [markdown]
# The plot sorts the engines by time. On a GPU ours fall into three groups: the kernels with a thread for each vertex,
# whatever their masks and their memory; `block-queue`, with a thread for each edge of the frontier; and the search
# that skips most edges and launches once. The CPU engine skips most edges too, and on a machine with many cores keeps
# up with `block-queue`.
#
# Each kernel's file under `kernels/` documents its arrays, the cost of a level, its races and its source.
