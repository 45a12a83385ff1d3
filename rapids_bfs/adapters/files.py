"""Files of graphs: `read` and `save`, and the table of formats that they choose from."""

from __future__ import annotations

import gzip
import os
import secrets
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import IO, Any, cast

from ..arguments import checked_name, file_path, flag
from ..errors import InputError
from ..graph import Graph
from ._bounded import BoundedText

HEAD = 1 << 16  # bytes at the start of a file that are looked at to tell its format
OPTIONS = {
    "source": "source column",
    "target": "target column",
    "header": "header",
    "vertices": "number of vertices",
    "directed": "direction",
}
GZIP = b"\x1f\x8b"
DELIMITERS = ",;|"  # besides the tab, which edge lists use too


@dataclass(frozen=True)
class File:
    """A file to read, packed by gzip or not; as a string, its path in one line."""

    path: Path
    gzipped: bool = False

    def __str__(self) -> str:
        return "".join(c if c.isprintable() else repr(c)[1:-1] for c in str(self.path))

    def open(self) -> IO[bytes]:
        """The content as a stream of bytes, unpacked."""
        return cast(IO[bytes], gzip.open(self.path)) if self.gzipped else self.path.open("rb")

    def text(self, comments: bytes = b"", watched: Sequence[bytes] = ()) -> BoundedText:
        """The content as lines of text, within the bounds of `BoundedText`."""
        return BoundedText(self.open(), comments, watched)

    @property
    def size(self) -> int:
        """Bytes on disk."""
        return self.path.stat().st_size

    def head(self) -> bytes:
        """The first bytes of the content."""
        with self.open() as stream:
            return stream.read(HEAD)

    def about_lines(self) -> int:
        """Roughly how many lines of text there are, judged by the first."""
        head = self.head()
        unpacked = 5 * self.size if self.gzipped else self.size
        return unpacked * (head.count(b"\n") + 1) // max(len(head), 1)


Sniffer = Callable[[bytes, int], bool]  # of the head and the size of a file


def _begins(*magic: bytes) -> Sniffer:
    return lambda head, size: head.startswith(magic)


def _is_serialized(head: bytes, size: int) -> bool:
    """Are there as many bytes as GAP's header says?"""
    from ._gap import HEADER, expected_bytes

    if len(head) < HEADER.size or head[0] > 1:
        return False
    directed, edges, vertices = HEADER.unpack_from(head)
    return min(edges, vertices) >= 0 and size == expected_bytes(directed, edges, vertices)


@dataclass(frozen=True)
class Format:
    """A file format: ``read_<key>(file, **options)`` and ``write_<key>(graph, stream)`` in one of our modules.

    ``sniff`` tells its files by their content; it is None for text without a mark, which goes by its suffix.
    """

    name: str
    key: str
    module: str
    suffixes: tuple[str, ...]
    sniff: Sniffer | None = None
    text: bool = False  # may be packed by gzip
    labels: bool = False  # keeps ids that are strings

    @property
    def read(self) -> Callable[..., Graph]:
        function: Callable[..., Graph] = getattr(import_module(f".{self.module}", __package__), f"read_{self.key}")
        return function

    @property
    def write(self) -> Callable[[Graph, IO[bytes]], None]:
        function: Callable[[Graph, IO[bytes]], None] = getattr(
            import_module(f".{self.module}", __package__), f"write_{self.key}"
        )
        return function


FORMATS = (
    Format("Parquet", "parquet", "_columnar", (".parquet", ".pq"), _begins(b"PAR1"), labels=True),
    Format("Arrow", "arrow", "_columnar", (".arrow", ".feather", ".ipc"), _begins(b"ARROW1"), labels=True),
    Format("an Arrow stream", "arrow_stream", "_columnar", (".arrows",), _begins(b"\xff\xff\xff\xff"), labels=True),
    Format("NumPy", "npz", "_npz", (".npz",), _begins(b"PK\x03\x04", b"PK\x05\x06"), labels=True),
    Format("Matrix Market", "matrix_market", "_matrix_market", (".mtx",), _begins(b"%%MatrixMarket"), text=True),
    Format("GAP's serialized graph", "serialized", "_gap", (".sg",), _is_serialized),
    Format("CSV", "csv", "_csv", (".csv",), text=True, labels=True),
    Format("TSV", "tsv", "_csv", (".tsv",), text=True, labels=True),
    Format("an edge list", "snap", "_text", (".txt", ".edges", ".edgelist", ".snap", ".ssv"), text=True, labels=True),
    Format("GAP's edge list", "gap", "_text", (".el", ".wel"), text=True),
)


