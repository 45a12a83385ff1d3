"""Suites: what they are, what is measured, and what is kept of it."""

import csv
import json
import re
from statistics import geometric_mean, median

import pytest
from misbehaving import Interrupting, Lying, registered_too
from readme import SITE, blocks

import rapids_bfs.comparison.suite_runner as suite_runner
from rapids_bfs import InputError, as_graph, compare_suite, load
from rapids_bfs.comparison.runner import WARM_SEARCHES
from rapids_bfs.comparison.suite import SIZES, suite_of, suites
from rapids_bfs.data import BUNDLED
from rapids_bfs.data.datasets import dataset, is_dataset
from rapids_bfs.engines import Engine
from rapids_bfs.generators import parsed

ENGINES = ["cpu:sequential", "scipy"]  # which start at once


class Interrupted(Interrupting):
    """Ctrl-C during its second timed search on a graph with an odd number of vertices."""

    name = "interrupted"
    search_number = WARM_SEARCHES + 2

    def is_to_be_interrupted(self, graph):
        return graph.num_vertices % 2 == 1


class Choosy(Engine):
    name = "choosy"
    algorithms = ("one",)

    def prepare(self, graph, algorithm):
        raise RuntimeError("not today")


@pytest.fixture
def engines():
    with registered_too(Interrupted(), Lying(), Choosy()):
        yield


@pytest.fixture
def run(tmp_path):
    """`compare_suite` with two sources, kept in a file of the test; the graphs it measured are in ``run.measured``."""

    def compared(graphs, engines=ENGINES, keep=tmp_path / "kept.json", **options):
        compared.measured = []
        return compare_suite(
            graphs,
            engines=engines,
            keep=keep,
            measured=lambda row, done, total: compared.measured.append((row["graph"], done, total)),
            **{"num_sources": 2} | options,
        )

    return compared


@pytest.mark.parametrize("name", suites())
def test_every_graph_of_a_known_suite_exists(name):
    graphs = suite_of(name).made()
    assert graphs
    for graph in graphs:
        assert graph.name in BUNDLED or (dataset(graph.name) if is_dataset(graph.name) else parsed(graph.name))


def test_graphs_of_a_scale_have_about_as_many_vertices():
    for graph in suite_of("synthetic").at_scales([9]).made():
        if graph.name not in BUNDLED:
            assert 2**8 < load(graph.name).num_vertices <= 2**9, graph.name


def test_scales_are_in_order_and_graphs_without_one_come_once():
    graphs = suite_of(["karate", "rmat:{scale}", "grid:{square}", "rmat:3"]).at_scales([3, 4]).made()
    assert [graph.key for graph in graphs] == ["rmat:3", "grid:2", "rmat:4", "grid:4", "karate"]
    assert {name: size(10) for name, size in SIZES.items()} == {
        **{"scale": 10, "vertices": 1024, "square": 32, "cube": 10, "levels": 512}
    }


def test_figures_are_those_of_compare(run):
    found = run(["grid:4", "path:9", "rmat:5"])
    assert found.valid
    assert found.ran
    assert list(found) == ["grid:4", "path:9", "rmat:5"]
    assert found.baseline == "scipy"
    assert run.measured == [("grid:4", 1, 3), ("path:9", 2, 3), ("rmat:5", 3, 3)]
    ratios = {name: [] for name in ENGINES}
    for graph in found.values():
        theirs = next(engine for engine in graph["engines"] if engine["engine"] == "scipy")
        for engine in graph["engines"]:
            assert engine["valid"]
            assert len(engine["runs"]) == 2
            ratios[engine["engine"]].append(median(theirs["run_ms"]) / median(engine["run_ms"]))
            assert engine["ratio_to_baseline"] == pytest.approx(ratios[engine["engine"]][-1])
    assert found.geometric_means == {name: (pytest.approx(geometric_mean(each)), 3) for name, each in ratios.items()}
    frame = found.to_frame()
    assert frame["graph"].tolist() == ["grid:4"] * 2 + ["path:9"] * 2 + ["rmat:5"] * 2
    assert frame["vertices"].tolist() == [16, 16, 9, 9, 32, 32]
    assert frame["speed_up"].tolist()[0] == pytest.approx(ratios["cpu:sequential"][0])


