"""The Delaunay triangulation of random points: incremental, by Lawson's flips, in time linear in practice.

The points come along a space-filling curve. First every 2^k-th of them is inserted, then those halfway between, and so
on: each lies near the one before it, and in a triangulation whose points are spread over the whole square, so that the
walk to its triangle is a few steps. Outside the convex hull lie triangles with a vertex at infinity, one for each edge
of the hull, so that no insertion is a special case.

B. Delaunay, Sur la sphère vide, 1934; C. Lawson, Software for C1 surface interpolation, 1977; N. Amenta, S. Choi,
G. Rote, Incremental constructions con BRIO, SoCG 2003; O. Devillers, S. Pion, M. Teillaud, Walking in a triangulation,
IJFCS 13, 2002; J. Shewchuk, Adaptive precision floating-point arithmetic and fast robust geometric predicates, 1997.
"""

from __future__ import annotations

import numpy as np

from .._core.dtypes import index_dtype
from ..errors import InputError
from ..kernels.cpu import njit
from ..kernels.cpu.compiled import serial
from ..kernels.cpu.splitmix import random_bits

EPSILON = 2.0**-53
SIDE_ERROR = (3 + 16 * EPSILON) * EPSILON  # relative, of rounded determinants, see Shewchuk
CIRCLE_ERROR = (10 + 96 * EPSILON) * EPSILON
SPLITTER = 2.0**27 + 1


