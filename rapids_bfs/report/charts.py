"""Charts of the report page, as HTML with inline SVG.

Places along the page are percentages and text is HTML, so a chart takes any width without its text shrinking. Colours
are CSS variables of `page.css`, so it follows light and dark.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from .._core.formatting import duration, number
from .drawing import LINES, Levels, LogScale, Record, level_times

MAX_DOTS = 200  # searches of an engine that are drawn one by one
MAX_BARS = 120  # of a chart; with more levels a bar is the highest of several
BAR_CHART = 110  # height in pixels
STRIP = 24
SHAPES = (  # paths around the origin, for the same marks as `plots.MARKERS`
    *(
        "M-5,0a5,5 0 1,0 10,0a5,5 0 1,0 -10,0",
        "M-4.4,-4.4h8.8v8.8h-8.8z",
        "M0,-5.5L5,4H-5z",
        "M0,-5.8L5.8,0L0,5.8L-5.8,0z",
    ),
    *("M0,5.5L5,-4H-5z", "M-1.8,-5.5h3.6v3.7h3.7v3.6h-3.7v3.7h-3.6v-3.7h-3.7v-3.6h3.7z"),
    *("M-5,-2.5L-2.5,-5L0,-2.5L2.5,-5L5,-2.5L2.5,0L5,2.5L2.5,5L0,2.5L-2.5,5L-5,2.5L-2.5,0z", "M-1.5,-6h3v12h-3z"),
)


def time_chart(engines: Sequence[Record]) -> str:
    """A row for each engine: a dot for each search, a bar from the fastest to the slowest, and the median."""
    scale = LogScale(ms for engine in engines for ms in engine["run_ms"])
    rows = []
    for engine in engines:
        times = engine["run_ms"]
        low, middle, high = min(times), engine["median_ms"], max(times)
        marks = [f'<rect class="range" x="{scale(low)}%" y="9" width="{scale(high) - scale(low):.2f}%" height="6"/>']
        if len(times) <= MAX_DOTS:
            marks += [
                f'<circle class="dot" cx="{scale(ms)}%" cy="12" r="3"><title>source {escape(str(source))}:'
                f" {duration(ms)}</title></circle>"
                for source, ms in zip(engine["sources"], times, strict=True)
            ]
        marks.append(_line("median", scale, middle, 2, 22))
        label = f"median {duration(middle)}, {duration(low)} to {duration(high)}"
        rows.append(_row(engine["engine"], label, scale, marks, duration(middle), valid=engine["valid"]))
    return _rows(rows, scale, "time of a search (ms); a dot is a search, the vertical line the median")


def ratio_chart(engines: Sequence[Record], baseline: str) -> str:
    """A row for each engine: its speed relative to the baseline."""
    scale = LogScale([1, *(engine["ratio_to_baseline"] for engine in engines)])
    rows = []
    for engine in engines:
        ratio = engine["ratio_to_baseline"]
        left, right = sorted((scale(1), scale(ratio)))
        marks = [
            f'<rect class="ratio" x="{left}%" y="8" width="{right - left:.2f}%" height="8"/>',
            f'<circle class="end" cx="{scale(ratio)}%" cy="12" r="5"/>',
            _line("median", scale, 1),
        ]
        label = f"{number(ratio)} times as fast as {baseline}"
        rows.append(_row(engine["engine"], label, scale, marks, f"{number(ratio)} x", valid=engine["valid"]))
    return _rows(rows, scale, f"speed relative to {escape(baseline)} (ratio of medians)")


def speed_up_chart(graphs: dict[str, dict[str, float]], engines: Sequence[str], baseline: str) -> str:
    """A row for each graph: the speed of each engine relative to the baseline, a shape and colour for each."""
    scale = LogScale([1, *(ratio for ratios in graphs.values() for ratio in ratios.values())])
    shapes = {engine: _shape(place) for place, engine in enumerate(engines)}
    rows = []
    for graph, ratios in graphs.items():
        marks = [_line("median", scale, 1)] + [
            f'<svg x="{scale(ratio)}%" y="12" width="1" height="1" overflow="visible">{shapes[engine]}'
            f"<title>{escape(engine)}: {number(ratio)} x</title></svg>"
            for engine, ratio in ratios.items()
        ]
        label = ", ".join(f"{engine} {number(ratio)}" for engine, ratio in ratios.items())
        rows.append(_row(graph, label, scale, marks, f"{number(max(ratios.values()))} x"))
    keys = "".join(
        f'<span class="key"><svg class="shape" viewBox="-6 -6 12 12">{shape}</svg>{escape(engine)}</span>'
        for engine, shape in shapes.items()
    )
    unit = f"speed relative to {escape(baseline)} (ratio of medians); beside a graph the largest"
    return f"<p>{keys}</p>{_rows(rows, scale, unit)}"


def _shape(place: int) -> str:
    """The mark of the engine at this place: of its own shape and colour, around the origin."""
    colour = LINES[place % len(LINES)]
    colour = "var(--ink)" if colour == "#000000" else colour  # black is the paper's colour on a dark screen
    return f'<path class="shape" style="--colour:{colour}" d="{SHAPES[place % len(SHAPES)]}"/>'


def _line(kind: str, scale: LogScale, value: float, top: int = 0, bottom: int = STRIP) -> str:
    """A vertical line through a row."""
    return f'<line class="{kind}" x1="{scale(value)}%" x2="{scale(value)}%" y1="{top}" y2="{bottom}"/>'


def _row(name: str, label: str, scale: LogScale, marks: list[str], value: str, valid: bool = True) -> str:
    grid = [_line("grid", scale, tick) for tick in scale.ticks()]
    return (
        f'<div class="row{"" if valid else " wrong"}"><div class="name">{escape(name)}</div><svg height="{STRIP}"'
        f' role="img" aria-label="{escape(name)}: {escape(label)}">{"".join(grid + marks)}</svg>'
        f'<div class="value">{escape(value)}</div></div>\n'
    )


def _rows(rows: list[str], scale: LogScale, unit: str) -> str:
    ticks = "".join(f'<span style="left:{scale(tick)}%">{tick:g}</span>' for tick in scale.ticks())
    return (
        f'<div class="rows">{"".join(rows)}'
        f'<div class="row axis"><div></div><div class="ticks">{ticks}</div><div></div></div>'
        f'<p class="unit">{unit}</p></div>'
    )


def level_charts(trace: Levels, label: str) -> str:
    """The frontier by level and, if known, the time of each level."""
    charts = [_bars(trace, trace["frontier_vertices"], "frontier (vertices)", label, logarithmic=True)]
    if timed := level_times(trace):
        unit, times = timed
        charts.append(_bars(trace, times, f"time ({unit})", label, logarithmic=False))
    return f'<div class="charts">{"".join(charts)}</div>'


def _bars(trace: Levels, values: Sequence[float], unit: str, label: str, *, logarithmic: bool) -> str:
    """A bar for each level; ``label`` names their engine or graph."""
    levels = trace["level"]
    each = math.ceil(len(levels) / MAX_BARS)
    top = max(values) or 1
    bars = []
    for start in range(0, len(levels), each):
        place = max(range(start, min(start + each, len(levels))), key=values.__getitem__)
        value, direction = values[place], trace["direction"][place]
        part = math.log10(2 * value) / math.log10(2 * top) if logarithmic and value else value / top
        height = max(part * BAR_CHART, 1)
        width = 100 * min(each, len(levels) - start) / len(levels)
        bars.append(
            f'<rect class="{direction or "level"}" x="{100 * (start + 0.08 * each) / len(levels):.2f}%"'
            f' y="{BAR_CHART - height:.1f}" width="{0.84 * width:.2f}%" height="{height:.1f}">'
            f"<title>level {levels[place]}: {_plain(value)}{f', {direction}' if direction else ''}</title></rect>"
        )
    shown = range(0, len(levels), max(1, math.ceil(len(levels) / 8)))
    ticks = "".join(f'<span style="left:{100 * (at + 0.5) / len(levels):.2f}%">{levels[at]}</span>' for at in shown)
    many = f"; a bar is the highest of {each} levels" if each > 1 else ""
    scaled = ", logarithmic" if logarithmic else ""
    return (
        f'<figure><figcaption>{unit}{scaled}{many}</figcaption><div class="top">{_plain(top)}</div>'
        f'<svg height="{BAR_CHART}" role="img" aria-label="{unit} by level, {escape(label)}">{"".join(bars)}</svg>'
        f'<div class="ticks">{ticks}</div><div class="unit">level</div></figure>'
    )


def _plain(value: float) -> str:
    """A count with all its digits, a measurement with three."""
    return f"{value:,}" if isinstance(value, int) else number(value)