def test_a_graph_that_fails_leaves_the_others(run, tmp_path):
    (tmp_path / "half.mtx").write_text("%%MatrixMarket matrix coordinate pattern general\n3 3")

    def no_memory(name, **options):
        if name == "star:5":
            raise MemoryError
        return load(name, **options)

    found = run(["nonsense:3", str(tmp_path / "half.mtx"), "star:5", "path:9", "path:1"], load=no_memory)
    assert list(found) == ["path:9"]
    assert "is not a generator" in found.failed["nonsense:3"]
    assert "half.mtx" in found.failed[str(tmp_path / "half.mtx")]
    assert found.failed["star:5"] == "MemoryError: MemoryError"
    assert "edge" in found.failed["path:1"]
    assert all("\n" not in reason for reason in found.failed.values())
    for name in found.failed:
        assert name in str(found)
    with pytest.raises(KeyError, match="path:9"):
        found["star:5"]
    assert run(list(found.failed), load=no_memory).ran is False
    assert [name for name, *_ in run.measured] == list(found.failed)


def test_an_engine_that_fails_or_lies_is_told(run, engines):
    found = run(["path:9", "grid:4"], engines=["cpu:sequential", "lying", "choosy"])
    assert not found.valid
    text = str(found)
    assert len(re.findall("WRONG", text)) == 8  # in each table but that of graphs
    assert "lying on grid:4, source" in text
    assert "choosy: failed: RuntimeError: not today" in text
    assert found.baseline == "cpu:sequential"


def test_what_is_measured_is_not_measured_again(run, tmp_path):
    first = run(["grid:4", "path:9"])
    assert json.loads((tmp_path / "kept.json").read_text())["rows"].keys() == {"grid:4", "path:9"}
    again = run(["star:5", "path:9"])
    assert run.measured == [("star:5", 1, 1)]
    assert again["path:9"] == json.loads(json.dumps(first["path:9"]))
    assert list(run(["grid:4", "star:5"])) == ["grid:4", "star:5"]
    assert run.measured == []
    run(["grid:4"], anew=True)
    assert run.measured == [("grid:4", 1, 1)]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"engines": ["scipy"]}, "other engines"),
        ({"num_sources": 3}, "other num sources"),
        ({"seed": 7}, "other seed"),
        ({"depth_limit": 2}, "other depth limit"),
        ({"load": as_graph}, "other load"),
    ],
    ids=lambda each: next(iter(each)) if isinstance(each, dict) else "",
)
def test_other_conditions_are_not_mixed_in(run, tmp_path, options, said):
    run(["path:9"])
    before = (tmp_path / "kept.json").read_text()
    with pytest.raises(InputError, match=said):
        run(["path:9", "grid:4"], **options)
    assert (tmp_path / "kept.json").read_text() == before


def test_another_machine_or_version_is_not_mixed_in(run, tmp_path, monkeypatch):
    run(["path:9"])
    monkeypatch.setattr(suite_runner, "installed", lambda: {"python": "2.7", "scipy": "0.1"})
    with pytest.raises(InputError, match=r"scipy \d.*, here 0.1"):
        run(["path:9"])
    monkeypatch.undo()
    here = suite_runner.describe()
    monkeypatch.setattr(suite_runner, "describe", lambda: here | {"cores": 1024})
    with pytest.raises(InputError, match="another machine"):
        run(["path:9"])


