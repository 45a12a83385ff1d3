"""What the GPU engines do without a GPU: say what is missing, check levels, trace."""

import ctypes
import re
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from emulator import EmulatedDevice
from hypothesis import given
from strategies import graphs

from rapids_bfs import InputError, betweenness, bfs, bfs_batch
from rapids_bfs._core.csr import host as csr
from rapids_bfs._core.cuda import driver as drivers
from rapids_bfs._core.cuda.driver import Driver
from rapids_bfs._core.formatting import size
from rapids_bfs.engines import Options, registered, resolve
from rapids_bfs.engines.gpu import cupy, numba_cuda
from rapids_bfs.engines.gpu import launch as gpu_launch
from rapids_bfs.engines.gpu.deterministic import ascending_in_edges, has_alike_degrees
from rapids_bfs.engines.gpu.published import LevelByLevel, LevelCheck, require_buffers
from rapids_bfs.errors import TraversalError
from rapids_bfs.generators import generate
from rapids_bfs.trace import Step, Trace


class TestDriver:
    @pytest.fixture
    def with_driver(self, monkeypatch):
        def pretend(cuda, devices):
            monkeypatch.setattr(drivers, "driver", lambda: Driver(cuda, ("some card",) * devices))
            cupy.cupy_missing.cache_clear()
            numba_cuda.numba_cuda_missing.cache_clear()

        yield pretend
        cupy.cupy_missing.cache_clear()
        numba_cuda.numba_cuda_missing.cache_clear()

    @pytest.mark.parametrize(
        ("cuda", "reason"),
        [
            (None, "there is no CUDA device: no NVIDIA driver is installed"),
            ((13, 0), "there is no CUDA device: the NVIDIA driver finds none"),
        ],
    )
    def test_no_device(self, with_driver, monkeypatch, cuda, reason):
        monkeypatch.delenv("NUMBA_ENABLE_CUDASIM", raising=False)
        with_driver(cuda, 0)
        assert cupy.cupy_missing().startswith(reason)
        assert numba_cuda.numba_cuda_missing().startswith(reason)
        assert numba_cuda.numba_cuda_missing() == cupy.cupy_missing()  # so that it is said once

    @pytest.mark.parametrize(
        ("cuda", "reason"),
        [
            (
                (12, 8),
                r"runs CUDA up to 12\.8 and CuPy 14 is built for CUDA 13: update the driver .*rapids-bfs\[cuda12\]",
            ),
            ((11, 4), r"runs CUDA up to 11\.4 .*: update the driver \(https://www.nvidia.com/drivers\)$"),
        ],
    )
    def test_driver_too_old(self, with_driver, cuda, reason):
        with_driver(cuda, 1)
        assert re.search(reason, drivers.too_old("CuPy 14", 13))

    def test_newer_driver_is_fine(self, with_driver):
        with_driver((14, 0), 1)
        assert drivers.too_old("CuPy 14", 13) is None
        assert drivers.no_device() is None

    @pytest.mark.parametrize("missing", [cupy.cupy_missing, numba_cuda.numba_cuda_missing], ids=["cupy", "numba-cuda"])
    @pytest.mark.parametrize("major", [12, 13])
    def test_package_not_installed(self, with_driver, missing, monkeypatch, major):
        with_driver((major, 0), 1)
        monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
        assert missing().endswith(f"is not installed: pip install 'rapids-bfs[cuda{major}]'")

    def test_numpy_too_new(self, with_driver, monkeypatch):
        pytest.importorskip("numba_cuda", reason="numba-cuda is not installed: pip install 'rapids-bfs[cuda13]'")
        with_driver((13, 0), 1)
        monkeypatch.setitem(sys.modules, "numba.cuda", None)
        monkeypatch.delattr("numba.cuda", raising=False)
        monkeypatch.setattr(np, "__version__", "2.5.2")
        assert numba_cuda.numba_cuda_missing().startswith("NumPy 2.5.2 is too new for numba-cuda")

    def test_engine_that_cannot_run_is_an_input_error(self, with_driver):
        if registered()["cupy"].unavailable() is None:
            pytest.skip("there is a CUDA device")
        with pytest.raises(InputError, match="engine 'cupy' cannot run here: "):
            bfs(generate("path:3"), 0, engine="cupy")


