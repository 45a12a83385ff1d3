"""Files of graphs: every format brings back what it can hold."""

from __future__ import annotations

import gzip
import os
import re
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from graph_files import (
    GENERAL,
    MTX,
    any_text,
    archive,
    arcs,
    assert_same,
    check_message,
    ids,
    labelled_graphs,
    plain_graphs,
    saved_and_read,
    serialized,
    word,
    write,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from rapids_bfs import Graph, InputError, as_graph, read
from rapids_bfs.adapters._file import File, check_output, is_written_in_place, replacing, turn
from rapids_bfs.adapters._formats import FORMATS
from rapids_bfs.adapters.arrow import from_arrow
from rapids_bfs.adapters.files import check_graph_output

KEEPS_LABELS = (".parquet", ".arrow", ".arrows", ".npz")
KEEPS_DIRECTION = (".parquet", ".arrow", ".arrows", ".npz", ".sg", ".txt", ".txt.gz", ".txt.zst")
KEEPS_ISOLATED = (*KEEPS_DIRECTION, ".mtx", ".mtx.gz", ".mtx.bz2")


@settings(deadline=None, max_examples=60)
@given(plain_graphs())
@pytest.mark.parametrize("suffix", KEEPS_ISOLATED)
def test_plain_graphs_come_back(suffix: str, graph: Graph) -> None:
    assert_same(saved_and_read(graph, suffix), graph, direction=suffix in KEEPS_DIRECTION)


@settings(deadline=None, max_examples=60)
@given(plain_graphs())
def test_npz_and_sg_keep_the_order(graph: Graph) -> None:
    for suffix in (".npz", ".sg"):
        again = saved_and_read(graph, suffix)
        assert np.array_equal(again.offsets, graph.offsets)
        assert np.array_equal(again.targets, graph.targets)


@settings(deadline=None, max_examples=100)
@given(labelled_graphs(any_text))
@pytest.mark.parametrize("suffix", KEEPS_LABELS)
def test_labelled_graphs_come_back(suffix: str, graph: Graph) -> None:
    if suffix == ".npz" and any(str(id).endswith("\0") for id in ids(graph)):
        with pytest.raises(InputError, match="ends in a NUL"):
            saved_and_read(graph, suffix)
    else:
        assert_same(saved_and_read(graph, suffix), graph)


@pytest.mark.parametrize("suffix", KEEPS_LABELS)
def test_the_largest_id_alone_comes_back(suffix: str) -> None:
    offsets, targets = np.zeros(2, np.int32), np.empty(0, np.int32)
    graph = Graph(offsets, targets, labels=np.array([2**63 - 1]), directed=False)
    assert_same(saved_and_read(graph, suffix), graph)


@settings(deadline=None, max_examples=60)
@given(plain_graphs() | labelled_graphs(word) | labelled_graphs(any_text))
@pytest.mark.parametrize("suffix", [".csv", ".csv.zst", ".tsv.bz2", ".txt", ".el"])
def test_text_comes_back_or_is_refused(suffix: str, graph: Graph) -> None:
    """Ids and edges survive in text, though vertices may be numbered differently."""
    try:
        again = saved_and_read(graph, suffix)
    except InputError as error:
        reasons = "without edges|without vertices|as numbers|keeps no vertex ids|white space|has a NUL"
        if not re.search(reasons, str(error)):
            raise
        return
    assert arcs(again) == arcs(graph)
    assert sorted(ids(again), key=str) == sorted(ids(graph), key=str)
    assert all(type(id) in (int, str) for id in ids(again))


@settings(deadline=None, max_examples=60)
@given(plain_graphs(), st.sampled_from(["csr", "csc", "coo"]))
def test_sparse_archives(graph: Graph, format: str) -> None:
    if not graph.num_vertices:
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "matrix.npz")
        n = graph.num_vertices
        arrays = np.ones(graph.num_arcs), graph.targets.copy(), graph.offsets.copy()
        matrix = scipy.sparse.csr_array(arrays, shape=(n, n))
        matrix.sum_duplicates()
        scipy.sparse.save_npz(path, matrix.asformat(format))
        assert arcs(read(path)) == Counter(set(arcs(graph)))


