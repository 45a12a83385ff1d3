# %% [markdown]
# # Side by side with cuGraph
#
# An edge list in a data frame, one call, and every engine of this machine searches it from the same sources: ours,
# cuGraph's, SciPy's. Every answer is validated, every time is measured the same way, and engines that cannot run are
# listed with the reason.

# %%
from pathlib import Path
from tempfile import mkdtemp

import rapids_bfs
from rapids_bfs.engines import gpus, registered

on_gpu = bool(gpus())
try:
    import cudf as frames
except ImportError:
    import pandas as frames  # no RAPIDS here: the rest of the notebook is the same

print("edge lists by", frames.__name__)
for name, engine in registered().items():
    print(f"{name:16}", engine.unavailable() or "can run here")

# %% [markdown]
# ## An edge list
#
# Graph500's R-MAT graph, each undirected edge once, as you would read it from a Parquet file.

# %%
sources, targets = rapids_bfs.as_graph("rmat:22" if on_gpu else "rmat:14").vertex_pairs()
edges = frames.DataFrame({"src": sources, "dst": targets})
edges.head(3)

# %% [markdown]
# ## One call

# %%
comparison = rapids_bfs.compare(edges, 16, source="src", target="dst", directed=False)
print(comparison)

# %%
comparison.plot()

# %% [markdown]
# On the left every single search is a dot: a median without its spread says little. The ratios on the right are
# relative to cuGraph where it ran, else to SciPy.
#
# ## Is the answer right?
#
# Two engines may return different trees, and both may be right. So answers are not compared with one another but
# checked by Graph500's rules, which need no second search. A frame goes in, a frame of the same kind comes out.

# %%
graph = rapids_bfs.as_graph(edges, source="src", target="dst", directed=False)
result = rapids_bfs.bfs(graph, int(edges["src"].iloc[0]))
print(rapids_bfs.validate(graph, result))
result.to_frame().head(3)

# %% [markdown]
# Move one vertex one level down, and the message names it:

# %%
wrong = result.copy()
vertex = int((wrong.distances == 2).argmax())
wrong.distances[vertex] += 1
print(rapids_bfs.validate(graph, wrong))

# %% [markdown]
# ## Small and large
#
# A search has a fixed cost, for calls and launches, and a cost for each edge. Which engine is best depends on the size.

# %%
scales = (12, 15, 18, 21) if on_gpu else (8, 10, 12, 14)
ran = [runs.engine for runs in comparison.engines if runs.runs]
rapids_bfs.plot_sizes(rapids_bfs.compare(f"rmat:{scale}", 8, engines=ran) for scale in scales)

# %% [markdown]
# ## Take it away
#
# One HTML file holds the table, the plots, the levels, the machine, the versions and every single time. On the command
# line: `rapids-bfs compare edges.parquet --html report.html`.

# %%
report = Path(mkdtemp()) / "report.html"
comparison.to_html(report)
print(f"{report.name}: {report.stat().st_size / 1e3:.0f} kB")
