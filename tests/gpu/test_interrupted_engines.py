"""A GPU engine answers after an interrupt at any line, and in the midst of a search; in a forked child the CPU does."""

import numpy as np
import pytest
from answers import in_child
from interrupts import at_line
from midst import assert_safe_in_the_midst

from rapids_bfs import betweenness, bfs, bfs_batch
from rapids_bfs._core.cuda.arrays import to_host
from rapids_bfs.engines import resolve
from rapids_bfs.generators import generate

GRAPH = generate("rmat:12")

SEARCHES = {
    "bfs": lambda engine, graph, vertex: bfs(graph, [vertex, vertex + 1], engine=engine).distances,
    "bfs of a graph on the device": lambda engine, graph, vertex: to_host(
        bfs(graph.to("cuda"), vertex, engine=engine).distances
    ),
    "block-queue": lambda engine, graph, vertex: bfs(graph, vertex, engine=f"{engine}:block-queue").distances,
}
OF_CUPY = {
    "deterministic bfs": lambda engine, graph, vertex: (
        bfs(graph, vertex, deterministic=True, engine=engine).predecessors
    ),
    "batch": lambda engine, graph, vertex: bfs_batch(graph, range(vertex, vertex + 70), engine=engine).distances,
    "wide batch": lambda engine, graph, vertex: bfs_batch(graph, range(vertex, vertex + 300), engine=engine).distances,
    "betweenness": lambda engine, graph, vertex: betweenness(graph, range(vertex, vertex + 40), engine=engine).round(6),
}
OPERATIONS = {"cupy": SEARCHES | OF_CUPY, "numba-cuda": SEARCHES}
EACH = [(engine, name) for engine in OPERATIONS for name in OPERATIONS[engine]]


def answers(engine):
    return {name: operation(engine, GRAPH, 1) for name, operation in OPERATIONS[engine].items()}


@pytest.mark.parametrize(("engine", "name"), EACH)
def test_an_interrupt_at_any_line(engine, name):
    expected = answers(engine)

    def operation():
        return OPERATIONS[engine][name](engine, GRAPH, 1)

    for line in range(1, at_line(0, operation) + 1):
        at_line(line, operation)
        assert np.array_equal(operation(), expected[name]), line
    for each, found in answers(engine).items():
        assert np.array_equal(found, expected[each]), each


@pytest.mark.parametrize(("engine", "name"), EACH)
def test_in_the_midst_of_another_search(engine, name):
    """It overwrote the answer, without a word."""
    operation, another = OPERATIONS[engine][name], GRAPH.replace()
    assert_safe_in_the_midst(lambda vertex: operation(engine, GRAPH, vertex), lambda: operation(engine, another, 3))


def test_a_forked_child_takes_the_cpu():
    expected = bfs(GRAPH, 1, engine="cupy").distances

    def child():
        return resolve("auto").name, resolve("cupy").engine.unavailable(), bfs(GRAPH, 1).distances

    engine, reason, distances = in_child(child)
    assert engine == "cpu"
    assert "spawn" in reason
    assert np.array_equal(distances, expected)
