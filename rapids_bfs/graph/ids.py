"""The ids of vertices: labels that the user gave, or 0..n-1."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Iterator
from contextlib import suppress
from functools import cached_property
from itertools import islice
from string import ascii_lowercase, ascii_uppercase, digits
from typing import Any

import numpy as np

from .._core.arguments import index_of, quoted
from .._core.cuda.arrays import CUDA, on_device, to_device, to_host
from ..errors import InputError

MIN_MISTYPED, MAX_MISTYPED = 3, 64  # characters of an id for which similar ones are looked up
PLAIN = {int, np.int32, np.int64}  # types of integers that NumPy makes an array of at once


def _similar(text: str) -> Iterator[str]:
    """``text`` in another case or without blanks around it; then, unless it is short, with a letter more or less or two
    exchanged, and last with another letter, of which there are most."""
    yield from (text, text.strip(), text.lower(), text.upper(), text.title())
    if len(text) < MIN_MISTYPED:
        return
    letters = dict.fromkeys(text + ascii_lowercase + ascii_uppercase + digits + " _-.,:/")
    halves = [(text[:i], text[i:]) for i in range(len(text) + 1)]
    for before, after in halves:
        yield before + after[1:]
        yield before + after[1:2] + after[:1] + after[2:]
        yield from (before + letter + after for letter in letters)
    for before, after in halves:
        yield from (before + letter + after[1:] for letter in letters)


class Ids:
    """A graph's vertices by their ids, for graphs on one device and over several."""

    __slots__ = ()

    name: str

    def __contains__(self, id: object) -> bool:
        return self._find(id) >= 0

    def vertex_of(self, id: Hashable) -> int:
        """The vertex with this id; that of a distributed graph is its global id. Raises `InputError` if there is
        none."""
        vertex = self._find(id)
        if vertex < 0:
            raise InputError(f"{quoted(id)} is not a vertex of {self.name}; {self._range_of_ids()}{self._meant_by(id)}")
        return vertex

    @abstractmethod
    def _find(self, id: Any) -> int:
        """`vertex_of`, but -1 if there is none."""

    @abstractmethod
    def _range_of_ids(self) -> str:
        """The ids that exist, for the error about one that does not."""

    def _meant_by(self, id: Any) -> str:
        """The end of the error about an id that does not exist: a hint if a similar one does, else nothing."""
        return ""

    @abstractmethod
    def ids_of(self, vertices: np.ndarray) -> np.ndarray:
        """The ids of these vertices; where a vertex is -1 the id is -1 if ids are integers, else None."""


class Labelled(Ids):
    """The ids of a graph on one device: ``labels``, an array of n, or None for 0..n-1."""

    __slots__ = ()

    labels: np.ndarray | None

    @property
    @abstractmethod
    def num_vertices(self) -> int: ...

    @property
    @abstractmethod
    def device(self) -> str: ...

    def vertices_of(self, ids: Any) -> np.ndarray:
        """The vertices (int64) with these ids; on the device if the ids and the graph are.

        Raises `InputError` naming the first id that is not a vertex.
        """
        if on_device(ids):
            if self.device == CUDA and not self.has_objects and ids.dtype.kind in "iu":
                return self._vertices_of_integers(to_device(ids), self.labels)
            ids = to_host(ids).tolist()
        if not self.has_objects and isinstance(ids, list) and set(map(type, ids)) <= PLAIN:
            labels = None if self.labels is None else self._host_labels
            with suppress(OverflowError):  # a tenth of the time of a look at each
                return self._vertices_of_integers(np.array(ids, np.int64), labels)
        return np.fromiter((self.vertex_of(each) for each in ids), np.int64)

    def _vertices_of_integers(self, ids: Any, labels: Any) -> np.ndarray:
        """`vertices_of` an array of integers; ``labels`` are the graph's, where that array is."""
        vertices: np.ndarray = ids.astype(np.int64)
        if labels is None or len(labels) == 0:
            known = (vertices >= 0) & (vertices < self.num_vertices)
        else:
            vertices = np.searchsorted(labels, ids.astype(labels.dtype)).astype(np.int64)
            vertices[vertices == self.num_vertices] = 0
            known = labels[vertices] == ids
        if not known.all():
            self.vertex_of(ids[int(known.argmin())].item())
        return vertices

    @property
    def has_objects(self) -> bool:
        """True if the ids are objects, not integers."""
        return self.labels is not None and self.labels.dtype == object

    @cached_property
    def _host_labels(self) -> np.ndarray:
        return to_host(self.labels)

    def _find(self, id: Any) -> int:
        labels = self.labels
        if labels is not None and labels.dtype == object:
            try:
                return self._index.get(id, -1)
            except (TypeError, ValueError):  # not hashable, such as a list, or a timedelta of NumPy without a unit
                return -1
        integer = id if type(id) is int else index_of(id)  # a call takes a fifth of the time
        if integer is None:
            return -1
        if labels is None:
            return integer if 0 <= integer < self.num_vertices else -1
        labels = self._host_labels
        if not (self.num_vertices and labels[0] <= integer <= labels[-1]):
            return -1
        place = int(labels.searchsorted(labels.dtype.type(integer)))  # for another type it would convert them all
        return place if labels[place] == integer else -1

    @cached_property
    def _index(self) -> dict[Hashable, int]:
        assert self.labels is not None
        return {label: vertex for vertex, label in enumerate(self.labels)}

    def _range_of_ids(self) -> str:
        n = self.num_vertices
        if n == 0:
            return "the graph has no vertices"
        has = "only vertex is" if n == 1 else "vertices are" if self.labels is None else f"{n:,} vertices have the ids"
        return f"its {has} {self._shown_ids()}"

    def _meant_by(self, id: Any) -> str:
        """A hint at ids one typing error away. Each is looked up, in a time that does not grow with the graph."""
        if not self.has_objects or not isinstance(id, str | int) or len(text := str(id)) > MAX_MISTYPED:
            return ""
        found = (each for each in _similar(text) if each in self._index)
        near = [quoted(each) for each in islice(dict.fromkeys(found), 3)]
        return f"; did you mean {' or '.join(near)}?" if near else ""

    def _shown_ids(self) -> str:
        """The first id and the last."""
        if self.num_vertices == 0:
            return "none"
        first, last = map(quoted, self.ids_of(np.array([0, self.num_vertices - 1])).tolist())
        if self.num_vertices == 1:
            return first
        return f"{first}..{last}" if self.labels is None else f"{first}, ..., {last}"

    def ids_of(self, vertices: np.ndarray) -> np.ndarray:
        if self.labels is None:
            return vertices
        if self.has_objects or not on_device(vertices):
            labels, vertices = self._host_labels, to_host(vertices)
        else:
            labels = to_device(self.labels)
        ids: np.ndarray = labels[vertices]
        ids[vertices < 0] = None if self.has_objects else -1
        return ids
