"""Random and regular graphs, by name."""

from __future__ import annotations

import re

from .._core.arguments import quoted
from .._core.cuda.arrays import CPU
from ..errors import InputError
from ..graph import Graph
from .drawn import EDGE_FACTOR, MAX_SCALE, SEED, A, B, Drawing, checked_scale, rmat_edges, urand_edges
from .models import delaunay, rgg, road, smallworld
from .regular import complete, grid, grid3d, path, star, tree
from .web import web

__all__ = [
    "DRAWN",
    "EDGE_FACTOR",
    "KINDS",
    "MODELS",
    "REGULAR",
    "SEED",
    "Drawing",
    "checked_scale",
    "generate",
    "leaves_isolated",
    "parsed",
    "rmat_edges",
    "urand_edges",
]

DRAWN = {"rmat": rmat_edges, "urand": urand_edges}
MODELS = {"rgg": rgg, "delaunay": delaunay, "road": road, "web": web, "smallworld": smallworld}
REGULAR = {"grid": grid, "grid3d": grid3d, "path": path, "star": star, "complete": complete, "tree": tree}
ONE_SIZE = MODELS.keys() | REGULAR.keys()
KINDS = DRAWN.keys() | ONE_SIZE
RARE = 1 / 128  # expected edges of a vertex that probably has none
SIZE = re.compile("-?[0-9]{1,18}")


def generate(spec: str, *, seed: int = SEED, device: str = CPU) -> Graph:
    """The graph written ``kind:size``: rmat:20, rmat:20:16, urand:20; rgg:20, delaunay:20, road:20, web:20,
    smallworld:20; grid:K, grid3d:K, path:N, star:N, complete:N, tree:N.

    The graph is on ``device``, "cpu" or "cuda"; those of `DRAWN` are generated there, others are copied.
    Raises `InputError` if there is no such generator, or its graph would not fit the memory.
    """
    kind, sizes = parsed(spec)
    if kind in DRAWN:
        return DRAWN[kind](*sizes, seed=seed, device=device).graph()
    made = MODELS[kind](sizes[0], seed=seed) if kind in MODELS else REGULAR[kind](sizes[0])
    graph: Graph = made.to(device)
    return graph


def leaves_isolated(spec: str) -> bool:
    """Is this a random graph that is practically certain to have vertices without edges?

    One of `rmat_edges` is, if a vertex in the sparsest quadrant at each level expects `RARE` edges or fewer.
    """
    kind, sizes = parsed(spec)
    if kind != "rmat":
        return False
    scale, edge_factor = [*sizes, EDGE_FACTOR][:2]
    if not 0 <= scale <= MAX_SCALE or edge_factor < 0:  # there is no such graph
        return False
    return 2 * edge_factor * (2 * (1 - A - B)) ** scale < RARE


def parsed(spec: str) -> tuple[str, list[int]]:
    """A generator's kind and sizes. Raises `InputError` if there is no such generator."""
    if not isinstance(spec, str):
        raise InputError(f"a generator is written as a string, such as 'rmat:20', not {quoted(spec)}")
    kind, *numbers = spec.split(":")
    if kind in KINDS and not all(SIZE.fullmatch(number) for number in numbers):
        raise InputError(
            f"{quoted(spec)}: the sizes of a generator are whole numbers of at most 18 digits, as in rmat:20:16"
        )
    sizes = [int(number) for number in numbers if kind in KINDS]
    if (kind in DRAWN and 1 <= len(sizes) <= 2) or (kind in ONE_SIZE and len(sizes) == 1):
        return kind, sizes
    raise InputError(
        f"{quoted(spec)} is not a generator: there are rmat:S[:F], urand:S[:F]; "
        f"{', '.join(MODELS)}, each :S; and {', '.join(REGULAR)}, each :N"
    )
