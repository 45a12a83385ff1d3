"""Connected components as a label for each vertex, directions aside, by trees of pointers to smaller vertices.

Each vertex points to one of its own component that is no larger; a root points to itself. An edge joins two trees: the
larger root is made to point into the other tree. A few edges join most of the graph already, so the most frequent root
among some vertices is that of the largest component; where each edge exists in both directions, the vertices of that
component can skip their other edges. The few are the first edges of all vertices; or, if edges go both ways, no
vertex is masked, and roots will be few or labels fit a cache:

1. Each vertex takes the label of its first neighbour if that is smaller. In ascending order that label is a root, so
   there is nothing to search for and no branch to mispredict.
2. The vertices that are still roots are joined with their first neighbours. If roots are few, as where neighbours
   ascend, these are `FEW`. If they are many, `SOME` neighbours are looked at, without a branch, and two labels joined;
   that needs random reads of labels.
3. If few vertices have the most frequent root now, the second neighbours of all vertices are joined too.
4. If roots were few, trees are flattened in the pass over the other edges. Where many vertices lie outside of the
   largest component, its branches would wait for two loads instead of one, so they are flattened before.

One thread; O(n + m) but for the height of the trees, which is kept small.

Sources: M. Sutton, T. Ben-Nun, A. Barak, Optimizing parallel graph connectivity computation via subgraph sampling,
IPDPS 2018; M. M. A. Patwary, J. Blair, F. Manne, Experiments on union-find algorithms for the disjoint-set data
structure, SEA 2010, for joining trees. Steps 1 to 4 are ours.
"""

from functools import partial

import numpy as np
from numba import njit

from .bits import ONE
from .compiled import serial

ROUNDS = 2  # first edges of a vertex
FEW, SOME = np.uint64(4), np.uint64(8)  # first edges of a root
CACHED = 1 << 17  # labels
SAMPLE = 1024  # vertices
MANY = SAMPLE // 4  # roots among them
HEIGHT = 3  # of most trees once a few edges are joined
ENOUGH = SAMPLE // 2  # of them in one component, to do without the second edges


@serial
def label(offsets, targets, symmetric, allowed, labels):
    """Fill ``labels[n]`` with the component of each vertex; return how many components there are.

    They are numbered from 0 in the order of their first vertices. ``symmetric``: is each edge there in both directions?
    ``allowed[n]`` is a mask of the vertices that count, or has length 0; the others are labelled -1.
    """
    n = np.uint64(len(labels))
    largest = np.int64(-1)
    done = np.uint64(0)  # first edges of all vertices
    few = n > 0 and _count_roots(offsets, targets) < MANY
    if symmetric and len(allowed) == 0 and n > 0 and (few or n <= CACHED):
        largest = _join_most(offsets, targets, few, labels)
        if few:
            _join_others(offsets, targets, largest, labels)
            return _number(allowed, labels)
    else:
        _join_first(offsets, targets, allowed, labels)
        done = np.uint64(ROUNDS)
        if symmetric and n > 0:
            largest, _ = _most_frequent(labels, True)
    for vertex in range(n):
        # Once it is joined to a smaller one, `largest` is no root any more.
        if largest < 0 or (labels[vertex] != largest and labels[vertex] != labels[largest]):
            for edge in range(np.uint64(offsets[vertex]) + done, np.uint64(offsets[vertex + ONE])):
                if _is_allowed(allowed, vertex, targets[edge]):
                    _join(labels, vertex, targets[edge])
    return _number(allowed, labels)


@serial
def _join_others(offsets, targets, largest, labels):
    """Join the ends of all edges of vertices outside of the ``largest`` component, and flatten the trees on the way: a
    vertex that points to no root then, for joins have moved it, is joined once more."""
    for vertex in range(np.uint64(len(labels))):
        root = labels[vertex] = labels[np.uint64(labels[vertex])]
        if root != largest and root != labels[largest]:
            for edge in range(np.uint64(offsets[vertex]), np.uint64(offsets[vertex + ONE])):
                _join(labels, vertex, targets[edge])


@serial
def _count_roots(offsets, targets):
    """How many of `SAMPLE` vertices, evenly spread, have no first neighbour that is smaller."""
    n, roots = len(offsets) - 1, 0
    for i in range(SAMPLE):
        vertex = i * n // SAMPLE
        edge = offsets[vertex]
        roots += edge == offsets[vertex + 1] or targets[edge] >= vertex
    return roots


@serial
def _join_first(offsets, targets, allowed, labels):
    """Join the ends of the first `ROUNDS` edges of each vertex."""
    for vertex in range(len(labels)):
        labels[vertex] = vertex
    for place in range(ROUNDS):
        for vertex in range(len(labels)):
            edge = offsets[vertex] + place
            if edge < offsets[vertex + 1] and _is_allowed(allowed, vertex, targets[edge]):
                _join(labels, vertex, targets[edge])
        _flatten(labels)


@serial
def _is_allowed(allowed, one, other):
    """Does an edge between these vertices count?"""
    return len(allowed) == 0 or (allowed[one] and allowed[other])


