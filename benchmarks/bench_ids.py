"""From ids to a graph, beside `pandas.factorize` of the same ids interleaved, in turns.

    python3 benchmarks/bench_ids.py --edges 8388608 --json FILE

Times are medians of `--times`, in seconds. `far file` is a file of two lines with the ids 0 and 9999999.
"""

import argparse
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np
import pandas as pd
import pyarrow as pa
import record

from rapids_bfs import as_graph, read

EDGES = 1 << 23
VERTICES = 1 << 20
CASES = {
    "0..n-1": lambda ids: ids,
    "every third missing": lambda ids: ids + ids // 2,
    "from 10^9 on": lambda ids: ids + 10**9,
    "60 bits": lambda ids: np.random.default_rng(2).permutation(2**60 // VERTICES * np.arange(VERTICES))[ids],
    "60 bits, all different": lambda ids: np.random.default_rng(3).integers(0, 2**60, ids.shape),
    "strings": lambda ids: ids,
    "strings, all different": lambda ids: np.random.default_rng(3).integers(0, 2**60, ids.shape),
}


def seconds(action):
    began = perf_counter()
    action()
    return perf_counter() - began


def edges_and_ids(case, edges):
    """The edges as `as_graph` takes them, and all ids as pandas does."""
    sources, targets = CASES[case](np.random.default_rng(1).integers(0, VERTICES, (2, edges)))
    interleaved = np.column_stack([sources, targets]).ravel()
    if not case.startswith("strings"):
        return (sources, targets), interleaved
    table = pa.table({"u": sources, "v": targets}).cast(pa.schema({"u": pa.large_string(), "v": pa.large_string()}))
    return table, pd.array(pa.array(interleaved).cast(pa.large_string()), pd.ArrowDtype(pa.large_string()))


def measure(case, edges, times):
    given, ids = edges_and_ids(case, edges)
    rows = [(seconds(lambda: pd.factorize(ids)), seconds(lambda: as_graph(given, directed=True))) for _ in range(times)]
    factorize, graph = map(median, zip(*rows, strict=True))
    return {"case": case, "edges": edges, "factorize_s": factorize, "as_graph_s": graph}


def measure_far_files(times):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in {
            "far.el": "0 9999999\n1 2\n",
            "far.txt": "0 9999999\n1 2\n",
            "far.csv": "u,v\n0,9999999\n",
        }.items():
            path = Path(folder, name)
            path.write_text(text)
            yield {"case": name, "read_s": median(seconds(lambda path=path: read(path)) for _ in range(times))}


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--edges", type=int, default=EDGES)
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--json", type=Path, metavar="FILE")
    arguments = parser.parse_args()
    for case in CASES:
        measure(case, 1000, 1)  # compiles
    rows = []
    print(f"{'ids':26}{'factorize s':>12}{'as_graph s':>12}{'x':>7}")
    for case in CASES:
        rows.append(row := measure(case, arguments.edges, arguments.times))
        ratio = row["as_graph_s"] / row["factorize_s"]
        print(f"{case:26}{row['factorize_s']:12.3f}{row['as_graph_s']:12.3f}{ratio:7.2f}", flush=True)
    for row in measure_far_files(arguments.times):
        rows.append(row)
        print(f"{row['case']:26}{'':12}{row['read_s']:12.4f}")
    if arguments.json:
        record.write(arguments.json, {"rows": rows})


if __name__ == "__main__":
    main()
