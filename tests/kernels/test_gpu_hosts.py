"""What the hosts of the GPU kernels promise whatever the kernels do, on a device that is none: launches do nothing."""

import gc
import weakref
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from idle_device import MAKERS, OPERATIONS, SOURCES, IdleDevice, let_hosts_be_idle
from interrupts import at_line
from oracle import with_types

from rapids_bfs import InputError, bfs, bfs_batch
from rapids_bfs.engines import Engine, EngineSpec, Options
from rapids_bfs.engines.gpu import betweenness, bit_parallel, deterministic, direction_optimizing
from rapids_bfs.engines.gpu import cooperative as one_launch
from rapids_bfs.engines.gpu.betweenness import Brandes
from rapids_bfs.engines.gpu.bit_parallel import BitParallel
from rapids_bfs.engines.gpu.direction_optimizing import DirectionOptimizing
from rapids_bfs.engines.gpu.published import ALGORITHMS
from rapids_bfs.generators import generate

# Kilobytes of shared memory that a block may have, by compute capability.
SHARED_MEMORY = {"7.5": 64, "8.0": 163, "8.6": 99, "8.9": 99, "9.0": 227, "10.0": 227, "12.0": 99}


@pytest.fixture(autouse=True)
def host(monkeypatch):
    let_hosts_be_idle(monkeypatch)


@pytest.mark.parametrize("capability", SHARED_MEMORY)
@pytest.mark.parametrize("types", [(np.int32, np.int32), (np.int32, np.int64), (np.int64, np.int64)])
def test_shared_memory_is_what_the_device_has(capability, types, monkeypatch):
    """Of the kernel whose queue holds neighbours too, of that whose queue does not, and of the deterministic one."""
    monkeypatch.setattr(one_launch, "SMALL_ARCS", 0)
    for spec in "grid:9", "complete:9":
        device = IdleDevice(SHARED_MEMORY[capability])
        device.multiprocessors = 32
        search = DirectionOptimizing(with_types(generate(spec), *types), device)
        assert search.small_rows == (spec == "grid:9")
        assert search.deterministic.parameters.capacity > 500
        assert search.parameters.capacity >= search.parameters.single_block_chunks > 15
        assert max(device.asked) + one_launch.STATIC_BYTES <= device.most_shared_bytes
        if SHARED_MEMORY[capability] == 227:
            assert search.parameters.capacity == 1536


@pytest.mark.parametrize(("l2_bytes", "passes"), [(1 << 20, 1), (400, 1), (399, 2), (200, 2), (199, 1), (0, 1)])
def test_two_passes_where_the_l2_holds_half_of_the_predecessors(l2_bytes, passes, monkeypatch):
    monkeypatch.setattr(IdleDevice, "l2_bytes", l2_bytes)
    host = DirectionOptimizing(generate("path:100"), IdleDevice())
    assert host.parameters.passes == host.deterministic.parameters.passes == passes


@pytest.mark.parametrize("module", [direction_optimizing, deterministic, bit_parallel, betweenness])
@pytest.mark.parametrize("wrong", [{"threads": 0}, {"threads": 100}, {"threads": 2048}, {"blocks": 0}, {"grid": 0}])
def test_what_no_device_can_launch_is_refused(module, wrong):
    with pytest.raises(InputError, match="{}={}".format(*next(iter(wrong.items())))):
        replace(module.DEFAULT, **wrong)


@pytest.mark.parametrize("arcs", [0, 1 << 14])
def test_one_block_needs_no_cooperative_launch(arcs, monkeypatch):
    """It waits for no other; blocks that do must all be resident."""
    monkeypatch.setattr(one_launch, "SMALL_ARCS", arcs)
    device = IdleDevice()
    search = DirectionOptimizing(generate("path:9"), device)
    for options in Options(), Options(deterministic=True):
        device.cooperatively.clear()
        search.run(SOURCES, options)
        assert device.cooperatively == [arcs == 0]


