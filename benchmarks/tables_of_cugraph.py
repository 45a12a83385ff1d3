"""The tables of README and docs/benchmarks.md from what `bench_cugraph.py --json FILE` wrote; it needs no GPU.

python3 benchmarks/tables_of_cugraph.py FILE
"""

import json
import sys
from pathlib import Path

README = ("rmat:24", "urand:24", "grid:4096")
WAYS = {
    "drop-in": "median ms",
    "bfs()": "`bfs`",
    "cupy": "prepared",
    "cugraph": "`cugraph.bfs`",
    "pylibcugraph": "`pylibcugraph.bfs`",
    "pylibcugraph:direction-optimizing": "direction-optimizing",
}
IDS = {"ids as in the lists": "ids with gaps", "all ids": "ids 0..n-1"}


def figure(value):
    """With three digits, or all before the point."""
    return f"{value:,.0f}" if value >= 1000 else f"{float(f'{value:.3g}'):g}"


def rows(*lines):
    """A table in Markdown; the first line is its head."""
    first, *rest = ("| " + " | ".join(line) + " |" for line in lines)
    return "\n".join([first, "|" + "---|" * len(lines[0]), *rest])


def best_of_pylibcugraph(found):
    return min(ms for way, ms in found.items() if way.startswith("pylibcugraph"))


def short(graphs):
    """README's."""
    body = [
        (f"`{each['graph']}`", *map(figure, (found["drop-in"], found["cugraph"], best_of_pylibcugraph(found))))
        for each in graphs
        if each["graph"] in README
        for found in [each["median_ms"]]
    ]
    return rows(("graph", "median ms", "`cugraph.bfs`", "best pylibcugraph"), *body)


def whole(graphs):
    body = []
    for each in graphs:
        found = each["median_ms"]
        ratios = (found["cugraph"] / found["drop-in"], best_of_pylibcugraph(found) / found["drop-in"])
        times = (figure(found[way]) for way in WAYS)
        body.append((f"`{each['graph']}`", each["ids"], *times, *(f"{ratio:.1f}" for ratio in ratios)))
    return rows(("graph", "ids", *WAYS.values(), "speed-up over cugraph", "over pylibcugraph"), *body)


def means(found):
    body = [(IDS.get(name, name), *(f"{mean:.1f}" for mean in each.values())) for name, each in found.items()]
    return rows(("geometric means", *next(iter(found.values()))), *body)


def builds(graphs):
    body = [
        (f"`{each['graph']}`", row["edges"], row["what"], figure(row["median_ms"]), f"{row['peak_bytes'] / 2**30:.1f}")
        for each in graphs
        for row in each["builds"]
    ]
    return rows(("graph", "edges", "made", "ms", "peak GiB"), *body)


def main():
    for kind, report in json.loads(Path(sys.argv[1]).read_text()).items():
        print(f"## {kind}: {report['card']}, {report['date']}, {report['versions']}\n")
        if kind.startswith("builds"):
            print(builds(report["graphs"]), end="\n\n")
            continue
        karate = rows(("karate", "us"), *((name, figure(us)) for name, us in report["karate_us"].items()))
        tables = short(report["graphs"]), whole(report["graphs"]), means(report["geometric_means"]), karate
        print("\n\n".join(tables), end="\n\n")


if __name__ == "__main__":
    main()
