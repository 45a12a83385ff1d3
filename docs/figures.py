"""Draw the pictures of docs/index.md, how-it-works.md and decisions/beyond-one-machine.md: python docs/figures.py"""

import json
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import rapids_bfs
from rapids_bfs.report.drawing import BLUE, GREY, LINES, ORANGE

ROOT = Path(__file__).parents[1]
IMAGES = Path(__file__).parent / "images"
GREEN = "#009E73"
LIGHT = "#DDDDDD"
GRAPH500 = 1024, 16e3 * 2**41 / 410e12  # hosts, and milliseconds at 410 TTEPS

plt.switch_backend("svg")
plt.rcParams.update({"svg.hashsalt": "rapids_bfs", "font.size": 9})


def save(figure, name):
    figure.savefig(IMAGES / f"{name}.svg", metadata={"Date": None}, facecolor="white")
    plt.close(figure)


def hubs(graph):
    """For each vertex its neighbours, those with the most edges first."""
    degrees = graph.degrees
    rows = np.split(graph.targets, graph.offsets[1:-1])
    return [sorted(row.tolist(), key=lambda vertex: (-degrees[vertex], vertex)) for row in rows]


def level_from_the_bitmaps():
    """The bitmap `visited` before each level of a search of karate, and what each first probe finds there."""
    graph = rapids_bfs.load("karate")
    distances = rapids_bfs.bfs(graph, 14).distances
    hub = np.array([row[0] for row in hubs(graph)])
    vertices, levels = np.arange(graph.num_vertices), np.arange(distances.max() + 1)
    figure, axes = plt.subplots(figsize=(8, 3.6), layout="constrained")
    for level in levels:
        for vertex in vertices:
            frontier, earlier = distances[vertex] == level, distances[vertex] < level
            style = {"facecolor": ORANGE, "hatch": "////"} if frontier else {"facecolor": BLUE if earlier else "white"}
            axes.add_patch(plt.Rectangle((vertex, -1.5 * level), 1, 1, edgecolor=GREY, linewidth=0.6, **style))
        probing = vertices[distances > level]
        hits = distances[hub[probing]] <= level
        axes.scatter(probing[hits] + 0.5, [0.5 - 1.5 * level] * hits.sum(), s=22, color=GREEN)
        axes.scatter(probing[~hits] + 0.5, [0.5 - 1.5 * level] * (~hits).sum(), s=14, color=GREY, marker="x")
    axes.plot([32, 32], [1.3, -1.5 * levels[-1] - 0.3], color="black", linewidth=1, linestyle="--")
    axes.set_xlim(-0.2, len(vertices) + 0.2)
    axes.set_ylim(-1.5 * levels[-1] - 0.4, 1.4)
    axes.set_yticks(0.5 - 1.5 * levels, [f"before level {level + 1}" for level in levels])
    axes.set_xticks([0.5, 14.5, 31.5, 33.5], [0, 14, 31, 33])
    axes.set_xlabel("vertex, one bit each; the dashed line ends the first 32-bit word")
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    marks = [
        plt.Rectangle((0, 0), 1, 1, facecolor=BLUE, label="1, reached earlier"),
        plt.Rectangle((0, 0), 1, 1, facecolor=ORANGE, hatch="////", edgecolor=GREY, label="1, the frontier"),
        plt.Rectangle((0, 0), 1, 1, facecolor="white", edgecolor=GREY, label="0, not reached"),
        plt.Line2D([], [], color=GREEN, marker="o", linewidth=0, label="its hub's bit is 1"),
        plt.Line2D([], [], color=GREY, marker="x", linewidth=0, label="its hub's bit is 0"),
    ]
    figure.legend(handles=marks, loc="outside upper center", ncols=5, frameon=False)
    save(figure, "level-from-the-bitmaps")


def why_one_launch():
    """Time by level of one search, with a launch for each level and with one for all."""
    kept = json.loads((ROOT / "benchmarks/results/h200_rapids_rmat20.json").read_text())
    traces = {each["engine"]: each["trace"] for each in kept["engines"]}
    figure, axes = plt.subplots(figsize=(8, 3.2), layout="constrained")
    for shift, engine, colour, hatch, label in (
        (-0.2, "cupy:block-queue", ORANGE, "////", "block-queue: a launch for each level"),
        (0.2, "cupy", BLUE, None, "direction-optimizing: one launch for all"),
    ):
        times = [1e3 * each for each in traces[engine]["milliseconds"]]
        places = np.arange(len(times)) + shift
        axes.bar(places, times, 0.4, color=colour, hatch=hatch, edgecolor="white", label=label)
        for place, time in zip(places, times, strict=True):
            axes.annotate(f"{time:.3g}", (place, time), (0, 2), textcoords="offset points", ha="center", fontsize=8)
    edges = traces["cupy"]["frontier_edges"]
    axes.set_xticks(range(len(edges)), [f"{level + 1}\n{count:,}" for level, count in enumerate(edges)])
    axes.set_xlabel("level, and edges of its frontier")
    axes.set_ylabel("time of the level (µs)")
    axes.set_yscale("log")
    axes.set_ylim(2, 1200)
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside upper center", ncols=2, frameon=False)
    save(figure, "why-one-launch")