@pytest.mark.parametrize("name", ["deterministic", "batch", "summary", "betweenness"])
def test_a_device_without_cooperative_launches_runs_one_block(name, monkeypatch):
    """Blocks that wait for each other must all be resident, which an ordinary launch does not promise."""
    monkeypatch.setattr(one_launch, "SMALL_ARCS", 0)
    device = IdleDevice()
    device.cooperative = False
    OPERATIONS[name](MAKERS.get(name, DirectionOptimizing)(generate("path:9"), device))
    waiting = {grid for kernel, grid in device.grids.items() if kernel.startswith(("search", "betweenness"))}
    assert waiting == {1}
    assert not any(device.cooperatively)


@pytest.mark.parametrize(
    ("largest", "multiprocessors", "asked", "granted"),
    [
        (16, 32, [16], 16),
        (8, 32, [16, 8], 8),
        (4, 32, [16, 8, 4], 4),
        (2, 32, [16, 8, 4], 1),
        (16, 16, [8], 8),
        (16, 4, [], 1),
    ],
)
def test_clusters_are_the_largest_that_the_device_grants(largest, multiprocessors, asked, granted, monkeypatch):
    """A search's thresholds go by these. Only Numba-CUDA asks for clusters."""
    monkeypatch.setattr(one_launch, "SMALL_ARCS", 0)
    monkeypatch.setattr(IdleDevice, "deep_by_grid", False)
    device = IdleDevice()
    device.largest_cluster, device.multiprocessors = largest, multiprocessors
    search = DirectionOptimizing(generate("path:70000"), device)
    assert device.clusters_asked == asked
    assert search.deep_chunks == (512 * granted if granted > 1 else 0)
    device.clusters_asked.clear()
    monkeypatch.setattr(IdleDevice, "deep_by_grid", True)
    search = DirectionOptimizing(generate("path:9"), device)
    assert search.deterministic.host.launch_deep is search.deterministic.host.launch_shallow
    assert device.clusters_asked == []


@pytest.mark.parametrize(
    ("blocks", "vertices", "chunks", "ordered"),
    [
        (1, 70_000, 0, 0),
        (2, 70_000, 1024, 1024),
        (16, 70_000, 8192, 8192),
        (256, 70_000, 1 << 14, 1 << 14),
        (257, 70_000, 0, 0),
        (16, 8000, 2000, 2666),
    ],
)
def test_how_many_chunks_all_blocks_expand_together(blocks, vertices, chunks, ordered, monkeypatch):
    """A part of what their queues hold, and what the grid's queue holds where they distribute them: it has 8 bytes for
    each vertex, and a chunk has 32, or 24 in a deterministic search."""
    monkeypatch.setattr(one_launch, "SMALL_ARCS", 0)
    device = IdleDevice()
    device.multiprocessors = blocks
    search = DirectionOptimizing(
        generate(f"path:{vertices}"), device, replace(direction_optimizing.DEFAULT, grid=blocks)
    )
    assert search.deep_chunks == chunks
    search.deterministic.tune(replace(deterministic.DEFAULT, grid=blocks))
    assert search.deterministic.deep_chunks == ordered


@pytest.mark.parametrize(
    ("spec", "levels", "by_one_block"),
    [("path:99", 16, 0), ("grid:9", 15, 0), ("star:99", 4, 0), ("star:999", 3, 2048)],
)
def test_how_many_levels_keys_have_bits_for(spec, levels, by_one_block):
    """As many as places in rows fit behind a slot of a frontier; if they are few, one block expands what it can."""
    parameters = DirectionOptimizing(generate(spec), IdleDevice()).deterministic.parameters
    assert (parameters.meet, parameters.deep_from) == (levels, by_one_block)


def test_a_search_goes_by_its_own_options():
    """Whether or not the one before had the same, and other sources."""
    host = DirectionOptimizing(generate("path:9"), IdleDevice()).host
    choices = [Options(), Options(target=3), Options(depth_limit=2), Options(depth_limit=4, target=5, trace=True)]
    rng = np.random.default_rng(0)
    for _ in range(200):
        options = choices[rng.integers(len(choices))]
        sources = rng.choice(9, rng.integers(1, 4), replace=False)
        host.begin(sources, options)
        limit = host.no_limit if options.depth_limit is None else options.depth_limit
        parameters, room = host.parameters, host.sources[0]
        assert parameters.depth_limit == (0 if options.target in sources else limit)
        assert parameters.target == (-1 if options.target is None else options.target)
        assert bool(parameters.trace) == options.trace
        assert (parameters.count, *room[: len(sources)]) == (len(sources), *sources)


