"""What the model of many hosts rests on: the counts of simulated ranks, and the rates."""

import json
import sys
import tomllib

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from readme import ROOT
from scipy.sparse.csgraph import dijkstra
from strategies import edge_lists

sys.path.append(str(ROOT))  # behind what is installed

from benchmarks import __main__ as program
from benchmarks import model
from benchmarks.counted import BOTH_DIRECTIONS, ROWS, TOP_DOWN, by_rows, runs, spread
from benchmarks.grid import Grid
from benchmarks.record import RESULTS, read
from rapids_bfs import as_graph, load
from rapids_bfs.comparison.runner import sample_sources
from rapids_bfs.distributed.partitioning import Partitioning

PAIR, ID = 8, 4  # bytes


def sources_of(whole):
    return np.repeat(np.arange(whole.num_vertices), np.diff(whole.offsets))


def grid_of(whole, height, width):
    return Grid(whole.num_vertices, sources_of(whole), whole.targets, height, width)


@settings(max_examples=25)
@given(st.data(), edge_lists(min_vertices=1, max_vertices=24, max_edges=60), st.integers(1, 3))
def test_a_grid_finds_the_distances_in_any_directions(data, edges, height):
    n, *ends = edges
    whole = as_graph(tuple(ends), vertices=n, directed=False)
    source, width = data.draw(st.integers(0, n - 1)), data.draw(st.integers(1, 3))
    directions = data.draw(st.lists(st.sampled_from(["top-down", "bottom-up"]), min_size=n, max_size=n))
    found = grid_of(whole, height, width).search(source, iter(directions))[:n]
    expected = dijkstra(whole.to("scipy"), indices=source, unweighted=True)
    np.testing.assert_array_equal(found, np.where(np.isfinite(expected), expected, -1))


def other_owners(graph, vertices, sender, owner):
    """For each vertex, how many senders its neighbours have that are not its owner."""
    return sum(len({sender(u) for u in graph[v]} - {owner(v)}) for v in vertices)


