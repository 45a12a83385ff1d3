"""Edge lists, CSV and TSV: what counts as an id, and how much text is read."""

from __future__ import annotations

import bz2
import gzip
import io
import re
import tempfile
from collections import Counter
from contextlib import nullcontext
from decimal import Decimal
from pathlib import Path
from unittest import mock

import networkx as nx
import pyarrow as pa
import pytest
from graph_files import GENERAL, MTX, arcs, ids, read_apart, write
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from rapids_bfs import InputError, read
from rapids_bfs.adapters import _bounded
from rapids_bfs.adapters._bounded import LONGEST_LINE, LONGEST_PADDING

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
    "extra columns": ("a.txt", "0 1 0.5 x\n1 2 2 {}\n2 0 1.5 {'a':1}\n", 3, [(0, 1), (1, 2), (2, 0)], True),
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
    "csv of a header alone": ("a.csv", "source,target", 0, [], False),
    "tsv": ("a.tsv", "Source\tTarget\n0\t1\n", 2, [(0, 1)], True),
}


PACK = {
    "": bytes,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".zst": lambda data: pa.compress(data, "zstd", asbytes=True),
}


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("suffix", PACK)
def test_variants(tmp_path: Path, variant: str, suffix: str) -> None:
    name, content, n, edges, directed = VARIANTS[variant]
    data = content.encode()
    path = write(tmp_path / f"{name}{suffix}", PACK[suffix](data))
    graph = read(path)
    assert graph.num_vertices == n
    assert graph.labels is None
    assert arcs(graph) == Counter(edges)
    assert graph.directed == directed
    assert graph.name == name.rpartition(".")[0]


@pytest.mark.parametrize("name", ["a.txt", "a", "a.el"])
@pytest.mark.parametrize(
    "text",
    [
        "0 1 2\n1 2\n",
        "0 1\n1 2 0\n",
        "0 1\n" * 5000 + "1 2 0\n",
        "0 1 2\n" * 5000 + "1 2\n",
        "0" + " 1" * 100 + "\n1 2\n",
        "0 1 2\n1\n",
        "a b c\nb a\n# x y z\n",
    ],
    ids=range(7),
)
def test_an_adjacency_list_is_no_edge_list(tmp_path: Path, name: str, text: str) -> None:
    if text[0] == "0" or name == "a.txt":
        with pytest.raises(InputError, match=r"an adjacency list: read it with nx\.read_adjlist"):
            read(write(tmp_path / name, text))


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1), st.booleans(), st.sampled_from("#%"))
def test_what_networkx_writes_is_read_or_refused(pairs: list[tuple[int, int]], strings: bool, sign: str) -> None:
    graph: nx.DiGraph = nx.DiGraph([tuple(f"v{id}" for id in pair) if strings else pair for pair in pairs])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.txt")
        for write_list in (nx.write_adjlist, nx.write_multiline_adjlist):
            write_list(graph, path, comments=sign)
            with pytest.raises(InputError, match=r"nx\.read_adjlist"):
                read(path)
        nx.write_adjlist(graph, path)
        lines = [line for line in path.read_text().splitlines() if line[0] != "#"]
        write(path, "\n".join(lines))
        width = {len(line.split()) for line in lines}
        if len(width) > 1 or 1 in width:
            with pytest.raises(InputError, match=r"nx\.read_adjlist"):
                read(path)
        nx.write_edgelist(graph, path)
        assert arcs(read(path, directed=True)) == Counter(list(graph.edges))


def test_string_ids(tmp_path: Path) -> None:
    text = read(write(tmp_path / "a.txt", '% langs\n# x\nC# Java#1 0.7\nNA C# 1\n# later\n"q C# .5\n'))
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


SPELLINGS = st.one_of(
    st.from_regex(
        r"[ +-]{0,2}[0-9]{0,3}([.][0-9]{0,12})?([eE][+-]?[0-9]{1,2})?[ ]?", fullmatch=True, alphabet="+-.eE 019"
    ),
    st.integers(2**53 - 2, 2**64 + 2).map(str),
    st.integers(2**53 - 2, 2**63 + 2).map(lambda id: f"{id}.0"),
    st.sampled_from(["0b1", "0o7", "1_000", "1,5", "1/2", "1d3", "1L", "nan", "NaN", "inf", "-inf"]),
    st.sampled_from(["1e400", "1e-39", "1e2000000000", "NA", "null", "None", "true", "False"]),
    st.sampled_from(["", "#", "1#2", '"1"', '"1', "\ufeff1", "\uff11", "\u0665", "1\u00a0", "\x0b1", "2020-01-01"]),
)


