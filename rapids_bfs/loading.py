"""`as_graph` makes a graph of any supported input, `load` finds one by name; on one device or over several."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypedDict, Unpack, overload

from . import adapters
from ._core.arguments import checked_directed, checked_name, file_path, quoted, whole_number
from ._core.cuda.arrays import CPU, CUDA, checked_device, clear_errors, require_device
from .adapters._edge_data import asked_for
from .adapters._formats import refuse_options
from .adapters.csr import from_csr
from .adapters.dask import client_here, is_on_devices
from .adapters.edges import in_direction
from .adapters.files import read
from .adapters.pinned import DEVICE, PINNED, with_pinned_adjacency
from .data import BUNDLED, load_bundled
from .data.datasets import is_dataset, meant_by
from .errors import InputError
from .generators import KINDS, generate
from .graph import Graph, Vertices

if TYPE_CHECKING:
    from .distributed.graph import DistributedGraph

LOCAL: Final = "local"  # ``devices=`` of a graph in one piece, in this process
PATTERN_OPTIONS = {"source", "target", "directed", "vertices", "name"}  # accepted for several files as one graph


class _Options(TypedDict, total=False):
    vertices: int | None
    directed: bool | None
    name: str | None
    device: str | None
    adjacency: str
    edge_data: Mapping[str, Any] | Sequence[str] | None


class _ObjectOptions(_Options, total=False):
    source: str | None
    target: str | None
    offsets: Any
    targets: Any


class _FileOptions(_Options, total=False):
    source: str | int | None
    target: str | int | None
    header: bool


@overload
def as_graph(
    graph: Any = None, *, devices: Literal["local"] | None = None, **options: Unpack[_ObjectOptions]
) -> Graph: ...
@overload
def as_graph(
    graph: Any = None, *, devices: int | str | Sequence[int], **options: Unpack[_ObjectOptions]
) -> Graph | DistributedGraph: ...
def as_graph(
    graph: Any = None,
    *,
    source: str | None = None,
    target: str | None = None,
    offsets: Any = None,
    targets: Any = None,
    vertices: int | None = None,
    directed: bool | None = None,
    name: str | None = None,
    device: str | None = None,
    adjacency: str = DEVICE,
    devices: int | str | Sequence[int] | None = None,
    edge_data: Mapping[str, Any] | Sequence[str] | None = None,
) -> Any:
    """Make a `Graph` from any supported input. What edges carry, such as weights, is ignored unless it is asked for.

    Parameters
    ----------
    graph
        A `Graph` (returned as it is); a NetworkX graph; a SciPy sparse array or matrix; a dict of neighbour lists;
        a pandas, Polars, Arrow or Dask table of edges; a pair ``(sources, targets)`` of arrays; a list or an m x 2
        array with an edge in each row; a graph of igraph, NetworKit or rustworkx; a matrix of python-graphblas;
        PyTorch Geometric's `Data`, or a tensor of shape (2, m) with DLPack, its ``edge_index``; a path, a generator
        such as "rmat:20" or a bundled graph's name. On a device, where the graph stays: a cuDF, cudf.pandas or
        pylibcudf table, an Arrow table, a pair of arrays with ``__cuda_array_interface__`` or DLPack, a CuPy sparse
        matrix, a graph of cuGraph, pylibcugraph or nx-cugraph.

        A tuple holds columns, a list rows: ``([0, 1], [2, 3])`` are the edges 0-2 and 1-3, ``[[0, 1], [2, 3]]`` are 0-1
        and 2-3. ``((0, 1), (2, 3))`` may be either, and is refused.
    source, target : str, optional
        The columns of a table that hold the edges. Default: a pair with common names, or the only two.
    offsets, targets : integer arrays, instead of ``graph``
        An adjacency in CSR. int32 arrays are used without a copy (int64 from 2**31 edges or vertices on): do not write
        to them while the graph is in use, see `Graph`.
    vertices : int, optional
        For edges with integer ids: the number of vertices, whose ids are then 0..vertices-1. Default: the vertices are
        the ids that occur; 0..n-1 cost nothing, other ids become labels.
    directed : bool, optional
        True: directed edges. False: each edge in both directions, unless the edges are symmetric already. Default: as
        the type or file says, or a pandas frame's ``attrs["directed"]``, else directed edges; the graph counts as
        undirected if they are symmetric.
    name : str, optional
    device : "cpu" or "cuda", optional
        Where to put the graph. By default a graph of arrays on a device stays there, and any other is on "cpu".
    adjacency : "device" or "pinned"
        With "pinned", a graph on "cuda" keeps its adjacency in pinned host memory, where there is more room.
    devices : int, str or list of int, optional
        Distribute the graph over this number of GPUs, over "all", over the GPUs with these ordinals, or with "cpu:4"
        over four partitions in host memory, one thread each. "auto" takes the fewest GPUs that hold the graph, and
        makes a plain `Graph` for one. Results of `bfs` are distributed too. By default a Dask frame is distributed over
        the workers of the current `distributed.Client`; "local" makes a plain `Graph` in this process, as any
        ``device`` does.
    edge_data : list of str, or dict of arrays, optional
        What the edges carry, for `Graph.edge_data` and `Graph.filter`: names of columns of a table or a file, or of
        attributes of NetworkX's edges; or columns by name, with an entry for each edge in the order that they are given
        in. bools, integers, floats and dates stay what they are, strings become `Categories`. The columns are put into
        the order of the graph's arcs, which takes one more pass over the edges and, until then, room for them twice. An
        undirected edge has the same data both ways. Edges that carry data are directed unless ``directed`` or the type
        or file says otherwise.

    Raises
    ------
    InputError
        If the input is not a graph, an id is null, an edge has a negative or fractional id, or ``directed`` is neither
        bool nor None.

    Examples
    --------
    >>> as_graph(([0, 1, 2], [1, 2, 0]))
    <Graph 'edges': 3 vertices, 3 directed edges>
    >>> as_graph({"a": ["b"], "b": ["a"]})
    <Graph 'dict': 2 vertices, 1 undirected edge>
    >>> as_graph(offsets=[0, 1, 1], targets=[1]).reverse.targets
    array([0], dtype=int32)
    """
    options = _checked_options(source, target, vertices, directed, name, edge_data)
    if (offsets is None) != (targets is None) or (graph is None) == (offsets is None):
        raise InputError("as_graph takes either a graph, or both offsets= and targets=")
    return _graph_of(graph, offsets, targets, device, adjacency, devices, options)


def _checked_options(
    source: Any, target: Any, vertices: Any, directed: Any, name: Any, edge_data: Any
) -> dict[str, Any]:
    """The options of importers that are given. Raises `InputError` if one is wrong."""
    options = {
        "source": source,
        "target": target,
        "vertices": None if vertices is None else whole_number(vertices, "the number of vertices"),
        "directed": checked_directed(directed),
        "name": checked_name(name),
        "edge_data": None if edge_data is None else asked_for(edge_data),
    }
    return {key: value for key, value in options.items() if value is not None}


def _graph_of(
    graph: Any, offsets: Any, targets: Any, device: Any, adjacency: Any, devices: Any, options: dict[str, Any]
) -> Any:
    """The graph of anything that `as_graph` takes, on the device or over the devices that are asked for."""
    local = _is_local(devices)
    devices = None if local else devices
    _check_place(device, adjacency, devices)
    if devices is not None:
        given = {"offsets": offsets, "targets": targets} if graph is None else {}
        return _distributed(graph, devices, **options, **given)
    if isinstance(graph, str | os.PathLike):
        return load(graph, device=device, adjacency=adjacency, **options)
    if graph is None:
        made = adapters.call(from_csr, offsets, targets, **options)
    else:
        made = adapters.call(_importer(graph, local, here=local or device is not None), graph, **options)
    if adjacency == PINNED:
        return with_pinned_adjacency(made)
    made = made.whole if local else made
    return made if device is None else made.to(device)


def _is_local(devices: Any) -> bool:
    return isinstance(devices, str) and devices == LOCAL


def _check_place(device: str | None, adjacency: str, devices: Any) -> None:
    """Raise `InputError` if the device or adjacency does not exist, or the three exclude each other."""
    if devices is not None and (device is not None or adjacency != DEVICE):
        raise InputError("give either devices=, or device= and adjacency=: partitions have the memory of their devices")
    place = checked_device(CPU if device is None else device)
    if not isinstance(adjacency, str) or adjacency not in (DEVICE, PINNED):
        raise InputError(f"an adjacency is 'device' or 'pinned', not {quoted(adjacency)}")
    if adjacency == PINNED:
        if place != CUDA:
            raise InputError("adjacency='pinned' is for graphs that a device searches: give device='cuda' too")
        require_device()


def _importer(graph: Any, local: bool, here: bool) -> Callable[..., Any]:
    """The function that makes a graph of an object other than a path, on the object's device. A frame of pandas becomes
    one on the workers of the current Dask cluster, unless the graph is to be ``here``, in one piece."""
    if isinstance(graph, Vertices):
        return in_direction
    module = adapters.importer_of(graph)
    if module == "dask":
        if is_on_devices(graph):
            if local:
                raise InputError(
                    "a frame of dask_cudf becomes a graph on its workers: give frame.compute() for one here"
                )
            from .distributed.frames import from_dask_cudf

            return from_dask_cudf
        if not here and client_here() is not None:
            from .distributed.frames import from_dask_pandas

            return from_dask_pandas
    return adapters.importer(graph, module)


@overload
def load(
    graph: str | os.PathLike[str], *, devices: Literal["local"] | None = None, **options: Unpack[_FileOptions]
) -> Graph: ...
@overload
def load(
    graph: str | os.PathLike[str], *, devices: int | str | Sequence[int], **options: Unpack[_FileOptions]
) -> Graph | DistributedGraph: ...
def load(
    graph: str | os.PathLike[str],
    *,
    device: str | None = None,
    adjacency: str = DEVICE,
    devices: int | str | Sequence[int] | None = None,
    **options: Any,
) -> Any:
    """Load a graph from a file, or by name. An existing file takes precedence over a name.

    Parameters
    ----------
    graph : str or path
        A file; a bundled graph, such as "karate"; a generator, such as "rmat:20"; or a dataset, such as "gap:road".
    device : "cpu" or "cuda", optional
        Where the graph is to be. Default: "cpu". Random graphs are generated there.
    adjacency : "device" or "pinned"
        With "pinned", a graph on "cuda" is built on the host and keeps its adjacency in pinned host memory, where there
        is more room.
    devices : int, str or list of int, optional
        Distribute the graph, see `rapids_bfs.as_graph`. Each device generates its own partition of a random graph.
    **options
        For a file, as in `rapids_bfs.read`.

    Returns
    -------
    Graph or DistributedGraph

    Raises
    ------
    InputError
        If there is no such file or name, the graph cannot be read, downloaded or generated, or does not fit.

    Notes
    -----
    A dataset is downloaded once, which needs the extra ``datasets``, into the user's cache folder, or that of the
    environment variable RAPIDS_BFS_DATASETS. Its adjacency is kept there and mapped into memory by the next call: do
    not change the files while such a graph is in use. ``rapids-bfs datasets snap`` lists the names of a collection.

    Examples
    --------
    >>> load("karate")
    <Graph 'karate': 34 vertices, 78 undirected edges>
    """
    _check_place(device, adjacency, devices)
    options = {option: value for option, value in options.items() if value is not None or option == "header"}
    if adjacency == PINNED:
        return with_pinned_adjacency(load(graph, **options))
    device = CPU if device is None else device
    devices = None if _is_local(devices) else devices
    name = file_path(graph)
    if devices is not None:
        return _distributed(name, devices, **options)
    if not os.path.exists(name):  # unlike Path.exists, false for a name that is too long for a file
        kind = name.partition(":")[0]
        if name in BUNDLED:
            return load_bundled(name, **options).to(device)
        if is_dataset(name):
            from .data.downloads import load_dataset

            return load_dataset(name, **options).to(device)
        if ":" in name and kind.isidentifier() and not Path(name).suffix.strip(".0123456789"):  # rmat:1.5 is not a file
            if hint := "" if kind in KINDS else meant_by(name, KINDS):
                raise InputError(f"{quoted(name)} is neither a generator nor a dataset{hint}")
            return _generated(name, device, options)
        if not Path(name).suffix and os.sep not in name:
            raise InputError(
                f"{quoted(name)} is not a file, a generator (such as rmat:20) or a bundled graph "
                f"({', '.join(BUNDLED)}){meant_by(name, BUNDLED)}"
            )
    return read(name, **options).to(device)


@clear_errors
def _generated(spec: str, device: str, options: dict[str, Any]) -> Graph:
    """A generated graph as ``directed`` says, see `as_graph`."""
    directed, name = _generator_options(spec, **options)
    graph: Graph = in_direction(generate(spec, device=device), directed)
    graph.name = name or graph.name
    return graph


def _generator_options(
    spec: str, /, *, directed: Any = None, name: Any = None, **options: Any
) -> tuple[bool | None, str | None]:
    """``directed`` and ``name`` for a generated graph. Raises `InputError` for an option of files alone."""
    refuse_options(options, (), f"{spec} is a generated graph, which has")
    return checked_directed(directed), checked_name(name)


def _distributed(graph: Any, devices: Any, **options: Any) -> Any:
    """The graph on the devices that ``devices`` names, see `as_graph`."""
    from .distributed import loading as distributed
    from .distributed.graph import DistributedGraph, from_graph, from_source

    if "edge_data" in options:
        raise InputError("a distributed graph carries no edge data: leave out devices=")
    if isinstance(graph, DistributedGraph):
        raise InputError(f"{graph.name} is distributed already, over {', '.join(graph.devices)}")
    if distributed.names_random_graph(graph) and not options.get("directed"):  # such graphs are undirected
        _, name = _generator_options(graph, **options)
        return distributed.drawn(graph, devices, name=name)
    if isinstance(devices, str) and devices == "auto":
        whole = as_graph(graph, devices=LOCAL, **options)
        count = distributed.fewest_gpus(whole.nbytes * (2 if whole.directed else 1), whole.num_vertices)
        if count <= 1:
            return whole.to(CUDA if count else CPU)
        return from_graph(_without_edge_data(whole), distributed.launcher_for(count))
    launcher = distributed.launcher_for(devices)
    if isinstance(graph, str | os.PathLike) and options.keys() <= PATTERN_OPTIONS:
        found = distributed.files_source(graph, launcher.device, **options)
        if found is not None:
            edges, plan = found
            return from_source(edges, launcher, plan, columns=edges.columns)
    make: Any = load if isinstance(graph, str | os.PathLike) else as_graph
    return from_graph(_without_edge_data(make(graph, devices=LOCAL, **options)), launcher)


def _without_edge_data(whole: Graph) -> Graph:
    """The graph. Raises `InputError` if its edges carry data, which would be lost."""
    if whole.edge_data:
        raise InputError(
            f"a distributed graph carries no edge data, and {whole.name} does: give graph.replace(edge_data=None)"
        )
    return whole
