"""Files of graphs: `read` and `save`."""

from __future__ import annotations

import glob
import os
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

from .._core.arguments import checked_name, file_path, flag
from ..errors import InputError
from ..graph import Graph
from ._edge_data import asked_for
from ._file import (
    IS_TAR,
    KEEP,
    PACKED,
    File,
    check_output,
    file_at,
    file_errors,
    packing_of,
    replacing,
    turn,
    unchanged,
    without_packing,
)
from ._formats import FORMATS, Format, format_of, format_of_suffix, known_suffixes, refuse_options


def read(
    path: str | os.PathLike[str],
    *,
    source: str | int | None = None,
    target: str | int | None = None,
    header: bool = True,
    vertices: int | None = None,
    directed: bool | None = None,
    name: str | None = None,
    edge_data: Mapping[str, Any] | Sequence[str] | None = None,
) -> Graph:
    """Read a `Graph` from a file. The content determines the format; for plain text, the suffix does.

    Parameters
    ----------
    path
        Matrix Market (``.mtx``), Parquet, Arrow (``.arrow``, ``.feather``), CSV or TSV, edge lists of white-space
        separated ids (SNAP's ``.txt``, GAP's ``.el``), GAP's ``.sg``, NumPy's ``.npz`` from `Graph.save`
        or `scipy.sparse.save_npz`, DIMACS (``.gr``), METIS (``.graph``), LDBC Graphalytics (``.e`` with
        ``.v``), or small GraphML and GEXF. Text may be compressed with gzip, bzip2 or
        Zstandard. Of a tar archive, the text with its name is read, else the only one that may be a graph. Ids start at
        0, even in Matrix Market, DIMACS and METIS files, which count from 1: row 1 is vertex 0. Weights and other
        columns are ignored. A pattern such as ``"edges/*.parquet"`` reads one graph from several Parquet files with the
        same columns.
    source, target : str, optional
        The columns of a table that hold the edges; for a CSV or TSV also the index of a column, from 0. Default: a pair
        with common names, or the only two.
    header : bool
        False: the first line of a CSV or TSV is an edge. Columns are then 0, 1, ..., and the default is 0 and 1.
        True: it is a header, even if all ids are strings; a warning says so if its names are unusual and you gave none
        of them. An id among them is an error.
    vertices : int, optional
        For edge lists and tables with integer ids: the number of vertices, as in `as_graph`.
    directed : bool, optional
        True: directed edges. False: each edge in both directions, unless the edges are symmetric already. Default: as
        the file says, else directed edges; the graph counts as undirected if they are symmetric.
    name : str, optional
        Default: the file name without its suffix.
    edge_data : list of str, optional
        The columns of a Parquet, Arrow, CSV or TSV file that become `Graph.edge_data`, see `rapids_bfs.as_graph`; or a
        dict of columns with an entry for each of its rows. Default: what the graph had that was saved to the file.

    Raises
    ------
    InputError
        If the file does not exist, is damaged, has no known format, or holds no graph; the message names the place.
    """
    checked_name(name)
    given = {"source": source, "target": target, "vertices": vertices, "directed": directed}
    options: dict[str, Any] = {option: value for option, value in given.items() if value is not None}
    if edge_data is not None:
        options["edge_data"] = asked_for(edge_data)
    if not flag(header, "header"):
        options["header"] = False
    if files := files_matching(path):
        from ._columnar import read_several

        with unchanged(*files):
            return read_several(file_path(path), files, name, **options)
    with file_at(path).held() as file:
        return _read(file, name, **options)


def _read(file: File, name: str | None, **options: Any) -> Graph:
    with file_errors(file, "a graph"):
        file = replace(file, packing=packing_of(file.head()))
        if IS_TAR.match(file.head()):
            from ._archive import member_of

            file = member_of(file)
    with file_errors(file, "a graph"):
        if not file.head():
            raise InputError(f"{file} is empty")
        format = format_of(file)
    refuse_options(options, format.options, f"{file} is {format.name}, which has")
    with file_errors(file, format.name):
        graph = format.read(file, **options)
    graph.name = name or without_packing(file.path).name.rpartition(".")[0] or file.path.name
    return graph


