"""What the RAPIDS side does without RAPIDS: say what is missing, recognise types, keep cuGraph's contract of arguments.

What needs a GPU is tested in `tests/rapids`.
"""

import math
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import count
from types import ModuleType, SimpleNamespace

import networkx as nx
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse

from rapids_bfs import InputError, as_graph, bfs, compare
from rapids_bfs import cugraph as drop_in
from rapids_bfs._core import memory, rapids
from rapids_bfs._core.cuda import arrays as device
from rapids_bfs._core.cuda.driver import driver
from rapids_bfs.adapters import EXPORTERS, IMPORTERS, cudf, export, importer_of
from rapids_bfs.adapters.cudf import matches as is_cudf
from rapids_bfs.adapters.pylibcudf import NamedTable, _device_type, _names
from rapids_bfs.comparison.baselines import Baseline, EdgeInput
from rapids_bfs.cugraph.prepared import integer_ids, limit_of
from rapids_bfs.cugraph.searcher import Searcher
from rapids_bfs.engines import Options, registered, resolve
from rapids_bfs.engines.rapids.base import RapidsTraversal
from rapids_bfs.engines.rapids.pylibcugraph import PyLibCuGraph
from rapids_bfs.errors import TraversalError
from rapids_bfs.generators import generate

NAMES = ("cugraph", "pylibcugraph", "nx-cugraph")
STREAM = SimpleNamespace(ptr=5)
without_rapids = pytest.mark.skipif(rapids.package_missing("cugraph") is None, reason="RAPIDS is here")


def of_type(module, name, **attributes):
    """An object whose type has this module and name, as a library's would."""
    return type(name, (), {"__module__": module, **attributes})()


class TestEngines:
    def test_are_registered(self):
        assert set(NAMES) <= registered().keys()
        assert registered()["pylibcugraph"].algorithms == ("top-down", "direction-optimizing")

    @pytest.mark.parametrize(
        ("installed", "error", "reason"),
        [
            (False, None, "cugraph is not installed: pip install 'rapids-bfs[rapids-cu"),
            (True, OSError("libcudf.so: no\nmore"), "cugraph cannot be imported (libcudf.so: no): pip install"),
            (True, None, None),
        ],
    )
    def test_say_what_is_missing(self, monkeypatch, installed, error, reason):
        def load(name):
            if error:
                raise error

        monkeypatch.setattr(device, "cupy_missing", lambda: None)
        monkeypatch.setattr("importlib.util.find_spec", lambda name: installed or None)
        monkeypatch.setattr("importlib.import_module", load)
        found = rapids.package_missing.__wrapped__("cugraph")
        assert found is None if reason is None else found.startswith(reason)

    @pytest.mark.skipif(bool(driver().devices), reason="there is a CUDA device")
    def test_without_a_device_its_reason_comes_first(self):
        comparison = compare(generate("path:5"), num_sources=1)
        for name in (*NAMES, "pylibcugraph:direction-optimizing"):
            assert comparison[name].unavailable.startswith("there is no CUDA device")
        assert comparison.valid
        with pytest.raises(InputError, match="engine 'cugraph' cannot run here: there is no CUDA device"):
            bfs(generate("path:5"), 0, engine="cugraph")

    @pytest.mark.parametrize("name", NAMES)
    @pytest.mark.parametrize(
        ("options", "sources", "reason"),
        [
            ({"target": 1}, 1, "does not support target"),
            ({"deterministic": True}, 1, "does not support deterministic"),
            ({"trace": True}, 1, "nothing of its levels"),
            ({}, 2, "does not support several sources"),
        ],
    )
    def test_decline_what_cugraph_cannot_do(self, name, options, sources, reason):
        engine = registered()[name]
        assert reason in engine.unsupported(generate("path:3"), engine.algorithms[0], Options(**options), sources)
        assert engine.unsupported(generate("path:3"), engine.algorithms[0], Options(depth_limit=2)) is None

    def test_depth_limit_0_is_no_limit_in_cugraph_alone(self):
        reasons = [
            registered()[name].unsupported(generate("path:3"), "", Options(depth_limit=0)) is None for name in NAMES
        ]
        assert reasons == [False, False, True]

    def test_direction_optimizing_wants_a_symmetric_graph(self):
        engine = PyLibCuGraph()
        directed = as_graph(([0], [1]))
        assert "only on undirected graphs" in engine.unsupported(directed, "direction-optimizing", Options())
        assert engine.unsupported(directed, "top-down", Options()) is None
        assert engine.unsupported(generate("path:3"), "direction-optimizing", Options()) is None

    def test_what_is_declined_is_a_reason_in_compare_and_an_error_in_bfs(self, monkeypatch):
        engine = resolve("cpu").engine
        monkeypatch.setattr(type(engine), "unsupported", lambda *arguments: "it does not like mondays")
        comparison = compare(generate("path:3"), num_sources=1, engines="cpu,scipy")
        assert comparison["cpu"].unavailable == "it does not like mondays"
        assert comparison["scipy"].valid
        with pytest.raises(InputError, match="engine 'cpu' cannot run this search: it does not like mondays"):
            bfs(generate("path:3"), 0, engine="cpu")

    @pytest.mark.parametrize("dtype", [np.int32, np.int64])
    @pytest.mark.parametrize("predecessors", [True, False])
    def test_answers_are_put_in_our_order(self, monkeypatch, dtype, predecessors):
        """cuGraph's rows come in its own order, and its largest number is our -1. NumPy stands in for CuPy."""
        monkeypatch.setitem(sys.modules, "cupy", np)

        class Search(RapidsTraversal):
            def search(self, sources, options):
                raise NotImplementedError

        far = np.iinfo(dtype).max
        rows = [np.array(row, dtype) for row in ([1, far, 0], [2, -1, -1], [3, 0, 2])]
        if not predecessors:
            rows[1] = None
        distances, tree = Search(generate("path:5")).answer(tuple(rows))
        assert distances.tolist() == [-1, -1, 0, 1, -1]
        assert distances.dtype == np.int32
        assert tree is None if not predecessors else tree.tolist() == [-1, -1, -1, 2, -1]


