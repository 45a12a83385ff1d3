"""Numba's cache on disk, made so that a bad disk costs no more than compiling again.

Numba itself raises an exception if no folder is writable, if a write fails, as on a full disk, or if a file does not
unpickle; and it runs the machine code in a damaged file.
"""

import hashlib
import pickle
import warnings

from numba.core.caching import FunctionCache, IndexDataCacheFile

_warned = False


def keep_on_disk(dispatcher):
    """Cache on disk what ``dispatcher`` compiles, if there is a writable folder for it; else warn once."""
    try:
        dispatcher._cache = Cache(dispatcher.py_func)
    except (RuntimeError, OSError) as error:  # RuntimeError: Numba finds no such folder
        _warn_once(error)


class Cache(FunctionCache):
    """The cache of one function. A damaged file is a miss; a failed write switches the cache off."""

    def __init__(self, function):
        super().__init__(function)
        locator = self._impl.locator
        self._cache_file = SealedFiles(locator.get_cache_path(), self._impl.filename_base, locator.get_source_stamp())

    def load_overload(self, signature, target):
        try:
            return super().load_overload(signature, target)
        except Exception:  # unpickling a damaged file can raise anything
            return None

    def save_overload(self, signature, result):
        try:
            super().save_overload(signature, result)
        except OSError as error:
            self.disable()
            _warn_once(error)


class SealedFiles(IndexDataCacheFile):
    """The index and the data of one function; the data carry a checksum and the key that they belong to."""

    def save(self, key, data):
        super().save(key, (key, data))

    def load(self, key):
        found = super().load(key)
        return found[1] if found is not None and found[0] == key else None

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
            " set NUMBA_CACHE_DIR to a writable folder",
            RuntimeWarning,
            stacklevel=2,
        )
