"""A GPU engine answers after an interrupt at any line, and in a forked child the CPU answers."""

import numpy as np
import pytest
from answers import in_child
from interrupts import at_line

from rapids_bfs import betweenness, bfs, bfs_batch
from rapids_bfs._core.cuda.arrays import to_host
from rapids_bfs.engines import resolve
from rapids_bfs.generators import generate

GRAPH = generate("rmat:12")

SEARCHES = {
    "bfs": lambda engine: bfs(GRAPH, [1, 2], engine=engine).distances,
    "bfs of a graph on the device": lambda engine: to_host(bfs(GRAPH.to("cuda"), 1, engine=engine).distances),
    "block-queue": lambda engine: bfs(GRAPH, 1, engine=f"{engine}:block-queue").distances,
}
OF_CUPY = {
    "deterministic bfs": lambda engine: bfs(GRAPH, 1, deterministic=True, engine=engine).predecessors,
    "batch": lambda engine: bfs_batch(GRAPH, range(70), engine=engine).distances,
    "wide batch": lambda engine: bfs_batch(GRAPH, range(300), engine=engine).distances,
    "betweenness": lambda engine: betweenness(GRAPH, range(40), engine=engine).round(6),
}
OPERATIONS = {"cupy": SEARCHES | OF_CUPY, "numba-cuda": SEARCHES}


def answers(engine):
    return {name: operation(engine) for name, operation in OPERATIONS[engine].items()}


@pytest.mark.parametrize(("engine", "name"), [(engine, name) for engine in OPERATIONS for name in OPERATIONS[engine]])
def test_an_interrupt_at_any_line(engine, name):
    operation = OPERATIONS[engine][name]
    expected = answers(engine)
    for line in range(1, at_line(0, lambda: operation(engine)) + 1):
        at_line(line, lambda: operation(engine))
        assert np.array_equal(operation(engine), expected[name]), line
    for each, found in answers(engine).items():
        assert np.array_equal(found, expected[each]), each


def test_a_forked_child_takes_the_cpu():
    expected = bfs(GRAPH, 1, engine="cupy").distances

    def child():
        return resolve("auto").name, resolve("cupy").engine.unavailable(), bfs(GRAPH, 1).distances

    engine, reason, distances = in_child(child)
    assert engine == "cpu"
    assert "spawn" in reason
    assert np.array_equal(distances, expected)