class TestDropIn:
    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"start": 0, "i_start": 1}, "cannot specify both 'start' and 'i_start'"),
            ({}, "must specify 'start' or 'i_start', but not both"),
            ({"start": 0}, "obj of type <class 'networkx.classes.graph.Graph'> is not supported."),
        ],
    )
    def test_errors_are_those_of_cugraph(self, arguments, message):
        with pytest.raises(TypeError) as raised:
            drop_in.bfs(nx.path_graph(3), **arguments)
        assert str(raised.value) == message

    def test_directed_is_not_for_graphs(self):
        graph = of_type("cugraph.structure.graph_classes", "Graph")
        with pytest.raises(TypeError, match="'directed' cannot be specified for a Graph-type input"):
            drop_in.bfs(graph, 0, directed=True)

    def test_classes_derived_from_graph_are_graphs(self):
        theirs = type(of_type("cugraph.structure.graph_classes", "Graph"))
        with pytest.raises(TypeError, match="'directed' cannot be specified for a Graph-type input"):
            drop_in.bfs(type("Mine", (theirs,), {})(), 0, directed=True)

    @pytest.mark.parametrize("true", [True, np.True_])
    def test_reverse(self, true):
        with pytest.raises(NotImplementedError, match="reverse processing of graph is currently not supported"):
            drop_in.bfs_edges(None, 0, reverse=true)

    @pytest.mark.parametrize(
        ("function", "options"),
        [
            (drop_in.bfs_edges, {"reverse": 1}),
            (drop_in.bfs, {"directed": 0}),
            (drop_in.bfs, {"return_predecessors": "no"}),
        ],
    )
    def test_flags_are_bools(self, function, options):
        (name,) = options
        with pytest.raises(InputError, match=f"{name} must be True"):
            function(scipy.sparse.csr_array(np.eye(3)), 0, **options)

    @pytest.mark.parametrize(
        ("given", "limit"), [(None, None), (-1, None), (np.int64(-1), None), (0, 0), (np.uint8(2), 2), (1 << 70, None)]
    )
    def test_depth_limits(self, given, limit):
        assert limit_of(given) == limit

    @pytest.mark.parametrize("given", [2.5, math.nan, math.inf, "2", True, [2]])
    def test_what_is_no_depth_limit_is_named(self, given):
        with pytest.raises(InputError, match="the depth limit must be a whole number, not "):
            limit_of(given)

    @without_rapids
    def test_types_are_refused_before_frames_are_made(self):
        with pytest.raises(TypeError, match="is not supported"):
            drop_in.k_hop_nbrs(nx.path_graph(3), 0, 1)

    @pytest.mark.parametrize(
        "start", [3, np.int32(3), [3], np.array([3]), pd.Series([3]), pd.DataFrame({"x": [3], "y": [4]})]
    )
    def test_starts(self, start):
        found = integer_ids(start)
        assert found.tolist() == [3]
        assert found.dtype.kind == "i"

    @pytest.mark.parametrize(
        ("names", "predecessors"),
        [
            ({"0": ["a", "b", "c"]}, {"predecessor": ["-1", "a", "a"]}),
            ({"0": np.array([7, 8, 9], np.uint8)}, {"predecessor": [-1.0, 7.0, 7.0]}),
            ({"0": [0.5, 1.5, 2.5]}, {"predecessor": [-1.0, 0.5, 0.5]}),
            (
                {"0": ["a", "b", "c"], "1": [4, 5, (1 << 53) + 1]},
                {"0_predecessor": ["-1", "a", "a"], "1_predecessor": [-1, 4, 4]},
            ),
        ],
    )
    @pd.option_context("future.infer_string", True)
    def test_frames_of_graphs_that_were_renumbered(self, monkeypatch, names, predecessors):
        """pandas stands in for cuDF, whose strings have a type. No predecessor is the row behind the last."""
        monkeypatch.setitem(sys.modules, "cudf", pd)
        monkeypatch.setattr(cudf, "frame_of", pd.DataFrame)
        monkeypatch.setattr(cudf, "rows_at", lambda frame, places: frame.take(places).reset_index(drop=True))
        searcher = object.__new__(Searcher)
        searcher.names, searcher.vertices = pd.DataFrame(names), np.arange(3)
        found = searcher._named(np.array([0, 1, 1]), np.array([3, 0, 0]))
        several = len(names) > 1
        vertices = {f"{name}_vertex" if several else "vertex": list(ids) for name, ids in names.items()}
        expected = predecessors | vertices | {"distance": [0, 1, 1]}
        assert list(found.columns) == list(expected)
        assert found.to_dict("list") == expected
        assert [found[name].dtype.kind for name in predecessors] == [
            np.asarray(each).dtype.kind.replace("U", "O") for each in predecessors.values()
        ]

    @pytest.mark.parametrize(
        ("start", "vertices", "lost"),
        [
            ("c", [2], None),
            (["c", "a", "c"], [2, 0, 2], None),
            (["c", "z"], None, "'z' is not a vertex of"),
            ([], None, "at least one start"),
        ],
    )
    def test_starts_by_name(self, monkeypatch, start, vertices, lost):
        """pandas stands in for cuDF."""

        def places_of(rows, frame):
            found = rows.reset_index().merge(frame.reset_index(), on=["0"])
            return found["index_x"].to_numpy(), found["index_y"].to_numpy()

        monkeypatch.setitem(sys.modules, "cudf", pd)
        monkeypatch.setattr(pd.DataFrame, "to_pandas", pd.DataFrame.copy, raising=False)
        monkeypatch.setattr(cudf, "places_of", places_of)
        searcher = object.__new__(Searcher)
        searcher.names, searcher.graph = pd.DataFrame({"0": ["a", "b", "c"]}), generate("path:3")
        if lost is None:
            assert searcher.vertices_at(start).tolist() == vertices
        else:
            with pytest.raises(InputError, match=lost):
                searcher.vertices_at(start)

    def test_memory_is_of_cupys_pool_where_rmm_has_none(self, monkeypatch):
        class Driver:
            pass

        class Counting:
            def get_upstream(self):
                return Driver()

        rmm = ModuleType("rmm")
        rmm.mr = SimpleNamespace(CudaMemoryResource=Driver, StatisticsResourceAdaptor=Counting)
        monkeypatch.setitem(sys.modules, "rmm", rmm)
        for resource in (Driver, Counting):
            rmm.mr.get_current_device_resource = resource
            assert rapids.driver_allocates()
        rmm.mr.get_current_device_resource = object
        assert not rapids.driver_allocates()
        monkeypatch.delitem(sys.modules, "rmm")
        assert not rapids.driver_allocates()

    def test_bytes_that_rmm_can_still_hand_out(self, monkeypatch):
        """Of 80 bytes of which 30 are free, to resources above resources."""

        class Resource:
            def __init__(self, upstream=None, size=0):
                self.size = size
                if upstream is not None:
                    self.get_upstream = lambda: upstream

            def pool_size(self):
                return self.size

            def get_allocation_limit(self):
                return self.size

            def get_allocated_bytes(self):
                return 5

        names = (
            "LimitingResourceAdaptor",
            "PoolMemoryResource",
            "ManagedMemoryResource",
            "SystemMemoryResource",
            "Other",
        )
        limit, pool, managed, system, other = (type(name, (Resource,), {}) for name in names)
        rmm = ModuleType("rmm")
        rmm.mr = SimpleNamespace(**{each.__name__: each for each in (limit, pool, managed, system)})
        monkeypatch.setitem(sys.modules, "rmm", rmm)
        for resource, expected in [
            (other(), 80),
            (pool(other(), 40), 70),
            (other(pool(other(), 40)), 70),
            (limit(pool(other(), 40), 25), 20),
            (limit(pool(other(), 40), 100), 70),
            (limit(other(), 25), 20),
            (pool(managed(), 40), sys.maxsize),
            (limit(system(), 25), 20),
        ]:
            rmm.mr.get_current_device_resource = lambda resource=resource: resource
            assert rapids.pool_bytes(30, 80) == expected

    @pytest.mark.parametrize(("length", "allocations"), [(0, 1), (3, 1), (1 << 20, 1), (1 << 23, 2)])
    def test_small_arrays_share_an_allocation(self, monkeypatch, length, allocations):
        """Integers stand in for CuPy's pointers."""
        sizes = []

        def allocate(size):
            sizes.append(size)
            return 1 << 40 if len(sizes) == 1 else 1 << 50

        fake = SimpleNamespace(ndarray=lambda *described: described, cuda=SimpleNamespace(alloc=allocate))
        monkeypatch.setitem(sys.modules, "cupy", fake)
        monkeypatch.setattr(memory, "driver_allocates", lambda: False)
        (*first, begin), (*second, then) = memory.new_arrays(length, np.int32, np.int64)
        assert (first, second) == ([length, np.int32], [length, np.int64])
        assert len(sizes) == allocations
        assert begin % 256 == then % 256 == 0
        assert begin + 4 * length <= then
        assert sum(sizes) >= 12 * length
        assert allocations == 2 or then + 8 * length <= begin + sizes[0]

    @pytest.mark.parametrize(
        ("length", "stream", "ahead"),
        [
            (9, STREAM, True),
            (9, SimpleNamespace(ptr=5), False),
            (memory.AHEAD_BYTES // 12, STREAM, True),
            (memory.AHEAD_BYTES // 12 + 1, STREAM, False),
        ],
        ids=["taken", "of a new stream with the handle of one that is gone", "largest", "larger"],
    )
    def test_arrays_are_allocated_ahead_for_the_same_stream(self, monkeypatch, length, stream, ahead):
        made = []

        def new_arrays(*of):
            made.append(of)
            return [len(made)]

        current = STREAM
        cuda = SimpleNamespace(get_current_stream=lambda: current)
        monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(cuda=cuda))
        monkeypatch.setattr(memory, "new_arrays", new_arrays)
        arrays = memory.NextArrays(length, np.int32, np.int64)
        assert arrays.take() == [1]
        arrays.allocate_ahead()
        assert len(made) == 1 + (12 * length <= memory.AHEAD_BYTES)
        current, allocated = stream, len(made)
        assert arrays.take() == [allocated + (not ahead)]
        assert arrays.take() == [len(made)]  # none twice
        assert set(made) == {(length, np.int32, np.int64)}

    @pytest.mark.parametrize(("clears_last", "length"), [(False, 1 << 18), (True, 1 << 18), (True, (1 << 18) - 1)])
    def test_the_last_array_is_cleared_ahead_if_it_is_large(self, monkeypatch, clears_last, length):
        """Not where it is allocated when it is needed."""
        cuda = SimpleNamespace(get_current_stream=lambda: STREAM)
        monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(cuda=cuda))
        cleared = []
        array = SimpleNamespace(nbytes=4 * length)
        array.data = SimpleNamespace(memset_async=lambda *what: cleared.append(what))
        monkeypatch.setattr(memory, "new_arrays", lambda *of: ["distances", array])
        arrays = memory.NextArrays(length, np.int32, np.int32, clears_last=clears_last)
        arrays.allocate_ahead()
        large = clears_last and length == 1 << 18
        assert cleared == [(0xFF, 4 * length)] * large
        arrays.take()
        assert arrays.last_is_clear == large
        arrays.take()
        assert not arrays.last_is_clear

    def test_arrays_allocated_ahead_are_for_the_same_thread(self, monkeypatch):
        """Per-thread default streams have the same handle in all threads."""
        cuda = SimpleNamespace(get_current_stream=lambda: STREAM)
        monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(cuda=cuda))
        made = count()
        monkeypatch.setattr(memory, "new_arrays", lambda *of: [next(made)])
        arrays = memory.NextArrays(9, np.int32)
        with ThreadPoolExecutor(1) as other:
            arrays.allocate_ahead()
            assert other.submit(arrays.take).result() == [1]
            other.submit(arrays.allocate_ahead).result()
            assert other.submit(arrays.take).result() == [2]

    def test_no_memory_ahead_is_no_error(self, monkeypatch):
        def new_arrays(*of):
            raise MemoryError("out of memory")

        cuda = SimpleNamespace(get_current_stream=lambda: STREAM)
        monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(cuda=cuda))
        monkeypatch.setattr(memory, "new_arrays", new_arrays)
        arrays = memory.NextArrays(9, np.int32)
        arrays.allocate_ahead()
        with pytest.raises(MemoryError, match="out of memory"):
            arrays.take()


