# %% [markdown]
# # Side by side with cuGraph
#
# One call searches an edge list in a data frame with every engine that can run here, from the same sources: ours,
# SciPy's and, with RAPIDS, cuGraph's. It validates every answer, measures every time in the same way, and says why
# other engines cannot run.

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
# Graph500's R-MAT graph, with each undirected edge once, as a Parquet file would store it.

# %%
sources, targets = rapids_bfs.as_graph("rmat:22" if on_gpu else "rmat:12").vertex_pairs()
edges = frames.DataFrame({"src": sources, "dst": targets})
edges.head(3)

# %% [markdown]
# ## One call

# %%
comparison = rapids_bfs.compare(edges, num_sources=16, source="src", target="dst", directed=False)
print(comparison)

# %%
comparison.plot()

# %% [markdown]
# On the left every search is a dot: a median without its spread says little. The ratios on the right are relative to
# cuGraph if it ran, else to SciPy.
#
# ## Is the answer right?
#
# Two engines may return different trees, both of them right. So each answer is checked by Graph500's rules, without
# comparing engines or searching again. Results are frames of the same kind as the input.

# %%
graph = rapids_bfs.as_graph(edges, source="src", target="dst", directed=False)
result = rapids_bfs.bfs(graph, int(edges["src"].iloc[0]))
print(rapids_bfs.validate(graph, result))
result.to_frame().head(3)

# %% [markdown]
# If one vertex moves one level down, the message names it:

# %%
wrong = result.copy()
vertex = int((wrong.distances == 2).argmax())
wrong.distances[vertex] += 1
print(rapids_bfs.validate(graph, wrong))

# %% [markdown]
# ## Small and large
#
# A search has a fixed cost, for calls and launches, and a cost per edge. So how engines compare depends on the graph's
# size.

# %%
scales = (12, 15, 18, 21) if on_gpu else (6, 8, 10, 12)
ran = [runs.engine for runs in comparison.engines if runs.runs]
rapids_bfs.plot_sizes(rapids_bfs.compare(f"rmat:{scale}", num_sources=8, engines=ran) for scale in scales)

# %% [markdown]
# ## Save a report
#
# One HTML file has the table, the plots, the levels, the machine, the versions and all times. On the command line:
# `rapids-bfs compare edges.parquet --html report.html`.

# %%
report = Path(mkdtemp()) / "report.html"
comparison.to_html(report)
print(f"{report.name}: {report.stat().st_size / 1e3:.0f} kB")
