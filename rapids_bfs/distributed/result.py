"""The result of a search of a distributed graph, which stays distributed until it is gathered."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NoReturn

import numpy as np

from .._core.csr import csr_for
from .._core.cuda.arrays import checked_device, finish, to_host
from .._core.memory import require_bytes
from ..errors import InputError, NoAttributeError
from ..result import NO_PREDECESSORS, BFSResult, Distances, same_answers
from ..trace import Trace
from .build import Partition
from .communicators import Communicator
from .ids import exchange_ids, grouped
from .launchers import PerRank
from .level_synchronous import Answer


@dataclass(frozen=True, eq=False)
class DistributedResult(Distances):
    """Distributed distances and tree of shortest paths. ``result[id]`` and ``id in result`` are those of `BFSResult`.

    Attributes
    ----------
    graph : DistributedGraph
    sources : int64 array
        The global ids of the vertices that the search started from.
    answers : one `Answer` on each of the launcher's ranks
    num_reached : int
        Vertices reached, sources included.
    depth : int
        The largest distance.
    depth_limit, target, trace : as in a `BFSResult`; the target is a global id
    vertices : bool array of n, or None
        The vertices that the search was allowed to enter, on the host, in the order of the ids; None for all.
    """

    graph: Any
    sources: np.ndarray
    answers: PerRank
    num_reached: int
    depth: int
    depth_limit: int | None = None
    target: int | None = None
    trace: Trace | None = None
    vertices: np.ndarray | None = None

    def __eq__(self, other: object) -> bool:
        """Are these of the same graph (the same object), with equal answers? The ranks compare theirs."""
        if not isinstance(other, DistributedResult) or not same_answers(self, other, "answers"):
            return False
        return all(self.graph.launcher.collect(_same_answer, each=[self.answers, other.answers]))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return (
            f"<DistributedResult on {self.graph.name!r}: {self.num_reached:,} of {self.graph.num_vertices:,} vertices "
            f"reached, depth {self.depth}, on {', '.join(self.graph.devices)}>"
        )

    @property
    def distances(self) -> NoReturn:
        """Raises `InputError`, which is an `AttributeError` too: they are distributed."""
        self._refuse("distances")

    @property
    def predecessors(self) -> NoReturn:
        """Raises `InputError`, which is an `AttributeError` too: they are distributed."""
        self._refuse("predecessors")

    def _refuse(self, what: str) -> NoReturn:
        raise NoAttributeError(
            f"the {what} of {self.graph.name} are distributed over {self.graph.num_devices} devices: ask for "
            "result.to('cpu'), which brings the graph to the host too, or for result.to_frame()"
        )

    @property
    def num_traversed_edges(self) -> int:
        """Edges of the component that was traversed, as Graph500 counts them: an undirected edge once."""
        arcs = int(self._levels[1].sum())
        return arcs if self.graph.directed else arcs // 2

    @property
    def level_sizes(self) -> np.ndarray:
        """The number of vertices at each distance (int64, depth + 1)."""
        sizes: np.ndarray = self._levels[0]
        return sizes

    @property
    def _levels(self) -> np.ndarray:
        """The number of vertices at each distance and, in a second row, of their out-edges (int64, 2 x depth + 1)."""
        levels: np.ndarray = np.sum(self._each(level_sums, self.depth), axis=0)
        return levels

    @property
    def levels(self) -> Trace:
        """The levels that the search found, without times."""
        return Trace.of_counts(self._levels, None, self.stopped_at)

    def _distance_at(self, vertex: int) -> int:
        return self._at(vertex)[0]

    def distances_on_host(self) -> np.ndarray:
        n = self.graph.num_vertices
        require_bytes(8 * n, f"distances of {n:,} vertices on the host")
        distances: np.ndarray = self.graph.in_order(self._each(_distances), np.int32)
        return distances

    def as_dict(self) -> dict[Any, int]:
        """The distances of reached vertices by their ids, the nearest first. The edges are not gathered."""
        return self._of(self.graph.ids).as_dict()

    def vertices_to(self, vertex: int) -> np.ndarray:
        path = self._each(_path, vertex)[0]
        if path is None:
            raise InputError(NO_PREDECESSORS)
        return np.array(path, np.int64)

    def to(self, device: str) -> BFSResult:
        """The result in one piece on "cpu" or "cuda", its graph too."""
        checked_device(device)
        return self._whole.to(device)

    @cached_property
    def _whole(self) -> BFSResult:
        return self._of(self.graph.whole)

    def _of(self, graph: Any) -> BFSResult:
        """The result in one piece on the host, of a graph with the same vertices."""
        n, partitioning = self.graph.num_vertices, self.graph.partitioning
        require_bytes(16 * n, f"a result with {n:,} vertices on the host")
        distances = np.empty(n, np.int32)
        predecessors = np.empty(n, graph.targets.dtype)
        kept = True
        for rank, (mine, their) in enumerate(self._each(_fetch)):
            vertices = self.graph.places_of(partitioning.own_global_ids(rank))
            distances[vertices] = mine
            kept = their is not None
            if kept:
                predecessors[vertices] = self.graph.places_of(their)
        sources = self.graph.places_of(self.sources).astype(np.int64)
        target = None if self.target is None else int(self.graph.places_of(np.array([self.target]))[0])
        limits = self.depth_limit, target
        return BFSResult(graph, sources, distances, predecessors if kept else None, *limits, self.trace, self.vertices)

    def to_frame(self, kind: str | None = None) -> Any:
        """A frame with a row for each vertex, as `BFSResult.to_frame` makes it. The edges are not gathered.

        If the graph was made from a Dask frame, this is a Dask frame too.
        """
        if (kind or self.graph.frame) == "dask":
            frame = self.graph.launcher.dask_frame(frame_of_partition, [self.graph.partitions, self.answers])
            if frame is not None:
                return frame
        return self._of(self.graph.ids).to_frame(kind)

    def _at(self, vertex: int) -> tuple[int, int]:
        """Distance and predecessor of a vertex; -1 where there is none."""
        at: tuple[int, int] = self._each(_at, vertex)[vertex // self.graph.partitioning.stride]
        return at

    def _each(self, function: Any, *arguments: Any) -> list[Any]:
        found: list[Any] = self.graph.launcher.collect(function, *arguments, each=[self.graph.partitions, self.answers])
        return found


def rows(partition: Partition, answer: Answer, communicator: Communicator) -> tuple[Any, Any, Any | None]:
    """Ids, distances and ids of predecessors of this rank's vertices, by local id; -1 for no predecessor."""
    if answer.predecessors is None:
        return partition.ids, answer.distances, None
    if partition.labels is None:
        return partition.ids, answer.distances, partition.partitioning.ids(answer.predecessors)
    xp = csr_for(answer.distances).xp
    stride = partition.partitioning.stride
    owner = xp.where(answer.predecessors < 0, partition.rank, answer.predecessors // stride)
    wanted, order = grouped(answer.predecessors % stride, owner, communicator.size, xp)
    strings = partition.labels.dtype == object
    padding = stride - partition.num_vertices
    padded = xp.append(partition.labels, xp.full(padding, "" if strings else 0, partition.labels.dtype))
    names = xp.empty_like(partition.labels)
    names[order] = xp.concatenate(
        exchange_ids(communicator, [padded[local_ids] for local_ids in communicator.alltoallv_new(wanted)])
    )
    names[answer.predecessors < 0] = None if strings else -1
    return partition.labels, answer.distances, names


def frame_of_partition(partition: Partition, answer: Answer, communicator: Communicator) -> Any:
    """A frame with a row for each vertex of this rank, of pandas or, on a GPU, of cuDF."""
    ids, distances, predecessors = rows(partition, answer, communicator)
    columns = {"vertex": ids, "distance": distances}
    if predecessors is not None:
        columns["predecessor"] = predecessors
    if isinstance(distances, np.ndarray):
        import pandas as pd

        return pd.DataFrame(columns)
    from ..adapters.cudf import frame_of

    frame = frame_of({name: column.copy() for name, column in columns.items()})
    finish()  # the copies: Dask may hand the frame to any stream
    return frame


def _same_answer(one: Answer, other: Answer, communicator: Communicator) -> bool:
    if one.predecessors is None or other.predecessors is None:
        same_tree = one.predecessors is other.predecessors
    else:
        same_tree = bool((one.predecessors == other.predecessors).all())
    return same_tree and bool((one.distances == other.distances).all())


def _fetch(partition: Partition, answer: Answer, communicator: Communicator) -> tuple[np.ndarray, np.ndarray | None]:
    return to_host(answer.distances), None if answer.predecessors is None else to_host(answer.predecessors)


def _distances(partition: Partition, answer: Answer, communicator: Communicator) -> np.ndarray:
    return to_host(answer.distances)


def _at(partition: Partition, answer: Answer, communicator: Communicator, vertex: int) -> tuple[int, int]:
    local_id = vertex - partition.base
    if not 0 <= local_id < partition.num_vertices:
        return -1, -1
    before = -1 if answer.predecessors is None else int(answer.predecessors[local_id])
    return int(answer.distances[local_id]), before


def _path(partition: Partition, answer: Answer, communicator: Communicator, vertex: int) -> list[int] | None:
    """Global ids along a path from a source to ``vertex``; empty if it was not reached. A collective."""
    if answer.predecessors is None:
        return None
    path = []
    for _ in range(answer.totals.depth + 1):
        distance, before = max(communicator.allgather_object(_at(partition, answer, communicator, vertex)))
        if distance < 0:
            break
        path.append(vertex)
        vertex = before
        if distance == 0:
            break
    return path[::-1]


def level_sums(partition: Partition, answer: Answer, communicator: Communicator, depth: int) -> np.ndarray:
    """The number of this rank's vertices, and of their out-edges, at each distance (int64, 2 x depth + 1)."""
    xp = csr_for(answer.distances).xp
    reached = answer.distances >= 0
    at = answer.distances[reached]
    if not len(at):
        return np.zeros((2, depth + 1), np.int64)
    degrees = xp.diff(partition.offsets)[reached].astype(np.float64)
    vertices = xp.bincount(at, minlength=depth + 1)
    edges = xp.bincount(at, weights=degrees, minlength=depth + 1)
    return np.stack([to_host(vertices), to_host(edges).astype(np.int64)])
