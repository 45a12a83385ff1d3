"""`connected_components`, `weakly_connected_components` and `strongly_connected_components` of `rapids_bfs.cugraph`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._core.arguments import flag, quoted
from ..adapters import cudf as cudf_adapter
from ..algorithms.components import connected_components as weak_components
from ..algorithms.components import strong_components
from ..errors import InputError
from ..graph import Graph
from .prepared import as_library_of, is_matrix, refuse_with_graph
from .searcher import searcher_of


def connected_components(
    G: Any, directed: bool | None = None, connection: str = "weak", return_labels: bool | None = None
) -> Any:
    """`weakly_connected_components` or, with ``connection="strong"``, `strongly_connected_components`.

    Raises `ValueError` if ``connection`` is neither "weak" nor "strong".
    """
    kinds = {"weak": weakly_connected_components, "strong": strongly_connected_components}
    if not isinstance(connection, str) or connection not in kinds:
        raise InputError(f"invalid connection type: {quoted(connection)}, must be either 'strong' or 'weak'")
    return kinds[connection](G, directed, connection, return_labels)


def weakly_connected_components(
    G: Any, directed: bool | None = None, connection: str | None = None, return_labels: bool | None = None
) -> Any:
    """The component of each vertex, as `cugraph.weakly_connected_components` of RAPIDS 26.10 returns it.

    Parameters
    ----------
    G : cugraph.Graph, CuPy or SciPy sparse matrix
        Undirected, as cuGraph asks for.
    directed : bool, optional
        For a matrix: must be False, which adds the reversed edges. Default: True, which is refused.
    connection : {"weak"}, optional
    return_labels : bool, optional
        For a matrix: False returns the number of components alone.

    Returns
    -------
    cudf.DataFrame
        With the columns ``vertex`` and ``labels``, of one type.
    (int, array), if ``G`` is a matrix
        The number of components, and the label of each vertex in a CuPy or NumPy array like the matrix.

    Raises
    ------
    TypeError
        If ``directed`` or ``return_labels`` is given with a Graph, or ``connection`` or the type of ``G`` is another.
    ValueError
        If the graph is directed.

    Notes
    -----
    Labels are 0, 1, ... in the order of the components' first vertices; cuGraph's are vertices. Every vertex of a
    matrix has a label, even without edges.
    """
    return _components(G, directed, connection, return_labels, "weak", weak_components)


def strongly_connected_components(
    G: Any, directed: bool | None = None, connection: str | None = None, return_labels: bool | None = None
) -> Any:
    """The strongly connected component of each vertex, as `weakly_connected_components` returns its own.

    The graph may be directed, as a matrix is by default.
    """
    return _components(G, directed, connection, return_labels, "strong", strong_components)


def _components(
    G: Any, directed: Any, connection: Any, return_labels: Any, kind: str, components: Callable[[Graph], Any]
) -> Any:
    refuse_with_graph(G, directed=directed, return_labels=return_labels)
    if connection is not None and not (isinstance(connection, str) and connection == kind):
        raise TypeError(f"'connection' must be '{kind}' for {kind}ly_connected_components()")
    directed = None if directed is None else flag(directed, "directed")
    count_only = return_labels is not None and not flag(return_labels, "return_labels")
    prepared = searcher_of(G, directed)
    undirected = directed is False if is_matrix(G) else not prepared.graph.directed
    if kind == "weak" and not undirected:
        raise InputError("input graph must be undirected")
    labels = components(prepared.graph).astype(prepared.dtype, copy=False)
    if not is_matrix(G):
        return cudf_adapter.frame_of({**prepared.ids("vertex"), "labels": labels})
    count = int(labels.max()) + 1 if len(labels) else 0
    return count if count_only else (count, as_library_of(G, labels))
