# %% [markdown]
# # How GPU BFS got fast, step by step
#
# Breadth-first search visits a graph level by level: first the neighbours of the source, then their neighbours, and so
# on. This notebook shows four ways to do it on a GPU, each faster than the last, on a graph small enough to draw and
# then on a big one.
#
# Without a GPU the kernels run in Numba's simulator: the same code and answers, but meaningless times.

# %%
import os

from rapids_bfs.engines import gpus

on_gpu = bool(gpus())
if not on_gpu:
    os.environ["NUMBA_ENABLE_CUDASIM"] = "1"  # before Numba is imported

import matplotlib.pyplot as plt
import numpy as np

import rapids_bfs
from rapids_bfs.report.search_plot import radial

print(*gpus() or ["no GPU: the kernels run in the simulator"])

# %% [markdown]
# ## A graph that can be drawn
#
# Zachary's karate club: 34 members, 78 friendships. The source is in the middle, each ring is a level, and thick lines
# are the search tree.

# %%
karate = rapids_bfs.load("karate")
result = rapids_bfs.bfs(karate, 0, deterministic=True)
rapids_bfs.plot_levels(karate, result)

# %% [markdown]
# ## The queue
#
# Textbook BFS takes one vertex at a time from a queue. But the vertices of one level, the *frontier* (orange below), are
# independent, so a GPU can expand them all at once. The size of the frontier decides everything that follows.


# %%
def draw_level(axes, graph, result, level):
    """The frontier of a level in orange, vertices reached earlier in blue, unreached ones in white."""
    places = radial(result.distances, result.predecessors)
    for edge in zip(*graph.vertex_pairs(), strict=True):
        axes.plot(*places[list(edge)].T, color="#BBBBBB", linewidth=0.5, zorder=1)
    at = result.distances
    for chosen, colour, mark in (
        (at > level, "white", "o"),
        (at < level, "#0072B2", "o"),
        (at == level, "#E69F00", "D"),
    ):
        axes.scatter(*places[chosen].T, s=45, color=colour, marker=mark, edgecolor="#333333", zorder=2)
    axes.set_title(f"level {level + 1} expands {np.count_nonzero(at == level)}")
    axes.set_aspect("equal")
    axes.axis("off")


figure, panels = plt.subplots(2, 2, figsize=(8, 7.2), layout="constrained")
for level, axes in enumerate(panels.flat):
    draw_level(axes, karate, result, level)

# %% [markdown]
# ## Three kernels from the literature
#
# | kernel | one thread per | cost of a level |
# |---|---|---|
# | `frontier-mask` (Harish and Narayanan 2007) | vertex, in the frontier or not | one pass over all *n* vertices |
# | `two-kernel` (Rodinia 2009) | vertex; a second kernel commits the updates of the first | two passes over all *n*, without races between levels |
# | `block-queue` | edge; each block takes a vertex of the frontier | only the frontier and its edges |
#
# Even on this small graph, `frontier-mask` starts 34 threads at each level, though few have work.

# %%
trace = rapids_bfs.bfs(karate, 0, engine="numba-cuda:frontier-mask", trace=True).trace
frontier = [level.frontier_vertices for level in trace]
plt.figure(figsize=(8, 2.6), layout="constrained")
plt.bar(
    range(1, len(trace) + 1),
    karate.num_vertices,
    color="white",
    edgecolor="#8C8C8C",
    hatch="..",
    label="threads started",
)
plt.bar(range(1, len(trace) + 1), frontier, color="#0072B2", width=0.5, label="threads with a vertex to expand")
plt.xticks(range(1, len(trace) + 1))
plt.xlabel("level")
plt.ylabel("threads")
plt.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
plt.show()
# %% [markdown]
# ## A big graph
#
# Graph500's R-MAT graphs resemble social networks: a few hubs, many leaves, about six levels. The plot shows the time
# of each level of one search, for each kernel.

