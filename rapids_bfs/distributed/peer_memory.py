"""Memory that ranks share: allocated in this process, or mapped from another by CUDA IPC; freed after the last use.

A thread frees memory that has no references left, while no SPMD call runs in this process, see `AtWork`. Freeing device
memory waits for all kernels that can access it, and these may wait for a kernel that a rank has yet to launch.
"""

from __future__ import annotations

import atexit
import os
import secrets
import tempfile
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache, partial
from queue import Empty, SimpleQueue
from typing import NamedTuple, NoReturn
from weakref import WeakValueDictionary

from .._core.forks import in_each_child
from ..errors import TraversalError
from ..kernels.threads import start_thread

GRANULARITY = 2 << 20  # of device memory: CUDA IPC gives other processes access to a whole block
OUT_OF_MEMORY = 2  # cudaErrorMemoryAllocation
PEER_ACCESS_ALREADY_ENABLED = 704  # cudaErrorPeerAccessAlreadyEnabled, which CuPy does not name
FOLDERS = ("/dev/shm", tempfile.gettempdir())  # for the files of leases
PAUSE = 0.2  # seconds between two attempts to free memory that is in use
PARTING = 10.0  # seconds that a process waits, before it ends, for memory to be freed and for NCCL's ranks to abort


class Offer(NamedTuple):
    """The description of memory by which another rank opens it."""

    process: str  # the name of the process that allocated it
    key: str  # of `_memories` there
    handle: bytes = b""  # of CUDA IPC, for other processes
    lease: str = ""  # the file of its `Lease`


