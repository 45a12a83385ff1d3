"""The Numba kernels in Numba's simulator, over dozens of graphs: a program, for a process of its own.

It needs NUMBA_ENABLE_CUDASIM=1, which Numba reads when it is imported.
"""

import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from interrupts import at_line
from midst import assert_safe_in_the_midst
from oracle import assert_right, random_graph, random_options

from rapids_bfs import Graph, InputError, bfs
from rapids_bfs.comparison.baselines import baseline_of
from rapids_bfs.engines import registered
from rapids_bfs.generators import generate

SHAPES = ["path:6", "star:30", "complete:7", "tree:15", "grid:4", "rmat:5", "urand:5"]
RANDOM_GRAPHS = 24


def main():
    engine = registered()["numba-cuda"]
    assert engine.unavailable() is None, engine.unavailable()
    assert baseline_of(engine.name).skip_reason(generate("path:6000")), (
        "the simulator should be left out for large graphs"
    )
    rng = np.random.default_rng(11)
    for algorithm in engine.algorithms:
        name = f"numba-cuda:{algorithm}"
        for spec in SHAPES:
            graph = generate(spec)
            assert_right(graph, [0], name, check=True)
            assert_right(graph, [graph.num_vertices - 1, 0], name, trace=True)
        for _ in range(RANDOM_GRAPHS):
            graph = random_graph(rng, most_vertices=24, most_edges=60)
            sources, options = random_options(rng, graph.num_vertices)
            assert_right(graph, sources, name, **options)

        graph = generate("rmat:5")
        wide = Graph(graph.offsets.astype(np.int64), graph.targets, directed=False)
        assert_right(wide, [1], name)
        trace = assert_right(graph, [1], name, trace=True).trace
        assert trace[0].frontier_vertices == 1
        assert trace[-1].newly_reached == 0
        assert all(level.direction == "top-down" and level.milliseconds > 0 for level in trace)
        turns_are_taken(name)
    print("right")


def turns_are_taken(name):
    """Graphs of other sizes are searched between, by other threads, and at lines of this one's search."""
    small, large = generate("path:6"), generate("grid:5")
    interval = sys.getswitchinterval()
    searches = [(large, [2]), (small, [1]), (large, [4]), (small, [3])]
    for search in searches:
        assert_right(*search, name)
    with ThreadPoolExecutor(4) as threads:
        for asked in [threads.submit(assert_right, *search, name) for search in searches]:
            asked.result()
    assert sys.getswitchinterval() == interval
    assert_safe_in_the_midst(
        lambda source: bfs(small, source, engine=name).distances, lambda: bfs(large, 0, engine="cpu").distances, most=12
    )

    refusals = set()

    def search_another():
        try:
            assert_right(large, [0], name)
        except InputError as error:
            refusals.add(str(error).partition(":")[0])

    lines = at_line(0, lambda: bfs(small, 1, engine=name))
    for line in range(1, lines, -(-lines // 12)):
        at_line(line, lambda: assert_right(small, [1], name), search_another)
    assert refusals == {"this thread is running Numba's simulator already"}


if __name__ == "__main__":
    main()