# %%
big = rapids_bfs.as_graph("rmat:20" if on_gpu else "rmat:7")
source = int(np.argmax(big.degrees == 3))  # someone with three friends
kernels = [f"numba-cuda:{name}" for name in ("frontier-mask", "two-kernel", "block-queue")] + ["cupy"] * on_gpu


def traced(kernel):
    rapids_bfs.bfs(big, source, engine=kernel)  # compiles it
    return rapids_bfs.bfs(big, source, engine=kernel, trace=True).trace


traces = {kernel: traced(kernel) for kernel in kernels}
big

# %%
plt.figure(figsize=(7.2, 3.6), layout="constrained")
for (kernel, trace), style in zip(traces.items(), ("o-", "s--", "^-.", "D:"), strict=False):
    plt.plot([level.level for level in trace], [1e3 * level.milliseconds for level in trace], style, label=kernel)
plt.yscale("log")
plt.xticks(range(1, max(map(len, traces.values())) + 1))
plt.xlabel("level")
plt.ylabel("time of the level (µs" + ("" if on_gpu else ", simulated") + ")")
plt.legend()
plt.show()
# %% [markdown]
# The first two pass over every vertex at every level, and one thread reads the long adjacency of a hub while the rest
# of its warp waits. `block-queue` pays only for the frontier, and gives a hub a whole block.

# %% [markdown]
# ## Changing direction
#
# Two levels have nearly all the edges, and most of these lead to visited vertices. Beamer's idea (2012) is to go
# bottom-up: each *unvisited* vertex looks for a neighbour in the frontier, and stops at the first. This pays when the
# frontier has more than 1/15 of the unexplored edges.

# %%
levels = traces["numba-cuda:block-queue"]
edges = np.array([level.frontier_edges for level in levels])
unexplored = big.num_arcs - np.cumsum(edges)
bottom_up = edges * 15 > unexplored
place = np.arange(1, len(edges) + 1)
plt.figure(figsize=(7.2, 3), layout="constrained")
plt.bar(place[~bottom_up] - 0.2, edges[~bottom_up], 0.4, color="#0072B2", label="frontier edges: top-down pays")
plt.bar(
    place[bottom_up] - 0.2,
    edges[bottom_up],
    0.4,
    color="#E69F00",
    hatch="////",
    edgecolor="white",
    label="frontier edges: bottom-up pays",
)
plt.bar(place + 0.2, unexplored, 0.4, color="white", edgecolor="#8C8C8C", label="edges still unexplored")
plt.yscale("symlog", linthresh=10)
plt.xlabel("level")
plt.ylabel("edges")
plt.legend(fontsize=8)
plt.show()
# %% [markdown]
# ## One launch
#
# One cost remains: a launch and a wait take longer than a small level. The engine `cupy` runs the whole search in one
# cooperative launch, with a grid-wide barrier of about a microsecond between levels. The GPU chooses the direction.

# %%
if on_gpu:
    shown = traces["cupy"].plot()
else:
    shown = "There is no GPU here: see `rapids-bfs trace rmat:20 --engine cupy` on one."
shown

# %% [markdown]
# ## Which is faster?
#
# Every engine searches from the same sources, and every answer is validated by Graph500's rules.

# %%
engines = [*kernels, "cupy:block-queue", "cpu", "scipy"] if on_gpu else ["cpu", "cpu:sequential", "scipy"]
comparison = rapids_bfs.compare("rmat:20" if on_gpu else "rmat:14", num_sources=8, engines=engines)
comparison.plot()

# %% [markdown]
# | step | gain |
# |---|---|
# | one thread per vertex | expands a whole level at once |
# | a queue, one thread per edge | skips vertices without work, and splits hubs among threads |
# | bottom-up for wide frontiers | never reads most edges |
# | one launch | small levels no longer cost a launch |
#
# Each kernel's file under `kernels/` documents its arrays, the cost of a level, and its races.
