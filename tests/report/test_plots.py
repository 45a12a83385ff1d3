"""Pictures: do they show what was measured, is nothing cut off, and what is said of what cannot be drawn."""

import sys

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from matplotlib.collections import LineCollection, PathCollection
from pictures import assert_nothing_is_cut_off

from rapids_bfs import InputError, as_graph, bfs, compare, load, plot_levels, plot_sizes
from rapids_bfs.comparison.records import Comparison, EngineRuns, Run
from rapids_bfs.report.search_plot import radial
from rapids_bfs.testing import graphs
from rapids_bfs.trace import Level, Trace

GRAPH = as_graph("karate")


def comparison(**times):
    """A comparison in which the engines took these times in ms."""
    runs = {
        name: [Run(source, ms, 34, 3, 78, "valid") for source, ms in enumerate(each)] for name, each in times.items()
    }
    engines = [EngineRuns(name, runs=each) for name, each in runs.items()]
    return Comparison(GRAPH, engines, baseline="scipy" if "scipy" in times else None)


def trace(levels, *, timed=True):
    directions = [None] if not timed else ["top-down", "bottom-up"]
    return Trace(
        [
            Level(i, i, 2 * i, i, directions[i % len(directions)], 0.01 * i if timed else None)
            for i in range(1, levels + 1)
        ]
    )


times = st.lists(st.floats(1e-3, 1e4), min_size=1, max_size=5)


@settings(max_examples=12, phases=[Phase.generate])
@given(st.dictionaries(st.sampled_from(["scipy", "cpu", "cupy:direction-optimizing", "a", "b"]), times, min_size=1))
def test_a_comparison_of_any_times(measured):
    drawn = comparison(**measured)
    figure = drawn.plot()
    by_speed = sorted(drawn.engines, key=lambda runs: runs.median_ms)[::-1]
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == [runs.engine for runs in by_speed]
    dots = [line for line in figure.axes[0].lines if line.get_marker() == "o"]
    assert [sorted(line.get_xdata()) for line in dots] == [sorted(runs.run_ms) for runs in by_speed]
    assert len(figure.axes) == 1 + (len(measured) > 1 and "scipy" in measured)
    assert all("(" in axes.get_xlabel() for axes in figure.axes)
    assert_nothing_is_cut_off(figure)


def test_ratios_are_those_of_the_comparison():
    figure = comparison(scipy=[8.0, 8.0], cpu=[2.0, 2.0]).plot()
    ends = [line.get_xdata()[0] for line in figure.axes[1].lines if line.get_marker() in ("o", "D")]
    assert ends == [1, 4]
    assert "4.00 x" in [text.get_text() for text in figure.axes[1].texts]


def test_a_wrong_engine_says_so():
    wrong = comparison(scipy=[1.0], cpu=[2.0])
    wrong.engines[1].runs = [Run(0, 2.0, 34, 3, 78, "rule 'root' is broken")]
    assert [label.get_text() for label in wrong.plot().axes[0].get_yticklabels()] == ["cpu (WRONG)", "scipy"]


def test_sizes():
    both = [compare(f"rmat:{scale}", num_sources=2, engines="cpu,scipy") for scale in (8, 6)]
    figure = plot_sizes(both)
    lines = {line.get_label(): line for line in figure.axes[0].lines}
    assert lines.keys() == {"cpu", "scipy"}
    assert lines["cpu"].get_xdata().tolist() == [both[1].graph.num_edges, both[0].graph.num_edges]
    assert lines["cpu"].get_ydata()[1] == pytest.approx(both[0]["cpu"].teps_harmonic_mean / 1e6)
    assert len({(line.get_marker(), line.get_linestyle()) for line in lines.values()}) == 2
    assert_nothing_is_cut_off(figure)


@pytest.mark.parametrize("levels", [1, 2, 7, 64, 65, 4000])
@pytest.mark.parametrize("timed", [True, False])
def test_traces(levels, timed):
    figure = trace(levels, timed=timed).plot()
    unit = "time (ms)" if levels > 99 else "time (µs)"  # a hundredth of a millisecond times the level
    assert len(figure.axes) == 1 + timed
    assert [axes.get_ylabel() for axes in figure.axes] == ["frontier (vertices)", unit][: 1 + timed]
    assert figure.axes[-1].get_xlabel() == "level"
    assert_nothing_is_cut_off(figure)