@pytest.mark.parametrize("name", ["a.tsv", "a.TSV.gz"])
def test_commas_in_the_ids_of_a_tsv(tmp_path: Path, name: str) -> None:
    """As many as tabs, or more, divide no columns there."""
    text = b"Lee, A., Jr.\tKim, B.\nKim, B.\tc\n"
    path = write(tmp_path / name, gzip.compress(text) if name.endswith(".gz") else text)
    assert arcs(read(path, header=False)) == Counter([("Lee, A., Jr.", "Kim, B."), ("Kim, B.", "c")])


@settings(deadline=None, max_examples=150)
@given(first=st.sampled_from(["0", "0.0", "a", ""]), spelling=SPELLINGS)
@pytest.mark.parametrize("suffix", [".txt", ".csv", ".tsv"])
def test_an_id_is_what_is_written_or_refused(suffix: str, first: str, spelling: str) -> None:
    """Below an integer, a float, a string, or nothing."""
    assume(" " not in spelling.strip(" "))
    separator = {".txt": " ", ".csv": ",", ".tsv": "\t"}[suffix]
    rows = (
        ["u" + separator + "v"] * (suffix != ".txt")
        + [first + separator + "1"] * bool(first)
        + [spelling + separator + "1"]
    )
    with tempfile.TemporaryDirectory() as folder:
        path = write(Path(folder, f"a{suffix}"), "\n".join(rows) + "\n")
        try:
            found = ids(read(path))
        except InputError:
            return
    text = spelling.strip(" ") if suffix == ".txt" else spelling
    unquoted = text.removeprefix('"').removesuffix('"') if suffix != ".txt" and text.count('"') == 2 else text
    if first == "" and text.startswith("\ufeff"):
        unquoted = text[suffix == ".txt" :]  # the mark of the encoding, where it opens the file
    strings = any(isinstance(id, str) for id in found)
    known = {0, 1, "1", first} if first else {1, "1"}
    for id in set(found) - known:
        assert id == (unquoted if strings else Decimal(unquoted.strip())), (rows, found)
    if not strings and text:
        comment = suffix == ".txt" and text.startswith("#")
        assert comment or Decimal(unquoted.partition("#")[0] if suffix == ".txt" else unquoted.strip()) in found


