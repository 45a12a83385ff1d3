"""The record of a search, level by level."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ._core.cuda.arrays import to_host
from ._core.formatting import counted
from .graph import Graph

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from .report.console import FittingTable


class Step(NamedTuple):
    """The direction and the time of a level."""

    direction: str | None = None  # "top-down" or "bottom-up"
    milliseconds: float | None = None  # from the launch until the host saw that the level was done


def steps_noted(notes: np.ndarray, ticks_per_ms: float = 1e6) -> list[Step]:
    """Steps from the trace of a kernel (levels + 1): the time at which the search began, then those at which each level
    ended, times two, plus one if the level was bottom-up."""
    milliseconds = (np.diff(notes >> 1) / ticks_per_ms).tolist()
    directions = np.where(notes[1:] & 1, "bottom-up", "top-down").tolist()
    return [Step(*step) for step in zip(directions, milliseconds, strict=True)]


def expansions(depth: int, stopped_at: int | None) -> int:
    """The number of frontiers that a search expanded. It found vertices up to distance ``depth``; a limit or a target
    ended it at distance ``stopped_at``, None if neither did."""
    return depth + (stopped_at is None or depth < stopped_at)


class Level(NamedTuple):
    """A level of a search: the frontier that it expanded and what it reached."""

    level: int
    frontier_vertices: int
    frontier_edges: int  # out-edges of the frontier
    newly_reached: int
    direction: str | None  # None where the engine does not say
    milliseconds: float | None


class Trace(Sequence[Level]):
    """The levels of a search, from 1 on: a sequence of `Level`, a table in a terminal, a frame, records for JSON.

    Every expansion of a frontier is a level. So the last one reaches nothing, unless a depth limit or a target ended
    the search earlier. ``engine`` is the engine of the search, None if unknown.

    For a graph distributed over CPUs, ``bytes_sent[i][rank]`` is how many bytes a rank sent to the others in the i-th
    level, and ``bytes_needed[i][rank]`` how many the algorithm needs: a vertex and its parent, or without predecessors
    the vertex alone, for each that the rank newly sees and another owns; a bit for each vertex of its own to each rank
    that a level bottom-up looks it up; and the counters. The rest frames messages. Elsewhere both are None.
    """

    def __init__(self, levels: Sequence[Level], engine: str | None = None) -> None:
        self._levels = tuple(levels)
        self.engine = engine
        self.bytes_sent: list[list[int]] | None = None
        self.bytes_needed: list[list[int]] | None = None

    @classmethod
    def of(
        cls, graph: Graph, distances: np.ndarray, steps: Sequence[Step] | None, stopped_at: int | None = None
    ) -> Trace:
        """The trace of the search that gave ``distances``, with a level for each of its ``steps``.

        The distances give the frontiers. Without steps there is a level for each expanded frontier: for all but that at
        ``stopped_at``, the distance at which a limit or a target ended the search.
        """
        reached = distances >= 0
        at = distances[reached]
        degrees = graph.degrees[reached].astype(np.float64)
        vertices, edges = to_host(np.bincount(at, minlength=1)), to_host(np.bincount(at, weights=degrees, minlength=1))
        return cls.of_counts(np.stack([vertices, edges]), steps, stopped_at)

    @classmethod
    def of_counts(cls, counts: np.ndarray, steps: Sequence[Step] | None, stopped_at: int | None = None) -> Trace:
        """The same from ``counts[2, depth + 1]``: the vertices at each distance and, in the second row, their
        out-edges."""
        depth = counts.shape[1] - 1
        steps = [Step()] * expansions(depth, stopped_at) if steps is None else steps
        vertices, edges = np.zeros((2, len(steps) + 1), np.int64)
        vertices[: depth + 1], edges[: depth + 1] = counts
        return cls(
            [
                Level(level, int(vertices[level - 1]), int(edges[level - 1]), int(vertices[level]), *step)
                for level, step in enumerate(steps, start=1)
            ]
        )

    def __repr__(self) -> str:
        by = f" by {self.engine}" if self.engine else ""
        return f"<Trace of {counted(len(self), 'level')}{by}>"

    def _repr_html_(self) -> str:
        from .report.table import trace_html

        return trace_html(self.to_columns(), repr(self).strip("<>"))

    def __len__(self) -> int:
        return len(self._levels)

    def __getitem__(self, index: Any) -> Any:
        return self._levels[index]

    def __iter__(self) -> Iterator[Level]:
        return iter(self._levels)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Trace) and self._levels == other._levels

    __hash__ = None  # type: ignore[assignment]

    def to_records(self) -> list[dict[str, Any]]:
        """A dict for each level, fit for JSON."""
        return [level._asdict() for level in self]

    def to_columns(self) -> dict[str, list[Any]]:
        """A list for each field of `Level`, fit for JSON, and much smaller than the records."""
        return {field: [getattr(level, field) for level in self] for field in Level._fields}

    def plot(self) -> Figure:
        """A Matplotlib figure of the frontier by level, coloured by direction, and of the time of each level."""
        from .report.plots import plot_trace

        return plot_trace(self.to_columns(), self.engine)

    def to_frame(self) -> pd.DataFrame:
        """A pandas frame with a row for each level."""
        import pandas as pd

        return pd.DataFrame(self._levels, columns=list(Level._fields))

    def __rich__(self) -> FittingTable:
        from .report.table import trace_table

        return trace_table(self.to_columns())
