"""An edge list in memory, from which each engine builds its own kind of graph."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from ..adapters import importer_of
from ..loading import as_graph

TABLES = ("cudf", "pylibcudf", "arrow")  # the adapters whose input is a table of edges


@dataclass(frozen=True)
class EdgeInput:
    """Edges as they were given, their options of `as_graph`, and the graph made of both."""

    given: Any  # a table, or a pair of arrays
    options: dict[str, Any]
    graph: Any

    @classmethod
    def of(cls, given: Any, **options: Any) -> EdgeInput | None:
        """The edges, if ``given`` is an edge list: a table, or a pair of arrays. Otherwise None."""
        is_list = importer_of(given) in TABLES or (isinstance(given, tuple) and len(given) == 2)
        return cls(given, options, as_graph(given, **options)) if is_list else None

    def as_graph(self) -> Any:
        """A new graph of the edges, distributed if the options say so."""
        return as_graph(self.given, **self.options)

    def making(self, graph: Any) -> EdgeInput:
        """These edges, with the options that make ``graph``, which may be their distributed graph on one device."""
        if type(graph) is type(self.graph):
            return self
        return replace(self, options=self.options | {"devices": None}, graph=graph)

    def on_device(self) -> Any:
        """The two columns as a `cudf.DataFrame`, which are its own if they are cuDF's, else uploaded."""
        from ..adapters.cudf_edges import edge_columns

        return edge_columns(self.given, self.graph.columns)
