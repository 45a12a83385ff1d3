"""The context of the driver, hence the device, in which the hosts of the GPU kernels work."""

import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from functools import cache, partial
from threading import Barrier
from types import SimpleNamespace
from unittest import mock

import pytest
from emulator import address
from idle_device import MAKERS, OPERATIONS, SOURCES, IdleDevice, let_hosts_be_idle

from rapids_bfs import Graph
from rapids_bfs._core import memory
from rapids_bfs.engines.gpu import cupy, direction_optimizing, numba_cuda
from rapids_bfs.engines.gpu import launch as gpu_launch
from rapids_bfs.engines.gpu.direction_optimizing import DirectionOptimizing
from rapids_bfs.engines.gpu.published import Device
from rapids_bfs.generators import generate


@pytest.fixture(autouse=True)
def host(monkeypatch):
    let_hosts_be_idle(monkeypatch)


class Contexts:
    """The driver of two devices, whose contexts are 10 and 11, and of a thread with a current one."""

    def __init__(self):
        self.current = 0

    def cuDeviceGet(self, found, ordinal):
        found._obj.value = ordinal
        return 0

    def cuDevicePrimaryCtxRetain(self, found, device):
        found._obj.value = 10 + device.value
        return 0

    def cuCtxGetCurrent(self, found):
        found._obj.value = self.current
        return 0

    def cuCtxSetCurrent(self, context):
        self.current = context.value or 0
        return 0


@pytest.fixture
def contexts(monkeypatch):
    driver = Contexts()
    monkeypatch.setattr(gpu_launch, "library", lambda: driver)
    monkeypatch.setattr(gpu_launch, "primary_context", cache(gpu_launch.primary_context.__wrapped__))
    return driver


@pytest.mark.parametrize("own", [0, 10, 11])
def test_contexts_in_turn(contexts, own):
    """The thread's own is current again afterwards, whatever happened. Each is set once."""
    contexts.current = own

    def interrupted():
        with gpu_launch.InTurn() as make_current:
            for context in 10, 11:
                make_current(context)
                assert contexts.current == context
            with mock.patch.object(contexts, "cuCtxSetCurrent", side_effect=AssertionError):
                make_current(11)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert contexts.current == own


def test_a_signal_handler_searches_on_another_device(contexts):
    """It runs as soon as the driver has told the thread's context, which is nevertheless the one to return to."""

    def ask(found):
        status = Contexts.cuCtxGetCurrent(contexts, found)
        contexts.cuCtxGetCurrent = partial(Contexts.cuCtxGetCurrent, contexts)  # it comes once
        with gpu_launch.Within(11), gpu_launch.Within(11):
            pass
        return status

    contexts.current = 10
    contexts.cuCtxGetCurrent = ask
    with gpu_launch.Within(12):
        assert contexts.current == 12
    assert contexts.current == 10


def test_threads_that_search_first_at_once_share_a_stream(monkeypatch):
    both = Barrier(2)

    class Stream:
        def __init__(self, non_blocking):
            both.wait()

    monkeypatch.setattr(cupy, "_streams", {})
    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(cuda=SimpleNamespace(Stream=Stream)))
    with ThreadPoolExecutor(2) as threads:
        first, second = threads.map(cupy.stream_of, (0, 0))
    assert first is second


class Second(IdleDevice):
    """A device that is not the thread's own: nothing may be done there unless it is current."""

    current = active = Device.current

    def __init__(self, contexts):
        self.contexts, self.context = contexts, gpu_launch.primary_context(1)
        self.interrupts = 0
        super().__init__()

    def check(self):
        assert self.contexts.current == self.context, "another device is current"

    def _keep(self, array):
        self.check()
        return super()._keep(array)

    def found(self, array):
        self.check()
        return array

    def synchronize(self):
        self.check()
        super().synchronize()
        if self.interrupts:
            self.interrupts -= 1
            raise KeyboardInterrupt


def in_own_arrays(monkeypatch, search):
    """A search into arrays that are made for its result, as of a graph on the device."""

    def new_arrays(length, *dtypes):
        arrays = [search.device.empty(length, dtype) for dtype in dtypes]
        return [SimpleNamespace(data=SimpleNamespace(ptr=address(array)), kept=array) for array in arrays]

    monkeypatch.setattr(direction_optimizing, "CUDA", "cpu")
    monkeypatch.setattr(memory, "new_arrays", new_arrays)
    monkeypatch.setattr(memory, "_current_stream", search.device.check)
    monkeypatch.setattr(direction_optimizing, "finish", search.device.check)
    return search.run(SOURCES, own=True)