def read(
    path: str | os.PathLike[str],
    *,
    source: str | int | None = None,
    target: str | int | None = None,
    header: bool = True,
    vertices: int | None = None,
    directed: bool | None = None,
    name: str | None = None,
) -> Graph:
    """A `Graph` from a file, whose format is told by its content and, for plain text, by its suffix.

    Parameters
    ----------
    path
        Matrix Market (``.mtx``), Parquet, Arrow (``.arrow``, ``.feather``), CSV or TSV, edge lists of white-space
        separated ids (SNAP's ``.txt``, GAP's ``.el``), GAP's ``.sg``, or NumPy's ``.npz`` from `Graph.save` or
        `scipy.sparse.save_npz`. Text may be packed by gzip. Matrix Market counts from 1, and ids here from 0: its row
        1 is vertex 0. Weights and other columns are ignored.
    source, target : str, optional
        The columns of a table that hold the edges; in a CSV or TSV the place of a column, from 0, will do. By default
        a pair with usual names, or the only two.
    header : bool
        False: the first line of a CSV or TSV is an edge. Its columns are 0, 1, ..., and by default 0 and 1 hold the
        edges.
    vertices : int, optional
        For edge lists and tables with integer ids: ids are vertices below this number, as in `as_graph`.
    directed : bool, optional
        True: the edges as they are. False: each edge in both directions, unless the edges are symmetric already.
        Default: as the file says; where it does not say, as they are, undirected if they are symmetric.
    name : str, optional
        By default the file's name without its suffix.

    Raises
    ------
    InputError
        If the file is not there, damaged or of no known format, or holds no graph; the message names the place.
    """
    file = file_at(path)
    checked_name(name)
    given = {"source": source, "target": target, "vertices": vertices, "directed": directed}
    options: dict[str, Any] = {option: value for option, value in given.items() if value is not None}
    if not flag(header, "header"):
        options["header"] = False
    with damage_named(file, "a graph"):
        file = File(file.path, gzipped=file.head().startswith(GZIP))
        if not file.head():
            raise InputError(f"{file} is empty")
        format = format_of(file)
    for option in options:
        if option not in signature(format.read).parameters:
            raise InputError(f"{file} is {format.name}, which has no {OPTIONS.get(option, option)} to choose")
    with damage_named(file, format.name):
        graph = format.read(file, **options)
    graph.name = name or file.path.name.removesuffix(".gz").rpartition(".")[0] or file.path.name
    return graph