class TestAdapters:
    @pytest.mark.parametrize(
        ("obj", "module"),
        [
            (of_type("cudf.core.dataframe", "DataFrame"), "cudf"),
            ((of_type("cudf.core.series", "Series"),) * 2, "cudf"),
            (of_type("pandas", "DataFrame", as_gpu_object=None), "cudf"),
            (of_type("pylibcudf.table", "Table"), "pylibcudf"),
            (of_type("cugraph.structure.graph_classes", "MultiGraph"), "cugraph"),
            (of_type("pylibcugraph.graphs", "SGGraph"), "pylibcugraph"),
            (of_type("nx_cugraph.classes.graph", "Graph", adj={}, is_multigraph=None), "nx_cugraph"),
            (of_type("cupyx.scipy.sparse._csr", "csr_matrix", format="csr"), "scipy"),
            (nx.Graph(), "networkx"),
            (pd.DataFrame({"source": [0], "target": [1]}), "arrow"),
            (pa.RecordBatch.from_pydict({"source": [0], "target": [1]}), "arrow"),
            (([0], [1]), "edges"),
        ],
        ids=lambda each: each if isinstance(each, str) else type(each).__name__,
    )
    def test_types_are_told_apart(self, obj, module):
        assert importer_of(obj) == module

    def test_pandas_is_not_cudf(self):
        assert not is_cudf(pd.DataFrame({"as_gpu_object": [1]}))

    def test_every_module_has_what_the_registry_says(self):
        from importlib import import_module

        for module, function in [*IMPORTERS.items(), *EXPORTERS.values()]:
            assert callable(getattr(import_module(f"rapids_bfs.adapters.{module}"), function))

    @without_rapids
    @pytest.mark.parametrize("kind", ["cudf", "cupy", "cupyx", "cugraph", "pylibcugraph", "nx-cugraph"])
    def test_without_a_device_there_is_no_way_there(self, kind):
        with pytest.raises((InputError, ImportError)):
            export(generate("path:3"), kind)

    def test_where_an_arrow_table_is(self):
        assert _device_type(pa.RecordBatch.from_pydict({"a": [1]})) == 1  # ARROW_DEVICE_CPU

    def test_arrow_tables_are_shown_with_names(self):
        batch = pa.RecordBatch.from_pydict({"": [1, 2], "x": ["a", "b"]})
        table = NamedTable(batch, ("from", "to"))
        assert _names(table) == ["from", "to"]
        schema, array = table.__arrow_c_device_array__()
        renamed = pa.RecordBatch._import_from_c_device_capsule(schema, array)
        assert renamed.to_pydict() == {"from": [1, 2], "to": ["a", "b"]}


