"""The datasets that come with the package. Their sources and licences are in SOURCES.md."""

from __future__ import annotations

import gzip
from importlib import resources
from typing import Any

import numpy as np

from ..adapters._formats import refuse_options
from ..adapters.files import read
from ..graph import Graph

# Each dataset's file and description. Where ids are words, NAME.ids.txt.gz has a line for each vertex.
BUNDLED = {
    "karate": ("karate.mtx", "Zachary's karate club: 34 members, 78 friendships"),
    "moby": ("moby.mtx.gz", "Moby Thesaurus: 15,118 words, 320,192 pairs of mutual synonyms"),
    "wordnet": ("wordnet.mtx.gz", "WordNet 3.0: 117,659 synsets, 183,789 relations"),
}


def load_bundled(bundled: str, /, **options: Any) -> Graph:
    """The dataset of this name. ``options`` are ``directed`` and ``name``. Raises `InputError` for others."""
    refuse_options(options, ("directed", "name"), f"{bundled} is a bundled graph, which has")
    folder = resources.files(__package__)
    with resources.as_file(folder / BUNDLED[bundled][0]) as path:
        graph = read(path, **{"name": bundled} | options)
    ids = folder / f"{bundled}.ids.txt.gz"
    if not ids.is_file():
        return graph
    words = gzip.decompress(ids.read_bytes()).decode().split()
    return graph._with(labels=np.array(words, object))
