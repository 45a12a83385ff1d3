"""Where the microseconds of `rapids_bfs.cugraph.bfs` and of `bfs` go: on karate, where Python is all there is, and on
rmat:20, where most of it runs while the device searches.

    python3 benchmarks/profile_dropin.py --json FILE

Medians of calls; each step of the drop-in alone, ways to make its frame, and the whole beside `cugraph.bfs`. Needs
RAPIDS and a GPU, takes some twenty seconds. RMM has a pool unless `--no-pool` is given.
"""

import argparse
import json
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter_ns

import cudf
import cugraph
import cupy
import networkx as nx
import numpy as np
import pandas as pd
import pylibcudf
from bench_cugraph import cugraph_graph, edge_frame, use_pool
from cudf.core.buffer import as_buffer
from cudf.core.buffer.buffer import Buffer, BufferOwner
from cudf.core.column import ColumnBase
from cudf.core.column_accessor import ColumnAccessor

from rapids_bfs import as_graph, bfs, load
from rapids_bfs import cugraph as drop_in
from rapids_bfs._core import machine
from rapids_bfs._core.cuda.arrays import finish
from rapids_bfs._core.memory import new_arrays
from rapids_bfs._core.rapids import driver_allocates
from rapids_bfs.adapters.cudf import frame_of, frames_of
from rapids_bfs.engines import DEFAULT, resolve

NAMES = ("vertex", "distance", "predecessor")
WARM_UP = 20
SLOW = 50  # calls of cuGraph


def microseconds(call: Callable[[], object], calls: int) -> float:
    """The median of so many calls."""
    for _ in range(min(WARM_UP, calls)):
        call()
    times = []
    for _ in range(calls):
        begin = perf_counter_ns()
        call()
        times.append(perf_counter_ns() - begin)
    cupy.cuda.Device().synchronize()
    return median(times) / 1000


def ways_to_make_a_frame(vertices, distances, predecessors):
    """Frames of the same three columns, of which the first is shared with all other frames."""
    arrays = distances, predecessors
    n, dtype = len(vertices), vertices.dtype
    series = cudf.Series(vertices)
    shared = as_buffer(vertices)
    data_type = pylibcudf.Column.from_cuda_array_interface(vertices).type()
    ours = frames_of(vertices)

    def unchecked(buffer):
        column = pylibcudf.Column(data_type, n, buffer, None, 0, 0, (), validate=False)
        return ColumnBase.create(column, dtype, validate=False)

    def owned(array):
        return Buffer(owner=BufferOwner(ptr=array.data.ptr, size=array.nbytes, owner=array))

    def accessor(*buffers):
        columns = (unchecked(buffer) for buffer in (shared.copy(deep=False), *buffers))
        return ColumnAccessor(dict(zip(NAMES, columns, strict=True)), verify=False)

    def without_setattr(data):
        frame = object.__new__(cudf.DataFrame)
        flags = pd.Flags(frame, allows_duplicate_labels=True)
        vars(frame).update(_data=data, _index=cudf.RangeIndex(range(n)), _attrs={}, _flags=flags)
        return frame

    def from_pylibcudf():
        columns = map(pylibcudf.Column.from_cuda_array_interface, (vertices, *arrays))
        return cudf.DataFrame.from_pylibcudf(pylibcudf.Table([*columns]), {"columns": list(NAMES)})

    def from_buffers():
        return cudf.DataFrame._from_data(accessor(*map(as_buffer, arrays)), cudf.RangeIndex(range(n)))

    return {
        "cudf.DataFrame of arrays": lambda: cudf.DataFrame(dict(zip(NAMES, (vertices, *arrays), strict=True))),
        "from_pylibcudf": from_pylibcudf,
        "_from_data, columns checked (frame_of)": lambda: frame_of(dict(zip(NAMES, (series, *arrays), strict=True))),
        "_from_data, columns unchecked": from_buffers,
        "the same without DataFrame.__setattr__ (frames_of)": lambda: ours(*arrays),
        "frames_of, buffers owned outright": lambda: without_setattr(accessor(*map(owned, arrays))),
    }


def parts_of_a_frame(vertices, distances):
    """What ways to make a frame are made of."""
    dtype, n = vertices.dtype, len(vertices)
    buffer, owner = as_buffer(vertices), BufferOwner(ptr=vertices.data.ptr, size=vertices.nbytes, owner=vertices)
    plain = pylibcudf.Column.from_cuda_array_interface(vertices)
    column = ColumnBase.create(plain, dtype)
    data = ColumnAccessor({"vertex": column}, verify=False)
    return {
        "__cuda_array_interface__": lambda: distances.__cuda_array_interface__,
        "as_buffer": lambda: as_buffer(distances),
        "BufferOwner": lambda: BufferOwner(ptr=distances.data.ptr, size=distances.nbytes, owner=distances),
        "Buffer": lambda: Buffer(owner=owner),
        "Buffer.copy(deep=False)": lambda: buffer.copy(deep=False),
        "pylibcudf.Column": lambda: pylibcudf.Column(plain.type(), n, buffer, None, 0, 0, ()),
        "ColumnBase.create, unchecked": lambda: ColumnBase.create(plain, dtype, validate=False),
        "ColumnBase.create, checked": lambda: ColumnBase.create(plain, dtype),
        "RangeIndex": lambda: cudf.RangeIndex(range(n)),
        "DataFrame._from_data": lambda: cudf.DataFrame._from_data(data),
    }


