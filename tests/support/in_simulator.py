"""The Numba kernels in Numba's simulator, over dozens of graphs: a program, for a process of its own.

It needs NUMBA_ENABLE_CUDASIM=1, which Numba reads when it is imported.
"""

import numpy as np
from oracle import assert_right, random_graph, random_options

from rapids_bfs import Graph
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
    print("right")


if __name__ == "__main__":
    main()
