"""Filters and masks: the filtered graph beside a copy, and a search with a mask beside one without."""

from collections.abc import Iterator
from functools import partial

import numpy as np

from rapids_bfs import bfs, load
from rapids_bfs._core.csr import csr_for, is_symmetric
from rapids_bfs._core.cuda.arrays import moved

from .cases import Case, expect
from .record import Record
from .tables import Table, code, middle
from .timing import device_wait, one_by_one

REPEAT = 15
DIRECTED = "filter, directed"
UNDIRECTED = "filter, undirected"
CHECK = "its check of symmetry"
BY_VERTICES = "filter by vertices"
SEARCH = "search"
ALL_ALLOWED = "search, mask of all"
MASKED = "search, 7 of 10 vertices"
FROM_HOST = "its mask on the host"
ONCE = "search, edges=mask"


def filters(graphs=("rmat:20", "rmat:24"), *, device="cuda") -> Iterator[Record]:
    """Keep half of the edges, drawn at random, and 7 of 10 vertices. The check of symmetry is required for any mask of
    the edges of an undirected graph; it bounds from below the cost of a search that tests a bit for each arc."""
    rows = []
    for spec in graphs:
        rows.append({"graph": spec, "ms": measured(spec, device)})
        yield {"device": device, "rows": rows}


def measured(spec: str, device: str) -> dict[str, list[float]]:
    """The times of each call, in milliseconds."""
    graph = load(spec, device=device)
    directed = graph._with(directed=True)
    csr = csr_for(graph.targets)
    ends = csr.sources_of(graph.offsets, graph.targets), graph.targets
    one, other = (each.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) for each in ends)
    edges = ((one ^ other) >> np.uint64(40) & np.uint64(1)).astype(bool)  # alike both ways
    source = int(graph.sample_sources(1, 1)[0])
    allowed = np.random.default_rng(1).random(graph.num_vertices) < 0.7
    allowed[source] = True
    on_host = allowed
    allowed, everywhere = moved(allowed, device), moved(np.ones(graph.num_vertices, bool), device)
    half = graph.filter(edges=edges)
    expect(0.4 < half.num_arcs / graph.num_arcs < 0.6, "half of the arcs")
    expect(bool((bfs(half, source).distances == bfs(graph, source, edges=edges).distances).all()), "the same distances")
    calls = {
        "copy": lambda: (graph.offsets.copy(), graph.targets.copy()),
        DIRECTED: lambda: directed.filter(edges=edges),
        UNDIRECTED: lambda: graph.filter(edges=edges),
        CHECK: lambda: is_symmetric(half.offsets, half.targets),
        BY_VERTICES: lambda: graph.filter(vertices=allowed),
        SEARCH: lambda: bfs(graph, source),
        ALL_ALLOWED: lambda: bfs(graph, source, vertices=everywhere),
        MASKED: lambda: bfs(graph, source, vertices=allowed),
        FROM_HOST: lambda: bfs(graph, source, vertices=on_host),
        ONCE: lambda: bfs(graph, source, edges=edges),
    }
    wait = device_wait() if device == "cuda" else None
    return {name: one_by_one([call] * REPEAT, warm_s=0.2, wait=wait) for name, call in calls.items()}


def beside_earlier(kept: Record, new: Record) -> Record:
    """Keep the figures that the file has from another commit, as ``before``."""
    same = kept.get("commit") == new.get("commit")
    before = kept.get("before") if same else {key: kept[key] for key in ("date", "commit", "rows") if key in kept}
    return new | ({"before": before} if before else {})


def filters_table(record: Record) -> Table:
    """Medians in milliseconds, below those of an earlier commit if the file has any."""
    names = list(record["rows"][0]["ms"])
    earlier = record.get("before", {"rows": []})["rows"]
    lines = [("before", row) for row in earlier] + [("now" if earlier else None, row) for row in record["rows"]]
    lines.sort(key=lambda line: line[1]["graph"])
    return " | ".join(["graph", "", *names]), (
        [code(row["graph"]), when, *(middle(row["ms"][name]) if name in row["ms"] else None for name in names)]
        for when, row in lines
    )


ON_CPU = partial(filters, graphs=("rmat:20", "urand:20", "grid:1000"), device="cpu")
CASES = [
    Case(
        *("filters", "graphs filtered, and searched with masks", filters, filters_table),
        needs=("GPU",),
        place=beside_earlier,
    ),
    Case("filters-cpu", "the same on the CPU", ON_CPU, filters_table, file="filters", place=beside_earlier),
]
