"""Which work NumPy does because Numba has not been imported.

To import Numba and load compiled kernels takes half a second; NumPy builds and searches a small graph in a tenth of
that. So a process begins without Numba, and imports it when a graph is large, or when NumPy has done so much that the
import would have been worth its time.
"""

from __future__ import annotations

import sys

MOST = 1 << 20  # edges and vertices that NumPy goes over at once
ENOUGH = 1 << 23  # that it goes over in a process, in about a third of a second

_left = ENOUGH


def numpy_will_do(things: int) -> bool:
    """Is NumPy to go over this many edges and vertices? If so, they count as done; if not, Numba is to be imported."""
    global _left
    if "numba" in sys.modules or things > min(MOST, _left):
        return False
    _left -= things
    return True
