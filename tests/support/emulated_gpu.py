"""A GPU in Python: runs a cooperative Numba-CUDA kernel thread by thread where there is no device.

Numba's own simulator has no votes and shuffles of a warp and no barrier over several blocks. Here one thread runs at a
time, and at any access to memory another may take over, at random. Undefined behaviour on hardware is an error here: an
index out of bounds, threads that wait at different barriers, threads that wait for ever. Memory that nobody has written
holds garbage. Integers have the 64 bits that Numba gives them.
"""

import sys
import time
from types import SimpleNamespace

import numpy as np
import pytest

WARP = 32
DIMENSIONS = ("threadIdx", "blockIdx", "blockDim", "gridDim")
RUBBISH = 0xA5
WITHOUT_GREENLET = "greenlet is not installed: pip install 'rapids-bfs[test]'"
RESTLESS = 0.02  # how often an access to memory lets another thread take over


def integer(bits):
    """The conversion to a signed integer of this many bits, in the 64 that Numba computes with."""

    def convert(value):
        return np.int64((int(value) + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1))

    convert.dtype = np.dtype(f"int{bits}")
    return convert


def unsigned(bits):
    """The conversion to an integer of this many bits without a sign."""
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
    """A thread of the device, a greenlet here. It runs until it switches to another one."""

    running = None

    def __init__(self, launch, block, number):
        self.launch, self.block, self.number = launch, block, number
        self.met = {}  # what the threads brought that it met last
        values = number, block, launch.threads, launch.blocks
        self.dimensions = {name: SimpleNamespace(x=np.int64(x)) for name, x in zip(DIMENSIONS, values, strict=True)}
        self.greenlet = pytest.importorskip("greenlet", reason=WITHOUT_GREENLET).greenlet(self.run)
        self.greenlet.switch()  # here: one that another begins has less depth of recursion left

    def run(self):
        self.greenlet.parent.switch()
        with np.errstate(over="ignore"):
            self.launch.kernel(*self.launch.arguments)
        self.launch.ready.remove(self)

    def go_on(self):
        Thread.running = self
        self.greenlet.switch()

    def pause(self):
        if self.launch.random.random() < RESTLESS:
            self.switch()

    def switch(self):
        """Let a thread that need not wait go on, perhaps this one."""
        following = self.launch.draw()
        if following is not self:
            following.go_on()

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
        self.kernel, self.arguments = kernel, arguments
        self.blocks, self.threads, self.random = blocks, threads, random
        self.dynamic_bytes, self.cluster = shared, cluster
        self.meetings, self.shared = {}, {}
        self.ready = [Thread(self, block, number) for block in range(blocks) for number in range(threads)]
        while self.ready or self.meetings:
            self.draw().go_on()  # until one returns

    def draw(self):
        """A thread that need not wait."""
        assert self.ready, "all threads wait for others"
        return self.random.choice(self.ready)


def dimension(name):
    """What has an ``x``, as `cuda.threadIdx` has."""
    return property(lambda self: Thread.running.dimensions[name])


class Cuda:
    """What kernels use of `numba.cuda`."""

    @property
    def atomic(self):
        return SimpleNamespace(add=atomic_add, exch=atomic_exchange)

    threadIdx, blockIdx, blockDim, gridDim = map(dimension, DIMENSIONS)
    types = SimpleNamespace(
        uint8=np.uint8,
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
    """A copy of an array at an address that is a multiple of this many bytes, and of no more."""
    room = np.empty(array.nbytes + 4 * alignment, np.uint8)
    begin = (alignment - room.ctypes.data) % (2 * alignment)
    copy = room[begin : begin + array.nbytes].view(array.dtype)
    copy[:] = array
    return copy


def atomic(operation):
    return lambda memory, index, value: memory.exchange(index, lambda before: operation(before, np.int64(value)))


def load(memory, index):
    return memory[index]


def load_acquire(memory, index):
    Thread.running.switch()  # it is looked at until it changes
    return memory[index]


def vector(memory, index, count):
    """The places of the vector number ``index`` of this many elements."""
    address = memory.array.ctypes.data + count * index * memory.array.itemsize
    assert address % min(count * memory.array.itemsize, 16) == 0, "a vector begins where none may"
    return range(count * index, count * (index + 1))


def loader(count):
    return lambda memory, index: tuple(memory[place] for place in vector(memory, index, count))


def store_vector(memory, index, *values):
    for place, value in zip(vector(memory, index, len(values)), values, strict=True):
        memory[place] = value


def map_shared_rank(memory, rank):
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


def named_barrier(threads):
    thread = Thread.running
    thread.meet(("part", thread.block), threads)


def reducer(combine):
    return lambda value: int32(combine([*Thread.running.meet_warp(value).values()]))


def trap():
    raise AssertionError("the kernel gave up")


atomic_add = atomic(lambda before, value: before + value)
atomic_exchange = atomic(lambda before, value: value)
atomic_or = atomic(lambda before, value: before | value)

INTRINSICS = {  # of the modules `pointers` and `ptx`
    "ALL": None,
    "advance": lambda memory, count: Memory(memory.array[count:]),
    "atomic_add": atomic_add,
    "atomic_add_acq_rel": atomic_add,
    "atomic_exchange": atomic_exchange,
    "atomic_or": atomic_or,
    "cast_like": lambda memory, value: integer(8 * memory.dtype.itemsize)(value),
    "cluster_barrier": cluster_barrier,
    "cluster_size": lambda: int32(Thread.running.launch.cluster),
    "is_null": lambda memory: memory is None,
    "load_acquire": load_acquire,
    "load_four": loader(4),
    "load_four_read_only": loader(4),
    "load_pair": loader(2),
    "load_read_only": load,
    "load_relaxed": load,
    "local_array": lambda memory, count: Memory(rubbish(count, memory.dtype)),
    "map_shared_rank": map_shared_rank,
    "named_barrier": named_barrier,
    "nanoseconds": lambda: np.int64(time.monotonic_ns()),
    "no_unroll": lambda value: value,
    "pointer_into": lambda array, byte, other: Memory(array.array.view(np.uint8)[byte:].view(other.dtype)),
    "prefetch": lambda memory, index: None,
    "reduce_or": atomic_or,
    "size_of": lambda memory: np.int64(memory.dtype.itemsize),
    "store_four": store_vector,
    "store_pair": store_vector,
    "trap": trap,
    "warp_reduce_add": reducer(sum),
    "warp_reduce_max": reducer(max),
    "warp_reduce_or": reducer(np.bitwise_or.reduce),
}
