"""Files of results are checked as LDBC Graphalytics' harness does: distances match, components are equivalent."""

from __future__ import annotations

import random
from pathlib import Path

import networkx as nx
import numpy as np
import pyarrow as pa
import pytest
from graph_files import check_message, write
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

import rapids_bfs
from rapids_bfs import InputError, as_graph, bfs, read, validate
from rapids_bfs.cli import run_command

UNREACHED = 2**63 - 1
ARCS = [(1, 4), (1, 7), (4, 7), (7, 1), (7, 12), (12, 30), (20, 4), (31, 33), (33, 31)]
VERTICES = [1, 4, 7, 12, 20, 30, 31, 33, 50]


def oracle(directed: bool) -> nx.Graph:
    made = nx.DiGraph() if directed else nx.Graph()
    made.add_nodes_from(VERTICES)
    made.add_edges_from(ARCS)
    return made


def lines(values: dict[int, int]) -> str:
    return "".join(f"{vertex} {value}\n" for vertex, value in values.items())


def distances(graph: nx.Graph, source: int) -> dict[int, int]:
    reached = nx.single_source_shortest_path_length(graph, source)
    return {vertex: reached.get(vertex, UNREACHED) for vertex in graph}


def components(graph: nx.Graph) -> dict[int, int]:
    return {vertex: min(part) for part in nx.connected_components(graph.to_undirected()) for vertex in part}


@pytest.fixture(params=[True, False], ids=["directed", "undirected"])
def example(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, nx.Graph]:
    """A graph as LDBC publishes it, with the outputs of BFS and WCC beside it, and the same for NetworkX."""
    graph = oracle(request.param)
    write(tmp_path / "example.v", "".join(f"{vertex}\n" for vertex in VERTICES))
    write(tmp_path / "example.e", "".join(f"{u} {v} 0.5\n" for u, v in graph.edges))
    write(tmp_path / "example.properties", f"graph.example.directed = {str(request.param).lower()}\n")
    write(tmp_path / "example-BFS", lines(distances(graph, 1)))
    write(tmp_path / "example-WCC", lines(components(graph)))
    return tmp_path, graph


def test_references_are_right(example: tuple[Path, nx.Graph], capsys: pytest.CaptureFixture[str]) -> None:
    folder, _ = example
    graph = read(folder / "example.e")
    assert str(validate(graph, folder / "example-BFS")) == "valid distances; there are no predecessors to check"
    assert str(validate(graph, str(folder / "example-WCC"))) == "valid components"
    assert validate(as_graph(folder / "example.e", devices="cpu:2"), folder / "example-WCC")
    for name in ("example-BFS", "example-WCC"):
        assert run_command(["validate", str(folder / "example.e"), str(folder / name)]) == 0
    assert "valid components" in capsys.readouterr().out


def test_what_is_searched_here_is_what_they_say(example: tuple[Path, nx.Graph]) -> None:
    folder, oracle = example
    graph = read(folder / "example.e")
    found = bfs(graph, 1)
    assert validate(graph, found)
    expected = distances(oracle, 1)
    assert {id: found.distance_to(id) for id in graph} == {
        id: -1 if distance == UNREACHED else distance for id, distance in expected.items()
    }
    write(folder / "mine-WCC", lines(dict(zip(graph, rapids_bfs.connected_components(graph).tolist(), strict=True))))
    assert validate(graph, folder / "mine-WCC")


@settings(deadline=None, max_examples=60)
@given(changed=st.sampled_from(VERTICES), value=st.integers(0, 9) | st.just(UNREACHED), directed=st.booleans())
def test_a_distance_that_differs_is_found(
    tmp_path_factory: pytest.TempPathFactory, changed: int, value: int, directed: bool
) -> None:
    graph = oracle(directed)
    right = distances(graph, 1)
    path = write(tmp_path_factory.mktemp("a") / "a-BFS", lines(right | {changed: value}))
    ours = as_graph(graph)
    # Another vertex at distance 0 is another source, from which the rest would have to be searched too.
    several = nx.multi_source_dijkstra_path_length(graph, {1, changed} if value == 0 else {1}, weight=None)
    expected = {vertex: several.get(vertex, UNREACHED) for vertex in graph}
    if changed == 1 and value:
        assert not validate(ours, path)
    else:
        assert bool(validate(ours, path)) == (right | {changed: value} == expected)


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 2**32), st.lists(st.integers(0, 3), min_size=len(VERTICES), max_size=len(VERTICES)))
def test_components_are_right_if_they_are_equivalent(
    tmp_path_factory: pytest.TempPathFactory, seed: int, labels: list[int]
) -> None:
    graph = oracle(True)
    right = components(graph)
    names = dict(
        zip(set(right.values()), random.Random(seed).sample(range(10**6), len(set(right.values()))), strict=True)
    )
    renamed = {vertex: names[label] for vertex, label in right.items()}
    drawn = dict(zip(VERTICES, labels, strict=True))
    folder = tmp_path_factory.mktemp("a")
    for given_labels in (renamed, drawn):
        pairs = {(right[vertex], label) for vertex, label in given_labels.items()}
        equivalent = len(pairs) == len(set(right.values())) == len(set(given_labels.values()))
        verdict = validate(as_graph(graph), write(folder / "a-WCC", lines(given_labels)))
        assert bool(verdict) == equivalent
        if not equivalent:
            assert verdict.rule == "component"
            assert np.isin(verdict.vertex, range(len(VERTICES)))


