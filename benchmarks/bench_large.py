"""A graph with more than 2**31 arcs on one device: made there, searched, validated there.

python3 benchmarks/bench_large.py urand:27 --sources 8 --json FILE
"""

import argparse
import sys
from pathlib import Path
from statistics import harmonic_mean, median
from time import perf_counter

import cupy
import record

from rapids_bfs import load, validate
from rapids_bfs._core.memory import PeakDeviceBytes
from rapids_bfs.comparison.runner import sample_sources
from rapids_bfs.engines import DEFAULT, registered


def seconds(work):
    """How long ``work()`` takes, until the device is done, and its outcome."""
    begin = perf_counter()
    outcome = work()
    cupy.cuda.Device().synchronize()
    return perf_counter() - begin, outcome


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("graph", nargs="?", default="urand:27")
    parser.add_argument("--sources", type=int, default=8)
    parser.add_argument("--json", type=Path, metavar="FILE")
    arguments = parser.parse_args()

    with PeakDeviceBytes() as peak:
        generated, graph = seconds(lambda: load(arguments.graph, device="cuda"))
    cupy.get_default_memory_pool().free_all_blocks()
    print(
        f"{graph.name}: {graph.num_vertices:,} vertices, {graph.num_arcs:,} arcs, offsets {graph.offsets.dtype};"
        f" generated in {generated:.1f} s, at most {peak.bytes / 1e9:.1f} GB at a time",
        flush=True,
    )
    prepared, traversal = seconds(lambda: registered()["cupy"].prepare(graph, "direction-optimizing"))
    sources = sample_sources(graph, arguments.sources)
    traversal.run(sources[:1])
    print(f"prepared in {prepared:.2f} s")
    print(f"{'source':>12}{'ms':>9}{'GTEPS':>9}{'reached':>14}{'depth':>7}{'validated in s':>16}")
    rows = []
    for source in sources:
        took, found = seconds(lambda source=source: traversal.search(source.reshape(1), DEFAULT))
        result = traversal.result(found, source.reshape(1), DEFAULT)
        checked, verdict = seconds(lambda result=result: validate(graph, result))
        edges = result.num_traversed_edges
        row = {"source": int(source), "ms": 1e3 * took, "edges": edges, "reached": result.num_reached}
        rows.append(row | {"depth": result.depth, "validate_s": checked, "verdict": str(verdict)})
        print(
            f"{source:12}{1e3 * took:9.2f}{edges / took / 1e9:9.1f}{result.num_reached:14,}{result.depth:7}"
            f"{checked:16.2f}  {verdict}",
            flush=True,
        )
    teps = harmonic_mean([row["edges"] / row["ms"] * 1e3 for row in rows])
    print(f"median {median(row['ms'] for row in rows):.2f} ms, harmonic mean {teps / 1e9:.1f} GTEPS")
    if arguments.json:
        content = {
            "graph": graph.name,
            "vertices": graph.num_vertices,
            "arcs": graph.num_arcs,
            "generated_s": generated,
            "generated_peak_bytes": peak.bytes,
            "prepared_s": prepared,
            "runs": rows,
        }
        record.write(arguments.json, content)
    return int(any(row["verdict"] != "valid" for row in rows))


if __name__ == "__main__":
    sys.exit(main())
