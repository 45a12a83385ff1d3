"""The side-by-side run, with engines that fail, lie and are interrupted."""

import csv
import json
import statistics
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from misbehaving import Interrupting, Lying, registered_too
from strategies import records

from rapids_bfs import InputError, as_graph, bfs, compare, load
from rapids_bfs.comparison.baselines import KNOWN
from rapids_bfs.comparison.records import Comparison, EngineRuns, SuiteComparison
from rapids_bfs.comparison.runner import sample_sources
from rapids_bfs.engines import Engine
from rapids_bfs.engines.cpu import CPU
from rapids_bfs.engines.cpu.search import Sequential
from rapids_bfs.generators import generate
from rapids_bfs.trace import Step


class Broken(Engine):
    name = "broken"
    algorithms = ("one",)

    def prepare(self, graph, algorithm):
        raise RuntimeError("no luck")


class Absent(Broken):
    name = "absent"

    def unavailable(self):
        return "needs a flux capacitor: pip install flux"


class Watched(CPU):
    """Notes three levels, if it is asked to."""

    name = "watched"

    def prepare(self, graph, algorithm):
        class Noting(Sequential):
            traces = True

            def search(self, sources, options):
                self.steps = [Step("bottom-up", 0.5)] * 3 if options.trace else None
                return super().search(sources, options)

        return Noting(graph)


@pytest.fixture
def engines():
    with registered_too(Broken(), Absent(), Lying(), Watched(), Interrupting()):
        yield


def test_karate():
    comparison = compare("karate", num_sources=5, engines=["cpu", "cpu:sequential", "scipy", "networkx"])
    assert comparison.valid
    assert [runs.engine for runs in comparison.engines] == ["cpu", "cpu:sequential", "scipy", "networkx"]
    assert comparison.baseline == "scipy"
    for runs in comparison.engines:
        assert runs.valid
        assert runs.unavailable is None
        assert len(runs.runs) == 5
        assert runs.reached == 34
        assert {run.edges for run in runs.runs} == {78}
        assert [run.source for run in runs.runs] == [run.source for run in comparison["cpu"].runs]
        assert runs.teps_harmonic_mean == pytest.approx(78 / (1e-3 * statistics.mean(runs.run_ms)))
        expected = statistics.median(comparison["scipy"].run_ms) / statistics.median(runs.run_ms)
        assert comparison.ratio_to_baseline(runs.engine) == pytest.approx(expected)
    assert "karate: 34 vertices, 78 undirected edges, 5 sources" in str(comparison)


def test_json_and_csv(tmp_path):
    comparison = compare("karate", sources=[0, 33], engines="cpu,scipy", baseline="cpu")
    comparison.to_json(tmp_path / "out.json")
    comparison.to_csv(tmp_path / "out.csv")
    found = json.loads((tmp_path / "out.json").read_text())
    assert found["graph"] == {"name": "karate", "vertices": 34, "edges": 78, "directed": False}
    assert {"versions", "command", "levels"} <= found.keys()
    assert found["machine"]["cores"] >= 1
    cpu = found["engines"][0]
    expected = {"engine": "cpu", "sources": [0, 33], "valid": True, "unavailable": None, "ratio_to_baseline": 1}
    assert expected.items() <= cpu.items()
    assert len(cpu["run_ms"]) == 2
    assert {"prepare_ms", "warmup_ms", "reached", "depth", "teps_harmonic_mean"} <= cpu.keys()
    with open(tmp_path / "out.csv") as rows:
        found = [(row["engine"], row["source"]) for row in csv.DictReader(rows)]
    assert found == [(engine, source) for engine in ("cpu", "scipy") for source in ("0", "33")]


@pytest.mark.parametrize("kind", ["csv", "markdown", "latex", "json", "html"])
def test_a_comparison_without_an_answer_is_written(kind, tmp_path):
    """In LaTeX it was a ValueError."""
    getattr(Comparison(as_graph("karate"), [EngineRuns("a", "missing")]), f"to_{kind}")(tmp_path / "out")
    assert (tmp_path / "out").exists()


@pytest.mark.parametrize("kind", [None, "pandas", "polars", "arrow"])
@pytest.mark.parametrize(
    "graph", ["karate", {"a": ["b"], "b": ["c"]}, [(5, 9), (9, 5)], as_graph("karate", devices="cpu:2")], ids=str
)
def test_a_frame_has_a_row_for_each_search(tmp_path, graph, kind):
    comparison = compare(graph, num_sources=2, engines="cpu,scipy")
    rows = records(comparison.to_frame(kind))
    assert rows == [
        {"engine": each.engine, **vars(run), "teps": run.teps} for each in comparison.engines for run in each.runs
    ]
    comparison.to_csv(tmp_path / "a.csv")
    assert sorted(pd.read_csv(tmp_path / "a.csv").columns) == sorted(rows[0])


def test_a_record_has_the_bytes_that_ranks_send():
    for graph, levels in ((load("karate"), None), (load("karate", devices="cpu:2"), 4)):
        (engine,) = compare(graph, sources=[0], engines="cpu").to_dict()["engines"]
        for name in ("bytes_sent", "bytes_needed"):
            assert np.shape(engine[name]) == (() if levels is None else (levels, 2))


def test_a_frame_without_searches_has_its_columns():
    frame = Comparison(as_graph("karate"), [EngineRuns("a", "missing")]).to_frame()
    assert [(name, dtype.kind) for name, dtype in frame.dtypes.items() if name not in ("engine", "verdict")] == [
        *(("source", "i"), ("ms", "f"), ("reached", "i"), ("depth", "i"), ("edges", "i"), ("teps", "f")),
    ]
    assert len(frame) == 0