def test_device_memory_is_asked_for_first():
    graph = generate("path:1000")

    class Small:
        engine = "cupy"

        def free_bytes(self):
            return 1000

    needed = size(graph.nbytes + 4000)
    with pytest.raises(InputError, match=f"needs {needed} of device memory on engine 'cupy', and 1,000 bytes are free"):
        require_buffers(Small(), graph, [(1000, np.int32)])


class TestLevelCheck:
    """A path 0-1-2-3-4 searched from 0; level 1 is right, level 2 is reported wrong in every way."""

    BEFORE = (0, -1, -1, -1, -1)
    LEVEL_1 = (0, 1, -1, -1, -1)
    LEVEL_2 = (0, 1, 2, -1, -1)

    @pytest.fixture
    def check(self):
        check = LevelCheck(np.array(self.BEFORE))
        check.after(1, np.array(self.LEVEL_1), np.array([1]), True)
        return check

    def test_right_levels_pass(self, check):
        check.after(2, np.array(self.LEVEL_2), np.array([2]), True)
        check.after(3, np.array(self.LEVEL_2), np.array([], int), False)

    @pytest.mark.parametrize(
        ("distances", "frontier", "said", "message"),
        [
            ((0, -1, 2, -1, -1), [2], True, "vertex 1 was visited and no longer is"),
            ((0, 2, 2, -1, -1), [2], True, "vertex 1 had a distance, which changed"),
            ((0, 1, 2, 3, -1), [2], True, "vertex 3 was reached with the distance of another level"),
            (LEVEL_2, [2, 2], True, "vertex 2 is in the frontier more than once"),
            (LEVEL_2, [1, 2], True, "vertex 1 is in the frontier and was not reached at this level"),
            (LEVEL_2, [], False, "vertex 2 was reached at this level and is not in the frontier"),
            (LEVEL_2, [2], False, "reached 1 vertices and reported none"),
            (LEVEL_2, [2, 7], True, r"the frontier holds 2\.\.7, not all vertices"),
        ],
    )
    def test_fault_is_named(self, check, distances, frontier, said, message):
        with pytest.raises(TraversalError, match=f"level 2: {message}"):
            check.after(2, np.array(distances), np.array(frontier, int), said)

    def test_cpu_engine_has_no_levels_to_check(self):
        with pytest.raises(InputError, match="this engine cannot check its levels: use"):
            bfs(generate("path:3"), 0, engine="cpu", check=True)


class TestWhatCuPyDeclines:
    GRAPH = generate("path:100")

    @pytest.mark.parametrize("algorithm", cupy.CuPy.checking)
    def test_a_deterministic_tree_of_a_published_kernel(self, algorithm, monkeypatch):
        monkeypatch.setattr(cupy, "CuPyDevice", lambda graph: SimpleNamespace(attribute=lambda name: 1000))
        unsupported = registered()["cupy"].unsupported
        reason = unsupported(self.GRAPH, algorithm, Options(deterministic=True))
        assert reason == f"{algorithm} cannot search deterministically: use engine='cupy' or engine='cpu'"
        assert unsupported(self.GRAPH, algorithm, Options(deterministic=True, predecessors=False)) is None
        assert unsupported(self.GRAPH, algorithm, Options(check=True)) is None

    def test_what_a_texture_cannot_hold(self, monkeypatch):
        monkeypatch.setattr(cupy, "CuPyDevice", lambda graph: SimpleNamespace(attribute=lambda name: 10))
        unsupported = registered()["cupy"].unsupported
        assert "a texture of this device holds 10" in unsupported(self.GRAPH, "frontier-mask-texture", Options())
        assert unsupported(self.GRAPH, "frontier-mask", Options()) is None


