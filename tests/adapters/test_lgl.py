"""The formats of the Large Graph Layout, as igraph reads and writes them."""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from pathlib import Path

import igraph
import numpy as np
import pytest
from graph_files import (
    any_text,
    arcs,
    assert_same,
    check_message,
    check_refusal,
    ids,
    labelled_graphs,
    plain_graphs,
    saved_and_read,
    write,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from rapids_bfs import Graph, InputError, as_graph, load, read
from rapids_bfs.adapters import _lgl

READERS = {".ncol": igraph.Graph.Read_Ncol, ".lgl": igraph.Graph.Read_Lgl}
NAMES = st.sampled_from(["a", "b", "bc", "é", "0", "1", "01", "a#b", "%", "#", '"'])
WEIGHTS = st.sampled_from(["", "", " 1", "\t-2.5e3", " nan", " x", " 1 2", " #"])
GAPS = st.sampled_from([" ", "\t", "  "])


def edges(graph: igraph.Graph) -> Counter[frozenset[str]]:
    names = graph.vs["name"] if graph.vcount() else []
    return Counter(frozenset((names[u], names[v])) for u, v in graph.get_edgelist())


def our_edges(graph: Graph) -> Counter[frozenset[str]]:
    names = [*map(str, ids(graph))]
    return Counter(
        frozenset((names[u], names[v])) for u, v in zip(*map(np.ndarray.tolist, graph.vertex_pairs()), strict=True)
    )


@settings(deadline=None, max_examples=60)
@given(plain_graphs(), st.sampled_from([".lgl", ".ncol", ".lgl.gz"]))
def test_plain_graphs_come_back(graph: Graph, suffix: str) -> None:
    if graph.directed:
        with pytest.raises(InputError, match=r"save graph\.undirected"):
            saved_and_read(graph, suffix)
        graph = graph.undirected
    if not graph.num_vertices:
        with pytest.raises(InputError, match="cannot hold a graph without vertices"):
            saved_and_read(graph, suffix)
        return
    if suffix == ".ncol" and (graph.degrees == 0).any():
        with pytest.raises(InputError, match="would lose vertices without edges"):
            saved_and_read(graph, suffix)
        return
    assert_same(saved_and_read(graph, suffix), graph)


@settings(deadline=None, max_examples=60)
@given(labelled_graphs(any_text), st.sampled_from(sorted(READERS)))
def test_labelled_graphs_come_back_or_are_refused(graph: Graph, suffix: str) -> None:
    graph = graph.undirected
    try:
        again = saved_and_read(graph, suffix)
    except InputError as error:
        if not re.search("without edges|cannot have|read as integers", str(error)):
            raise
        return
    assert arcs(again) == arcs(graph)
    assert sorted(ids(again), key=str) == sorted(ids(graph), key=str)


@pytest.mark.parametrize("suffix", sorted(READERS))
def test_a_name_that_begins_with_a_byte_order_mark(suffix: str) -> None:
    """In front of a file it would be no part of the first name."""
    graph = as_graph([("\ufeffa", "b"), ("b", "a")], directed=False)
    with pytest.raises(InputError, match="a byte order mark that begins it, which names here cannot have"):
        saved_and_read(graph, suffix)


@st.composite
def texts(draw: st.DrawFn, suffix: str) -> str:
    """Files of which some are wrong."""
    lines = []
    for _ in range(draw(st.integers(0, 8))):
        first, second, gap, weight = draw(NAMES), draw(NAMES), draw(GAPS), draw(WEIGHTS)
        if suffix == ".ncol":
            lines.append(draw(st.sampled_from(["", " "])) + first + gap + second + weight)
        else:
            lines.append(f"#{gap}{first}" if draw(st.booleans()) or not lines else second + weight)
    return draw(st.sampled_from(["\n", "\r\n"])).join(lines) + draw(st.sampled_from(["\n", ""]))


@settings(deadline=None, max_examples=150)
@given(st.data(), st.sampled_from(sorted(READERS)))
def test_files_are_read_as_igraph_reads_them(data: st.DataObject, suffix: str) -> None:
    """But for names that begin with # or %: a comment would become an edge."""
    text = data.draw(texts(suffix))
    with tempfile.TemporaryDirectory() as folder:
        path = write(Path(folder, f"a{suffix}"), text or "\n")
        try:
            theirs = READERS[suffix](str(path), directed=False)
        except igraph.InternalError:
            theirs = None
        try:
            ours = read(path)
        except InputError as error:
            if theirs is not None and "would be a comment elsewhere" not in str(error):
                raise
            return
    assert theirs is not None
    assert not ours.directed
    assert our_edges(ours) == edges(theirs)
    assert sorted(map(str, ids(ours))) == sorted(theirs.vs["name"] if theirs.vcount() else [])


def test_igraph_reads_what_we_write(tmp_path: Path) -> None:
    graph = as_graph([("a", "bc"), ("bc", 'd"'), ('d"', 'd"')], directed=False)
    for suffix, reader in READERS.items():
        graph.save(tmp_path / f"a{suffix}")
        assert edges(reader(str(tmp_path / f"a{suffix}"), directed=False)) == our_edges(graph)
    assert (tmp_path / "a.ncol").read_text() == 'a bc\nbc d"\nd" d"\n'
    assert (tmp_path / "a.lgl").read_text() == '# a\nbc\n# bc\nd"\n# d"\nd"\n'


def test_we_read_what_igraph_writes(tmp_path: Path) -> None:
    moby = load("moby")
    moby = moby.filter(vertices=np.arange(len(moby)) % 4 == 0)  # a sixteenth of the edges; some words have none
    peer = moby.to("igraph")
    peer.es["weight"] = 0.5
    peer.write_ncol(str(tmp_path / "moby.ncol"))
    peer.add_vertex("zzz")
    peer.write_lgl(str(tmp_path / "moby.lgl"))
    assert arcs(read(tmp_path / "moby.ncol")) == arcs(read(tmp_path / "moby.lgl")) == arcs(moby)
    assert read(tmp_path / "moby.lgl").num_vertices == moby.num_vertices + 1


def test_ids_and_directions(tmp_path: Path) -> None:
    path = write(tmp_path / "a.ncol", "7 5 0.5\n5 900\n")
    assert ids(read(path)) == [5, 7, 900]
    assert not read(path).directed
    assert arcs(read(path, directed=True)) == Counter([(7, 5), (5, 900)])
    assert ids(read(write(tmp_path / "b.ncol", "\ufeff1 01\n"))) == ["1", "01"]
    path = write(tmp_path / "a.lgl", "# a\nb 2\n\n# c\n")
    assert ids(read(path)) == ["a", "b", "c"]
    assert arcs(read(path, directed=True)) == Counter([("a", "b")])


BAD = {
    "one name": ("a.ncol", "a b\na\n", r"line 2: an edge is written 'NAME NAME \[WEIGHT\]', not 'a'"),
    "four": ("a.ncol", "a b 1 2\n", "line 1: an edge is written"),
    "weight": ("a.ncol", "a b 1\n\nb c x\n", "line 3: the weight 'x' is not a number"),
    "comment": ("a.ncol", "# by me\na b\n", "line 1: '# by me' would be a comment elsewhere and is an edge for igraph"),
    "not UTF-8": ("a.ncol", b"a b\na \xe9\n", "a.ncol, line 2 is not UTF-8"),
    "control": ("a.ncol", "a b\na \v\n", "line 2: there is a control character in"),
    "NUL": ("a.ncol", "a b\na \0\n", "NUL byte"),
    "no vertex": ("a.lgl", "a\n", "line 1: '# NAME', of the first vertex, belongs here, not 'a'"),
    "two": ("a.lgl", "# a\nb 1 2\n", r"line 2: 'NAME \[WEIGHT\]' belongs here, not 'b 1 2'"),
    "vertex of two": ("a.lgl", "# a b\n", "line 1: a vertex is written '# NAME', not '# a b'"),
    "vertex of none": ("a.lgl", "# a\n#\n", "line 2: a vertex is written '# NAME', not '#'"),
    "hash": ("a.lgl", "# a\nb#c\n", r"line 2: 'NAME \[WEIGHT\]' belongs here"),
    "lgl weight": ("a.lgl", "# a\nb 0x1\n", "line 2: the weight '0x1' is not a number"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_files(tmp_path: Path, case: str) -> None:
    name, content, message = BAD[case]
    check_refusal(tmp_path / name, content, message)


def test_long_names_need_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rapids_bfs._core.memory.available_bytes", lambda: 1 << 20)
    monkeypatch.setattr(_lgl, "STEP", 1 << 18)
    assert read(write(tmp_path / "short.ncol", f"a {'x' * 1000}\n" * 100)).num_vertices == 2
    with pytest.raises(InputError, match=r"a\.ncol, from line 1 on, needs .* of memory") as error:
        read(write(tmp_path / "a.ncol", f"a {'x' * 300_000}\n"))
    check_message(error)
