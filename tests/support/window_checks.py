"""SPMD functions that use windows from kernels, on devices: stores arrive, and barriers hold."""

import os
import time
from functools import cache

import cupy
import numpy as np

from rapids_bfs.distributed.windows import open_windows

WORDS = 1 << 15  # that each rank writes to each window
SPINS = 1 << 22  # looks at a flag before a kernel gives up
CODE = """
extern "C" __global__ void put(unsigned long long* window, long long words, long long rank, unsigned long long seed) {
    for (long long i = blockIdx.x * blockDim.x + threadIdx.x; i < words; i += gridDim.x * blockDim.x)
        window[rank * words + i] = (seed + i) * 0x9E3779B97F4A7C15ull;
}
extern "C" __global__ void get(const unsigned long long* window, long long words, unsigned long long* into) {
    for (long long i = blockIdx.x * blockDim.x + threadIdx.x; i < words; i += gridDim.x * blockDim.x)
        into[i] = window[i];
}
extern "C" __global__ void barriers(const unsigned long long* windows, int size, int rank, int rounds, int spins,
                                    unsigned long long from, int* passed) {
    if (threadIdx.x) return;
    for (int round = 0; round < rounds; ++round) {
        const unsigned long long now = from + round;
        for (int peer = 0; peer < size; ++peer)
            asm volatile("st.release.sys.global.u64 [%0], %1;" ::"l"(windows[peer] + 8 * rank), "l"(now) : "memory");
        for (int peer = 0; peer < size; ++peer) {
            const unsigned long long flag = windows[rank] + 8 * peer;
            unsigned long long seen = 0;
            for (int spin = 0; seen < now && spin < spins; ++spin)
                asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(seen) : "l"(flag) : "memory");
            if (seen < now) return;
        }
        *passed = round + 1;
    }
}
"""


@cache
def kernels():
    return {name: cupy.RawKernel(CODE, name) for name in ("put", "get", "barriers")}


def opened(communicator):
    """The windows, or the line that says why not; the first flags and then a segment for each rank."""
    return open_windows(communicator, 8 * WORDS * communicator.size)


def pattern(rank, owner, turn):
    seed = np.uint64(1000 * turn + 100 * rank + owner)
    return (seed + np.arange(WORDS, dtype=np.uint64)) * np.uint64(0x9E3779B97F4A7C15)


def read(address, words):
    """What the current device reads at an address."""
    into = cupy.empty(words, np.uint64)
    kernels()["get"]((32,), (256,), (np.uint64(address), np.int64(words), into))
    return into.get()


def written(windows, communicator, turn=0):
    """Each rank writes its segment of every window and reads all: the pairs of owner and writer that differ."""
    with cupy.cuda.Stream(non_blocking=True) as stream:
        for owner, address in enumerate(windows.addresses):
            given = np.uint64(address), np.int64(WORDS), np.int64(communicator.rank)
            kernels()["put"]((32,), (256,), (*given, np.uint64(1000 * turn + 100 * communicator.rank + owner)))
        stream.synchronize()
        communicator.barrier()
        wrong = []
        for owner, address in enumerate(windows.addresses):
            for writer, segment in enumerate(
                read(address, WORDS * communicator.size).reshape(communicator.size, WORDS)
            ):
                if not np.array_equal(segment, pattern(writer, owner, turn)):
                    wrong.append((owner, writer))
        communicator.barrier()
    return wrong


def zeros(windows, communicator):
    """Does this rank read zeros in all windows?"""
    with cupy.cuda.Stream(non_blocking=True):
        found = all(not read(address, WORDS * communicator.size).any() for address in windows.addresses)
    communicator.barrier()
    return found


def waited(windows, communicator, rounds, first=1 << 62):
    """The number of rounds of a barrier by flags that all ranks pass while their kernels run, and the microseconds of
    each."""
    with cupy.cuda.Stream(non_blocking=True) as stream:
        addresses, passed = cupy.asarray(np.array(windows.addresses, np.uint64)), cupy.zeros(1, np.int32)
        sizes = np.int32(communicator.size), np.int32(communicator.rank), np.int32(rounds), np.int32(SPINS)
        kernel = kernels()["barriers"]
        kernel((1,), (32,), (addresses, *sizes[:2], np.int32(0), sizes[3], np.uint64(first), passed))  # loads it
        stream.synchronize()
        communicator.barrier()
        begin = time.perf_counter()
        kernel((1,), (32,), (addresses, *sizes, np.uint64(first), passed))
        stream.synchronize()
        took = time.perf_counter() - begin
        communicator.barrier()
        return int(passed[0]), 1e6 * took / rounds


def close(windows, communicator, rank):
    """This rank closes its windows, and no other."""
    if communicator.rank == rank:
        windows.close()
    communicator.barrier()


def others_read(windows, communicator, closed, turn):
    """Do the ranks that are not ``closed`` still read what was written?"""
    right = True
    if communicator.rank not in closed:
        with cupy.cuda.Stream(non_blocking=True):
            for owner, address in enumerate(windows.addresses):
                segment = read(address, WORDS)
                right &= np.array_equal(segment, pattern(0, owner, turn))
    communicator.barrier()
    return right


def free_bytes(communicator):
    """Free memory of the device."""
    return cupy.cuda.runtime.memGetInfo()[0]


def at_launch(partition, communicator, rank, signal):
    """The process of this rank gets a signal in place of its next launch, when the others' kernels wait for its own."""

    def launch():
        time.sleep(0.5)
        os.kill(os.getpid(), signal)

    if communicator.rank == rank:
        partition.cache["search"].launch = launch


def way(partition, communicator):
    """The transport of this rank's searches."""
    return partition.cache["search"].transport