def delaunay_edges(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The edges of the points' Delaunay triangulation, each once: ``source`` ascends, then ``target``, which is larger.

    ``points``: float64, shape (n, 2), distinct multiples of 2^-53 in [0, 1) along a space-filling curve. Its beginning,
    middle and quarter (`_triangulate`) are not on one line. Where four are on one circle, within rounding, either
    diagonal may be there. Raises `InputError` if two coincide or the first three are on one line, which random points
    never do.
    """
    n = len(points)
    if n < 3:
        source, target = np.triu_indices(n, 1)
        return source, target
    halves = 3 * (2 * n - 2)  # a triangulation of the sphere, with the vertex at infinity
    corners, twins = np.empty((2, halves), index_dtype(halves))
    if not _triangulate(points, corners, twins):
        raise InputError("two of the random points coincide, or three are on one line: draw others, with another seed")
    keys = np.empty(3 * n, np.int64)
    keys = np.sort(keys[: _finite_edges(corners, n, keys)])
    return np.divmod(keys, n)


@serial
def spanning_tree(n, source, target, order):
    """Which edges a minimum spanning tree has, if they are sorted by ``order`` (J. Kruskal, 1956)."""
    parent = np.arange(n)
    chosen = np.zeros(len(source), np.bool_)
    for edge in order:
        u, v = source[edge], target[edge]
        while parent[u] != u:
            parent[u] = u = parent[parent[u]]
        while parent[v] != v:
            parent[v] = v = parent[parent[v]]
        if u != v:
            parent[max(u, v)] = min(u, v)
            chosen[edge] = True
    return chosen


# Half-edge e leads from corners[e] to the corner of the next one of its triangle, 3 * (e // 3) to 3 * (e // 3) + 2,
# counterclockwise; twins[e] is the same edge in the other triangle. The vertex at infinity is n.


@njit(inline="always")
def _next(e):
    return e - 2 if e % 3 == 2 else e + 1


@njit(inline="always")
def _previous(e):
    return e + 2 if e % 3 == 0 else e - 1


@njit(inline="always")
def _product(x, y):
    """x * y exactly, as the sum of two floats, the first of which is the rounded product (T. Dekker, 1971)."""
    high = x * y
    c = SPLITTER * x
    x_high = c - (c - x)
    x_low = x - x_high
    c = SPLITTER * y
    y_high = c - (c - y)
    y_low = y - y_high
    return high, x_low * y_low - (((high - x_high * y_high) - x_low * y_high) - x_high * y_low)


@njit
def _side(points, a, b, p):
    """Positive if point ``p`` is left of the line from ``a`` to ``b``, negative if right, 0 if on it: exactly.

    Differences of multiples of 2^-53 below 1 are exact.
    """
    ax, ay = points[a, 0] - points[p, 0], points[a, 1] - points[p, 1]
    bx, by = points[b, 0] - points[p, 0], points[b, 1] - points[p, 1]
    left, right = ax * by, ay * bx
    rounded = left - right
    if abs(rounded) > SIDE_ERROR * (abs(left) + abs(right)):
        return rounded
    left, left_low = _product(ax, by)
    right, right_low = _product(ay, bx)
    return left - right if left != right else left_low - right_low


@njit
def _sees(points, a, b, p):
    """Is ``p`` left of the line from ``a`` to ``b``, or between them?"""
    side = _side(points, a, b, p)
    k = 0 if points[a, 0] != points[b, 0] else 1
    return side > 0 or (side == 0 and (points[a, k] < points[p, k]) == (points[p, k] < points[b, k]))


@njit
def _in_circle(points, a, b, c, p):
    """Is ``p`` certainly in the circle through a, b and c? If one is infinity: does it see the edge opposite, or lie on
    it?"""
    n = len(points)
    if a == n:
        return _sees(points, b, c, p)
    if b == n:
        return _sees(points, c, a, p)
    if c == n:
        return _sees(points, a, b, p)
    px, py = points[p, 0], points[p, 1]
    ax, ay = points[a, 0] - px, points[a, 1] - py
    bx, by = points[b, 0] - px, points[b, 1] - py
    cx, cy = points[c, 0] - px, points[c, 1] - py
    a2, b2, c2 = ax * ax + ay * ay, bx * bx + by * by, cx * cx + cy * cy
    determinant = a2 * (bx * cy - cx * by) + b2 * (cx * ay - ax * cy) + c2 * (ax * by - bx * ay)
    size = a2 * (abs(bx * cy) + abs(cx * by)) + b2 * (abs(cx * ay) + abs(ax * cy)) + c2 * (abs(ax * by) + abs(bx * ay))
    return determinant > CIRCLE_ERROR * size


@njit
def _link(twins, e, f):
    twins[e] = f
    twins[f] = e


@njit
def _begin(points, a, b, c, corners, twins):
    """Make a triangle of three points, and three around it with the vertex at infinity."""
    if _side(points, a, b, c) < 0:
        b, c = c, b
    corners[:3] = a, b, c
    for e in range(3):
        outer = 3 + 3 * e
        corners[outer], corners[outer + 1], corners[outer + 2] = corners[_next(e)], corners[e], len(points)
        _link(twins, e, outer)
        _link(twins, outer + 1, 3 + 3 * _previous(e) + 2)


@njit
def _located(points, corners, twins, t, p):
    """The triangle that holds ``p``, or one at infinity that sees it, by a walk from triangle ``t``.

    The first side that it tests is random: such a walk ends in any triangulation.
    """
    n = len(points)
    e = _opposite_infinity(corners, t, n)
    if e >= 0:
        t = twins[e] // 3
    came = -1
    step = 0
    while True:
        turn = np.int64(random_bits(p, step) % np.uint64(3))
        step += 1
        crossed = -1
        for k in range(3):
            e = 3 * t + (turn + k) % 3
            if e != came and _side(points, corners[e], corners[_next(e)], p) < 0:
                crossed = e
                break
        if crossed < 0:
            return t
        came = twins[crossed]
        t = came // 3
        if _opposite_infinity(corners, t, n) >= 0:
            return t


@njit
def _has_corner_at(points, corners, t, p):
    """Does ``p`` coincide with a corner of triangle ``t``?"""
    n = len(points)
    for e in range(3 * t, 3 * t + 3):
        c = corners[e]
        if c < n and points[c, 0] == points[p, 0] and points[c, 1] == points[p, 1]:
            return True
    return False


@njit
def _opposite_infinity(corners, t, n):
    """The half-edge of triangle ``t`` opposite infinity, -1 if that is none of its corners."""
    for e in range(3 * t, 3 * t + 3):
        if corners[e] == n:
            return _next(e)
    return -1


@njit
def _split(corners, twins, t, last, p):
    """Divide triangle ``t`` into three around ``p``: itself, and those numbered ``last`` and ``last + 1``."""
    e, f, g = 3 * t, 3 * last, 3 * last + 3
    a, b, c = corners[e], corners[e + 1], corners[e + 2]
    _link(twins, f, twins[e + 1])
    _link(twins, g, twins[e + 2])
    corners[e + 2] = p
    corners[f], corners[f + 1], corners[f + 2] = b, c, p
    corners[g], corners[g + 1], corners[g + 2] = c, a, p
    _link(twins, e + 1, f + 2)
    _link(twins, f + 1, g + 2)
    _link(twins, g + 1, e + 2)


@njit
def _flip(corners, twins, e):
    """Replace the edge ``e``, and its twin, by the other diagonal of their two triangles; return the half-edge opposite
    the point opposite ``e`` that has the same start as ``e``."""
    f = twins[e]
    before, after = _previous(e), _previous(f)
    point, other = corners[before], corners[after]
    corners[e], corners[f] = other, point
    _link(twins, e, twins[after])
    _link(twins, f, twins[before])
    _link(twins, before, after)
    return _next(f)


@njit
def _make_delaunay(points, corners, twins, e, p):
    """Flip the edges opposite ``p``, one of which is ``e``, counterclockwise until none has ``p`` in the circle of the
    triangle beyond it; return the last."""
    first = corners[e]
    while True:
        f = twins[e]
        if _in_circle(points, corners[f], corners[_next(f)], corners[_previous(f)], p):
            e = _flip(corners, twins, e)
        else:
            e = _next(twins[_next(e)])
            if corners[e] == first:
                return e


@serial
def _triangulate(points, corners, twins):
    """Fill ``corners`` and ``twins``, each 6 n - 6; return whether the points are in general position, as far as an end
    of the walks needs it: the first triangle has an area, and no two coincide."""
    n = len(points)
    stride = 1
    while 2 * stride < n:
        stride *= 2
    if _side(points, 0, stride, stride // 2) == 0:
        return False
    _begin(points, 0, stride, stride // 2, corners, twins)
    t = 0
    last = 4
    p = stride + stride // 2  # earlier points are in already
    stride //= 2
    while stride:
        while p < n:
            t = _located(points, corners, twins, t, p)
            if _has_corner_at(points, corners, t, p):
                return False
            _split(corners, twins, t, last, p)
            t = _make_delaunay(points, corners, twins, 3 * t, p) // 3
            last += 2
            p += 2 * stride
        stride //= 2
        p = stride
    return True


@serial
def _finite_edges(corners, n, keys):
    """Fill ``keys`` with n u + v for each edge u < v between points; return how many there are."""
    found = 0
    for e in range(len(corners)):
        u, v = np.int64(corners[e]), np.int64(corners[_next(e)])
        if u < v < n:
            keys[found] = n * u + v
            found += 1
    return found
