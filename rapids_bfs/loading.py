"""What a GRAPH can be on the command line: a bundled graph, a generator, or a path."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from ._core.arguments import checked_directed, file_path, quoted
from ._core.cuda.arrays import CPU, checked_device, require_device
from .adapters._formats import OPTIONS
from .adapters.files import read
from .adapters.pinned import DEVICE, HOST, checked_adjacency, with_adjacency_on_host
from .errors import InputError
from .graph import Graph

if TYPE_CHECKING:
    from .distributed.graph import DistributedGraph

# Bundled graphs: file and what it is. Sources and licences are in data/SOURCES.md.
BUNDLED = {
    "karate": ("karate.mtx", "Zachary's karate club: 34 members, 78 friendships"),
    "moby": ("moby.mtx.gz", "Moby Thesaurus: 15,118 words, 320,192 pairs of mutual synonyms"),
    "wordnet": ("wordnet.mtx.gz", "WordNet 3.0: 117,659 synsets, 183,789 relations"),
}


@overload
def load(
    graph: str | os.PathLike[str],
    *,
    device: str | None = None,
    adjacency: str = DEVICE,
    devices: None = None,
    **options: Any,
) -> Graph: ...
@overload
def load(
    graph: str | os.PathLike[str],
    *,
    device: str | None = None,
    adjacency: str = DEVICE,
    devices: int | str | Sequence[int],
    **options: Any,
) -> Graph | DistributedGraph: ...
def load(
    graph: str | os.PathLike[str],
    *,
    device: str | None = None,
    adjacency: str = DEVICE,
    devices: int | str | Sequence[int] | None = None,
    **options: Any,
) -> Graph | DistributedGraph:
    """Load a bundled graph, a generator such as "rmat:20", or a file; an existing file takes precedence over a name.

    The graph is on ``device``, "cpu" (the default) or "cuda"; random graphs are generated there. With
    ``adjacency="host"`` a graph on "cuda" is built on the host and keeps its adjacency in pinned host memory, where
    there is more room. With ``devices`` instead it is a graph in parts, see `rapids_bfs.as_graph`; random graphs are
    generated in parts. For a file, ``options`` are those of `rapids_bfs.read`.
    """
    if devices is not None and (device is not None or adjacency != DEVICE):
        raise InputError(
            "load takes either devices=, or device= and adjacency=: parts have the memory of their devices"
        )
    device = checked_device(CPU if device is None else device)
    if checked_adjacency(adjacency, device) == HOST:
        require_device()
        return with_adjacency_on_host(load(graph, **options))
    name = file_path(graph)
    if devices is not None:
        from .distributed.sources import distribute

        return distribute(name, devices, **options)
    if not os.path.exists(name):  # unlike Path.exists, false for a name that is too long for a file
        kind = name.partition(":")[0]
        if name in BUNDLED:
            return _bundled(name, **options).on(device)
        if ":" in name and kind.isalpha() and not Path(name).suffix:
            return _generated(name, device, **options)
        if not Path(name).suffix and os.sep not in name:
            raise InputError(
                f"{quoted(name)} is not a file, a generator (such as rmat:20) or a bundled graph ({', '.join(BUNDLED)})"
            )
    return read(name, **options).on(device)


def _bundled(name: str, **options: Any) -> Graph:
    for option in {"source", "target", "header"} & options.keys():
        raise InputError(f"{name} is a bundled graph, which has no {OPTIONS[option]} to choose")
    with resources.as_file(resources.files("rapids_bfs.data") / BUNDLED[name][0]) as path:
        return read(path, **{"name": name} | options)


def _generated(name: str, device: str, *, directed: bool | None = None, **options: Any) -> Graph:
    from .generators import generate

    checked_directed(directed)
    for option in options:
        raise InputError(f"{name} is a generated graph, which has no {OPTIONS.get(option, option)} to choose")
    return generate(name, device=device)