def what_the_hub_is():
    """Where the search of each unvisited vertex ends in the bottom-up levels: at its hub, the next four, the row."""
    graph = rapids_bfs.as_graph("rmat:16")
    distances = rapids_bfs.bfs(graph, int(np.argmax(graph.degrees == 3))).distances
    degrees, rows = graph.degrees, hubs(graph)
    figure, axes = plt.subplots(figsize=(8, 2.6), layout="constrained")
    stages = ["the hub", "the next four", "the rest of the row", "no neighbour in the frontier"]
    styles = [(BLUE, None), (ORANGE, "////"), (GREEN, ".."), (LIGHT, None)]
    levels = [3, 4]  # those that a search goes through bottom-up
    parts = np.zeros((len(levels), len(stages)))
    for line, level in enumerate(levels):
        for vertex in np.flatnonzero(((distances < 0) | (distances >= level)) & (degrees > 0)).tolist():
            hit = next((p for p, near in enumerate(rows[vertex]) if 0 <= distances[near] < level), None)
            parts[line, 3 if hit is None else 0 if hit == 0 else 1 if hit < 5 else 2] += 1
    totals = parts.sum(axis=1)
    left = np.zeros(len(levels))
    for stage, (label, (colour, hatch)) in enumerate(zip(stages, styles, strict=True)):
        share = 100 * parts[:, stage] / totals
        axes.barh(range(len(levels)), share, left=left, color=colour, hatch=hatch, edgecolor="white", label=label)
        for line in np.flatnonzero(share >= 3):
            axes.annotate(
                f"{share[line]:.0f} %",
                (left[line] + share[line] / 2, line),
                ha="center",
                va="center",
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.5},
            )
        left += share
    names = [f"level {level}\n{total:,.0f} vertices" for level, total in zip(levels, totals, strict=True)]
    axes.set_yticks(range(len(levels)), names)
    axes.invert_yaxis()
    axes.set_xlabel("unvisited vertices whose search ends at each stage (%)")
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside upper center", ncols=4, frameon=False)
    save(figure, "what-the-hub-is")


def beyond_one_machine():
    """What the model says that a search takes on 1 to 1,024 hosts, the graph growing with them."""
    kept = json.loads((ROOT / "benchmarks/results/cpu_model.json").read_text())["searches"]
    figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.8), layout="constrained")
    for colour, marker, design in zip(LINES, "osD^vP", dict.fromkeys(each["design"] for each in kept), strict=False):
        rows = [each for each in kept if each["design"] == design]
        hosts = np.array([each["gpus"] // 8 for each in rows])
        style = {"color": colour, "marker": marker, "markersize": 4, "linewidth": 1.2}
        network = np.array([each["network"] / 1e9 for each in rows])
        left.plot(hosts[network > 0], network[network > 0], **style)
        times = np.array([1e3 * each["total_s"] for each in rows])
        room = np.array([each["fits"] for each in rows])
        right.plot(hosts, times, label=design, **style)
        right.plot(hosts[~room], times[~room], color=colour, marker="x", markersize=9, linewidth=0)
    right.plot([], [], color=GREY, marker="x", markersize=9, linewidth=0, label="too large for its memory")
    right.plot(*GRAPH500, color="black", marker="*", markersize=11, linewidth=0, label="8,192 H100, scale 41 (NVIDIA)")
    left.set_ylabel("bytes from other hosts into a GPU (GB)")
    right.set_ylabel("time of a search (ms)")
    for axes in (left, right):
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.set_xticks([1, 4, 16, 64, 256, 1024], ["1\n30", "4\n32", "16\n34", "64\n36", "256\n38", "1,024\n40"])
        axes.set_xlabel("hosts of 8 GPUs, and the scale of the graph")
        axes.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside upper center", ncols=3, frameon=False)
    save(figure, "beyond-one-machine")


def engines():
    """The times of the engines' default algorithms on rmat:20, as wide as a phone."""
    ran = json.loads((ROOT / "benchmarks/results/h200_rapids_rmat20.json").read_text())["engines"]
    ran = [each for each in ran if ":" not in each["engine"]]
    figure, axes = plt.subplots(figsize=(3.7, 3.5), layout="constrained")
    for row, each in enumerate(sorted(ran, key=lambda each: each["median_ms"])):
        median = each["median_ms"]
        axes.plot(each["run_ms"], [row] * len(each["run_ms"]), "o", color=BLUE, alpha=0.3, markersize=5, linewidth=0)
        axes.plot([median, median], [row - 0.2, row + 0.2], color="black", linewidth=2)
        side = -1 if median > 50 else 1
        place = max(each["run_ms"]) if side > 0 else min(each["run_ms"])
        axes.annotate(
            f"{each['engine']}  {median:.3g} ms",
            (place, row),
            xytext=(8 * side, 0),
            textcoords="offset points",
            va="center",
            ha="left" if side > 0 else "right",
        )
    axes.set_xscale("log")
    axes.set_xlim(0.1, 500)
    axes.set_xticks([0.1, 1, 10, 100], ["0.1", "1", "10", "100"])
    axes.set_yticks([])
    axes.invert_yaxis()
    axes.grid(axis="x", color=LIGHT)
    axes.set_axisbelow(True)
    axes.set_xlabel("time of a search (ms); the line is the median")
    axes.spines[["top", "left", "right"]].set_visible(False)
    save(figure, "engines")


if __name__ == "__main__":
    engines()
    level_from_the_bitmaps()
    why_one_launch()
    what_the_hub_is()
    beyond_one_machine()
