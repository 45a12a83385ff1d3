"""Graphs made to look like real ones: their properties, against slow and independent constructions."""

from fractions import Fraction
from itertools import combinations
from math import dist, log, sqrt

import networkx as nx
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree
from scipy.spatial import ConvexHull, Delaunay, distance_matrix
from strategies import edges_of

from rapids_bfs import InputError, bfs, load
from rapids_bfs.generators import MODELS, generate
from rapids_bfs.generators.draws import Draws
from rapids_bfs.generators.models import _points
from rapids_bfs.generators.triangulation import delaunay_edges


def pairs_of(graph):
    return {(u, v) for u, v in edges_of(graph) if u < v}


@given(kind=st.sampled_from(sorted(MODELS)), scale=st.integers(0, 8), seed=st.integers(0, 99))
@settings(max_examples=60, deadline=None)
def test_each_is_simple_and_depends_on_its_seed_alone(kind, scale, seed):
    graph = generate(f"{kind}:{scale}", seed=seed)
    assert (graph.num_vertices, graph.name, graph.directed) == (1 << scale, f"{kind}:{scale}", kind == "web")
    assert (graph.num_loops, graph.num_duplicates) == (0, 0)
    if kind != "web":
        assert edges_of(graph) == sorted((v, u) for u, v in edges_of(graph))
    assert edges_of(generate(f"{kind}:{scale}", seed=seed)) == edges_of(graph)
    if scale >= 6:
        assert edges_of(generate(f"{kind}:{scale}", seed=seed + 1)) != edges_of(graph)


@given(scale=st.integers(0, 8), seed=st.integers(0, 99))
@settings(max_examples=20, deadline=None)
def test_geometric_graphs_join_all_pairs_that_are_near(scale, seed):
    n = 1 << scale
    points = _points(n, Draws(seed)).tolist()
    radius = 0.55 * sqrt(log(n) / n)
    near = {(u, v) for u, v in combinations(range(n), 2) if dist(points[u], points[v]) <= radius}
    assert pairs_of(generate(f"rgg:{scale}", seed=seed)) == near


@given(scale=st.integers(0, 8), seed=st.integers(0, 99))
@settings(max_examples=20, deadline=None)
def test_triangulations_have_the_sides_of_their_triangles(scale, seed):
    points = _points(1 << scale, Draws(seed))
    triangles = Delaunay(points).simplices.tolist() if scale > 1 else [range(1 << scale)]
    sides = {pair for triangle in triangles for pair in combinations(sorted(triangle), 2)}
    assert pairs_of(generate(f"delaunay:{scale}", seed=seed)) == sides


def turned(u, v, w):
    """Positive if the way from u by v to w turns left, 0 if it is straight."""
    return (v[0] - u[0]) * (w[1] - u[1]) - (v[1] - u[1]) * (w[0] - u[0])


def has_empty_circle(u, v, others):
    """Is there a circle through u and v without any of the others inside? All have whole coordinates.

    Its centre is the middle of u and v, and t times the vector from u to v turned by a right angle.
    """
    least, most = [], []
    for w in others:
        from_u, from_v = (w[0] - u[0], w[1] - u[1]), (w[0] - v[0], w[1] - v[1])
        inner, side = from_u[0] * from_v[0] + from_u[1] * from_v[1], turned(u, v, w)
        if side == 0 and inner < 0:
            return False
        if side:
            (most if side > 0 else least).append(Fraction(inner, 2 * side))
    return not least or not most or max(least) <= min(most)


@given(
    st.lists(st.tuples(*[st.integers(0, 3)] * 2), min_size=3, max_size=20).filter(lambda all: len({*all}) < len(all))
)
def test_points_that_coincide_are_refused(points):
    with pytest.raises(InputError, match="two of the random points coincide"):
        delaunay_edges(np.array(points) / 4)


