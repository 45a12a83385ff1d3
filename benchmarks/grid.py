"""A search of a graph partitioned in two dimensions, simulated rank by rank with every message in hand.

Ranks form a grid of R rows and C columns. Of the symmetric adjacency matrix, rank (i, j) has the arcs from the j-th of
C strips of vertices to the i-th of R blocks. Its own vertices are the j-th of the C pieces of block i. Every rank
computes from its own arcs and vertices and from what others sent it, which `Grid.send` logs.

Top-down (expand and fold): A. Buluc, K. Madduri, Parallel breadth-first search on distributed memory systems, SC 2011.
Bottom-up (the visited vertices of a row of ranks rotate): S. Beamer et al., Distributed memory breadth-first search
revisited, MTAAP 2013. As in our search by rows, a rank sends a vertex to its owner at most once.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

UNREACHED = -1
ID = np.int32


class Sent(NamedTuple):
    """What a rank sent to others at a level."""

    level: int
    rank: int
    kind: str
    bytes: int
    messages: int


def entries(matrix: csr_array, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For each entry in these rows of a matrix: its row's position in ``rows``, and its column."""
    chosen = matrix[rows]
    return np.repeat(np.arange(len(rows)), np.diff(chosen.indptr)), chosen.indices


class Grid:
    """A graph of ``n`` vertices and symmetric arcs on ``height * width`` ranks; rank (i, j) is number i * width + j."""

    def __init__(self, n: int, sources: np.ndarray, targets: np.ndarray, height: int, width: int) -> None:
        self.height, self.width, self.size = height, width, height * width
        self.piece = -(-n // (8 * self.size)) * 8  # vertices of a rank: whole bytes of a bitmap
        self.block, self.strip = self.piece * width, self.piece * height
        owner = targets // self.block * width + sources // self.strip
        self.into, self.out = [], []  # of each rank: for a target its sources, for a source its targets
        for rank in range(self.size):
            v, u = targets[owner == rank] % self.block, sources[owner == rank] % self.strip
            self.into.append(csr_array((np.ones(len(v), bool), (v, u)), (self.block, self.strip)))
            self.out.append(self.into[-1].T.tocsr())
        self.isolated = np.bincount(sources, minlength=self.piece * self.size).reshape(self.size, -1) == 0

    def send(self, kind: str, source: int, target: int, *arrays: np.ndarray) -> tuple[np.ndarray, ...]:
        """The message that ``target`` receives. It is logged, unless it is empty or the sender is the target."""
        if source != target and (count := sum(array.nbytes for array in arrays)):
            self.log.append(Sent(self.level, source, kind, count, 1))
        return arrays

    def search(self, source: int, directions: Iterator[str]) -> np.ndarray:
        """The distances from ``source``; ``directions`` are those of the levels."""
        self.log: list[Sent] = []
        self.level = 0
        self.distances = np.full((self.size, self.piece), UNREACHED, np.int32)
        self.passed = np.zeros((self.size, self.block), bool)  # of its row's vertices, those that a rank need not send
        self.distances.reshape(-1)[source] = 0
        while (self.distances == self.level).any():
            self.level += 1
            (self.top_down if next(directions) == "top-down" else self.bottom_up)()
        return self.distances.reshape(-1)

    def expand(self, kind: str, pieces: list[np.ndarray]) -> list[list[np.ndarray]]:
        """The frontier of its column for each rank, in pieces: each rank sends its own to one rank of the column that
        needs it, which passes it on to the others there."""
        strips: list[list[np.ndarray]] = [[] for _ in pieces]
        for owner, piece in enumerate(pieces):
            column, row = divmod(owner, self.height)
            first = row * self.width + column
            (held,) = self.send(kind, owner, first, piece)
            for rank in range(column, self.size, self.width):
                strips[rank] += self.send(kind, first, rank, held)
        return strips

    def settle(self, kind: str, rank: int, column: int, vertices: np.ndarray, parents: np.ndarray) -> None:
        """Send the vertices to their owner, in the same row of ranks, which settles those that are not visited."""
        owner = rank // self.width * self.width + column
        vertices, _ = self.send(kind, rank, owner, vertices.astype(ID), parents.astype(ID))
        own = self.distances[owner]
        own[vertices[own[vertices] == UNREACHED]] = self.level

    def top_down(self) -> None:
        frontier = [np.flatnonzero(own == self.level - 1).astype(ID) for own in self.distances]
        for rank, pieces in enumerate(self.expand("expand", frontier)):
            u = np.concatenate([piece + at * self.piece for at, piece in enumerate(pieces)])
            place, v = entries(self.out[rank], u)
            v, first = np.unique(v, return_index=True)
            fresh = ~self.passed[rank, v]
            v, parents = v[fresh], u[place[first[fresh]]]
            self.passed[rank, v] = True
            for column in range(self.width):
                there = v // self.piece == column
                self.settle("fold", rank, column, v[there] % self.piece, parents[there])

    def bottom_up(self) -> None:
        """In as many steps as there are columns, each rank looks for parents of one piece of its row's vertices, and
        passes on that piece's visited vertices."""
        frontier = [np.packbits(own == self.level - 1) for own in self.distances]
        strips = [np.unpackbits(np.concatenate(pieces)).astype(bool) for pieces in self.expand("bitmap", frontier)]
        visited = list(np.packbits((self.distances != UNREACHED) | self.isolated, axis=1))
        for step in range(self.width):
            for rank, strip in enumerate(strips):
                column = (rank + step) % self.width
                seen = np.unpackbits(visited[rank]).astype(bool)
                v = np.flatnonzero(~seen)
                place, u = entries(self.into[rank], v + column * self.piece)
                found, first = np.unique(place[strip[u]], return_index=True)
                self.settle("parents", rank, column, v[found], u[strip[u]][first])
                seen[v[found]] = True
                self.passed[rank, column * self.piece : (column + 1) * self.piece] |= seen
                visited[rank] = np.packbits(seen)
            if step + 1 < self.width:
                before = [rank // self.width * self.width + (rank + 1) % self.width for rank in range(self.size)]
                visited = [self.send("rotate", at, rank, visited[at])[0] for rank, at in enumerate(before)]
