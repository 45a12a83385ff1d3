"""A GPU in Python: cooperative kernels of `kernels/numba_cuda` run thread by thread where there is no device.

Numba's own simulator has no votes and shuffles of a warp and no barrier over several blocks. Here one thread runs at a
time, and chance decides when another takes over: at any access to memory. What hardware would leave undefined is an
error: a place outside of an array, threads that meet at different places of the code, threads that wait for ever.
Memory that nobody wrote holds rubbish. Integers have the 64 bits that Numba gives them.

The kernels' modules are imported a second time, as the package `emulated`, and find `Cuda` in the place of `numba.cuda`
and `POINTERS` in that of the module `pointers`.
"""

import ctypes
import sys
import threading
import time
from contextlib import nullcontext
from ctypes import Structure, c_void_p
from functools import cache
from importlib import import_module, util
from pathlib import Path
from random import Random
from types import SimpleNamespace
from unittest import mock

import numpy as np

from rapids_bfs.engines._levels import Device

KERNELS = Path(__file__).parents[1] / "kernels"
PACKAGE = "emulated"
WARP = 32
RUBBISH = 0xA5
RESTLESS = 0.02  # how often an access to memory lets another thread take over


def integer(bits):
    """The conversion to a signed integer of so many bits, in the 64 that Numba computes with."""

    def convert(value):
        return np.int64((int(value) + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1))

    convert.dtype = np.dtype(f"int{bits}")
    return convert


def unsigned(bits):
    """The conversion to an integer of so many bits without a sign."""
    dtype = np.dtype(f"uint{bits}")

    def convert(value):
        return dtype.type(int(value) % (1 << bits))

    convert.dtype = dtype
    return convert


int32, int64 = integer(32), integer(64)


class Memory:
    """An array whose elements are read as Numba reads them, and which knows its bounds."""

    def __init__(self, array):
        self.array = array
        self.dtype = array.dtype

    def place(self, index):
        """``index``, if there is such an element; another thread may take over."""
        Thread.running.pause()
        assert 0 <= index < len(self.array), f"element {index} of {len(self.array)}"
        return index

    def __getitem__(self, index):
        value = self.array[self.place(index)]
        return np.int64(value) if self.dtype.kind == "i" else value

    def __setitem__(self, index, value):
        self.array[self.place(index)] = np.asarray(value).astype(self.dtype)

    def exchange(self, index, value):
        """Set an element and return what was there, at once."""
        self.place(index)
        before = np.int64(self.array[index])
        self.array[index] = np.asarray(value(before)).astype(self.dtype)
        return before


