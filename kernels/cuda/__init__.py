"""The CUDA C++: a folder for each algorithm, compiled at run time."""

import re
from importlib.resources import files
from posixpath import dirname, join, normpath

from ..batch import BATCH, WIDTHS
from ..brandes import BATCH as BRANDES
from ..deterministic import SEARCH as DETERMINISTIC
from ..distributed import EXCHANGE, RANKS
from ..neighborhoods import NEIGHBORHOODS
from ..whole_search import SEARCH

UNSIGNED = {1: "unsigned char", 2: "unsigned short", 4: "unsigned", 8: "unsigned long long"}  # by their bytes
# The files that are compiled, each with what it includes.
FILES = {
    "answer": "graph/answer.cu",
    "betweenness": "betweenness/search.cu",
    "bit_parallel": "bit_parallel/search.cu",
    "block_queue": "published/block_queue.cu",
    "components": "graph/components.cu",
    "csr": "graph/csr.cu",
    "deterministic": "deterministic/search.cu",
    "direction_optimizing": "direction_optimizing/search.cu",
    "frontier_mask": "published/frontier_mask.cu",
    "frontier_mask_texture": "published/frontier_mask_texture.cu",
    "distributed": "distributed/search.cu",
    "distributed_batch": "distributed/batch.cu",
    "distributed_build": "distributed/build.cu",
    "distributed_persistent": "distributed/one_launch.cu",
    "distributed_validation": "distributed/validation.cu",
    "masks": "graph/masks.cu",
    "predecessors": "graph/predecessors.cu",
    "neighborhoods": "neighborhoods/search.cu",
    "random_edges": "graph/random_edges.cu",
    "sort_rows": "graph/sort_rows.cu",
    "two_kernel": "published/two_kernel.cu",
    "validation": "graph/validation.cu",
}
# The kernels of each file: their names, and the template instances.
KERNELS = {
    "answer": {"translate": "translate<{vertex}, {offset}>"},
    "betweenness": {"betweenness": "betweenness<{vertex}, {offset}>"},
    "bit_parallel": {
        f"{kernel}_{width}": f"{kernel}<{width}, {{vertex}}, {{offset}}>"
        for kernel in ("search", "write")
        for width in WIDTHS
    },
    "components": {
        "join_first": "join_first<{vertex}, {offset}>",
        "join_others": "join_others<{vertex}, {offset}>",
        "join_rows": "join_rows<{vertex}, {offset}>",
        "join_pointers": "join_pointers<{vertex}>",
        "flatten": "flatten<{vertex}>",
    },
    "csr": {
        "summarize": "summarize<{vertex}>",
        "add_asymmetry": "add_asymmetry<{vertex}, {offset}>",
        "mark": "mark<{vertex}>",
        "count": "count<{vertex}, {offset}>",
        "place": "place<{vertex}, {offset}, long long>",
        "place_as_int": "place<{vertex}, {offset}, int>",
        "expand": "expand<{vertex}, {offset}>",
        "distinct": "distinct<{vertex}, {offset}>",
    },
    "direction_optimizing": {
        "prepare": "prepare<{vertex}, {offset}>",
        "search": "search<false, false, {vertex}, {offset}>",
        "search_small_rows": "search<true, false, {vertex}, {offset}>",
        "search_masked": "search<false, true, {vertex}, {offset}>",
        "search_masked_small_rows": "search<true, true, {vertex}, {offset}>",
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
    "distributed": {
        "weigh": "weigh<{offset}>",
        "prepare_partition": "prepare_partition<{vertex}, {offset}>",
        **{
            kernel: f"{kernel}<{{vertex}}, {{offset}}>"
            for kernel in (
                "begin",
                "expand",
                "settle_received",
                "sweep",
                "sweep_rows",
                "note",
                "list",
                "report",
                "copy_to_host",
            )
        },
    },
    "distributed_batch": {
        "expand": "expand<{vertex}, {offset}>",
        "settle": "settle<{vertex}>",
        "note": "note<{vertex}>",
    },
    "distributed_build": {
        "to_global_ids": "to_global_ids<{vertex}, long long>",
        "to_global_ids_as_int": "to_global_ids<{vertex}, int>",
        "to_ids": "to_ids<{vertex}, long long>",
        "to_ids_as_int": "to_ids<{vertex}, int>",
        "count_owners": "count_owners<{vertex}>",
        "bucket_by_owner": "bucket_by_owner<{vertex}>",
        "count_arcs": "count_arcs<{vertex}>",
        "scatter_targets": "scatter_targets<{vertex}>",
    },
    "distributed_persistent": {"search_partition": "search_partition<{vertex}, {offset}>"},
    "distributed_validation": {
        "check": "check<{vertex}, {offset}>",
        "count_loops": "count_loops<{vertex}, {offset}>",
    },
    "masks": {
        "bar": "bar",
        "kept_arcs": "kept_arcs<{vertex}, {offset}>",
        "move_offsets": "move_offsets<{offset}>",
        **{f"compact_{size}": f"compact<{kind}>" for size, kind in UNSIGNED.items()},
    },
    "predecessors": {"find_predecessors": "find_predecessors<{vertex}, {offset}>"},
    "neighborhoods": {
        kernel: f"{kernel}<{{vertex}}, {{offset}}>" for kernel in ("search", "gather", "count_arcs", "write_arcs")
    },
    "random_edges": {
        "rmat": "rmat<{vertex}>",
        "uniform": "uniform<{vertex}>",
    },
    "sort_rows": {
        kernel: f"{kernel}<{{vertex}}, {{offset}}>"
        for kernel in ("sort_short_rows", "sort_long_rows", "pack", "unpack")
    },
    "validation": {
        "check": "check<{vertex}, {offset}>",
    },
}
# The declared parameters of those that take a structure of them.
PARAMETERS = {
    "betweenness": BRANDES,
    "bit_parallel": BATCH,
    "deterministic": DETERMINISTIC,
    "direction_optimizing": SEARCH,
    "distributed": EXCHANGE,
    "distributed_persistent": RANKS,
    "neighborhoods": NEIGHBORHOODS,
}
TYPES = {4: "int", 8: "long long"}  # by the bytes of an integer
OPTIONS = ("-std=c++17", "-default-device")  # without the second, NVRTC 12 refuses generic lambdas


def source(name: str) -> str:
    """The text of a file of `FILES`, with the text of what it includes in place of each ``#include "..."``, and
    then the assertions about its parameters.

    One text without includes needs no search path, and a cache keyed by the text notices every change.
    """
    checks = PARAMETERS[name].checks() if name in PARAMETERS else ""
    return _text(FILES[name], set()) + checks


def _text(path: str, included: set[str]) -> str:
    """The text of a file; nothing if it has been ``included`` already, as if it said ``#pragma once``."""
    if path in included:
        return ""
    included.add(path)

    def text_of(include: re.Match[str]) -> str:
        return _text(normpath(join(dirname(path), include[1])), included)

    text = files(__name__).joinpath(path).read_text().replace("#pragma once\n", "")
    return re.sub(r'^#include "(.*)"$', text_of, text, flags=re.MULTILINE)


def expressions(name: str, vertex_bytes: int, offset_bytes: int) -> dict[str, str]:
    """The kernels of a file by name, as C++ names them, for vertices and offsets of so many bytes."""
    types = {"vertex": TYPES[vertex_bytes], "offset": TYPES[offset_bytes]}
    return {kernel: template.format(**types) for kernel, template in KERNELS[name].items()}