def test_auto_takes_an_engine_that_can_search_deterministically(monkeypatch):
    monkeypatch.setattr("rapids_bfs.engines.registry.no_device", lambda: None)
    monkeypatch.setattr(cupy.CuPy, "unavailable", lambda self: "not here")
    monkeypatch.setattr(numba_cuda.NumbaCUDA, "unavailable", lambda self: None)
    resolve.cache_clear()
    try:
        assert resolve("auto").name == "numba-cuda"
        assert resolve("auto", deterministic=True).name == "cpu"
    finally:
        resolve.cache_clear()


class TestWhatNumbaCUDALeavesOut:
    @pytest.fixture(autouse=True)
    def here(self, monkeypatch):
        monkeypatch.setattr(numba_cuda.NumbaCUDA, "unavailable", lambda self: None)

    @pytest.mark.parametrize("algorithm", ["direction-optimizing", "block-queue"])
    def test_a_deterministic_tree_is_declined(self, algorithm):
        engine = registered()["numba-cuda"]
        with pytest.raises(InputError, match=r"does not support deterministic: .* use the engine 'cpu'$"):
            bfs(generate("path:3"), 0, deterministic=True, engine=f"numba-cuda:{algorithm}")
        graph, distances_alone = generate("path:3"), Options(deterministic=True, predecessors=False)
        assert engine.unsupported(graph, algorithm, distances_alone) is None  # they are the same in any search
        assert engine.unsupported(graph, algorithm, Options()) is None

    def test_sources_take_turns(self, monkeypatch):
        monkeypatch.setattr(numba_cuda.NumbaCUDA, "prepare", lambda self, *rest: registered()["cpu"].prepare(*rest))
        found = bfs_batch(generate("path:3"), engine="numba-cuda").distances
        assert found.tolist() == [[0, 1, 2], [1, 0, 1], [2, 1, 0]]

    def test_betweenness_is_declined(self):
        with pytest.raises(InputError, match="engine 'numba-cuda' has no betweenness: use the engine 'cpu'"):
            betweenness(generate("path:3"), engine="numba-cuda")


@given(graphs())
def test_in_edges_of_a_deterministic_search(graph):
    """They ascend; where the out-edges do not, they say where each edge stands among those of its source."""
    found = ascending_in_edges(graph)
    ascends = csr.ascends(graph.offsets, graph.targets)
    assert (found is None) == (ascends and not graph.directed)
    if found is None:
        return
    offsets, sources, positions = found
    assert csr.ascends(offsets, sources)
    assert (positions is None) == ascends
    heads = np.repeat(np.arange(graph.num_vertices), np.diff(offsets))
    np.testing.assert_array_equal(np.bincount(graph.targets, minlength=graph.num_vertices), np.diff(offsets))
    if positions is not None:
        np.testing.assert_array_equal(graph.targets[graph.offsets[sources] + positions], heads)


@pytest.mark.parametrize(
    ("spec", "alike"), [("urand:10", True), ("grid:20", True), ("path:9", True), ("rmat:10", False), ("star:20", False)]
)
def test_which_graphs_have_alike_degrees(spec, alike):
    assert has_alike_degrees(generate(spec).offsets) == alike


class WithoutKernels(EmulatedDevice):
    def kernels(self, file, vertex, offset):
        return {}


class Endless(LevelByLevel):
    """A search whose kernel always says that it reached some vertex."""

    file = "none"

    def reset(self, predecessors):
        pass

    def seed(self, begin, count):
        pass

    def advance(self, level, target, predecessors):
        return True

    def frontier_vertices(self):
        return np.empty(0, int)


def test_search_that_does_not_end_is_stopped():
    traversal = Endless(generate("path:5"), WithoutKernels(0))
    with pytest.raises(TraversalError, match="level 6 of a graph with 5 vertices: it should have ended"):
        traversal.run(np.array([0]))


