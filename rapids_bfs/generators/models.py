"""Random graphs that look like real ones: meshes, road networks, the web, small worlds.

They are made on the CPU, from the raw bits of PCG64, which NumPy promises not to change (NEP 19): the same seed gives
the same graph. SciPy is imported when it is first needed.
"""

from __future__ import annotations

import numpy as np

from .._core.arguments import whole_number
from .._core.memory import require_bytes
from ..adapters.edges import from_edges
from ..errors import InputError
from ..graph import Graph
from .drawn import SEED
from .regular import undirected

MAX_SCALE = 28  # Qhull and SciPy's spanning trees count in 32 bits
RADIUS = 0.55  # of rgg, times sqrt(ln n / n)
ROAD_DEGREE = 2.6
NEIGHBORS, REWIRED = 10, 0.1  # of each vertex of smallworld, and the share of its edges
LINKS = 12  # mean number of links drawn for a page of the web
COPIED = 0.8  # the share of links that are copied
IN_HOST = 0.8  # the share of the other links that stay on the host
MODEL_IN_HOST = 0.95  # the share of copies that are made of a page on the same host
SMALLEST_HOST, LARGEST_HOST, HOST_TAIL = 8, 512, 1.1
ARCHIVES = 1 / 32  # the share of hosts whose pages form a chain


class _Draws:
    """Random numbers from a seed, in a fixed order."""

    def __init__(self, seed: int):
        self.bits = np.random.PCG64(whole_number(seed, "the seed"))

    def uniform(self, *shape: int) -> np.ndarray:
        """Float64 in [0, 1)."""
        return (self.bits.random_raw(shape) >> np.uint64(11)) * 2.0**-53

    def below(self, limits: np.ndarray | int, size: int) -> np.ndarray:
        """Int64, entry i in 0..limits[i] - 1."""
        return (self.uniform(size) * limits).astype(np.int64)


def rgg(scale: int, *, seed: int = SEED) -> Graph:
    """A random geometric graph: 2**scale points in the unit square, joined if at most 0.55 sqrt(ln n / n) apart.

    All but a few vertices are connected.
    M. Holtgrewe, P. Sanders, C. Schulz, Engineering a scalable high quality graph partitioner, IPDPS 2010; the graphs
    rgg_n_2_S_s0 of the 10th DIMACS Implementation Challenge, 2012.
    """
    from scipy.spatial import cKDTree

    n = _vertices("rgg", scale, bytes_each=100 + 40 * max(scale, 0))
    tree = cKDTree(_points(n, _Draws(seed)))
    pairs = tree.query_pairs(RADIUS * np.sqrt(np.log(n) / n), output_type="ndarray")
    return undirected(f"rgg:{scale}", n, *pairs.T)


def delaunay(scale: int, *, seed: int = SEED) -> Graph:
    """The Delaunay triangulation of 2**scale random points in the unit square.

    B. Delaunay, Sur la sphère vide, 1934, by C. Barber, D. Dobkin, H. Huhdanpaa, The Quickhull algorithm for convex
    hulls, ACM TOMS 22, 1996; the graphs delaunay_nS of the 10th DIMACS Implementation Challenge, 2012.
    """
    n = _vertices("delaunay", scale, bytes_each=1200)
    return undirected(f"delaunay:{scale}", n, *_triangulation(_points(n, _Draws(seed))))


