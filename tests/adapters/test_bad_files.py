"""What is no graph is named in one message: the file, the place, and what to do."""

from __future__ import annotations

import bz2
import contextlib
import errno
import gzip
import io
import json
import lzma
import os
import pickle
import re
import struct
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any
from unittest import mock

import networkx as nx
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.io
from graph_files import GENERAL, MTX, check_message, check_refusal, read_apart, serialized, write

from rapids_bfs import InputError, as_graph, cli, read
from rapids_bfs.adapters import _file

POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"
BAD = {
    "empty": ("a.txt", "", "a.txt is empty"),
    "unknown": ("a.xyz", "hello there\n", "unknown format; these suffixes are known: .*.parquet"),
    "binary": ("a.bin", b"\0\1\2", "unknown format"),
    "mtx truncated": ("a.mtx", GENERAL + "3 3 2\n1 2\n", "a.mtx ends after 1 of 2 entries"),
    "mtx without entries": ("a.mtx", GENERAL + "3 3 2\n", "a.mtx ends after 0 of 2 entries"),
    "mtx header only": ("a.mtx", GENERAL, "a.mtx ends where: the numbers of rows, columns, entries belong here"),
    "mtx mislabelled": ("a.mtx", "3 3 1\n1 2\n", "a.mtx has the suffix of Matrix Market, but not its content"),
    "mtx row": ("a.mtx", GENERAL + "3 3 1\n4 2\n", "a.mtx, line 4: '4' is not one of the rows and columns 1..3"),
    "mtx column": ("a.mtx", GENERAL + "3 3 1\n1 0\n", "a.mtx, line 4: '0' is not one of the rows and columns 1..3"),
    "mtx text": ("a.mtx", GENERAL + "3 3 1\n1 x\n", "a.mtx, line 4: 'x' is not one of the rows and columns 1..3"),
    "mtx not square": ("a.mtx", GENERAL + "3 4 1\n1 2\n", "must be square, not 3 x 4"),
    "mtx huge": ("a.mtx", GENERAL + f"3 3 {10**15}\n1 2\n", "a.mtx: a matrix of .* needs .* PiB of memory"),
    "mtx huge n": ("a.mtx", GENERAL + f"{10**15} {10**15} 1\n1 2\n", "a.mtx.*"),
    "txt text": ("a.txt", "# c\n0 1\n\n1 x\n", "a.txt, line 4: 'x' is not a number"),
    "txt one id": ("a.txt", "# c\n0 1\n1\n", "a.txt, line 3: expected two ids, got '1'"),
    "txt one id first": ("a.edges", "1\n", "a.edges, line 1: expected two ids"),
    "txt one name": ("a.txt", "a b\nc\n", "a.txt, line 2: expected two ids, got 'c'"),
    "txt negative": ("a.txt", "0 1\n1 -1\n", "a.txt, line 2: -1 is negative"),
    "txt fractional": ("a.txt", "0 1\n1 0.5\n", "a.txt, line 2: 0.5 is fractional"),
    "txt fractional first": ("a.txt", "0 1.5\n1 0\n", "a.txt, line 1: 1.5 is fractional"),
    "txt huge": ("a.txt", f"0 1\n{2**64} 2\n", f"a.txt, line 2: {2**64} is beyond int64"),
    "txt bipartite": ("a.txt", "% bip unweighted\n1 1\n", "a.txt is bipartite"),
    "txt in latin-1": ("a.txt", "a b\nc ü\n".encode("latin-1"), "a.txt cannot be read"),
    "el text": ("a.el", "a b\n", "a.el, line 1: 'a' is not a number"),
    "el huge": ("a.el", f"0 {2**60}\n", "a.el: a graph of .* vertices needs .* EiB"),
    "csv text": ("a.csv", "u,w,v\n0,z,1\n1,z,x\n", r"a.csv, column 'v', row 1 \(from 0\): 'x' is not an integer"),
    "csv huge": ("a.csv", f"u,v\n0,{2**64}\n", rf"a.csv, column 'v', row 0 \(from 0\): '{2**64}' is beyond int64"),
    "csv null": ("a.csv", "u,v\n0,1\n1,\n", r"a.csv, column 'v', row 1 \(from 0\): null"),
    "csv null name": ("a.csv", "u,v\na,b\n,a\n", r"a.csv, column 'u', row 1 \(from 0\): null"),
    "csv negative": ("a.csv", "u,v\n0,1\n1,-4\n", r"a.csv, column 'v', row 1 \(from 0\): -4 is negative"),
    "csv fractional": ("a.csv", "u,v\n0.0,1.0\n1,1.5\n", r"a.csv, column 'v', row 1 \(from 0\): 1.5 is fractional"),
    "csv ragged": ("a.csv", "u,v\n0,1\n1\n", r"a.csv, row 1 \(from 0\): Expected 2 columns, got 1"),
    "csv without header": ("a.csv", "0,1\n1,2\n", "a.csv has no header row"),
    "csv of spaces": ("a.csv", "u v\n1 2\n", "a.csv: its first line, 'u v', has no comma, tab"),
    "csv of blank lines": ("a.csv", " \n\t\n\n", "a.csv is empty"),
    "csv columns": ("a.csv", "a,b,c\n1,2,3\n", "a.csv: say which columns .* its columns are 'a', 'b', 'c'"),
    "csv twice": ("a.csv", "a,a\n1,2\n", "a.csv: say which columns"),
    "parquet corrupted": ("a.parquet", b"PAR1" + b"x" * 50 + b"PAR1", "a.parquet cannot be read as Parquet"),
    "parquet head only": ("a.parquet", b"PAR1", "a.parquet cannot be read as Parquet"),
    "parquet of text": ("a.parquet", "hello", "a.parquet has the suffix of Parquet, but not its content"),
    "arrow corrupted": ("a.arrow", b"ARROW1\0\0" + b"x" * 50, "a.arrow cannot be read as Arrow"),
    "arrow stream": ("a.arrows", b"\xff\xff\xff\xff" + b"x" * 50, "a.arrows cannot be read as an Arrow stream"),
    "npz corrupted": ("a.npz", b"PK\x03\x04" + b"x" * 50, "a.npz cannot be read as NumPy"),
    "sg header": ("a.sg", b"\0\1\2", "a.sg is cut short: it has 3 bytes, and the header takes 17"),
    "sg truncated": ("a.sg", serialized(([0, 1, 2], [1, 0]))[:-1], "a.sg has 48 bytes, .* 2 edges need 49"),
    "sg target": ("a.sg", serialized(([0, 1, 2], [1, 5])), "a.sg: target 5 of edge 1 is not one of the vertices"),
    "sg nonsense": ("a.sg", b"\7" * 40, "a.sg is not one of GAP's"),
    "gzip truncated": (
        "a.txt.gz",
        gzip.compress(b"0 1\n" * 10**6)[:-20],
        "a.txt.gz cannot be read as an edge list: Compressed file ended before the end",
    ),
    "bz2 truncated": ("a.csv.bz2", bz2.compress(b"u,v\n0,1\n")[:-9], "a.csv.bz2 cannot be read .*Truncated compressed"),
    "zstd corrupted": ("a.el.zst", b"\x28\xb5\x2f\xfd" + b"x" * 50, "a.el.zst cannot be read"),
    "zstd of parquet": ("a.pq.zst", pa.compress(b"PAR1", "zstd", asbytes=True), "compressed with zstd: decompress it"),
    "gzip corrupted": ("a.mtx.gz", b"\x1f\x8b" + b"x" * 50, "a.mtx.gz cannot be read"),
    "gzip of nothing": ("a.txt.gz", gzip.compress(b""), "a.txt.gz is empty"),
    "pointer": ("a.txt", POINTER, "is a pointer to a file of Git LFS: fetch that by git lfs pull"),
    "pointer instead of parquet": ("a.parquet", POINTER, "is a pointer to a file of Git LFS"),
    "gzip of parquet": ("a.parquet.gz", gzip.compress(b"PAR1"), "Parquet compressed with gzip: decompress it first"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_files(tmp_path: Path, case: str) -> None:
    name, content, message = BAD[case]
    check_refusal(tmp_path / name, content, message)


ELSEWHERE = {
    "nx.read_gml": (".gml", lambda path: nx.write_gml(nx.path_graph(3), path)),
    "nx.read_pajek": (".net", lambda path: nx.write_pajek(nx.path_graph(3), path)),
    "nx.read_adjlist": (".adjlist", lambda path: nx.write_adjlist(nx.cycle_graph(3, nx.DiGraph), path)),
    "igraph.Graph.Read_Ncol(path, directed=False)": (".ncol", lambda path: write(path, "a b\n")),
    "igraph.Graph.Read_Lgl(path, directed=False)": (".lgl", lambda path: write(path, "# a\nb\n")),
    "the two numbers of each line": (".col", lambda path: write(path, "c x\np edge 2 1\ne 1 2\n")),
    "GAP's converter": (".wsg", lambda path: write(path, b"\0" * 40)),
    "nx.node_link_graph": (".json", lambda path: write(path, json.dumps(nx.node_link_data(nx.path_graph(3))))),
    "nx.nx_pydot.read_dot": (".dot", lambda path: write(path, "digraph g {\n 0 -> 1;\n}\n")),
    "nx.read_graph6": (".g6", lambda path: nx.write_graph6(nx.path_graph(3), path)),
    "nx.read_sparse6": (".s6", lambda path: nx.write_sparse6(nx.path_graph(3), path)),
    "numpy.load": (".npy", lambda path: np.save(path, np.array([[0, 1]]))),
    "scipy.io.loadmat": (".mat", lambda path: scipy.io.savemat(path, {"A": np.eye(2)})),
    "pandas.read_hdf": (".h5", lambda path: write(path, b"\x89HDF\r\n\x1a\n" + bytes(99))),
    "pandas.read_excel": (".xls", lambda path: write(path, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(99))),
    "the file that it links to": (".html", lambda path: write(path, "<!DOCTYPE html>\n<p>0, 1</p>\n")),
    "unpickle it": (".pkl", lambda path: write(path, pickle.dumps(nx.path_graph(3)))),
    "decompress it first": (".txt.xz", lambda path: write(path, lzma.compress(b"0 1\n"))),
}


@pytest.mark.parametrize("reader", ELSEWHERE)
def test_what_others_read_is_named(tmp_path: Path, reader: str) -> None:
    """By the suffix or, under any other, by the content."""
    suffix, save = ELSEWHERE[reader]
    save(tmp_path / f"a{suffix}")
    by_content = () if suffix in (".ncol", ".lgl", ".wsg") else ("b.txt", "b", "b.csv")
    for name in (f"a{suffix}", *by_content[: 1 if suffix == ".adjlist" else None]):
        (tmp_path / name).write_bytes((tmp_path / f"a{suffix}").read_bytes())
        with pytest.raises(InputError, match=rf"{name} is .*: .*{re.escape(reader)}") as error:
            read(tmp_path / name)
        check_message(error)


def test_a_workbook_is_named(tmp_path: Path) -> None:
    for name in ("a.xlsx", "a.csv"):
        with zipfile.ZipFile(tmp_path / name, "w") as file:
            file.writestr("xl/workbook.xml", "<workbook/>")
        with pytest.raises(
            InputError, match=rf"{name} is a workbook of Excel: read it with pandas\.read_excel and pass"
        ):
            read(tmp_path / name)


@pytest.mark.parametrize("load", [read, as_graph, lambda path: as_graph("karate").save(path)])
@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("a\0.txt", "is not a path"),
        ("\ud800.txt", "is not a path"),
        ("https://snap.stanford.edu/data/a.txt?x=1", "is a URL, .*: download it first"),
        (Path("s3://bucket/a.parquet"), "is a URL"),
    ],
)
def test_what_is_no_path(load: Any, path: Any, message: str) -> None:
    with pytest.raises(InputError, match=message) as error:
        load(path)
    check_message(error)


