# %% [markdown]
# # Faster NetworkX
#
# `rapids-bfs` adds a backend to NetworkX: the same functions and the same answers in the same order, from a parallel CPU
# engine or a GPU. Your program does not need to change.

# %%
from time import perf_counter

import matplotlib.pyplot as plt
import networkx as nx

import rapids_bfs.nx
from rapids_bfs.engines import gpus

nx.config.warnings_to_ignore.add("cache")  # NetworkX warns whenever it uses a cached conversion

on_gpu = bool(gpus())
G = nx.barabasi_albert_graph(200_000 if on_gpu else 20_000, 10, seed=1)
print(G, "on", *gpus() or ["the CPU"])

# %% [markdown]
# ## Use it for one call
#
# `backend=` sends one call to the backend. The answer is the same as NetworkX's, in the same order.

# %%
theirs = list(nx.bfs_edges(G, 0))
ours = list(nx.bfs_edges(G, 0, backend="rapids_bfs"))
print(ours[:5], ours == theirs)

# %% [markdown]
# ## Use it for all calls
#
# A backend priority applies to all calls in a block, as here, or in a program. The environment variable
# `NETWORKX_BACKEND_PRIORITY=rapids_bfs` does the same without changing the program.

# %%
with nx.config(backend_priority=["rapids_bfs"]):
    print(nx.is_connected(G), nx.eccentricity(G, 0), len(nx.ego_graph(G, 7, radius=1)))

# %% [markdown]
# ## The graph is converted once
#
# NetworkX stores a graph in dicts of dicts; a search needs arrays. The first call converts the graph, and NetworkX caches
# the conversion until the graph changes. Searches start on the CPU. If there is a GPU, a large graph is copied there once
# the searches so far have taken as long as the copy would.


# %%
def seconds(call):
    began = perf_counter()
    call()
    return perf_counter() - began


def search():
    return nx.single_source_shortest_path_length(G, 0, backend="rapids_bfs")


search()  # compiles
G.__networkx_cache__.clear()
print(f"first call {1e3 * seconds(search):.1f} ms, conversion included")
print("next calls", *(f"{1e3 * seconds(search):.1f}" for _ in range(5)), "ms")
G.add_edge(0, "a new friend")
print(f"after a change: {search()['a new friend']} step to the new friend")
G.remove_node("a new friend")

# %% [markdown]
# ## What runs where
#
# With a priority, a call goes to the backend only if that pays. For a small graph, or a path between two vertices,
# converting the graph would take longer than NetworkX's answer, unless the graph is converted already.

# %%
small = nx.karate_club_graph()
fresh = nx.barabasi_albert_graph(20_000, 10, seed=2)
calls = [
    ("bfs_edges", fresh, 0),
    ("has_path", fresh, 0, 1),
    ("has_path", G, 0, 1),  # converted above
    ("bfs_edges", small, 0),
    ("average_shortest_path_length", small),
]
search()
for name, graph, *arguments in calls:
    answer = rapids_bfs.nx.should_run(name, (graph, *arguments), {})
    print(f"{name:30} on {graph.number_of_edges():>9,} edges: {'rapids_bfs' if answer is True else answer}")

# %% [markdown]
# ## How much faster

# %%
medium = nx.barabasi_albert_graph(1_000 if on_gpu else 300, 8, seed=3)
timed = {
    "bfs_edges": lambda **which: list(nx.bfs_edges(G, 0, **which)),
    "single_source_shortest_path_length": lambda **which: nx.single_source_shortest_path_length(G, 0, **which),
    "connected_components": lambda **which: list(nx.connected_components(G, **which)),
    "average_shortest_path_length*": lambda **which: nx.average_shortest_path_length(medium, **which),
    "closeness_centrality*": lambda **which: nx.closeness_centrality(medium, **which),
    "betweenness_centrality*": lambda **which: nx.betweenness_centrality(medium, **which),
}
rows = {}
for name, call in timed.items():
    call(backend="rapids_bfs")  # compiles and converts
    rows[name] = seconds(call), min(seconds(lambda call=call: call(backend="rapids_bfs")) for _ in range(3))

# %%
figure, axes = plt.subplots(figsize=(8, 3.6), layout="constrained")
for row, (theirs, ours) in enumerate(rows.values()):
    axes.plot([1e3 * ours, 1e3 * theirs], [row, row], color="#8C8C8C", zorder=1)
    axes.annotate(f"{theirs / ours:,.0f} x", (1e3 * theirs, row), (8, 0), textcoords="offset points", va="center")
axes.plot(
    [1e3 * ours for _, ours in rows.values()], range(len(rows)), "o", color="#0072B2", label="rapids_bfs, converted"
)
axes.plot([1e3 * theirs for theirs, _ in rows.values()], range(len(rows)), "s", color="#E69F00", label="networkx")
axes.set_xscale("log")
axes.margins(x=0.2, y=0.12)  # room for the annotations
axes.set_yticks(range(len(rows)), rows)
axes.set_xlabel(f"time (ms); {len(G):,} vertices, with * {len(medium):,}")
axes.grid(axis="x", color="#E5E5E5")
axes.invert_yaxis()
figure.legend(loc="outside upper right", ncols=2, frameon=False)
plt.show()
