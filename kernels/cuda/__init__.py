"""BFS in CUDA C++, one algorithm a file, to be compiled at run time."""

import re
from importlib.resources import files

from ..batch import WIDTHS

# The kernels of each file: a name for each, and the template instance that it stands for.
KERNELS = {
    "betweenness": {"betweenness": "betweenness<{vertex}, {offset}>"},
    "bit_parallel": {
        f"{kernel}_{width}": f"{kernel}<{width}, {{vertex}}, {{offset}}>"
        for kernel in ("search", "write")
        for width in WIDTHS
    },
    "csr": {
        "look": "look<{vertex}>",
        "mark": "mark<{vertex}>",
        "count": "count<{vertex}, {offset}>",
        "place": "place<{vertex}, {offset}, long long>",
        "place_as_int": "place<{vertex}, {offset}, int>",
        "expand": "expand<{vertex}, {offset}>",
        "pack": "pack<{vertex}, {offset}>",
        "distinct": "distinct<{vertex}, {offset}>",
    },
    "direction_optimizing": {
        "prepare": "prepare<{vertex}, {offset}>",
        "search": "search<false, {vertex}, {offset}>",
        "search_near": "search<true, {vertex}, {offset}>",
    },
    "deterministic": {"search": "search<{vertex}, {offset}>"},
    "frontier_mask": {
        "reset": "reset<{vertex}>",
        "seed": "seed<{vertex}>",
        "expand": "expand<{vertex}, {offset}, InMemory>",
    },
    "frontier_mask_texture": {
        "reset": "reset<{vertex}>",
        "seed": "seed<{vertex}>",
        "expand": "expand<{vertex}, {offset}, InTexture>",
    },
    "two_kernel": {
        "reset": "reset<{vertex}>",
        "seed": "seed<{vertex}>",
        "expand": "expand<{vertex}, {offset}>",
        "commit": "commit<{vertex}>",
    },
    "block_queue": {
        "reset": "reset<{vertex}>",
        "seed": "seed<{vertex}>",
        "expand": "expand<{vertex}, {offset}>",
    },
    "random_edges": {
        "rmat": "rmat<{vertex}>",
        "uniform": "uniform<{vertex}>",
    },
    "validation": {
        "check": "check<{vertex}, {offset}>",
    },
}
TYPES = {4: "int", 8: "long long"}  # by the bytes of an integer
OPTIONS = ("-std=c++17",)


def source(name: str) -> str:
    """The text of ``name.cu``, with the text of the files that it includes in the place of each ``#include``.

    One text without includes needs no search path, and a cache that goes by the text notices every change.
    """
    return _text(f"{name}.cu")


def _text(file: str) -> str:
    text = files(__name__).joinpath(file).read_text()
    return re.sub(r'^#include "(.*)"$', lambda include: _text(include[1]), text, flags=re.MULTILINE)


def expressions(name: str, vertex_bytes: int, offset_bytes: int) -> dict[str, str]:
    """The kernels of ``name.cu`` by name, as C++ names them, for vertices and offsets of so many bytes."""
    types = {"vertex": TYPES[vertex_bytes], "offset": TYPES[offset_bytes]}
    return {kernel: template.format(**types) for kernel, template in KERNELS[name].items()}
