"""A user's program, which `mypy` checks as it checks the package; it is never run."""

from typing import assert_type

import numpy as np

import rapids_bfs

graph = rapids_bfs.load("karate")
result = rapids_bfs.bfs(graph, source=1)
assert_type(result.depth, int)
assert_type(result.distances, np.ndarray)
assert_type(rapids_bfs.validate(graph, result).message, str)
try:
    print(rapids_bfs.nothing)  # type: ignore[attr-defined]  # an error as well, if every name were believed
except rapids_bfs.TraversalError:
    print(rapids_bfs.compare(graph, engines="cpu").nothing)  # type: ignore[attr-defined]