def test_a_trace_tells_directions_by_colour_and_hatch():
    bars = trace(7).plot().axes[0].containers
    assert [(each.get_label(), len(each)) for each in bars] == [("bottom-up", 4), ("top-down", 3)]
    assert len({(each[0].get_facecolor(), each[0].get_hatch()) for each in bars}) == 2
    assert [patch.get_height() for patch in bars[0]] == [1, 3, 5, 7]


@given(data=st.data())
def test_radial_places(data):
    graph = data.draw(graphs(min_vertices=1, max_vertices=20))
    sources = data.draw(st.lists(st.integers(0, graph.num_vertices - 1), min_size=1, max_size=3))
    result = bfs(graph, sources)
    places = radial(result.distances, result.predecessors)
    assert len(np.unique(places.round(6), axis=0)) == graph.num_vertices
    reached = result.distances >= 0
    shift = 0.0 if len(result.sources) == 1 else 0.6
    np.testing.assert_allclose(np.hypot(*places[reached].T), result.distances[reached] + shift, atol=1e-9)
    assert (places[~reached, 1] < places[reached, 1].min()).all()


@settings(max_examples=30)
@given(data=st.data())
def test_levels_of_any_small_graph(data):
    graph = data.draw(graphs(min_vertices=1))
    result = bfs(graph, data.draw(st.integers(0, graph.num_vertices - 1)))
    axes = plot_levels(graph, result).axes[0]
    circles = [each for each in axes.collections if isinstance(each, PathCollection)]
    assert sum(len(each.get_offsets()) for each in circles) == graph.num_vertices
    lines = [each for each in axes.collections if isinstance(each, LineCollection)]
    assert [len(each.get_segments()) for each in lines] == [graph.num_edges, result.num_reached - 1]


@pytest.mark.parametrize("spec", ["karate", "path:30", "star:100", "grid:12", "tree:63", "rmat:7"])
def test_levels_with_a_legend(spec):
    graph = as_graph(spec)
    assert_nothing_is_cut_off(plot_levels(graph, bfs(graph, 0)))


def test_levels_of_a_result_on_a_device(put_on_device):
    result = bfs(GRAPH, 0)
    there = put_on_device(result)
    assert plot_levels(there.graph, there)._repr_png_() == plot_levels(GRAPH, result)._repr_png_()


def test_a_distributed_graph_is_drawn_here():
    graph = load("path:9", devices="cpu:2")
    drawn = plot_levels(graph, bfs(graph, 4))
    assert drawn._repr_png_() == plot_levels(load("path:9"), bfs("path:9", 4))._repr_png_()


def test_ids_are_written_where_they_fit():
    graph = as_graph([("ann", "bob"), ("bob", "caroline")])
    figure = plot_levels(graph, bfs(graph, "ann"))
    assert sorted(text.get_text() for text in figure.axes[0].texts) == ["ann", "bob", "caroline"]
    assert not plot_levels(as_graph("star:400"), bfs("star:400", 0)).axes[0].texts


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda: comparison().plot(), "no engine ran"),
        (lambda: plot_sizes([comparison()]), "no engine ran"),
        (lambda: Trace([]).plot(), "no levels"),
        (
            lambda: plot_levels(as_graph("path:601"), bfs("path:601", 0)),
            "601 vertices: a picture of more than 600 cannot be read",
        ),
        (lambda: plot_levels(GRAPH, bfs(GRAPH, 0, predecessors=False)), "ask for predecessors=True"),
    ],
)
def test_what_cannot_be_drawn_is_said(draw, message):
    with pytest.raises(InputError, match=message):
        draw()


def test_without_matplotlib_it_says_what_to_install(monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(InputError, match="a plot needs matplotlib, which is not installed: pip install matplotlib"):
        trace(3).plot()