@given(st.lists(st.tuples(*[st.integers(0, 5)] * 2), min_size=3, max_size=14, unique=True))
@settings(max_examples=100, deadline=None)
def test_triangulations_of_points_on_lines_and_circles_have_empty_circles(points):
    n = len(points)
    middle = 1 << ((n - 1).bit_length() - 1)
    assume(turned(points[0], points[middle], points[middle // 2]) != 0)
    source, target = delaunay_edges(np.array(points) / 8)
    assert (source < target).all()
    edges = set(zip(source.tolist(), target.tolist(), strict=True))
    sides = ConvexHull(points).equations
    on_hull = (abs(points @ sides[:, :2].T + sides[:, 2]) < 1e-9).any(axis=1).sum()
    assert len(edges) == len(source) == 3 * n - 3 - on_hull
    for u, v in edges:
        assert has_empty_circle(points[u], points[v], [w for w in points if w not in (points[u], points[v])])


@given(scale=st.integers(0, 8), seed=st.integers(0, 99))
@settings(max_examples=20, deadline=None)
def test_roads_lie_between_the_spanning_tree_and_the_triangulation(scale, seed):
    n = 1 << scale
    road, triangulation = (pairs_of(generate(f"{kind}:{scale}", seed=seed)) for kind in ("road", "delaunay"))
    points = _points(n, Draws(seed))
    spanning = minimum_spanning_tree(distance_matrix(points, points)).tocoo()
    tree = {(min(edge), max(edge)) for edge in zip(spanning.row.tolist(), spanning.col.tolist(), strict=True)}
    assert tree <= road <= triangulation
    assert len(road) == max(n - 1, min(len(triangulation), int(1.3 * n)))


def test_roads_are_connected_thin_and_long():
    road = generate("road:13")
    assert connected_components(road.to("scipy"), directed=False)[0] == 1
    assert 2.4 < road.degrees.mean() < 2.8
    assert road.degrees.min() == 1
    assert road.degrees.max() < 10
    depth = bfs(road, int(np.argmax(bfs(road, 0).distances))).depth
    assert sqrt(2**13) < depth < 4 * sqrt(2**13)


def test_points_near_each_other_have_near_numbers():
    points = _points(1 << 12, Draws(1))
    assert ((points >= 0) & (points < 1)).all()
    assert np.linalg.norm(np.diff(points, axis=0), axis=1).mean() < 3 / sqrt(1 << 12)


def test_small_worlds_are_clustered_rings_with_shortcuts():
    graph = generate("smallworld:12")
    n = graph.num_vertices
    assert 0.99 * 5 * n < graph.num_edges < 5 * n
    apart = np.array([min(v - u, n - (v - u)) for u, v in pairs_of(graph)])
    assert (apart > 5).mean() == pytest.approx(0.1, abs=0.01)
    assert graph.degrees.min() >= 5
    assert nx.average_clustering(graph.to("networkx")) == pytest.approx(2 / 3 * 0.9**3, abs=0.03)
    assert bfs(graph, 0).depth < 12  # a ring alone: n / 10


def test_the_web_has_skewed_in_degrees_hosts_and_a_long_tail():
    graph = generate("web:16")
    incoming = graph.reverse.degrees
    assert 5 < graph.degrees.mean() < 13
    assert incoming.max() > 5 * graph.degrees.max()
    assert incoming.max() > 50 * incoming.mean()
    source, target = np.array(edges_of(graph)).T
    assert (np.abs(source - target) < 512).mean() > 0.5  # on the same host
    result = bfs(graph, int(np.argmax(graph.degrees)))
    reached = result.distances[result.distances >= 0]
    assert len(reached) > 0.95 * graph.num_vertices
    assert np.quantile(reached, 0.9) < 20 < 100 < reached.max()


@pytest.mark.parametrize("side", [1, 2, 3, 5])
def test_grids_of_three_dimensions(side):
    graph = generate(f"grid3d:{side}")
    wanted = nx.convert_node_labels_to_integers(nx.grid_graph([side] * 3), ordering="sorted")
    assert pairs_of(graph) == {(min(edge), max(edge)) for edge in wanted.edges}
    assert (graph.num_vertices, graph.directed, graph.name) == (side**3, False, f"grid3d:{side}")


@pytest.mark.parametrize("kind", sorted(MODELS))
@pytest.mark.parametrize(
    ("size", "message"),
    [
        ("-1", "the scale must be at least 0, not -1"),
        ("49", "the scale must be in 0..48, not 49"),
        ("9" * 18, "the scale must be in 0..48"),
        ("48", "free"),
        ("5:5", "is not a generator"),
        ("", "whole numbers of at most 18 digits"),
    ],
)
def test_a_size_that_cannot_be_is_refused_in_one_line(kind, size, message):
    with pytest.raises(InputError, match=message) as error:
        generate(f"{kind}:{size}")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("spec", [*(f"{kind}:28" for kind in sorted(MODELS)), "grid3d:4000"])
def test_the_memory_is_asked_before_it_is_taken(spec, monkeypatch):
    monkeypatch.setattr("rapids_bfs._core.memory.available_bytes", lambda: 1 << 30)
    with pytest.raises(InputError, match=f"generating {spec} needs .* of memory, and 1"):
        generate(spec)


@pytest.mark.parametrize("size", ["0", "-1", "9" * 18])
def test_a_grid_without_a_size_is_refused(size):
    with pytest.raises(InputError, match=r"at least 1|of memory"):
        generate(f"grid3d:{size}")


@pytest.mark.parametrize("spec", ["rmat:1.5", "grid:2."])
def test_a_fraction_is_no_suffix_of_a_file(spec):
    with pytest.raises(InputError, match="the sizes of a generator are whole numbers"):
        load(spec)


@pytest.mark.parametrize("seed", [-1, 0.5, "a"])
def test_a_seed_that_is_none_is_refused(seed):
    with pytest.raises(InputError, match="the seed must be"):
        generate("rgg:4", seed=seed)