def test_numbering_is_by_first_appearance(tmp_path: Path) -> None:
    edges = pd.DataFrame({"u": ["c", "a", "b", "d"], "v": ["b", "c", "d", "c"]})
    edges.to_parquet(tmp_path / "a.parquet", row_group_size=2)
    edges.to_csv(tmp_path / "a.csv", index=False)
    edges.to_csv(tmp_path / "a.txt", sep=" ", index=False, header=False)
    for graph in (from_arrow(edges), *(read(tmp_path / f"a.{suffix}") for suffix in ("parquet", "csv", "txt"))):
        assert ids(graph) == ["c", "b", "a", "d"]
        assert graph.targets.tolist() == [1, 3, 0, 0]


def test_integer_ids_with_gaps_become_labels(tmp_path: Path) -> None:
    for name, content in {"a.csv": "u,v\n5,100\n7,5\n", "a.txt": "5 100\n7 5\n"}.items():
        assert ids(read(write(tmp_path / name, content))) == [5, 7, 100]
    assert read(tmp_path / "a.txt", vertices=200).num_vertices == 200
    far = read(write(tmp_path / "far.csv", f"u,v\n5,{2**62}\n"))
    assert ids(far) == [5, 2**62]


def test_direction_can_be_said(tmp_path: Path) -> None:
    symmetric = write(tmp_path / "a.mtx", MTX.format("pattern", "symmetric") + "2 2 1\n2 1\n")
    assert read(symmetric, directed=True).directed
    for name, content in {"a.txt": "0 1\n", "a.csv": "u,v\n0,1\n", "a.el": "0 1\n"}.items():
        graph = read(write(tmp_path / name, content), directed=False, name="mine")
        assert not graph.directed
        assert graph.num_arcs == 2
        assert graph.name == "mine"


def test_gap_serialized(tmp_path: Path) -> None:
    directed = serialized(([0, 2, 2, 3], [2, 1, 0]), ([0, 1, 2, 3], [2, 0, 0]))
    graph = read(write(tmp_path / "a.sg", directed))
    assert graph.directed
    assert graph.offsets.tolist() == [0, 2, 2, 3]
    assert graph.targets.tolist() == [2, 1, 0]
    graph.save(tmp_path / "b.sg")
    assert (tmp_path / "b.sg").read_bytes() == directed
    undirected = serialized(([0, 1, 2], [1, 0]))
    assert not read(write(tmp_path / "c.sg", undirected)).directed


def test_gap_edge_list_is_bare(tmp_path: Path) -> None:
    as_graph(([0, 2], [2, 3]), vertices=4, directed=False).save(tmp_path / "a.el")
    assert (tmp_path / "a.el").read_text() == "0\t2\n2\t0\n2\t3\n3\t2\n"


@pytest.mark.parametrize("suffix", [".parquet", ".arrow", ".arrows", ".npz", ".mtx", ".mtx.gz", ".sg"])
@pytest.mark.parametrize("wrong", ["", ".dat", ".csv", ".txt", ".parquet", ".el"])
def test_content_tells_the_format(tmp_path: Path, suffix: str, wrong: str) -> None:
    graph = as_graph(([0, 1, 5], [1, 5, 2]), vertices=7)
    graph.save(tmp_path / f"a{suffix}")
    (tmp_path / f"a{suffix}").rename(tmp_path / f"b{wrong}")
    assert_same(read(tmp_path / f"b{wrong}"), graph)


@pytest.mark.parametrize("name", ["a", "a.dat", "a.txt", "a.dat.gz"])
@pytest.mark.parametrize(
    "content", ["source,target\n0,1\n1,2\n", "0 1\n1 2\n", "# c\n0\t1\n1\t2\n", "u;v;w\n0;1;\n1;2;5\n"]
)
def test_text_tells_the_format(tmp_path: Path, name: str, content: str) -> None:
    data = gzip.compress(content.encode()) if name.endswith(".gz") else content.encode()
    assert arcs(read(write(tmp_path / name, data))) == Counter([(0, 1), (1, 2)])