def test_by_default_conditions_have_files_of_their_own(run, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr("platformdirs.user_cache_path", lambda *names, **options: tmp_path / "cache")
    both = run(["path:9"], keep=None), run(["path:9"], keep=None, seed=5)
    assert run.measured
    assert both[0].kept != both[1].kept
    for found in both:
        assert str(tmp_path) in found.kept
    run(["path:9"], keep=None)
    assert not run.measured


def test_a_file_that_has_changed_is_measured_again(run, tmp_path):
    path = tmp_path / "edges.txt"
    path.write_text("0 1\n1 2\n")
    (tmp_path / "mine.toml").write_text('graphs = ["edges.txt", "path:9"]\n')
    assert run(tmp_path / "mine.toml")["edges.txt"]["graph"]["vertices"] == 3
    path.write_text("0 1\n1 2\n2 3\n")
    assert run(tmp_path / "mine.toml")["edges.txt"]["graph"]["vertices"] == 4
    assert run.measured == [("edges.txt", 1, 1)]


@pytest.mark.parametrize(
    "content", ["", "[]", "{", '{"rows": {"a": 1}}', '{"conditions": 1, "rows": {"a": {}}}', "\xff"]
)
def test_a_file_of_something_else_is_not_replaced(run, tmp_path, content):
    (tmp_path / "kept.json").write_text(content, "latin-1")
    with pytest.raises(InputError, match=r"kept\.json is not a file of measurements"):
        run(["path:9"])
    assert (tmp_path / "kept.json").read_text("latin-1") == content


def test_it_is_known_before_work_is_lost_that_nothing_can_be_kept(run, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="file"):
        run(["path:9"], keep=tmp_path / "file" / "kept.json")
    with pytest.raises(InputError, match=r"cannot be written|not a file of"):
        run(["path:9"], keep=tmp_path)
    assert run.measured == []


def test_ctrl_c_keeps_what_is_measured(run, engines):
    found = run(["path:8", "path:9", "path:10"], engines=["interrupted", "scipy"])
    assert found.interrupted
    assert list(found) == ["path:8", "path:9"]
    assert "Interrupted" in str(found)
    run(["path:8", "path:10"], engines=["interrupted", "scipy"])
    assert run.measured == [("path:10", 1, 1)]

    def interrupted(name):
        raise KeyboardInterrupt

    assert run(["star:5"], load=interrupted, keep=None).interrupted


def test_progress_is_told_graph_by_graph(run):
    steps = []
    run(["path:9", "nonsense:3", "karate"], progress=lambda *step: steps.append(step))
    assert all(0 <= done <= total for done, total, _ in steps)
    assert [done for done, *_ in steps] == sorted(done for done, *_ in steps)
    assert steps[0][2] == "path:9 (1 of 3): load"
    assert "karate (3 of 3): scipy: source 2 of 2" in {doing for *_, doing in steps}


def test_a_toml_file(run, tmp_path):
    (tmp_path / "edges.csv").write_text("a,b,w\n0,1,5\n1,2,5\n")
    (tmp_path / "mine.toml").write_text(
        'graphs = [{ graph = "edges.csv", source = "a", target = "b" }, "rmat:{scale}"]\n'
        'scales = [4]\nnum_sources = 1\nengines = ["scipy"]\nbaseline = "scipy"\n'
    )
    found = compare_suite(str(tmp_path / "mine.toml"), keep=tmp_path / "kept.json")
    assert found.suite == "mine"
    assert list(found) == ["rmat:4", "edges.csv source=a target=b"]
    assert [engine["engine"] for engine in found["rmat:4"]["engines"]] == ["scipy"]
    assert run(tmp_path / "mine.toml", scale=3, keep=tmp_path / "other.json").rows[0]["graph"] == "rmat:3"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("graphs = [", "cannot be read as TOML"),
        ("\xff", "cannot be read as TOML"),
        ("", "is empty"),
        ("x = 1", "has 'x': a suite's keys are graphs, scales"),
        ("graphs = []", "names no graphs"),
        ("graphs = 'karate'", "names no graphs"),
        ("graphs = [1]", "a graph is its name"),
        ("graphs = [{name = 'karate'}]", "a graph is its name"),
        ("graphs = [{graph = 'karate', devices = 2}]", "has 'devices': a graph's options are"),
        ("graphs = ['rmat:{size}']", r"has \{size\}: there are \{scale\}"),
        ("graphs = ['rmat:{scale}']", "needs a scale"),
        ("graphs = ['karate']\nscales = 3", "scales are a list"),
        ("graphs = ['karate']\nscales = [-1]", "a scale"),
        ("graphs = ['karate']\nscales = [99]", "must be in 0..48"),
        ("graphs = ['karate']\nengines = ['nonsense']", "nonsense"),
        ("graphs = ['karate']\nnum_sources = 'x'", "number of sources"),
    ],
)
def test_a_wrong_file_is_refused_with_one_line(run, tmp_path, content, said):
    (tmp_path / "mine.toml").write_text(content, "latin-1")
    with pytest.raises(InputError, match=said) as refused:
        run(tmp_path / "mine.toml", **{"engines": None, "num_sources": None})
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("suite", "scale", "said"),
    [
        ("sinthetic", None, "did you mean synthetic"),
        ("missing.toml", None, "does not exist"),
        (3, None, "is not a suite"),
        ([], None, "names no graphs"),
        ([as_graph("karate")], None, "a graph is its name"),
        ("\0", None, "is not a suite"),
        ("synthetic", 99, "0..48"),
        ("synthetic", "14", "scale"),
        ("synthetic", 1.5, "scale"),
        ("synthetic", [], "scales"),
        ("gap", 3, "have no scale"),
    ],
)
def test_what_is_no_suite_and_no_scale(run, suite, scale, said):
    with pytest.raises(InputError, match=said):
        run(suite, scale=scale)


