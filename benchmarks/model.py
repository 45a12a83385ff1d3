"""A model of a search on more hosts than we have: bytes and messages counted over simulated ranks, extrapolated, and
divided by the rates in `rates.toml`."""

import tomllib
from collections.abc import Iterator, Sequence
from math import ceil, exp, isqrt, log, log2
from pathlib import Path
from typing import NamedTuple

import numpy as np

from rapids_bfs import InputError

from .cases import Case, say
from .counted import BOTH_DIRECTIONS, ROWS, TOP_DOWN, TWO_DIMENSIONS, runs
from .record import RESULTS, Record, read
from .tables import Table, code, figure, span

RATES = Path(__file__).with_name("rates.toml")
EDGE_FACTOR, HOST = 16, 8  # edges a vertex, GPUs a host
MAX_PER_VERTEX = 2 * EDGE_FACTOR  # of any figure: a pair for each arc
ID = 4  # bytes when counted; twice as many from 2**31 vertices on
ARC, VERTEX = 8, 68  # bytes of memory, see the guide's limits
SMALLEST, LARGEST = 30, 40  # scales, on 1 to 1,024 hosts
FITTED = {  # a figure of searches in one way, and whether it has a trend; the others depend on where directions change
    "pairs, top-down, by rows": ("pairs", TOP_DOWN, ROWS, True),
    "pairs, top-down, by rows of 8,192 ranks": ("spread", TOP_DOWN, ROWS, True),
    "pairs, top-down, in two dimensions": ("pairs", TOP_DOWN, TWO_DIMENSIONS, True),
    "vertices reached": ("reached", TOP_DOWN, ROWS, True),
    "levels": ("levels", BOTH_DIRECTIONS, ROWS, False),
    "bottom-up levels": ("bottom-up", BOTH_DIRECTIONS, ROWS, False),
    "pairs by rows": ("pairs", BOTH_DIRECTIONS, ROWS, False),
    "pairs in two dimensions": ("pairs", BOTH_DIRECTIONS, TWO_DIMENSIONS, False),
    "parents in two dimensions": ("parents", BOTH_DIRECTIONS, TWO_DIMENSIONS, False),
}


class Design(NamedTuple):
    """A way to search. ``domain`` GPUs share NVLink. Either the host drives levels through NCCL, or kernels do. Bitmaps
    are of all vertices or, if ``compact``, of those with edges."""

    name: str
    partitioning: str
    domain: int = HOST
    kernels: bool = True
    compact: bool = False


NCCL, WINDOWS = Design("rows, NCCL", ROWS, kernels=False), Design("rows, windows in a host", ROWS)
GRID = Design("two dimensions, compact", TWO_DIMENSIONS, compact=True)
RACK = Design("rows, windows in an NVL72", ROWS, 72)
RACKS = Design("two dimensions of NVL72, compact", TWO_DIMENSIONS, 72, compact=True)
DESIGNS = NCCL, WINDOWS, Design("two dimensions", TWO_DIMENSIONS), GRID, RACK, RACKS
HOSTS = 1, 4, 16, 64, 256, 1024


def sources() -> Record:
    return tomllib.loads(RATES.read_text())


def medians_s(file: str) -> dict[tuple[str, str], float]:
    """The seconds of each graph by each transport in a result of `several-gpus`."""
    graphs = read(RESULTS / file)["graphs"]
    return {
        (each["graph"], name): run["median_ms"] / 1e3 for each in graphs for name, run in each["transports"].items()
    }


def rates() -> dict[str, float]:
    """The value of each rate; one that names a result is computed from it."""
    return {
        name: each["value"] if "value" in each else medians_s(each["result"])[*each["row"]] / each["per"]
        for name, each in sources().items()
    }


