"""Real graphs by name: the table, and what a download and the adjacency kept of it go through."""

from __future__ import annotations

import errno
import gzip
import hashlib
import os
import re
import subprocess
import sys
import threading
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import StringIO
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
from graph_files import GENERAL, archive

import rapids_bfs
from rapids_bfs import InputError, as_graph, bfs, load
from rapids_bfs.cli import run_command
from rapids_bfs.cli.info import datasets_table
from rapids_bfs.data import datasets, downloads
from rapids_bfs.data.datasets import COLLECTIONS, Dataset, dataset
from rapids_bfs.report.console import console, show

EDGES = gzip.compress(b"# Undirected graph\n0 1\n1 2\n7 2\n")
ROAD = gzip.compress(archive({"road/road_coord.mtx": "x", "road/road.mtx": GENERAL + "3 3 2\n1 2\n3 1\n"}))
PLAIN = b"0 1\n1 0\n1 2\n2 1\n2 3\n3 2\n3 4\n4 3\n"  # each undirected edge twice, as many of cuGraph's files have them
CONTENTS = {"tar.gz": ROAD, "txt": PLAIN}


class Handler(BaseHTTPRequestHandler):
    """What is asked for decides how it is sent."""

    def do_GET(self) -> None:
        self.server.asked.append(self.path)  # type: ignore[attr-defined]
        content = CONTENTS.get(self.path.split("/")[-1].partition(".")[2], EDGES)
        how = self.path.split("/")[1]
        if how == "missing":
            self.send_error(404)
            return
        if how == "moved":
            self.send_response(302)
            self.send_header("Location", self.path.replace("moved", "plain"))
            self.end_headers()
            return
        if how == "silent":
            self.rfile.read(1)  # until whoever asked hangs up
            return
        self.send_response(206 if how == "part" else 200)
        if how not in ("cut", "endless"):
            self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if how == "cut":
            self.wfile.write(content[: self.server.cut])  # type: ignore[attr-defined]
        elif how == "endless":
            with suppress(ConnectionError):
                while self.wfile.write(content):
                    pass
        elif how == "broken":
            self.wfile.write(content[:-5])
        elif how == "slow":
            for byte in content:
                self.wfile.write(bytes([byte]))
                self.wfile.flush()
        else:
            self.wfile.write(content)

    def log_message(self, *arguments: object) -> None:
        pass


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ThreadingHTTPServer]:
    monkeypatch.setenv(datasets.FOLDER, str(tmp_path / "kept"))
    made = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made.asked = []  # type: ignore[attr-defined]
    thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield made
    made.shutdown()
    thread.join()
    made.server_close()


