"""Bounds of eccentricities, from distances and from neighbours. One thread, O(n) for all vertices.

Let e be the eccentricity of s. A vertex v from which s is ``to`` away has an eccentricity of at most e + to, and of at
least to; one that is ``from`` away from s has one of at least e - from, since the vertex farthest from s is at least
that far from v. The bounds of s itself meet. All components are bounded at once, each by a source of its own.

``labels[n]`` is the component of each vertex; ``lower[n]`` and ``upper[n]`` are the bounds of its eccentricity.

Source: F. W. Takes, W. A. Kosters, Determining the diameter of small world networks, CIKM 2011; M. Borassi et al., Fast
diameter and radius BFS-based computation in (weakly connected) real-world graphs, Theoretical Computer Science 586,
2015, for directed graphs.
"""

from .compiled import serial


@serial
def choose(labels, degrees, lower, upper, highest, chosen):
    """Fill ``chosen[components]`` with the vertex of each that is to be searched from next, -1 where all bounds meet.

    Of the vertices whose bounds do not meet it is that of the ``highest`` upper bound or the lowest lower bound, and of
    these the one of the largest degree.
    """
    chosen[:] = -1
    for vertex in range(len(labels)):
        if lower[vertex] == upper[vertex]:
            continue
        best = chosen[labels[vertex]]
        if best >= 0:
            ahead = upper[vertex] - upper[best] if highest else lower[best] - lower[vertex]
            if ahead < 0 or (ahead == 0 and degrees[vertex] <= degrees[best]):
                continue
        chosen[labels[vertex]] = vertex


@serial
def tighten(labels, distances_to, distances_from, farthest, lower, upper):
    """Tighten the bounds by the distances to and from the source of each component; -1 where it has none.

    ``farthest[components]`` is overwritten.
    """
    farthest[:] = 0
    for vertex in range(len(labels)):
        farthest[labels[vertex]] = max(farthest[labels[vertex]], distances_from[vertex])
    for vertex in range(len(labels)):
        if distances_to[vertex] >= 0:
            most = farthest[labels[vertex]]
            least = max(distances_to[vertex], most - distances_from[vertex])
            lower[vertex] = max(lower[vertex], least)
            upper[vertex] = min(upper[vertex], most + distances_to[vertex])


@serial
def spread(offsets, targets, vertices, lower, upper):
    """Tighten the bounds of the neighbours of ``vertices``, whose own meet, in a graph with each edge both ways.

    Eccentricities of neighbours differ by 1 at most. Every path from a vertex with one edge leads through its
    neighbour, so that it is 1 farther from all others, unless these are the neighbour alone.
    """
    for vertex in vertices:
        middle = lower[vertex]
        for edge in range(offsets[vertex], offsets[vertex + 1]):
            neighbor = targets[edge]
            is_leaf = offsets[neighbor + 1] - offsets[neighbor] == 1
            least = middle + 1 if is_leaf and middle > 1 else middle - 1
            lower[neighbor] = max(lower[neighbor], least)
            upper[neighbor] = min(upper[neighbor], middle + 1)