def summed(run: Record) -> Record:
    """The counts of a search per vertex: pairs that ranks sent, top-down and for parents bottom-up, and frontier
    entries for each rank of a column; and its levels, and the bitmaps that each rank gathered."""
    kind, _, scale = run["graph"].partition(":")
    n, side = 1 << int(scale), run["ranks"] ** 0.5
    sent = {"pairs": 0, "fold": 0, "expand": 0, "parents": 0} | {name: sum(each) for name, each in run["sent"].items()}
    others = (run["ranks"] if run["partitioning"] == ROWS else side) - 1
    return {name: run[name] for name in ("ranks", "way", "partitioning", "source")} | {
        **{"kind": kind, "scale": int(scale), "levels": len(run["directions"])},
        **{"bottom-up": run["directions"].count("bottom-up"), "bitmaps": 8 * sent.get("bitmap", 0) / n / others},
        **{"pairs": (sent["pairs"] + sent["fold"]) / n / ID / 2, "frontier": sent["expand"] / n / ID / side},
        **{"parents": sent["parents"] / n / ID / 2},
        **{"reached": run["reached"] / n, "spread": run["spread"] / n},
    }


def means(rows: Sequence[Record], what: str, **wanted: object) -> dict[int, float]:
    """The mean of a figure by scale, over the rows with the wanted values on the most ranks."""
    wanted["ranks"] = max(row["ranks"] for row in rows)
    chosen = [row for row in rows if wanted.items() <= row.items()]
    scales = sorted({row["scale"] for row in chosen})
    return {scale: float(np.mean([row[what] for row in chosen if row["scale"] == scale])) for scale in scales}


def fits(rows: Sequence[Record]) -> list[Record]:
    """Each figure fitted to all scales but the largest, beside the count there: the exponential of a line if it has a
    trend, else the mean."""
    found = []
    for kind in dict.fromkeys(row["kind"] for row in rows):
        for name, (what, way, partitioning, trend) in FITTED.items():
            by_scale = means(rows, what, kind=kind, way=way, partitioning=partitioning)
            *known, last = by_scale
            values = [by_scale[scale] for scale in known]
            line = np.polyfit(known, np.log(values), 1) if trend else [log(np.mean(values))]
            scales = last, *range(SMALLEST, LARGEST + 1)
            at = {str(scale): min(exp(np.polyval(line, scale)), MAX_PER_VERTEX) for scale in scales}
            found.append({"kind": kind, "figure": name, "means": list(by_scale.values()), "at": at})
            found[-1] |= {"scales": list(by_scale), "fitted": at[str(last)]}
    return found


def shape(rows: Sequence[Record], found: Sequence[Record], partitioning: str, scale: int) -> dict[str, float]:
    """The mean figures of searches of rmat in both directions, and the share of vertices with edges."""
    names = ("levels", "bottom-up", "bitmaps", "pairs", "frontier")
    wanted = {"kind": "rmat", "way": BOTH_DIRECTIONS, "partitioning": partitioning}
    reached = next(each["at"] for each in found if (each["kind"], each["figure"]) == ("rmat", "vertices reached"))
    mean = {name: float(np.mean(list(means(rows, name, **wanted).values()))) for name in names}
    return mean | {"with edges": reached.get(str(scale), 1.0)}


class Moved(NamedTuple):
    """What a GPU receives and waits for in a search: bytes from other domains and from its own; messages of a level
    top-down and bottom-up; seconds that messages wait for each other; and the bytes of the bitmap that it tests."""

    network: float
    nvlink: float
    messages: tuple[float, float]
    chained_s: float
    bitmap: float


def by_rows(design: Design, gpus: int, pairs: float, bits: float, each: dict[str, float], rate: Record) -> Moved:
    """A domain receives each bitmap once, through all of its network cards."""
    g, domains = min(design.domain, gpus), ceil(gpus / design.domain)
    away, gathered, pairs = 1 - 1 / domains, each["bitmaps"] * bits, each["pairs"] * pairs
    network, nvlink = gathered / g * away + pairs * away, gathered * (1 - 1 / g) + pairs * (1 - away)
    if design.kernels:  # the k-th GPU of a domain receives from the k-th of others
        return Moved(network, nvlink, (domains - 1, domains - 1), 0.0, bits)
    ring = (gpus - domains) * rate["ring_nvlink_s"] + (domains - 1) * rate["ring_network_s"]
    return Moved(network, nvlink, (gpus - 1, 0), each["bitmaps"] * ring, bits)