def files_matching(path: str | os.PathLike[str]) -> list[File]:
    """The files that a pattern such as ``edges/*.parquet`` matches; an empty list if ``path`` is not a pattern. Raises
    `InputError` if it is one and matches no file."""
    pattern = file_path(path)
    if not glob.has_magic(pattern) or os.path.lexists(pattern):
        return []
    if not (found := sorted(glob.glob(pattern, recursive=True))):
        raise InputError(f"{pattern} does not exist, and no file matches it")
    return [file_at(each) for each in found]


def save(graph: Graph, path: str | os.PathLike[str], *, force: bool = False) -> None:
    """Write ``graph`` to ``path`` in the format of its suffix; a text format followed by ``.gz``, ``.bz2`` or ``.zst``
    is compressed.

    ``.npz`` keeps everything. Parquet, Arrow and ``.txt`` keep vertices, ids, edges and direction, but an
    undirected graph is written with each edge once, and its adjacencies may come back in another order. Parquet, Arrow,
    CSV and TSV keep edge data, too. A format that would lose ids, isolated vertices or edge data of this graph is
    refused. An existing file is replaced only with ``force``, and only when the new one is complete; a pipe or a device
    is written in place.

    Raises `InputError` if it cannot be written there or in this format.
    """
    target, format = _format_to_write(path)
    if not format.labels and graph.labels is not None:
        others = ", ".join(format.suffixes[0] for format in FORMATS if format.labels)
        raise InputError(f"{target}: {format.name} keeps no vertex ids other than 0..n-1; {others} do")
    if not format.data and graph.edge_data:
        others = ", ".join(format.suffixes[0] for format in FORMATS if format.data)
        raise InputError(
            f"{target}: {format.name} keeps no edge data; {others} do: or leave them out, "
            "graph.replace(edge_data=None).save(...)"
        )
    paths = [check_output(path, force) for path in _files_of(target, format)]
    with ExitStack() as opened:
        streams = [opened.enter_context(replacing(path)) for path in paths]
        try:
            if format.parts:
                format.write(graph._with(name=target.stem), *streams)
            else:
                with _packed(streams[0], PACKED.get(target.suffix.lower())) as unpacked:
                    format.write(graph, unpacked)
        except InputError as error:
            raise InputError(f"{target}: {error}") from None
        with turn():
            opened.close()


def _files_of(target: Path, format: Format) -> list[Path]:
    """The files that hold a graph in this format."""
    return [target.with_suffix(suffix) for suffix in format.parts] or [target]


def _packed(stream: IO[bytes], packing: str | None) -> Any:
    """A stream that packs what is written to ``stream``."""
    if packing is None:
        return nullcontext(stream)
    import pyarrow as pa

    return pa.CompressedOutputStream(stream, packing)


def check_graph_output(path: str | os.PathLike[str], force: bool = False, *, isolated: str | None = None) -> Path:
    """``path`` if a graph can be saved there. Raises `InputError` if not, see `check_output`, or by its suffix.

    ``isolated`` is the name of the graph if it is known to have vertices without edges.
    """
    target, format = _format_to_write(path)
    if isolated and not format.isolated:
        raise InputError(
            f"{target}: {format.name} would lose the vertices without edges of {isolated}; {KEEP} keep them"
        )
    for each in _files_of(target, format):
        check_output(each, force)
    return target


def _format_to_write(path: str | os.PathLike[str]) -> tuple[Path, Format]:
    target = Path(file_path(path))
    format = format_of_suffix(target)
    if format is None:
        raise InputError(f"{target}: unknown suffix; there are {known_suffixes()}")
    if target.suffix.lower() in PACKED and not format.text:
        raise InputError(f"{target}: {format.name} is never packed: leave out {target.suffix}")
    return target, format
