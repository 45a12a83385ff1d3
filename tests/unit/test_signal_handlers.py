"""What a signal handler raises, such as that the time is over, ends the call: it is no fault of what ran then."""

import enum
import functools
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from tomllib import TOMLDecodeError
from types import SimpleNamespace

import networkx as nx
import pandas as pd
import pytest

import rapids_bfs.nx as backend
from rapids_bfs import as_graph, compare, compare_suite, load
from rapids_bfs._core import cgroups, cores, machine, memory, rapids
from rapids_bfs._core.arguments import quoted
from rapids_bfs._core.cuda import arrays
from rapids_bfs._core.interrupts import is_interrupt
from rapids_bfs.adapters import _file, _objects
from rapids_bfs.adapters._file import File, file_errors
from rapids_bfs.comparison import records, suite, suite_runner
from rapids_bfs.data import downloads
from rapids_bfs.data.datasets import dataset
from rapids_bfs.engines import entry_points, registered, resolve
from rapids_bfs.engines.cpu import CPU
from rapids_bfs.engines.gpu import numba_cuda
from rapids_bfs.nx import should_run


class Stopped(TimeoutError, ValueError):
    """An OSError, as what the system says of files, and a ValueError, as what is wrong with ids."""


def stop(*_):
    raise Stopped


class Stop:
    def __call__(self, *_):
        raise Stopped


HANDLERS = {
    "function": stop,
    "callable": Stop(),
    "method": Stop().__call__,
    "partial": functools.partial(stop, 1),
    "exit": lambda *_: sys.exit("terminated"),
}


def send():
    signal.raise_signal(signal.SIGTERM)


@pytest.fixture
def handled(request):
    before = signal.signal(signal.SIGTERM, HANDLERS[getattr(request, "param", "function")])
    yield
    Node.left = 0
    signal.signal(signal.SIGTERM, before)


def raised_by(function, *arguments):
    try:
        function(*arguments)
    except BaseException as error:
        return error


@pytest.mark.parametrize("handled", HANDLERS, indirect=True)
def test_what_a_handler_raises(handled):
    assert is_interrupt(raised_by(send))
    assert is_interrupt(KeyboardInterrupt())


def test_what_others_raise(handled):
    """The default handlers are members of an enumeration, whose class can be called."""
    for function, argument in (int, "x"), (enum.Enum("Letter", "a"), "b"), (sys.exit, 1):
        assert not is_interrupt(raised_by(function, argument))
    with ThreadPoolExecutor(1) as thread:  # where no handler runs
        assert not thread.submit(lambda: is_interrupt(raised_by(stop))).result()


class Node:
    left = 0  # times that a node's hash is asked for until the signal is sent, once; 0: it is not

    def __hash__(self):
        Node.left -= 1
        if Node.left == 0:
            send()
        return id(self)


CALLS = {
    "conversion": lambda graph, _: nx.number_connected_components(graph, backend="rapids_bfs"),
    "view": lambda _, view: nx.number_connected_components(view, backend="rapids_bfs"),
    "node": lambda graph, _: nx.single_source_shortest_path_length(graph, next(iter(graph)), backend="rapids_bfs"),
    "nodes": lambda graph, _: nx.closeness_centrality(graph, next(iter(graph)), backend="rapids_bfs"),
    "single": lambda graph, _: nx.eccentricity(graph, v=next(iter(graph)), backend="rapids_bfs"),
    "bunch": lambda graph, _: nx.betweenness_centrality_subset(
        graph, list(graph)[:2], list(graph)[3:], backend="rapids_bfs"
    ),
}


