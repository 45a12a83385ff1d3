"""Suites of graphs, as `rapids-bfs compare --suite` measures them; with GAPBS beside the others, or on a GPU with RMM's
pool and edge lists in random order, whose ids have gaps."""

import json
import os
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from statistics import geometric_mean, median
from tempfile import TemporaryDirectory

from platformdirs import user_cache_path

from rapids_bfs import as_graph, compare_suite, load
from rapids_bfs.comparison.suite_runner import THREADS

from .cases import Case, say
from .record import Record, about
from .tables import Table, code
from .timing import run_gapbs

OTHERS = ("scipy", "igraph", "networkit", "rustworkx", "graphblas")
RAPIDS = ("cugraph", "pylibcugraph", "pylibcugraph:direction-optimizing")
TRIALS = 3  # of GAPBS from each source


def suite(
    name="synthetic", *, scales=("18", "22"), engines=("cpu", *OTHERS), sources=16, gapbs="", pool=False, gaps=False
) -> Iterator[Record]:
    """Results are kept in the cache: the same call at the same commit resumes where it stopped. GAPBS searches from the
    same sources, and checks its own answers."""
    if pool:
        from .rapids import start_pool

        start_pool()
    found = compare_suite(
        name,
        scale=list(map(int, scales)),
        engines=engines,
        num_sources=sources,
        keep=_kept(name, scales, engines, sources, pool, gaps),
        load=random_edges if gaps else load,
        measured=lambda row, done, total: say(f"{done} of {total}: {row['graph']} {row['failed'] or ''}"),
    )
    if gapbs:
        found = replace(found, rows=[_with_gapbs(row, gapbs) if row["comparison"] else row for row in found.rows])
    yield found.to_dict() | {"pool": pool, "gaps": gaps}


def _kept(*asked) -> Path:
    """A file in the cache for these options, this commit, this machine and its numbers of threads."""
    told = json.dumps([asked, {name: os.environ.get(name) for name in THREADS}, about() | {"date": ""}], default=str)
    return Path(
        user_cache_path("rapids_bfs", appauthor=False), "benchmarks", f"{sha256(told.encode()).hexdigest()}.json"
    )


def random_edges(name, **options):
    """The arcs of a graph in random order, as a cuDF frame; isolated vertices are not in it."""
    from .rapids import edge_frame

    return edge_frame(name)[1]


def _with_gapbs(row, gapbs):
    """A row with GAPBS's times from the same sources. It checks its own answers."""
    graph = load(row["graph"])
    others = next(engine["runs"] for engine in row["comparison"]["engines"] if engine["runs"])
    with TemporaryDirectory() as folder:
        path = Path(folder, "graph.sg")
        as_graph(offsets=graph.offsets, targets=graph.targets, directed=graph.directed).save(path)  # without its ids
        runs = [run | _searched(gapbs, path, graph.vertex_of(run["source"])) for run in others]
    for run in runs:
        run["teps"] = 1e3 * run["edges"] / run["ms"]
    times = [run["ms"] for run in runs]
    figures = {
        **{"engine": "GAPBS", "unavailable": None, "valid": all(run["verdict"] == "valid" for run in runs)},
        **dict.fromkeys(("prepare_ms", "warmup_ms", "prepare_bytes", "run_bytes", "ratio_to_baseline", "trace")),
        **{"edges_ms": [], "sources": [run["source"] for run in runs], "run_ms": times, "median_ms": median(times)},
        **{name: max(run[name] for run in runs) for name in ("reached", "depth")},
        **{"teps_harmonic_mean": len(runs) / sum(1 / run["teps"] for run in runs), "runs": runs},
    }
    comparison = row["comparison"]
    return row | {"comparison": comparison | {"engines": [*comparison["engines"], figures]}}


def _searched(gapbs, path, vertex):
    seconds, said = run_gapbs(f"{gapbs}/bfs", "-f", str(path), "-r", str(vertex), "-n", str(TRIALS), "-v")
    right = re.findall(r"Verification: +PASS", said)
    return {"ms": 1e3 * median(seconds), "verdict": "valid" if len(right) == TRIALS else "GAPBS's verification failed"}


def _rows(record: Record):
    """For each graph its name, its sizes, and the engines that ran, by name, ours first."""
    for row in record["graphs"]:
        if row["comparison"]:
            yield (
                row["graph"],
                row["comparison"]["graph"],
                {each["engine"]: each for each in row["comparison"]["engines"] if each["runs"]},
            )


def _engines(record: Record):
    return list(dict.fromkeys(name for _, _, found in _rows(record) for name in found))


def _medians(found):
    return {name: engine["median_ms"] for name, engine in found.items()}


def times_table(record: Record) -> Table:
    """Medians, in ms."""
    engines = _engines(record)
    return " | ".join(["graph | vertices | edges", *map(code, engines)]), (
        [code(name), size["vertices"], size["edges"], *(found.get(each, {}).get("median_ms") for each in engines)]
        for name, size, found in _rows(record)
    )


def speed_ups_table(record: Record) -> Table:
    """How many times as fast our engine is as each of the others."""
    ours, *others = _engines(record)
    ratios: dict[str, list[float]] = {each: [] for each in others}
    rows = []
    for name, _, found in _rows(record):
        times = _medians(found)
        row = {each: times[each] / times[ours] for each in others if {each, ours} <= times.keys()}
        for each, ratio in row.items():
            ratios[each].append(ratio)
        rows.append([code(name), *map(row.get, others)])
    means = ["geometric mean", *(geometric_mean(each) if each else None for each in ratios.values())]
    return " | ".join([f"{ours}, times as fast as", *map(code, others)]), [*rows, means]


VIEWS = {"suite-speed-ups": speed_ups_table}
ON_GPU = partial(suite, scales=("18", "20"), engines=("cupy", "numba-cuda", *RAPIDS), sources=8, pool=True, gaps=True)
LARGE = partial(suite, scales=("22",), engines=("cpu", "scipy"), sources=4)
CASES = [
    Case("suite", "a suite of graphs beside other libraries", suite, times_table, (), "suite_synthetic", VIEWS),
    Case("suite-large", "the same at scale 22 beside SciPy", LARGE, times_table, (), "suite_22"),
    Case("suite-gpu", "the same beside cuGraph", ON_GPU, times_table, ("GPU", "cuGraph"), "suite_synthetic"),
]
