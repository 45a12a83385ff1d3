"""The formats of the field's challenges and benchmarks: DIMACS, METIS, LDBC Graphalytics, GAP with weights, XML."""

from __future__ import annotations

import os
import re
import tempfile
from collections import Counter
from pathlib import Path
from unittest import mock

import igraph
import networkx as nx
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
    write,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from rapids_bfs import Graph, InputError, as_graph, load, read
from rapids_bfs.adapters import _metis


def saved_and_read(graph: Graph, suffix: str, **options: bool) -> Graph:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"graph{suffix}")
        graph.save(path)
        return read(path, **options)


@settings(deadline=None, max_examples=60)
@given(plain_graphs())
@pytest.mark.parametrize("suffix", [".gr", ".gr.zst", ".e", ".v", ".graphml", ".gexf"])
def test_plain_graphs_come_back(suffix: str, graph: Graph) -> None:
    """DIMACS has arcs alone, which are undirected if they are symmetric."""
    if suffix in (".e", ".v") and not graph.num_arcs:
        with pytest.raises(InputError, match="cannot hold a graph without edges"):
            saved_and_read(graph, suffix)
        return
    assert_same(saved_and_read(graph, suffix), graph, direction=suffix not in (".gr", ".gr.zst"))


@settings(deadline=None, max_examples=60)
@given(labelled_graphs(any_text))
@pytest.mark.parametrize("suffix", [".e", ".graphml", ".gexf"])
def test_labelled_graphs_come_back_or_are_refused(suffix: str, graph: Graph) -> None:
    try:
        again = saved_and_read(graph, suffix)
    except InputError as error:
        if not re.search("ids are integers|without edges|XML cannot hold|read as integers", str(error)):
            raise
        return
    assert arcs(again) == arcs(graph)
    assert sorted(ids(again), key=str) == sorted(ids(graph), key=str)


@settings(deadline=None, max_examples=60)
@given(plain_graphs(), st.sampled_from([1, 7, 1 << 22]))
def test_metis_holds_simple_undirected_graphs(graph: Graph, read: int) -> None:
    """Whatever number of bytes is read at a time."""
    if graph.directed or graph.num_loops or graph.num_duplicates:
        with pytest.raises(InputError, match=r"graph\.undirected\.simple"):
            saved_and_read(graph, ".graph")
    graph = graph.undirected.simple
    with mock.patch.multiple(_metis, READ=read, WRITTEN=read):
        assert_same(saved_and_read(graph, ".graph"), graph)


@settings(deadline=None, max_examples=40)
@given(plain_graphs(), st.integers(0, 7), st.integers(0, 3), st.booleans())
def test_metis_with_weights_and_comments(graph: Graph, format: int, weights: int, comments: bool) -> None:
    graph = graph.undirected.simple
    size, weight, weighted = (bool(format & bit) for bit in (4, 2, 1))
    lines = [f"{graph.num_vertices} {graph.num_edges} {format:03b} {weights}"]
    for vertex in range(graph.num_vertices):
        before = ["5"] * size + ["6"] * (weights if weight else 0)
        row = [f"{v + 1} 9" if weighted else f"{v + 1}" for v in graph.neighbors(vertex)]
        lines += ["% a comment"] * comments + [" ".join(before + row)]
    with tempfile.TemporaryDirectory() as folder:
        assert_same(read(write(Path(folder, "a.graph"), "\n".join(lines) + "\n")), graph)


def test_as_other_libraries_write_them(tmp_path: Path) -> None:
    graph = load("karate")
    peer = igraph.Graph(graph.num_vertices, list(zip(*map(np.ndarray.tolist, graph.vertex_pairs()), strict=True)))
    peer.write_dimacs(str(tmp_path / "flow.gr"), source=0, target=1, capacity=[1] * peer.ecount())
    nx.write_gexf(graph.to("networkx"), tmp_path / "karate.gexf")
    nx.write_graphml(graph.to("networkx"), tmp_path / "karate.graphml.xml")
    peer.write_graphml(str(tmp_path / "peer.graphml"))
    assert arcs(read(tmp_path / "karate.gexf")) == arcs(read(tmp_path / "karate.graphml.xml")) == arcs(graph)
    assert read(tmp_path / "peer.graphml").num_edges == 78
    with pytest.raises(InputError, match="line 2: expected 'p sp' and the numbers of vertices and edges"):
        read(tmp_path / "flow.gr")


