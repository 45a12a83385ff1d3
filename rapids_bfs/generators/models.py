"""Random graphs that look like real ones: meshes, road networks, small worlds. They are made on the CPU."""

from __future__ import annotations

import numpy as np

from .._core.memory import require_bytes
from ..graph import Graph
from .drawn import SEED, checked_scale
from .draws import Draws
from .regular import undirected

RADIUS = 0.55  # of rgg, times sqrt(ln n / n)
ROAD_DEGREE = 2.6
NEIGHBORS, REWIRED = 10, 0.1  # of each vertex of smallworld, and the share of its edges


def rgg(scale: int, *, seed: int = SEED) -> Graph:
    """A random geometric graph: 2**scale points in the unit square, joined if at most 0.55 sqrt(ln n / n) apart.

    All but a few vertices are connected.
    M. Holtgrewe, P. Sanders, C. Schulz, Engineering a scalable high quality graph partitioner, IPDPS 2010; the graphs
    rgg_n_2_S_s0 of the 10th DIMACS Implementation Challenge, 2012.
    """
    from scipy.spatial import cKDTree

    n = model_size("rgg", scale, bytes_each=100 + 40 * max(scale, 0))
    tree = cKDTree(_points(n, Draws(seed)))
    pairs = tree.query_pairs(RADIUS * np.sqrt(np.log(n) / n), output_type="ndarray")
    return undirected(f"rgg:{scale}", n, *pairs.T)


def delaunay(scale: int, *, seed: int = SEED) -> Graph:
    """The Delaunay triangulation of 2**scale random points in the unit square.

    The graphs delaunay_nS of the 10th DIMACS Implementation Challenge, 2012.
    """
    from .triangulation import delaunay_edges

    n = model_size("delaunay", scale, bytes_each=200)
    return undirected(f"delaunay:{scale}", n, *delaunay_edges(_points(n, Draws(seed))))


def road(scale: int, *, seed: int = SEED) -> Graph:
    """A connected plane graph with a road network's degrees and diameter, of 2**scale random points.

    It is the Euclidean minimum spanning tree, which lies in the Delaunay triangulation, with other edges of that, short
    ones and some longer ones at random, to a mean degree of 2.6. The shortest alone would close small circles only, and
    leave the tree's diameter. Road networks of the 9th DIMACS Implementation Challenge have 2.4 to 2.8.
    G. Toussaint, The relative neighbourhood graph of a finite planar set, Pattern Recognition 12, 1980;
    C. Demetrescu, A. Goldberg, D. Johnson (eds.), The Shortest Path Problem, AMS 2009.
    """
    from .triangulation import delaunay_edges, spanning_tree

    n = model_size("road", scale, bytes_each=240)
    draws = Draws(seed)
    points = _points(n, draws)
    source, target = delaunay_edges(points)
    lengths = np.hypot(*(points[source] - points[target]).T)
    chosen = spanning_tree(n, source, target, np.argsort(lengths, kind="stable"))
    others = np.flatnonzero(~chosen)
    costs = lengths[others] * draws.uniform(len(others))
    more = min(int(ROAD_DEGREE / 2 * n) - (n - 1), len(others))
    if more > 0:
        chosen[others[costs <= np.partition(costs, more - 1)[more - 1]]] = True
    return undirected(f"road:{scale}", n, source[chosen], target[chosen])


def smallworld(scale: int, *, seed: int = SEED) -> Graph:
    """A ring of 2**scale vertices, each joined to its 10 nearest; a tenth of the edges end in a random vertex instead.

    Loops and duplicates that arise are dropped.
    D. Watts, S. Strogatz, Collective dynamics of small-world networks, Nature 393, 1998.
    """
    n = model_size("smallworld", scale, bytes_each=64 * NEIGHBORS)
    draws = Draws(seed)
    source = np.repeat(np.arange(n), NEIGHBORS // 2)
    target = (source + np.tile(np.arange(1, NEIGHBORS // 2 + 1), n)) % n
    rewired = draws.uniform(len(source)) < REWIRED
    target[rewired] = draws.below(n, int(rewired.sum()))
    return undirected(f"smallworld:{scale}", n, source, target).simple


def _points(n: int, draws: Draws) -> np.ndarray:
    """n random points in the unit square, as n x 2 float64, along a Z-order curve: near points have near numbers."""
    points = draws.uniform(n, 2)
    cells = (points * 2**16).astype(np.uint64)
    for shift, mask in ((8, 0x00FF00FF), (4, 0x0F0F0F0F), (2, 0x33333333), (1, 0x55555555)):
        cells = (cells | cells << np.uint64(shift)) & np.uint64(mask)
    return points[np.argsort(cells[:, 0] << np.uint64(1) | cells[:, 1], kind="stable")]


def model_size(kind: str, scale: int, *, bytes_each: int) -> int:
    """2**scale. Raises `InputError` if there is no such graph, or its vertices need more memory than there is."""
    n = 1 << checked_scale(scale, f"{kind}: the scale")
    require_bytes(bytes_each * n, f"generating {kind}:{scale}")
    return n
