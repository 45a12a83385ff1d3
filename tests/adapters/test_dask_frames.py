"""Frames of Dask as graphs: of pandas in this process, with and without a cluster, and results as frames of Dask."""

import gc
import os
import time
import tracemalloc
from collections import Counter
from contextlib import nullcontext
from itertools import pairwise

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from strategies import edge_lists, edges_of
from test_dask_launcher import eventually, kept_there, paused

from rapids_bfs import Graph, InputError, as_graph, bfs, validate
from rapids_bfs.adapters import importer_of

dask = pytest.importorskip("dask")
dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")

from rapids_bfs.distributed import frames as in_dask_frames  # noqa: E402
from rapids_bfs.distributed.dask import DaskLauncher  # noqa: E402
from rapids_bfs.distributed.frames import from_dask_cudf  # noqa: E402

IDS = {
    "0..n-1": lambda ids: ids,
    "with gaps": lambda ids: 3 * ids + 7,
    "scattered": lambda ids: ids * 10**15 + 1,
    "strings": lambda ids: np.array([f"v{id}" for id in ids], object),
    "int32": lambda ids: ids.astype(np.int32),
    "uint64": lambda ids: ids.astype(np.uint64),
    "floats": lambda ids: ids.astype(float),
    "categories": lambda ids: pd.Categorical([f"v{id}" for id in ids]),
    "decimals": lambda ids: pd.array(ids, pd.ArrowDtype(pa.decimal128(19, 0))),
}


def frames(columns, cuts):
    """A frame in partitions cut at these rows, some of which may be empty, each computed when it is asked for."""
    whole = pd.DataFrame(columns)
    ends = [0, *cuts, len(whole)]
    parts = [whole.iloc[first:last] for first, last in pairwise(ends)]
    return whole, dd.from_delayed([dask.delayed(part) for part in parts], meta=whole.iloc[:0], verify_meta=False)


def same_graph(graph, other):
    assert (graph.num_vertices, graph.directed) == (other.num_vertices, other.directed)
    assert edges_of(graph) == edges_of(other)
    everybody = np.arange(graph.num_vertices)
    assert graph.ids_of(everybody).tolist() == other.ids_of(everybody).tolist()


@settings(max_examples=40)
@given(
    st.data(),
    edge_lists(min_vertices=1, max_vertices=20, max_edges=60),
    st.sampled_from(sorted(IDS)),
    st.sampled_from([None, True, False]),
)
def test_the_graph_is_that_of_the_frame_in_one_piece(data, drawn, kind, directed):
    _, source, target = drawn
    columns = {"w": np.zeros(len(source)), "dst": IDS[kind](target), "src": IDS[kind](source)}
    cuts = sorted(data.draw(st.lists(st.integers(0, len(source)), max_size=4)))
    whole, frame = frames(columns, cuts)
    graph = as_graph(frame, directed=directed)
    same_graph(graph, as_graph(whole, source="src", target="dst", directed=directed))
    assert graph.columns == ("src", "dst")
    assert graph.device == "cpu"


@pytest.mark.parametrize("here", [{"devices": "local"}, {"device": "cpu"}], ids=str)
def test_on_a_cluster_it_comes_here_if_that_is_asked_for(dask_client, here):
    whole, frame = frames({"u": ["a", "b", "b"], "v": ["b", "c", "d"], "w": [1, 2, 3]}, [1, 1, 2])
    with dask_client.as_current(), dask.config.set(scheduler=dask_client):
        graph = as_graph(frame, **here)
        assert isinstance(graph, Graph)
        same_graph(graph, as_graph(whole, source="u", target="v"))
        result = bfs(graph, "a").to_frame()
        assert result.compute()["distance"].tolist() == [0, 1, 2, 2]


def test_results_go_back_to_frames_of_dask():
    _, frame = frames({"source": [7, 9], "target": [9, 30]}, [1])
    result = bfs(as_graph(frame), 7).to_frame()
    assert isinstance(result, dd.DataFrame)
    assert result.compute().to_dict("list") == {"vertex": [7, 9, 30], "distance": [0, 1, 2], "predecessor": [-1, 7, 9]}
    assert isinstance(bfs("karate", 0).to_frame("dask"), dd.DataFrame)


