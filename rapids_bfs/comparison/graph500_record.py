"""The record of the Graph500 benchmark. Its text is the report of the reference code, version 3.0, word for word."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import asdict, dataclass, field
from typing import Any

from .._core import machine
from .._core.statistics import HarmonicSummary, Statistics

WIDTH = 32  # columns of the report before a value
MARKED = "bfs  harmonic_mean_TEPS:     !"  # the value by which machines are ranked


@dataclass
class Graph500:
    """The record of `graph500`. ``str`` of it is the official report.

    Times are in seconds. ``nedges`` counts, for each root, the drawn edges with a reached end: self-loops and repeated
    edges count, each edge once.
    """

    scale: int
    edge_factor: int
    seed: int
    engine: str
    graph_generation: float = 0.0
    construction_time: float = 0.0
    roots: list[Hashable] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    nedges: list[int] = field(default_factory=list)
    validate_times: list[float] = field(default_factory=list)

    @property
    def teps(self) -> HarmonicSummary:
        """Traversed edges per second."""
        return HarmonicSummary.of(self.nedges, self.times)

    def to_dict(self) -> dict[str, Any]:
        """Everything, in JSON's types."""
        return {
            **asdict(self),
            "time": Statistics.of(self.times)._asdict(),
            "TEPS": self.teps._asdict(),
            "machine": machine.describe(),
            "versions": machine.versions(),
        }

    def __str__(self) -> str:
        lines = [
            ("SCALE", f"{self.scale}"),
            ("edgefactor", f"{self.edge_factor}"),
            ("NBFS", f"{len(self.roots)}"),
            ("graph_generation", f"{self.graph_generation:g}"),
            ("num_mpi_processes", "1"),
            ("construction_time", f"{self.construction_time:g}"),
        ]
        lines += [(f"bfs  {name}_time", f"{value:g}") for name, value in Statistics.of(self.times)._asdict().items()]
        lines += [(f"{name}_nedge", f"{value:.11g}") for name, value in Statistics.of(self.nedges)._asdict().items()]
        lines += [(f"bfs  {name}_TEPS", f"{value:g}") for name, value in self.teps._asdict().items()]
        validated = Statistics.of(self.validate_times)._asdict()
        lines += [(f"bfs  {name}_validate", f"{value:g}") for name, value in validated.items()]
        labels = [MARKED if name == "bfs  harmonic_mean_TEPS" else f"{name}:" for name, _ in lines]
        return "\n".join(f"{label:{WIDTH}}{value}" for label, (_, value) in zip(labels, lines, strict=True))
