"""NetworkX's own generators, resumed in the middle, over a graph that has changed since they began.

NetworkX's further items depend on what its generator holds: dict iterators, which fail if their dict has changed in
size, and sets of the nodes seen so far. So NetworkX's own generator runs here: first over the graph as it was
converted, up to the last item given, and from there over the graph as it is now.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, partial
from itertools import islice
from typing import Any

import numpy as np

from ..graph import Graph
from .classes import THEIRS
from .graph import ConvertedGraph


class Replay:
    """A NetworkX graph that shows the converted graph, and once the replay is ``over`` the graph as it is now."""

    def __init__(self, converted: ConvertedGraph) -> None:
        self.converted = converted
        self.over = False
        origin = converted.origin
        self.graph = next(cls for cls in type(origin).__mro__ if cls in THEIRS)()
        self.graph._node = Keys(self, converted.nodes.tolist, lambda: origin._node)
        self.graph._adj = Rows(self, lambda: converted.forward, lambda: origin._adj, loops_go=not origin.is_directed())
        if origin.is_directed():
            self.graph._pred = Rows(self, lambda: converted.backward, lambda: origin._pred, loops_go=True)

    def rest(self, generator: Callable[..., Iterator[Any]], arguments: Mapping[str, Any], given: int) -> Iterator[Any]:
        """The items of NetworkX's ``generator`` after the first ``given``; ``arguments`` may be its methods."""
        here = {
            name: getattr(self.graph, value.__name__)
            if getattr(value, "__self__", None) is self.converted.origin
            else value
            for name, value in arguments.items()
        }
        items = generator(**here | {"G": self.graph})
        deque(islice(items, given), maxlen=0)
        self.over = True
        return items


class Keys(Mapping[Any, Any]):
    """A dict whose keys alone count: those ``before`` until the replay is over, then those of ``now``."""

    def __init__(self, replay: Replay, before: Callable[[], list[Any]], now: Callable[[], Any]) -> None:
        self.replay, self._before, self._now = replay, before, now

    @cached_property
    def before(self) -> dict[Any, None]:
        return dict.fromkeys(self._before())

    @property
    def shown(self) -> Mapping[Any, Any]:
        return self._now() if self.replay.over else self.before

    def __getitem__(self, key: Any) -> Any:
        return self.shown[key]

    def __len__(self) -> int:
        return len(self.shown)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.shown) if self.replay.over else self._through_the_change()

    def _through_the_change(self) -> Iterator[Any]:
        """The keys that a dict's iterator gives if it was made before the change."""
        done = 0
        for key in self.before:
            if self.replay.over:
                break
            yield key
            done += 1
        if self.replay.over:
            yield from self._after(done)

    def _after(self, done: int) -> Iterator[Any]:
        now = self._now()
        if len(now) != len(self.before):
            raise RuntimeError("dictionary changed size during iteration")
        if list(islice(now, done)) != list(islice(self.before, done)):
            raise RuntimeError("dictionary keys changed during iteration")
        yield from islice(now, done, None)


class Rows(Mapping[Any, Any]):
    """A dict from nodes to the dicts of their neighbours.

    Removing a node leaves its row as it is, as a generator may still hold it; if ``loops_go``, without a self-loop.
    """

    def __init__(self, replay: Replay, edges: Callable[[], Graph], now: Callable[[], Any], *, loops_go: bool) -> None:
        self.replay, self.edges, self.now, self.loops_go = replay, edges, now, loops_go
        self.held = dict(now())  # the rows that iterators from before the change may be on, whatever becomes of them

    def __getitem__(self, node: Any) -> Any:
        if self.replay.over:
            return self.now()[node]
        converted, edges = self.replay.converted, self.edges()
        vertex = converted.find(node)
        if vertex is None:
            raise KeyError(node)
        row = edges.targets[edges.offsets[vertex] : edges.offsets[vertex + 1]]
        return Keys(self.replay, partial(converted.nodes_at, row), partial(self._row_now, vertex, row))

    def _row_now(self, vertex: int, row: np.ndarray) -> Any:
        converted = self.replay.converted
        if (node := converted.nodes[vertex]) in self.held:
            return self.held[node]
        if self.loops_go and self.held:  # removed alone, not by `clear`
            row = row[row != vertex]
        return dict.fromkeys(converted.nodes_at(row))

    def __len__(self) -> int:
        return len(self.replay.graph)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.replay.graph)