def test_levels_and_traces(engines):
    comparison = compare("karate", sources=[0, 33], engines="watched,cpu:sequential,cpu")
    found = np.bincount(bfs("karate", 0).distances).tolist()
    assert [level.newly_reached for level in comparison.levels] == [*found[1:], 0]
    assert [level.direction for level in comparison["watched"].trace] == ["bottom-up"] * 3
    assert comparison["cpu:sequential"].trace is None
    assert [level.newly_reached for level in comparison["cpu"].trace] == [*found[1:], 0]
    limited = compare("karate", sources=[0], engines="cpu", depth_limit=2)
    assert [level.newly_reached for level in limited.levels] == found[1:3]
    assert [comparison[name].trace.engine for name in ("watched", "cpu")] == [
        "watched:direction-optimizing",
        "cpu:direction-optimizing",
    ]
    assert len(comparison["watched"].runs) == 2  # the traced search is not one of those that are timed
    kept = comparison.to_dict()
    assert kept["levels"]["newly_reached"] == [*found[1:], 0]
    assert [engine["trace"] and engine["trace"]["milliseconds"] for engine in kept["engines"][:2]] == [[0.5] * 3, None]


def test_engines_that_cannot_run_are_listed_with_their_reason(engines):
    comparison = compare("karate", num_sources=2, engines="absent,broken,cpu")
    assert comparison["absent"].unavailable == "needs a flux capacitor: pip install flux"
    line = Broken.prepare.__code__.co_firstlineno + 1
    assert comparison["broken"].unavailable == f"failed: RuntimeError: no luck ({__file__}, line {line})"
    assert len(comparison["cpu"].runs) == 2
    assert comparison.valid
    assert "flux capacitor" in str(comparison)
    assert comparison.baseline == "cpu"


def test_times_of_the_simulator_are_said_to_mean_nothing(monkeypatch, tmp_path):
    monkeypatch.setenv("NUMBA_ENABLE_CUDASIM", "1")
    comparison = compare("karate", num_sources=1, engines="cpu,scipy")
    said = [" ".join(str(comparison).split()), comparison._repr_html_()]
    for kind in ("markdown", "latex", "html"):
        getattr(comparison, f"to_{kind}")(tmp_path / kind)
        said.append((tmp_path / kind).read_text())
    assert all("its times mean nothing" in each for each in said)
    suite = SuiteComparison("tiny", [{"graph": "karate", "failed": None, "comparison": comparison.to_dict()}])
    assert "its times mean nothing" in suite._repr_html_()


def test_a_wrong_answer_is_seen(engines):
    comparison = compare("karate", num_sources=2, engines="lying,cpu")
    assert not comparison.valid
    assert comparison["lying"].valid is False
    assert "NO" in str(comparison)
    assert "rule 'tree-level' is broken" in str(comparison)


def test_an_interrupted_run_shows_what_is_finished(engines):
    comparison = compare("karate", num_sources=8, engines="cpu,interrupting")
    assert comparison.interrupted
    assert 2 <= len(comparison["cpu"].runs) < 8
    assert len(comparison["interrupting"].runs) == 2
    assert comparison.ratio_to_baseline("interrupting") is not None
    assert "only finished runs" in str(comparison)


def test_networkx_is_left_out_of_large_graphs_unless_asked_for(monkeypatch):
    monkeypatch.setitem(KNOWN, "networkx", replace(KNOWN["networkx"], largest=100))
    assert compare("karate", num_sources=1)["networkx"].unavailable == (
        "more than 100 arcs take minutes to build: ask for this engine by name to wait for it"
    )
    assert compare("karate", num_sources=1, engines="networkx")["networkx"].unavailable is None


def test_each_source_starts_with_another_engine(engines):
    calls = []
    compare(
        "karate",
        num_sources=3,
        engines="cpu:sequential,scipy",
        progress=lambda done, total, doing: calls.append((done, total, doing)),
    )
    assert [done for done, _, _ in calls] == list(range(8))
    assert {total for _, total, _ in calls} == {8}
    assert [doing.partition(":")[0] for _, _, doing in calls[2:]] == ["cpu", "scipy", "scipy", "cpu", "cpu", "scipy"]


def test_sources_are_drawn_by_seed_from_vertices_with_edges():
    graph = generate("rmat:10")
    first, again, other = (sample_sources(graph, 16, seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)
    assert (graph.degrees[first] > 0).all()
    assert len(set(first.tolist())) == 16


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"engines": "warp"}, "unknown engine 'warp'"),
        ({"baseline": "networkx", "engines": "cpu"}, "the baseline 'networkx' is not one of the engines: cpu"),
        ({"sources": [99]}, "99 is not a vertex"),
        ({"num_sources": 0}, "at least 1"),
        ({"sources": 5}, "expected a list of vertex ids, not 5"),
        ({"sources": []}, "at least one source is needed"),
        ({"sources": [0], "num_sources": 2}, "either the sources or the number of sources to draw, not both"),
        ({"depth_limit": -1}, "at least 0"),
    ],
)
def test_bad_input_is_named_before_any_work(arguments, message):
    with pytest.raises(InputError, match=message):
        compare("karate", **arguments)


def test_a_graph_without_edges_has_no_random_source():
    with pytest.raises(InputError, match="has no edges: name a source"):
        compare(({}), num_sources=1)