@pytest.mark.parametrize("kept", [False, True])
@pytest.mark.parametrize("name", CALLS)
def test_a_networkx_function(name, kept, handled):
    """NetworkX answered, without an end to its time."""
    nodes = [Node() for _ in range(6)]
    graph = nx.Graph(pairwise(nodes))
    view = nx.restricted_view(graph, nodes[3:4], [])
    expected = CALLS[name](graph, view)
    for time in range(1, 1000):
        if not kept:
            graph.__networkx_cache__.clear()
        Node.left = time
        try:
            CALLS[name](graph, view)
        except Stopped:
            continue
        assert Node.left > 0, time
        break
    assert time > 1 or kept
    Node.left = 0
    assert CALLS[name](graph, view) == expected


@pytest.mark.parametrize("name", ["single_source_shortest_path_length", "closeness_centrality"])
def test_whether_a_networkx_function_should_run(name, handled):
    nodes = [Node() for _ in range(6)]
    graph = nx.Graph(pairwise(nodes))
    Node.left = 1
    with pytest.raises(Stopped):
        should_run(name, (graph, nodes[0]), {})


def send_and_hide():
    """As NetworkX does while a graph is made of another."""
    try:
        send()
    except Exception as error:
        raise nx.NetworkXError("Input is not a correct NetworkX graph.") from error


@pytest.mark.parametrize("read", [send, send_and_hide])
def test_a_file(read, handled):
    """It was said to be damaged."""
    with pytest.raises(Stopped), file_errors(File(Path("edges.graphml")), "GraphML"):
        read()


def test_networkx_converts_the_graph_the_next_time(handled, monkeypatch):
    """NetworkX had noted that the graph cannot be converted."""
    graph = nx.path_graph(4)
    with monkeypatch.context() as patched:
        patched.setattr(backend, "convert_from_nx", sends)
        with pytest.raises(Stopped):
            nx.bfs_edges(graph, 0, backend="rapids_bfs")
    assert list(nx.bfs_edges(graph, 0, backend="rapids_bfs")) == [(0, 1), (1, 2), (2, 3)]


def sends(*_, **__):
    send()


class Sends:
    """A file, or a folder with it."""

    read_bytes = read_text = __iter__ = __repr__ = sends

    def __truediv__(self, _):
        return self


def replaced(folder):
    with _file.replacing(folder / "graph.npz"):
        send()


def written(folder):
    with records.writing(folder / "rows.csv"):
        send()


def read_suite(folder):
    (folder / "mine.toml").write_text("graphs = ['karate']")
    return compare_suite(folder / "mine.toml")


FILES = {  # what sends the signal in which call
    "free memory": (memory, "MEMINFO", Sends(), lambda _: memory.available_bytes()),
    "limit of memory": (cgroups, "open", sends, lambda _: memory.available_bytes()),
    "quota of cores": (cgroups, "open", sends, lambda _: cores.usable_cores()),
    "processor": (machine, "Path", sends, lambda _: machine.describe()),
    "found": (_file, "os", SimpleNamespace(stat=sends), lambda _: _file.file_at("edges.csv")),
    "replaced": (_file, "secrets", _file.secrets, replaced),
    "written": (records, "file_path", records.file_path, written),
    "table": (Sends, "__arrow_c_stream__", sends, lambda _: as_graph(Sends())),
    "suite": (suite, "tomllib", SimpleNamespace(loads=sends, TOMLDecodeError=TOMLDecodeError), read_suite),
    "state": (suite.SuiteGraph, "source", property(sends), lambda _: suite.SuiteGraph("karate").file_state),
    "resumed": (
        suite_runner._ResultsFile,
        "path",
        Sends(),
        lambda _: suite_runner._ResultsFile._rows(suite_runner._ResultsFile),
    ),
    "kept": (downloads, "mapped", sends, lambda _: downloads._kept(dataset("gap:road"))),
    "to keep": (downloads, "replacing", sends, lambda _: downloads._keep(dataset("gap:road"), load("karate"))),
}


@pytest.mark.parametrize("name", FILES)
def test_files(name, handled, monkeypatch, tmp_path):
    """The file was said to be wrong or not there, or the call went on without it."""
    module, attribute, value, call = FILES[name]
    monkeypatch.setattr(module, attribute, value, raising=False)
    with pytest.raises(Stopped):
        call(tmp_path)


