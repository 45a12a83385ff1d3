"""Bounds of eccentricities in a distributed graph, from neighbours: see `kernels.cpu.eccentricities`."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._core.csr import csr_for
from .._core.cuda.arrays import to_host
from .build import Partition
from .communicators import Communicator


def bound_neighbors(graph: Any, places: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> None:
    """`rapids_bfs.engines.bound_neighbors` of a distributed graph. The ranks send the neighbours of as many vertices as
    have n edges together, so that this takes no more memory than the bounds."""
    degrees = graph.degrees
    places = places[np.cumsum(degrees[places]) <= graph.num_vertices]
    vertices = graph.at_places(places)
    for which, neighbors in graph.launcher.collect(_rows_of, vertices, each=[graph.partitions]):
        middle, theirs = lower[places[which]], graph.places_of(neighbors)
        is_leaf = (degrees[theirs] == 1) & (middle > 1)
        np.maximum.at(lower, theirs, np.where(is_leaf, middle + 1, middle - 1))
        np.minimum.at(upper, theirs, middle + 1)


def _rows_of(partition: Partition, communicator: Communicator, vertices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For each out-edge of those of these vertices that the rank owns: which vertex of the list it leaves, and the
    global id of its target."""
    xp = csr_for(partition.targets).xp
    own, local_ids = partition.owned(vertices)
    local_ids = xp.asarray(local_ids)
    begins, ends = partition.offsets[local_ids], partition.offsets[local_ids + 1]
    degrees = to_host(ends - begins)
    places = np.repeat(to_host(begins) - np.cumsum(degrees) + degrees, degrees) + np.arange(degrees.sum())
    return np.repeat(own, degrees), to_host(partition.targets[xp.asarray(places)])