def served(server: ThreadingHTTPServer, how: str, file: str = "edges.txt.gz", **more: object) -> Dataset:
    url = f"http://127.0.0.1:{server.server_port}/{how}/{file}"
    return Dataset("snap:edges", url, file, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("how", ["plain", "moved", "slow"])
def test_a_download(server: ThreadingHTTPServer, how: str) -> None:
    found = served(server, how, sha256=hashlib.sha256(EDGES).hexdigest())
    graph = downloads.load(found)
    assert (graph.name, graph.num_edges, graph.directed) == ("snap:edges", 3, False)
    assert sorted(os.listdir(found.folder)) == ["adjacency", "edges.txt.gz"]
    assert found.kept == sum(path.stat().st_size for path in found.folder.rglob("*") if path.is_file())
    asked = len(server.asked)  # type: ignore[attr-defined]
    again = downloads.load(found, name="mine")
    assert again.name == "mine"
    assert list(again) == list(graph) == [0, 1, 2, 7]
    assert len(server.asked) == asked  # type: ignore[attr-defined]


def test_an_archive_of_several_files(server: ThreadingHTTPServer) -> None:
    graph = downloads.load(served(server, "plain", "road.tar.gz"))
    assert (graph.num_vertices, graph.num_edges, graph.directed) == (3, 2, True)
    assert downloads.load(served(server, "plain", "road.tar.gz"), directed=False).num_arcs == 4


@pytest.mark.parametrize(
    ("how", "reason"),
    [
        ("missing", r"127\.0\.0\.1:\d+ answers 404 Not Found"),
        ("broken", "the connection broke off"),
        ("part", r"127\.0\.0\.1:\d+ answers 206 Partial Content"),
        ("endless", r"it is larger than 1\.00 MiB, which is too much for snap:edges"),
        ("silent", r"127\.0\.0\.1:\d+ does not answer"),
        ("wrong", "its SHA-256 is not the one that its publisher states"),
    ],
)
def test_a_download_that_fails(
    server: ThreadingHTTPServer, monkeypatch: pytest.MonkeyPatch, how: str, reason: str
) -> None:
    """One line names the address, the file and the folder, and nothing is left there."""
    monkeypatch.setattr(downloads, "TIMEOUT", 0.2 if how == "silent" else 30)
    monkeypatch.setattr(downloads, "SMALL", 1 << 20)
    found = served(server, how, sha256="0" * 64 if how == "wrong" else None, edges=3)
    with pytest.raises(InputError, match=rf"^snap:edges cannot be downloaded \({reason}\): put a copy of ") as error:
        downloads.load(found)
    message = str(error.value)
    assert message.endswith(f"put a copy of {found.url} as {found.file} into {found.folder}")
    assert len(message.splitlines()) == 1
    assert not list(found.folder.iterdir())


@pytest.mark.parametrize("interrupted", ["", "_download", "read"])
@pytest.mark.parametrize(
    ("file", "cut", "reason"),
    [
        ("edges.txt", 24, r"edges\.txt had 4 vertices, 3 undirected edges, and its publisher states 5 vertices and 8"),
        ("edges.txt", 20, r"edges\.txt had 4 vertices, 5 undirected edges, and its publisher states 5 vertices and 8"),
        ("edges.txt.gz", -9, r"edges\.txt\.gz.* the download was damaged, and has been removed: load it again"),
        ("road.tar.gz", -9, r"road\.tar\.gz.* the download was damaged, and has been removed: load it again"),
    ],
)
def test_a_download_that_is_cut_off_where_nothing_announces_its_length(
    server: ThreadingHTTPServer, monkeypatch: pytest.MonkeyPatch, file: str, cut: int, reason: str, interrupted: str
) -> None:
    """What there was of it was kept for ever, as a smaller graph."""
    server.cut = cut  # type: ignore[attr-defined]
    found = served(server, "cut", file, **{"vertices": 5, "edges": 8, "directed": False} if file == "edges.txt" else {})
    if interrupted:
        with monkeypatch.context() as patch:
            patch.setattr(downloads, interrupted, Mock(side_effect=KeyboardInterrupt))
            with pytest.raises(KeyboardInterrupt):
                downloads.load(found)
        assert found.unchecked.exists() == found.download.exists() == (interrupted == "read")
    with pytest.raises(InputError, match=reason):
        downloads.load(found)
    assert not list(found.folder.iterdir())
    server.cut = None  # type: ignore[attr-defined]
    assert downloads.load(found).num_edges in (2, 3, 4)
    assert sorted(os.listdir(found.folder)) == ["adjacency", file]


def test_figures_that_cannot_be_compared(server: ThreadingHTTPServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Then the length must be announced. A packed file shows that it is whole, and may have more edges than stated;
    what the user put there is taken as it is."""
    server.cut = None  # type: ignore[attr-defined]
    with pytest.raises(InputError, match="the size is not announced"):
        downloads.load(served(server, "cut", "edges.txt", edges=7, exact=False))
    assert downloads.load(served(server, "plain", "edges.txt", edges=7, exact=False)).num_edges == 4
    assert downloads.load(replace(served(server, "plain", edges=2, vertices=5), name="snap:packed")).num_edges == 3
    found = replace(served(server, "plain", "road.tar.gz", vertices=4), name="snap:road")
    with pytest.raises(
        InputError, match="had 3 vertices, 2 directed edges, and its publisher states 4 vertices: it has"
    ):
        downloads.load(found)
    found.download.write_bytes(ROAD)
    assert downloads.load(found).num_vertices == 3


def test_what_is_too_large_for_the_memory_is_kept(server: ThreadingHTTPServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(downloads, "read", Mock(side_effect=InputError("it needs 1 TiB")))
    found = served(server, "plain")
    with pytest.raises(InputError, match=r"^it needs 1 TiB; if the download is damaged, remove it$"):
        downloads.load(found)
    assert found.download.read_bytes() == EDGES


def test_without_a_network(server: ThreadingHTTPServer) -> None:
    found = replace(served(server, "plain"), url="http://127.0.0.1:9/edges.txt.gz")
    with pytest.raises(InputError, match=r"\(there is no connection to 127\.0\.0\.1:9\): put a copy of http"):
        downloads.load(found)
    found.download.write_bytes(EDGES)
    assert downloads.load(found).num_edges == 3


def test_a_folder_that_cannot_be_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv(datasets.FOLDER, str(tmp_path / "file"))
    with pytest.raises(InputError, match=r"file.snap.* cannot be made .*: set RAPIDS_BFS_DATASETS to a folder"):
        load("snap:roadNet-CA")


def test_options_are_checked_before_the_download(server: ThreadingHTTPServer) -> None:
    with pytest.raises(InputError, match="directed must be True, False or None"):
        load("snap:roadNet-CA", directed="no")


def test_without_pooch(server: ThreadingHTTPServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(InputError, match=r"pip install 'rapids-bfs\[datasets\]', or put a copy of http.* into .*snap"):
        downloads.load(served(server, "plain"))


class FullDisk:
    """A file on a disk without space."""

    def __init__(self, file: object) -> None:
        self.file = file

    def __enter__(self) -> FullDisk:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def __getattr__(self, name: str) -> object:
        return getattr(self.file, name)

    def write(self, data: bytes) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_no_space_for_the_download(server: ThreadingHTTPServer, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*args: str) -> FullDisk:
        return FullDisk(open(*args))

    monkeypatch.setattr(downloads, "open", full, raising=False)
    found = served(server, "plain")
    with pytest.raises(InputError, match=r"cannot be downloaded \(No space left on device\)"):
        downloads.load(found)
    assert not list(found.folder.iterdir())


def test_no_space_for_the_adjacency(server: ThreadingHTTPServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """The graph is there all the same."""

    def full(path: Path, array: np.ndarray, allow_pickle: bool) -> None:
        path.touch()
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(np, "save", full)
    found = served(server, "plain")
    with pytest.warns(UserWarning, match=r"No space left on device: the next load reads the download again"):
        assert downloads.load(found).num_edges == 3
    assert os.listdir(found.folder) == ["edges.txt.gz"]


TWO = """
import sys
from rapids_bfs.data import downloads
from rapids_bfs.data.datasets import Dataset
print(downloads.load(Dataset("snap:edges", sys.argv[1], "edges.txt.gz")).num_edges)
"""


def test_two_processes_at_once(server: ThreadingHTTPServer) -> None:
    found = served(server, "slow")
    started = [
        subprocess.Popen([sys.executable, "-c", TWO, found.url], stdout=subprocess.PIPE, text=True) for _ in range(2)
    ]
    assert [each.communicate()[0] for each in started] == ["3\n", "3\n"]
    assert sorted(os.listdir(found.folder)) == ["adjacency", "edges.txt.gz"]


def test_the_kept_adjacency_is_mapped(server: ThreadingHTTPServer) -> None:
    found = served(server, "plain")
    first, second = downloads.load(found), downloads.load(found)
    base = second.targets
    while isinstance(base, np.ndarray):
        base = base.base  # type: ignore[assignment]
    assert type(base).__name__ in ("memoryview", "mmap")
    assert np.array_equal(first.targets, second.targets)
    assert np.array_equal(first.labels, second.labels)
    assert bfs(second, 0).distances.tolist() == [0, 1, 2, 3]


def test_a_kept_adjacency_that_is_damaged_or_old_is_made_again(server: ThreadingHTTPServer) -> None:
    found = served(server, "plain")
    downloads.load(found)
    for path in [*found.adjacency.iterdir()]:
        whole = path.read_bytes()
        for damaged in (
            *(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :] for at in range(len(whole))),
            whole[:9],
        ):
            path.unlink()
            path.write_bytes(damaged)
            downloads.load(found).check()
        path.unlink()
        assert downloads.load(found).num_edges == 3
    found.download.write_bytes(gzip.compress(b"0 1\n"))
    assert downloads.load(found).num_edges == 1
    found.download.unlink()
    assert downloads.load(found).num_edges == 1  # the adjacency suffices


def test_strings_as_ids_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(datasets.FOLDER, str(tmp_path))
    found = dataset("cugraph:cyber")
    found.folder.mkdir(parents=True)
    found.download.write_text("idx,srcip,dstip\n0,10.0.0.1,10.0.0.2\n1,10.0.0.2,10.0.0.3\n")
    for _ in range(2):
        assert list(load("cugraph:cyber")) == ["10.0.0.1", "10.0.0.2", "10.0.0.3"]


@pytest.mark.parametrize("devices", [None, "cpu:2"])
def test_the_name_works_wherever_a_graph_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, devices: str | None
) -> None:
    monkeypatch.setenv(datasets.FOLDER, str(tmp_path))
    found = dataset("cugraph:karate_disjoint")  # as cuGraph's module spells it
    found.folder.mkdir(parents=True)
    found.download.write_text("0 1 1.0\n1 2 1.0\n")
    assert load(found.name, devices=devices).num_edges == 2
    assert rapids_bfs.as_graph(found.name, directed=True).num_arcs == 4
    for option in ({"vertices": 7}, {"source": "u"}):
        with pytest.raises(InputError, match=r"karate-disjoint is a dataset, which has no .* to choose"):
            load(found.name, **option)


def test_a_terminal_of_80_columns_breaks_no_name() -> None:
    for collection in COLLECTIONS:
        terminal = console(file=StringIO(), width=80, color_system=None)
        show(datasets_table(collection), out=terminal)
        printed = terminal.file.getvalue().split()  # type: ignore[attr-defined]
        assert {each.name for each in datasets.datasets() if each.name.startswith(f"{collection}:")} <= {*printed}


def test_the_table() -> None:
    assert tuple(tomllib.loads(Path(datasets.__file__).with_suffix(".toml").read_text())) == COLLECTIONS
    for found in datasets.datasets():
        assert re.fullmatch(r"https://[\w.-]+/[\w./+-]+", found.url)
        assert re.fullmatch(r"[\w.+-]+\.(tar\.gz|tar\.zst|txt\.gz|txt|csv)", found.file)
        assert found.vertices is None or found.vertices > 0
        assert found.citation
        assert found.sha256 is None or re.fullmatch("[0-9a-f]{64}", found.sha256)
        assert datasets.folder() in found.download.parents
    folders = [found.folder for found in datasets.datasets()]
    assert len(folders) == len(set(folders))
    assert dataset("suitesparse:HB/1138_bus").url == "https://sparse.tamu.edu/MM/HB/1138_bus.tar.gz"
    for name in ("gap:rod", "suitesparse:../x", "suitesparse:a/../b", "suitesparse:a", "ldbc:"):
        with pytest.raises(InputError, match="is not among the datasets"):
            dataset(name)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("gap", "gap is a collection: name one of its graphs, as in gap:"),
        ("GAP", "gap is a collection"),
        ("gaps:road", r"is neither a generator nor a dataset; did you mean gap:road\?"),
        ("soc_livejournal1", r"did you mean snap:soc-LiveJournal1"),
        ("sk-2005", r"did you mean suitesparse:LAW/sk-2005\?"),
        ("Karate", r"did you mean karate\?$"),
        ("karat", r"a bundled graph \(karate, moby, wordnet\); did you mean karate\?$"),
        ("Wordnet", r"did you mean wordnet\?$"),
        ("nothing_like_it", r"a bundled graph \(karate, moby, wordnet\)$"),
        ("rmt:20", r"is neither a generator nor a dataset; did you mean rmat:20\?$"),
        ("roadNet-C", r"did you mean snap:roadNet-CA\?$"),
        ("gap:raod", "there is gap:road"),
        ("cube:nonsense", "is not a generator"),
    ],
)
def test_a_name_that_is_nearly_one(name: str, said: str) -> None:
    with pytest.raises(InputError, match=said) as refused:
        load(name)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("devices", [None, "cpu:2"])
@pytest.mark.parametrize("name", ["karate", "rmat:5", "web:5", "grid:3", "snap:roadNet-CA"])
def test_graphs_by_name_take_the_same_options(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, devices: str | None
) -> None:
    """``name`` was a TypeError, and the direction of a generated graph was ignored without a word."""
    monkeypatch.setenv(datasets.FOLDER, str(tmp_path))
    copy = dataset("snap:roadNet-CA")
    copy.folder.mkdir(parents=True)
    copy.download.write_bytes(EDGES)
    plain = load(name, source=None, vertices=None, devices=devices)
    one = next(id for id in plain if plain.neighbors(id))
    other = plain.neighbors(one)[0]
    for read in (load, as_graph):
        assert read(name, name="mine", devices=devices).name == "mine"
        directed = read(name, directed=True, devices=devices)
        assert directed.directed
        assert directed.num_arcs == plain.num_arcs
        undirected = read(name, directed=False, devices=devices)
        assert not undirected.directed
        assert bfs(undirected, other).distance_to(one) == 1
        with pytest.raises(InputError, match=f"{name} is a .*, which has no number of vertices to choose"):
            read(name, vertices=40, devices=devices)
        with pytest.raises(InputError, match="directed must be True, False or None, not 'no'"):
            read(name, directed="no", devices=devices)
    with pytest.raises(InputError, match="a graph's name is a string, not 5"):
        load(name, name=5, devices=devices)


def test_a_copy_put_there_under_another_name_and_half_of_one(server: ThreadingHTTPServer) -> None:
    found = replace(served(server, "plain", "road.tar.gz"), url="http://127.0.0.1:9/road.tar.gz")
    found.folder.mkdir(parents=True)
    (found.folder / "copy.tar.gz").write_bytes(ROAD)
    with pytest.raises(InputError, match=rf"as road.tar.gz into {found.folder}, where copy.tar.gz has another name$"):
        downloads.load(found)
    found.download.write_bytes(ROAD[: len(ROAD) // 2])
    with pytest.raises(InputError, match=r"road.tar.gz cannot be read .*if the download is damaged, remove it"):
        downloads.load(found)
    (found.folder / "copy.tar.gz").replace(found.download)
    assert downloads.load(found).num_edges == 2


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        (
            {"../road.mtx": GENERAL + "3 3 1\n1 9\n"},
            r"road\.tar\.gz, \.\./road\.mtx, line 4: '9' is not one of the rows and columns 1\.\.3",
        ),
        ({"a.mtx": "", "b.mtx": ""}, r"road\.tar\.gz has no graph called road, and any of 'a\.mtx', 'b\.mtx' may be"),
        ({}, r"road\.tar\.gz has no graph called road, and none has a known suffix"),
    ],
)
def test_an_archive_that_holds_no_graph(server: ThreadingHTTPServer, members: dict[str, str], reason: str) -> None:
    """Nothing is written but the download, and an archive's paths lead to no file."""
    found = served(server, "plain", "road.tar.gz")
    found.folder.mkdir(parents=True)
    found.download.write_bytes(gzip.compress(archive(members, SYMTYPE=b"/etc/passwd", CHRTYPE=b"", FIFOTYPE=b"")))
    with pytest.raises(InputError, match=reason + ".*if the download is damaged, remove it"):
        downloads.load(found)
    kept = datasets.folder()
    assert {path for path in kept.parent.rglob("*") if path.is_file()} == {found.download}


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv(datasets.FOLDER, str(tmp_path))
    found = dataset("ldbc:example-directed")
    found.folder.mkdir(parents=True)
    found.download.write_bytes(bytes(2048))
    assert run_command(["datasets", "ldbc"]) == 0
    rows = capsys.readouterr().out.splitlines()
    assert any(re.fullmatch(r" *ldbc:example-directed +10 +17 +directed +2.00 KiB *", row) for row in rows)
    assert run_command(["datasets"]) == 0
    rows = capsys.readouterr().out.splitlines()
    assert any(re.fullmatch(r" *ldbc +39 +ldbc:\S+ +2.00 KiB *", row) for row in rows)
    assert len(rows) < 24
    assert run_command(["datasets", "gap:road"]) == 0
    assert "https://sparse.tamu.edu/MM/GAP/GAP-road.tar.gz" in capsys.readouterr().out
    assert run_command(["datasets", "nothing"]) == 2
    assert "there are gap, suitesparse" in capsys.readouterr().err
