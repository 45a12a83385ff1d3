"""Numba's cache on disk, in the user's cache folder, designed so that a bad disk costs no more than compiling again.

Numba itself keeps compiled code beside the source, where ``pip uninstall`` leaves it behind, and takes it although
a function that was compiled into it has changed in another file. It raises an exception if no folder is writable, if a
write fails, as on a full disk, or if a file does not unpickle; it runs the machine code in a damaged file; and it
imports the whole compiler, SciPy's linear algebra included, to load what needs no compiling.

Whoever can write to the cache can run code here, by a pickle or by the machine code. Numba takes any folder, even one
that a file `.numba_config.yaml` in the current folder names, which may have come with somebody's data.
"""

import functools
import hashlib
import inspect
import os
import pickle
import stat
import sys
import warnings
from pathlib import Path

from numba.core.caching import (
    CompileResultCacheImpl,
    FunctionCache,
    IndexDataCacheFile,
    _CacheLocator,
    _SourceFileBackedLocatorMixin,
)
from numba.core.runtime import rtsys

from ..by_numpy import hashing

_warned = False


def keep_on_disk(dispatcher):
    """Cache the functions that ``dispatcher`` compiles on disk, if their source is a file; else warn once."""
    try:
        dispatcher._cache = Cache(dispatcher.py_func)
    except (RuntimeError, OSError) as error:  # RuntimeError: there is no such folder
        _warn_once(error)


def keeps_code():
    """Return True if all compiled code has been kept so far."""
    return not _warned


@functools.cache
def folder():
    """The folder for compiled code: NUMBA_CACHE_DIR, else the user's cache folder."""
    if given := os.environ.get("NUMBA_CACHE_DIR"):
        return os.path.abspath(given)
    from platformdirs import user_cache_dir

    path = user_cache_dir("rapids_bfs", appauthor=False)  # RuntimeError or "~/...", by version, if there is no home
    if not os.path.isabs(path):
        raise RuntimeError("this user has no home folder")
    return path


def _check_private(subfolder):
    """Raise `OSError` if another user may have put code into this subfolder of the cache, or may replace it."""
    if sys.platform == "win32":
        return
    cache = Path(os.path.realpath(folder()))
    for path in cache / os.path.basename(subfolder), cache:
        status = path.lstat()
        # A group whose number is the user's is that user's own.
        of_others = stat.S_IWOTH | (stat.S_IWGRP if status.st_gid != status.st_uid else 0)
        if status.st_uid != os.geteuid() or status.st_mode & of_others:
            raise PermissionError(f"other users can write to {path}, or own it")
    for path in cache.parents:
        if path.stat().st_mode & (stat.S_IWOTH | stat.S_ISVTX) == stat.S_IWOTH:
            raise PermissionError(f"other users can replace what is in {path}")


@functools.cache
def _kernels_stamp():
    """A hash of the functions that may be compiled into any other."""
    folders = Path(__file__).parent, Path(hashing.__file__).parent
    sources = sorted(source for folder in folders for source in folder.rglob("*.py"))
    return hashlib.sha256(b"\0".join(source.read_bytes() for source in sources)).digest()


class Locator(_SourceFileBackedLocatorMixin, _CacheLocator):
    """The folder of one function's files. Whether it can be written is only known when it is."""

    def __init__(self, function, file):
        self._py_file = file
        self._lineno = function.__code__.co_firstlineno

    def get_cache_path(self):
        return os.path.join(folder(), self.get_suitable_cache_subpath(self._py_file))

    def ensure_cache_path(self):
        for path in folder(), self.get_cache_path():
            os.makedirs(path, 0o700, exist_ok=True)
        _check_private(self.get_cache_path())
        super().ensure_cache_path()

    def get_source_stamp(self):
        return super().get_source_stamp(), _kernels_stamp()


class Location(CompileResultCacheImpl):
    def __init__(self, function):
        """As Numba's does, which imports what `.numba_config.yaml` names as locators."""
        file = inspect.getfile(function)
        self._lineno = function.__code__.co_firstlineno
        self._locator = Locator(function, file)
        self._filename_base = self.get_filename_base(
            f"{Path(file).stem}.{function.__qualname__}", getattr(sys, "abiflags", "")
        )


class Cache(FunctionCache):
    """The cache of one function. A damaged file is a miss; a failed write switches the cache off."""

    _impl_class = Location

    def __init__(self, function):
        super().__init__(function)
        locator = self._impl.locator
        self._cache_file = SealedFiles(locator.get_cache_path(), self._impl.filename_base, locator.get_source_stamp())

    def load_overload(self, signature, target):
        try:
            rtsys.initialize(target)  # the only part of the setup in Numba's `load_overload` that compiled code needs
            _check_private(self.cache_path)
            with self._guard_against_spurious_io_errors():
                return self._load_overload(signature, target)
        except Exception:  # the folder is not private, or not there; unpickling a damaged file can raise anything
            return None

    def save_overload(self, signature, result):
        try:
            super().save_overload(signature, result)
        except OSError as error:
            self.disable()
            _warn_once(error)


class SealedFiles(IndexDataCacheFile):
    """The index and the data of one function; the data carry a checksum, and the source and the key they belong to."""

    def save(self, key, data):
        super().save(key, (self._source_stamp, key, data))

    def load(self, key):
        found = super().load(key)
        return found[2] if found is not None and found[:2] == (self._source_stamp, key) else None

    def _load_index(self):
        try:
            return super()._load_index()
        except Exception:  # as in `Cache.load_overload`; the next `save` rewrites the index
            return {}

    def _save_data(self, name, data):
        pickled = self._dump(data)
        with self._open_for_write(self._data_path(name)) as file:
            file.write(hashlib.sha256(pickled).digest() + pickled)

    def _load_data(self, name):
        with open(self._data_path(name), "rb") as file:
            seal, pickled = file.read(hashlib.sha256().digest_size), file.read()
        return pickle.loads(pickled) if hashlib.sha256(pickled).digest() == seal else None


def _warn_once(error):
    global _warned
    if not _warned:
        _warned = True
        warnings.warn(
            f"every process compiles rapids_bfs again, which takes seconds, as compiled code cannot be kept ({error}):"
            " set NUMBA_CACHE_DIR to a folder that you alone can write to",
            RuntimeWarning,
            stacklevel=2,
        )