def by_grid(design: Design, gpus: int, pairs: float, bits: float, each: dict[str, float], rate: Record) -> Moved:
    """Rows of the grid are whole domains, as many as move the fewest bytes over the network."""
    g = min(design.domain, gpus)

    def moved(width: int) -> Moved:
        height, away = max(gpus / width, 1.0), 1 - g / width
        expanded = each["bottom-up"] * bits / width + each["frontier"] * pairs / 2 * height
        rotated = each["bottom-up"] * bits / height  # by the GPU at the end of a domain, through its card
        rest = (each["with edges"] + each["pairs"]) * pairs  # at most one parent for each vertex
        network = expanded * (1 - 1 / height) + (rotated if away else 0.0) + rest * away
        waits = each["bottom-up"] * (width / g - 1) * rate["network_s"]
        messages = height + width - 2, height + 2 * width - 3
        return Moved(network, rotated + rest * (1 - away), messages, waits, bits / width)

    return min((moved(g * count) for count in range(1, ceil(gpus / g) + 1)), key=lambda each: each.network)


def cost(design: Design, scale: int, gpus: int, each: dict[str, float], rate: dict[str, float]) -> Record:
    """Bytes, messages, seconds and memory of a GPU in a search; ``each`` is the `shape` of a search."""
    own, rack = 2.0**scale / gpus, design.domain > HOST
    bits = 2.0**scale / 8 * (each["with edges"] if design.compact else 1)
    move = by_rows if design.partitioning == ROWS else by_grid
    moved = move(design, gpus, own * 2 * ID * (2 if scale > 30 else 1), bits, each, rate)
    down, up = moved.messages if gpus > design.domain else (0, 0)
    messages = (each["levels"] - each["bottom-up"]) * down + each["bottom-up"] * up
    hops = ceil(log2(ceil(gpus / design.domain)))
    level = rate["level_one_launch_s"] + hops * rate["network_s"] if design.kernels else rate["level_nccl_s"]
    slower = rate["bits_near"] / rate["bits_far"] if moved.bitmap > rate["l2"] else 1
    seconds = {
        "computing": own * rate["vertex_s"] * slower,
        "moving": max(moved.network / rate["nic"], moved.nvlink / rate["nvlink5" if rack else "nvlink"]),
        "waiting": each["levels"] * level + messages * rate["message_s"] + moved.chained_s,
    }
    total, memory = sum(seconds.values()), own * (MAX_PER_VERTEX * ARC + VERTEX) + moved.bitmap
    facts = {"design": design.name, "scale": scale, "gpus": gpus, **moved._asdict(), "seconds": seconds}
    facts |= {"total_s": total, "TEPS": EDGE_FACTOR * 2.0**scale / total, "memory": memory}
    return facts | {"fits": memory <= rate["memory_gb200" if rack else "memory_h200"]}


def consequences(rows: Sequence[Record]) -> Record:
    """The results of the model: the fits, and searches by every design as the graph grows with the machine, by two
    designs on any number of hosts, on two GPUs, and in one rack."""
    rate, found, scales = rates(), fits(rows), range(SMALLEST, LARGEST + 1)

    def costs(design: Design, scale: int, gpus: int) -> Record:
        return cost(design, scale, gpus, shape(rows, found, design.partitioning, scale), rate)

    def brief(design: Design, scale: int, hosts: int) -> Record:
        each = costs(design, scale, HOST * hosts)
        return {"total_s": each["total_s"], "fits": each["fits"]}

    return {
        **{"rates": rate, "fits": found, "one rack": costs(RACK, 35, RACK.domain)},
        "searches": [costs(design, scale, HOST << (scale - SMALLEST)) for scale in scales for design in DESIGNS],
        "any hosts": {
            str(scale): [[brief(design, scale, hosts) for design in (WINDOWS, GRID)] for hosts in HOSTS]
            for scale in scales[::2]
        },
        "two GPUs": [costs(design, scale, 2) for scale in (24, 26, 28) for design in (WINDOWS, NCCL)],
    }


