"""Distributed graphs as they are measured: side by side, by the Graph500 benchmark, and from the command line."""

import json
import re
from types import SimpleNamespace

import networkx as nx
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from rapids_bfs import InputError, TraversalError, as_graph, bfs, compare, load
from rapids_bfs._core import machine
from rapids_bfs._core.cuda import driver
from rapids_bfs._core.cuda.driver import Driver
from rapids_bfs.cli import BAD_INPUT, FINE, run_command
from rapids_bfs.comparison import runner
from rapids_bfs.comparison.graph500 import graph500
from rapids_bfs.comparison.runner import sample_sources
from rapids_bfs.engines import Options, registered
from rapids_bfs.generators import rmat_edges
from rapids_bfs.validation import Verdict


def _written(folder, source, target):
    pd.DataFrame({"source": source, "target": target}).to_csv(folder / "edges.csv", index=False)
    return folder / "edges.csv"


KINDS = {
    "arrays": lambda folder, source, target: (source, target),
    "pandas": lambda folder, source, target: pd.DataFrame({"source": source, "target": target}),
    "arrow": lambda folder, source, target: pa.table({"source": source, "target": target}),
    "pairs": lambda folder, source, target: list(zip(source.tolist(), target.tolist(), strict=True)),
    "networkx": lambda folder, source, target: nx.DiGraph(zip(source.tolist(), target.tolist(), strict=True)),
    "file": _written,
}


class TestCompare:
    def test_side_by_side(self):
        graph, whole = load("rmat:9", devices="cpu:3"), load("rmat:9")
        comparison = compare(graph, num_sources=3, seed=4)
        assert [runs.engine for runs in comparison.engines] == ["cpu", "scipy"]
        assert comparison.valid
        assert comparison.baseline == "scipy"
        ours, theirs = comparison.engines
        for run, other in zip(ours.runs, theirs.runs, strict=True):
            expected = bfs(whole, run.source, engine="scipy")
            assert (run.reached, run.depth, run.edges) == (other.reached, other.depth, other.edges)
            assert (run.reached, run.depth) == (expected.num_reached, expected.depth)
            assert run.edges == expected.num_traversed_edges
        assert [level.newly_reached for level in comparison.levels] == [
            level.newly_reached for level in compare(whole, sources=[ours.runs[0].source], engines="cpu").levels
        ]
        assert "scipy" in str(comparison)
        assert "3 sources, distributed over 3 devices\n" in str(comparison)
        graph.transport = "one launch"
        assert "3 sources, distributed over 3 devices, one launch\n" in str(comparison)
        assert (
            json.loads(json.dumps(comparison.to_dict()))["graph"]["searched"]
            == "distributed over 3 devices, one launch"
        )

    def test_engines_by_name_and_why_one_cannot(self):
        graph = as_graph({"a": ["b"], "b": ["a"]}, devices="cpu:2")
        comparison = compare(graph, sources=["a"], engines="networkx,cpu,cugraph-dask", depth_limit=1)
        assert comparison["networkx"].valid
        assert comparison["cpu"].valid
        assert comparison["cugraph-dask"].unavailable

    @pytest.mark.parametrize("kind", KINDS)
    @pytest.mark.parametrize("gap", [1, 5])
    def test_edges_of_every_kind(self, kind, gap, tmp_path, monkeypatch):
        """Ids with gaps have a global id that is no vertex of the graph in one piece."""
        monkeypatch.setattr(runner, "MAX_END_TO_END_MS", float("inf"))  # no run is too long to be repeated
        source, target = gap * np.random.default_rng(gap).integers(0, 400, (2, 900)) + gap
        given = KINDS[kind](tmp_path, source, target)
        engines = "cpu,cpu:sequential,scipy,networkx"
        comparison = compare(given, num_sources=3, devices="cpu:2", engines=engines, directed=True, baseline="networkx")
        oracle = csr_array((np.ones(900), (source, target)), shape=(410 * gap, 410 * gap))
        for runs in comparison.engines:
            assert runs.valid, runs.unavailable
            assert len(runs.edges_ms) == (3 if kind in ("arrays", "pandas", "arrow") else 0)
            for run in runs.runs:
                distances = dijkstra(oracle, indices=int(run.source), unweighted=True)
                reached = distances[np.isfinite(distances)]
                assert (run.reached, run.depth) == (len(reached), reached.max())

    def test_an_engine_that_would_search_vertices_declines_a_graph_distributed(self):
        graph = load("path:9", devices="cpu:2")
        for engine in registered().values():
            for algorithm in engine.algorithms:
                assert "in one piece" in engine.unsupported(graph, algorithm, Options())

    def test_an_engine_that_fails_to_say_whether_it_can_is_left_out(self, monkeypatch):
        monkeypatch.setattr(type(registered()["scipy"]), "unsupported", lambda *arguments: 1 / 0)
        comparison = compare(load("path:9", devices="cpu:2"), num_sources=1)
        failed = r"failed: ZeroDivisionError: division by zero \(.*graph\.py, line \d+\)"
        assert re.fullmatch(failed, comparison["scipy"].unavailable)
        assert comparison["cpu"].valid

    def test_a_wrong_answer_shows(self, monkeypatch):
        monkeypatch.setattr("rapids_bfs.comparison.runner.verdict_of", lambda *given: Verdict("root", 0, "no"))
        assert not compare(load("path:9", devices="cpu:2"), sources=[3], engines="cpu").valid

    @pytest.mark.parametrize("size", [1, 4])
    def test_sources_are_distinct_vertices_with_edges(self, size):
        graph = as_graph(([0, 3, 3, 8, 8], [3, 0, 8, 3, 8]), vertices=12, devices=f"cpu:{size}")
        for seed in range(5):
            numbers = sample_sources(graph, 2, seed)
            ids = graph.ids_of(numbers).tolist()
            assert len(set(ids)) == 2
            assert set(ids) <= {0, 3, 8}
        assert sorted(graph.ids_of(sample_sources(graph, 9))) == [0, 3, 8]

    def test_no_edges(self):
        with pytest.raises(InputError, match="has no edges: name a source"):
            compare(as_graph({"a": []}, devices="cpu:2"))


