"""Tables of edges in Arrow's arrays, read in batches of rows.

Nothing here reads an array before Arrow has validated it in full: given a corrupt offset or index, Arrow's own
functions read outside of its buffers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import IO, Any

import numpy as np
import pyarrow as pa

from .._core.arguments import is_integer, quoted
from .._core.csr.building import BLOCK, Pairs
from .._core.dtypes import index_dtype
from .._core.memory import require_bytes
from ..errors import InputError
from ..graph import NO_EDGE_DATA, Categories, EdgeData, Graph
from ._edge_data import as_arrow, as_objects, columns_of_edges, value_type
from ._edge_list import EdgeList, checked_vertices
from ._ids import number_values, require_one_type
from ._schema_metadata import Notes, notes_of
from .edges import are_vertices, from_edge_list, labelled

# Usual names of source and target, the likelier first; compared without case.
PAIRS = (
    ("source", "target"),
    ("source", "destination"),
    ("src", "dst"),
    ("src", "dest"),
    ("from", "to"),
    ("u", "v"),
    ("head", "tail"),
)
USUAL = {name for pair in PAIRS for name in pair}

MAX_LISTED = 20  # names of columns in a message

Columns = tuple[pa.Array, pa.Array]  # source and target ids, equally many


@dataclass(frozen=True)
class EdgeTable:
    """The two columns of a table that hold its edges.

    ``batches()`` yields them a batch of rows at a time, each time that it is called; ``rows`` may be an estimate.
    """

    name: str
    columns: tuple[str, str]
    types: tuple[pa.DataType, pa.DataType]
    rows: int
    batches: Callable[[], Iterable[Columns]]
    metadata: dict[bytes, bytes] | None = None
    data: EdgeData = NO_EDGE_DATA  # what the edges carry, row by row

    @classmethod
    def of(cls, table: pa.Table, columns: tuple[str, str], name: str, data: EdgeData = NO_EDGE_DATA) -> EdgeTable:
        """The edges of a table of two columns in memory."""

        def batches() -> Iterator[Columns]:
            for batch in table.to_batches(max_chunksize=BLOCK):
                yield batch.column(0), batch.column(1)

        return cls(name, columns, tuple(table.schema.types), table.num_rows, batches, table.schema.metadata, data)

    @property
    def plain_types(self) -> tuple[pa.DataType, pa.DataType]:
        """The types of the arrays that `checked` yields."""
        source, target = map(_plain_type, self.types)
        return source, target

    def require_memory(self) -> None:
        """Raise `InputError` if the graph would not fit into memory."""
        require_bytes(4 * self.rows, f"a graph of {self.rows:,} edges")

    def checked(self) -> Iterator[Columns]:
        """The ids in plain types, at most `BLOCK` rows at a time. Raises `InputError` at the first that is invalid."""
        for pair in _gathered(self._plain()):
            for start in range(0, len(pair[0]), BLOCK):
                source, target = (column.slice(start, BLOCK) for column in pair)
                yield source, target

    def _plain(self) -> Iterator[Columns]:
        row = 0
        for pair in self.batches():
            source, target = (
                _plain(array, f"{self.name}, column {column!r}", row)
                for column, array in zip(self.columns, pair, strict=True)
            )
            yield source, target
            row += len(source)

    def numbers(self) -> Iterator[Pairs]:
        """The ids as NumPy arrays; for columns that `is_number`."""
        for source, target in self.checked():
            yield source.to_numpy(zero_copy_only=False), target.to_numpy(zero_copy_only=False)


def _gathered(batches: Iterable[Columns]) -> Iterator[Columns]:
    """``batches`` with small ones joined to at most `BLOCK` rows: few calls of the kernels are faster."""
    held: list[Columns] = []
    rows = 0
    for pair in batches:
        if not len(pair[0]):  # Arrow does not join a slice of no rows that came by its C interface
            continue
        if rows + len(pair[0]) > BLOCK and held:
            yield _joined(held)
            held, rows = [], 0
        if len(pair[0]) >= BLOCK:
            yield pair
        else:
            held.append(pair)
            rows += len(pair[0])
    if held:
        yield _joined(held)


def _joined(batches: list[Columns]) -> Columns:
    if len(batches) == 1:
        return batches[0]
    source, target = (pa.concat_arrays(parts) for parts in zip(*batches, strict=True))
    return source, target


def _nulls(array: pa.Array) -> pa.Array | None:
    """A mask of the null elements; None if there are none."""
    if pa.types.is_dictionary(array.type) and array.dictionary.null_count:
        array = array.dictionary_decode()
    return array.is_null() if array.null_count else None


def choose_columns(
    titles: Sequence[Any],
    source: Any,
    target: Any,
    where: str,
    edge_data: Iterable[str] | None = None,
    index: Iterable[Any] = (),
) -> tuple[tuple[int, int], tuple[str, str]]:
    """Places and names of the source and target columns: those asked for, else a usual pair, else the only two
    besides ``edge_data``.

    The titles of a frame may be numbers, if it was read without a header, or tuples, if they have several levels: these
    are asked for as they are, and named by their strings.

    Raises `InputError` listing the columns there are, or if a usual name is that of the frame's ``index`` instead.
    """
    names = list(map(str, titles))
    listed = ", ".join(map(quoted, names[:MAX_LISTED])) + (", ..." if len(names) > MAX_LISTED else "")
    there = f"its columns are {listed}" if names else "it has no columns"
    for asked in (source, target):
        if not _may_be_title(asked):
            raise InputError(f"{where}: the name of a column is a string, not {quoted(asked)}; {there}")
    named = dict(zip(titles, names, strict=True))
    source, target = (
        named.get(each, each) if is_integer(each) or isinstance(each, tuple) else each for each in (source, target)
    )
    for asked in (source, target):
        if asked is not None and names.count(asked) != 1:
            problem = "more than one column" if asked in names else "no column"
            raise InputError(f"{where} has {problem} {quoted(asked)}; {there}")
    if source is not None and source == target:
        raise InputError(f"{where}: source and target must be two columns, not {quoted(source)} twice")
    if source is not None and target is not None:
        return (names.index(source), names.index(target)), (source, target)
    data = set(edge_data or ()) - {source, target}
    lower = ["" if name in data else name.strip().lower() for name in names]
    places = [(lower.index(u), lower.index(v)) for u, v in PAIRS if lower.count(u) == lower.count(v) == 1]
    others = [place for place, name in enumerate(names) if name not in data]
    if len(set(names)) == len(names) and len(others) == 2:
        if not places and (ends := [name for name in index if str(name).strip().lower() in USUAL]):
            raise InputError(
                f"{where} has {quoted(ends[0])} as its index: call reset_index(), or name source and target"
            )
        places.extend([(others[0], others[1]), (others[1], others[0])])
    for i, j in places:
        if source in (None, names[i]) and target in (None, names[j]):
            return (i, j), (names[i], names[j])
    raise InputError(f"{where}: say which columns hold the edges, source and target; {there}")


def _may_be_title(asked: Any) -> bool:
    """Return True if this may be the title of a column. An array, a column and pandas's NA cannot be compared."""
    try:
        hash(asked)
    except TypeError:
        return False
    return asked is None or isinstance(asked, str | tuple) or is_integer(asked)


