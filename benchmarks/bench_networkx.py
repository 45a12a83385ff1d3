"""The NetworkX backend against NetworkX itself, answers consumed in full.

For each call: NetworkX's time, the first call here (conversion included, kernels compiled) and one with the conversion
cached, as the best of some. ``--engine`` sets ``nx.config.backends.rapids_bfs.engine``. ``--cugraph WHEEL_FOLDER`` also
times nx-cugraph's conversion on the CPU, from its unpacked wheel, with NumPy in CuPy's place.
"""

import argparse
import gc
import importlib
import json
import sys
import types
from collections import deque
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from time import perf_counter

import networkx as nx
import numpy as np

from rapids_bfs.nx.graph import ConvertedGraph

ONCE = ["bfs_edges", "bfs_successors", "bfs_layers", "bfs_tree", "single_source_shortest_path"]
ONCE += ["single_source_shortest_path_length", "predecessor", "descendants"]
WHOLE = ["connected_components", "is_connected", "is_forest", "girth"]
PAIRS = ["all_pairs_shortest_path_length", "all_pairs_shortest_path", "average_shortest_path_length", "eccentricity"]
PAIRS += ["diameter", "closeness_centrality", "harmonic_centrality", "betweenness_centrality", "global_efficiency"]
LOCAL = ["shortest_path", "has_path"]


def consume(result):
    if isinstance(result, Iterator):
        deque(result, maxlen=0)


def seconds(function, *args, repeat=1, **kwargs):
    """The best of some runs, the answer consumed."""
    times = []
    for _ in range(repeat):
        begin = perf_counter()
        consume(function(*args, **kwargs))
        times.append(perf_counter() - begin)
    return min(times)


def measure(graph, name, *args, repeat=3):
    """Seconds of NetworkX, of the first call with the backend preferred, and of the backend with a conversion."""
    function = getattr(nx, name)
    often = max(1, repeat // 5)  # first calls that take long are made once
    theirs, firsts = [], []
    for _ in range(often):
        graph.__networkx_cache__.clear()
        gc.collect()  # which leaves the caches cold for both
        theirs.append(seconds(function, graph, *args, backend="networkx"))
        gc.collect()
        with nx.config(backend_priority=["rapids_bfs"]):
            firsts.append(seconds(function, graph, *args))
    seconds(function, graph, *args, backend="rapids_bfs")  # converts, if the first call has not
    cached = seconds(function, graph, *args, backend="rapids_bfs", repeat=repeat)
    return {"networkx_s": min(theirs), "first_s": min(firsts), "cached_s": cached}


def warm_up():
    """Compile or load every kernel."""
    small = nx.path_graph(300)
    for name in (*ONCE, *WHOLE, *PAIRS):
        consume(getattr(nx, name)(small, *([0] if name in ONCE else []), backend="rapids_bfs"))
    for name in LOCAL:
        getattr(nx, name)(small, 0, 9, backend="rapids_bfs")
    ConvertedGraph(nx.relabel_nodes(small, str))


def conversions(graph, folder):
    """Seconds to convert, and those of nx-cugraph's conversion, for integer and string nodes."""
    rows = {}
    named = nx.relabel_nodes(graph, {node: f"node {node}" for node in graph})
    theirs = cugraph_conversion(folder) if folder else None
    for kind, each in (("integers", graph), ("strings", named)):
        rows[kind] = {"rapids_bfs_s": seconds(ConvertedGraph, each, repeat=5)}
        if theirs:
            rows[kind]["nx_cugraph_s"] = seconds(theirs, each, repeat=5)
    return rows


def cugraph_conversion(folder):
    """nx-cugraph's `from_networkx` up to its arrays, NumPy being its CuPy."""
    sys.path.insert(0, str(folder))
    cupy = types.ModuleType("cupy")
    cupy.__dict__.update({name: getattr(np, name) for name in dir(np) if not name.startswith("__")})
    package = types.ModuleType("nx_cugraph")
    package.__path__ = [str(folder / "nx_cugraph")]
    package._nxver = tuple(map(int, nx.__version__.split(".")[:2]))
    package.Graph = package.CudaGraph = type("Graph", (), {})
    made = type("Made", (), {"from_coo": staticmethod(lambda *arrays, **more: arrays)})
    for name in ("CudaGraph", "CudaDiGraph", "CudaMultiGraph", "CudaMultiDiGraph"):
        setattr(package, name, made)
    utilities = types.ModuleType("nx_cugraph.utils")
    utilities.index_dtype = np.dtype(np.int32)
    utilities.networkx_algorithm = lambda *function, **options: function[0] if function else lambda each: each
    utilities.__path__ = []
    misc = types.ModuleType("nx_cugraph.utils.misc")
    misc._And_NotImplementedError = RuntimeError
    modules = {"cupy": cupy, "nx_cugraph": package, "nx_cugraph.utils": utilities, "nx_cugraph.utils.misc": misc}
    before = {name: sys.modules.get(name) for name in modules}
    sys.modules.update(modules)
    try:
        return importlib.import_module("nx_cugraph.convert").from_networkx
    finally:
        sys.modules.update({name: module for name, module in before.items() if module is not None})


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--nodes", type=int, default=200_000)
    parser.add_argument("--small-nodes", type=int, default=2_000)
    parser.add_argument("--engine", default="auto")
    parser.add_argument("--cugraph", type=Path)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    nx.config.warnings_to_ignore.add("cache")
    nx.config.backends.rapids_bfs.engine = arguments.engine

    warm_up()
    large = nx.barabasi_albert_graph(arguments.nodes, 10, seed=1)
    small = nx.barabasi_albert_graph(arguments.small_nodes, 10, seed=1)
    rows = {name: measure(large, name, 0) for name in ONCE}
    rows |= {name: measure(large, name) for name in WHOLE}
    rows |= {name: measure(large, name, 17, arguments.nodes - 1, repeat=20) for name in LOCAL}
    rows["ego_graph"] = measure(large, "ego_graph", arguments.nodes - 1, repeat=20)
    rows |= {f"{name} ({arguments.small_nodes})": measure(small, name) for name in PAIRS}
    converted = conversions(large, arguments.cugraph)

    print(f"Barabasi-Albert graphs of {arguments.nodes:,} and {arguments.small_nodes:,} nodes, 10 edges a node")
    print(f"{'':40}{'NetworkX s':>12}{'first s':>10}{'':>8}{'cached s':>10}")
    for name, row in rows.items():
        row["first_x"], row["cached_x"] = (row["networkx_s"] / row[each] for each in ("first_s", "cached_s"))
        print(
            f"{name:40}{row['networkx_s']:12.4f}{row['first_s']:10.4f}{row['first_x']:7.1f}x"
            f"{row['cached_s']:10.4f}{row['cached_x']:7.1f}x"
        )
    for kind, row in converted.items():
        print(f"conversion, {kind}: " + ", ".join(f"{name[:-2]} {value:.3f} s" for name, value in row.items()))
    if arguments.json:
        report = {
            "nodes": [arguments.nodes, arguments.small_nodes],
            "engine": arguments.engine,
            "date": datetime.now(UTC).date().isoformat(),
            "versions": {name: version(name) for name in ("networkx", "numba", "numpy")},
            "rows": rows,
            "conversion": converted,
        }
        arguments.json.write_text(json.dumps(report, indent=2) + "\n")


if __name__ == "__main__":
    main()