class DeviceMemory:
    """Zeros in the memory of the current device, outside pools. If ``lent``, other processes can open it."""

    def __init__(self, nbytes: int, lent: bool) -> None:
        from cupy.cuda import Device, runtime

        self.device = int(Device().id)
        self._users = {self.device}  # devices of this process
        self._leases: list[Lease] = []
        size = -(-max(nbytes, 1) // GRANULARITY) * GRANULARITY
        self.address = _malloc(size)
        job = partial(_free, self.address, self._users, self._leases)
        weakref.finalize(self, freeing().put, job).atexit = False
        runtime.memset(self.address, 0, size)
        runtime.deviceSynchronize()
        self.offer = Offer(process(), secrets.token_hex(8))
        _memories[self.offer.key] = self
        if lent:
            self._leases.append(Lease())
            self.offer = self.offer._replace(handle=runtime.ipcGetMemHandle(self.address), lease=self._leases[0].path)

    def reach(self) -> None:
        """Give the current device access to it."""
        from cupy.cuda import Device, runtime

        user = int(Device().id)
        self._users.add(user)
        if user != self.device:
            try:
                runtime.deviceEnablePeerAccess(self.device)
            except runtime.CUDARuntimeError as error:
                if error.status != PEER_ACCESS_ALREADY_ENABLED:
                    raise

    def unlink_leases(self) -> None:
        """Remove the names of its lease files, once all ranks have opened it."""
        for lease in self._leases:
            lease.unlink()


def _malloc(nbytes: int) -> int:
    """The address of new memory of the current device. If memory is short, CuPy's pool first frees unused blocks."""
    import cupy
    from cupy.cuda import runtime

    try:
        return int(runtime.malloc(nbytes))
    except runtime.CUDARuntimeError as error:
        if error.status != OUT_OF_MEMORY:
            raise
    cupy.get_default_memory_pool().free_all_blocks()
    return int(runtime.malloc(nbytes))


class MappedMemory:
    """Device memory of another process, mapped for the current device."""

    def __init__(self, offer: Offer) -> None:
        from cupy.cuda import Device, runtime

        held = hold(offer.lease)
        try:
            self.address = runtime.ipcOpenMemHandle(offer.handle)
        except BaseException:
            release(held)
            raise
        job = partial(_unmap, self.address, int(Device().id), held)
        weakref.finalize(self, freeing().put, job).atexit = False


class Lease:
    """A file that other processes lock by `hold` while they use the memory. A lock ends with its process."""

    def __init__(self) -> None:
        folder = next(folder for folder in FOLDERS if os.access(folder, os.W_OK))
        self._file, self.path = tempfile.mkstemp(prefix="rapids_bfs-", dir=folder)

    def ended(self) -> bool:
        """Whether no process holds the lease. If so, the file is removed."""
        import fcntl

        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        self.unlink()
        os.close(self._file)
        return True

    def unlink(self) -> None:
        """Remove the file's name."""
        with suppress(FileNotFoundError):
            os.unlink(self.path)


def hold(path: str) -> int:
    """Lock a lease. Returns the open file, for `release`."""
    import fcntl

    try:
        file = os.open(path, os.O_RDONLY)
    except OSError as error:
        raise TraversalError(f"{path} of another worker is not to be seen here: start the workers alike") from error
    fcntl.flock(file, fcntl.LOCK_SH)
    return file


def release(file: int) -> None:
    import fcntl

    fcntl.flock(file, fcntl.LOCK_UN)  # a forked child may have the file open too
    os.close(file)


_memories: WeakValueDictionary[str, DeviceMemory] = WeakValueDictionary()


@cache
def process() -> str:
    """A random name of this process."""
    return secrets.token_hex(8)


class AtWork:
    """A lock that SPMD calls of this process share, and that the thread which frees memory takes alone."""

    def __init__(self) -> None:
        # A condition's own ``with`` can be interrupted on the way in and out. A signal handler may call a distributed
        # graph on the thread that holds this lock.
        self._lock = threading.RLock()
        self._changed = threading.Condition(self._lock)
        self._calls: set[weakref.ref[_Working]] = set()  # a WeakSet would take half a microsecond of a call
        self._waiting = 0

    def working(self) -> _Working:
        """A context that excludes `exclusive`. Entered at once if another call runs, which may wait for this."""
        return _Working(self)

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """A context in which no call is `working`."""
        with self._lock:
            self._waiting += 1
            while self._running():
                self._changed.wait(PAUSE)
            self._waiting -= 1
            yield
            self._changed.notify_all()

    def _running(self) -> bool:
        """Is any call running? Drops the references that an interrupt kept calls from removing."""
        self._calls.difference_update([call for call in tuple(self._calls) if call() is None])
        return bool(self._calls)


class _Working:
    """A running SPMD call. A generator would take several microseconds of it."""

    __slots__ = ("__weakref__", "at_work", "reference")

    def __init__(self, at_work: AtWork) -> None:
        self.at_work = at_work
        self.reference = weakref.ref(self)

    def __enter__(self) -> None:
        at_work = self.at_work
        try:
            with at_work._lock:
                if at_work._waiting:
                    at_work._changed.wait_for(lambda: at_work._running() or not at_work._waiting)
                at_work._calls.add(self.reference)
        except BaseException:
            self.__exit__()
            raise

    def __exit__(self, *raised: object) -> None:
        at_work = self.at_work
        with at_work._lock:
            at_work._calls.discard(self.reference)
            if at_work._waiting:
                at_work._changed.notify_all()


@cache
def at_work() -> AtWork:
    """The lock of this process."""
    return AtWork()


def freeing() -> SimpleQueue[Callable[[], bool]]:
    """A queue of functions that free memory. A thread calls each until it returns True, or the process ends."""
    with _beginning:  # two ranks that ask at the same time would start two threads, of which `_end` ends one
        return _begun()


@cache
def _begun() -> SimpleQueue[Callable[[], bool]]:
    jobs: SimpleQueue[Callable[[], bool]] = SimpleQueue()
    start_thread(_work, jobs)
    return jobs


_beginning = threading.RLock()


def _renew() -> None:
    """Make these before any thread asks: two that ask at the same time would get two."""
    global _beginning
    _beginning = threading.RLock()
    for each in (process, at_work, _begun):
        each.cache_clear()
    process(), at_work()


_renew()
in_each_child(_renew)


@atexit.register
def _end() -> None:
    """End the thread that frees memory: CUDA and NCCL are unloaded next, and a thread inside them would crash."""
    if _begun.cache_info().currsize:
        ended = threading.Event()
        freeing().put(partial(_stop, ended))
        ended.wait(PARTING)


def _stop(ended: threading.Event) -> NoReturn:
    ended.set()
    raise SystemExit


def _work(jobs: SimpleQueue[Callable[[], bool]]) -> None:
    waiting: list[Callable[[], bool]] = []
    while True:
        with suppress(Empty):
            waiting.append(jobs.get(timeout=PAUSE if waiting else None))
        with at_work().exclusive():
            waiting = [job for job in waiting if not _ended(job)]


def _ended(job: Callable[[], bool]) -> bool:
    try:
        return job()
    except Exception:  # the context of a device that has failed is lost, and its memory with it
        return True


def find_memory(offer: Offer) -> DeviceMemory:
    """The memory of this process that ``offer`` describes."""
    return _memories[offer.key]


def _free(address: int, users: set[int], leases: list[Lease]) -> bool:
    from cupy.cuda import Device, runtime

    while leases:
        if not leases[-1].ended():
            return False
        leases.pop()
    for user in users:
        Device(user).synchronize()
    runtime.free(address)
    return True


def _unmap(address: int, device: int, held: int) -> bool:
    from cupy.cuda import Device, runtime

    try:
        with Device(device):
            runtime.deviceSynchronize()
            runtime.ipcCloseMemHandle(address)
    finally:
        release(held)
    return True