def from_edge_table(
    table: EdgeTable, *, vertices: int | None = None, directed: bool | None = None, frame: str = "pandas"
) -> Graph:
    """A graph from a table of edges; columns of numbers are read twice and never held whole."""
    notes = notes_of(table.metadata, table.name)
    directed = notes.directed if directed is None else directed
    types = table.plain_types
    for column, type in zip(table.columns, types, strict=True):
        refused = (pa.types.is_nested, pa.types.is_boolean, pa.types.is_run_end_encoded)
        if isinstance(type, pa.BaseExtensionType) or any(is_one(type) for is_one in refused):
            raise InputError(f"{table.name}, column {column!r}: {type} cannot hold vertex ids")
    if all(is_number(type) for type in types):
        vertices = notes.vertices if vertices is None else vertices
        edges = EdgeList(table.rows, table.numbers, table.columns, table.name, table.data)
        graph = from_edge_list(edges, vertices=vertices, directed=directed, frame=frame)
        return with_vertices(graph, notes.isolated) if notes.isolated else graph
    if vertices is not None:
        raise InputError(f"{table.name}: a number of vertices can only be given with integer ids")
    value_types = [*map(value_type, types)]
    if any(len(source) for source, _ in table.checked()):
        require_one_type([str(type).removeprefix("large_") for type in value_types], table.columns, table.name)
    blocks, labels = number_values(table.checked(), notes.labels, value_types[0], table.name)
    edges = EdgeList(table.rows, lambda: blocks, table.columns, table.name, table.data)
    graph = from_edge_list(edges, vertices=len(labels), directed=directed, frame=frame)
    return labelled(graph, labels) if labels else graph


