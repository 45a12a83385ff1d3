"""What is no graph is named in one message: the file, the place, and what to do."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from graph_files import (
    GENERAL,
    check_message,
    serialized,
    write,
)

from rapids_bfs import InputError, read

BAD = {
    "empty": ("a.txt", "", "a.txt is empty"),
    "unknown": ("a.xyz", "hello there\n", "no known format; there are .*.parquet"),
    "binary": ("a.bin", b"\0\1\2", "no known format"),
    "mtx truncated": ("a.mtx", GENERAL + "3 3 2\n1 2\n", "a.mtx ends after 1 of 2 entries"),
    "mtx without entries": ("a.mtx", GENERAL + "3 3 2\n", "a.mtx ends after 0 of 2 entries"),
    "mtx header only": ("a.mtx", GENERAL, "a.mtx ends where: the numbers of rows, columns, entries belong here"),
    "mtx mislabelled": ("a.mtx", "3 3 1\n1 2\n", "a.mtx has the suffix of Matrix Market, but its content is none"),
    "mtx row": ("a.mtx", GENERAL + "3 3 1\n4 2\n", "a.mtx, line 4: '4' is none of the rows and columns 1..3"),
    "mtx column": ("a.mtx", GENERAL + "3 3 1\n1 0\n", "a.mtx, line 4: '0' is none of the rows and columns 1..3"),
    "mtx text": ("a.mtx", GENERAL + "3 3 1\n1 x\n", "a.mtx, line 4: 'x' is none of the rows and columns 1..3"),
    "mtx not square": ("a.mtx", GENERAL + "3 4 1\n1 2\n", "must be square, not 3 x 4"),
    "mtx huge": ("a.mtx", GENERAL + f"3 3 {10**15}\n1 2\n", "a.mtx: a matrix of .* needs .* bytes of memory"),
    "mtx huge n": ("a.mtx", GENERAL + f"{10**15} {10**15} 1\n1 2\n", "a.mtx.*"),
    "txt text": ("a.txt", "# c\n0 1\n\n1 x\n", "a.txt, line 4: 'x' is no number"),
    "txt one id": ("a.txt", "# c\n0 1\n1\n", "a.txt, line 3: an edge has two ids, not '1'"),
    "txt one id first": ("a.edges", "1\n", "a.edges, line 1: an edge has two ids"),
    "txt one name": ("a.txt", "a b\nc\n", "a.txt, line 2: an edge has two ids, not 'c'"),
    "txt negative": ("a.txt", "0 1\n1 -1\n", "a.txt, line 2: -1 is negative"),
    "txt fractional": ("a.txt", "0 1\n1 0.5\n", "a.txt, line 2: 0.5 is fractional"),
    "txt fractional first": ("a.txt", "0 1.5\n1 0\n", "a.txt, line 1: 1.5 is fractional"),
    "txt huge": ("a.txt", f"0 1\n{2**64} 2\n", f"a.txt, line 2: {2**64} is beyond int64"),
    "txt bipartite": ("a.txt", "% bip unweighted\n1 1\n", "a.txt is bipartite"),
    "txt in latin-1": ("a.txt", "a b\nc ü\n".encode("latin-1"), "a.txt cannot be read"),
    "el text": ("a.el", "a b\n", "a.el, line 1: 'a' is no number"),
    "el huge": ("a.el", f"0 {2**60}\n", "a.el: a graph of .* vertices needs .* bytes"),
    "csv text": ("a.csv", "u,w,v\n0,z,1\n1,z,x\n", r"a.csv, column 'v', row 1 \(from 0\): 'x' is no integer"),
    "csv null": ("a.csv", "u,v\n0,1\n1,\n", r"a.csv, column 'v', row 1 \(from 0\): null"),
    "csv null name": ("a.csv", "u,v\na,b\n,a\n", r"a.csv, column 'u', row 1 \(from 0\): null"),
    "csv negative": ("a.csv", "u,v\n0,1\n1,-4\n", r"a.csv, column 'v', row 1 \(from 0\): -4 is negative"),
    "csv fractional": ("a.csv", "u,v\n0.0,1.0\n1,1.5\n", r"a.csv, column 'v', row 1 \(from 0\): 1.5 is fractional"),
    "csv ragged": ("a.csv", "u,v\n0,1\n1\n", r"a.csv, row 1 \(from 0\): Expected 2 columns, got 1"),
    "csv without header": ("a.csv", "0,1\n1,2\n", "a.csv has no header row"),
    "csv of spaces": ("a.csv", "u v\n1 2\n", "a.csv: its first line has no comma, tab"),
    "csv columns": ("a.csv", "a,b,c\n1,2,3\n", "a.csv: say which columns .* its columns are 'a', 'b', 'c'"),
    "csv twice": ("a.csv", "a,a\n1,2\n", "a.csv: say which columns"),
    "parquet corrupted": ("a.parquet", b"PAR1" + b"x" * 50 + b"PAR1", "a.parquet cannot be read as Parquet"),
    "parquet head only": ("a.parquet", b"PAR1", "a.parquet cannot be read as Parquet"),
    "parquet of text": ("a.parquet", "hello", "a.parquet has the suffix of Parquet, but its content is none"),
    "arrow corrupted": ("a.arrow", b"ARROW1\0\0" + b"x" * 50, "a.arrow cannot be read as Arrow"),
    "arrow stream": ("a.arrows", b"\xff\xff\xff\xff" + b"x" * 50, "a.arrows cannot be read as an Arrow stream"),
    "npz corrupted": ("a.npz", b"PK\x03\x04" + b"x" * 50, "a.npz cannot be read as NumPy"),
    "sg header": ("a.sg", b"\0\1\2", "a.sg is cut short: it has 3 bytes, the header alone has 17"),
    "sg truncated": ("a.sg", serialized(([0, 1, 2], [1, 0]))[:-1], "a.sg has 48 bytes, .* 2 edges need 49"),
    "sg target": ("a.sg", serialized(([0, 1, 2], [1, 5])), "a.sg: target 5 of edge 1 is none of"),
    "sg nonsense": ("a.sg", b"\7" * 40, "a.sg is none of GAP's"),
    "gzip truncated": (
        "a.txt.gz",
        gzip.compress(b"0 1\n" * 10**6)[:-20],
        "a.txt.gz .*end-of-stream",
    ),
    "gzip corrupted": ("a.mtx.gz", b"\x1f\x8b" + b"x" * 50, "a.mtx.gz cannot be read"),
    "gzip of nothing": ("a.txt.gz", gzip.compress(b""), "a.txt.gz is empty"),
    "gzip of parquet": ("a.parquet.gz", gzip.compress(b"PAR1"), "Parquet packed by gzip: unpack it first"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_files(tmp_path: Path, case: str) -> None:
    name, content, message = BAD[case]
    with pytest.raises(InputError, match=message) as error:
        read(write(tmp_path / name, content))
    assert name in str(error.value)
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
