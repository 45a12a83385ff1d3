"""Many small searches: the shortest cycle, and how well the neighbours of each vertex are connected."""

import numpy as np
from numba import prange

from ..compiled import parallel, serial


@serial
def girth(offsets, targets):
    """The length of a shortest cycle of an undirected graph without parallel edges; 0 if there is none.

    A search from each vertex, as deep as a shorter cycle could lie. O(n m).
    Source: A. Itai, M. Rodeh, Finding a minimum circuit in a graph, SIAM Journal on Computing 7(4), 1978.
    """
    n = len(offsets) - 1
    distances = np.full(n, -1, np.int64)
    parents = np.empty(n, np.int64)
    queue = np.empty(n, np.int64)
    shortest = np.int64(0)
    for source in range(n):
        distances[source] = 0
        parents[source] = -1
        queue[0] = source
        head, tail = 0, 1
        while head < tail and not (shortest and 2 * distances[queue[head]] + 1 >= shortest):
            vertex = queue[head]
            head += 1
            for edge in range(offsets[vertex], offsets[vertex + 1]):
                neighbor = targets[edge]
                if distances[neighbor] < 0:
                    distances[neighbor] = distances[vertex] + 1
                    parents[neighbor] = vertex
                    queue[tail] = neighbor
                    tail += 1
                elif neighbor != parents[vertex]:
                    length = distances[vertex] + distances[neighbor] + 1
                    if not shortest or length < shortest:
                        shortest = length
        for i in range(tail):
            distances[queue[i]] = -1
    return shortest


@parallel
def efficiencies(offsets, targets, threads):
    """The global efficiency (float64, n) of the graph that the neighbours of each vertex span.

    A vertex with a self-loop is its own neighbour. O(sum over v of the edges at v's neighbours, per neighbour).
    """
    n = len(offsets) - 1
    efficiency = np.zeros(n)
    for thread in prange(threads):
        inside = np.zeros(n, np.bool_)
        distances = np.full(n, -1, np.int64)
        queue = np.empty(n, np.int64)
        for vertex in range(thread, n, threads):
            neighbors = targets[offsets[vertex] : offsets[vertex + 1]]
            for neighbor in neighbors:
                inside[neighbor] = True
            total = 0.0
            for source in neighbors:
                distances[source] = 0
                queue[0] = source
                head, tail = 0, 1
                while head < tail:
                    at = queue[head]
                    head += 1
                    for edge in range(offsets[at], offsets[at + 1]):
                        other = targets[edge]
                        if inside[other] and distances[other] < 0:
                            distances[other] = distances[at] + 1
                            queue[tail] = other
                            tail += 1
                            total += 1 / distances[other]
                for i in range(tail):
                    distances[queue[i]] = -1
            for neighbor in neighbors:
                inside[neighbor] = False
            pairs = len(neighbors) * (len(neighbors) - 1)
            if pairs:
                efficiency[vertex] = total / pairs
    return efficiency