@pytest.mark.parametrize("before", [0, 10, 11])
@pytest.mark.parametrize("name", [*OPERATIONS, "in own arrays"])
def test_a_device_is_current_where_it_is_used_and_no_longer(name, before, contexts, monkeypatch):
    device = Second(contexts)
    operation = OPERATIONS.get(name, partial(in_own_arrays, monkeypatch))
    with device.current():
        prepared = MAKERS.get(name, DirectionOptimizing)(generate("path:9"), device)
    contexts.current = before
    for interrupts in 0, 1, 0:
        device.interrupts = interrupts
        with pytest.raises(KeyboardInterrupt) if interrupts else nullcontext():
            operation(prepared)
        assert contexts.current == before


@pytest.mark.parametrize(("there", "thread", "chosen"), [(1, 10, 1), (0, 11, 0), (None, 11, 1)])
def test_cupy_searches_where_the_graph_is(there, thread, chosen, contexts, monkeypatch):
    """The graph's device, or the current one if the graph is on the host; a stream is entered on its own device."""

    class Stream:
        ptr = 5

        def __init__(self, non_blocking):
            self.context = contexts.current

        def __enter__(self):
            assert self.context == contexts.current

        def __exit__(self, *raised):
            pass

    def device(id=None):
        return SimpleNamespace(id=contexts.current - 10 if id is None else id)

    runtime = SimpleNamespace(deviceGetAttribute=lambda attribute, id: 7 + id)
    names = (
        "MultiProcessorCount",
        "MaxSharedMemoryPerBlockOptin",
        "L2CacheSize",
        "CooperativeLaunch",
        "KernelExecTimeout",
    )
    vars(runtime).update({f"cudaDevAttr{name}": 0 for name in names})
    monkeypatch.setitem(
        sys.modules, "cupy", SimpleNamespace(cuda=SimpleNamespace(Device=device, Stream=Stream, runtime=runtime))
    )
    monkeypatch.setattr(cupy, "_streams", {})
    monkeypatch.setattr(cupy, "primary_context", gpu_launch.primary_context)
    graph = generate("path:3")
    if there is not None:
        monkeypatch.setattr(Graph, "is_on", lambda self, device: True)
        monkeypatch.setattr(
            Graph, "to", lambda self, where: SimpleNamespace(targets=SimpleNamespace(device=device(there)))
        )
    contexts.current = thread
    found = cupy.CuPyDevice(graph)
    assert (found.id, found.multiprocessors, found.stream.context) == (chosen, 7 + chosen, 10 + chosen)
    with found.active():
        assert contexts.current == 10 + chosen
    assert contexts.current == thread


def test_numba_runs_on_the_stream_to_which_its_memory_belongs(contexts, monkeypatch):
    """CuPy's pool hands freed memory on at once, to whatever the same stream does next."""
    current = [1]

    class Stream:
        ptr = 7

        def __enter__(self):
            current.append(self.ptr)

        def __exit__(self, *raised):
            current.pop()

    def allocate(length, dtype):
        return SimpleNamespace(stream=current[-1])

    attributes = (
        "MULTIPROCESSOR_COUNT",
        "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN",
        "L2_CACHE_SIZE",
        "COOPERATIVE_LAUNCH",
        "KERNEL_EXEC_TIMEOUT",
    )
    gpu = SimpleNamespace(id=0, **dict.fromkeys(attributes, 1))
    api = SimpleNamespace(gpus=[gpu], get_current_device=lambda: gpu, stream=lambda: 99, external_stream=int)
    api.as_cuda_array = lambda array: array
    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(empty=allocate))
    for name, value in (("imported", lambda name: api), ("simulated", lambda: False), ("searches_on", lambda: "cuda")):
        monkeypatch.setattr(numba_cuda, name, value)
    monkeypatch.setattr(numba_cuda, "stream_of", lambda device: Stream())
    monkeypatch.setattr(numba_cuda, "primary_context", gpu_launch.primary_context)
    device = numba_cuda.NumbaDevice(generate("path:3"))
    with device.active():
        found = device.empty(3, "int32")
    assert found.stream == device.stream_handle
    assert current == [1]
