"""Searches of a distributed graph in one launch on each rank: P grids at the same time, on the host."""

from ctypes import byref, memmove, sizeof
from functools import partial
from itertools import combinations
from threading import Thread
from time import sleep
from unittest import mock

import interrupts
import numpy as np
import pytest
from distributed_on_host import SMALL, assert_finds, assert_right, host, host_windows, on_devices, random_searches  # noqa: F401 - a fixture
from host_device import HostDevice
from host_faults import Fault, assert_seen
from interrupts import at_line
from oracle import expected_distances, random_graph, random_options

from rapids_bfs import TraversalError, as_graph, bfs, validate
from rapids_bfs.distributed import level_synchronous as search
from rapids_bfs.distributed import persistent as one_launch
from rapids_bfs.distributed.cuda import DevicePartition
from rapids_bfs.distributed.graph import from_graph
from rapids_bfs.distributed.launchers import Threads
from rapids_bfs.distributed.partitioning import Partitioning
from rapids_bfs.distributed.persistent import Layout, PersistentSearch, Tuning
from rapids_bfs.distributed.windows import Location
from rapids_bfs.generators import generate

ALWAYS, NEVER = 1 << 20, 0  # alpha: always bottom-up, or never


def in_one_launch(alpha=15, beta=24, shrinking_levels=1, **more):
    """What makes a search in one launch with these thresholds."""

    def make(there, communicator):
        layout = Layout.of(there.partition)
        windows = host_windows(communicator, layout.end)
        tuning = Tuning(alpha=alpha, beta=beta, shrinking_levels=shrinking_levels, threads=64, **more)
        return PersistentSearch(there, communicator, windows, layout, tuning)

    return make


def room_for(pairs):
    """A context in which each rank can send this many pairs to another one in a level."""
    return mock.patch.object(one_launch, "inbox_capacity", return_value=pairs)


def test_random_graphs():
    random_searches(make=in_one_launch())


def test_bottom_up():
    """All levels."""
    random_searches(6, in_one_launch(ALWAYS, 1 << 40))
    assert_right(generate("star:3000"), 2, [2999], 1, in_one_launch(ALWAYS, 1 << 40))


def test_top_down():
    """All levels."""
    random_searches(6, in_one_launch(NEVER))
    steps = assert_right(generate("rmat:8"), 3, [1, 9], 2, in_one_launch(NEVER)).trace
    assert {step.direction for step in steps} == {"top-down"}


def test_dense_top_down():
    """All levels that have a queue."""
    dense = in_one_launch(NEVER, 1, dense=1 << 20, dense_edges=0)
    random_searches(8, dense)
    steps = assert_right(generate("path:40"), 3, [17], 1, dense).trace
    assert [step.direction for step in steps][:3] == ["top-down", "top-down", "bottom-up"]
    assert_right(generate("rmat:12"), 3, [1], 5, in_one_launch(NEVER, dense=4, dense_edges=0))
    with room_for(2):  # then levels go bottom-up
        random_searches(6, dense)


def test_a_frontier_with_a_hub_goes_bottom_up_sooner():
    """From the hub of a wheel with few spokes, or from vertices of its rim that have as many edges together."""
    rim, spokes = np.arange(2000), np.arange(10, 2000, 10)
    ends = np.append(rim, np.zeros(199, int)), np.append((rim + 1) % 2000, spokes)
    wheel = as_graph(ends, directed=False)
    for sources, direction in [([0], "bottom-up"), (list(range(5, 1000, 10)), "top-down")]:
        assert assert_right(wheel, 2, sources, 0, in_one_launch(8)).trace[0].direction == direction


def test_more_pairs_than_there_is_room_for():
    """A level with more edges than all inboxes have room for goes bottom-up at once, even if its pairs would fit."""
    for room, last in [(100, "top-down"), (45, "bottom-up")]:
        with room_for(room):
            steps = assert_right(generate("tree:255"), 2, [0], 1, in_one_launch(NEVER)).trace
        assert [step.direction for step in steps][:7] == [*["top-down"] * 6, last]


