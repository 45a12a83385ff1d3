"""Graphs on Dask workers without GPUs, beside one process with as many cores."""

import gc
import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from rapids_bfs import as_graph, bfs, validate
from rapids_bfs._core.cuda.arrays import CPU
from rapids_bfs.comparison.runner import sample_sources
from rapids_bfs.distributed.sources import RandomEdges

from .cases import Case, expect, say
from .cpu import on_cores
from .record import Record
from .tables import Table, code
from .timing import clock, summary

WORKERS = 2
SHARES = 4  # of the frame, on each worker
TRACED = 4  # searches whose bytes are counted
ONE, SEVERAL = "one process", "workers"


def workers(graphs=("rmat:20", "urand:20"), *, builds=7, sources=32) -> Iterator[Record]:
    """Two workers of one core each, and one process on the same two cores, which the client shares. Both have the edges
    in frames of pandas, two columns of int64; builds and searches take turns."""
    options = {"graphs": graphs, "builds": builds, "sources": sources}
    yield from on_cores("benchmarks.workers", options, sorted(os.sched_getaffinity(0))[:WORKERS])


def measure_here(graphs: list[str], builds: int, sources: int) -> Iterator[Record]:
    """Measure on the cores of this process."""
    record: Record = {"workers": WORKERS, "graphs": []}
    with _cluster() as client:
        kept = as_graph(_persisted(client, "rmat:10"), directed=False)  # its ranks serve all graphs
        for spec in graphs:
            record["graphs"].append(_row(client, spec, builds, sources))
            yield record
        del kept


@contextmanager
def _cluster() -> Iterator[Any]:
    """The client of workers, each on a core of its own."""
    from distributed import Client, LocalCluster

    options = {"n_workers": WORKERS, "threads_per_worker": 1, "dashboard_address": ":0", "memory_limit": 0}
    with LocalCluster(**options) as cluster, Client(cluster) as client:
        for worker, core in zip(sorted(client.nthreads()), sorted(os.sched_getaffinity(0)), strict=False):
            client.run(_stay_on, core, workers=[worker])
        yield client


def _stay_on(core: int) -> None:
    for thread in os.listdir("/proc/self/task"):
        os.sched_setaffinity(int(thread), {core})


def _drawn(share: int, spec: str, shares: int) -> pd.DataFrame:
    """A share of the edges."""
    source, target = (np.concatenate(ends) for ends in zip(*RandomEdges(spec, CPU).blocks(share, shares), strict=True))
    return pd.DataFrame({"source": source.astype(np.int64), "target": target.astype(np.int64)})


def _persisted(client: Any, spec: str) -> Any:
    """The edges as a Dask frame, shared out evenly among the workers."""
    import dask.dataframe as dd
    from distributed import wait

    shares = WORKERS * SHARES
    frame = dd.from_map(_drawn, range(shares), spec=spec, shares=shares, meta=_drawn(0, "rmat:4", 1 << 6)[:0]).persist()
    wait(frame)
    client.rebalance(frame)
    return frame


def _row(client: Any, spec: str, builds: int, sources: int) -> Record:
    say(f"{spec}: edges")
    edges = {
        ONE: pd.concat([_drawn(each, spec, WORKERS) for each in range(WORKERS)]),
        SEVERAL: _persisted(client, spec),
    }
    build_s: dict[str, list[float]] = {name: [] for name in edges}
    build_cpu_s: dict[str, list[float]] = {name: [] for name in edges}
    built: dict[str, Any] = {}
    for turn in range(1 + builds):  # the first compiles
        say(f"{spec}: build {turn} of {builds}")
        for name, frame in edges.items():
            built.pop(name, None)
            gc.collect()
            before = _cpu_s(client)
            seconds, built[name] = clock(partial(as_graph, frame, directed=False))
            build_s[name] += [seconds] if turn else []
            build_cpu_s[name] += [_cpu_s(client) - before] if turn else []
    del edges, frame
    say(f"{spec}: searches")
    whole = built[ONE]
    ids = whole.ids_of(sample_sources(whole, sources)).tolist()
    search_ms: dict[str, list[float]] = {name: [] for name in built}
    search_cpu_ms: dict[str, list[float]] = {name: [] for name in built}
    for turn, source in enumerate([ids[-1], *ids]):
        found = {}
        for name, graph in built.items():
            before = _cpu_s(client)
            seconds, found[name] = clock(partial(bfs, graph, source))
            search_ms[name] += [1e3 * seconds] if turn else []
            search_cpu_ms[name] += [1e3 * (_cpu_s(client) - before)] if turn else []
        one, several = found.values()
        expect(
            (one.num_reached, one.depth) == (several.num_reached, several.depth), f"both find the same from {source}"
        )
    expect(validate(built[SEVERAL], several), f"from {source}")
    traces = [bfs(built[SEVERAL], source, trace=True).trace for source in ids[:TRACED]]
    return {
        "graph": spec,
        "vertices": whole.num_vertices,
        "edges": whole.num_edges,
        "build_s": build_s,
        "build_cpu_s": build_cpu_s,
        "search_ms": search_ms,
        "search_cpu_ms": search_cpu_ms,
        "sources": ids,
        "traced": [
            {
                "source": source,
                "directions": [level.direction for level in trace],
                "bytes_sent": trace.bytes_sent,
                "bytes_needed": trace.bytes_needed,
            }
            for source, trace in zip(ids, traces, strict=False)
        ],
    }


def _cpu_s(client: Any) -> float:
    """CPU seconds of all processes, which do not depend on what else the machine runs."""
    return time.process_time() + sum(client.run(time.process_time).values())


def workers_table(record: Record) -> Table:
    head = "graph | what | one process | two workers | ratio | of core time | bytes sent by bytes needed"
    return head, (
        [
            code(each["graph"]),
            f"{what}, {unit}",
            *map(_quartiles, times.values()),
            _ratio(times),
            _ratio(cores),
            traffic,
        ]
        for each in record["graphs"]
        for what, unit, traffic in (("build", "s", None), ("search", "ms", _traffic(each["traced"])))
        for times, cores in ((each[f"{what}_{unit}"], each[f"{what}_cpu_{unit}"]),)
    )


def _quartiles(times: list[float]) -> str:
    facts = summary(times)
    return f"{facts['median']:.3g} ({facts['low']:.3g} to {facts['high']:.3g})"


def _ratio(times: dict[str, list[float]]) -> float:
    """The median ratio over turns: a disturbance of one turn affects both."""
    ratios = [several / one for one, several in zip(times[ONE], times[SEVERAL], strict=True)]
    return float(np.median(ratios))


def _traffic(traced: list[Record]) -> str:
    """The largest ratio of a search, and its bytes."""
    sums = [(np.sum(each["bytes_sent"]), np.sum(each["bytes_needed"])) for each in traced]
    sent, needed = max(sums, key=lambda each: each[0] / each[1])
    return f"{sent / needed:.4f} ({sent / 1e6:.3g} MB)"


CASES = [
    Case("workers", "graphs on two Dask workers without GPUs, beside one process", workers, workers_table),
]


if __name__ == "__main__":
    for found in measure_here(**json.loads(sys.argv[1])):
        print(json.dumps(found), flush=True)
