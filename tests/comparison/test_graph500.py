"""The Graph500 benchmark: its statistics, its report, and that a wrong answer ends it."""

import json
import re
from math import isnan, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from typer.testing import CliRunner

from rapids_bfs import InputError, bfs
from rapids_bfs.cli import run_command
from rapids_bfs.cli.commands import app
from rapids_bfs.comparison.graph500 import HarmonicSummary, Statistics, graph500
from rapids_bfs.errors import TraversalError
from rapids_bfs.generators import rmat_edges

positive = st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=70)

# The labels of the reference code's report, which other programs read.
QUARTILES = ["min", "firstquartile", "median", "thirdquartile", "max"]
LABELS = [
    *("SCALE:", "edgefactor:", "NBFS:", "graph_generation:", "num_mpi_processes:", "construction_time:"),
    *(f"bfs  {name}_time:" for name in (*QUARTILES, "mean", "stddev")),
    *(f"{name}_nedge:" for name in (*QUARTILES, "mean", "stddev")),
    *(f"bfs  {name}_TEPS:" for name in QUARTILES),
    *("bfs  harmonic_mean_TEPS:     !", "bfs  harmonic_stddev_TEPS:"),
    *(f"bfs  {name}_validate:" for name in (*QUARTILES, "mean", "stddev")),
]


@given(positive)
def test_summary_against_numpy(values):
    summary, x, n = Statistics.of(values), sorted(values), len(values)
    quartiles = [
        (x[(n - 1) // 4] + x[n // 4]) / 2,
        (x[n - 1 - (n - 1) // 4] + x[n - 1 - n // 4]) / 2,
    ]  # `get_statistics`
    assert [summary.firstquartile, summary.thirdquartile] == pytest.approx(quartiles, rel=1e-14)
    assert (summary.min, summary.max, summary.median) == (min(values), max(values), pytest.approx(np.median(values)))
    assert summary.mean == pytest.approx(np.mean(values))
    if len(values) == 1:
        assert isnan(summary.stddev)
    else:  # of equal values NumPy's is the error of their mean
        assert summary.stddev == pytest.approx(np.std(values, ddof=1), abs=1e-12 * max(values))


@given(positive.filter(lambda times: len(times) > 1), st.data())
def test_harmonic_summary_against_scipy(times, data):
    amounts = data.draw(st.lists(st.integers(1, 10**9), min_size=len(times), max_size=len(times)))
    summary = HarmonicSummary.of(amounts, times)
    rates = np.array(amounts) / np.array(times)
    assert summary.harmonic_mean == pytest.approx(stats.hmean(rates))
    assert (summary.min, summary.max) == (pytest.approx(rates.min()), pytest.approx(rates.max()))
    assert summary.min <= summary.firstquartile * (1 + 1e-9)
    assert summary.firstquartile <= summary.median * (1 + 1e-9)
    assert summary.median <= summary.thirdquartile * (1 + 1e-9)
    # Norris 1940: the harmonic mean's square times the standard error of the mean of the reciprocals.
    expected = stats.hmean(rates) ** 2 * np.std(1 / rates, ddof=1) / sqrt(len(rates) - 1)
    assert summary.harmonic_stddev == pytest.approx(expected, rel=1e-6, abs=1e-9 * summary.harmonic_mean)


@pytest.mark.parametrize("engine", ["cpu", "scipy"])
def test_benchmark(engine):
    """Edges count as they were drawn."""
    run = graph500(6, edge_factor=1, roots=20, engine=engine)
    source, target = rmat_edges(6, 1).edges()
    assert len(set(run.roots)) == len(run.times) == len(run.validate_times) == 20
    for root, nedge in zip(run.roots, run.nedges, strict=True):
        reached = bfs("rmat:6:1", root, engine="scipy").distances >= 0
        assert nedge == (reached[source] & reached[target]).sum() == (reached[source] | reached[target]).sum() > 0
    assert len(set(run.nedges)) > 1
    assert min(run.times) > 0


def test_report_is_the_reference_codes():
    lines = str(graph500(8, edge_factor=4, roots=5, engine="cpu")).split("\n")
    assert [line[:32].rstrip() for line in lines] == LABELS
    assert all(re.fullmatch(r"-?[0-9.]+(e[+-][0-9]+)?", line[32:]) for line in lines)
    assert [line[32:] for line in lines[:3]] == ["8", "4", "5"]


def test_command(tmp_path):
    out = tmp_path / "run.json"
    done = CliRunner().invoke(
        app, ["graph500", "--scale", "8", "--roots", "4", "--engine", "cpu", "--json", str(out)], catch_exceptions=False
    )
    assert done.exit_code == 0
    assert "harmonic_mean_TEPS:     !  " in done.output
    content = json.loads(out.read_text())
    assert len(content["times"]) == 4
    assert content["TEPS"]["min"] > 0


@pytest.fixture
def liar(monkeypatch):
    """The engine cpu, now one that says of some vertex that it is a level further."""
    from rapids_bfs.engines.cpu.search import Sequential

    honest = Sequential.answer

    def answer(self, found):
        distances, predecessors = honest(self, found)
        distances[int(np.argmax(distances))] += 1
        return distances, predecessors

    monkeypatch.setattr(Sequential, "answer", answer)


def test_a_wrong_answer_ends_it(liar, capsys):
    with pytest.raises(TraversalError, match=r"cpu from root \d+ of rmat:7:16: rule 'tree-level' is broken: vertex"):
        graph500(7, roots=3, engine="cpu")
    assert run_command(["graph500", "--scale", "7", "--roots", "3", "--engine", "cpu"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("wrong answer: cpu from root ")


def test_bad_input():
    with pytest.raises(InputError, match="unknown engine"):
        graph500(5, engine="none")
    with pytest.raises(InputError, match=r"scale must be in 0\.\.48"):
        graph500(99, engine="cpu")
    with pytest.raises(InputError, match="number of roots must be at least 1"):
        graph500(5, roots=0, engine="cpu")
    for sizes, message in (((0, 16), "scale must be at least 1"), ((5, 0), "edge factor must be at least 1")):
        with pytest.raises(InputError, match=message):
            graph500(sizes[0], edge_factor=sizes[1], engine="cpu")
