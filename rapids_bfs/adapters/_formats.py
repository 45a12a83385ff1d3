"""The formats of files, and how to tell them apart."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import IO, Any

from ..errors import InputError
from ..graph import Graph
from ._file import TAR, File, without_packing
from ._gap import HEADER, expected_bytes

OPTIONS = {
    "source": "source column",
    "target": "target column",
    "header": "header",
    "vertices": "number of vertices",
    "directed": "direction",
    "edge_data": "edge data",
}


def refuse_options(given: Iterable[str], known: Container[str], what: str) -> None:
    """Raise `InputError` for one of the options ``given`` that is not ``known``; ``what`` begins the message."""
    for option in given:
        if option not in known:
            raise InputError(f"{what} no {OPTIONS.get(option, option)} to choose")


DELIMITERS = ",;|"  # besides the tab, which edge lists use too

Sniffer = Callable[[bytes, int], bool]  # of the head and the size of a file


def _begins(*magic: bytes) -> Sniffer:
    return lambda head, size: head.startswith(magic)


def _looks_like(pattern: bytes) -> Sniffer:
    return lambda head, size: re.match(pattern, head) is not None


def _is_serialized(head: bytes, size: int) -> bool:
    """Return True if there are as many bytes as GAP's header says."""
    if len(head) < HEADER.size or head[0] > 1:
        return False
    directed, edges, vertices = HEADER.unpack_from(head)
    return min(edges, vertices) >= 0 and size == expected_bytes(directed, edges, vertices)


DIMACS = rb"(\s*c[^\n]*\n)*\s*p[ \t]+"  # up to the kind of the problem


@dataclass(frozen=True)
class Format:
    """A file format: ``read_<key>(file, **options)`` and ``write_<key>(graph, stream)`` in one of our modules.

    ``sniff`` tells its files by their content; it is None for text without a mark, which goes by its suffix. A graph
    in several files is written to a stream for each of its ``parts``.
    """

    name: str
    key: str
    module: str
    suffixes: tuple[str, ...]
    sniff: Sniffer | None = None
    text: bool = False  # may be packed, see `_file.PACKINGS`
    labels: bool = False  # keeps ids that are strings
    isolated: bool = True  # keeps vertices without edges, if ids are 0..n-1
    data: bool = False  # keeps edge data
    parts: tuple[str, ...] = ()  # the suffixes of a graph's files, if there are several

    @property
    def read(self) -> Callable[..., Graph]:
        return self._function("read")

    @property
    def write(self) -> Callable[[Graph, IO[bytes]], None]:
        return self._function("write")

    def _function(self, what: str) -> Callable[..., Any]:
        function: Callable[..., Any] = getattr(import_module(f".{self.module}", __package__), f"{what}_{self.key}")
        return function

    @property
    def options(self) -> set[str]:
        """The options that `read` takes; readers of tables hand the rest on to `_tables.from_edge_table`."""
        known = signature(self.read).parameters.keys()
        return known | {"vertices", "directed"} if "options" in known else {*known}


FORMATS = (
    Format("Parquet", "parquet", "_columnar", (".parquet", ".pq"), _begins(b"PAR1"), labels=True, data=True),
    Format("Arrow", "arrow", "_columnar", (".arrow", ".feather", ".ipc"), _begins(b"ARROW1"), labels=True, data=True),
    Format(
        "an Arrow stream",
        "arrow_stream",
        "_columnar",
        (".arrows",),
        _begins(b"\xff\xff\xff\xff"),
        labels=True,
        data=True,
    ),
    Format("NumPy", "npz", "_npz", (".npz",), _begins(b"PK\x03\x04", b"PK\x05\x06"), labels=True, data=True),
    Format("Matrix Market", "matrix_market", "_matrix_market", (".mtx",), _begins(b"%%MatrixMarket"), text=True),
    Format("GAP's serialized graph", "serialized", "_gap", (".sg",), _is_serialized),
    Format("DIMACS", "dimacs", "_dimacs", (".gr",), _looks_like(DIMACS + rb"(?!edge|col)[a-z]+[ \t]"), text=True),
    Format("GraphML", "graphml", "_xml", (".graphml",), _looks_like(rb"\s*<([^[]{,999}<)?graphml\b"), labels=True),
    Format("GEXF", "gexf", "_xml", (".gexf",), _looks_like(rb"\s*<([^[]{,999}<)?gexf\b"), labels=True),
    Format("METIS", "metis", "_metis", (".graph",), text=True),
    Format("LDBC's graph", "ldbc", "_ldbc", (".e", ".v"), labels=True, parts=(".e", ".v", ".properties")),
    Format("CSV", "csv", "_csv", (".csv",), text=True, labels=True, isolated=False, data=True),
    Format("TSV", "tsv", "_csv", (".tsv",), text=True, labels=True, isolated=False, data=True),
    Format("an edge list", "snap", "_text", (".txt", ".edges", ".edgelist", ".snap", ".ssv"), text=True, labels=True),
    Format("GAP's edge list", "gap", "_text", (".el", ".wel"), text=True),
)