class TestGraph500:
    def test_what_is_counted(self):
        report = graph500(8, roots=5, devices="cpu:3")
        source, _ = rmat_edges(8).edges()
        drawn, whole = np.bincount(source, minlength=256), load("rmat:8")
        expected = [drawn[bfs(whole, root).distances >= 0].sum() for root in report.roots]
        assert report.nedges == expected
        assert report.engine == "cpu, distributed over 3 devices"
        assert len(report.times) == len(report.validate_times) == len(set(report.roots)) == 5
        assert "bfs  harmonic_mean_TEPS:     !" in str(report)

    def test_a_wrong_answer_ends_it(self, monkeypatch):
        monkeypatch.setattr(
            "rapids_bfs.comparison.graph500.verdict_of", lambda *given: Verdict("root", 0, "rule 'root' is broken")
        )
        with pytest.raises(TraversalError, match=r"from root .* rule 'root' is broken"):
            graph500(5, roots=1, devices="cpu:2")

    @pytest.mark.parametrize(
        ("arguments", "says"),
        [
            ({"devices": "cpu:0"}, "cpu:0"),
            ({"devices": "cpu:2", "engine": "scipy"}, "'cpu' searches, not 'scipy'"),
            ({"devices": "cpu:2", "roots": 0}, "number of roots"),
        ],
    )
    def test_arguments(self, arguments, says):
        with pytest.raises(InputError, match=says):
            graph500(5, **arguments)


class TestCommand:
    def test_run(self, capsys, tmp_path):
        out = tmp_path / "found.csv"
        arguments = ["run", "karate", "--source", "0", "--target", "26", "--gpus", "cpu:3", "--out", str(out)]
        assert run_command(arguments) == FINE
        shown = capsys.readouterr().out
        assert "26 is at distance 3: 0 - " in shown
        assert len(out.read_text().splitlines()) == 35

    def test_a_file_without_a_header(self, capsys, tmp_path):
        (tmp_path / "e.csv").write_text("1,2\n2,3\n")
        arguments = [str(tmp_path / "e.csv"), "--no-header", "--gpus", "cpu:2"]
        assert run_command(["run", "--source", "1", *arguments]) == FINE
        assert "3 of 3 vertices reached" in capsys.readouterr().out

    def test_compare_and_graph500(self, capsys, tmp_path):
        out = tmp_path / "c.json"
        assert run_command(["compare", "rmat:6", "--gpus", "cpu:2", "--num-sources", "1", "--json", str(out)]) == FINE
        assert [each["engine"] for each in json.loads(out.read_text())["engines"]] == ["cpu", "scipy"]
        assert run_command(["graph500", "--scale", "5", "--gpus", "cpu:2", "--roots", "2"]) == FINE
        assert "harmonic_mean_TEPS" in capsys.readouterr().out

    @pytest.mark.parametrize("command", [["run", "--source", "0"], ["compare"], ["graph500", "--scale"]])
    @pytest.mark.parametrize(
        ("gpus", "says"),
        [
            ("0", "the number of devices must be at least 1, not 0"),
            ("9", "this machine has 2 GPUs, not 9"),
            ("9" * 30, "this machine has 2 GPUs, not 9999"),
            ("-1", "must be at least 1"),
            ("four", "devices is a number of GPUs"),
            ("cpu:0", "cpu:0"),
        ],
    )
    def test_gpus_that_there_are_not(self, capsys, monkeypatch, command, gpus, says):
        monkeypatch.setattr("rapids_bfs.distributed.launchers.driver", lambda: Driver((13, 0), ("H200", "H200")))
        graph = "5" if command[0] == "graph500" else "/no/such/graph.csv"
        assert run_command([*command, graph, "--gpus", gpus]) == BAD_INPUT
        error = capsys.readouterr().err
        assert says in error
        assert error.count("\n") == 1


class TestInfo:
    """Two devices and NCCL, as the driver and CuPy would tell."""

    @pytest.fixture
    def devices(self, monkeypatch):
        def get(device, ordinal):
            device._obj.value = ordinal
            return 0

        def links(holds, attribute, one, other):
            holds._obj.value = int(
                (one.value, other.value) == (0, 1) or (attribute == 2 and other.value == 2 > one.value)
            )
            return 0 if other.value < 3 else 1

        monkeypatch.setattr(driver, "library", lambda: SimpleNamespace(cuDeviceGet=get, cuDeviceGetP2PAttribute=links))
        return lambda count: monkeypatch.setattr(driver, "driver", lambda: Driver((13, 0), ("H200",) * count))

    def test_links(self, devices):
        devices(2)
        assert machine.links() == "NVLink, all pairs"
        devices(4)
        assert machine.links() == "NVLink: 0-1; PCIe: 0-2, 1-2; none: 0-3, 1-3, 2-3"

    @pytest.mark.parametrize(("number", "version"), [(22809, "2.28.9"), (23007, "2.30.7")])
    def test_nccl(self, monkeypatch, number, version):
        nccl = SimpleNamespace(available=True, get_version=lambda: number)
        monkeypatch.setitem(__import__("sys").modules, "cupy.cuda", SimpleNamespace(nccl=nccl))
        monkeypatch.setattr(machine, "cupy_missing", lambda: None)
        assert machine.nccl_version() == version
        nccl.available = False
        assert machine.nccl_version() is None
