"""The memory that a build takes: what `rapids_bfs.distributed.build` lists, and no second copy of anything."""

import tracemalloc
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest

from rapids_bfs._core.csr import host
from rapids_bfs.distributed.build import Plan, build
from rapids_bfs.distributed.launchers import Threads
from rapids_bfs.distributed.sources import LocalEdges

BLOCK = 1 << 12
SLACK = 1 << 16  # bytes of what is not arrays


@pytest.fixture(scope="module")
def alone():
    """A process without other threads, such as Dask's, whose memory would count too."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        yield pool


def peak(rows, n, step, plan):
    """The bytes allocated by Python and NumPy at the peak of a build on one rank, and the vertices of its partition."""
    host.EXCHANGE_BLOCK = BLOCK
    ends = step * np.random.default_rng(1).integers(0, n // step, (2, rows), np.int32)
    source = LocalEdges(lambda: [tuple(ends)])
    launcher = Threads(["cpu"])
    launcher.map(build, plan, each=[[source]])  # compiles
    tracemalloc.start()
    (partition,) = launcher.map(build, plan, each=[[source]])
    bytes_at_peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return bytes_at_peak, partition.num_vertices


@pytest.mark.parametrize(
    ("rows", "n", "step", "plan"),
    [
        (1 << 18, 1 << 13, 1, Plan(vertices=1 << 13, directed=False)),
        (1 << 18, 1 << 13, 1, Plan(vertices=1 << 13, directed=False, simple=True)),
        (1 << 18, 1 << 13, 1, Plan(vertices=1 << 13, directed=True)),
        (1 << 16, 1 << 16, 1, Plan(vertices=1 << 16, directed=False)),
        (1 << 16, 1 << 16, 1, Plan(vertices=1 << 16, directed=True)),
        (1 << 16, 1 << 16, 2, Plan(directed=False)),
        (1 << 16, 1 << 16, 2, Plan(directed=True)),
    ],
    ids=str,
)
def test_arrays_alive_at_the_peak(alone, rows, n, step, plan):
    """Many edges or many vertices; every id below n may occur, or every second. One rank, whose peak is always the
    same: those of several need not come at the same time."""
    bytes_at_peak, vertices = alone.submit(peak, rows, n, step, plan).result()
    listed = 4 * 2 * rows + (24 if plan.directed else 16) * vertices + 48 * BLOCK
    if plan.vertices is None:
        listed += 4 * n + 4 * vertices
    assert bytes_at_peak <= listed + SLACK
