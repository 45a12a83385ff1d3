"""One process compiles while the others that need the same wait, and then find it on disk."""

import fcntl
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from numba.core.compiler_lock import global_compiler_lock
from numba.core.dispatcher import Dispatcher

from rapids_bfs.kernels.cpu.disk_cache import Cache


def compile_once(path: Path) -> None:
    """Let the processes that call this with the same path, the name of a file of locks, compile each kernel once.

    A process compiles on one thread, which holds the locks of a kernel and of those that call it. Where that would end
    in a deadlock all the same, the system refuses the lock, and both processes compile.
    """
    locks = path.open("ab", buffering=0)  # never closed, which would release them
    compile_for_types = Dispatcher.compile

    def compile_alone(dispatcher, types):
        if not isinstance(dispatcher._cache, Cache):
            return compile_for_types(dispatcher, types)
        place = zlib.crc32(dispatcher._cache._cache_file._index_path.encode())
        with global_compiler_lock:
            with suppress(OSError):
                fcntl.lockf(locks, fcntl.LOCK_EX, 1, place)
            try:
                return compile_for_types(dispatcher, types)
            finally:
                fcntl.lockf(locks, fcntl.LOCK_UN, 1, place)

    Dispatcher.compile = compile_alone


@contextmanager
def first_alone(path: Path) -> Iterator[None]:
    """A context that the first process with the same path enters alone; then all others enter it together."""
    with path.open("ab") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            fcntl.flock(lock, fcntl.LOCK_SH)
        yield