def test_options_that_do_not_go_with_the_format(tmp_path: Path) -> None:
    path = write(tmp_path / "a.mtx", GENERAL + "3 3 0\n")
    for option in ({"source": "u"}, {"vertices": 5}):
        with pytest.raises(InputError, match=r"is Matrix Market, which has no .* to choose"):
            read(path, **option)


def test_save_refuses_what_would_be_lost(tmp_path: Path) -> None:
    words = as_graph([("a", "b")])
    tuples = from_arrow(pd.DataFrame({"u": [(0, 0)], "v": [(0, 1)]}))
    isolated = as_graph(([0, 1], [1, 0]), vertices=5)
    gap_isolated = as_graph(nx.Graph([(10, 30)]), directed=False)
    for graph, name, message in (
        (words, "a.mtx", "a.mtx: Matrix Market keeps no vertex ids other than 0..n-1; .parquet.*.csv"),
        (words, "a.sg", "keeps no vertex ids"),
        (words, "a.el", "keeps no vertex ids"),
        (gap_isolated, "a.el", "keeps no vertex ids"),
        (tuples, "a.parquet", r"but \(0, 0\) is of type tuple: rename the vertices first"),
        (tuples, "a.npz", "is of type tuple"),
        (tuples, "a.csv", "is of type tuple"),
        (tuples, "a.txt", "is of type tuple"),
        (isolated, "a.csv", r"would lose vertices without edges \(3, the first is 2\)"),
        (isolated, "a.el", r"would lose vertices without edges \(1, the first is 4\)"),
        (as_graph([("1", "2")]), "a.csv", "would be read as numbers"),
        (as_graph([("a b", "2")]), "a.txt", "the id 'a b' .* has white space"),
        (as_graph([("\ud800", "b")]), "a.parquet", "is not valid Unicode"),
        (words, "a.xml", "unknown suffix; there are .parquet"),
        (words, "a.parquet.gz", "leave out .gz"),
    ):
        with pytest.raises(InputError, match=message) as error:
            graph.save(tmp_path / name)
        assert name in str(error.value)
        check_message(error)
    assert not os.listdir(tmp_path)


def test_outputs(tmp_path: Path) -> None:
    graph = as_graph(([0], [1]))
    path = tmp_path / "a.npz"
    graph.save(path)
    with pytest.raises(InputError, match=r"a\.npz exists: choose another name, or replace it with force=True"):
        graph.save(path)
    as_graph(([0, 1], [1, 0])).save(path, force=True)
    assert not read(path).directed
    with pytest.raises(InputError, match=r"there is no directory .*nowhere"):
        graph.save(tmp_path / "nowhere" / "a.npz")
    with pytest.raises(InputError, match="is a directory"):
        check_output(tmp_path, force=True)
    with pytest.raises(InputError, match="unknown suffix"):
        check_graph_output(tmp_path / "a.json")
    assert check_output(tmp_path / "new.json") == tmp_path / "new.json"
    if os.geteuid():
        tmp_path.chmod(0o500)
        with pytest.raises(InputError, match="not writable"):
            check_output(tmp_path / "b.npz")
        tmp_path.chmod(0o700)