def model(*, largest=18, ranks=64, sources=3) -> Iterator[Record]:
    """Count at five scales of rmat and urand, on a quarter of the ranks and on all, and apply the model to the counts;
    for two GPUs it is compared with measurements."""
    if (side := isqrt(ranks)) ** 2 != ranks or side % 2 or side < 4:
        raise InputError(f"the number of ranks must be the square of an even number from 4 on, as 64 is, not {ranks}")
    rows: list[Record] = []
    examples: list[Record] = []
    for kind in ("urand", "rmat"):
        for scale in range(largest - 4, largest + 1):
            say(f"{kind}:{scale}")
            counted = list(runs(f"{kind}:{scale}", (ranks // 4, ranks), sources))
            rows += map(summed, counted)
            examples = [run for run in counted if run["ranks"] == ranks and run["source"] == counted[0]["source"]]
    yield {"examples": examples, **consequences(rows), "rows": rows}


def searches_table(record: Record) -> Table:
    head = "scale, hosts | design | from other hosts, GB | over NVLink, GB | messages a level, down; up"
    return f"{head} | computing, moving, waiting, ms | in all, ms | TTEPS | memory, GB", (
        [
            *(f"{each['scale']}, {figure(each['gpus'] // HOST)}", each["design"], each["network"] / 1e9),
            *(each["nvlink"] / 1e9, "; ".join(figure(round(count)) for count in each["messages"])),
            *("; ".join(figure(1e3 * part) for part in each["seconds"].values()), 1e3 * each["total_s"]),
            *(each["TEPS"] / 1e12, figure(each["memory"] / 1e9) + ("" if each["fits"] else ": too much")),
        ]
        for each in record["searches"]
        if each["scale"] in (SMALLEST, 35, LARGEST)
    )


def hosts_table(record: Record) -> Table:
    """Milliseconds by rows with windows within a host, and in two dimensions."""

    def cell(costs: Sequence[Record]) -> str:
        times = [figure(1e3 * each["total_s"]) if each["fits"] else "no room" for each in costs]
        return "; ".join(dict.fromkeys(times))

    return "scale | hosts: " + " | ".join(map(figure, HOSTS)), (
        [scale, *map(cell, by_hosts)] for scale, by_hosts in record["any hosts"].items()
    )


def levels_table(record: Record) -> Table:
    return "way | partitioning | level | kB of all ranks by kind | of the busiest, kB | messages of a rank", (
        [
            *(run["way"], run["partitioning"], f"{level + 1}, {direction}"),
            ", ".join(f"{kind} {figure(each[level] / 1e3)}" for kind, each in run["sent"].items() if each[level]),
            *(run["busiest"][level] / 1e3, run["messages"][level]),
        ]
        for run in record["examples"]
        for level, direction in enumerate(run["directions"])
    )


def fits_table(record: Record) -> Table:
    return "graphs | figure | means by scale | fitted for the largest | counted there | error, % | at scale 40", (
        [
            *(code(each["kind"]), each["figure"], span(each["means"]), each["fitted"], each["means"][-1]),
            *(100 * abs(each["fitted"] / each["means"][-1] - 1), each["at"][str(LARGEST)]),
        ]
        for each in record["fits"]
    )


def two_gpus_table(record: Record) -> Table:
    measured = medians_s(sources()["vertex_s"]["result"])
    modelled = {(each["scale"], each["design"]): each["total_s"] for each in record["two GPUs"]}
    ways = {"one launch": WINDOWS.name, "NCCL": NCCL.name}
    return "graph | one launch, ms | by the model | NCCL, ms | by the model", (
        [code(graph := f"rmat:{scale}")]
        + [1e3 * each for way in ways for each in (measured[f"{graph}:16", way], modelled[scale, ways[way]])]
        for scale in dict.fromkeys(scale for scale, _ in modelled)
    )


def rates_table(record: Record) -> Table:
    return "rate | value | what | source | seen", (
        [code(name), f"{record['rates'][name]:.3g}", each["what"], each["source"], each["seen"]]
        for name, each in sources().items()
    )


MORE = {"model-hosts": hosts_table, "model-levels": levels_table, "model-fits": fits_table}
MORE |= {"model-two": two_gpus_table, "model-rates": rates_table}
CASES = [Case("model", "searches on up to 1,024 hosts, from counts", model, searches_table, more_tables=MORE)]
