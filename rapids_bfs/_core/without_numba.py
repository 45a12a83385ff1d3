"""Which work NumPy does because Numba has not been imported.

To import Numba and load compiled kernels takes half a second; NumPy builds and searches a small graph in a tenth of
that. So a process begins without Numba, and imports it when a graph is large, or when NumPy has done so much that the
import would have been worth its time.
"""

from __future__ import annotations

import sys
from importlib import import_module
from threading import Thread

MOST = 1 << 20  # edges and vertices that NumPy goes over at once
ENOUGH = 1 << 23  # that it goes over in a process, in about a third of a second

_left = ENOUGH
_importing: Thread | None = None  # Numba; it goes on where an interrupt has ended the call that began it


def numpy_will_do(things: int) -> bool:
    """Is NumPy to go over so many edges and vertices? If so, they count as done; if not, Numba is imported."""
    global _left
    if _importing is not None and _importing.is_alive():
        _importing.join()
    if "numba" in sys.modules:
        return False
    if things > min(MOST, _left):
        _import_numba()
        return False
    _left -= things
    return True


def _import_numba() -> None:
    """Import Numba in another thread. Ctrl-C interrupts the main thread, and half of Numba could not be mended."""
    global _importing
    errors: list[BaseException] = []

    def load() -> None:
        try:
            import_module("numba")
        except BaseException as error:
            errors.append(error)

    _importing = Thread(target=load, name="import of Numba")
    _importing.start()
    _importing.join()
    if errors:
        raise errors[0]