def road(scale: int, *, seed: int = SEED) -> Graph:
    """A connected plane graph with a road network's degrees and diameter, of 2**scale random points.

    It is the Euclidean minimum spanning tree, which lies in the Delaunay triangulation, with other edges of that, short
    ones and some longer ones at random, to a mean degree of 2.6. The shortest alone would close small circles only, and
    leave the tree's diameter. Road networks of the 9th DIMACS Implementation Challenge have 2.4 to 2.8.
    G. Toussaint, The relative neighbourhood graph of a finite planar set, Pattern Recognition 12, 1980;
    C. Demetrescu, A. Goldberg, D. Johnson (eds.), The Shortest Path Problem, AMS 2009.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import minimum_spanning_tree

    n = _vertices("road", scale, bytes_each=1200)
    draws = _Draws(seed)
    points = _points(n, draws)
    source, target = _triangulation(points)
    lengths = np.hypot(*(points[source] - points[target]).T)
    ranks = np.empty(len(lengths))  # instead of lengths: in the same order, and none of them 0
    ranks[np.argsort(lengths, kind="stable")] = np.arange(1, len(lengths) + 1)
    tree = minimum_spanning_tree(coo_array((ranks, (source, target)), shape=(n, n)).tocsr())
    chosen = np.isin(ranks, tree.data)
    others = np.flatnonzero(~chosen)
    costs = lengths[others] * draws.uniform(len(others))
    chosen[others[np.argsort(costs, kind="stable")[: int(ROAD_DEGREE / 2 * n) - (n - 1)]]] = True
    return undirected(f"road:{scale}", n, source[chosen], target[chosen])


def smallworld(scale: int, *, seed: int = SEED) -> Graph:
    """A ring of 2**scale vertices, each joined to its 10 nearest; a tenth of the edges end in a random vertex instead.

    Loops and duplicates that arise are dropped.
    D. Watts, S. Strogatz, Collective dynamics of small-world networks, Nature 393, 1998.
    """
    n = _vertices("smallworld", scale, bytes_each=64 * NEIGHBORS)
    draws = _Draws(seed)
    source = np.repeat(np.arange(n), NEIGHBORS // 2)
    target = (source + np.tile(np.arange(1, NEIGHBORS // 2 + 1), n)) % n
    rewired = draws.uniform(len(source)) < REWIRED
    target[rewired] = draws.below(n, int(rewired.sum()))
    return undirected(f"smallworld:{scale}", n, source, target).simple


def web(scale: int, *, seed: int = SEED) -> Graph:
    """A directed graph like the web's: 2**scale pages, numbered host by host as in sorted URLs.

    The number of a page's links is geometric, 12 in the mean. Four fifths of them copy a link of an earlier page,
    mostly of the same host, so that in-degrees have a power law's tail. Of the others four fifths lead to a page of the
    host, the rest to another host's first page. Each page also links to the next of its host. The sizes of hosts have a
    heavy tail too, and one host in 32 is an archive, whose pages link to the next alone: a search has few large levels
    and then many small ones. Loops and duplicates are dropped.
    R. Kumar, P. Raghavan, S. Rajagopalan, D. Sivakumar, A. Tomkins, E. Upfal, Stochastic models for the web graph, FOCS
    2000 (copying); K. Bharat, B. Chang, M. Henzinger, M. Ruhl, Who links to whom, ICDM 2001 (hosts).
    """
    n = _vertices("web", scale, bytes_each=160 * LINKS)
    draws = _Draws(seed)
    first, size, archive = _hosts(n, draws)
    links = 1 + np.floor(np.log1p(-draws.uniform(n)) / np.log1p(-1 / LINKS)).astype(np.int64)
    links[archive] = 0
    page = np.repeat(np.arange(n), links)
    begin = np.concatenate([[0], np.cumsum(links)])
    m = len(page)

    near = draws.uniform(m) < IN_HOST
    target = np.where(near, first[page] + draws.below(size[page], m), first[draws.below(n, m)])
    near = (draws.uniform(m) < MODEL_IN_HOST) & (page > first[page])
    start = np.where(near, first[page], 0)
    model = start + draws.below(page - start, m)
    copied = (draws.uniform(m) < COPIED) & (model < page) & (links[model] > 0)
    origin = np.arange(m)  # of the copy: an earlier link
    origin[copied] = begin[model[copied]] + draws.below(links[model[copied]], int(copied.sum()))
    while not np.array_equal(further := origin[origin], origin):
        origin = further
    pages = np.arange(n)
    onward = pages[pages + 1 < first + size]
    source, target = np.concatenate([page, onward]), np.concatenate([target[origin], onward + 1])
    return from_edges(source, target, vertices=n, directed=True, name=f"web:{scale}").simple


def _hosts(n: int, draws: _Draws) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For each page its host's first page, the number of its host's pages, and whether the host is an archive.

    The sizes are a Pareto distribution's, between `SMALLEST_HOST` and `LARGEST_HOST`; the last host takes what is left.
    """
    most = n // SMALLEST_HOST + 1
    drawn = SMALLEST_HOST * (1 - draws.uniform(most)) ** (-1 / HOST_TAIL)
    ends = np.cumsum(np.minimum(drawn, LARGEST_HOST).astype(np.int64))
    ends = np.append(ends[ends < n], n)
    sizes = np.diff(ends, prepend=0)
    archive = draws.uniform(most)[: len(sizes)] < ARCHIVES
    return np.repeat(ends - sizes, sizes), np.repeat(sizes, sizes), np.repeat(archive, sizes)


def _points(n: int, draws: _Draws) -> np.ndarray:
    """n random points in the unit square, as n x 2 float64, along a Z-order curve: near points have near numbers."""
    points = draws.uniform(n, 2)
    cells = (points * 2**16).astype(np.uint64)
    for shift, mask in ((8, 0x00FF00FF), (4, 0x0F0F0F0F), (2, 0x33333333), (1, 0x55555555)):
        cells = (cells | cells << np.uint64(shift)) & np.uint64(mask)
    return points[np.argsort(cells[:, 0] << np.uint64(1) | cells[:, 1], kind="stable")]


def _triangulation(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The edges of the points' Delaunay triangulation, each once."""
    from scipy.spatial import Delaunay

    if len(points) < 3:
        source, target = np.triu_indices(len(points), 1)
        return source, target
    found = Delaunay(points)
    once = found.neighbors < np.arange(len(found.neighbors))[:, None]  # of two triangles the later one has the edge
    source, target = (np.roll(found.simplices, turn, axis=1)[once] for turn in (1, 2))
    return source, target


def _vertices(kind: str, scale: int, *, bytes_each: int) -> int:
    """2**scale. Raises `InputError` if there is no such graph, or its vertices need more memory than there is."""
    if whole_number(scale, f"{kind}: the scale") > MAX_SCALE:
        raise InputError(f"{kind}: the scale must be in 0..{MAX_SCALE}, not {scale}")
    require_bytes(bytes_each << scale, f"generating {kind}:{scale}")
    return 1 << scale