@pytest.mark.parametrize(("spec", "height", "width"), [("karate", 2, 2), ("rmat:7", 2, 4), ("rmat:7", 3, 1)])
def test_a_grid_sends_top_down_what_sets_of_neighbours_say(spec, height, width):
    whole = load(spec)
    graph, grid = whole.to("networkx"), grid_of(whole, height, width)
    source = max(graph, key=graph.degree)
    grid.search(source, iter(["top-down"] * len(graph)))
    reached = nx.node_connected_component(graph, source)
    sent = {kind: sum(each.bytes for each in grid.log if each.kind == kind) for kind in ("expand", "fold")}
    pairs = other_owners(graph, reached, lambda u: u // grid.strip, lambda v: v // grid.piece % width)
    assert sent["fold"] == PAIR * pairs
    at_home = sum((v // grid.piece) % height == v // grid.piece // width and v // grid.strip == v // grid.piece % width
                  for v in reached)  # fmt: skip
    assert sent["expand"] == ID * (height * len(reached) - at_home)


def test_a_grid_rotates_whole_bitmaps_bottom_up_and_sends_a_parent_once():
    whole = load("rmat:7")
    graph, grid = whole.to("networkx"), grid_of(whole, 2, 4)
    source = max(graph, key=graph.degree)
    grid.search(source, iter(["bottom-up"] * len(graph)))
    levels = nx.single_source_shortest_path_length(graph, source).values()
    rotated = [each.level for each in grid.log if each.kind == "rotate" and each.bytes == grid.piece // 8]
    assert rotated == sorted([*range(1, max(levels) + 2)] * (grid.size * (grid.width - 1)))
    parents = sum(each.bytes for each in grid.log if each.kind == "parents")
    assert 0 < parents <= PAIR * (len(levels) - 1)


def test_rows_send_what_sets_of_neighbours_say():
    """Our own search: pairs top-down, and bottom-up the bitmap of each rank to all others."""
    whole, size = load("rmat:8"), 16
    n, graph = whole.num_vertices, whole.to("networkx")
    partitioning = Partitioning.of(n, size)
    owners = partitioning.global_ids(np.arange(n)) // partitioning.stride
    found = {run["way"]: run for run in runs("rmat:8", [size], 1) if run["partitioning"] == ROWS}
    reached = nx.node_connected_component(graph, found[TOP_DOWN]["source"])
    pairs = other_owners(graph, reached, owners.__getitem__, owners.__getitem__)
    assert sum(found[TOP_DOWN]["sent"]["pairs"]) == PAIR * pairs
    sources = sources_of(whole)
    within = np.isin(sources, list(reached))
    assert spread(sources[within], whole.targets[within], owners) == pairs
    bitmap = partitioning.stride // 8 * (size - 1)  # of a rank, to all others; the first level bottom-up sends two
    sent = found[BOTH_DIRECTIONS]["sent"]["bitmap"]
    assert any(sent)
    assert all(each % bitmap == 0 and each <= 2 * size * bitmap for each in sent)


@pytest.mark.parametrize("size", [1, 3, 16])
def test_rows_count_what_the_engine_counts(size):
    """By level and rank: the log agrees with the search's own counters, except for objects, which these leave out."""
    ((result, log),) = by_rows(load("rmat:9"), size, [int(sample_sources(load("rmat:9"), 1)[0])])
    needed = np.zeros((len(result.trace), size), np.int64)
    for each in log:
        if each.kind != "framing":
            needed[each.level - 1, each.rank] += each.bytes
    assert needed.tolist() == result.trace.bytes_needed
    assert size == 1 or {"pairs", "bitmap"} <= {each.kind for each in log}


def test_every_rate_has_a_source_and_the_model_reads_it(monkeypatch, tmp_path):
    rates = model.rates()
    for name, each in tomllib.loads(model.RATES.read_text()).items():
        assert each["source"], name
        assert each["what"], name
        assert each["seen"] in ("here", "source", "summary", "nothing"), name
        assert rates[name] > 0
        assert ("value" in each) != ("result" in each), name
    graphs = {each["graph"]: each for each in read(RESULTS / "h200x2_distributed.json")["graphs"]}
    expected = graphs["rmat:28:16"]["transports"]["one GPU"]["median_ms"] / 1e3 / 2**28
    assert rates["vertex_s"] == pytest.approx(expected)
    changed = tmp_path / "rates.toml"
    changed.write_text(model.RATES.read_text().replace("value = 47e9", "value = 47e8"))
    monkeypatch.setattr(model, "RATES", changed)
    kept = read(RESULTS / "cpu_model.json")
    each = model.shape(kept["rows"], kept["fits"], ROWS, 40)
    cost = model.cost(model.WINDOWS, 40, 8192, each, model.rates())
    assert cost["seconds"]["moving"] == pytest.approx(cost["network"] / 4.7e9)


def test_what_was_kept_follows_from_its_counts():
    kept = read(RESULTS / "cpu_model.json")
    again = json.loads(json.dumps(model.consequences(kept["rows"])))
    assert again["rates"] == pytest.approx(kept["rates"])
    for name in ("searches", "two GPUs"):
        for one, other in zip(again[name], kept[name], strict=True):
            for figures in ("total_s", "network", "nvlink", "messages", "memory"):
                assert one[figures] == pytest.approx(other[figures])


def test_a_line_is_fitted_to_all_scales_but_the_largest():
    rows = [
        {"kind": "rmat", "way": way, "partitioning": partitioning, "ranks": ranks, "scale": scale, "source": 0}
        | dict.fromkeys(("pairs", "spread", "reached", "levels", "bottom-up", "parents"), 2.0 ** (-scale) * ranks)
        for way in (TOP_DOWN, BOTH_DIRECTIONS) for partitioning in (ROWS, "two dimensions")
        for ranks in (4, 16) for scale in range(4, 9)
    ]  # fmt: skip
    trend = model.fits(rows)[0]
    assert trend["fitted"] == pytest.approx(trend["means"][-1])
    assert trend["at"]["40"] == pytest.approx(16 * 2.0**-40)


@pytest.mark.parametrize("ranks", ["4", "15", "25"])
def test_ranks_that_do_not_make_two_squares(ranks, capsys):
    assert program.main(["model", "--ranks", ranks]) == 1
    assert "model: the number of ranks" in capsys.readouterr().err