class TestWholeWay:
    FRAME = pd.DataFrame({"weight": [0.5] * 3, "u": ["a", "b", "c"], "v": ["b", "c", "d"]})

    def test_from_a_list_of_edges(self):
        comparison = compare(self.FRAME, sources=["a", "b"], engines="cpu,scipy,networkx", source="u", target="v")
        assert comparison.valid
        for runs in comparison.engines:
            assert runs.edges_ms
            assert all(ms > 0 for ms in runs.edges_ms)
        assert "edges to answer ms" in str(comparison)
        assert comparison.to_dict()["engines"][0]["edges_ms"] == comparison.engines[0].edges_ms

    def test_no_title_is_cut_short(self, monkeypatch):
        """However narrow the terminal is and however long the times are."""
        monkeypatch.setenv("COLUMNS", "40")
        comparison = compare(self.FRAME, sources=["a"], engines="cpu,scipy", source="u", target="v")
        assert "edges to answer ms" in str(comparison)
        for runs in comparison.engines:
            runs.runs[:] = [replace(run, ms=1e9) for run in runs.runs]
        printed = str(comparison)
        assert all(title in printed for title in ("median ms", "range ms", "x scipy", "valid"))
        assert "1,000,000,000" in printed
        assert "…" not in printed

    def test_from_a_pair_of_arrays(self):
        assert compare(([0, 1], [1, 2]), num_sources=1, engines="cpu")["cpu"].edges_ms

    def test_not_from_a_graph(self):
        comparison = compare(generate("path:4"), num_sources=1, engines="cpu")
        assert comparison["cpu"].edges_ms == []
        assert "edges to answer" not in str(comparison)
        assert EdgeInput.of(nx.path_graph(3)) is None

    def test_another_answer_than_the_graphs_is_told(self, monkeypatch):
        monkeypatch.setattr(Baseline, "end_to_end", lambda *arguments: lambda: 1)
        reason = compare(self.FRAME, sources=["a"], engines="cpu", source="u", target="v")["cpu"].unavailable
        assert (
            reason
            == f"failed: {TraversalError.__name__}: reached 1 vertices from the list of edges, and 4 from the graph"
        )