class TestLaunch:
    """The driver is one that notes what it is called with."""

    class Pair(ctypes.Structure):
        _fields_ = [("first", ctypes.c_int64), ("second", ctypes.c_int64)]

    @pytest.fixture
    def launches(self, monkeypatch):
        """How each launch was to be, and its arguments' addresses."""
        noted = []

        def launch(how, function, addresses, extra):
            noted.append((how._obj, addresses))
            return 0

        def words(status, text):
            ctypes.cast(text, ctypes.POINTER(ctypes.c_char_p))[0] = b"out of luck"

        names = {"cuLaunchKernelEx": launch, "cuGetErrorString": words}
        names |= {"cuFuncSetAttribute": lambda *arguments: 7}
        monkeypatch.setattr(gpu_launch, "library", lambda: SimpleNamespace(**names))
        return noted

    @pytest.mark.parametrize("fields", [False, True])
    def test_arguments_are_read_at_the_launch(self, launches, fields):
        pair, number = self.Pair(1, 2), ctypes.c_int64(3)
        kernel = gpu_launch.CompiledKernel(99, None, fields=fields)
        launch = kernel.launcher(5, 64, 128, 8, pair, number)
        pair.second, number.value = 20, 30
        launch()
        ((how, addresses),) = launches
        assert [*how.grid, *how.block, how.shared, how.stream] == [5, 1, 1, 64, 1, 1, 128, 8]
        values = [ctypes.c_int64.from_address(address).value for address in addresses]
        assert values == ([1, 20, 30] if fields else [1, 30])
        assert fields or self.Pair.from_address(addresses[0]).second == 20

    @pytest.mark.parametrize("cooperative", [False, True])
    @pytest.mark.parametrize("cluster", [1, 4])
    def test_attributes_of_a_launch(self, launches, cooperative, cluster):
        """A device without clusters is not asked for one."""
        gpu_launch.CompiledKernel(99, None).launcher(8, 64, 0, 8, cooperative=cooperative, cluster=cluster)()
        ((how, _),) = launches
        attributes = {how.attributes[i].id: how.attributes[i].value[0] for i in range(how.number)}
        expected = {gpu_launch.COOPERATIVE: 1} if cooperative else {}
        assert attributes == expected | ({gpu_launch.CLUSTER_DIMENSION: cluster} if cluster > 1 else {})

    def test_the_driver_says_what_is_wrong(self, launches):
        kernel = gpu_launch.CompiledKernel(99, None)
        with pytest.raises(TraversalError, match=r"cuFuncSetAttribute: out of luck \(7\)"):
            kernel.resident_blocks(64, 1 << 30)


class TestTrace:
    def test_counts(self):
        trace = bfs(generate("tree:7"), 0, trace=True, engine="cpu").trace
        assert [level[:4] for level in trace] == [(1, 1, 2, 2), (2, 2, 6, 4), (3, 4, 4, 0)]

    def test_steps_go_beyond_the_last_distance(self):
        graph = generate("path:3")
        distances = np.array([0, 1, 2])
        trace = Trace.of(graph, distances, [Step("top-down", 0.5)] * 3)
        assert [level.newly_reached for level in trace] == [1, 1, 0]
        assert trace[2].frontier_edges == 1

    def test_forms(self):
        from rich.console import Console

        trace = Trace.of(generate("path:3"), np.array([0, 1, -1]), [Step("top-down", 0.5)])
        expected = {
            "level": 1,
            "frontier_vertices": 1,
            "frontier_edges": 1,
            "newly_reached": 1,
            "direction": "top-down",
            "milliseconds": 0.5,
        }
        assert trace.to_records() == [expected]
        assert trace.to_frame().to_dict("records") == [expected]
        console = Console(width=100)
        with console.capture() as capture:
            console.print(trace)
        assert "top-down" in capture.get()

    def test_off_by_default(self):
        assert bfs(generate("path:3"), 0).trace is None
