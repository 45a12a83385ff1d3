"""Environment variables of the workers of a Dask cluster, for benchmarks and tests that treat them as several hosts."""

import os
from collections.abc import Mapping, Sequence
from typing import Any


def set_variables(client: Any, variables: Mapping[str, str | None], workers: Sequence[str] | None = None) -> None:
    """Set these variables where Python on the workers reads them, or unset those that are None.

    ``workers``: their addresses; None for all.
    """

    # Dask sends a nested function by value, and so without an environ: `os.environ.update` would bring a copy of ours.
    def update() -> None:
        for name, value in variables.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value

    client.run(update, workers=workers)