def test_interrupted_save_leaves_nothing(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", "old")

    def interrupted() -> None:
        with replacing(path) as stream:
            stream.write(b"new")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_a_file_that_is_written_elsewhere(tmp_path: Path) -> None:
    """What a symbolic link leads to is replaced, with its mode; a pipe or a device is written where it is."""
    graph = as_graph((["x", "y"], ["y", "z"]))
    path, link, dangling = tmp_path / "a.parquet", tmp_path / "link.parquet", tmp_path / "dangling.parquet"
    os.mkdir(tmp_path / "folder")
    write(path, "old").chmod(0o640)
    link.symlink_to(path.name)
    dangling.symlink_to("folder/new.parquet")
    for each in (link, dangling):
        graph.save(each, force=True)
        assert each.is_symlink()
        assert_same(read(each.resolve()), graph)
    assert path.stat().st_mode & 0o777 == 0o640
    assert sorted(os.listdir(tmp_path)) == ["a.parquet", "dangling.parquet", "folder", "link.parquet"]
    for suffix in (".parquet", ".arrow", ".arrows", ".npz", ".graphml", ".csv", ".csv.gz"):
        os.mkfifo(pipe := tmp_path / f"pipe{suffix}")
        with ThreadPoolExecutor() as pool:
            sent = pool.submit(pipe.read_bytes)
            graph.save(pipe)
        assert pipe.is_fifo()
        assert arcs(read(write(tmp_path / f"sent{suffix}", sent.result()))) == arcs(graph)
    (tmp_path / "full.csv").symlink_to("/dev/full")
    with pytest.raises(InputError, match=r"full\.csv cannot be written: No space left on device"):
        graph.save(tmp_path / "full.csv")
    assert is_written_in_place(Path("/dev/stdout"))


ONE_FILE = (".parquet", ".arrow", ".npz", ".sg", ".mtx", ".mtx.gz", ".csv", ".txt", ".tar")
PARTS = (".e", ".v", ".properties")


@pytest.mark.parametrize(
    ("name", "suffixes", "summed"),
    [
        *((f"g{each}", [each], False) for each in ONE_FILE),
        ("g*.parquet", [".parquet"], False),
        *(("g.e", PARTS[:count], True) for count in (1, 2, 3)),
        ("g.e", PARTS, False),
    ],
)
def test_files_that_are_replaced_while_they_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, suffixes: Sequence[str], summed: bool
) -> None:
    """They are replaced before the first look, the second and so on, of LDBC's three all or some: what is read is the
    old graph or the new one."""
    several = name in ("g.e", "g*.parquet")
    graphs = (
        as_graph(([0, 1, 1], [1, 2, 0]), directed=False),
        as_graph(([3, 4, 0, 1, 3], [4, 0, 2, 0, 2]), directed=True),
    )
    for place, graph in enumerate(graphs):
        if name == "g.tar":
            graph.save(tmp_path / "g.mtx", force=True)
            write(tmp_path / f"{place}.tar", archive({"g.mtx": (tmp_path / "g.mtx").read_bytes()}))
        else:
            graph.save(tmp_path / f"{place}{suffixes[0]}")
        if name == "g.e" and not summed:
            properties = tmp_path / f"{place}.properties"
            write(properties, re.sub(".*crc32.*", "", properties.read_text()))
    before, after = (read(tmp_path / name.replace("g", place, 1)) for place in "01")
    whole = (arcs(before), before.directed), (arcs(after), after.directed)
    looks = moment = 0
    place_of = File.place.fget
    assert place_of

    def replaced(file: File) -> Path:
        nonlocal looks
        looks += 1
        if looks == moment:
            for suffix in suffixes:
                os.replace(tmp_path / f"other{suffix}", tmp_path / f"g{suffix}")
        return place_of(file)

    monkeypatch.setattr(File, "place", property(replaced))
    while looks >= moment:
        moment += 1
        for suffix in PARTS if name == "g.e" else suffixes:
            shutil.copy(tmp_path / f"0{suffix}", tmp_path / f"g{suffix}")
            shutil.copy(tmp_path / f"1{suffix}", tmp_path / f"other{suffix}")
        looks = 0
        try:
            graph = read(tmp_path / name)
        except InputError as error:
            if not (several or sys.platform != "linux") or not re.search(
                "changed while they were read|was saved with other", str(error)
            ):
                raise
        else:
            assert (arcs(graph), graph.directed) in whole
    assert moment > 3


def test_the_files_of_a_graph_are_put_in_place_by_one_thread_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    replace = Path.replace

    def tried(part: Path, target: Path) -> Path:
        with ThreadPoolExecutor() as pool:
            found.append(pool.submit(turn().acquire, blocking=False).result())
        return replace(part, target)

    monkeypatch.setattr(Path, "replace", tried)
    as_graph(([0], [1])).save(tmp_path / "a.e")
    assert found == [False] * 3


def test_every_suffix_is_there_once() -> None:
    suffixes = [suffix for format in FORMATS for suffix in format.suffixes]
    assert len(suffixes) == len(set(suffixes))
    assert all(callable(format.read) and callable(format.write) for format in FORMATS)
