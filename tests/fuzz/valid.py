"""Valid files of every format, as our own writers and other libraries write them."""

from __future__ import annotations

import gzip
import io
import tarfile
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.sparse

from rapids_bfs import Graph, as_graph, bfs
from rapids_bfs.adapters.result_files import save_table


@dataclass(frozen=True)
class Case:
    """A file to read: its format, as --format names it, its name, whose suffix matters, and its content."""

    format: str
    name: str
    data: bytes


@cache
def valid_files() -> list[Case]:
    return [*saved_graphs(), *columnar(), *archives(), *tarballs(), *matrices(), *texts(), *results()]


FORMATS = {
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".arrows": "arrow",
    ".npz": "npz",
    ".mtx": "mtx",
    ".sg": "sg",
    ".gr": "dimacs",
    ".graph": "metis",
    ".e": "ldbc",
    ".v": "ldbc",
    ".graphml": "xml",
    ".gexf": "xml",
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "text",
    ".el": "text",
}


def case(name: str, data: bytes | str) -> Case:
    """A case whose format is told by its name."""
    data = data.encode() if isinstance(data, str) else data
    suffix = Path(name.removesuffix(".gz")).suffix
    return Case("result" if name.startswith(("result", "strings")) else FORMATS[suffix], name, data)


def packed(name: str, data: bytes) -> Iterator[Case]:
    """A text as it is, and packed by gzip."""
    yield case(name, data)
    yield case(f"{name}.gz", gzip.compress(data, mtime=0))


def graphs() -> Iterator[tuple[Graph, tuple[str, ...]]]:
    """Small graphs, and the suffixes that can hold them."""
    plain = as_graph(([0, 1, 1, 3, 3], [1, 1, 2, 0, 0]), directed=True)
    everything = tuple(suffix for suffix in FORMATS if suffix not in (".graph", ".v"))
    yield plain, everything
    yield as_graph(([0, 2, 1], [2, 1, 1]), directed=False), everything
    isolated = (".parquet", ".arrow", ".arrows", ".npz", ".mtx", ".sg", ".txt", ".gr", ".graphml", ".gexf")
    yield as_graph(([0, 4], [4, 2]), vertices=7), isolated
    yield as_graph(([0, 4, 2], [4, 2, 5]), vertices=7, directed=False), (".graph",)
    labelled = (".parquet", ".arrow", ".arrows", ".npz", ".csv", ".tsv", ".txt", ".graphml", ".gexf")
    yield as_graph(([5, 10**9, 2**40], [10**9, 2**40, 5])), labelled
    yield as_graph([("a", "bc"), ("bc", "é1"), ("x-y", "a")]), labelled


def saved_graphs() -> Iterator[Case]:
    with tempfile.TemporaryDirectory() as folder:
        for graph, suffixes in graphs():
            for suffix in suffixes:
                path = Path(folder, f"graph{suffix}")
                graph.save(path, force=True)
                if suffix in (".mtx", ".csv", ".tsv", ".txt", ".el", ".gr", ".graph"):
                    yield from packed(path.name, path.read_bytes())
                else:
                    yield case(path.name, path.read_bytes())


def tables() -> Iterator[pa.Table]:
    """Tables as others write them: more columns, other types, several batches."""
    strings = pa.array(["b", "ccc", "a", "b"])
    more = {"weight": [0.5, None, 2.0, 1.0], "note": ["x", None, "", "é"]}
    yield pa.table({"src": [0, 1, 2, 2], "dst": [1, 2, 0, 2], **more})
    yield pa.table({"u": pa.array([3, 4, 5, 9], pa.uint8()), "v": pa.array([4.0, 5.0, 9.0, 3.0])})
    yield pa.table({"u": strings, "v": pa.array(["a", "b", "b", "zz"]), **more})
    yield pa.table({"u": strings.dictionary_encode(), "v": strings.cast(pa.large_string())})


def columnar() -> Iterator[Case]:
    for table in tables():
        for codec in ("none", "snappy", "gzip", "zstd"):
            for version in ("1.0", "2.0"):
                sink = io.BytesIO()
                pq.write_table(table, sink, compression=codec, data_page_version=version, row_group_size=3)
                yield case("table.parquet", sink.getvalue())
        for codec in (None, "lz4", "zstd"):
            for new, suffix in ((pa.ipc.new_file, ".arrow"), (pa.ipc.new_stream, ".arrows")):
                sink = io.BytesIO()
                with new(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression=codec)) as writer:
                    writer.write_table(table, max_chunksize=3)
                yield case(f"table{suffix}", sink.getvalue())