@pytest.mark.parametrize("what", [{0: Sends()}, pd.DataFrame({"source": ["a", 1], "target": ["b", 2]})])
def test_a_conversion(what, handled, monkeypatch):
    """The neighbours were said to be no list, or the column one of mixed types."""
    monkeypatch.setattr(_objects, "of_one_kind", sends)
    with pytest.raises(Stopped):
        as_graph(what)


def test_the_conversion_of_a_dict(handled):
    """Ids were said not to be hashable."""
    nodes = [Node() for _ in range(3)]
    neighbors = dict.fromkeys(nodes, nodes)
    for time in range(1, 100):
        Node.left = time
        try:
            as_graph(neighbors)
        except Stopped:
            continue
        break
    assert 1 < time < 99


def test_a_value_in_a_message(handled):
    with pytest.raises(Stopped):
        quoted(Sends())


@pytest.fixture
def cupy_there(monkeypatch, tmp_path):
    """As if there were a device and CuPy, whose code is what the returned function is given."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(arrays, "no_device", lambda: None)
    for name in "cupy", "cudf":
        monkeypatch.delitem(sys.modules, name, raising=False)
    forget = arrays.cupy_missing.cache_clear, rapids.package_missing.cache_clear
    for each in forget:
        each()

    def write(name, code):
        (tmp_path / f"{name}.py").write_text(f"import signal\n{code}\n")

    yield write
    for name in "cupy", "cudf":
        sys.modules.pop(name, None)
    for each in forget:
        each()


SEND = "signal.raise_signal(signal.SIGTERM)"
COMPILER = f"""
from types import SimpleNamespace as Some
__version__ = "14.1.1"
class RawKernel:
    def __init__(self, *_): pass
    def compile(self): {SEND}
cuda = Some(runtime=Some(runtimeGetVersion=lambda: 13000))
"""


@pytest.mark.parametrize("code", [SEND, COMPILER], ids=["import", "toolkit"])
def test_the_first_use_of_cupy(cupy_there, handled, code):
    """It was missing for the rest of the process, and the CPU searched in its place."""
    cupy_there("cupy", code)
    with pytest.raises(Stopped):
        arrays.cupy_missing()


def test_the_import_of_a_package_of_rapids(cupy_there, handled, monkeypatch):
    monkeypatch.setattr(rapids.device, "cupy_missing", lambda: None)
    cupy_there("cudf", SEND)
    with pytest.raises(Stopped):
        rapids.package_missing("cudf")


class Toolkit:
    """numba.cuda, with an alarm while its toolkit is looked for."""

    @property
    def cudadrv(self):
        send()


@pytest.mark.parametrize("imported", [send, Toolkit], ids=["import", "toolkit"])
def test_the_first_use_of_numba_cuda(handled, monkeypatch, imported):
    monkeypatch.setattr(numba_cuda, "no_device", lambda: None)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: True)
    monkeypatch.setattr(numba_cuda, "imported", lambda name: imported())
    with pytest.raises(Stopped):
        numba_cuda.numba_cuda_missing.__wrapped__()


def test_the_name_of_a_package(handled):
    """It may be missing from the metadata, which is no error."""

    class Point:
        value = "package.module:Engine"

        @property
        def dist(self):
            send()

    with pytest.raises(Stopped):
        entry_points._package(Point())


class Slow(CPU):
    name = "slow"

    def prepare(self, graph, algorithm):
        send()


def test_a_comparison(handled, monkeypatch):
    """The engine had failed, and the others went on."""
    monkeypatch.setitem(registered(), "slow", Slow())
    resolve.cache_clear()
    with pytest.raises(Stopped):
        compare("karate", engines="slow,cpu", num_sources=1)


def test_a_suite(handled):
    with pytest.raises(Stopped):
        compare_suite(["karate"], engines="cpu", num_sources=1, progress=lambda *_: send())