def bomb(unit: bytes, mebibytes: int, *, before: bytes = b"", after: bytes = b"") -> bytes:
    """Gzip of ``unit`` repeated, some 70 kB for each 16 MiB."""
    members = gzip.compress(unit * ((1 << 24) // len(unit)), 1) * (mebibytes // 16)
    return gzip.compress(before) + members + gzip.compress(after)


BOMBS = {
    "one line": (b"x", b"", "a line is longer than 1,048,576 bytes"),
    "one line of digits": (b"1", b"{row}", "a line is longer than"),
    "blanks in a line": (b" ", b"{row}", "a line is longer than"),
    "blank lines": (b"\n", b"", "more than 4,194,304 bytes of blank lines and comments"),
    "blank lines between": (b"\r\n", b"{row}", "more than 4,194,304 bytes of blank lines"),
}


def test_a_small_packed_file_takes_little_memory(tmp_path: Path) -> None:
    """A GiB each, in 5 MB."""
    starts = {
        ".txt": (b"", b"0 1\n"),
        ".csv": (b"u,v\n", b"0,1\n"),
        ".mtx": (GENERAL.encode(), b"3 3 2\n1 2\n"),
    }
    paths, messages = [], []
    for suffix, (head, row) in starts.items():
        for name, (unit, before, message) in BOMBS.items():
            content = bomb(unit, 1024, before=head + before.replace(b"{row}", row), after=b"\n" + row)
            paths.append(write(tmp_path / f"{name.replace(' ', '-')}{suffix}.gz", content))
            messages.append(message)
    for sign, suffix in (("#", ".txt"), ("%", ".mtx"), ("%", ".el")):
        before = MTX.format("pattern", "general").encode() if suffix == ".mtx" else b""
        paths.append(write(tmp_path / f"comments{suffix}.gz", bomb(f"{sign} c\n".encode(), 1024, before=before)))
        messages.append("bytes of blank lines and comments")
    told, peak = read_apart(*paths)
    for path, line, message in zip(paths, told, messages, strict=True):
        assert message in line, path
    assert peak < 700, f"{peak} MiB"  # an import takes some 300


def test_long_lines_and_comments_within_the_bounds(tmp_path: Path) -> None:
    name = "x" * (LONGEST_LINE - 10)
    assert ids(read(write(tmp_path / "a.txt", f"{name} b\n"))) == [name, "b"]
    comments = "# c\n" * (LONGEST_PADDING // 4 - 1)
    assert read(write(tmp_path / "b.txt", f"{comments}0 1\n{comments}1 2\n{comments}")).num_arcs == 2
    hashes = "#a,#b\n" * (LONGEST_PADDING // 6 + 2)
    assert read(write(tmp_path / "c.csv", f"u,v\n{hashes}")).num_vertices == 2


@settings(deadline=None)
@given(st.binary(max_size=60), st.integers(1, 9), st.integers(1, 12), st.integers(4, 30))
def test_bounded_text_is_the_text(data: bytes, block: int, longest: int, padding: int) -> None:
    """It gives the bytes as they are, and refuses just what is out of bounds."""
    data = data.replace(b"\0", b"\n").replace(b"\x01", b"#").replace(b"\x02", b"0")
    with mock.patch.multiple(_bounded, LONGEST_LINE=longest, LONGEST_PADDING=padding):
        text = _bounded.BoundedText(io.BytesIO(data), b"#")
        parts = []
        try:
            while part := text.read(block):
                parts.append(part)
        except InputError as error:
            refused = str(error)
        else:
            refused = ""
            assert b"".join(parts) == data
    lines = re.split(rb"[\r\n]", data)
    quiet = [0]
    for line in lines:
        quiet.append(quiet[-1] + len(line) + 1 if line.strip()[:1] in (b"", b"#") else 0)
    assert (max(map(len, lines)) > longest) == ("line is longer" in refused) or "blank lines" in refused
    if "blank lines" in refused:
        assert max(quiet) + longest + 2 * block > padding
    if max(quiet) > padding + 2 * block + longest:
        assert refused


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32"])
@pytest.mark.parametrize(("name", "content"), [("a.txt", "0 1\n"), ("a.csv", "u,v\n0,1\n"), ("b.csv", "u,v\na,b\n")])
def test_text_in_another_encoding(tmp_path: Path, name: str, content: str, encoding: str) -> None:
    with pytest.raises(InputError, match=f"{name}: there is a NUL byte in it, .* text must be UTF-8"):
        read(write(tmp_path / name, content.encode(encoding)))


def test_a_process_that_refused_a_file_ends(tmp_path: Path) -> None:
    """Where Arrow reads from a Python stream that raises, most processes hang at their exit."""
    units = {"one": b"1", "blank": b"\n", "many": b" "}
    paths = [
        write(tmp_path / f"{name}.csv.gz", bomb(unit, 64, before=b"u,v\n0,1\n", after=b"\n0,1\n"))
        for name, unit in units.items()
    ]
    for _ in range(4):
        told, _ = read_apart(*paths)
        assert all(line.startswith("InputError") for line in told)


TWO_NAMES = {"strings": "ann,bob\n", "strings and numbers": "ann,1\n", "tabs": "ann\tbob\n"}


@pytest.mark.parametrize("first", TWO_NAMES.values(), ids=TWO_NAMES)
def test_a_header_that_is_an_edge_is_refused(first, tmp_path):
    """The first edge was lost without a word."""
    path = write(tmp_path / "a.csv", first + first.replace("ann", "cid"))
    with pytest.raises(
        InputError, match=r"a.csv: its first row, 'ann' and '\w+', seems to be an edge, as .* header=False"
    ):
        read(path)
    assert read(path, header=False).num_edges == 2
    assert read(path, source="ann").num_edges == 1


@pytest.mark.parametrize("rows", ["cid,dan\n", ""], ids=["others", "none"])
def test_a_header_that_may_be_an_edge_is_doubted(rows, tmp_path):
    path = write(tmp_path / "a.csv", "ann,bob\n" + rows)
    with pytest.warns(
        UserWarning, match="'ann' and 'bob', is taken for a header: if it is an edge, read it with header=F"
    ) as warned:
        read(path)
    assert warned[0].filename == __file__


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("from,to\nann,bob\nbob,to\n", {}),
        (" Source;TARGET\nann;bob\n", {}),
        ("person,friend\n1,2\n", {}),
        ("person,friend\nann,bob\n", {"source": "person"}),
        ("person,friend\nann,bob\n", {"target": "friend"}),
        ("person,friend,since\nann,bob,1999\n", {"edge_data": ["since"]}),
        ("ann,bob\ncid,dan\n", {"header": False}),
    ],
)
@pytest.mark.filterwarnings("error")
def test_a_header_without_doubt(text, options, tmp_path):
    assert read(write(tmp_path / "a.csv", text), **options).num_edges == text.count("\n") - options.get("header", True)


@pytest.mark.parametrize("signs", ["%", "#", "#%", "%#", "%%#"])
@pytest.mark.parametrize(
    ("name", "first", "second"),
    [
        *(("a.txt", "0 1", "1 2"), ("a.el", "0 1", "1 2"), ("a.txt", "0 1 0.5", "1 2 7")),
        *(("a.txt", "0.0 1", "1 2.0"), ("a.txt", "a b", "b c")),
    ],
)
def test_comments_of_both_kinds_anywhere(signs: str, name: str, first: str, second: str, tmp_path: Path) -> None:
    """One that began unlike the first was no integer, and no line was named."""
    comments = [f"{sign} a comment\n" for sign in signs]
    comments.append(f"{signs[0]} {'long ' * 5000}\n")
    graph = read(write(tmp_path / name, f"{comments[0]}{first}\n{''.join(comments)}{second}\n{comments[-1]}"))
    assert graph.num_edges == 2
    assert list(graph) == (["a", "b", "c"] if "a" in first else [0, 1, 2])


@pytest.mark.parametrize(
    ("first", "edges", "doubted"),
    [
        *(("4 3", "0 1,1 2,2 3", True), ("3 3", "1 2,2 3,3 1", True), ("5 4", "0 1,1 2,2 3,3 4", True)),
        *(("4 6", "0 1,0 2,0 3,1 2,1 3,2 3", True), ("4.0 3", "0 1,1 2,2 3", True)),
        *(("4 3", "0 1,1 2,2 5", False), ("0 3", "0 1,1 2,2 3", False), ("4 2", "0 1,1 2,2 3", False)),
        *(("4 3", "0 1,1 2", False), ("2 1", "0 1", False), ("4 3 1", "0 1 1,1 2 1,2 3 1", False)),
        *(("4 3", "0 1,1 4,2 3", False), ("4 3", "1 4,4 2,2 3", True), ("3 3", "0 1,1 2,3 0", False)),
    ],
)
@pytest.mark.parametrize("directed", [None, True, False])
@pytest.mark.filterwarnings("error")
def test_a_line_that_may_count_vertices_and_edges_is_doubted(first, edges, doubted, directed, tmp_path):
    """It was an edge without a word."""
    lines = "\n".join([first, *edges.split(",")])
    said = f"a.txt: its first line, '{first}', is taken for an edge, though it may count vertices and edges: if it does"
    with pytest.warns(UserWarning, match=said) if doubted else nullcontext():
        read(write(tmp_path / "a.txt", lines), directed=directed)
    read(write(tmp_path / "b.txt", f"# {lines}"))


@pytest.mark.filterwarnings("error")
def test_a_line_whose_opposite_follows_counts_nothing(tmp_path):
    """Nor in a list of twice as many lines."""
    assert read(write(tmp_path / "a.txt", "4 3\n1 2\n2 1\n3 4\n")).num_edges == 2
    assert read(write(tmp_path / "a.txt", "4 3\n3 4\n3 2\n2 3\n3 1\n1 3\n1 2\n2 1\n")).num_edges == 4