def test_vertices_and_name():
    _, frame = frames({"source": [0, 1], "target": [1, 0]}, [1])
    graph = as_graph(frame, vertices=5, name="five")
    assert (graph.num_vertices, graph.name) == (5, "five")


@pytest.mark.parametrize(
    ("columns", "cuts", "says"),
    [
        ({"source": [0, None, 2], "target": [1, 2, 3]}, [2], r"column 'source', row 1 \(from 0\): null"),
        ({"source": [0, 1, 2], "target": [1, 2, -3]}, [1, 2], r"column 'target', row 2 \(from 0\): -3 is negative"),
        ({"source": ["a", 1, "c"], "target": ["b", 2, "a"]}, [1, 2], "cast them to one"),
        ({"source": ["a", "b"], "target": [1, 2]}, [1], "never the same vertex"),
        ({"a": [1], "b": [2], "c": [3]}, [], "say which columns hold the edges"),
        ({"source": [[1], [2]], "target": [1, 2]}, [1], "Arrow has no type for these ids"),
        (
            {"source": pd.interval_range(0, 2), "target": pd.interval_range(1, 3)},
            [1],
            "interval.* cannot hold vertex ids",
        ),
        ({"source": [1j, 2j], "target": [1, 2]}, [1], "Arrow has no type"),
    ],
)
def test_what_is_no_table_of_edges(columns, cuts, says):
    with dask.config.set({"dataframe.convert-string": False}), pytest.raises(InputError, match=says):
        as_graph(frames(columns, cuts)[1])


def searched_in_a_task(context):
    with context():
        return bfs(as_graph(frames({"u": [0, 1], "v": [1, 2]}, [1])[1]), 0).as_dict()


def told_wrongly(*partitions):
    """A frame whose metadata say that its partitions have the columns u and v."""
    parts = [dask.delayed(lambda part: part)(part) for part in partitions]
    return dd.from_delayed(parts, meta=pd.DataFrame({"u": [0], "v": [0]}), verify_meta=False)


def assert_columns_are_found_by_name(devices):
    """Dask selects no columns of a frame that has them all by its metadata."""
    edges = pd.DataFrame({"u": [0, 1], "v": [1, 2]})
    graph = as_graph(told_wrongly(edges, pd.DataFrame({"v": [3], "w": [9], "u": [2]})), devices=devices)
    assert bfs(graph, 0).as_dict() == {0: 0, 1: 1, 2: 2, 3: 3}
    for part, says in (
        (
            edges.rename(columns={"v": "w"}),
            "has no column 'v', unlike what Dask's metadata say; its columns are 'u', 'w'",
        ),
        (edges.set_axis(["v", "v"], axis=1), "has no column 'u'"),
        (edges.assign(w=1).set_axis(["u", "v", "v"], axis=1), "has 2 columns 'v'"),
        (5, "is no frame, unlike what Dask's metadata say, but 5"),
    ):
        with pytest.raises(InputError, match=says):
            as_graph(told_wrongly(edges, part), devices=devices)


def test_partitions_that_are_not_as_their_metadata():
    assert_columns_are_found_by_name("local")


def test_an_error_of_the_frames_own_comes_out_as_it_is():
    frame = dd.from_delayed([dask.delayed(open)("/no/such/file")], meta={"source": "int64", "target": "int64"})
    with pytest.raises(FileNotFoundError):
        as_graph(frame)


def test_a_frame_of_dask_is_told_by_its_type():
    assert importer_of(dd.from_pandas(pd.DataFrame({"u": [1]}), npartitions=1)) == "dask"
    assert importer_of(type("DataFrame", (), {"__module__": "dask_cudf._expr.collection"})()) == "dask"


def test_the_base_package_does_not_import_dask():
    from programs import run

    searched = "import rapids_bfs, sys; rapids_bfs.bfs(([0], [1]), 0); rapids_bfs.as_graph({1: [2]}); "
    assert run(searched + "print('dask' in sys.modules)").stdout == "False\n"


def partition(seed, rows, n):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {"source": rng.integers(0, n, rows), "target": rng.integers(0, n, rows), "weight": rng.random(rows)}
    )


