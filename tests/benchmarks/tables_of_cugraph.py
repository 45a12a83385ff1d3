"""The tables of docs/benchmarks.md from what `bench_cugraph.py --json FILE` wrote; it needs no GPU.

python3 tests/benchmarks/tables_of_cugraph.py FILE
"""

import json
import sys
from pathlib import Path

COLUMNS = {
    "cugraph": "`cugraph.bfs`",
    "pylibcugraph": "`pylibcugraph.bfs`",
    "pylibcugraph:direction-optimizing": "direction-optimizing",
    "cupy": "engine `cupy`, prepared",
    "bfs()": "`rapids_bfs.bfs`",
    "drop-in": "`rapids_bfs.cugraph.bfs`",
}


def rows(*lines):
    """A table in Markdown; the first line is its head."""
    first, *rest = ("| " + " | ".join(line) + " |" for line in lines)
    return "\n".join([first, "|" + "---|" * len(lines[0]), *rest])


def searches(graphs):
    names = [name for name in COLUMNS if name in graphs[0]["median_ms"]]
    body = [(f"`{each['graph']}`", *(f"{each['median_ms'][name]:.3g}" for name in names)) for each in graphs]
    return rows(("median ms", *(COLUMNS[name] for name in names)), *body)


def builds(graphs):
    body = [
        (f"`{each['graph']}`", row["from"], row["what"], f"{row['median_ms']:.3g}", f"{row['peak_bytes'] / 2**30:.2f}")
        for each in graphs
        for row in each["builds"]
    ]
    return rows(("graph", "edges", "made", "ms", "peak GiB"), *body)


def main():
    report = json.loads(Path(sys.argv[1]).read_text())
    print(f"{report['card']}, {report['date']}, {report['versions']}\n")
    karate = rows(("karate", "us"), *((name, f"{us:.3g}") for name, us in report["karate_us"].items()))
    means = rows(("geometric mean", "x"), *((name, f"{mean:.1f}") for name, mean in report["geometric_means"].items()))
    print("\n\n".join((searches(report["graphs"]), means, builds(report["graphs"]), karate)))


if __name__ == "__main__":
    main()
