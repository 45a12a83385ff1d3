"""What ids cost `rapids_bfs.cugraph.bfs`: the same graph by ids of every kind, beside `cugraph.bfs`.

    python3 benchmarks/bench_dropin_ids.py rmat:20 rmat:22 --json FILE

Times are from the call to the synchronised answer, in milliseconds, RMM with a pool. Where ids are strings or of two
columns cuGraph numbers the vertices itself: finding the start and gathering the names are then part of a call.
"""

import argparse
import json
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from statistics import median

import cudf
import cugraph
import cupy
import numpy as np
from bench_cugraph import SEED, cugraph_graph, edge_frame, milliseconds, use_pool

from rapids_bfs import cugraph as drop_in
from rapids_bfs._core import machine

GRAPHS = ["rmat:20", "rmat:22"]
NAMED = 1 << 26  # arcs; of larger graphs cuGraph's own numbering of strings takes long
SOURCES_OF_PEER = 6


def of_type(frame, dtype):
    return cugraph_graph(frame.astype(dtype), symmetrize=False)


def with_all(frame, n, dtype):
    graph = cugraph.Graph()
    vertices = cudf.Series(cupy.arange(n, dtype=dtype))
    graph.from_cudf_edgelist(frame.astype(dtype), "src", "dst", vertices=vertices, symmetrize=False)
    return graph


def of_two_columns(frame):
    graph = cugraph.Graph()
    four = cudf.DataFrame({"a": frame["src"], "b": frame["src"] % 7, "c": frame["dst"], "d": frame["dst"] % 7})
    graph.from_cudf_edgelist(four, source=["a", "b"], destination=["c", "d"], symmetrize=False)
    return graph


def pair(id):
    return cudf.DataFrame({"a": np.array([id], np.int32), "b": np.array([id % 7], np.int32)})


def kinds(frame, n):
    """For each kind of ids what makes the graph, and how a start is written."""
    found = {
        "int32, 0..n-1": (partial(with_all, frame, n, "int32"), int),
        "int32, gaps": (partial(of_type, frame, "int32"), int),
        "int64, 0..n-1": (partial(with_all, frame, n, "int64"), int),
        "int64, gaps": (partial(of_type, frame, "int64"), int),
    }
    if len(frame) <= NAMED:
        found |= {
            "two columns": (partial(of_two_columns, frame), pair),
            "strings": (partial(of_type, frame, "str"), str),
        }
    return found


def reached(frame):
    """How many vertices have a distance, and the largest."""
    distances = frame["distance"].values
    distances = distances[distances < np.iinfo(distances.dtype).max]
    return len(distances), int(distances.max())


def rows_of(spec, count):
    n, frame = edge_frame(spec)
    ids = np.random.default_rng(SEED).choice(cupy.unique(frame["src"].values).get(), count, replace=False).tolist()
    rows, expected = [], None
    for kind, (make, written) in kinds(frame, n).items():
        graph = make()
        starts = [written(id) for id in ids]
        ours, theirs = drop_in.bfs(graph, starts[0]), cugraph.bfs(graph, starts[0])
        expected = expected or reached(ours)
        agree = reached(ours) == reached(theirs) == expected and ours.dtypes.to_dict() == theirs.dtypes.to_dict()
        times = [milliseconds(partial(drop_in.bfs, graph, start)) for start in starts]
        peer = [milliseconds(partial(cugraph.bfs, graph, start)) for start in starts[:SOURCES_OF_PEER]]
        rows.append({"graph": spec, "ids": kind, "agree": agree, "ms": times, "cugraph_ms": peer})
        ratio = median(times) / median(rows[0]["ms"])
        print(f"{spec:10}{kind:16}{median(times):10.3f}{median(peer):10.1f}{ratio:8.2f}   {agree}", flush=True)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("graphs", nargs="*", default=GRAPHS, metavar="graph")
    parser.add_argument("--sources", type=int, default=32)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    use_pool()
    print(f"{'median ms':26}{'drop-in':>10}{'cugraph':>10}{'times':>8}   agree")
    rows = [row for spec in arguments.graphs for row in rows_of(spec, arguments.sources)]
    if arguments.json:
        card = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
        about = {"card": card, "date": datetime.now(UTC).date().isoformat(), "versions": machine.versions()}
        arguments.json.write_text(json.dumps(about | {"pool": True, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