def test_what_peers_read(tmp_path: Path) -> None:
    graph = as_graph([("a", "b"), ("b", "c")])
    graph.save(tmp_path / "a.graphml")
    assert sorted(nx.read_graphml(tmp_path / "a.graphml").edges) == [("a", "b"), ("b", "c")]
    assert igraph.Graph.Read_GraphML(str(tmp_path / "a.graphml")).ecount() == 2
    as_graph([(0, 1), (1, 2)], directed=False).save(tmp_path / "a.graph")
    assert (tmp_path / "a.graph").read_text() == "3 2\n2\n1 3\n2\n"
    as_graph([(0, 1), (1, 0), (1, 2)]).save(tmp_path / "a.gr")
    assert (tmp_path / "a.gr").read_text() == "p sp 3 3\na 1 2 1\na 2 1 1\na 2 3 1\n"


def test_dimacs_with_comments_among_the_arcs(tmp_path: Path) -> None:
    text = "c USA\np sp 4 3\nc graph has 4 nodes\nc\na 1 2 803\na 2 1 803\nc more\na 3 4 1.5\n"
    assert arcs(read(write(tmp_path / "a.gr", text))) == Counter([(0, 1), (1, 0), (2, 3)])
    assert read(tmp_path / "a.gr").directed
    assert not read(tmp_path / "a.gr", directed=False).directed
    assert not read(write(tmp_path / "b.gr", "p sp 2 2\na 1 2 8\na 2 1 8\n")).directed


SMALL = {
    "a.gr": "c two blanks and a tab\np  sp\t3  2\na 1 2 5\na 2 3 1\n",
    "a.graph": "3 2\n2\n1 3\n2\n",
    "a.mtx": "%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 2\n2 3\n",
    "a.el": "0 1\n1 2\n",
}


@pytest.mark.parametrize("name", SMALL)
def test_a_byte_order_mark_is_no_content(tmp_path: Path, name: str) -> None:
    assert {(0, 1), (1, 2)} <= set(arcs(read(write(tmp_path / name, "\ufeff" + SMALL[name]))))


def test_ldbc_says_directions_whatever_the_name(tmp_path: Path) -> None:
    for name in "my graph.e", "a=b.e", "a.directed = true.e":
        as_graph([(0, 1), (1, 2)], directed=False).save(tmp_path / name)
        assert not read(tmp_path / name).directed
    write(tmp_path / "a=b.properties", "graph.a.directed = maybe\n")
    with pytest.raises(InputError, match="directed is true or false, not 'maybe'"):
        read(tmp_path / "a=b.e")


def test_ldbc_keeps_what_each_file_says(tmp_path: Path) -> None:
    write(tmp_path / "a.v", "7\n5\n900\n")
    write(tmp_path / "a.e", "5 900 0.5\n")
    assert ids(read(tmp_path / "a.e")) == [5, 7, 900]
    assert read(tmp_path / "a.e").directed
    assert not read(tmp_path / "a.e", directed=False).directed
    graph = as_graph([(0, 1)], directed=False)
    graph.save(tmp_path / "b.v")
    assert sorted(os.listdir(tmp_path)) == ["a.e", "a.v", "b.e", "b.properties", "b.v"]
    assert "graph.b.directed = false" in (tmp_path / "b.properties").read_text()
    with pytest.raises(InputError, match=r"b\.e exists"):
        graph.save(tmp_path / "b.v")
    (tmp_path / "b.v").unlink()
    with pytest.raises(InputError, match=r"b\.v does not exist: LDBC's graphs are in \.e and \.v files"):
        read(tmp_path / "b.e")