def test_bad_archives(tmp_path: Path) -> None:
    good = {"offsets": np.array([0, 1]), "targets": np.array([0]), "directed": np.array(True)}
    for arrays, message in (
        ({"x": np.arange(3)}, "lacks directed, offsets, targets"),
        (good | {"targets": np.array([5])}, "target 5 of edge 0"),
        (good | {"labels": np.array(["a", "b"])}, "labels must be an integer or a string for each of 1"),
        (good | {"labels": np.array([(1, 2)], object)}, "cannot be read as NumPy"),
    ):
        np.savez(tmp_path / "a.npz", **arrays)
        with pytest.raises(InputError, match=message) as error:
            read(tmp_path / "a.npz")
        assert "a.npz" in str(error.value)
        check_message(error)


def test_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nowhere\.mtx does not exist"):
        read(tmp_path / "nowhere.mtx")
    with pytest.raises(InputError, match="is a directory, not a file"):
        read(tmp_path)


@pytest.mark.parametrize(
    "given", ["rmat:" + "9" * 300, "path:" + "9" * 5000, "grid:-" + "9" * 18, "rmat:5:" + "9" * 18]
)
def test_sizes_of_generators(given: str) -> None:
    with pytest.raises(InputError, match=r"at most 18 digits|at least 1|iB of memory") as error:
        as_graph(given)
    check_message(error)


