"""`bfs_batch`: searches from many sources at once."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._core.arguments import elements, quoted, whole_number
from .._core.cuda.arrays import CUDA, finish, moved, on_device, to_host
from .._core.formatting import counted
from .._core.memory import available_bytes, available_device_bytes, require_bytes, require_device_bytes
from ..adapters.arrow import frame
from ..engines import BatchTraversal, Options, Summary, batch_traversal
from ..errors import InputError
from ..graph import Mask, Vertices, kept_mask, require_unmasked
from ..loading import as_graph
from ..result import same_answers
from .bfs import checked_depth_limit

DISTANCE_BYTES = 4
FRAME_BYTES = 2 * 2 * 8 + DISTANCE_BYTES  # per distance: two vertices and their ids

BatchCall = Callable[[slice, np.ndarray], None]  # with the slice of a batch among the sources, and its distances


@dataclass(frozen=True, eq=False)
class BatchResult:
    """Results of searches from k sources, in the order of the sources.

    Distances are on the graph's device, or on the host if that is distributed; everything else is on the host.

    Attributes
    ----------
    graph : Graph or DistributedGraph
    sources : int64 array of k
        The vertices that the searches started from; those of a distributed graph have other numbers.
    distances : int32 array of k x n, or None
        Edges on a shortest path from the source; -1 for unreached vertices.
    reached : int64 array of k, or None
        Reached vertices, including the source.
    total : int64 array of k, or None
        Sum of the distances.
    eccentricity : int32 array of k, or None
        The largest distance.
    harmonic : float64 array of k, or None
        Sum of 1 / distance over the reached vertices other than the source.
    depth_limit : int or None
        The largest distance searched.
    vertices : bool array of n, or None
        The vertices that the searches were allowed to enter; None for all.
    """

    graph: Any
    sources: np.ndarray
    distances: np.ndarray | None = None
    reached: np.ndarray | None = None
    total: np.ndarray | None = None
    eccentricity: np.ndarray | None = None
    harmonic: np.ndarray | None = None
    depth_limit: int | None = None
    vertices: Any = None

    def __eq__(self, other: object) -> bool:
        """Return True for equal answers of the same graph (the same object)."""
        return isinstance(other, BatchResult) and same_answers(self, other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<BatchResult on {self.graph.name!r}: {counted(len(self.sources), 'source')}>"

    def to_frame(self, kind: str | None = None) -> Any:
        """A frame of the distances or the summary, with sources and vertices as ids.

        Distances make a row for each source and vertex: ``source``, ``vertex`` and ``distance``, -1 for unreached
        vertices. A summary makes a row for each source: ``source``, ``reached``, ``total``, ``eccentricity`` and
        ``harmonic``. ``kind`` is that of `BFSResult.to_frame`; frames of cuDF are uploaded from the host.

        Raises `InputError` if nothing was kept, or there is too little memory.
        """
        ids, n = self.graph.ids_of, self.graph.num_vertices
        if self.distances is not None:
            rows = len(self.sources) * n
            require_bytes(FRAME_BYTES * rows, f"a frame of {counted(rows, 'distance')}")
            columns = {
                "source": ids(np.repeat(self.sources, n)),
                "vertex": ids(np.tile(self.graph.at_places(np.arange(n)), len(self.sources))),
                "distance": to_host(self.distances).ravel(),
            }
        elif self.reached is not None:
            columns = {"source": ids(self.sources)} | {name: getattr(self, name) for name in Summary._fields}
        else:
            raise InputError("the distances went to on_batch, and nothing was kept for a frame")
        return frame(columns, kind or self.graph.frame)


def bfs_batch(
    graph: Any,
    sources: Iterable[Hashable] | None = None,
    *,
    keep: str = "distances",
    depth_limit: int | None = None,
    engine: str = "auto",
    on_batch: BatchCall | None = None,
    batch_size: int | None = None,
    vertices: Mask | None = None,
) -> BatchResult:
    """Breadth-first search from each of many sources, many at a time.

    Parameters
    ----------
    graph : Graph or anything that `as_graph` takes
        A directed graph is searched along its out-edges; distances to the sources are those in ``graph.reverse``. The
        devices of a distributed graph search from 64 sources at a time.
    sources : list, set or array of vertex ids, optional
        Default: every vertex. An id may occur more than once.
    keep : {"distances", "summary"}
        All k x n distances, or only the summaries of each source.
    depth_limit : int, optional
        The largest distance to search; 0 reaches the source alone.
    engine : str
        "auto", "cpu", ...: see `rapids-bfs info`. Engines without batches search from one source after another.
    on_batch : function of (slice, array), optional
        Called with each batch: the slice of the sources, and their distances (int32, one row per source, n columns),
        valid until it returns. The result then has no distances.
    batch_size : int, optional
        Sources at a time. Default: the fastest size that fits in memory.
    vertices : array of bool, or function of the graph that returns one, optional
        One entry for each vertex: False keeps the searches out of it, see `bfs`. By default the others are the sources.

    Returns
    -------
    BatchResult

    Raises
    ------
    InputError
        If the graph cannot be made, a source is not a vertex, the engine is unknown or cannot run here, or there is
        too little memory for the result or for a single batch.

    Examples
    --------
    >>> graph = {"a": ["b", "c"], "b": ["d"], "c": ["d"], "d": []}
    >>> bfs_batch(graph, ["a", "b"]).distances
    array([[ 0,  1,  1,  2],
           [-1,  0, -1,  1]], dtype=int32)
    >>> int(bfs_batch("karate", keep="summary").eccentricity.max())
    5
    """
    graph = as_graph(graph)
    mask = kept_mask(graph, vertices)
    starts = vertices_of_sources(graph, sources)
    if mask is not None and sources is None:
        starts = starts[to_host(mask)]
    require_unmasked(graph, mask, starts)
    limit = checked_depth_limit(depth_limit)
    _check_kept(keep, on_batch)
    if batch_size is not None:
        batch_size = whole_number(batch_size, "batch_size", 1)
    if keep == "summary":
        return summary(graph, starts, engine, limit, batch_size, mask)
    traversal, masked = batch_traversal(graph, engine, Options(limit, predecessors=False, vertices=mask))

    def search(rows: slice, distances: np.ndarray) -> None:
        traversal.distances(starts[rows], limit, distances, **masked)

    with traversal.current():
        distances = None
        if on_batch is None:
            distances = _distances(graph, traversal, search, len(starts), batch_size)
        else:
            _hand_over(graph, traversal, search, len(starts), batch_size, on_batch)
        return BatchResult(graph, starts, distances, depth_limit=limit, vertices=mask)


def _check_kept(keep: Any, on_batch: Any) -> None:
    """Raise `InputError` unless `bfs_batch` can keep this and call that."""
    if not isinstance(keep, str) or keep not in ("distances", "summary"):
        raise InputError(f"keep must be 'distances' or 'summary', not {quoted(keep)}")
    if on_batch is not None and keep == "summary":
        raise InputError("on_batch is called with distances, which keep='summary' does not keep")
    if on_batch is not None and not callable(on_batch):
        raise InputError(f"on_batch must be a function, not {quoted(on_batch)}")


def summary(
    graph: Any,
    starts: np.ndarray,
    engine: str,
    limit: int | None = None,
    size: int | None = None,
    mask: Any = None,
) -> BatchResult:
    """`bfs_batch` with ``keep="summary"``, from vertices (int64) rather than ids."""
    traversal, masked = batch_traversal(graph, engine, Options(limit, predecessors=False, vertices=mask))
    with traversal.lock, traversal.current():
        batches = _batches(len(starts), size or traversal.batch_size)
        found = [Summary.of(0), *(traversal.summary(starts[rows], limit, **masked) for rows in batches)]
    columns = {name: np.concatenate([getattr(each, name) for each in found]) for name in Summary._fields}
    for name, like in found[0]._asdict().items():
        traversal.require_array(name, columns[name], len(starts), str(like.dtype))
    return BatchResult(graph, starts, **columns, depth_limit=limit, vertices=mask)


def _distances(graph: Vertices, traversal: BatchTraversal, search: BatchCall, k: int, size: int | None) -> np.ndarray:
    """The distances from k sources (int32, k x n), where the graph's answers are. ``search`` fills those of a batch."""
    n = traversal.graph.num_vertices
    distances = _empty(traversal, k, f"distances of {n:,} vertices from {k:,} sources (keep='summary' needs none)")
    with traversal.lock:
        for rows in _batches(k, size or traversal.batch_size):
            search(rows, distances[rows])
    answer: np.ndarray = moved(distances, graph.answers_on)
    return answer


