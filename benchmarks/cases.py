"""A benchmark case, and its requirements."""

import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec

from rapids_bfs._core.cuda.driver import driver
from rapids_bfs._core.rapids import package_missing
from rapids_bfs.engines import registered

from .record import Record
from .tables import View


def fewer_than(gpus: int) -> str | None:
    """None, or one line: how many GPUs this machine has, if they are fewer."""
    return None if (here := len(driver().devices)) >= gpus else f"this machine has {here}"


NEEDS: dict[str, Callable[[], str | None]] = {
    "GPU": lambda: registered()["cupy"].unavailable(),
    "two GPUs": lambda: fewer_than(2),
    "four GPUs": lambda: fewer_than(4),
    "Numba-CUDA": lambda: registered()["numba-cuda"].unavailable(),
    "cuGraph": lambda: package_missing("cugraph"),
    "nx-cugraph": lambda: package_missing("nx_cugraph"),
    "dask-cuda": lambda: None if find_spec("dask_cuda") else "it is not installed",
}


@dataclass(frozen=True)
class Case:
    """``measure`` yields its record each time it has grown. Its keyword arguments are the command's options, and their
    defaults are what `--all` measures. The JSON file is named after the machine and ``file``, by default the case."""

    name: str
    line: str
    measure: Callable[..., Iterator[Record]]
    table: View
    needs: tuple[str, ...] = ()
    file: str = ""
    more_tables: Mapping[str, View] = field(default_factory=dict)
    place: Callable[[Record, Record], Record] = lambda kept, new: new  # what a file holds, given what it held

    def lacks(self) -> str | None:
        """One line on what this machine lacks for it, or None."""
        reasons = ((need, NEEDS[need]()) for need in self.needs)
        return next((f"it needs {need}: {reason}" for need, reason in reasons if reason), None)

    def tables(self) -> dict[str, View]:
        return {self.name: self.table, **self.more_tables}

    def file_here(self) -> str:
        """The name of the JSON file that this machine writes for it, such as h200x2_dask.json."""
        devices, name = driver().devices, "cpu"
        if devices and self.needs:
            name = re.sub(r"nvidia|geforce|[^a-z0-9]", "", devices[0].lower())
            name += f"x{len(devices)}" if "two GPUs" in self.needs else ""
        return f"{name}_{self.file or self.name.replace('-', '_')}.json"


class WrongAnswerError(Exception):
    """An answer that was to be timed is wrong."""


def expect(right: object, what: str) -> None:
    """Raise `WrongAnswerError` unless ``right``, which may be a verdict."""
    if not right:
        raise WrongAnswerError(f"{what}: {right}")


def say(line: str) -> None:
    """Report progress on standard error."""
    print(line, file=sys.stderr, flush=True)