def parts_of_a_search(graph, searcher):
    """The steps of a call of the drop-in, in their order."""
    traversal, n = searcher.traversal, searcher.graph.num_vertices
    distances, predecessors = arrays = new_arrays(n, np.int32, np.int32)
    sources = np.array([0])

    def search():
        with (
            traversal.device.current(),
            traversal.search_into(distances, predecessors, searcher.unreached, sources, DEFAULT),
        ):
            pass

    return {
        "the searcher of the graph": lambda: drop_in._of_graph(graph),
        "sources": lambda: searcher._sources(0),
        "does the driver allocate?": driver_allocates,
        "new arrays": lambda: new_arrays(n, np.int32, np.int32),
        "allocate ahead, while the device is busy": searcher.next_arrays.allocate_ahead,
        "wait for CuPy's stream": finish,
        "ask whether CuPy's stream is done": lambda: cupy.cuda.get_current_stream().done,
        "prepare a launch": lambda: traversal.host.begin(sources, DEFAULT),
        "launch and wait": lambda: traversal.search(sources, DEFAULT),
        "launch and wait, into new arrays (search_into)": search,
        "frame": lambda: searcher._frame_of(*arrays),
    }


def ways_to_search(spec):
    """Ever more of a call, from the search of what was prepared to the frame of the drop-in; ids have gaps."""
    _, frame = edge_frame(spec)
    graph, theirs = as_graph(frame, directed=False), cugraph_graph(frame, symmetrize=False)
    id = int(frame["src"].iloc[0])
    traversal, sources, n = resolve("cupy").traversal(graph), np.array([graph.vertex_of(id)]), graph.num_vertices
    once = new_arrays(n, np.int32, np.int32)
    drop_in.bfs(theirs, id)
    searcher = drop_in._of_graph(theirs)
    kept = []

    def into(distances, predecessors):
        with traversal.device.current(), traversal.search_into(distances, predecessors, -1, sources, DEFAULT):
            pass

    def arrays_of_drop_in():
        with searcher.traversal.lock, searcher.search(id, None, True):
            pass

    return {
        "prepared search": partial(traversal.search, sources, DEFAULT),
        "into the same new arrays each time": partial(into, *once),
        "run, arrays are the caller's": partial(traversal.run, sources, own=True),
        "run, and all answers are kept": lambda: kept.append(traversal.run(sources, own=True)),
        "bfs": partial(bfs, graph, id, engine="cupy"),
        "drop-in, arrays alone": arrays_of_drop_in,
        "drop-in": partial(drop_in.bfs, theirs, id),
        "make and free two arrays": lambda: new_arrays(n, np.int32, np.int32),
    }


def karate(dtype=np.int32, gap=1):
    """With the ids 0, ``gap``, 2 ``gap``, ..."""
    edges = gap * np.array(nx.karate_club_graph().edges, np.int32).T
    frame = cudf.DataFrame({"src": edges[0], "dst": edges[1]}).astype(dtype)
    graph = cugraph.Graph()
    graph.from_cudf_edgelist(frame, source="src", destination="dst")
    return graph


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--calls", type=int, default=500)
    parser.add_argument("--no-pool", action="store_true", help="let RMM ask the driver for every array")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    if not arguments.no_pool:
        use_pool()

    graph = karate()
    drop_in.bfs(graph, 0)
    searcher = drop_in._of_graph(graph)
    host, device = load("karate"), load("karate").on("cuda")
    arrays = [cupy.arange(34, dtype=np.int32) for _ in range(3)]
    prepared = resolve("cupy").traversal(device)
    sections = {
        "whole calls": {
            "cugraph.bfs": partial(cugraph.bfs, graph, 0),
            "rapids_bfs.cugraph.bfs": partial(drop_in.bfs, graph, 0),
            "rapids_bfs.cugraph.bfs, distances alone": partial(drop_in.bfs, graph, 0, return_predecessors=False),
            "rapids_bfs.cugraph.bfs, ids with gaps": partial(drop_in.bfs, karate(gap=3), 0),
            "rapids_bfs.cugraph.bfs, int64": partial(drop_in.bfs, karate(np.int64), 0),
            "rapids_bfs.cugraph.bfs, strings": partial(drop_in.bfs, karate("str"), "0"),
            "prepared search": partial(prepared.search, np.array([0]), DEFAULT),
            "prepared run": partial(prepared.run, np.array([0])),
            "bfs of a graph on the device": partial(bfs, device, 0, engine="cupy"),
            "bfs of a graph on the host": partial(bfs, host, 0, engine="cupy"),
            "bfs of a graph on the host, engine cpu": partial(bfs, host, 0, engine="cpu"),
        },
        "steps of rapids_bfs.cugraph.bfs": parts_of_a_search(graph, searcher),
        "ways to make a frame": ways_to_make_a_frame(*arrays),
        "parts of a frame": parts_of_a_frame(*arrays[:2]),
        "ways to search rmat:20": ways_to_search("rmat:20"),
    }
    found = {}
    for title, calls in sections.items():
        print(f"{title}, median microseconds")
        found[title] = {}
        for name, call in calls.items():
            us = found[title][name] = microseconds(call, SLOW if name == "cugraph.bfs" else arguments.calls)
            print(f"    {name:50}{us:10.1f}", flush=True)
    whole = found["whole calls"]
    print(f"cugraph.bfs over the drop-in: {whole['cugraph.bfs'] / whole['rapids_bfs.cugraph.bfs']:.1f}x")
    if arguments.json:
        card = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
        report = {"card": card, "date": datetime.now(UTC).date().isoformat(), "versions": machine.versions()}
        report["pool"] = not arguments.no_pool
        arguments.json.write_text(json.dumps(report | {"microseconds": found}, indent=1) + "\n")


if __name__ == "__main__":
    main()
