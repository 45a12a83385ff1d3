"""A device that runs the kernels of `kernels/cuda`, compiled for the host and launched by the code that ships."""

import ctypes
import threading
import weakref
from typing import ClassVar

import numpy as np
from emulated_gpu import RUBBISH
from emulator import EmulatedDevice, address
from host_build import Edits, Shape, function, runtime

from rapids_bfs.engines.gpu.launch import CompiledKernel
from rapids_bfs.errors import TraversalError
from rapids_bfs.kernels import cuda

ALIGNMENT = 256  # of memory, as on a device
libc = ctypes.CDLL(None)
compiling = threading.Lock()


def empty(nbytes: int) -> np.ndarray:
    """``nbytes`` of garbage (uint8), whose bounds AddressSanitizer checks."""
    place = ctypes.c_void_p()
    assert libc.posix_memalign(ctypes.byref(place), ctypes.c_size_t(ALIGNMENT), ctypes.c_size_t(nbytes)) == 0
    memory = (ctypes.c_uint8 * nbytes).from_address(place.value)
    weakref.finalize(memory, libc.free, place)
    array = np.frombuffer(memory, np.uint8)
    array[:] = RUBBISH
    return array


class HostKernel(CompiledKernel):
    """A kernel that is compiled by `host_build` when it is first launched."""

    def __init__(self, device, file, *instance):
        super().__init__(None, None)
        self.device, self.instance = device, (file, *instance, device.edits.get(file, ()))

    def resident_blocks(self, threads, shared):
        return 1

    def launcher(self, grid, threads, shared, stream, *arguments, cooperative=False):
        addresses = [address for argument in arguments for address in self._addresses(argument)]
        pointers = (ctypes.c_void_p * len(addresses))(*addresses)

        def launch(kept=arguments):
            if self.device.refuses:
                raise TraversalError("refused")
            shape = Shape(grid, threads, shared, self.device.random.getrandbits(32))
            with compiling:
                run = function(*self.instance)
                ctypes.c_int.in_dll(runtime(), "planted").value = self.device.planted
            failure = run(ctypes.byref(shape), pointers)
            assert failure is None, failure.decode()

        return launch


def passed(argument):
    """An argument of a kernel as the driver takes it: the address of an array, a null pointer, or a number."""
    if argument is None or isinstance(argument, np.ndarray):
        return ctypes.c_void_p(None if argument is None else address(argument))
    return np.ctypeslib.as_ctypes_type(argument.dtype)(argument.item())


class HostDevice(EmulatedDevice):
    """``blocks`` multiprocessors, each of which runs one block."""

    engine = "on the host"
    small_rows = deep_by_grid = True
    edits: ClassVar[dict[str, Edits]] = {}  # of the files' texts, before they are compiled
    planted = 0  # which of the faults in them, see `host_faults`
    refuses = False  # does the driver refuse launches?

    def __init__(self, seed=0, *, blocks=3):
        super().__init__(seed)
        self.multiprocessors = self.resident_blocks = blocks

    def _keep(self, array):
        kept = empty(array.nbytes).view(array.dtype)
        kept[:] = array
        return super()._keep(kept)

    def kernel(self, file, kernel, vertex, offset, *options):
        return HostKernel(self, file, kernel, vertex.itemsize, offset.itemsize, options)

    def kernels(self, file, vertex, offset):
        names = cuda.expressions(file, vertex.itemsize, offset.itemsize)
        return {name: self.level(self.kernel(file, name, vertex, offset)) for name in names}

    def level(self, kernel):
        def launch(blocks, *arguments):
            kernel.launcher(blocks, self.threads, 0, 0, *map(passed, arguments))()

        return launch

    def compiled_together(self, file, vertex, offset, threads, blocks):
        names = cuda.expressions(file, vertex.itemsize, offset.itemsize)
        return {name: self.compiled(file, name, vertex, offset, threads, blocks) for name in names}

    def compiled(self, file, kernel, vertex, offset, threads, blocks):
        return self.kernel(file, kernel, vertex, offset, f"-DTHREADS={threads}", f"-DBLOCKS={blocks}")


def launch(file, kernel, vertex, offset, count, *arguments):
    """`rapids_bfs._core.cuda.kernels.launch`, on the host."""
    if count == 0:
        return
    device = HostDevice(count)
    numbers = [np.int64(each) if isinstance(each, int) else each for each in arguments]
    blocks = min(-(-count // device.threads), device.resident_blocks)
    device.level(device.kernel(file, kernel, np.dtype(vertex), np.dtype(offset)))(blocks, *numbers)
