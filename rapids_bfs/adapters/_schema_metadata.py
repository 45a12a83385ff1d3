"""Facts about a graph that the edges of a table do not contain, as JSON in the metadata of an Arrow schema.

``directed``; ``vertices``, their number, if ids are 0..n-1; ``isolated``, the ids without edges, if ids are other
integers; ``labels``, all ids in the order of the vertices, if they are strings; ``edge_data``, the names of the
columns that the edges carry.

pandas keeps a frame's ``attrs`` in the metadata of Parquet, under a key of its own. We write and read "directed" there.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ..errors import InputError

KEY = b"rapids_bfs"
ATTRS = b"PANDAS_ATTRS"  # pandas' key
DIRECTED = "directed"  # in a frame's ``attrs``


@dataclass(frozen=True)
class Notes:
    """The notes of one table; a missing note leaves the default."""

    directed: bool | None = None
    vertices: int | None = None
    isolated: Sequence[int] = ()
    labels: Sequence[str] = ()
    edge_data: Sequence[str] = ()

    def to_metadata(self) -> dict[bytes, bytes]:
        notes = {key: value for key, value in asdict(self).items() if value is not None and value != ()}
        return {KEY: json.dumps(notes).encode(), ATTRS: json.dumps({DIRECTED: self.directed}).encode()}


def _is_id(value: Any) -> bool:
    return type(value) is int and 0 <= value <= np.iinfo(np.int64).max


def _are_labels(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(label, str) for label in value) and len(set(value)) == len(value)


CHECKS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "directed": (lambda value: isinstance(value, bool), "true or false"),
    "vertices": (_is_id, "a whole number"),
    "isolated": (lambda value: isinstance(value, list) and all(map(_is_id, value)), "a list of whole numbers"),
    "labels": (_are_labels, "a list of strings, all different"),
    "edge_data": (_are_labels, "a list of strings, all different"),
}


def direction_of(attrs: Any) -> bool | None:
    """The direction of edges in the ``attrs`` of a frame, which are the user's; None if there is none."""
    directed = attrs.get(DIRECTED) if isinstance(attrs, dict) else None
    return bool(directed) if isinstance(directed, bool | np.bool_) else None


def notes_of(metadata: Mapping[bytes, bytes] | None, where: str) -> Notes:
    """The notes in the ``metadata`` of a schema; without ours, the direction that pandas wrote. Raises `InputError` if
    ours are not as we write them."""
    metadata = metadata or {}
    if KEY not in metadata:
        attrs = None
        with suppress(ValueError, RecursionError):
            attrs = json.loads(metadata.get(ATTRS, b"{}"))
        return Notes(direction_of(attrs))
    where = f"{where}: the metadata under {KEY.decode()!r}"
    try:
        notes = json.loads(metadata[KEY])
    except (ValueError, RecursionError):
        raise InputError(f"{where} are not valid JSON") from None
    if not isinstance(notes, dict):
        raise InputError(f"{where} must be a JSON object, not {_shown(notes)}")
    for key, (holds, what) in CHECKS.items():
        if key in notes and not holds(notes[key]):
            raise InputError(f"{where} give {_shown(notes[key])} for {key!r}, which must be {what}")
    if "vertices" in notes and "isolated" in notes:
        raise InputError(f"{where} give both 'vertices' and 'isolated', which exclude each other")
    return Notes(**{key: notes[key] for key in CHECKS if key in notes})


def _shown(value: Any) -> str:
    return f"a {type(value).__name__}" if isinstance(value, list | dict) else f"{value!r:.40}"