def is_number(type: pa.DataType) -> bool:
    """Return True if NumPy holds a column of this type as integers or floats, or if it is null and so empty once
    checked."""
    return any(is_one(type) for is_one in (pa.types.is_integer, pa.types.is_floating, pa.types.is_null))


def with_vertices(graph: Graph, ids: Sequence[int] | np.ndarray) -> Graph:
    """``graph``, whose ids are integers, with a vertex for each of ``ids`` too."""
    labels = np.arange(graph.num_vertices) if graph.labels is None else graph.labels
    union = np.unique(np.concatenate([labels, np.asarray(ids, np.int64)]))
    return _spread(graph, np.searchsorted(union, labels), len(union), union)


def with_all_vertices(graph: Graph) -> Graph:
    """``graph``, whose ids are integers, with the vertices 0..max that its edges leave out."""
    if graph.labels is None:
        return graph
    return _spread(graph, graph.labels, checked_vertices(int(graph.labels[-1]) + 1))


def _spread(graph: Graph, places: np.ndarray, vertices: int, labels: np.ndarray | None = None) -> Graph:
    """``graph`` with its vertices moved to these ascending places among ``vertices``; the others have no edges."""
    offsets = np.zeros(vertices + 1, graph.offsets.dtype)
    offsets[places + 1] = graph.degrees
    return graph._with(
        offsets=np.cumsum(offsets, dtype=offsets.dtype),
        targets=places.astype(index_dtype(vertices))[graph.targets],
        labels=None if labels is None or are_vertices(labels) else labels,
    )


def isolated(graph: Graph) -> np.ndarray:
    """The vertices without edges."""
    touched = graph.degrees > 0
    if graph.directed:
        touched[graph.targets] = True
    return np.flatnonzero(~touched)


def require_strings(labels: np.ndarray) -> None:
    """Raise `InputError` unless all of ``labels`` are strings."""
    for label in labels:
        if not isinstance(label, str):
            raise InputError(
                f"vertex ids can be written if all are integers or all strings, but {quoted(label)} is of type "
                f"{type(label).__name__}: rename the vertices first"
            )


def ids_as_arrow(graph: Graph, vertices: np.ndarray) -> pa.Array:
    """The ids of ``vertices``: integers or strings. Raises `InputError` if they are neither."""
    if graph.labels is None or graph.labels.dtype != object:
        return pa.array(graph.ids_of(vertices))
    require_strings(graph.labels)
    try:
        return pa.array(graph.labels, pa.large_string()).take(pa.array(vertices))
    except UnicodeEncodeError as error:
        raise InputError(f"the id {quoted(error.object)} is not valid Unicode: rename the vertex first") from None


def to_edge_table(graph: Graph) -> pa.Table:
    """A `pyarrow.Table` of edges, an undirected edge once; the schema's metadata hold the `Notes`."""
    known: dict[str, Any] = {}
    if graph.labels is None:
        known["vertices"] = graph.num_vertices
    elif graph.labels.dtype == object:
        require_strings(graph.labels)
        known["labels"] = graph.labels.tolist()
    else:
        known["isolated"] = graph.labels[isolated(graph)].tolist()
    notes = Notes(graph.directed, edge_data=tuple(graph.edge_data), **known)
    ends = [ids_as_arrow(graph, vertices) for vertices in graph.vertex_pairs()]
    carried = columns_of_edges(graph)
    names = [*graph.columns, *carried]
    return pa.table([*ends, *map(as_arrow, carried.values())], names=names, metadata=notes.to_metadata())


