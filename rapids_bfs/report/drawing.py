"""What the page's charts and Matplotlib's plots share: colours, axes, and the figures of a record.

The colour-blind can tell the colours apart, and they differ in grey: M. Okabe, K. Ito, Color universal design, 2008.
Wherever a colour says something, so does a hatch, a marker or a word.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from .._core.formatting import time_unit

BLUE = "#0072B2"
ORANGE = "#E69F00"
VERMILLION = "#D55E00"
GREY = "#8C8C8C"

LINES = (BLUE, ORANGE, "#009E73", "#CC79A7", "#56B4E9", VERMILLION, "#000000", GREY)
DIRECTIONS = {"top-down": BLUE, "bottom-up": ORANGE, None: GREY}
MARGIN = 0.06  # on both sides of a logarithmic axis, as a share of its length
MIN_DECADES = 0.3  # of such an axis, when its margins are computed

Record = dict[str, Any]  # of a comparison or a suite, see `to_dict`, or of one of its engines
Levels = dict[str, list[Any]]  # a list for each field of a `Level`


class LogScale:
    """A logarithmic axis over all ``values``, with more room beyond the largest if ``room`` is more than `MARGIN`."""

    def __init__(self, values: Iterable[float], room: float = MARGIN) -> None:
        logs = [math.log10(value) for value in values]
        length = max(max(logs) - min(logs), MIN_DECADES)
        self.low, self.high = min(logs) - MARGIN * length, max(logs) + room * length
        shortest = ((2, (1,)), (1, (1, 3)), (0.4, (1, 2, 5)), (0, (1, 1.5, 2, 3, 4, 6)))
        self.steps = next(steps for decades, steps in shortest if self.high - self.low > decades)  # ticks of a decade

    def __call__(self, value: float) -> float:
        """The place of ``value`` as a percentage of the axis."""
        return round(100 * (math.log10(value) - self.low) / (self.high - self.low), 2)

    def ticks(self) -> list[float]:
        """Round numbers on the axis, few enough to be read on a phone."""
        exponents = range(math.floor(self.low), math.ceil(self.high) + 1)
        every = max(1, math.ceil((self.high - self.low) / 5))
        values = [step * 10.0**exponent for exponent in exponents if exponent % every == 0 for step in self.steps]
        return [value for value in values if self.low <= math.log10(value) <= self.high]


def by_median(record: Record) -> list[Record]:
    """The engines that ran in a comparison, the fastest first."""
    return sorted((engine for engine in record["engines"] if engine["runs"]), key=lambda each: each["median_ms"])


def compared(record: Record) -> dict[str, Record]:
    """The comparisons of a suite by graph."""
    return {row["graph"]: row["comparison"] for row in record["graphs"] if row["comparison"]}


def engines_of(record: Record) -> list[str]:
    """The engines that ran on any graph of a suite."""
    engines = (engine for graph in compared(record).values() for engine in graph["engines"])
    return list(dict.fromkeys(engine["engine"] for engine in engines if engine["runs"]))


def speed_ups(record: Record) -> dict[str, dict[str, float]]:
    """The speed-ups over the baseline of a suite, by graph and engine."""
    return {
        name: {each["engine"]: each["ratio_to_baseline"] for each in graph["engines"] if each["ratio_to_baseline"]}
        for name, graph in compared(record).items()
    }


def level_times(levels: Levels) -> tuple[str, list[float]] | None:
    """The time of each level (0 where it is unknown) and their unit, or None if none is known."""
    if all(ms is None for ms in levels["milliseconds"]):
        return None
    times = [ms or 0.0 for ms in levels["milliseconds"]]
    unit, factor = time_unit(max(times))
    return unit, [factor * ms for ms in times]
