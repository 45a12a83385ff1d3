"""What the engines of other libraries for the CPU have in common: what they need, and what they do not do."""

from __future__ import annotations

from importlib.util import find_spec
from typing import ClassVar

from ..graph import Graph
from .base import Engine, Options


class Peer(Engine):
    """An engine that is a library of the extra ``peers``."""

    package: ClassVar[str]

    def unavailable(self) -> str | None:
        if find_spec(self.name) is None:
            return f"{self.package} is not installed: pip install 'rapids-bfs[peers]'"
        return None

    def declines(self, graph: Graph, algorithm: str, options: Options, sources: int = 1) -> str | None:
        if options.deterministic:
            return f"{self.package} does not keep the order of neighbours: use the engine 'cpu'"
        return None


class FromOneSource(Peer):
    """One that searches from a single source."""

    def declines(self, graph: Graph, algorithm: str, options: Options, sources: int = 1) -> str | None:
        if sources > 1:
            return f"{self.package} searches from one source: search from one, or with another engine"
        return super().declines(graph, algorithm, options, sources)