def archives() -> Iterator[Case]:
    """SciPy's matrices, and our arrays in other types, stored and compressed."""
    matrix = scipy.sparse.csr_array(np.array([[0, 1, 0], [1, 0, 2], [0, 0, 3]]))
    for kind in ("csr", "csc", "coo", "bsr", "dia"):
        for compressed in (False, True):
            sink = io.BytesIO()
            scipy.sparse.save_npz(sink, matrix.asformat(kind), compressed)
            yield case("matrix.npz", sink.getvalue())
    arrays: dict[str, Any] = {"offsets": np.array([0, 1, 3, 3]), "targets": np.array([1, 0, 2]), "directed": np.True_}
    for labels in (np.array([2, 5, 10**12]), np.array(["a", "b", "éé"])):
        sink = io.BytesIO()
        np.savez_compressed(sink, **arrays, columns=np.array(["u", "v"]), labels=labels)
        yield case("ours.npz", sink.getvalue())


def tarballs() -> Iterator[Case]:
    """As SuiteSparse and LDBC Graphalytics publish their graphs."""
    with tempfile.TemporaryDirectory() as folder:
        graph = as_graph(([0, 1, 3], [1, 3, 2]), directed=True)
        graph.save(Path(folder, "a.e"))
        graph.save(Path(folder, "a.mtx"))
        for suffix, mode, names in ((".tar.gz", "w:gz", ["a.mtx"]), (".tar", "w", ["a.e", "a.v", "a.properties"])):
            sink = io.BytesIO()
            with tarfile.open(fileobj=sink, mode=mode) as archive:
                for name in names:
                    archive.add(Path(folder, name), f"a/{name}", filter=undated)
            yield Case("tar", f"a{suffix}", sink.getvalue())


def undated(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.mtime = 0
    return member


def matrices() -> Iterator[Case]:
    values = {"pattern": "", "integer": " -7", "real": " 2.5e-3", "complex": " 1 -2"}
    for field, value in values.items():
        for symmetry in ("general", "symmetric", "skew-symmetric", "hermitian"):
            if (field, symmetry) == ("pattern", "skew-symmetric") or (symmetry == "hermitian" and field != "complex"):
                continue
            head = f"%%MatrixMarket matrix coordinate {field} {symmetry}\n% a comment\n"
            yield from packed("matrix.mtx", f"{head}4 4 3\n2 1{value}\n3 1{value}\n4 3{value}\n".encode())
            if field != "pattern":
                rows = {"general": 4, "skew-symmetric": 1}.get(symmetry, 3)
                head = f"%%MatrixMarket matrix array {field} {symmetry}\n2 2\n"
                yield case("dense.mtx", head + f"{value}\n" * rows)


def texts() -> Iterator[Case]:
    for name, text in (
        ("snap.txt", "# Directed graph: x.txt\n# Nodes: 3 Edges: 2\n# FromNodeId\tToNodeId\n0\t1\n1\t2\n30\t4\n"),
        ("konect.txt", "% sym unweighted\n% 3 3 3\n1 2 7 12345\n2 3 1 99\n3 1 2 0\n"),
        ("words.txt", '# langs\nC# Java 7\nNA C# 1\n\n# later\n"q C# 5\n'),
        ("floats.txt", "0.0 1.0\r\n1e0 2\r\n2 5.0\r\n"),
        ("weights.el", "0 1 3\n1 2 4\n5 1 1\n"),
        ("plain.csv", "source,target,weight\n0,1,0.5\n1,2,\n2,7,1e3\n"),
        ("words.csv", '\ufefffrom;to;note\n"a;b";c;x\nc;"d ""e""";\n"";NA;"two\nlines"\n'),
        ("crlf.tsv", "u\tv\r\na\tb\r\nb\tc\r\n"),
        ("floats.csv", "u|v\n1.0|2.0\n2|3\n"),
        ("road.gr", "c x\np sp 4 3\nc y\na 1 2 803\na 2 1 803\nc z\na 3 4 1.5\n"),
        ("weights.graph", "% x\n3 2 011 2\n5 5 2 9\n% y\n5 5 1 9 3 9\n5 5 2 9\n"),
    ):
        yield from packed(name, text.encode())
    yield case("graph.e", "0 1 0.5\n1 2 0.25\n5 7 1\n")
    yield case("graph.v", "".join(f"{id}\n" for id in VERTICES))


VERTICES = range(9)  # the ids in the other of the two files of LDBC's graphs


def results() -> Iterator[Case]:
    yield case("result-BFS", f"5 3\n0 0\n1 1\n2 {2**63 - 1}\n")
    yield case("result-WCC", "0 7\n1 7\n5 7\n2 7\n")
    for word, graph, source in (
        ("result", as_graph(([0, 1, 2], [1, 2, 5])), 0),
        ("strings", as_graph([("a", "b"), ("b", "c")]), "a"),
    ):
        table = bfs(graph, source).to_frame("arrow")
        with tempfile.TemporaryDirectory() as folder:
            for suffix in (".parquet", ".arrow", ".feather", ".csv", ".tsv"):
                path = Path(folder, f"{word}{suffix}")
                save_table(table, path)
                yield case(path.name, path.read_bytes())