@pytest.mark.parametrize(
    "spec",
    [
        "rmat:",
        "rmat:+5",
        "rmat:5_0",
        "rmat:\uff15",
        "rmat:5:",
        "rmat::",
        "path:1e3",
        "grid:0x5",
        "grid:5:5",
        "tree:0",
        ":5",
    ],
)
def test_no_generator(spec: str) -> None:
    with pytest.raises(InputError) as error:
        as_graph(spec)
    check_message(error)


def npy(array: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def npy_header(header: str) -> bytes:
    return b"\x93NUMPY\1\0" + struct.pack("<H", 118) + header.ljust(117).encode() + b"\n" + bytes(16)


GOOD = {"offsets": np.array([0, 1, 2]), "targets": np.array([1, 0]), "directed": np.array(True)}
CLAIM = "{{'descr': '<i8', 'fortran_order': False, 'shape': {}, }}"

MEMBERS = {
    "repeated labels": ({"labels": np.array(["a", "a"])}, "two vertices have the label 'a'"),
    "repeated integers": ({"labels": np.array([3, 3])}, "integer labels must be in ascending order"),
    "float labels": ({"labels": np.array([0.5, 1])}, "labels must be an integer or a string for each of 2"),
    "labels as bytes": ({"labels": np.array([b"a", b"b"])}, "labels must be an integer or a string"),
    "labels in a table": ({"labels": np.array([["a", "b"]])}, "labels must be an integer or a string"),
    "directed 0": ({"directed": np.array(0)}, "directed must be true or false"),
    "directed twice": ({"directed": np.array([True, False])}, "directed must be true or false"),
    "directed by word": ({"directed": np.array("no")}, "directed must be true or false"),
    "one column": ({"columns": np.array(["u"])}, "columns must be two strings"),
    "columns by number": ({"columns": np.array([1, 2])}, "columns must be two strings"),
    "float offsets": ({"offsets": np.array([0.0, 1, 2])}, "offsets must be a one-dimensional array of integers"),
    "offsets that fall": ({"offsets": np.array([0, 2, 1, 2], np.uint8)}, "offsets fall after vertex 1"),
    "objects": ({"targets": np.array([1, 0], object)}, "allow_pickle=False"),
    "a member of SciPy": ({"format": np.array("csr")}, "cannot be read as NumPy"),
    "huge": ({"targets": npy_header(CLAIM.format(f"({10**12},)"))}, "cannot be read as NumPy"),
    "negative": ({"targets": npy_header(CLAIM.format("(-1,)"))}, "cannot be read as NumPy"),
    "no header": ({"targets": npy_header("((((")}, "cannot be read as NumPy"),
    "no array": ({"targets": b"hello"}, "targets must be a one-dimensional array of integers"),
    "a matrix without end": (
        {"format": np.array("dia"), "shape": np.array([10**15] * 2), "data": np.ones((1, 1)), "offsets": np.array([0])},
        "iB of memory",
    ),
}


def archive(members: dict[str, Any], compression: int = zipfile.ZIP_STORED) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", compression) as file:
        for name, content in (GOOD | members).items():
            file.writestr(f"{name}.npy", content if isinstance(content, bytes) else npy(content))
    return stream.getvalue()


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("case", MEMBERS)
def test_members_of_an_archive(tmp_path: Path, case: str) -> None:
    members, message = MEMBERS[case]
    with pytest.raises(InputError, match=f"a.npz.*{message}") as error:
        read(write(tmp_path / "a.npz", archive(members)))
    check_message(error)


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_damaged_archives(tmp_path: Path, compression: int) -> None:
    whole = archive({}, compression)
    assert read(write(tmp_path / "a.npz", whole)).num_arcs == 2
    encrypted = whole.replace(b"PK\3\4\x14\0\0", b"PK\3\4\x14\0\1").replace(b"\x14\3\x14\0\0", b"\x14\3\x14\0\1")
    for damaged in (
        encrypted,
        *(whole[:at] + bytes([whole[at] ^ 255]) + whole[at + 1 :] for at in range(4, len(whole))),
    ):
        path = write(tmp_path / "a.npz", damaged)
        with contextlib.suppress(InputError):
            assert read(path).targets.tolist() == [1, 0]


@pytest.mark.parametrize("name", ["a.csv", "*.parquet"])
def test_a_file_that_must_not_be_read(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its number and its name stood there as Python shows them; root reads any file."""
    for suffix in (".csv", ".parquet"):
        write(tmp_path / f"a{suffix}", "u,v\n")

    def denied(file: _file.File) -> Any:
        raise PermissionError(errno.EACCES, "Permission denied", str(file.path))

    monkeypatch.setattr(_file.File, "open", denied)
    monkeypatch.setattr(_file.File, "open_for_arrow", denied)
    with pytest.raises(InputError, match=rf"a{Path(name).suffix} cannot be read as [a-zA-Z ]+: Permission denied$"):
        read(tmp_path / name)


def test_what_is_no_regular_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    (tmp_path / "dangling.csv").symlink_to("gone")
    (tmp_path / "loop.csv").symlink_to("loop.csv")
    paths = {
        tmp_path / "pipe.csv": "pipe.csv is a pipe or a device: save what it gives to a file first",
        Path("/dev/zero"): "/dev/zero is a pipe or a device",
        Path("/proc/kmsg"): "/proc/kmsg is empty",
        tmp_path / "dangling.csv": "dangling.csv does not exist",
        tmp_path / "loop.csv": "loop.csv cannot be opened: Too many levels of symbolic links",
        tmp_path / ("x" * 300 + ".csv"): "x.* cannot be opened: File name too long",
    }
    told, _ = read_apart(*paths)
    for line, message in zip(told, paths.values(), strict=True):
        assert re.search(f"^InputError: .*{message}", line)


def test_names_that_are_no_word(tmp_path: Path) -> None:
    for name in ("[bold] a.csv", "a\nb.csv", "a\tb.csv", "\x1b[31m.csv", "a\udcff.csv"):
        path = tmp_path / name
        path.write_text("u,v\n0,x\n1,1\n2\n")
        with pytest.raises(InputError, match="Expected 2 columns") as error:
            read(path)
        assert str(error.value).isprintable()
        path.write_text("u,v\n0,1\n")
        assert read(path).num_arcs == 1


def test_a_file_that_shrinks(tmp_path: Path) -> None:
    """Each read sees less of it than the one before, as if another process were at work."""
    graph = as_graph((np.arange(5000), np.arange(5000)[::-1]))
    for suffix in (".csv", ".txt", ".parquet", ".arrow", ".arrows", ".sg", ".npz", ".mtx"):
        path = tmp_path / f"a{suffix}"
        graph.save(path, force=True)
        whole = path.read_bytes()
        for keep in (0, 10, len(whole) // 2, len(whole) - 1):
            path.write_bytes(whole)
            opened = _file.File.open

            def shrunk(file: _file.File, keep: int = keep, opened: Any = opened) -> Any:
                stream = opened(file)
                os.truncate(file.path, keep)
                return stream

            with mock.patch.object(_file.File, "open", shrunk), contextlib.suppress(InputError):
                assert read(path).num_vertices <= 5000


@pytest.mark.parametrize("name", ["long.csv", "notes.parquet", "encrypted.npz", "junk.mtx", "rmat:" + "9" * 300])
def test_the_command_ends_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "long.csv", "u,v\n" + "a" * 200_000 + ",2\n")
    pq.write_table(pa.table({"u": [0], "v": [1]}, metadata={"rapids_bfs": "[]"}), tmp_path / "notes.parquet")
    write(tmp_path / "encrypted.npz", archive({}).replace(b"PK\1\2\x14\3\x14\0\0", b"PK\1\2\x14\3\x14\0\1"))
    write(tmp_path / "junk.mtx", GENERAL + "3 3 1\n1 2junk\n")
    monkeypatch.setattr("sys.argv", ["rapids-bfs", "convert", name, "out.npz"])
    with pytest.raises(SystemExit) as end:
        cli.main()
    assert end.value.code == 2
    captured = capsys.readouterr()
    assert captured.err.startswith("error: ")
    assert captured.err.count("\n") == 1
    assert not (tmp_path / "out.npz").exists()


SHRINKS = """
import os, sys
import pyarrow as pa
from rapids_bfs import InputError, read

path = sys.argv[1]
opened = pa.ipc.open_file


def shrunk(*given, **options):
    reader = opened(*given, **options)
    os.truncate(path, 4096)
    return reader


pa.ipc.open_file = shrunk
try:
    read(path)
except InputError:
    print("refused")
"""


def test_an_arrow_file_that_shrinks_once_it_is_open(tmp_path: Path) -> None:
    """In memory that is mapped to it, the process would end."""
    path = tmp_path / "a.arrow"
    as_graph((np.arange(50_000), np.arange(50_000)[::-1])).save(path)
    done = subprocess.run([sys.executable, "-c", SHRINKS, path], capture_output=True, text=True, timeout=600)
    assert (done.returncode, done.stdout) == (0, "refused\n"), done.stderr[-2000:]


@pytest.mark.parametrize(
    ("name", "before"),
    [
        ("a.gr", "p sp 2 1\na 1 2 "),
        ("a.mtx", MTX.format("real", "general") + "2 2 1\n1 2 "),
    ],
)
def test_what_is_almost_a_number_takes_linear_time(tmp_path: Path, name: str, before: str) -> None:
    """For a line as long as it may be, the square of its length would be hours."""
    with pytest.raises(InputError, match=name) as error:
        read(write(tmp_path / name, f"{before}{'1' * 500_000}x\n"))
    check_message(error)
