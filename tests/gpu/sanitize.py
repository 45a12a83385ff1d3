"""Run the GPU kernels under compute-sanitizer: memcheck, racecheck, synccheck and initcheck.

    python3 tests/gpu/sanitize.py [TOOL ...]

Each tool runs the kernels of one device in a process for each shape, as many at a time as there are cores. Those over
partitions follow one after another: they begin only where no other process computes on their GPU.

racecheck watches shared memory, where no kernel may race at all. It does not follow barriers of part of a block, and
sees races in the smallest kernel that has one between two barriers of the whole block; so its blocks of
`direction_optimizing` and `deterministic` are no larger than that part. Nor does it know the grid's barrier, which all
blocks pass before and after those of a cluster of Numba-CUDA access each other's memory, so that each of these has
entered and none has exited: hazards that it reports for this reason alone do not count. It does not see global memory.
The races there are known and benign:
"""

import os
import re
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import product
from time import perf_counter

BENIGN = {
    "frontier_mask: expand": "several threads may see one neighbour unvisited; they store the same cost and flags, and"
    " predecessors of which each is one level up",
    "frontier_mask_texture: expand": "as in frontier_mask",
    "two_kernel: expand": "several threads may reach one neighbour; they store the same cost and flag, and predecessors"
    " of which each is one level up",
    "block_queue: expand": "a distance is read while others set it: a late reader of -1 loses the compare-and-swap",
    "direction_optimizing: expand": "a bit is read while others set it: a late reader of 0 loses the atomic OR",
    "direction_optimizing: settle": "blocks ahead may write the target's level while others read it: the"
    " level itself says which it is",
    "bit_parallel: expand": "a row is read while others OR into it: a thread that misses bits does a"
    " needless atomic, and the stamp decides which thread lists the vertex",
    "bit_parallel: sweep": "a heavy vertex's row is read while others OR into it: a thread that misses bits searches"
    " needlessly",
    "neighborhoods: append": "a bit is read while others set it: a late reader of 0 loses the atomic OR; threads that"
    " reset a word all store 0",
    "betweenness: expand": "a word is read while others OR into it: a thread that misses bits does a needless"
    " atomic, and the thread that finds it 0 lists the place",
    "csr: mark": "threads that mark a vertex store the same",
    "validation: check": "threads that confirm a vertex store the same",
    "deterministic: settle": "as in direction_optimizing",
    "deterministic: expand": "a key is read while others lower it: a thread that misses that gives neighbours keys that"
    " lose to those of the lowered one",
    "distributed: expand": "a mark is read while others set it: a late reader of 0 loses the atomic OR",
    "announce": "a block may miss that the level is announced already: the atomic exchange decides which stores it",
}
SHAPES = ["path:6", "star:5000", "tree:63", "grid:12", "rmat:8"]  # the star fills the shared memory and spills
SMALL_SHAPES = ["path:6", "star:200", "rmat:6"]  # for tools that take long, of kernels that wait for each other
TAKE_LONG = ("racecheck", "initcheck")
PATIENCE = 300  # seconds for one process
WAITING = 60  # seconds for a partition: less, so that one that waits in vain is named
ONE_DEVICE, SEVERAL = "one device", "three partitions"
# No end in 100 s even with a block for each and rmat:6: these launches wait for each other. One partition does the
# same in shared memory.
LEFT_OUT = ("racecheck", SEVERAL)
ALONE = {"one partition": 1, SEVERAL: 3}
TOOLS = ("memcheck", "racecheck", "synccheck", "initcheck")
ENGINES = ("cupy", "numba-cuda")
SOLO = 128  # threads of a block that synchronise apart from the rest
FOUND = 9  # exit code of a tool that has found something
GONE = "is located in a block that might"  # have already exited, or not have entered yet


