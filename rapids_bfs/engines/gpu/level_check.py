"""Verify a search after each of its levels: how one debugs a kernel."""

from __future__ import annotations

import numpy as np

from ...errors import TraversalError


class LevelCheck:
    """Looks over a search's shoulder. ``after`` takes host arrays, once a level; it is slow and plain on purpose."""

    def __init__(self, distances: np.ndarray) -> None:
        """``distances`` are those before the first level: 0 at the sources, -1 elsewhere."""
        self.before = distances

    def after(self, level: int, distances: np.ndarray, frontier: np.ndarray, said: bool) -> None:
        """Check what a level left: the distances, the vertices that it put into the frontier, and whether it ``said``
        that there are any.

        Raises `TraversalError`, naming the level and the first vertex that is wrong.
        """
        old = self.before >= 0
        new = distances == level
        _refuse(level, np.flatnonzero(old & (distances < 0)), "was visited and no longer is")
        _refuse(level, np.flatnonzero(old & (distances != self.before)), "had a distance, which changed")
        _refuse(level, np.flatnonzero(~old & (distances >= 0) & ~new), "was reached with the distance of another level")

        vertices, times = np.unique(frontier, return_counts=True)
        if len(vertices) and not 0 <= vertices[0] <= vertices[-1] < len(distances):
            raise TraversalError(f"level {level}: the frontier holds {vertices[0]}..{vertices[-1]}, not all vertices")
        _refuse(level, vertices[times > 1], "is in the frontier more than once")
        _refuse(level, vertices[~new[vertices]], "is in the frontier and was not reached at this level")
        if len(vertices) != np.count_nonzero(new):
            missing = np.setdiff1d(np.flatnonzero(new), vertices)
            _refuse(level, missing, "was reached at this level and is not in the frontier")
        if said != bool(len(vertices)):
            raise TraversalError(
                f"level {level}: reached {len(vertices)} vertices and reported {'some' if said else 'none'}"
            )
        self.before = distances


def _refuse(level: int, vertices: np.ndarray, fault: str) -> None:
    if len(vertices):
        others = f" (and {len(vertices) - 1} others)" if len(vertices) > 1 else ""
        raise TraversalError(f"level {level}: vertex {vertices[0]} {fault}{others}")
