"""Environment variables that Numba reads, and the user's cache folder. Numba itself refuses a wrong value only when it
is imported or starts its threads, where the error would blame the current operation, such as reading a file."""

from __future__ import annotations

import os
import re
import sys
from functools import cache
from pathlib import Path

from ..errors import InputError

LAYERS = ("default", "safe", "threadsafe", "forksafe", "tbb", "omp", "workqueue")


class WrongVariable(InputError):
    """An environment variable that cannot be used, for which no file or argument is to blame."""


@cache  # Numba reads them once, and every call of NetworkX comes here
def check_environment() -> None:
    """Raise `WrongVariable` if Numba would refuse NUMBA_NUM_THREADS or NUMBA_THREADING_LAYER."""
    threads = os.environ.get("NUMBA_NUM_THREADS", "1")
    if not re.fullmatch(r"\s*\+?0*[1-9]\d*\s*", threads):  # Numba prints a traceback for a value that is no number
        raise WrongVariable(f"the environment variable NUMBA_NUM_THREADS is {threads!r}: give at least 1, or unset it")
    layer = os.environ.get("NUMBA_THREADING_LAYER", LAYERS[0])
    if layer.lower() not in LAYERS:
        raise WrongVariable(
            f"the environment variable NUMBA_THREADING_LAYER is {layer!r}: give one of {', '.join(LAYERS)}, or unset it"
        )


def compiling_is_off() -> bool:
    """Is Numba told to leave kernels as they are, in Python? It is asked, which imports it, only if a variable or a
    file may have told it so, or if it is there already."""
    told = "NUMBA_DISABLE_JIT" in os.environ or os.path.exists(".numba_config.yaml")
    if not told and "numba" not in sys.modules:
        return False
    from ..kernels.cpu import numba

    return bool(numba.config.DISABLE_JIT)


def user_cache(kept: str, instead: str) -> Path:
    """The folder of the user's cache that is named after what is ``kept`` there.

    Raises `WrongVariable`, which says what to do ``instead``, for a user without a home.
    """
    from platformdirs import user_cache_path

    try:
        path = Path(user_cache_path("rapids_bfs", appauthor=False), kept)
    except RuntimeError:
        path = Path()
    if not path.is_absolute():  # older platformdirs: "~/.cache/rapids_bfs", in the current folder
        raise WrongVariable(f"this user has no home folder to keep {kept} in: set HOME to one, or {instead}")
    return path
