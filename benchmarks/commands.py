"""`rapids-bfs compare` and `rapids-bfs graph500` with the arguments of the committed results."""

import json
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from rapids_bfs import compare, load

from .cases import Case
from .record import Record
from .tables import Table, code, span

ON_CPU = ("cpu", "cpu:sequential", "scipy", "networkx")
KERNELS = [
    f"{engine}:{name}" for engine in ("cupy", "numba-cuda") for name in ("block-queue", "two-kernel", "frontier-mask")
]
RAPIDS = ("cugraph", "pylibcugraph", "pylibcugraph:direction-optimizing")
ON_GPU = ("cupy", "numba-cuda", *KERNELS, "cupy:frontier-mask-texture", *RAPIDS, "cpu", "scipy")


def command(*words: str) -> Iterator[Record]:
    """The JSON that the command writes."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "found.json")
        subprocess.run([sys.executable, "-m", "rapids_bfs", *words, "--json", str(path)], check=True)
        yield json.loads(path.read_text())


def engines(graph="rmat:20", *, engines=ON_CPU, sources=5) -> Iterator[Record]:
    """The engines take turns, so each starts with caches that the others have filled."""
    return command("compare", graph, "--engines", ",".join(engines), "--num-sources", str(sources))


def graph500(*, scale=26, gpus=0) -> Iterator[Record]:
    """Generated, built, searched from 64 roots and validated; with ``gpus`` over this many."""
    return command("graph500", "--scale", str(scale), *(["--gpus", str(gpus)] if gpus else ["--engine", "cupy"]))


def large(graph="urand:27", *, sources=8) -> Iterator[Record]:
    """Generated, searched and validated on the device."""
    yield compare(load(graph, device="cuda"), num_sources=sources, engines=["cupy"]).to_dict()


def engines_table(record: Record) -> Table:
    mib = {each["engine"]: size / 2**20 for each in record["engines"] if (size := each.get("prepare_bytes"))}
    head = f"engine | median ms | range | preparation ms | MiB | GTEPS | speed-up over {record['baseline']}"
    return head, (
        [
            *(code(each["engine"]), each["median_ms"], span(each["run_ms"]), each["prepare_ms"]),
            *(mib.get(each["engine"]), each["teps_harmonic_mean"] / 1e9, each["ratio_to_baseline"]),
        ]
        for each in record["engines"]
        if each["run_ms"]
    )


def large_table(record: Record) -> Table:
    return "source | ms | GTEPS | reached | depth", (
        [run["source"], run["ms"], run["edges"] / run["ms"] / 1e6, run["reached"], run["depth"]]
        for run in record["engines"][0]["runs"]
    )


def graph500_table(record: Record) -> Table:
    times = record["construction_time"], 1e3 * record["time"]["median"], record["TEPS"]["harmonic_mean"] / 1e9
    head = "scale | roots | construction, s | median ms | harmonic mean, GTEPS | longest validation, s"
    return head, [[str(record["scale"]), len(record["roots"]), *times, max(record["validate_times"])]]


WITH_CUGRAPH, GPUS = ("GPU", "Numba-CUDA", "cuGraph"), ("GPU", "two GPUs")
WITH_RAPIDS = partial(engines, engines=ON_GPU, sources=16)
ON_TWO, ON_FOUR = partial(graph500, scale=29, gpus=2), partial(graph500, scale=30, gpus=4)
CASES = [
    Case("engines", "the CPU's engines side by side", engines, engines_table, file="rmat20"),
    Case("engines-gpu", "fourteen engines side by side", WITH_RAPIDS, engines_table, WITH_CUGRAPH, "rapids_rmat20"),
    Case("large", "a graph with more than 2**31 arcs on one device", large, large_table, ("GPU",)),
    Case("graph500", "the Graph500 benchmark on one GPU", graph500, graph500_table, ("GPU",), "graph500_26"),
    Case("graph500-gpus", "the same on two", ON_TWO, graph500_table, GPUS, "graph500_29"),
    Case("graph500-4-gpus", "and on four", ON_FOUR, graph500_table, (*GPUS, "four GPUs"), "graph500_30"),
]
