"""Parquet files named by a pattern, as one graph."""

import numpy as np
import pandas as pd
import pytest
from strategies import edges_of

import rapids_bfs
from rapids_bfs import InputError, as_graph, bfs
from rapids_bfs.distributed.sources import ParquetEdges

IDS = {
    "integers": lambda ids: ids,
    "gaps": lambda ids: 5 * ids + 2,
    "scattered": lambda ids: ids * 10**14,
    "strings": lambda ids: [f"v{id}" for id in ids],
}


def written(folder, kind, parts=3, rows=40):
    """A frame, and the pattern of the files that it is in, one of them with several row groups."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        {"src": IDS[kind](rng.integers(0, 30, rows)), "w": 1.5, "dst": IDS[kind](rng.integers(0, 30, rows))}
    )
    for part, place in enumerate(np.array_split(np.arange(rows), parts)):
        frame.iloc[place].to_parquet(folder / f"part{part}.parquet", row_group_size=4 if part else rows)
    return frame, str(folder / "*.parquet")


@pytest.mark.parametrize("kind", sorted(IDS))
@pytest.mark.parametrize("devices", [None, "cpu:1", "cpu:3"])
@pytest.mark.parametrize("directed", [None, False])
def test_the_graph_is_that_of_all_edges(tmp_path, kind, devices, directed):
    frame, pattern = written(tmp_path, kind)
    whole = as_graph(frame, source="src", target="dst", directed=directed)
    graph = as_graph(pattern, directed=directed, devices=devices)
    assert graph.name == tmp_path.name
    assert graph.columns == ("src", "dst")
    here = graph if devices is None else graph.to("cpu")
    assert edges_of(here) == edges_of(whole)
    everybody = np.arange(whole.num_vertices)
    assert here.ids_of(everybody).tolist() == whole.ids_of(everybody).tolist()
    source = whole.ids_of(everybody[:1]).tolist()[0]
    assert bfs(graph, source).num_reached == bfs(whole, source).num_reached


@pytest.mark.parametrize("devices", [None, "cpu:2"])
def test_options(tmp_path, devices):
    _, pattern = written(tmp_path, "integers")
    graph = as_graph(pattern, source="dst", target="src", vertices=50, name="g", devices=devices)
    assert (graph.name, graph.num_vertices, graph.columns) == ("g", 50, ("dst", "src"))


@pytest.mark.parametrize("devices", [None, "cpu:2"])
def test_what_is_wrong_is_named(tmp_path, devices):
    _, pattern = written(tmp_path, "integers")
    with pytest.raises(InputError, match=r"no.parquet does not exist, and no file matches it"):
        as_graph(str(tmp_path / "*no.parquet"), devices=devices)
    with pytest.raises(InputError, match="no column 'x'"):
        as_graph(pattern, source="x", devices=devices)
    with pytest.raises(InputError, match="no header to choose"):
        rapids_bfs.load(pattern, header=False, devices=devices)
    pd.DataFrame({"src": ["a"], "dst": ["b"]}).to_parquet(tmp_path / "part7.parquet")
    with pytest.raises(
        InputError,
        match=r"part7.parquet has edges in 'src' \(.*string\) and .*: all of them must store edges the same way",
    ):
        as_graph(pattern, devices=devices)
    (tmp_path / "part7.parquet").write_bytes((tmp_path / "part1.parquet").read_bytes()[:-30])
    with pytest.raises(InputError, match=r"part7.parquet"):
        as_graph(pattern, devices=devices)
    (tmp_path / "part7.parquet").unlink()
    (tmp_path / "edges.csv").write_text("src,dst\n1,2\n")
    with pytest.raises(InputError, match=r"edges.csv is not Parquet: a pattern can only name Parquet files"):
        as_graph(str(tmp_path / "*"), devices=devices)
    pd.DataFrame({"src": [1], "dst": [-4]}).to_parquet(tmp_path / "part8.parquet")
    with pytest.raises(InputError, match="-4 is negative"):
        as_graph(pattern, devices=devices)


def test_a_file_with_a_star_in_its_name_is_a_file(tmp_path):
    written(tmp_path, "integers")
    (tmp_path / "part0.parquet").rename(tmp_path / "p*.parquet")
    assert as_graph(str(tmp_path / "p*.parquet")).num_edges < 20


@pytest.mark.parametrize("changed", [{"src": [0, 1], "dst": [1, 0]}, {"src": [0, 99], "dst": [99, 0]}])
def test_files_that_change_while_they_are_read(tmp_path, monkeypatch, changed):
    _, pattern = written(tmp_path, "integers")
    read = ParquetEdges.blocks

    def read_then_changed(edges, rank, size):
        yield from read(edges, rank, size)
        pd.DataFrame(changed).to_parquet(tmp_path / "part0.parquet")

    monkeypatch.setattr(ParquetEdges, "blocks", read_then_changed)
    with pytest.raises(InputError, match="the edges changed while they were read: try again"):
        as_graph(pattern, devices="cpu:1")


def test_files_that_do_not_all_carry_the_same(tmp_path):
    """A column that a later file lacks was an IndexError."""
    pd.DataFrame({"src": [0], "dst": [1], "w": [2]}).to_parquet(tmp_path / "a.parquet")
    pattern = str(tmp_path / "*.parquet")
    for other, found in (({}, "there is none"), ({"w": [0.5]}, "double")):
        pd.DataFrame({"src": [1], "dst": [2], **other}).to_parquet(tmp_path / "b.parquet")
        with pytest.raises(InputError, match=rf"b\.parquet, column 'w': {found}, and int64 in .*a\.parquet: all of"):
            rapids_bfs.read(pattern, edge_data=["w"])
        assert rapids_bfs.read(pattern, source="src", target="dst").num_edges == 2
    pd.DataFrame({"w": [3], "src": [1], "dst": [2]}).to_parquet(tmp_path / "b.parquet")
    assert rapids_bfs.read(pattern, edge_data=["w"]).edge_data["w"].tolist() == [2, 3]
