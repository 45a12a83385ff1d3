"""Pictures of comparisons, traces and searches, by Matplotlib."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from io import BytesIO
from itertools import cycle
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from .._core.arguments import quoted
from .._core.formatting import duration, graph_size, number
from .._core.optional import import_optional
from ..errors import InputError
from .drawing import (
    BLUE,
    DIRECTIONS,
    GREY,
    LINES,
    VERMILLION,
    Levels,
    LogScale,
    Record,
    by_median,
    level_times,
    speed_ups,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

HATCHES = {"top-down": None, "bottom-up": "////", None: None}
MARKERS = "os^DvPX*"
STYLES = ("-", "--", "-.", ":")
MAX_BARS = 64  # levels; more are drawn as one outline
SETTINGS = {
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "hatch.linewidth": 0.6,
    "svg.fonttype": "none",  # text stays text
}


def plot_comparison(record: Record) -> Figure:
    """Each engine's times, a dot for each search, and beside them its speed relative to the baseline.

    ``record`` is a comparison as `Comparison.to_dict` or its JSON.
    """
    ran = _some(by_median(record))[::-1]
    ratios = {row: engine["ratio_to_baseline"] for row, engine in enumerate(ran) if engine["ratio_to_baseline"]}
    with new_figure(9.6, 1.5 + 0.36 * len(ran)) as figure:
        panels = figure.subplots(1, 2 if len(ratios) > 1 else 1, sharey=True, squeeze=False)[0]
        _draw_times(panels[0], ran)
        graph = record["graph"]
        panels[0].set_title(f"{graph['name']}: {graph_size(graph['vertices'], graph['edges'])}")
        if len(panels) > 1:
            _draw_ratios(panels[1], ratios)
            panels[1].set_xlabel(f"speed relative to\n{record['baseline']} (ratio of medians)")
        for axes in panels:
            _grid(axes, "x")
            axes.tick_params(axis="y", length=0)
    return figure


def _some(shown: Any) -> Any:
    """``shown``. Raises `InputError` if it is empty."""
    if not shown:
        raise InputError("no engine ran: there is nothing to plot")
    return shown


def _grid(axes: Axes, direction: Literal["both", "x", "y"] = "both") -> None:
    """Lines behind what is drawn."""
    axes.grid(axis=direction, color="#E5E5E5")
    axes.set_axisbelow(True)


def _draw_times(axes: Axes, ran: Sequence[Record]) -> None:
    """A row for each engine, the fastest on top."""
    for row, engine in enumerate(ran):
        times = engine["run_ms"]
        colour = BLUE if engine["valid"] else VERMILLION
        axes.plot([min(times), max(times)], [row, row], color=colour, alpha=0.35, linewidth=4)
        axes.plot(times, [row] * len(times), "o", color=colour, alpha=0.5, markersize=4, markeredgewidth=0)
        axes.plot(engine["median_ms"], row, "|", color="black", markersize=15, markeredgewidth=2)
        style: dict[str, Any] = {"textcoords": "offset points", "ha": "center", "va": "bottom", "size": 8}
        axes.annotate(duration(engine["median_ms"]), (engine["median_ms"], row), (0, 6), **style)
    _log_axis(axes.xaxis, [ms for engine in ran for ms in engine["run_ms"]])
    axes.set_xlabel("time of a search (ms)\na dot is a search, the vertical line the median")
    axes.set_yticks(range(len(ran)), [engine["engine"] + ("" if engine["valid"] else " (WRONG)") for engine in ran])
    axes.set_ylim(-0.6, len(ran) - 0.4)


def _draw_ratios(axes: Axes, ratios: dict[int, float]) -> None:
    """The ratio of each row, from 1 to the right or to the left."""
    for row, ratio in ratios.items():
        axes.plot([1, ratio], [row, row], color=GREY, linewidth=1.5, zorder=1)
        axes.plot(ratio, row, "D" if ratio == 1 else "o", color=BLUE, markersize=6)
        place = max(ratio, 1), row
        axes.annotate(f"{number(ratio)} x", place, (7, 0), textcoords="offset points", va="center", size=8)
    axes.axvline(1, color="black", linewidth=0.8)
    _log_axis(axes.xaxis, [1, *ratios.values()], note=True)


def plot_sizes(comparisons: Iterable[Any]) -> Figure:
    """A Matplotlib figure: each engine's speed (millions of edges per second) against graph size, a line per engine.

    ``comparisons`` are those of graphs of several sizes, each a `Comparison` or its JSON.

    Raises `InputError` if one is neither, or no engine ran.
    """
    points: dict[str, list[tuple[int, float]]] = {}
    for record in _records(comparisons):
        for engine in record["engines"]:
            if engine["teps_harmonic_mean"]:
                speed = engine["teps_harmonic_mean"] / 1e6
                points.setdefault(engine["engine"], []).append((record["graph"]["edges"], speed))
    lines = {name: sorted(of_sizes) for name, of_sizes in _some(points).items()}
    with new_figure(7.2, 4.2) as figure:
        axes = _draw_lines(figure, lines)
        _log_axis(axes.xaxis, [edges for line in lines.values() for edges, _ in line])
        _log_axis(axes.yaxis, [speed for line in lines.values() for _, speed in line])
        axes.set_xlabel("edges of the graph")
        axes.set_ylabel("speed (millions of edges per second)")
    return figure


def plot_suite(record: Record) -> Figure:
    """The speed of each engine relative to the baseline, graph by graph, a line for each engine.

    ``record`` is a suite's comparison as `SuiteComparison.to_dict` or its JSON.
    """
    graphs = speed_ups(record)
    lines: dict[str, list[tuple[int, float]]] = {}
    for place, ratios in enumerate(graphs.values()):
        for engine, ratio in ratios.items():
            lines.setdefault(engine, []).append((place, ratio))
    with new_figure(2.4 + 0.5 * len(graphs), 4.4) as figure:
        axes = _draw_lines(figure, _some(lines))
        _log_axis(axes.yaxis, [1, *(ratio for line in lines.values() for _, ratio in line)])
        axes.set_xticks(range(len(graphs)), [name.replace("$", r"\$") for name in graphs], rotation=45, ha="right")
        axes.set_ylabel(f"speed relative to {record['baseline']} (ratio of medians)")
        axes.set_title(record["suite"])
    return figure


def _draw_lines(figure: Figure, points: dict[str, list[tuple[int, float]]]) -> Axes:
    """A line through the points of each name, with a colour, marker and dashes of its own, and a legend."""
    axes = figure.subplots()
    styles = zip(cycle(LINES), cycle(MARKERS), cycle(STYLES), strict=False)
    for (name, pairs), (colour, marker, style) in zip(points.items(), styles, strict=False):
        axes.plot(*zip(*pairs, strict=True), label=name, color=colour, marker=marker, linestyle=style)
    _grid(axes)
    figure.legend(loc="outside right upper", frameon=False)
    return axes


def _records(comparisons: Any) -> list[Record]:
    """Comparisons read from JSON. Raises `InputError` for anything else."""
    if not isinstance(comparisons, Iterable) or isinstance(comparisons, dict | str):
        raise InputError(f"plot_sizes takes a list of comparisons, not {type(comparisons).__qualname__}")
    records = [each.to_dict() if hasattr(each, "to_dict") else each for each in comparisons]
    for record in records:
        if not isinstance(record, dict) or not {"graph", "engines"} <= record.keys():
            raise InputError(f"a comparison is what compare returns, or what its to_json wrote, not {quoted(record)}")
    return records


def plot_trace(levels: Levels, engine: str | None = None) -> Figure:
    """The frontier by level, its direction coloured, and below it the time that each level took, where it is known.

    ``levels`` are as `Trace.to_columns` gives them.
    """
    if not levels["level"]:
        raise InputError("the search had no levels: there is nothing to plot")
    timed = level_times(levels)
    with new_figure(7.2, 4.6 if timed else 2.8) as figure:
        panels = figure.subplots(2 if timed else 1, 1, sharex=True, squeeze=False)[:, 0]
        _bars(panels[0], levels, levels["frontier_vertices"])
        panels[0].set_yscale("log")
        panels[0].set_ylim(bottom=0.7)
        panels[0].yaxis.set_minor_formatter(import_optional("matplotlib.ticker", "a plot").NullFormatter())
        panels[0].set_ylabel("frontier (vertices)")
        if timed:
            unit, times = timed
            _bars(panels[1], levels, times)
            panels[1].set_ylabel(f"time ({unit})")
            panels[1].set_ylim(bottom=0)
        panels[-1].set_xlabel("level")
        panels[-1].xaxis.get_major_locator().set_params(integer=True)
        if engine:
            panels[0].set_title(engine)
        for axes in panels:
            _grid(axes, "y")
        if any(levels["direction"]):
            figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper right", ncols=2, frameon=False)
    return figure


def _bars(axes: Axes, trace: Levels, heights: Sequence[float]) -> None:
    """A bar a level, in the colour and hatch of its direction; one outline for many levels."""
    levels, directions = np.array(trace["level"]), np.array(trace["direction"], object)
    for direction in dict.fromkeys(trace["direction"]):
        ours = directions == direction
        colour, hatch = DIRECTIONS[direction], HATCHES[direction]
        style: dict[str, Any] = {"facecolor": colour, "hatch": hatch, "label": direction, "linewidth": 0}
        style["edgecolor"] = "white" if hatch else colour
        if len(levels) <= MAX_BARS:
            axes.bar(levels[ours], np.array(heights)[ours], width=0.8, **style)
        else:
            edges = np.append(levels, levels[-1] + 1) - 0.5
            axes.stairs(np.where(ours, heights, 0), edges, fill=True, **style)


def _log_axis(axis: Any, values: Sequence[float], *, note: bool = False) -> None:
    """A logarithmic axis around the values, with room for a note beyond the largest if needed."""
    ticker = import_optional("matplotlib.ticker", "a plot")
    scale = LogScale(values, room=0.25) if note else LogScale(values)
    limits = 10**scale.low, 10**scale.high
    axis.axes.set(**{f"{axis.axis_name}scale": "log", f"{axis.axis_name}lim": limits})
    axis.set_major_locator(ticker.LogLocator(subs=scale.steps))
    axis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:,.10g}"))
    axis.set_minor_formatter(ticker.NullFormatter())


@contextmanager
def new_figure(width: float, height: float) -> Iterator[Figure]:
    """A figure of this size in inches, in a context in which it is drawn with our settings."""
    with import_optional("matplotlib", "a plot").rc_context(SETTINGS):
        yield _picture()(figsize=(width, height), layout="constrained", facecolor="white")


@cache
def _picture() -> Any:
    """A Matplotlib figure that shows itself in a notebook, whatever backend the notebook has set up."""

    class Picture(import_optional("matplotlib.figure", "a plot").Figure):  # type: ignore[misc]
        def _repr_png_(self) -> bytes:
            out = BytesIO()
            self.savefig(out, format="png", dpi=110)
            return out.getvalue()

    return Picture
