"""A list of edges that somebody has in memory, of which each engine makes a graph in its own way."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from ..adapters import importer_of
from ..loading import as_graph

TABLES = ("cudf", "pylibcudf", "arrow")  # adapters of tables, which are no graph yet


@dataclass(frozen=True)
class EdgeInput:
    """Edges as they were given, the options of `as_graph` that came with them, and the graph that they make."""

    given: Any  # a table, or a pair of arrays
    options: dict[str, Any]
    graph: Any

    @classmethod
    def of(cls, given: Any, **options: Any) -> EdgeInput | None:
        """The edges, if ``given`` is a list of them: a table, or a pair of arrays."""
        is_list = importer_of(given) in TABLES or (isinstance(given, tuple) and len(given) == 2)
        return cls(given, options, as_graph(given, **options)) if is_list else None

    def as_graph(self) -> Any:
        """A new graph of the edges, in parts if its options say so."""
        return as_graph(self.given, **self.options)

    def making(self, graph: Any) -> EdgeInput:
        """These edges as they make ``graph``: in one piece if it is, even if their own graph is in parts."""
        if type(graph) is type(self.graph):
            return self
        return replace(self, options=self.options | {"devices": None}, graph=graph)

    def on_device(self) -> Any:
        """The two columns as a `cudf.DataFrame`, which are its own if they are cuDF's, else uploaded."""
        from ..adapters.cudf_columns import edge_columns

        return edge_columns(self.given, self.graph.columns)