def test_back_to_top_down():
    """A star, at one of whose leaves a binary tree begins, and random graphs that go to and fro."""
    children = np.arange(201, 260)
    parents = np.append(np.append(np.zeros(199, int), 1), (children - 199) // 2 + 199)
    star = as_graph((np.append(np.arange(1, 201), children), parents), directed=False)
    for levels, large, third in [(1, 1 << 20, "top-down"), (2, 1 << 20, "bottom-up"), (2, 200, "top-down")]:
        steps = assert_right(star, 3, [0], 0, in_one_launch(3, 1, levels, large=large)).trace
        assert [step.direction for step in steps][:3] == ["bottom-up", "bottom-up", third]
    random_searches(6, in_one_launch(3, 1))


def test_to_and_fro():
    """Every level goes bottom-up and back to a queue, on a path: more levels than there are bitmaps."""
    for seed in range(3):
        steps = assert_right(generate("path:40"), 1 + seed, [17], seed, in_one_launch(ALWAYS, 1)).trace
        assert len(steps) == 23


def test_no_room():
    """A level goes bottom-up where pairs find no room, and the search goes on."""
    for room in (0, 1, 3):
        with room_for(room):
            random_searches(6, in_one_launch(NEVER))
            random_searches(3, in_one_launch(NEVER, 1))


def test_more_than_one_run():
    """Bitmaps of more than 32 words, rows of many edges, and levels that go either way."""
    steps = assert_right(generate("rmat:12"), 3, [1], 5, in_one_launch()).trace
    assert {step.direction for step in steps} == {"top-down", "bottom-up"}


def test_long_rows():
    """A row that a sweep leaves to the whole grid: only the last neighbour is visited, and others have more edges."""
    others = np.repeat(np.arange(1, 11), 10), np.tile(np.arange(1, 11), 10)
    ends = np.append(np.arange(1, 3001), others[0]), np.append(np.zeros(2999, int), [2999, *others[1]])
    whole = as_graph(ends, directed=False)
    for seed in range(2):
        assert_right(whole, 1 + 2 * seed, [3000], seed, in_one_launch(ALWAYS, 1 << 40))


def test_wide_numbers():
    with mock.patch.object(Partitioning, "dtype", np.dtype(np.int64)):
        assert_right(generate("rmat:7"), 3, [1, 9], 3, in_one_launch())
        random_searches(4, in_one_launch())


def test_the_trace_says_which_search_it_was():
    trace = assert_finds(in_one_thread(generate("rmat:6"), 2, 0), generate("rmat:6"), [1]).trace
    assert trace.engine == "cpu, distributed over 2 devices, one launch"


@pytest.mark.parametrize(
    ("size", "windows", "refused"),
    [
        (3, host_windows, None),
        (3, lambda *_: "another process is on GPU 0", "another process is on GPU 0"),
        (9, host_windows, "one launch takes at most 8 partitions on a device"),
    ],
)
def test_where_there_are_no_windows_it_goes_by_steps(monkeypatch, size, windows, refused):
    """What partitions prepare, on one device that they share."""
    whole = generate("rmat:6")
    here = Location("host", "boot", "process", 1, 0, "0000:00:00.0", "uuid")
    monkeypatch.setattr(Location, "here", lambda: here)
    monkeypatch.setattr(one_launch, "CuPyDevice", lambda own_stream: HostDevice(0, blocks=2 * size))
    monkeypatch.setattr(one_launch, "DevicePartition", lambda *given: DevicePartition(*given, SMALL))
    monkeypatch.setattr(one_launch, "open_windows", windows)
    graph = from_graph(whole, Threads(["cpu"] * size))
    searches = graph.launcher.collect(one_launch.prepared, each=[graph.partitions])
    assert [each.transport for each in searches] == [f"copies: {refused}" if refused else "one launch"] * size
    for partition, each in zip(graph.partitions, searches, strict=True):
        partition.cache["search"] = each
    graph._prepared = True
    if refused:
        assert_finds(graph, whole, [1])


class Asynchronous(HostDevice):
    """Launches return before they are done, as on a device, and have copied their arguments."""

    under_way: Thread | None = None

    def compiled(self, *given):
        kernel = super().compiled(*given)
        launcher = kernel.launcher

        def asynchronous(grid, threads, shared, stream, *arguments, **more):
            copies = [type(each)() for each in arguments]
            launch = launcher(grid, threads, shared, stream, *copies, **more)
            return partial(self.begin, launch, tuple(zip(copies, arguments, strict=True)))

        kernel.launcher = asynchronous
        return kernel

    def begin(self, launch, copied):
        self.synchronize()
        for copy, argument in copied:
            memmove(byref(copy), byref(argument), sizeof(copy))
        self.under_way = Thread(target=launch)
        self.under_way.start()

    def synchronize(self):
        if self.under_way:
            self.under_way.join()


class Occupied(Asynchronous):
    """Once, its kernel begins when that of another device has ended."""

    before, begun = None, 0

    def begin(self, launch, copied):
        other, self.before = self.before, None
        super().begin(partial(self.begin_after, other, self.begun, launch) if other else launch, copied)
        self.begun += 1

    @staticmethod
    def begin_after(other, begun, launch):
        while other.begun == begun or other.under_way.is_alive():
            sleep(0.01)
        launch()


def in_one_thread(whole, size, seed, kind=Asynchronous):
    """A graph whose partitions one thread launches."""
    graph = on_devices(whole, size, seed, in_one_launch(), kind, timeout=600.0)
    graph.transport = search.ONE_LAUNCH
    return graph


def test_one_thread_launches_for_all():
    for seed in range(5):
        rng = np.random.default_rng(seed)
        whole = random_graph(rng, most_vertices=60, most_edges=240)
        sources, options = random_options(rng, whole.num_vertices)
        with mock.patch.object(PersistentSearch, "search", side_effect=AssertionError("in a thread of its own")):
            assert_finds(in_one_thread(whole, 1 + seed, seed), whole, sources, **options)


@pytest.mark.parametrize("where", ["begin", "start", "allocate_ahead", "watch", "finish"])
@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_after_a_failure_in_one_thread_the_next_search_is_right(where, error):
    """The others' launches end at once."""
    whole = generate("rmat:6")
    graph = in_one_thread(whole, 3, 0)
    expected = TraversalError if error is RuntimeError else error
    broken = mock.patch.object(graph.partitions[1].cache["search"], where, side_effect=error("it broke"))
    for _ in range(2):
        with broken, pytest.raises(expected, match="it broke") as raised:
            bfs(graph, 1)
        assert expected is error or "partition 1 of 3 (cpu)" in str(raised.value)
        assert_finds(graph, whole, [1])


def test_a_long_search_is_seen_when_it_reports(monkeypatch):
    """The host does not wait in the driver, where it would wait for what the kernels do afterwards too."""
    monkeypatch.setattr(one_launch, "SPINS", 0)
    monkeypatch.setattr(one_launch, "YIELDS", 1 << 40)
    whole = generate("rmat:6")
    graph = in_one_thread(whole, 2, 0)
    with mock.patch.object(PersistentSearch, "synchronize", side_effect=AssertionError("waits in the driver")):
        assert_finds(graph, whole, [1])


def test_nothing_runs_on_after_an_interrupt_at_any_line(monkeypatch):
    """In what one thread does for all ranks. The next search is right."""
    monkeypatch.setattr(one_launch, "SPINS", 2)
    monkeypatch.setattr(one_launch, "YIELDS", 2)
    monkeypatch.setattr(interrupts, "TRACED", one_launch.__file__)
    graph = in_one_thread(generate("star:6"), 2, 0)
    searches = [partition.cache["search"] for partition in graph.partitions]
    lines = at_line(0, lambda: bfs(graph, 1))
    assert lines > 80
    for line in range(1, lines + 1):
        at_line(line, lambda: bfs(graph, 1))
        assert not any(each.running for each in searches), f"line {line}"
        result = bfs(graph, 1)
        assert (result.num_reached, result.depth) == (6, 2), f"line {line}"
        assert validate(graph, result), f"line {line}"


def test_an_answer_in_one_thread_is_nobody_elses():
    """Arrays are allocated while the search before is under way; searches without a tree come between."""
    whole = generate("rmat:6")
    graph = in_one_thread(whole, 2, 0)
    trees = [True, True, False, False, True, False, True]
    results = [bfs(graph, source, predecessors=tree) for source, tree in enumerate(trees)]
    kept = [array for result in results for answer in result.answers for array in vars(answer).values()]
    kept = [array for array in kept if isinstance(array, np.ndarray)]
    assert not any(np.shares_memory(one, other) for one, other in combinations(kept, 2))
    for source, (result, tree) in enumerate(zip(results, trees, strict=True)):
        assert validate(graph, result)
        assert (result.to("cpu").predecessors is not None) == tree
        np.testing.assert_array_equal(result.to("cpu").distances, expected_distances(whole, [source]))


@pytest.mark.parametrize("tree", [True, False])
def test_where_memory_for_the_next_answer_runs_out_the_search_goes_on(monkeypatch, tree):
    graph = in_one_thread(generate("rmat:6"), 2, 0)
    real, calls = DevicePartition.allocate_answers, []

    def allocate_answers(partition, predecessors):
        calls.append(predecessors)
        if len(calls) > 2:
            raise MemoryError("no more")
        return real(partition, predecessors)

    monkeypatch.setattr(DevicePartition, "allocate_answers", allocate_answers)
    assert validate(graph, bfs(graph, 1, predecessors=tree))
    with pytest.raises(TraversalError, match=r"partition 0 of 2 \(cpu\) failed: no more: it does not fit"):
        bfs(graph, 1, predecessors=tree)


def test_an_absent_part_is_named_in_one_thread():
    whole = generate("rmat:6")
    graph = in_one_thread(whole, 2, 0)
    missing = mock.patch.object(graph.partitions[1].cache["search"], "start")
    says = r"no answer for 1 s from partition 1 \(cpu\)"
    with missing, impatient(graph.partitions[0]), pytest.raises(TraversalError, match=says):
        bfs(graph, 1)
    assert_finds(graph, whole, [1])


@pytest.mark.parametrize("occupied", [0, 1])
def test_a_search_whose_kernels_cannot_run_together_at_once(occupied, monkeypatch):
    """NCCL's kernel runs on one device and waits for its own on the other, which has no room while ours waits there."""
    monkeypatch.setattr(one_launch, "STARTING", 0.5)
    whole = generate("rmat:6")
    graph = in_one_thread(whole, 2, 0, Occupied)
    devices = [partition.cache["search"].device for partition in graph.partitions]
    for _ in range(2):
        devices[occupied].before = devices[1 - occupied]
        assert_finds(graph, whole, [1])


def test_absent_part():
    """A partition that never comes, or leaves early, is named; the next search finds all as it should be."""
    whole = generate("rmat:9")
    for missing in (0, 1):
        graph = on_devices(whole, 2, missing, in_one_launch(), timeout=600.0)
        there = graph.partitions[missing].cache["search"]
        assert_finds(graph, whole, [1])
        for name, way in (("start", wait_until_stopped(there)), ("begin", leave_early(there))):
            other = graph.partitions[1 - missing]
            with mock.patch.object(there, name, way), impatient(other), pytest.raises(TraversalError) as raised:
                bfs(graph, 1)
            assert f"no answer for 1 s from partition {missing} (cpu)" in str(raised.value)
            assert_finds(graph, whole, [1])


def impatient(partition):
    """A limit that this partition reaches; it cannot be late itself for the other, which has time, as has its host."""
    there = partition.cache["search"]
    return mock.patch.object(there, "begin", partial(begin_impatiently, there.begin))


def begin_impatiently(begin, request, timeout):
    begin(request, 1.0)


def wait_until_stopped(there):
    def launch():
        while there.stop_flag[0] != there.device_partition.s.number:
            sleep(0.01)

    return launch


def leave_early(there):
    """Go no further than to the first level."""
    real = there.begin

    def begin(request, timeout):
        real(request, timeout)
        there.device_partition.s.depth_limit = 1

    return begin


def test_a_part_that_fails():
    """The others' launches end at once."""
    whole = generate("rmat:9")
    graph = on_devices(whole, 3, 0, in_one_launch(), timeout=600.0)
    broken = mock.patch.object(graph.partitions[2].cache["search"], "start", side_effect=RuntimeError("it broke"))
    with broken, pytest.raises(TraversalError, match=r"partition 2 of 3 \(cpu\) failed: it broke"):
        bfs(graph, 1)
    assert_finds(graph, whole, [1])


def test_isolated_source():
    assert_right(as_graph(([0, 0, 1], [1, 2, 2]), directed=True, vertices=5), 2, [4, 0], 0, in_one_launch())


def test_reached_target():
    for target in (3, 30):
        assert_right(generate("path:40"), 2, [0], 1, in_one_launch(), target=target)


FAULTS = {
    "begin: predecessors that nobody wrote": Fault(
        "if (s.predecessors && s.fresh != CLEARED) clear_predecessors(s);", ";", test_top_down
    ),
    "begin: past the end of the predecessors": Fault("groups * PLACES + thread < s.n", "true", test_top_down),
    "expand: parents of another partition": Fault(
        "base + __shfl_sync(ALL, local_id, source)", "__shfl_sync(ALL, local_id, source)", test_top_down
    ),
    "dense: what a level before visited": Fault(
        "word[k] = visited[word_of(local_id)];", "word[k] = 0;", test_dense_top_down
    ),
    "pairs: all are past the end": Fault("inside[k] = which < run.end;", "inside[k] = false;", test_top_down),
    "dense: its pairs are lost": Fault("inside[k] && !(before[k] & bit_of(vertex[k]))", "false", test_dense_top_down),
    "dense: pairs of what a level before visited": Fault(
        "before[k] = visited[word_of(vertex[k])];", "before[k] = 0;", test_dense_top_down
    ),
    "dense: nobody sees what it reached": Fault(
        "publish(x, p.newest, word, 0, ring.words, bits, false);", ";", test_dense_top_down
    ),
    "settle: warps have the pairs of others": Fault(
        "run_of(w.result->pairs[partition], warp, w.warps)",
        "run_of(w.result->pairs[partition], 0, 2)",
        test_top_down,
    ),
    "send: over the pairs of another lane": Fault("slot += __popc(same[k]);", ";", test_top_down),
    "message: lost pairs are not reported": Fault(
        "__any_sync(ALL, pairs > x.capacity)", "__any_sync(ALL, false)", test_no_room
    ),
    "message: the target is not reported": Fault("at_target * AT_TARGET", "0", test_reached_target),
    "barrier: what a block found is lost": Fault("static_cast<Counter>(*found) << ARRIVED_BITS", "0", test_top_down),
    "barrier: what a block found adds up": Fault("*found = 0;", ";", test_reached_target),
    "message: the pairs add up": Fault("if (to) tally->sent[lane] = 0;", ";", test_top_down),
    "message: rows that are left are not reported": Fault("(left != 0) * LEFT", "0", test_long_rows),
    "barrier: without waiting": Fault(
        "!load_message(message, stamp, halves)", "load_message(message, stamp, halves), false", test_top_down
    ),
    "barrier: without waiting for all of a message": Fault(
        "complete = complete && words[i] >> 32 == (stamp & ALL);", ";", test_top_down
    ),
    "publish: to none but itself": Fault(
        "if (word + k * step < end) bitmap_of(x, partition, which)[slice + word + k * step] = bits[k];",
        "if (word + k * step < end) bitmap_of(x, x.rank, which)[slice + word + k * step] = bits[k];",
        test_bottom_up,
    ),
    "sweep: into what others read": Fault("1 - p.newest", "p.newest", test_bottom_up),
    "sweep: after levels that nobody saw": Fault("publish_all(x, w, ring, p.newest);", ";", test_bottom_up),
    "sweep: long rows that nobody saw": Fault("publish_all(x, w, ring, next);", ";", test_long_rows),
    "queue: all are marked": Fault(
        "copy_bitmap(x, w, bitmap_of(x, x.rank, p.newest), x.marked);",
        "for (long long i = w.thread; i < x.partitions * x.stride / WARP; i += w.threads) x.marked[i] = ~0u;",
        test_back_to_top_down,
    ),
    "end: a source without edges": Fault("s.distances[source_of(s, i)] = 0;", ";", test_isolated_source),
    "end: what was marked stays": Fault(
        "copy_bitmap(x, w, x.isolated, bitmap_of(x, x.rank, 0), bitmap_of(x, x.rank, 1), x.marked);",
        "copy_bitmap(x, w, x.isolated, bitmap_of(x, x.rank, 0), bitmap_of(x, x.rank, 1));",
        test_top_down,
    ),
    "begin: over what a failure left": Fault("(x.stale != 0) * STALE", "0", test_top_down),
    "begin: the first source alone": Fault("s.sources[which]", "static_cast<Vertex>(s.source)", test_top_down),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_seen(name, monkeypatch):
    assert_seen(monkeypatch, "distributed_persistent", FAULTS, name)
