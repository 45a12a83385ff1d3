"""Variables that Numba reads. It refuses a wrong one where it happens to be imported, or to start its threads, and the
blame would fall on what is being done there, such as reading a file."""

from __future__ import annotations

import os
import re
from functools import cache

from ..errors import InputError

LAYERS = ("default", "safe", "threadsafe", "forksafe", "tbb", "omp", "workqueue")


class WrongVariable(InputError):
    """An environment variable that cannot be used, for which no file or argument is to blame."""


@cache  # Numba reads them once; NetworkX's every call comes here
def check_environment() -> None:
    """Raise `WrongVariable` if Numba would refuse NUMBA_NUM_THREADS or NUMBA_THREADING_LAYER."""
    threads = os.environ.get("NUMBA_NUM_THREADS", "1")
    if not re.fullmatch(r"\s*\+?0*[1-9]\d*\s*", threads):  # for what is no number it would print a traceback
        raise WrongVariable(f"the environment variable NUMBA_NUM_THREADS is {threads!r}: give at least 1, or unset it")
    layer = os.environ.get("NUMBA_THREADING_LAYER", LAYERS[0])
    if layer.lower() not in LAYERS:
        raise WrongVariable(
            f"the environment variable NUMBA_THREADING_LAYER is {layer!r}: give one of {', '.join(LAYERS)}, or unset it"
        )