class Thread:
    """A thread of the device. It runs until it switches to another one."""

    running = None

    def __init__(self, launch, block, number):
        self.launch, self.block, self.number = launch, block, number
        self.may_run = threading.Semaphore(0)
        self.met = {}  # what the threads brought that it met last

    def run(self, kernel, arguments):
        launch = self.launch
        self.may_run.acquire()
        try:
            with np.errstate(over="ignore"):
                kernel(*arguments)
            launch.ready.remove(self)
            if launch.ready or launch.meetings:
                launch.draw().go_on()
            else:
                launch.done.release()
        except BaseException as error:  # the other threads stay where they are
            launch.failure = error
            launch.done.release()

    def go_on(self):
        Thread.running = self
        self.may_run.release()

    def pause(self):
        if self.launch.random.random() < RESTLESS:
            self.switch()

    def switch(self):
        """Let a thread that need not wait go on, perhaps this one."""
        following = self.launch.draw()
        if following is not self:
            following.go_on()
            self.may_run.acquire()

    def meet(self, group, size, value=None):
        """Wait for the threads of a group; what each brought, by its number in the group."""
        launch = self.launch
        here = launch.meetings.setdefault(group, {})
        here[self] = call_place(), value
        if len(here) < size:
            launch.ready.remove(self)
            self.switch()
            return self.met
        del launch.meetings[group]
        assert len({place for place, _ in here.values()}) == 1, "threads meet at different places of the code"
        met = {thread.number % size: value for thread, (_, value) in here.items()}
        for thread in here:
            thread.met = met
        launch.ready += [thread for thread in here if thread is not self]
        return met

    @property
    def cluster(self):
        """The number of its cluster."""
        return self.block // self.launch.cluster

    def meet_warp(self, value):
        return self.meet((self.block, self.number // WARP), WARP, value)


def call_place():
    """Where in the kernel this thread is, and by which calls it came there."""
    frame, lines = sys._getframe(2), []
    while frame.f_code is not Thread.run.__code__:
        lines.append((frame.f_code, frame.f_lineno))
        frame = frame.f_back
    return tuple(lines)


class Launch:
    """A grid of threads, until all have returned. Raises what one of them raised."""

    def __init__(self, kernel, arguments, blocks, threads, random, *, shared=0, cluster=1):
        self.blocks, self.threads, self.random = blocks, threads, random
        self.dynamic_bytes, self.cluster = shared, cluster
        self.meetings, self.shared = {}, {}
        self.failure = None
        self.done = threading.Semaphore(0)
        self.ready = [Thread(self, block, number) for block in range(blocks) for number in range(threads)]
        for thread in self.ready:
            threading.Thread(target=thread.run, args=(kernel, arguments), daemon=True).start()
        self.draw().go_on()
        self.done.acquire()
        if self.failure:
            raise self.failure

    def draw(self):
        """A thread that need not wait."""
        assert self.ready, "all threads wait for others"
        return self.random.choice(self.ready)


def dimension(value):
    """What has an ``x``, as `cuda.threadIdx` has."""
    return property(lambda self: SimpleNamespace(x=np.int64(value(Thread.running))))


class Cuda:
    """What kernels use of `numba.cuda`."""

    @property
    def atomic(self):
        return SimpleNamespace(add=fetch_add, exch=fetch_exchange)

    threadIdx = dimension(lambda thread: thread.number)
    blockIdx = dimension(lambda thread: thread.block)
    blockDim = dimension(lambda thread: thread.launch.threads)
    gridDim = dimension(lambda thread: thread.launch.blocks)
    types = SimpleNamespace(
        int32=np.int32,
        int64=np.int64,
        CPointer=lambda element: element,
        NamedTuple=lambda fields, structure: (fields, structure),
    )

    @staticmethod
    def jit(**options):
        return lambda function: function

    def grid(self, dimensions):
        return self.blockIdx.x * self.blockDim.x + self.threadIdx.x

    def gridsize(self, dimensions):
        return self.gridDim.x * self.blockDim.x

    @staticmethod
    def popc(bits):
        return np.int64(int(bits % (1 << 32)).bit_count())

    @staticmethod
    def syncthreads():
        thread = Thread.running
        thread.meet(thread.block, thread.launch.threads)

    @staticmethod
    def threadfence():
        Thread.running.pause()

    @staticmethod
    def ballot_sync(mask, condition):
        held = Thread.running.meet_warp(bool(condition))
        return int32(sum(holds << lane for lane, holds in held.items()))

    @staticmethod
    def shfl_sync(mask, value, lane):
        return Thread.running.meet_warp(value)[lane % WARP]

    @staticmethod
    def shfl_xor_sync(mask, value, lanes):
        thread = Thread.running
        return thread.meet_warp(value)[thread.number % WARP ^ lanes]

    @staticmethod
    def syncwarp():
        Thread.running.meet_warp(None)

    @staticmethod
    def shfl_up_sync(mask, value, distance):
        thread = Thread.running
        lane = thread.number % WARP
        values = thread.meet_warp(value)
        return values[lane - distance if lane >= distance else lane]

    @property
    def shared(self):
        return SimpleNamespace(array=self._shared_array)

    @staticmethod
    def _shared_array(length, convert, alignment=None):
        """One array for each place of the code that asks for it; of length 0, as long as the launch says."""
        thread, asks = Thread.running, sys._getframe(1)
        key = thread.block, asks.f_code, asks.f_lineno
        if key not in thread.launch.shared:
            array = rubbish(length or thread.launch.dynamic_bytes // convert.dtype.itemsize, convert.dtype)
            thread.launch.shared[key] = Memory(placed(array, alignment or array.itemsize))
        return thread.launch.shared[key]


def rubbish(length, dtype):
    if np.dtype(dtype).kind == "f":
        return np.full(length, np.nan, dtype)
    return np.full(length * np.dtype(dtype).itemsize, RUBBISH, np.uint8).view(dtype)


def placed(array, alignment):
    """A copy of an array at an address that is a multiple of so many bytes, and of no more."""
    room = np.empty(array.nbytes + 4 * alignment, np.uint8)
    begin = (alignment - room.ctypes.data) % (2 * alignment)
    copy = room[begin : begin + array.nbytes].view(array.dtype)
    copy[:] = array
    return copy


def atomic(operation):
    return lambda memory, index, value: memory.exchange(index, lambda before: operation(before, np.int64(value)))


def load(memory, index):
    return memory[index]


def load_ordered(memory, index):
    Thread.running.switch()  # it is looked at until it changes
    return memory[index]


def vector(memory, index, count):
    """The places of the vector number ``index`` of so many elements."""
    address = memory.array.ctypes.data + count * index * memory.array.itemsize
    assert address % min(count * memory.array.itemsize, 16) == 0, "a vector begins where none may"
    return range(count * index, count * (index + 1))


def loader(count):
    return lambda memory, index: tuple(memory[place] for place in vector(memory, index, count))


def store_vector(memory, index, *values):
    for place, value in zip(vector(memory, index, len(values)), values, strict=True):
        memory[place] = value


def of_block(memory, rank):
    """What another block of the cluster has where this one has ``memory``, in shared memory."""
    thread = Thread.running
    at = memory.array.ctypes.data
    for (block, *asks), mine in thread.launch.shared.items():
        begin = mine.array.ctypes.data
        if block == thread.block and begin <= at < begin + mine.array.nbytes:
            theirs = thread.launch.shared[thread.cluster * thread.launch.cluster + rank, *asks]
            return Memory(theirs.array.view(np.uint8)[at - begin :].view(memory.dtype))
    raise AssertionError("this is no shared memory")


def cluster_barrier():
    thread = Thread.running
    thread.meet(("cluster", thread.cluster), thread.launch.cluster * thread.launch.threads)


def block_barrier(threads):
    thread = Thread.running
    thread.meet(("part", thread.block), threads)


def reducer(combine):
    return lambda value: int32(combine([*Thread.running.meet_warp(value).values()]))


def give_up():
    raise AssertionError("the kernel gave up")


fetch_add = atomic(lambda before, value: before + value)
fetch_exchange = atomic(lambda before, value: value)
fetch_or = atomic(lambda before, value: before | value)

POINTERS = {
    "ALL": None,
    "behind": lambda memory, count: Memory(memory.array[count:]),
    "block_barrier": block_barrier,
    "cluster_barrier": cluster_barrier,
    "cluster_size": lambda: int32(Thread.running.launch.cluster),
    "fetch_add": fetch_add,
    "fetch_add_ordered": fetch_add,
    "fetch_exchange": fetch_exchange,
    "fetch_or": fetch_or,
    "give_up": give_up,
    "is_null": lambda memory: memory is None,
    "like": lambda memory, value: integer(8 * memory.dtype.itemsize)(value),
    "load_ordered": load_ordered,
    "load_four": loader(4),
    "load_four_read_only": loader(4),
    "load_pair": loader(2),
    "load_read_only": load,
    "load_shared_by_blocks": load,
    "nanoseconds": lambda: np.int64(time.monotonic_ns()),
    "of_block": of_block,
    "pointer_into": lambda array, byte, other: Memory(array.array.view(np.uint8)[byte:].view(other.dtype)),
    "prefetch": lambda memory, index: None,
    "reduce_add": reducer(sum),
    "reduce_max": reducer(max),
    "reduce_or": reducer(np.bitwise_or.reduce),
    "registers": lambda memory, count: Memory(rubbish(count, memory.dtype)),
    "rolled": lambda value: value,
    "send_or": fetch_or,
    "size_of": lambda memory: np.int64(memory.dtype.itemsize),
    "store_four": store_vector,
    "store_pair": store_vector,
}


@cache
def imported():
    """What kernels import, and their own modules as far as they were imported: each there is once."""
    cuda = Cuda()
    spec = util.spec_from_file_location(PACKAGE, KERNELS / "__init__.py", submodule_search_locations=[str(KERNELS)])
    return {
        "numpy": SimpleNamespace(
            **{"int8": integer(8), "int32": int32, "int64": int64},
            **{f"uint{bits}": unsigned(bits) for bits in (16, 32, 64)},
        ),
        "numba": SimpleNamespace(cuda=cuda),
        "numba.cuda": cuda,
        PACKAGE: util.module_from_spec(spec),
        f"{PACKAGE}.numba_cuda.pointers": SimpleNamespace(**POINTERS),
    }


def emulated(file):
    """A module of `kernels/numba_cuda`, to be run here."""
    modules = imported()
    with mock.patch.dict(sys.modules, modules):
        module = import_module(f"{PACKAGE}.numba_cuda.{file}")
        modules |= {name: each for name, each in sys.modules.items() if name.startswith(f"{PACKAGE}.")}
    return module


class EmulatedKernel:
    """A kernel whose pointers are addresses of the device's arrays. It takes several arguments, or one structure."""

    def __init__(self, device, module, name, vertex, offset):
        self.device, self.kernel = device, getattr(module, name)
        self.types = module.signatures(vertex.itemsize, offset.itemsize)[name]

    def resident_blocks(self, threads, shared):
        return 1

    def resident_clusters(self, cluster, threads, shared, stream):
        return 1

    def launcher(self, grid, threads, shared, stream, *arguments, cooperative=False, cluster=1):
        def launch():
            passed = map(self.argument, arguments, self.types)
            Launch(self.kernel, tuple(passed), grid, threads, self.device.random, shared=shared, cluster=cluster)

        return launch

    def argument(self, given, kind):
        if not isinstance(given, Structure):
            return self.value(given.value, type(given), kind)
        types, structure = kind
        fields = zip(given._fields_, types, strict=True)
        return structure(*(self.value(getattr(given, name), each, dtype) for (name, each), dtype in fields))

    def value(self, value, kind, dtype):
        return self.device.memory(value, dtype) if kind is c_void_p else np.int64(value)


class EmulatedDevice(Device):
    """Blocks of few threads; the host's memory is the device's."""

    engine = "emulated"
    searches_on = "cpu"
    threads = 64
    multiprocessors = 3
    most_shared_bytes = 1 << 16
    resident_blocks = 1
    stream_handle = 0

    def __init__(self, seed):
        self.random = Random(seed)
        self.arrays = {}

    def active(self):
        return nullcontext()

    def free_bytes(self):
        return 1e9

    def upload(self, array):
        return self._keep(array.copy())

    def empty(self, length, dtype):
        return self._keep(rubbish(length, dtype))

    def _keep(self, array):
        self.arrays[address(array)] = array
        return array

    def memory(self, at, dtype):
        """What a pointer points to, up to the end of its array."""
        if at is None:
            return None
        start, array = next(each for each in self.arrays.items() if 0 <= at - each[0] < max(each[1].nbytes, 1))
        return Memory(array.view(np.uint8)[at - start :].view(dtype))

    def host(self, array):
        return array.copy()

    def found(self, array):
        return array

    def mapped(self, length, dtype):
        return (self.empty(length, dtype),) * 2

    def absent(self, array):
        return None

    def kernels(self, file, vertex, offset):
        raise NotImplementedError("only kernels of one launch are emulated")

    def compiled(self, file, kernel, vertex, offset, threads, blocks):
        return EmulatedKernel(self, emulated(file), kernel, vertex, offset)

    def synchronize(self):
        pass


def address(array):
    return array.ctypes.data


def fill(array, byte, stream):
    array.view(np.uint8)[:] = byte


def copy(target, source, size, stream):
    ctypes.memmove(target, source, size)


DRIVER = {
    "address": address,
    "call": lambda name, *arguments: None,
    "copy": copy,
    "current_context": lambda: None,
    "fill": fill,
    "library": lambda: SimpleNamespace(cuCtxSetCurrent=lambda context: 0),
}


def emulate(monkeypatch, *hosts):
    """Let these modules find the emulated device where they import the driver's functions."""
    for host in hosts:
        for name in DRIVER.keys() & vars(host).keys():
            monkeypatch.setattr(host, name, DRIVER[name])