def search(threads, shapes):
    """Run every engine and algorithm, building and validation on graphs of these shapes."""
    import numpy as np

    from rapids_bfs import bfs, bfs_batch, ego_graphs, load, validate
    from rapids_bfs._core.cuda.arrays import to_host
    from rapids_bfs.engines import Options, registered, resolve
    from rapids_bfs.engines.gpu import betweenness, bit_parallel, direction_optimizing
    from rapids_bfs.engines.gpu import deterministic as gpu_deterministic
    from rapids_bfs.generators import generate

    tuning = replace(direction_optimizing.DEFAULT, threads=threads)
    by_default = replace(gpu_deterministic.DEFAULT, threads=threads)
    whole = replace(by_default, grid=4, single_block_edges=0)
    wide = replace(whole, wide=0, alpha=1 << 40, chunk=32)
    deep = replace(whole, deep=-1)
    siblings = replace(wide, patience=100, large=1 << 40)
    deterministic = (by_default, whole, deep, siblings, replace(wide, patience=1, share=2))

    for spec in shapes:
        graph = generate(spec)
        far = graph.num_vertices - 1
        there = load(spec, device="cuda")
        resolve("cupy").traversal(there).tune(tuning)
        assert there.replace(directed=True).reverse.undirected.simple.num_edges == graph.num_edges
        assert validate(there, bfs(there, 0, engine="cupy"))
        mask = np.arange(graph.num_vertices) % 5 != 3
        expected = bfs(graph, 0, vertices=mask, engine="cpu:sequential").distances
        for options in ({}, {"deterministic": True}):
            found = bfs(there, 0, vertices=mask, engine="cupy", **options)
            np.testing.assert_array_equal(found.to("cpu").distances, expected)
        batch = bfs_batch(there, [0], vertices=mask, engine="cupy")
        np.testing.assert_array_equal(to_host(batch.distances), [expected])
        for masks in ({"vertices": mask}, {"edges": np.ones(graph.num_arcs, bool), "vertices": mask}):
            np.testing.assert_array_equal(to_host(there.filter(**masks).targets), graph.filter(**masks).targets)
        for name in ENGINES:
            for algorithm in registered()[name].algorithms:
                engine = f"{name}:{algorithm}"
                if algorithm == "direction-optimizing":
                    resolve(engine).traversal(graph).tune(tuning)
                for options in ({}, {"predecessors": False, "target": far}, {"depth_limit": 2}):
                    expected = bfs(graph, [0, far], engine="cpu:sequential", **options).distances
                    np.testing.assert_array_equal(bfs(graph, [0, far], engine=engine, **options).distances, expected)
            traversal = registered()[name].prepare(graph, "direction-optimizing")
            traversal.tune(replace(tuning, grid=4, cluster=2, deep=-1, single_block_chunks=2, deep_chunks_of_block=20))
            expected = bfs(graph, far, engine="cpu:sequential").distances
            np.testing.assert_array_equal(traversal.run(np.array([far])).distances, expected)
        sources = np.arange(100) % graph.num_vertices
        expected = bfs_batch(graph, sources, engine="cpu").distances
        batch = registered()["cupy"].prepare_batch(graph, "direction-optimizing")
        for alpha in (1, 3, 1 << 40):
            batch.tune(replace(bit_parallel.DEFAULT, alpha=alpha, grid=4))
            distances = np.empty_like(expected)
            batch.distances(sources, None, distances)
            np.testing.assert_array_equal(distances, expected)
            np.testing.assert_array_equal(batch.summary(sources, None).reached, (expected >= 0).sum(axis=1))
        is_target = np.ones(graph.num_vertices, bool)
        expected = registered()["cpu"].prepare_betweenness(graph, "direction-optimizing")
        brandes = registered()["cupy"].prepare_betweenness(graph, "direction-optimizing")
        for alpha, edges in ((0, False), (3, True), (1 << 30, False)):
            brandes.tune(replace(betweenness.DEFAULT, alpha=alpha, grid=4))
            found = brandes.scores(sources, is_target, True, edges)
            wanted = expected.scores(sources, is_target, True, edges)
            np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-10)
        ego, near = ego_graphs(graph, sources, 2), ego_graphs(there, sources, 2)
        np.testing.assert_array_equal(near.neighborhoods.offsets, ego.neighborhoods.offsets)
        np.testing.assert_array_equal(near.offsets, ego.offsets)
        expected = bfs(graph, [0, far], engine="cpu:sequential").predecessors
        traversal = registered()["cupy"].prepare(graph, "direction-optimizing")
        for each in deterministic:
            traversal.deterministic.tune(each)
            found = traversal.run(np.array([0, far]), Options(deterministic=True)).predecessors
            np.testing.assert_array_equal(found, expected)


