"""Generated graphs: their shape, and that they depend on the seed alone."""

import hashlib

import numba
import numpy as np
import pytest
from strategies import edges_of

from rapids_bfs import InputError
from rapids_bfs.generators import generate
from rapids_bfs.generators.random_edges import renamed

PINNED = {
    "rmat:12": "85346f43c28fd0c87c5187bf33f348b15730c694e29700977ba535cda6dda6ae",
    "urand:12": "8b8a6f4d5a0e7044c4eb30e512b9e6bf15583a139cea7ec5282844ff18642141",
    "rgg:10": "979c461c0405828ab0cfa954b573627b9d94c5bcd38e604f1318769b5f4772d2",
    "delaunay:10": "8ef25d600f947c1f23b0a634eb42e4581d3f46998f8aee55325badaab6509497",
    "road:10": "42b54644274d055caad47c63637c3b91ecb22ab2be4d91c6ab102936cb516ac0",
    "web:10": "b87e50c291775e1077982d5457a6069af74da4480cedf53fa5bdc5c47ece9821",
    "smallworld:10": "428ea7e8998b11bc4ebc811a6cf6a1a718ee47c37d973214e83905c09d0cc0dc",
}


@pytest.mark.parametrize(
    ("spec", "vertices", "edges"),
    [
        ("grid:4", 16, 24),
        ("grid:1", 1, 0),
        ("path:5", 5, 4),
        ("star:6", 6, 5),
        ("complete:6", 6, 15),
        ("tree:7", 7, 6),
        ("tree:1", 1, 0),
    ],
)
def test_regular_graphs(spec, vertices, edges):
    graph = generate(spec)
    assert (graph.num_vertices, graph.num_edges, graph.directed, graph.name) == (vertices, edges, False, spec)
    assert (graph.num_loops, graph.num_duplicates) == (0, 0)
    assert edges_of(graph) == sorted((v, u) for u, v in edges_of(graph))


def test_shapes():
    assert edges_of(generate("path:3")) == [(0, 1), (1, 0), (1, 2), (2, 1)]
    assert generate("star:4").degrees.tolist() == [3, 1, 1, 1]
    assert edges_of(generate("tree:4")) == [(0, 1), (0, 2), (1, 0), (1, 3), (2, 0), (3, 1)]
    assert sorted(generate("grid:3").degrees.tolist()) == [2] * 4 + [3] * 4 + [4]


@pytest.mark.parametrize("kind", ["rmat", "urand"])
def test_random_graphs(kind):
    graph = generate(f"{kind}:10:8")
    assert graph.num_vertices == 1024
    assert 0.5 * 8 * 1024 < graph.num_edges < 8 * 1024
    assert (graph.num_loops, graph.num_duplicates) == (0, 0)
    assert edges_of(graph) == sorted((v, u) for u, v in edges_of(graph))
    assert generate(f"{kind}:10").num_edges > graph.num_edges
    assert edges_of(generate(f"{kind}:10:8")) == edges_of(graph)
    assert edges_of(generate(f"{kind}:10:8", seed=5)) != edges_of(graph)
    assert generate(f"{kind}:0").num_vertices == 1


@pytest.mark.parametrize(("spec", "sha256"), PINNED.items())
def test_a_random_graph_is_the_same_everywhere_and_for_ever(spec, sha256):
    """Measurements name it, so that others can repeat them."""
    graph = generate(spec)
    content = graph.offsets.astype("<i8").tobytes() + graph.targets.astype("<i8").tobytes()
    assert hashlib.sha256(content).hexdigest() == sha256


@pytest.mark.parametrize("scale", [1, 2, 5, 10])
def test_vertices_of_rmat_have_names_of_their_own(scale):
    naming = np.random.default_rng(scale).integers(1 << 63, size=(3, 2), dtype=np.uint64)
    naming[:, 0] |= np.uint64(1)
    names = [renamed(vertex, scale, naming) for vertex in range(1 << scale)]
    assert sorted(names) == list(range(1 << scale))


@pytest.mark.parametrize("kind", ["rmat", "urand"])
def test_random_graphs_do_not_depend_on_threads(kind):
    before = numba.get_num_threads()
    several = generate(f"{kind}:12")
    numba.set_num_threads(1)
    try:
        one = generate(f"{kind}:12")
    finally:
        numba.set_num_threads(before)
    np.testing.assert_array_equal(one.targets, several.targets)


def test_rmat_is_skewed_as_graph500s_and_urand_is_not():
    """A vertex of R-MAT falls in the sparse half at each level with probability C + D = 0.24, in a row, both ways."""
    scale, factor = 14, 16
    rmat, urand = generate(f"rmat:{scale}"), generate(f"urand:{scale}")
    assert urand.degrees.max() < 4 * urand.degrees.mean()
    assert rmat.degrees.max() > 30 * rmat.degrees.mean()
    # The chance of a vertex to be an edge's source is 0.76^(zeros) 0.24^(ones) over its bits, before it is renamed.
    ones = np.array([bin(vertex).count("1") for vertex in range(1 << scale)])
    chance = 0.76 ** (scale - ones) * 0.24**ones
    isolated = np.exp(-2 * factor * 2**scale * chance).sum()
    assert (rmat.degrees == 0).sum() == pytest.approx(isolated, rel=0.1)


@pytest.mark.parametrize("spec", [None, 5, b"rmat:5", ["rmat:5"]])
def test_a_generator_is_written_as_a_string(spec):
    with pytest.raises(InputError, match="a generator is written as a string, such as 'rmat:20', not "):
        generate(spec)