def test_the_frame_is_never_copied_as_a_whole():
    """While the graph is made there is less memory than the frame and the graph take, though the frame is not there."""
    parts, rows, n = 16, 1 << 18, 1 << 12
    frame = dd.from_delayed([dask.delayed(partition)(seed, rows, n) for seed in range(parts)], meta=partition(0, 1, n))
    as_graph(dd.from_pandas(partition(0, 99, n), npartitions=1))  # compiles
    pool, usual = pa.proxy_memory_pool(pa.system_memory_pool()), pa.default_memory_pool()
    pa.set_memory_pool(pool)
    tracemalloc.start()
    try:
        with dask.config.set(scheduler="synchronous"):
            graph = as_graph(frame, source="source", target="target", directed=True)
        peak = tracemalloc.get_traced_memory()[1] + pool.max_memory()
    finally:
        tracemalloc.stop()
        pa.set_memory_pool(usual)
    assert peak < parts * rows * (8 + 8 + 8) + graph.nbytes


def wait_for_file(begun, go):
    begun.touch()
    while not go.exists():
        time.sleep(0.02)


class TestOnWorkers:
    """Frames of pandas that become graphs on the workers of a cluster."""

    @pytest.fixture(autouse=True)
    def cluster(self, dask_client):
        with dask_client.as_current(), dask.config.set({"scheduler": dask_client, "dataframe.convert-string": False}):
            yield

    @settings(max_examples=12, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
    @given(
        st.data(),
        edge_lists(min_vertices=1, max_vertices=20, max_edges=60),
        st.sampled_from(sorted(IDS)),
        st.sampled_from([None, True, False]),
    )
    def test_the_graph_is_that_of_the_frame_in_one_piece(self, data, drawn, kind, directed):
        _, source, target = drawn
        columns = {"w": np.zeros(len(source)), "dst": IDS[kind](target), "src": IDS[kind](source)}
        cuts = sorted(data.draw(st.lists(st.integers(0, len(source)), max_size=4)))
        whole, frame = frames(columns, cuts)
        graph = as_graph(frame, directed=directed)
        expected = as_graph(whole, source="src", target="dst", directed=directed)
        assert graph.num_devices == 3
        assert graph.columns == ("src", "dst")
        assert (graph.num_vertices, graph.num_edges, graph.directed) == (
            *(expected.num_vertices, expected.num_edges, expected.directed),
        )
        assert edges_by_id(graph.to("cpu")) == edges_by_id(expected)
        if not expected.num_vertices:
            return
        sought = expected.ids_of(np.array([data.draw(st.integers(0, expected.num_vertices - 1))])).tolist()[0]
        result, wanted = bfs(graph, sought), bfs(expected, sought)
        assert validate(graph, result)
        assert result.as_dict() == wanted.as_dict()
        assert sorted(graph.neighbors(sought)) == sorted(expected.neighbors(sought))
        found = result.to_frame().compute()
        assert dict(zip(found["vertex"], found["distance"], strict=True)) == {
            id: wanted.distance_to(id) for id in expected
        }
        for vertex, before in zip(found["vertex"], found["predecessor"], strict=True):
            if result.distance_to(vertex) > 0:
                assert result.distance_to(before) == result.distance_to(vertex) - 1
            else:
                assert pd.isna(before) or before == -1

    def test_a_frame_that_paused_workers_do_not_compute(self, dask_client, monkeypatch):
        frame = frames({"u": [0], "v": [1]}, [])[1]
        launcher = DaskLauncher.shared(dask_client, sorted(dask_client.nthreads()), "cpu")  # ranks are tasks too
        line = (
            r"^frame: for 3 s Dask has made no progress with its partitions: it has paused 3 of 3 workers, whose memory"
        )
        with monkeypatch.context() as patch, paused(dask_client, launcher.workers):
            patch.setattr(in_dask_frames, "TIMEOUT", 3)
            with pytest.raises(InputError, match=line):
                as_graph(frame)
        assert as_graph(frame).num_vertices == 2

    def test_partitions_that_are_there_are_used_where_they_are(self, dask_client):
        frame = frames({"u": np.arange(40), "v": np.roll(np.arange(40), 1)}, [5, 9, 20])[1].persist()
        graph = as_graph(frame, source="u", target="v")
        assert graph.num_vertices == 40
        assert bfs(graph, 0).depth == 39

    @pytest.mark.parametrize(
        ("columns", "cuts", "says"),
        [
            ({"u": [0, None, 2], "v": [1, 2, 3]}, [1], r"partition 1, column 'u', row 0 \(from 0\): null is not"),
            ({"u": [0, 1, 2], "v": [1, 2, -3]}, [1, 2], r"partition 2, column 'v', row 0 \(from 0\): -3 is negative"),
            ({"u": [0, 1], "v": [1, 0.5]}, [], r"column 'v', row 1 \(from 0\): 0.5 is fractional"),
            ({"u": ["a", 1, "c"], "v": ["b", 2, "a"]}, [1, 2], "integers and strings: cast them to one"),
            ({"u": ["a", "b"], "v": [1, 2]}, [1], "never the same vertex"),
            ({"u": pd.to_datetime(["2026-01-01"] * 2), "v": pd.to_datetime(["2026-01-02"] * 2)}, [], "devices='local'"),
            ({"u": [[1], [2]], "v": [1, 2]}, [1], "Arrow has no type for these ids"),
        ],
    )
    def test_what_is_no_table_of_edges(self, columns, cuts, says):
        with pytest.raises(InputError, match=says):
            as_graph(frames(columns, cuts)[1], source="u", target="v")

    def test_partitions_that_are_not_as_their_metadata(self):
        assert_columns_are_found_by_name(None)

    def test_a_task_that_keeps_its_worker_from_taking_part(self, dask_client):
        with pytest.raises(
            InputError, match=r"^frame: this task holds the only thread of worker tcp://.*worker_client"
        ):
            dask_client.submit(searched_in_a_task, nullcontext, pure=False).result(600)
        found = dask_client.submit(searched_in_a_task, distributed.worker_client, pure=False).result(600)
        assert found == {0: 0, 1: 1, 2: 2}

    def test_an_error_keeps_nothing(self, dask_client):
        """Dask keeps the error of a task; the futures, and what else its callers have, must not stay with it."""
        gc.collect()
        before = set(dask_client.futures)
        with pytest.raises(InputError, match="-1 is negative"):
            as_graph(frames({"u": [0, -1], "v": [1, 2]}, [1])[1])
        gc.collect()
        eventually(lambda: set(dask_client.futures) <= before)

    def test_vertices(self):
        frame = frames({"u": [0, 1], "v": [1, 0]}, [1])[1]
        assert as_graph(frame, vertices=5).num_vertices == 5
        with pytest.raises(InputError, match="the id 1 is past the last of 1 vert"):
            as_graph(frame, vertices=1)
        with pytest.raises(InputError, match="only be given with integer ids"):
            as_graph(frames({"u": ["a"], "v": ["b"]}, [])[1], vertices=5)

    def test_data_of_edges_come_here(self):
        frame = frames({"u": [0, 1], "v": [1, 2], "w": [5, 6]}, [1])[1]
        with pytest.raises(InputError, match="carry no data: give devices='local'"):
            as_graph(frame, edge_data=["w"])
        assert as_graph(frame, edge_data=["w"], devices="local").edge_data["w"].tolist() == [5, 6]

    def test_ids_that_are_none(self):
        words = as_graph(frames({"u": ["a", "b"], "v": ["b", "é"]}, [1])[1])
        numbers = as_graph(frames({"u": [7, 10**15], "v": [10**15, 8]}, [1])[1])
        assert "é" in words
        assert 7 in numbers
        for id in ("z", 7, None, ("a",), 1.5, float("nan")):
            assert id not in words
        for id in ("7", 6, -1, None, (7,), 1 << 70):
            assert id not in numbers
        with pytest.raises(InputError, match="'z' is not a vertex"):
            bfs(words, "z")


def edges_by_id(graph):
    """The edges as pairs of ids, and how often each is there."""
    sources, targets = graph.to("edges")
    pairs = zip(sources.tolist(), targets.tolist(), strict=True)
    return Counter(pairs if graph.directed else map(frozenset, pairs))


class TestDistributed:
    """The path of cuDF's frames, with pandas's in their place and partitions in the host's memory."""

    @staticmethod
    def graph(client, columns, cuts, **options):
        with client.as_current(), dask.config.set({"scheduler": client, "dataframe.convert-string": False}):
            return from_dask_cudf(frames(columns, cuts)[1], source="u", target="v", device="cpu", **options)

    @pytest.mark.parametrize("kind", ["0..n-1", "with gaps", "scattered", "int32", "floats"])
    @pytest.mark.parametrize("cuts", [[], [0, 3, 3, 5, 7]], ids=["one partition", "several"])
    def test_parts_stay_on_the_workers_and_so_do_results(self, dask_client, kind, cuts):
        rng = np.random.default_rng(5)
        columns = {name: IDS[kind](rng.integers(0, 9, 12)) for name in "uv"}
        graph = self.graph(dask_client, columns, cuts, directed=False, name="g")
        whole = as_graph(pd.DataFrame(columns), directed=False)
        same_graph(graph.to("cpu"), whole)
        assert (graph.name, graph.columns) == ("g", ("u", "v"))
        source = int(whole.ids_of(np.array([0]))[0])
        with dask_client.as_current(), dask.config.set(scheduler=dask_client):
            frame = bfs(graph, source).to_frame()
            assert isinstance(frame, dd.DataFrame)
            assert frame.npartitions == 3
            found = frame.compute().set_index("vertex").sort_index()
            assert list(bfs(graph, source, predecessors=False).to_frame().columns) == ["vertex", "distance"]
        expected = bfs(whole, source).to_frame().set_index("vertex")
        assert found.index.tolist() == expected.index.tolist()
        assert found["distance"].tolist() == expected["distance"].tolist()
        reached = found[found["distance"] > 0]
        assert (found.loc[reached["predecessor"], "distance"].to_numpy() == reached["distance"] - 1).all()
        assert bfs(graph, source).to_frame("pandas")["distance"].tolist() == expected["distance"].tolist()

    def test_a_result_waits_for_a_worker_that_is_busy(self, dask_client, tmp_path):
        graph = self.graph(dask_client, {"u": [0, 1], "v": [1, 2]}, [])
        begun, go = tmp_path / "begun", tmp_path / "go"
        busy = dask_client.submit(wait_for_file, begun, go, workers=[graph.launcher.workers[1]], pure=False)
        eventually(begun.exists)
        with dask_client.as_current(), dask.config.set(scheduler=dask_client):
            frame = bfs(graph, 0).to_frame()
            gc.collect()
            dask_client.run(os.getpid)  # what to_frame has sent to the workers has arrived
            go.touch()
            assert sorted(frame.compute()["distance"].tolist()) == [0, 1, 2]
        del frame, busy
        token = graph.launcher.token
        eventually(lambda: set(dask_client.run(kept_there, token).values()) == {1})

    @pytest.mark.parametrize(
        ("columns", "says"),
        [
            ({"u": ["a", "b"], "v": ["b", "c"]}, "column 'u', partition 0 .*: over several GPUs ids are integers"),
            ({"u": [0, 1], "v": [1, None]}, "column 'v', partition 0 .*: null is not a vertex id"),
            ({"u": [0, 1], "v": [1, -1]}, "-1 is negative"),
            ({"u": [0, 1], "v": [1, 0.5]}, "0.5 is fractional"),
        ],
    )
    def test_bad_ids(self, dask_client, columns, says):
        with pytest.raises(InputError, match=says):
            self.graph(dask_client, columns, [1, 1])

    def test_without_a_cluster(self):
        with pytest.raises(InputError, match=r"on the workers of a cluster: first client = distributed\.Client"):
            from_dask_cudf(frames({"u": [0], "v": [1]}, [])[1], source="u", target="v")

    def test_a_partition_that_cannot_be_computed(self, dask_client):
        frame = dd.from_delayed([dask.delayed(open)("/no/such/file")], meta={"u": "int64", "v": "int64"})
        with dask_client.as_current(), dask.config.set(scheduler=dask_client), pytest.raises(FileNotFoundError):
            from_dask_cudf(frame, source="u", target="v", device="cpu")


def test_an_end_of_the_edges_in_the_index():
    frame = pd.DataFrame({"src": [0, 1], "dst": [1, 2], "w": [5, 6]}).set_index("src")
    with pytest.raises(InputError, match=r"has 'src' as its index: call reset_index\(\)"):
        as_graph(dd.from_pandas(frame, npartitions=1))