def test_the_component_that_is_wrong_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path / "a.txt", "0 1\n2 3\n")
    for labels, message in (
        ("0 5\n1 6\n2 7\n3 7\n", "vertex 1 is connected to vertex 0, but has another label"),
        ("0 5\n1 5\n2 5\n3 5\n", "vertex 2 has the label of vertex 0, to which it is not connected"),
    ):
        output = write(tmp_path / "a-WCC", labels)
        assert run_command(["validate", str(path), str(output)]) == 1
        assert f"rule 'component' is broken: {message}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a-BFS", "0 0\n1 x\n2 1\n3 1\n", "a-BFS, line 2: '1 x' is not a vertex and its value, integers"),
        ("a-BFS", "0 0\n1\n2 1\n3 1\n", "a-BFS, line 2: '1' is not a vertex and its value"),
        ("a-BFS", "0 0\n1 1 1\n2 1\n3 1\n", "a-BFS, line 2: '1 1 1' is not a vertex and its value"),
        ("a-BFS", f"0 0\n1 {2**63}\n2 1\n3 1\n", "a-BFS, line 2: .* is not a vertex and its value"),
        ("a-BFS", f"0 0\n1 {2**40}\n2 1\n3 1\n", f"{2**40} is not a distance"),
        ("a-BFS", "0 0\n1 1\n2 1\n", "must hold each vertex of .* once: vertex 3 is missing"),
        ("a-WCC", "0 0\n1 0\n2 1\n2 1\n", "must hold each vertex of .* once: vertex 2 occurs 2 times"),
        ("a-WCC", "0 0\n1 0\n2 1\n9 1\n", "9 is not a vertex"),
        ("a-WCC", "0 0\n1 0\n2 1\n3 1\n3 1\n", "a-WCC has more lines than the graph has vertices, 4"),
        ("a-WCC", "", "a-WCC is empty"),
        ("a-PR", "0 0\n", r"the suffix of a result file is one of .*, or LDBC's -BFS or -WCC"),
    ],
)
def test_bad_outputs(tmp_path: Path, name: str, content: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as error:
        validate([(0, 1), (2, 3)], write(tmp_path / name, content))
    check_message(error)


def test_what_does_not_go_with_an_output(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = write(tmp_path / "a-WCC", "0 0\n1 0\n2 0\n")
    assert run_command(["validate", "path:3", str(output), "--depth-limit", "1"]) == 2
    assert "holds components, which have neither a depth limit nor a target" in capsys.readouterr().err
    with pytest.raises(InputError, match="the ids of LDBC's outputs are integers"):
        validate([("a", "b")], output)
    saved = tmp_path / "b.csv"
    saved.write_text("vertex,distance\n0,0\n1,1\n2,2\n")
    assert validate([(0, 1), (1, 2)], saved)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"vertex": [0, 1, 5], "component": [0.2, 0.3, 0.4]}, "column 'component' holds double, not integers"),
        ({"vertex": [0, 1, 5], "component": ["a", "a", "b"]}, "column 'component' holds string, not integers"),
        ({"vertex": [0, 1, 5], "component": [0, None, 0]}, r"'component', row 1 \(from 0\): null is not a component"),
        ({"vertex": [0, None, 5], "component": [0, 0, 0]}, r"'vertex', row 1 \(from 0\): null is not a vertex"),
        ({"vertex": [0, 1, 6], "component": [0, 0, 0]}, "column 'vertex': 6 is not a vertex of edges"),
        ({"id": [0, 1, 5], "component": [0, 0, 0]}, "has no column 'vertex': it has id, component"),
        (
            {"vertex": [0, 1, 5], "distance": [0, 1, -1], "predecessor": [-1, 7, -1]},
            "column 'predecessor': 7 is not a vertex of edges",
        ),
    ],
)
def test_files_that_are_no_answer(tmp_path: Path, content: dict[str, list[object]], message: str) -> None:
    parquet.write_table(pa.table(content), tmp_path / "mine.parquet")
    with pytest.raises(InputError, match=rf"mine\.parquet.*{message}") as error:
        validate(as_graph([(0, 1), (5, 1)]), tmp_path / "mine.parquet")
    check_message(error)


def test_components_in_two_columns(tmp_path: Path) -> None:
    path = write(tmp_path / "mine.csv", "vertex,component,component\n0,0,1\n1,0,1\n5,0,1\n")
    with pytest.raises(InputError, match=r"mine\.csv has 2 columns 'component': leave one"):
        validate(as_graph([(0, 1), (5, 1)]), path)