ADJACENCY = "an adjacency list: read it with nx.read_adjlist, or nx.read_multiline_adjlist, and pass as_graph the graph"
EXCEL = "a workbook of Excel: read it with pandas.read_excel and pass as_graph the table"
DOT = rb'\s*(strict\s+)?(di)?graph(\s+("[^"]*"|\w+))?\s*\{'
ELSEWHERE = (  # formats of other libraries: name and reader, suffixes, first bytes of the content
    ("GML: read it with nx.read_gml and pass as_graph the graph", (".gml",), rb"(Creator .*\s+)?graph\s*\["),
    (
        "Pajek: read it with nx.read_pajek and pass as_graph the graph",
        (".net", ".pajek"),
        rb"\*(?i:vertices|network)\b",
    ),
    (
        "JSON: read it with json.load, make a graph of it, as by nx.node_link_graph, and pass as_graph the graph",
        (".json", ".jsonl"),
        rb'\s*(\{\s*"|\[\s*[\[{"])',
    ),
    ("Graphviz: read it with nx.nx_pydot.read_dot and pass as_graph the graph", (".dot", ".gv"), DOT),
    ("graph6: read it with nx.read_graph6 and pass as_graph the graph", (".g6",), rb">>graph6<<"),
    ("sparse6: read it with nx.read_sparse6 and pass as_graph the graph", (".s6",), rb">>sparse6<<"),
    (ADJACENCY, (".adjlist",), None),
    ("NCOL: read it with igraph.Graph.Read_Ncol(path, directed=False) and pass as_graph the graph", (".ncol",), None),
    (
        "Large Graph Layout: read it with igraph.Graph.Read_Lgl(path, directed=False) and pass as_graph the graph",
        (".lgl",),
        None,
    ),
    (
        "DIMACS's format for colouring: keep the two numbers of each line that begins with e, and read them as .txt",
        (".col",),
        DIMACS + rb"(edge|col)",
    ),
    (
        "GAP's graph with weights: write its edges by GAP's converter -wf IN.wsg -e OUT.wel and read these",
        (".wsg",),
        None,
    ),
    ("an array: read it with numpy.load and pass as_graph the array", (".npy",), rb"\x93NUMPY"),
    ("MATLAB: read it with scipy.io.loadmat and pass as_graph its matrix", (".mat",), rb"MATLAB "),
    ("HDF5: read it with h5py or pandas.read_hdf and pass as_graph the table", (".h5", ".hdf5"), rb"\x89HDF"),
    (EXCEL, (".xls",), rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"),
    ("a web page: download the file that it links to", (".html", ".htm"), rb"\s*<(?i:!doctype html|html)\b"),
    ("a pickle: unpickle it and pass as_graph the object", (".pkl", ".pickle"), rb"\x80[\2-\5]"),
    ("a tar archive: unpack it first", (), rb"[\s\S]{257}ustar"),
    ("neither a tar archive, as its suffix says, nor a graph", (".tar", ".tgz"), None),
    ("packed by xz: decompress it first", (".xz",), rb"\xfd7zXZ"),
    ("a pointer to a file of Git LFS: fetch that by git lfs pull", (), rb"version https://git-lfs\."),
)


def format_of(file: File) -> Format:
    """The format of ``file``: by its content if that has a mark, else by its suffix, else by the look of its text."""
    head = file.head()
    for format in FORMATS:
        if format.sniff and format.sniff(head, file.size):
            return _unpacked(file, format)
    for what, suffixes, start in ELSEWHERE:
        if without_packing(file.path).suffix.lower() in suffixes or (start and re.match(start, head)):
            raise InputError(f"{file} is {what}")
    by_suffix = format_of_suffix(file.path)
    if by_suffix and by_suffix.sniff and by_suffix.module != "_gap":
        raise InputError(f"{file} has the suffix of {by_suffix.name}, but not its content")
    if by_suffix and by_suffix.key != "snap":
        return _unpacked(file, by_suffix)
    key = _look(head)
    if key is None and by_suffix:
        return by_suffix
    if key is None and b"\t" in head.partition(b"\n")[0]:
        key = "tsv"
    if key is None:
        raise InputError(f"{file} has an unknown format; these suffixes are known: {known_suffixes()}")
    return next(format for format in FORMATS if format.key == key)


def _unpacked(file: File, format: Format) -> Format:
    if file.packing == TAR and not (format.text or format.parts):
        raise InputError(f"{file} is {format.name} in an archive: unpack it first")
    if file.packing not in ("", TAR) and not format.text:
        raise InputError(f"{file} is {format.name} compressed with {file.packing}: decompress it first")
    return format


def _look(head: bytes) -> str | None:
    """The key of the format that text without a known suffix looks like: a CSV, or an edge list of numbers."""
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
    return "snap" if len(fields) > 1 and all(field.isdecimal() for field in fields[:2]) else None


def format_of_suffix(path: Path) -> Format | None:
    suffix = without_packing(path).suffix.lower()
    return next((format for format in FORMATS if suffix in format.suffixes), None)


def known_suffixes() -> str:
    return ", ".join(suffix for format in FORMATS for suffix in format.suffixes)