@serial
def _join_most(offsets, targets, few, labels):
    """Join the ends of a few edges, which join most of the graph; return the most frequent label. ``few``: are roots
    few?"""
    n = np.uint64(len(labels))
    _point_to_first(offsets, targets, labels)
    if few:
        for vertex in range(n):
            if labels[vertex] == vertex:
                for edge in _first_edges(offsets, vertex, FEW):
                    _join(labels, vertex, targets[edge])
    else:
        for vertex in range(n):
            if labels[vertex] == vertex:
                _join_extremes(offsets, targets, vertex, labels)
    largest, votes = _most_frequent(labels, not few)
    if votes < ENOUGH:
        if few:
            _flatten(labels)
        _join_second(offsets, targets, labels)
        largest, votes = _most_frequent(labels, not few)
    return largest


@serial
def _join_second(offsets, targets, labels):
    """Join the ends of each vertex's second edge."""
    for vertex in range(np.uint64(len(labels))):
        edge = np.uint64(offsets[vertex]) + ONE
        if edge < np.uint64(offsets[vertex + ONE]):
            _join(labels, vertex, targets[edge])


@serial
def _point_to_first(offsets, targets, labels):
    """Let each vertex point to the root of its first neighbour if that is smaller, else to itself."""
    edge = np.uint64(offsets[0])
    for vertex in range(np.uint64(len(labels))):
        end = np.uint64(offsets[vertex + ONE])
        smaller = min(vertex, np.uint64(targets[edge])) if edge < end else vertex
        edge = end
        labels[vertex] = vertex
        labels[vertex] = labels[smaller]


@njit(inline="always")
def _first_edges(offsets, vertex, most):
    """The first edges of a vertex, so many at most."""
    first = np.uint64(offsets[vertex])
    return range(first, min(first + most, np.uint64(offsets[vertex + ONE])))


@njit(inline="always")
def _join_extremes(offsets, targets, root, labels):
    """Join a root with the smallest and the largest label, its own aside, of its first `SOME` neighbours."""
    low, high = root, np.uint64(0)
    for edge in _first_edges(offsets, root, SOME):
        label = np.uint64(labels[np.uint64(targets[edge])])
        low = min(low, label)
        high = max(high, label if label != root else np.uint64(0))
    if low != root:
        _join(labels, root, low)
    if high > low:
        _join(labels, root, high)


@serial
def join_rows(offsets, targets, base, symmetric, pointers):
    """Join the ends of the arcs of some rows, of which the first is that of the vertex ``base``, and flatten the trees.

    ``symmetric``: is each edge there in both directions, in some row?
    """
    for row in range(len(offsets) - 1):
        for edge in range(offsets[row], offsets[row + 1]):
            if not symmetric or targets[edge] < base + row:
                _join(pointers, base + row, targets[edge])
    _flatten(pointers)


@serial
def join_pointers(others, pointers):
    """Join each vertex with where it points in ``others``, and flatten the trees."""
    for vertex in range(len(others)):
        if others[vertex] != vertex:
            _join(pointers, vertex, others[vertex])
    _flatten(pointers)


@serial
def number(roots, vertices, numbers, labels):
    """Number the roots of ``vertices`` from 0 in the order in which they come first: fill ``labels[len(vertices)]``.

    ``numbers[len(roots)]`` is -1 throughout. Returns how many there are.
    """
    count = 0
    for place in range(len(vertices)):
        root = roots[vertices[place]]
        if numbers[root] < 0:
            numbers[root] = count
            count += 1
        labels[place] = numbers[root]
    return count


@partial(serial, forceinline=True)  # LLVM would inline it here and not there
def _join(pointers, one, other):
    """Join the trees of two vertices by Rem's algorithm with splicing: on the way up, each vertex is moved to where the
    other way points."""
    one, other = np.uint64(one), np.uint64(other)
    high, low = np.uint64(pointers[one]), np.uint64(pointers[other])
    while high != low:
        if high < low:
            one, other, high, low = other, one, low, high
        pointers[one] = low
        if high == one:  # it was a root
            return
        one, high = high, np.uint64(pointers[high])


@serial
def _flatten(pointers):
    """Make each vertex point to its root."""
    for vertex in range(len(pointers)):
        pointers[vertex] = pointers[pointers[vertex]]  # smaller vertices point to theirs already


@serial
def _most_frequent(labels, flatten):
    """The most frequent root among `SAMPLE` vertices, evenly spread, and how many have it, those aside that are more
    than `HEIGHT` below it. ``flatten``: make the trees flat before?"""
    steps = HEIGHT
    if flatten:
        _flatten(labels)
        steps = 1
    keys, votes = np.zeros(4 * SAMPLE, labels.dtype), np.zeros(4 * SAMPLE, np.int64)  # a hash table
    most = 0
    for i in range(SAMPLE):
        label = np.uint64(i * len(labels) // SAMPLE)
        for _ in range(steps):  # no branch to mispredict
            label = np.uint64(labels[label])
        slot = label % len(keys)
        while votes[slot] and keys[slot] != label:
            slot = (slot + 1) % len(keys)
        keys[slot] = label
        votes[slot] += 1
        if votes[slot] > votes[most]:
            most = slot
    root = keys[most]
    while labels[root] != root:
        root = labels[root]
    return np.int64(root), votes[most]


@serial
def _number(allowed, labels):
    """Replace each pointer by the number of its root among the roots that are allowed, in ascending order; return how
    many there are. Vertices that are not allowed get -1."""
    count = 0
    for vertex in range(np.uint64(len(labels))):
        smaller = np.uint64(labels[vertex])
        if len(allowed) and not allowed[vertex]:
            labels[vertex] = -1
        elif smaller == vertex:
            labels[vertex] = count
            count += 1
        else:
            labels[vertex] = labels[smaller]  # a number already
    return count