def test_documents(run, tmp_path, engines):
    found = run(["path:9", "a_b%:1", "karate"], engines=["cpu:sequential", "scipy", "choosy"])
    for kind in ("csv", "markdown", "latex", "json", "html"):
        getattr(found, f"to_{kind}")(tmp_path / kind)
    rows = list(csv.DictReader((tmp_path / "csv").open()))
    assert [row["graph"] for row in rows] == ["path:9", "a_b%:1", "karate", "geometric mean"]
    assert rows[2]["edges"] == "78"
    assert rows[1]["failed"]
    for row in rows[::2]:
        assert float(row["scipy ms"]) / float(row["cpu:sequential ms"]) == pytest.approx(
            float(row["cpu:sequential speed_up"])
        )
    text = (tmp_path / "markdown").read_text()
    tables = re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)
    assert [len({line.count(" | ") for line in table.splitlines()}) for table in tables] == [1] * 5
    assert r"a\_b%:1" in text
    latex = (tmp_path / "latex").read_text()
    assert r"a\_b\%:1 & - & - \\" in latex
    assert latex.count(r"\begin{tabular}") == latex.count(r"\end{tabular}") == 5
    depth = {"{": 1, "}": -1}
    assert sum(depth.get(each, 0) for each in re.sub(r"\\[{}]", "", latex)) == 0
    assert json.loads((tmp_path / "json").read_text())["geometric_means"]["scipy"] == {"speed_up": 1.0, "graphs": 2}


def test_nothing_ran(run, tmp_path, engines):
    found = run(["karate"], engines=["choosy"])
    for kind in ("csv", "markdown", "latex", "json", "html"):
        getattr(found, f"to_{kind}")(tmp_path / kind)
    assert "choosy: failed" in str(found)
    assert len(found.to_frame()) == 0
    with pytest.raises(InputError, match="nothing to plot"):
        found.plot()


def test_the_file_of_the_guide(tmp_path):
    [block] = blocks("toml", SITE / "guide" / "suites.md")
    (tmp_path / "mine.toml").write_text(block)
    suite = suite_of(tmp_path / "mine.toml")
    assert [graph.name for graph in suite.made()][:2] == ["rmat:16", "grid:256"]
    assert dict(suite.options) == {"engines": ["cpu", "scipy"], "baseline": "scipy", "num_sources": 8}
