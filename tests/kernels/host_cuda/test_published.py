"""The published kernels, a launch a level, and their hosts, run on the host, against SciPy."""

import numpy as np
import pytest
from host_device import HostDevice
from host_faults import Fault, assert_seen
from oracle import assert_answer, random_graph, random_options

from rapids_bfs import Graph
from rapids_bfs.engines import Options
from rapids_bfs.engines.gpu.published import ALGORITHMS, FrontierMask
from rapids_bfs.generators import generate


class Texture(FrontierMask):
    """`frontier_mask_texture`, whose texture object is the address of an array here."""

    file = "frontier_mask_texture"

    def __init__(self, graph, device):
        super().__init__(graph, device)
        self.array, self.targets = self.targets, np.uintp(self.targets.ctypes.data)


HOSTS = ALGORITHMS | {"frontier-mask-texture": Texture}


def searches(algorithm, dtypes=(np.int32, np.int32)):
    """Over random graphs; then over so many neighbours that a block with a queue spills them several times."""
    for seed in range(15):
        rng = np.random.default_rng(seed)
        graph = random_graph(rng, most_vertices=90, most_edges=250)
        vertex, offset = dtypes
        wide = Graph(graph.offsets.astype(offset), graph.targets.astype(vertex), directed=graph.directed)
        search = HOSTS[algorithm](wide, HostDevice(seed, blocks=1 + seed % 4))
        for _ in range(2):
            sources, options = random_options(rng, graph.num_vertices)
            options = Options(**options, check=True)
            answer = search.run(np.array(sources), options)
            assert_answer(answer, sources, options.depth_limit, options.target)
    star = HOSTS[algorithm](generate("star:3000"), HostDevice(1))
    assert_answer(star.run(np.array([1]), Options(check=True)), [1])


@pytest.mark.parametrize("algorithm", HOSTS)
def test_random_graphs(algorithm):
    searches(algorithm)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_wide_types(algorithm):
    searches(algorithm, (np.int64, np.int64))


SEARCHES = {"two_kernel": "two-kernel", "block_queue": "block-queue", "frontier_mask": "frontier-mask"}
SEARCHES |= {"frontier_mask_texture": "frontier-mask-texture"}
MASKED = {
    "the wrong level": ("distances[neighbor] = level;", "distances[neighbor] = level + 1;"),
    "the last edge": ("edge < end", "edge + 1 < end"),
    "a frontier that stays": ("frontier[vertex] = false;", ";"),
}
SPILL = "for (int i = threadIdx.x; i < held; i += blockDim.x) queue[start + i] = gathered[i];"
FAULTS = {
    "frontier_mask": MASKED,
    "frontier_mask_texture": {
        "the edge before": ("static_cast<int>(edge)", "static_cast<int>(edge > 0 ? edge - 1 : 0)")
    },
    "two_kernel": MASKED | {"a mask that stays": ("updating[vertex] = false;", ";")},
    "block_queue": {
        "two win": (
            "atomicCAS(distances + neighbor, -1, level) < 0",
            "atomicCAS(distances + neighbor, -1, level) <= level",
        ),
        "no barrier after a spill": (f"{SPILL}\n    __syncthreads();", SPILL),
        "the last edge": ("edge < last", "edge + 1 < last"),
    },
}


@pytest.mark.parametrize(("file", "name"), [(file, name) for file, faults in FAULTS.items() for name in faults])
def test_a_fault_is_seen(file, name, monkeypatch):
    faults = {name: Fault(*change, searches, SEARCHES[file]) for name, change in FAULTS[file].items()}
    assert_seen(monkeypatch, file, faults, name)
