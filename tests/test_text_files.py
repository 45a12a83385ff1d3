"""Edge lists, CSV and TSV: what counts as an id, and how much text is read."""

from __future__ import annotations

import gzip
from collections import Counter
from pathlib import Path

import pytest
from graph_files import (
    GENERAL,
    MTX,
    arcs,
    ids,
    write,
)

from rapids_bfs import InputError, read

VARIANTS = {
    "pattern general": ("a.mtx", GENERAL + "3 3 2\n1 2\n2 3\n", 3, [(0, 1), (1, 2)], True),
    "symmetric": (
        "a.mtx",
        MTX.format("pattern", "symmetric") + "3 3 2\n2 1\n3 3\n",
        3,
        [(0, 1), (1, 0), (2, 2)],
        False,
    ),
    "integer, stored zero": ("a.mtx", MTX.format("integer", "general") + "2 2 1\n1 2 0\n", 2, [(0, 1)], True),
    "real symmetric": ("a.mtx", MTX.format("real", "symmetric") + "2 2 1\n2 1 -0.5\n", 2, [(0, 1), (1, 0)], False),
    "skew": ("a.mtx", MTX.format("real", "skew-symmetric") + "2 2 1\n2 1 1\n", 2, [(0, 1), (1, 0)], False),
    "hermitian": ("a.mtx", MTX.format("complex", "hermitian") + "2 2 1\n2 1 1 2\n", 2, [(0, 1), (1, 0)], False),
    "symmetric in fact": ("a.mtx", GENERAL + "2 2 2\n2 1\n1 2\n", 2, [(0, 1), (1, 0)], False),
    "duplicates": ("a.mtx", GENERAL + "2 2 2\n1 2\n1 2\n", 2, [(0, 1), (0, 1)], True),
    "mtx CRLF": (
        "a.mtx",
        (GENERAL + "\n3 3 1\n1 2\n\n\n").replace("\n", "\r\n"),
        3,
        [(0, 1)],
        True,
    ),
    "array": ("a.mtx", "%%MatrixMarket matrix array real general\n2 2\n0\n0\n2.5\n0\n", 2, [(0, 1)], True),
    "snap": (
        "a.txt",
        "# Directed graph: a.txt\n# Nodes: 3 Edges: 2\n# FromNodeId\tToNodeId\n0\t1\n1\t2\n",
        3,
        [(0, 1), (1, 2)],
        True,
    ),
    "snap undirected": ("a.txt", "# Undirected graph: a.txt\n0 1\n", 2, [(0, 1), (1, 0)], False),
    "snap both": ("a.txt", "# Undirected graph (each pair twice)\n0 1\n1 0\n", 2, [(0, 1), (1, 0)], False),
    "konect": ("out.ucidata", "% sym unweighted\n% 1 2 2\n0 1 7 12345\n", 2, [(0, 1), (1, 0)], False),
    "extra columns": ("a.txt", "0 1 0.5 x\n1 2\n2 0 1\n", 3, [(0, 1), (1, 2), (2, 0)], True),
    "CRLF and blanks": ("a.edges", "# c\r\n0 1\r\n\r\n1 2\r\n\r\n\r\n", 3, [(0, 1), (1, 2)], True),
    "old Mac": ("a.edges", "# c\r0 1\r1 2\r", 3, [(0, 1), (1, 2)], True),
    "both signs": ("a.snap", "% a\n# b\n\n0 1\n% c\n1 2 % d\n", 3, [(0, 1), (1, 2)], True),
    "aligned": ("a.edgelist", "  0    1\n\t1 \t 2  \n", 3, [(0, 1), (1, 2)], True),
    "no last newline": ("a.txt", "0 1\n1 2", 3, [(0, 1), (1, 2)], True),
    "ours": ("a.txt", "# rapids_bfs directed=false vertices=4\n0\t1\n", 4, [(0, 1), (1, 0)], False),
    "floats": ("a.txt", "0.0 1.0\n1e0 2\n", 3, [(0, 1), (1, 2)], True),
    "comments only": ("a.txt", "# nothing\n", 0, [], False),
    "BOM": ("a.txt", "\ufeff0 1\n", 2, [(0, 1)], True),
    "el": ("a.el", "0 1\n5 1\n", 6, [(0, 1), (5, 1)], True),
    "wel": ("a.wel", "0 1 7\n5 1 3\n", 6, [(0, 1), (5, 1)], True),
    "csv": ("a.csv", "source,target\n0,1\n1,2\n", 3, [(0, 1), (1, 2)], True),
    "csv in other order": ("a.csv", "weight;dst;note;src\n0.5;1;x;0\n0.1;2;;1\n", 3, [(0, 1), (1, 2)], True),
    "csv with two columns": ("a.csv", "a|b\r\n0|1\r\n\r\n", 2, [(0, 1)], True),
    "csv quoted": ("a.csv", '\ufeff"From","To","a\nb"\n"0","1","x\ny"\n1,0,z\n', 2, [(0, 1), (1, 0)], False),
    "csv without rows": ("a.csv", "u,v\n", 0, [], False),
    "tsv": ("a.tsv", "Source\tTarget\n0\t1\n", 2, [(0, 1)], True),
}


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("packed", [False, True])
def test_variants(tmp_path: Path, variant: str, packed: bool) -> None:
    name, content, n, edges, directed = VARIANTS[variant]
    data = content.encode()
    path = write(tmp_path / (f"{name}.gz" if packed else name), gzip.compress(data) if packed else data)
    graph = read(path)
    assert graph.num_vertices == n
    assert graph.labels is None
    assert arcs(graph) == Counter(edges)
    assert graph.directed == directed
    assert graph.name == name.rpartition(".")[0]


def test_string_ids(tmp_path: Path) -> None:
    text = read(write(tmp_path / "a.txt", '% langs\n# x\nC# Java#1 7\nNA C#\n# later\n"q C# 5\n'))
    assert ids(text) == ["C#", "Java#1", "NA", '"q']
    assert arcs(text) == Counter([("C#", "Java#1"), ("NA", "C#"), ('"q', "C#")])
    assert ids(read(write(tmp_path / "b.txt", "a,\tb,c\n"))) == ["a,", "b,c"]
    table = read(write(tmp_path / "a.csv", 'u,v,w\n"a, b",NA,1\n"",nan,2\n7,NA,3\n'))
    assert arcs(table) == Counter([("a, b", "NA"), ("", "nan"), ("7", "NA")])


def test_bad_line_far_down(tmp_path: Path) -> None:
    rows = "0 1\n" * 1_060_000
    for name, header, content in (("a.txt", "", rows), ("a.csv", "u,v\n", rows.replace(" ", ","))):
        path = write(tmp_path / name, header + content + "7 x".replace(" ", content[1]) + "\n")
        with pytest.raises(InputError, match=r"line 1060001: 'x'|row 1060000 \(from 0\): 'x'"):
            read(path)
