"""Charts of the report page, as HTML with inline SVG.

Places along the page are percentages and text is HTML, so a chart takes any width without its text shrinking. Colours
are CSS variables of `page.css`, so it follows light and dark.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape
from statistics import median
from typing import Any

from .._core.formatting import duration, number, time_unit
from . import palette

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


class LogScale:
    """A logarithmic axis over all ``values``; maps a value to a percentage of the width."""

    def __init__(self, values: Iterable[float]) -> None:
        logs = [math.log10(value) for value in values]
        self.low, self.high = min(logs), max(logs)
        margin = 0.04 * max(self.high - self.low, 0.3)
        self.low, self.high = self.low - margin, self.high + margin

    def __call__(self, value: float) -> float:
        return round(100 * (math.log10(value) - self.low) / (self.high - self.low), 2)

    def ticks(self) -> list[float]:
        """Round numbers on the axis, few enough to be read on a phone."""
        decades = self.high - self.low
        steps = (1,) if decades > 2 else (1, 3) if decades > 1 else (1, 2, 5) if decades > 0.4 else (1, 1.5, 2, 3, 4, 6)
        exponents = range(math.floor(self.low), math.ceil(self.high) + 1)
        every = max(1, math.ceil(decades / 5))
        values = [step * 10.0**exponent for exponent in exponents if exponent % every == 0 for step in steps]
        return [value for value in values if self.low <= math.log10(value) <= self.high]


def time_chart(engines: Sequence[dict[str, Any]]) -> str:
    """A row for each engine: a dot for each search, a bar from the fastest to the slowest, and the median."""
    scale = LogScale(ms for engine in engines for ms in engine["run_ms"])
    rows = []
    for engine in engines:
        times = engine["run_ms"]
        low, middle, high = min(times), median(times), max(times)
        label = f"median {duration(middle)}, {duration(low)} to {duration(high)}"
        marks = [f'<rect class="range" x="{scale(low)}%" y="9" width="{scale(high) - scale(low):.2f}%" height="6"/>']
        if len(times) <= MAX_DOTS:
            marks += [
                f'<circle class="dot" cx="{scale(ms)}%" cy="12" r="3"><title>source {escape(str(source))}:'
                f" {duration(ms)}</title></circle>"
                for source, ms in zip(engine["sources"], times, strict=True)
            ]
        marks.append(f'<line class="median" x1="{scale(middle)}%" x2="{scale(middle)}%" y1="2" y2="22"/>')
        rows.append(_row(engine, label, scale, marks, duration(middle)))
    return _rows(rows, scale, "time of a search (ms); a dot is a search, the vertical line the median")


def ratio_chart(engines: Sequence[dict[str, Any]], baseline: str) -> str:
    """A row for each engine: its speed relative to the baseline."""
    ratios = [engine["ratio_to_baseline"] for engine in engines]
    scale = LogScale([1, *ratios])
    rows = []
    for engine, ratio in zip(engines, ratios, strict=True):
        left, right = sorted((scale(1), scale(ratio)))
        marks = [
            f'<rect class="ratio" x="{left}%" y="8" width="{right - left:.2f}%" height="8"/>',
            f'<circle class="end" cx="{scale(ratio)}%" cy="12" r="5"/>',
            f'<line class="median" x1="{scale(1)}%" x2="{scale(1)}%" y1="0" y2="{STRIP}"/>',
        ]
        label = f"{number(ratio)} times as fast as {baseline}"
        rows.append(_row(engine, label, scale, marks, f"{number(ratio)} x"))
    return _rows(rows, scale, f"speed relative to {escape(baseline)} (ratio of medians)")


def speed_up_chart(graphs: dict[str, dict[str, float]], engines: Sequence[str], baseline: str) -> str:
    """A row for each graph: the speed of each engine relative to the baseline, a shape and colour for each."""
    scale = LogScale([1, *(ratio for ratios in graphs.values() for ratio in ratios.values())])
    shapes = {engine: _shape(place) for place, engine in enumerate(engines)}
    rows = []
    for graph, ratios in graphs.items():
        marks = [f'<line class="median" x1="{scale(1)}%" x2="{scale(1)}%" y1="0" y2="{STRIP}"/>']
        marks += [
            f'<svg x="{scale(ratio)}%" y="12" width="1" height="1" overflow="visible">{shapes[engine]}'
            f"<title>{escape(engine)}: {number(ratio)} x</title></svg>"
            for engine, ratio in ratios.items()
        ]
        label = ", ".join(f"{engine} {number(ratio)}" for engine, ratio in ratios.items())
        rows.append(_row({"engine": graph, "valid": True}, label, scale, marks, f"{number(max(ratios.values()))} x"))
    keys = "".join(
        f'<span class="key"><svg class="shape" viewBox="-6 -6 12 12">{shape}</svg>{escape(engine)}</span>'
        for engine, shape in shapes.items()
    )
    unit = f"speed relative to {escape(baseline)} (ratio of medians); beside a graph the largest"
    return f"<p>{keys}</p>{_rows(rows, scale, unit)}"


def _shape(place: int) -> str:
    """The mark of the engine at this place: of its own shape and colour, around the origin."""
    colour = palette.LINES[place % len(palette.LINES)]
    colour = "var(--ink)" if colour == "#000000" else colour  # black is the paper's colour on a dark screen
    return f'<path class="shape" style="--colour:{colour}" d="{SHAPES[place % len(SHAPES)]}"/>'


def _row(engine: dict[str, Any], label: str, scale: LogScale, marks: list[str], value: str) -> str:
    name = escape(engine["engine"])
    wrong = "" if engine["valid"] else " wrong"
    grid = [
        f'<line class="grid" x1="{scale(tick)}%" x2="{scale(tick)}%" y1="0" y2="{STRIP}"/>' for tick in scale.ticks()
    ]
    return (
        f'<div class="row{wrong}"><div class="name">{name}</div>'
        f'<svg height="{STRIP}" role="img" aria-label="{name}: {escape(label)}">{"".join(grid + marks)}</svg>'
        f'<div class="value">{escape(value)}</div></div>\n'
    )


def _rows(rows: list[str], scale: LogScale, unit: str) -> str:
    ticks = "".join(f'<span style="left:{scale(tick)}%">{tick:g}</span>' for tick in scale.ticks())
    return (
        f'<div class="rows">{"".join(rows)}'
        f'<div class="row axis"><div></div><div class="ticks">{ticks}</div><div></div></div>'
        f'<p class="unit">{unit}</p></div>'
    )


def level_charts(trace: dict[str, list[Any]], label: str) -> str:
    """The frontier by level and, if known, the time of each level."""
    charts = [_bars(trace, trace["frontier_vertices"], "frontier (vertices)", label, logarithmic=True)]
    if any(ms is not None for ms in trace["milliseconds"]):
        unit, many = time_unit(max(ms or 0 for ms in trace["milliseconds"]))
        times = [many * (ms or 0) for ms in trace["milliseconds"]]
        charts.append(_bars(trace, times, f"time ({unit})", label, logarithmic=False))
    return f'<div class="charts">{"".join(charts)}</div>'


def _bars(trace: dict[str, list[Any]], values: Sequence[float], unit: str, label: str, *, logarithmic: bool) -> str:
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
