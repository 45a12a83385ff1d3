"""Connected components as a label for each vertex, directions aside, by trees of pointers to smaller vertices.

Each vertex points to one of its own component that is no larger; a root points to itself. An edge joins two trees: the
larger root is made to point into the other tree. The first edges of all vertices join most of the graph already, so the
most frequent root among some vertices is that of the largest component; where each edge exists in both directions, the
vertices of that component can skip their other edges. One thread; O(n + m) but for the height of the trees, which is
kept small.

Sources: M. Sutton, T. Ben-Nun, A. Barak, Optimizing parallel graph connectivity computation via subgraph sampling,
IPDPS 2018; M. M. A. Patwary, J. Blair, F. Manne, Experiments on union-find algorithms for the disjoint-set data
structure, SEA 2010, for joining trees.
"""

import numpy as np

from .compiled import serial

ROUNDS = 2  # first edges of a vertex
SAMPLE = 1024  # vertices


@serial
def label(offsets, targets, symmetric, allowed, labels):
    """Fill ``labels[n]`` with the component of each vertex; return how many components there are.

    They are numbered from 0 in the order of their first vertices. ``symmetric``: is each edge there in both directions?
    ``allowed[n]`` is a mask of the vertices that count, or has length 0; the others are labelled -1.
    """
    n = len(labels)
    for vertex in range(n):
        labels[vertex] = vertex
    for place in range(ROUNDS):
        for vertex in range(n):
            edge = offsets[vertex] + place
            if edge < offsets[vertex + 1] and _is_allowed(allowed, vertex, targets[edge]):
                _join(labels, vertex, targets[edge])
        _flatten(labels)
    largest = _most_frequent(labels) if symmetric and n else -1
    for vertex in range(n):
        if labels[vertex] != largest:
            for edge in range(offsets[vertex] + ROUNDS, offsets[vertex + 1]):
                if _is_allowed(allowed, vertex, targets[edge]):
                    _join(labels, vertex, targets[edge])
    _flatten(labels)
    return _number(allowed, labels)


@serial
def _is_allowed(allowed, one, other):
    """Does an edge between these vertices count?"""
    return len(allowed) == 0 or (allowed[one] and allowed[other])


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


@serial
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
def _most_frequent(labels):
    """The most frequent label of `SAMPLE` vertices, evenly spread."""
    keys, votes = np.zeros(4 * SAMPLE, labels.dtype), np.zeros(4 * SAMPLE, np.int64)  # a hash table
    most = 0
    for i in range(SAMPLE):
        label = labels[i * len(labels) // SAMPLE]
        slot = label % len(keys)
        while votes[slot] and keys[slot] != label:
            slot = (slot + 1) % len(keys)
        keys[slot] = label
        votes[slot] += 1
        if votes[slot] > votes[most]:
            most = slot
    return keys[most]


@serial
def _number(allowed, roots):
    """Replace each root by its number among the roots that are allowed, in ascending order; return how many there are.
    Others become -1."""
    count = 0
    for vertex in range(len(roots)):
        if len(allowed) and not allowed[vertex]:
            roots[vertex] = -1
        elif roots[vertex] == vertex:
            roots[vertex] = count
            count += 1
        else:
            roots[vertex] = roots[roots[vertex]]
    return count
