"""The picture of one search of a small graph, by Matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._core.formatting import counted
from .._core.optional import import_optional
from .plots import new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MAX_KEYS = 12  # levels that get an entry in the legend
SIDE = 6.4  # of the picture, inches
POINTS = 370  # across the graph in it
LEGIBLE = 9  # points of a circle that an id fits in


def plot_search(
    name: str, ids: list[Any], edges: np.ndarray, distances: np.ndarray, predecessors: np.ndarray
) -> Figure:
    """A small graph with the sources in the middle and one ring per level; thick lines are tree edges.

    ``ids`` holds the id of each of the n vertices, ``edges`` (m x 2) the vertices of each edge; ``distances`` and
    ``predecessors`` are those of a search. Unreached vertices are in a row below.
    """
    n, depth = len(distances), int(distances.max(initial=0))
    positions = radial(distances, predecessors)
    children = np.flatnonzero(predecessors >= 0)
    with new_figure(SIDE, SIDE) as figure:
        axes = figure.subplots()
        axes.set_aspect("equal")
        axes.axis("off")
        reached = f"{np.count_nonzero(distances >= 0)} of {counted(n, 'vertex', 'vertices')}"
        axes.set_title(f"{name}: {reached} in {counted(depth, 'level')}")
        circle = import_optional("matplotlib.patches", "a plot").Circle
        for radius in np.unique(np.hypot(*positions[distances > 0].T).round(6)):
            axes.add_patch(
                circle((0, 0), radius, fill=False, color="#D0D0D0", linewidth=0.6, linestyle=(0, (2, 3)), zorder=0)
            )
        tree = np.stack([predecessors[children], children], axis=1)
        _draw_edges(axes, positions[edges], color="#9A9A9A", linewidth=0.5, alpha=0.5)
        _draw_edges(axes, positions[tree], color="#333333", linewidth=float(np.clip(100 / max(n, 1), 0.5, 1.6)))
        _draw_vertices(axes, positions, distances, ids)
        if depth < MAX_KEYS:
            figure.legend(loc="outside lower center", ncols=min(depth + 2, 4), labelspacing=1, frameon=False)
    return figure


def radial(distances: np.ndarray, predecessors: np.ndarray) -> np.ndarray:
    """Positions, n x 2: the source in the middle, distance d on a ring of radius d, children around their predecessor.

    The width of a subtree's sector is proportional to its number of leaves. Several sources share a small ring;
    unreached vertices form a row at the bottom.
    """
    n = len(distances)
    order = np.argsort(distances, kind="stable")
    order = order[distances[order] >= 0]
    leaves = np.ones(n)
    children = np.zeros(n)
    for vertex in order[::-1]:
        if children[vertex]:
            leaves[vertex] = children[vertex]
        if predecessors[vertex] >= 0:
            children[predecessors[vertex]] += leaves[vertex]

    sources = np.flatnonzero(distances == 0)
    turn = 2 * np.pi / max(leaves[sources].sum(), 1)
    free = np.zeros(n + 1)  # where the next child's sector begins, in leaves; the last entry is for the sources
    middle = np.zeros(n)
    for vertex in order:
        parent = predecessors[vertex] if predecessors[vertex] >= 0 else n
        free[vertex] = free[parent]
        middle[vertex] = free[parent] + leaves[vertex] / 2
        free[parent] += leaves[vertex]

    radius = distances + (0.0 if len(sources) < 2 else 0.6)
    angle = middle * turn
    positions = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    lost = np.flatnonzero(distances < 0)
    lowest = radius.max(initial=0.0) + 1.0
    width = max(2 * lowest, 1.0)
    positions[lost] = np.stack(
        [np.linspace(-width / 2, width / 2, len(lost) + 2)[1:-1], np.full(len(lost), -lowest)], 1
    )
    return positions


def _draw_vertices(axes: Axes, positions: np.ndarray, distances: np.ndarray, ids: list[Any]) -> None:
    """Circles as large as possible without overlap, dark to light by distance, with ids where they are legible."""
    from scipy.spatial.distance import pdist

    depth = int(distances.max(initial=0))
    colours = import_optional("matplotlib", "a plot").colormaps["cividis"](np.linspace(0, 1, max(depth + 1, 2)))
    closest = pdist(positions).min(initial=np.inf)
    points = POINTS / max(np.ptp(positions, axis=0).max(initial=1.0), 1.0) * closest
    points = float(np.clip(0.9 * points, 3, 18))
    for level in range(-1, depth + 1):
        at = positions[distances == level]
        name = f"distance {level}" if level >= 0 else "not reached"
        colour = colours[level] if level >= 0 else "white"
        if len(at):
            axes.scatter(
                at[:, 0], at[:, 1], s=points**2, color=colour, edgecolor="#333333", zorder=3, label=f"{name}: {len(at)}"
            )
    if points < LEGIBLE:
        return
    inside = max((len(str(id)) for id in ids), default=0) <= 3
    for vertex, id in enumerate(ids):
        dark = inside and 0 <= distances[vertex] <= depth / 2
        style: dict[str, Any] = {"size": 7, "color": "white" if dark else "black", "zorder": 4, "va": "center"}
        shift = 0 if inside else points / 2 + 1
        centre = "center" if inside else "left"
        axes.annotate(str(id), positions[vertex], (shift, 0), textcoords="offset points", ha=centre, **style)


def _draw_edges(axes: Axes, segments: np.ndarray, **style: Any) -> None:
    collections = import_optional("matplotlib.collections", "a plot")
    axes.add_collection(collections.LineCollection(segments, **style))