def to_arc_table(graph: Graph) -> pa.Table:
    """The edges in two columns, an undirected edge in both directions, in the order of the adjacencies."""
    sources = np.repeat(np.arange(graph.num_vertices, dtype=graph.targets.dtype), graph.degrees)
    ends = [ids_as_arrow(graph, vertices) for vertices in (sources, graph.targets)]
    data = [
        pa.array(as_objects(held)) if isinstance(held, Categories) else as_arrow(held)
        for held in graph.edge_data.values()
    ]
    return pa.table([*ends, *data], names=[*graph.columns, *graph.edge_data])


def write_rows(table: pa.Table, stream: IO[bytes], delimiter: str = "\t") -> None:
    """Write the rows as text, without a header and quotes."""
    from pyarrow import csv as arrow_csv

    options = arrow_csv.WriteOptions(include_header=False, delimiter=delimiter, quoting_style="none")
    arrow_csv.write_csv(table, stream, options)


def from_arrow_table(
    table: pa.Table, columns: tuple[str, str], name: str, *, data: EdgeData = NO_EDGE_DATA, **options: Any
) -> Graph:
    """A graph from a table of two columns in memory, whose rows carry ``data``; options as in `from_edge_table`."""
    return from_edge_table(EdgeTable.of(table, columns, name, data), **options)


def _plain(array: pa.Array, where: str, first_row: int) -> pa.Array:
    """``array`` in its plain type. Raises `InputError` if it is corrupt, or naming the first row without an id."""
    try:
        array.validate(full=True)
    except (pa.ArrowException, ValueError) as error:
        raise InputError(f"{where} is corrupt: {str(error).splitlines()[0]}") from error
    if (nulls := _nulls(array)) is not None:
        row = first_row + nulls.index(True).as_py()
        raise InputError(f"{where}, row {row} (from 0): null is not a vertex id: drop the rows without one")
    type = _plain_type(array.type)
    if type == array.type:
        return array
    if pa.types.is_dictionary(type):
        return pa.DictionaryArray.from_arrays(array.indices, _cast(array.dictionary, type.value_type, where))
    values = array.dictionary_decode() if pa.types.is_dictionary(array.type) else array
    return _whole(values, where, first_row) if pa.types.is_decimal(values.type) else _cast(values, type, where)


def _cast(values: pa.Array, type: pa.DataType, where: str) -> pa.Array:
    try:
        return values.cast(type)
    except pa.ArrowInvalid as error:
        raise InputError(f"{where}: {error}") from None


def _whole(decimals: pa.Array, where: str, first_row: int) -> pa.Array:
    """``decimals`` as integers. Raises `InputError` naming the first row that holds none."""
    if not 0 <= decimals.type.scale <= decimals.type.precision:  # past the end of Arrow's table of powers of ten
        raise InputError(f"{where}: {decimals.type} cannot hold vertex ids")
    try:
        return decimals.cast(pa.int64())
    except pa.ArrowInvalid:
        for row, value in enumerate(decimals.to_pylist(), first_row):
            if value != int(value):
                raise InputError(
                    f"{where}, row {row} (from 0): {value} is fractional: vertex ids are whole numbers, or strings"
                ) from None
            if abs(value) > np.iinfo(np.int64).max:
                raise InputError(f"{where}, row {row} (from 0): {value} is beyond int64") from None
        raise


def _plain_type(type: pa.DataType) -> pa.DataType:
    """The type that the rest of this module handles: encoded numbers and decimals become numbers, strings large,
    times of the day Python's."""
    if pa.types.is_dictionary(type):
        plain = _plain_type(type.value_type)
        return plain if is_number(plain) else pa.dictionary(type.index_type, plain)
    if pa.types.is_null(type) or pa.types.is_decimal(type):
        return pa.int64()
    if pa.types.is_string(type) or pa.types.is_string_view(type):
        return pa.large_string()
    if pa.types.is_binary_view(type):
        return pa.large_binary()
    if pa.types.is_time64(type):  # Python's have no nanoseconds
        return pa.time64("us")
    return type