def file_at(path: str | os.PathLike[str]) -> File:
    """The file at ``path``. Raises `InputError` unless it is a regular file: a pipe or a device may never
    end, or never begin."""
    file = File(Path(file_path(path)))
    try:
        mode = os.stat(file.path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        raise InputError(f"{file} does not exist") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{file!s:.200} cannot be opened: {getattr(error, 'strerror', None) or error}") from error
    if stat.S_ISDIR(mode):
        raise InputError(f"{file} is a directory, not a file")
    if not stat.S_ISREG(mode):
        raise InputError(f"{file} is a pipe or a device: save what it gives to a file first")
    return file


@contextmanager
def damage_named(file: File, what: str) -> Iterator[None]:
    """Turn any exception that a library raises at a damaged file into an `InputError` that names the file."""
    try:
        yield
    except InputError as error:
        if str(file) in str(error):
            raise
        raise InputError(f"{file}: {error}") from None
    except Exception as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise InputError(f"{file} cannot be read as {what}: {reason:.200}") from error


def format_of(file: File) -> Format:
    """The format of ``file``: by its content if that has a mark, else by its suffix, else by the look of its text."""
    head = file.head()
    for format in FORMATS:
        if format.sniff and format.sniff(head, file.size):
            return _unpacked(file, format)
    by_suffix = _format_of_suffix(file.path)
    if by_suffix and by_suffix.sniff and by_suffix.key != "serialized":
        raise InputError(f"{file} has the suffix of {by_suffix.name}, but not its content")
    if by_suffix and by_suffix.key != "snap":
        return _unpacked(file, by_suffix)
    key = _look(head)
    if by_suffix is None and key is None:
        raise InputError(f"{file} has an unknown format; these suffixes are known: {_suffixes()}")
    return by_suffix if key is None and by_suffix else next(format for format in FORMATS if format.key == key)


def _unpacked(file: File, format: Format) -> Format:
    if file.gzipped and not format.text:
        raise InputError(f"{file} is {format.name} packed by gzip: unpack it first")
    return format


def _look(head: bytes) -> str | None:
    """The key of the format that text without a known suffix looks like: a CSV or TSV, or an edge list of numbers."""
    if b"\0" in head:
        return None
    if head.startswith(b"# rapids_bfs "):  # written by `_text.write_snap`
        return "snap"
    lines = [line for line in head.decode(errors="replace").splitlines() if line.strip() and line[0] not in "#%"]
    if not lines:
        return None
    fields = lines[0].split()
    for delimiter in DELIMITERS if "\t" not in lines[0] else ():
        columns = lines[0].count(delimiter)
        if columns and all(line.count(delimiter) == columns for line in lines[1:2]):
            return "csv" if len(fields) < 2 or fields[0].endswith(delimiter) else None
    if len(fields) > 1 and all(field.isdecimal() for field in fields[:2]):
        return "snap"
    tabs = [line.count("\t") for line in lines[:2]]
    return "tsv" if tabs[0] and tabs[0] == tabs[-1] else None


def _format_of_suffix(path: Path) -> Format | None:
    suffix = Path(path.name.lower().removesuffix(".gz")).suffix
    return next((format for format in FORMATS if suffix in format.suffixes), None)


def _suffixes() -> str:
    return ", ".join(suffix for format in FORMATS for suffix in format.suffixes)


def save(graph: Graph, path: str | os.PathLike[str], *, force: bool = False) -> None:
    """Write ``graph`` to ``path`` in the format of its suffix; ``.gz`` after that of a text format packs it.

    ``.npz`` keeps everything. Parquet, Arrow and ``.txt`` keep vertices, ids, edges and direction, but an
    undirected graph is written with each edge once, and its adjacencies may come back in another order. A format
    that would lose ids or isolated vertices of this graph is refused. An existing file is replaced only with
    ``force``, and only when the new one is complete.

    Raises `InputError` if it cannot be written there or in this format.
    """
    target, format = _format_to_write(path)
    if not format.labels and graph.labels is not None:
        others = ", ".join(format.suffixes[0] for format in FORMATS if format.labels)
        raise InputError(f"{target}: {format.name} keeps no vertex ids other than 0..n-1; {others} do")
    with replacing(check_output(target, force)) as stream:
        try:
            if target.suffix.lower() == ".gz":
                with gzip.GzipFile("", "wb", fileobj=stream, mtime=0) as unpacked:
                    format.write(graph, cast(IO[bytes], unpacked))
            else:
                format.write(graph, stream)
        except InputError as error:
            raise InputError(f"{target}: {error}") from None


def check_graph_output(path: str | os.PathLike[str], force: bool = False) -> Path:
    """``path`` if a graph can be saved there. Raises `InputError` if not, see `check_output`, or by its suffix."""
    _format_to_write(path)
    return check_output(path, force)


def _format_to_write(path: str | os.PathLike[str]) -> tuple[Path, Format]:
    target = Path(file_path(path))
    format = _format_of_suffix(target)
    if format is None:
        raise InputError(f"{target}: unknown suffix; there are {_suffixes()}")
    if target.suffix.lower() == ".gz" and not format.text:
        raise InputError(f"{target}: {format.name} is not packed by gzip: leave out .gz")
    return target, format


def check_output(path: str | os.PathLike[str], force: bool = False) -> Path:
    """``path`` if a file can be written there. Raises `InputError` if not, or if there is one and not ``force``."""
    target = Path(file_path(path))
    if os.path.isdir(target):
        raise InputError(f"{target} is a directory, not a file")
    if os.path.exists(target) and not os.path.isfile(target):
        raise InputError(f"{target} is a pipe or a device: give the name of a file")
    if os.path.exists(target) and not force:
        raise InputError(f"{target} exists: choose another name, or force to replace it")
    if not os.path.isdir(target.parent):
        raise InputError(f"{target}: there is no directory {target.parent}")
    if not os.access(target.parent, os.W_OK):
        raise InputError(f"{target}: the directory {target.parent} is not writable")
    return target


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """A new file in the folder of ``path`` that replaces it once it is complete."""
    part = path.with_name(f".{secrets.token_hex(8)}.part")
    try:
        with part.open("xb") as stream:
            yield stream
        part.replace(path)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or error}") from error
    finally:
        part.unlink(missing_ok=True)


def refuse_isolated(graph: Graph, vertices: Any, format: str) -> None:
    """Raise `InputError` if there are ``vertices`` without edges that ``format`` would lose."""
    if len(vertices):
        first = graph.ids_of(vertices[:1])[0]
        raise InputError(
            f"{format} would lose vertices without edges ({len(vertices):,}, the first is {first!s}); "
            ".parquet, .arrow and .npz keep them"
        )