@pytest.mark.parametrize("name", OPERATIONS)
def test_nothing_runs_on_after_an_interrupt(name):
    """Wherever it comes: what a kernel still writes, others let go of."""
    make, device = MAKERS.get(name, DirectionOptimizing), IdleDevice()
    prepared = make(generate("path:9"), device)
    for line in range(1, at_line(0, lambda: OPERATIONS[name](prepared)) + 1):
        at_line(line, lambda: OPERATIONS[name](prepared))
        assert device.launched == [], f"line {line}"


@pytest.mark.parametrize("make", [*ALGORITHMS.values(), DirectionOptimizing, BitParallel, Brandes])
def test_nothing_runs_on_after_an_interrupted_preparation(make):
    graph = generate("path:9")
    device = IdleDevice()
    for line in range(1, at_line(0, lambda: make(graph, IdleDevice())) + 1):
        at_line(line, lambda: make(graph, device))
        assert device.launched == [], f"line {line}"


FAILING = {
    BitParallel: (lambda batch, k: batch.summary(np.arange(k), None), 7),
    Brandes: (lambda brandes, k: brandes.scores(np.arange(k), np.ones(k, bool), True, False), 12),
}


@pytest.mark.parametrize("make", FAILING)
def test_a_launch_after_an_allocation_that_failed(make):
    """Its parameters are the addresses of arrays that are there: the buffers for fewer or more sources were freed."""
    graph = generate("path:100")
    search, allocations = FAILING[make]
    for failing in range(1, allocations + 1):
        for before, after in product((3, 100), repeat=2):
            device = IdleDevice()
            prepared = make(graph, device)
            search(prepared, before)
            device.allocations = failing
            with pytest.raises(MemoryError):
                search(prepared, 103 - before)
            search(prepared, after)
            search(prepared, 103 - after)


class Engines(Engine):
    """All that is prepared for a graph, on a device that does nothing."""

    name = "nothing"
    algorithms = ("direction-optimizing", *ALGORITHMS)

    def prepare(self, graph, algorithm):
        return MAKERS.get(algorithm, DirectionOptimizing)(graph, IdleDevice())

    def prepare_batch(self, graph, algorithm):
        return BitParallel(graph, IdleDevice())

    def prepare_betweenness(self, graph, algorithm):
        return Brandes(graph, IdleDevice())


@pytest.mark.parametrize("algorithm", Engines.algorithms)
def test_a_graph_takes_with_it_what_was_prepared_for_it(algorithm):
    choice, buffers, graphs = EngineSpec(Engines(), algorithm, algorithm), [], []
    gc.disable()
    try:
        for number in range(200):
            graph = generate(f"path:{number + 2}")
            traversal = choice.traversal(graph)
            assert traversal.run(SOURCES[:2]).graph is graph
            if algorithm == Engines.algorithms[0]:
                traversal.run(SOURCES[:2], Options(deterministic=True, trace=True))
                choice.batch_traversal(graph).summary(SOURCES[:2], None)
                choice.betweenness(graph)
            graphs.append(weakref.ref(graph))
            buffers.append(weakref.ref(traversal.distances))
        assert sum(each() is not None for each in graphs + buffers) <= 4
    finally:
        gc.enable()


@pytest.mark.parametrize("engine", ["cpu", "cpu:sequential", "scipy", "networkx"])
def test_a_graph_on_the_host_is_in_no_cycle(engine):
    graphs = []
    gc.disable()
    try:
        for _ in range(20):
            graph = generate("rmat:5")
            assert bfs(graph, 0, engine=engine).graph is graph
            assert bfs_batch(graph, [1, 2], engine=engine).graph is graph
            graphs.append(weakref.ref(graph))
        assert sum(each() is not None for each in graphs) == 1
    finally:
        gc.enable()