BAD = {
    "gr short": ("a.gr", "p sp 3 2\na 1 2 3\n", "a.gr ends after 1 of 2 edges"),
    "gr long": ("a.gr", "p sp 3 1\na 1 2 3\na 1 2 3\n", "line 3: there are more than the 1 edges"),
    "gr vertex": ("a.gr", "c\np sp 3 2\na 1 2 3\na 4 2 3\n", r"line 4: '4' is not one of the vertices 1\.\.3"),
    "gr zero": ("a.gr", "p sp 3 1\na 0 2 3\n", "line 2: '0' is not one of the vertices"),
    "gr weight": ("a.gr", "p sp 3 1\na 1 2 x\n", "line 2: the weight 'x' is not a number"),
    "gr no weight": ("a.gr", "p sp 3 1\na 1 2\n", "line 2: an edge here is written 'a U V WEIGHT', not 'a 1 2'"),
    "gr other line": ("a.gr", "p sp 3 1\nz 1 2 3\n", "line 2: an edge here is written"),
    "gr twice p": ("a.gr", "p sp 3 1\np sp 3 1\n", "line 2: an edge here is written"),
    "gr junk": ("a.gr", "p sp 3 1\na 1 2c 3\n", "line 2: '2c' is not one of the vertices"),
    "gr kind": ("a.gr", "p max 3 1\na 1 2 3\n", "line 1: expected 'p sp' and the numbers of vertices and edges"),
    "gr of none": ("a.gr", "hello\n", "has the suffix of DIMACS, but not its content"),
    "gr huge": ("a.gr", f"p sp 3 {10**15}\na 1 2 3\n", "a graph of .* edges needs .* PiB"),
    "gr huge n": ("a.gr", f"p sp {10**15} 1\na 1 2 3\n", "needs .* PiB"),
    "metis short": ("a.graph", "3 2\n2\n1 3\n", "a.graph ends after 2 of 3 vertices"),
    "metis long": ("a.graph", "2 1\n2\n1\n\n1\n", "line 5: there are more lines than the 2 vertices"),
    "metis few": ("a.graph", "3 3\n2\n1 3\n2\n", "has 4 neighbours, where 3 edges need 6"),
    "metis many": ("a.graph", "3 1\n2\n1 3\n2\n", "line 3: there are more neighbours than the 1 edges"),
    "metis vertex": ("a.graph", "% c\n3 2\n2\n% c\n1 4\n2\n", r"line 5: 4 is not one of the vertices 1\.\.3"),
    "metis text": ("a.graph", "3 2\n2\n1 x\n2\n", "line 3: 'x' is not a number"),
    "metis one way": ("a.graph", "3 1\n2 3\n\n\n", "said to be undirected, but edges of vertex 0"),
    "metis format": ("a.graph", "3 2 2\n2\n1\n2\n", "line 1: the format is up to three digits 0 or 1, not '2'"),
    "metis weights": ("a.graph", "2 1 1\n2\n1 5\n", "line 2: expected 0 weights, then neighbours with a weight each"),
    "metis header": ("a.graph", "x y\n", "line 1: the numbers of vertices and edges belong here"),
    "metis none": ("a.graph", "% c\n", "a.graph ends where the numbers"),
    "metis huge": ("a.graph", f"3 {10**15}\n", "needs .* PiB"),
    "graphml": ("a.graphml", "<graphml>\n<graph>\n</graphml>\n", "cannot be read as GraphML: .*line 3"),
    "graphml entity": ("a.graphml", "<graphml><!ENTITY></graphml>", "entity declarations"),
    "gexf": ("a.gexf", "<gexf>\n</graph>\n", "cannot be read as GEXF: .*line 2"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_files(tmp_path: Path, case: str) -> None:
    name, content, message = BAD[case]
    check_refusal(tmp_path / name, content, message)


@pytest.mark.parametrize(
    ("vertices", "edges", "message"),
    [
        ("1\n2\n", "1 2\n2 3\n", "a.e, line 2: 3 is not a vertex in a.v"),
        ("1\n2\n2\n", "1 2\n", "a.v, line 3: the vertex 2 is there twice"),
        ("1\nx\n", "1 2\n", "a.v, line 2: 'x' is not the id of a vertex"),
        ("1\n2 3\n", "1 2\n", "a.v, line 2: '2 3' is not the id"),
        ("1\n-2\n", "1 2\n", "a.v, line 2: '-2' is not the id"),
        ("1\n2.0\n", "1 2\n", r"a.v, line 2: '2\.0' is not the id"),
        (f"1\n{2**63}\n", "1 2\n", f"a.v, line 2: '{2**63}' is not the id"),
        ("1\n2\n", "1 2\n1 x\n", "a.e, line 2: 'x' is not a number"),
        ("1\n2\n", "1\n", "a.e, line 1: expected two ids"),
    ],
)
def test_bad_ldbc_files(tmp_path: Path, vertices: str, edges: str, message: str) -> None:
    write(tmp_path / "a.v", vertices)
    with pytest.raises(InputError, match=message) as error:
        read(write(tmp_path / "a.e", edges))
    check_message(error)
