"""Numba's cache on disk, where nothing that is wrong with the disk is worse than compiling again.

Numba itself raises an exception where no folder can be written, where a write fails, as on a full disk, and where a
file does not unpickle; and it runs the machine code of a damaged file.
"""

import hashlib
import pickle
import warnings

from numba.core.caching import FunctionCache, IndexDataCacheFile

_said = False


def keep_on_disk(dispatcher):
    """Let the functions that ``dispatcher`` compiles be kept on disk, if a folder for them can be written."""
    try:
        dispatcher._cache = Cache(dispatcher.py_func)
    except (RuntimeError, OSError) as error:  # RuntimeError: Numba knows of no such folder
        _say_once(error)


class Cache(FunctionCache):
    """A function's cache. It finds nothing in what is damaged, and gives up where it cannot write."""

    def __init__(self, function):
        super().__init__(function)
        locator = self._impl.locator
        self._cache_file = SealedFiles(locator.get_cache_path(), self._impl.filename_base, locator.get_source_stamp())

    def load_overload(self, signature, target):
        try:
            return super().load_overload(signature, target)
        except Exception:  # whatever unpickling ends in
            return None

    def save_overload(self, signature, result):
        try:
            super().save_overload(signature, result)
        except OSError as error:
            self.disable()
            _say_once(error)


class SealedFiles(IndexDataCacheFile):
    """The index and the data of a function, the data under a checksum and with the key that they are for."""

    def save(self, key, data):
        super().save(key, (key, data))

    def load(self, key):
        found = super().load(key)
        return found[1] if found is not None and found[0] == key else None

    def _load_index(self):
        try:
            return super()._load_index()
        except Exception:  # whatever unpickling ends in; the next `save` writes it anew
            return {}

    def _save_data(self, name, data):
        pickled = self._dump(data)
        with self._open_for_write(self._data_path(name)) as file:
            file.write(hashlib.sha256(pickled).digest() + pickled)

    def _load_data(self, name):
        with open(self._data_path(name), "rb") as file:
            seal, pickled = file.read(hashlib.sha256().digest_size), file.read()
        return pickle.loads(pickled) if hashlib.sha256(pickled).digest() == seal else None


def _say_once(error):
    global _said
    if not _said:
        _said = True
        warnings.warn(
            f"each process compiles rapids_bfs anew, which takes seconds: what it compiled cannot be kept ({error});"
            " set NUMBA_CACHE_DIR to a folder that can be written",
            RuntimeWarning,
            stacklevel=2,
        )