def search_distributed(threads, size, shapes):
    """Search ``size`` partitions on one device, each in a launch of its own, all at the same time: top-down, bottom-up,
    and changing between the two. Few blocks search each: the tools follow every poll of those that wait."""
    from rapids_bfs import bfs, validate
    from rapids_bfs.distributed import persistent as one_launch
    from rapids_bfs.distributed.graph import from_graph
    from rapids_bfs.distributed.launchers import Threads
    from rapids_bfs.distributed.level_synchronous import ONE_LAUNCH
    from rapids_bfs.generators import generate

    made, one_launch.STARTING = one_launch.PersistentSearch, PATIENCE
    for alpha, beta in ((60, 24), (0, 24), (1 << 30, 1 << 40), (3, 1)):
        one_launch.PersistentSearch = partial(
            made, tuning=one_launch.Tuning(alpha=alpha, beta=beta, shrinking_levels=1, threads=threads, grid=4)
        )
        for spec in shapes:
            graph = from_graph(generate(spec), Threads(["cuda:0"] * size, timeout=WAITING))
            for options in ({}, {"predecessors": False}, {"depth_limit": 2}):
                assert validate(graph, bfs(graph, [0, graph.num_vertices - 1], **options))
            assert graph.transport == ONE_LAUNCH, graph.transport


def sanitize(tools):
    """Run the tools and print their verdicts. Returns 0 if none finds anything, else 1."""
    found = False
    together = [(tool, ONE_DEVICE, shape) for tool in tools for shape in shapes_for(tool)]
    alone = [(tool, part, *shapes_for(tool)) for tool, part in product(tools, ALONE) if (tool, part) != LEFT_OUT]
    for processes, runs in ((os.cpu_count(), together), (1, alone)):
        with ThreadPoolExecutor(processes) as pool:
            for which, (code, output, seconds) in zip(runs, pool.map(run_bounded, runs), strict=True):
                clean = is_clean(code, output)
                if not clean:
                    print(output)
                verdict = f"no end in {PATIENCE} s" if code is None else "clean" if clean else f"exit code {code}"
                print(f"{', '.join(which)}: {verdict}, {seconds:.0f} s", flush=True)
                found |= not clean
    print("races in global memory that are known and benign:")
    for kernel, why in BENIGN.items():
        print(f"  {kernel}: {why}")
    return int(found)


def shapes_for(tool):
    return SMALL_SHAPES if tool in TAKE_LONG else SHAPES


def run_bounded(which):
    """Run a tool on some of the kernels and shapes: the exit code (None if it and its processes had to be killed), its
    output, and the seconds that it took."""
    tool, *what = which
    command = ["compute-sanitizer", "--tool", tool, "--report-api-errors", "no", "--error-exitcode", str(FOUND)]
    command += [sys.executable, "-P", __file__, "--run", tool, *what]
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True, "start_new_session": True}
    began = perf_counter()
    with subprocess.Popen(command, **options) as running:
        try:
            output, _ = running.communicate(timeout=PATIENCE)
            code = running.returncode
        except subprocess.TimeoutExpired:
            os.killpg(running.pid, signal.SIGKILL)
            code, output = None, running.communicate()[0]
    return code, output, perf_counter() - began


def is_clean(code, output):
    """Has a tool reported nothing, or nothing but blocks of a cluster that might have exited?"""
    hazards = re.search(r"RACECHECK SUMMARY: (\d+) hazards", output)
    return code == 0 or (code == FOUND and hazards is not None and output.count(GONE) == int(hazards[1]))


def run(tool, part, *shapes):
    threads = SOLO if tool == "racecheck" else 512
    if part in ALONE:
        search_distributed(threads, ALONE[part], shapes)
    else:
        search(threads, shapes)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--run"]:  # as this program calls itself
        run(*sys.argv[2:])
    else:
        sys.exit(sanitize(sys.argv[1:] or TOOLS))
