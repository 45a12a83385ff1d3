"""Tables of a suite's comparison, given as `SuiteComparison.to_dict`: a graph a row, an engine a column."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from statistics import median
from typing import Any

from rich.console import Group
from rich.text import Text

from .._core import notebook
from .._core.formatting import counted, number
from .console import NOTE, FittingTable, line
from .table import BEST, SIMULATED, Record, Section, wrong_answers

WRONG, NONE = "bold red", "-"
HIDDEN = 2  # of the sections, that a narrow terminal shows only if it is asked to
KINDS = {True: "directed", False: "undirected"}


def suite_table(record: Record, *, everything: bool = True, hint: str = "") -> Group:
    """The tables, one below the other, then what went wrong. ``everything``: not the most important ones alone."""
    sections = suite_sections(record)
    shown = sections if everything else sections[:HIDDEN]
    parts: list[Any] = [line(suite_title(record), "italic")]
    for section in shown:
        parts += [line(section.title, "bold"), FittingTable(section.columns, section.rows)]
    if hidden := sections[len(shown) :]:
        parts.append(line(f"Hidden{hint}: {', '.join(section.title for section in hidden)}", "dim"))
    return Group(*parts, *(Text(note, style) for note, style in suite_notes(record)))


def suite_html(record: Record) -> str:
    """The same for a notebook."""
    tables = [notebook.table(section.rows, section.columns, section.title) for section in suite_sections(record)]
    notes = [f"<p>{notebook.text(note)}</p>" for note, _ in suite_notes(record)]
    return "\n".join([f"<p>{notebook.text(suite_title(record))}</p>", *tables, *notes])


def suite_title(record: Record) -> str:
    """What was compared: ``synthetic: 12 graphs, 16 sources each``."""
    graphs = compared(record)
    sources = max((len(engine["runs"]) for graph in graphs.values() for engine in graph["engines"]), default=0)
    title = f"{record['suite']}: {counted(len(graphs), 'graph')}"
    if sources:
        title += f", {counted(sources, 'source')} each"
    return f"{title}; {SIMULATED}" if any(graph.get("simulated") for graph in graphs.values()) else title


def compared(record: Record) -> dict[str, Record]:
    """The comparisons by graph."""
    return {row["graph"]: row["comparison"] for row in record["graphs"] if row["comparison"]}


def engines_of(record: Record) -> list[str]:
    """The engines that ran on any graph."""
    return list(
        dict.fromkeys(
            engine["engine"] for graph in compared(record).values() for engine in graph["engines"] if engine["runs"]
        )
    )


def suite_sections(record: Record) -> list[Section]:
    """The tables, the most important first; those that no engine has figures for are left out."""
    baseline = record["baseline"]
    ratios = _figures(record, lambda engine: engine["ratio_to_baseline"], max)
    if ratios:
        means = [number(each["speed_up"]) if each else NONE for each in _means(record)]
        ratios.append(["geometric mean", *means])
    tables = {
        "median time of a search, ms": _figures(record, lambda engine: engine["median_ms"], min),
        f"speed-up over {baseline}, ratio of medians": ratios,
        "GTEPS, harmonic mean": _figures(record, lambda engine: _giga(engine["teps_harmonic_mean"]), max),
        "preparation, ms": _figures(record, lambda engine: engine["prepare_ms"]),
        "from edges to an answer, ms": _figures(record, lambda engine: _median(engine["edges_ms"]), min),
    }
    columns = ["graph", *engines_of(record)]
    sections = [Section(title, columns, rows) for title, rows in tables.items() if rows]
    sizes: list[list[str | Text]] = [
        [
            line(name),
            f"{graph['graph']['vertices']:,}",
            f"{graph['graph']['edges']:,}",
            KINDS[graph["graph"]["directed"]],
            str(max((engine["depth"] for engine in graph["engines"] if engine["runs"]), default=NONE)),
        ]
        for name, graph in compared(record).items()
    ]
    if sizes:
        sections.append(Section("graphs", ["graph", "vertices", "edges", "direction", "largest depth"], sizes))
    return sections


def plain_table(record: Record) -> tuple[list[str], list[list[Any]]]:
    """Everything in one table, a graph a row, with plain numbers: the columns and the rows."""
    engines = engines_of(record)
    figures = {
        **{"ms": "median_ms", "teps": "teps_harmonic_mean", "speed_up": "ratio_to_baseline"},
        **{"prepare_ms": "prepare_ms", "valid": "valid"},
    }
    columns = ["graph", "vertices", "edges", "directed"]
    columns += [f"{engine} {figure}" for figure in figures for engine in engines]
    rows = []
    for row in record["graphs"]:
        graph = row["comparison"]
        found = {engine["engine"]: engine for engine in graph["engines"]} if graph else {}
        size = [graph["graph"][name] for name in columns[1:4]] if graph else [None] * 3
        cells = [found.get(engine, {}).get(field) for field in figures.values() for engine in engines]
        rows.append([row["graph"], *size, *cells, row["failed"]])
    means = {engine: mean["speed_up"] for engine, mean in record["geometric_means"].items()}
    ours = [means.get(engine) if figure == "speed_up" else None for figure in figures for engine in engines]
    return [*columns, "failed"], [*rows, ["geometric mean", *[None] * 3, *ours, None]]


def suite_notes(record: Record) -> Iterator[tuple[str, str]]:
    """What is wrong or missing, a line each, with its style."""
    for name, graph in compared(record).items():
        for engine, what in wrong_answers(graph):
            yield f"{engine} on {name}, {what}", "red"
    for row in record["graphs"]:
        if row["failed"]:
            yield f"{row['graph']}: {row['failed']}", NOTE
    for reason, (engines, graphs) in _reasons(record).items():
        where = "" if len(graphs) == len(compared(record)) else f" on {', '.join(graphs)}"
        yield f"{', '.join(engines)}{where}: {reason}", NOTE
    every = max((mean["graphs"] for mean in record["geometric_means"].values()), default=0)
    fewer = {name: mean["graphs"] for name, mean in record["geometric_means"].items() if mean["graphs"] < every}
    if fewer:
        yield (
            f"Geometric means are over {every} graphs, of "
            f"{', '.join(f'{name} over {count}' for name, count in fewer.items())}.",
            "",
        )
    if record["interrupted"]:
        yield "Interrupted: only finished searches are shown.", NOTE


def _reasons(record: Record) -> dict[str, tuple[list[str], list[str]]]:
    """Why engines did not run: by reason the engines and the graphs."""
    found: dict[str, tuple[list[str], list[str]]] = {}
    for name, graph in compared(record).items():
        for engine in graph["engines"]:
            if engine["unavailable"]:
                engines, graphs = found.setdefault(engine["unavailable"], ([], []))
                engines += [engine["engine"]] if engine["engine"] not in engines else []
                graphs += [name] if name not in graphs else []
    return found


def _figures(
    record: Record, figure: Callable[[Record], float | None], best: Callable[[Iterable[float]], float] | None = None
) -> list[list[str | Text]]:
    """A row for each graph with a figure of each engine, the ``best`` one in bold; none if there are no figures."""
    rows: list[list[str | Text]] = []
    some = False
    for row in record["graphs"]:
        graph = row["comparison"] or {"engines": []}
        found = {engine["engine"]: engine for engine in graph["engines"] if engine["runs"]}
        values = {each: figure(engine) for each, engine in found.items()}
        known = [value for each, value in values.items() if value is not None and found[each]["valid"]]
        some = some or bool(known)
        top = best(known) if best and known else None
        rows.append(
            [line(row["graph"]), *(_cell(found.get(each), values.get(each), top) for each in engines_of(record))]
        )
    return rows if some else []


def _cell(engine: Record | None, value: float | None, top: float | None) -> str | Text:
    if engine is not None and not engine["valid"]:
        return Text("WRONG", WRONG)
    if value is None:
        return NONE
    return Text(number(value), BEST if value == top else "")


def _means(record: Record) -> list[Record | None]:
    return [record["geometric_means"].get(engine) for engine in engines_of(record)]


def _giga(value: float | None) -> float | None:
    return None if value is None else value / 1e9


def _median(times: list[float]) -> float | None:
    return median(times) if times else None