def _hand_over(
    graph: Vertices, traversal: BatchTraversal, search: BatchCall, k: int, size: int | None, on_batch: BatchCall
) -> None:
    """`_distances`, a batch at a time, each for ``on_batch``."""
    n = traversal.graph.num_vertices
    if size is None:
        available = available_device_bytes() if _on_device(traversal) else available_bytes()
        fitting = available // (2 * DISTANCE_BYTES * max(n, 1))
        size = max(1, min(traversal.batch_size, fitting))
    size = min(size, max(k, 1))
    distances = _empty(traversal, size, f"distances of {n:,} vertices from {size:,} sources at once")
    for rows in _batches(k, size):
        found = distances[: rows.stop - rows.start]
        with traversal.lock:  # released while the user's function runs, since that may wait for another thread's batch
            search(rows, found)
        on_batch(rows, moved(found, graph.answers_on))


def _on_device(traversal: BatchTraversal) -> bool:
    """Are the distances written on the device? They are if the graph is there and the engine can."""
    return traversal.graph.device == traversal.searches_on == CUDA


def _empty(traversal: BatchTraversal, rows: int, what: str) -> np.ndarray:
    """A new array for the distances of ``rows`` sources. Raises `InputError` about ``what`` if there is too little
    memory."""
    shape = rows, traversal.graph.num_vertices
    needed = DISTANCE_BYTES * rows * traversal.graph.num_vertices
    if not _on_device(traversal):
        require_bytes(needed, what)
        return np.empty(shape, np.int32)
    require_device_bytes(needed, what)
    import cupy

    distances: np.ndarray = cupy.empty(shape, np.int32)
    finish()  # the engine works on a stream of its own
    return distances


def _batches(k: int, size: int) -> list[slice]:
    return [slice(begin, min(begin + size, k)) for begin in range(0, k, size)]


def vertices_of_sources(graph: Any, sources: Iterable[Hashable] | None) -> np.ndarray:
    """The vertices (int64) with these ids, in their order; all vertices if None.

    Raises `InputError` if ``sources`` are not several ids, or one is not a vertex.
    """
    if sources is None:
        every: np.ndarray = graph.at_places(np.arange(graph.num_vertices)).astype(np.int64, copy=False)
        return every
    ids: Any = to_host(sources) if on_device(sources) else sources
    try:
        several = elements(ids)
    except (TypeError, ValueError):
        several = None
    if several is None or getattr(ids, "ndim", 1) != 1:
        raise InputError(f"expected a list of vertex ids, not {quoted(ids)}")
    vertices: np.ndarray = graph.vertices_of(several)
    return vertices
